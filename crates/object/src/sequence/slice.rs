//! Reading and cutting by index. Owns Io's rule for indices: a negative one counts from the end, and whatever falls
//! outside is clamped.

use super::{Item, Sequence, SequenceError, check_size, with_item};

impl Sequence {
    /// The item as a Number; `None` (Io's nil) past the end. Constant time.
    #[inline]
    pub fn at(&self, index: usize) -> Option<f64> {
        if self.item_size() == 1 && !self.item_type.is_signed() {
            return self.as_bytes().get(index).map(|byte| f64::from(*byte));
        }
        self.scalar_at(index).map(super::Scalar::to_number)
    }

    /// Stores a Number, growing with zeros when the index lies past the end.
    pub fn at_put(&mut self, index: i64, number: f64) -> Result<(), SequenceError> {
        let index = usize::try_from(index).map_err(|_| SequenceError::IndexOutOfBounds { index, len: self.len() })?;
        if index >= self.len() {
            self.set_size(index.saturating_add(1))?;
        }
        let size = self.item_size();
        let bytes = &mut self.buffer.as_mut_slice()[index * size..(index + 1) * size];
        with_item!(self.item_type, T => T::from_number(number).write(bytes));
        Ok(())
    }

    /// Io's `set`: stores the numbers from the first item on.
    pub fn set_numbers(&mut self, numbers: &[f64]) -> Result<(), SequenceError> {
        (0..).zip(numbers).try_for_each(|(index, number)| self.at_put(index, *number))
    }

    /// Shortens, or lengthens with zero items.
    pub fn set_size(&mut self, len: usize) -> Result<(), SequenceError> {
        let bytes = len.saturating_mul(self.item_size());
        check_size(bytes)?;
        self.buffer.resize(bytes);
        Ok(())
    }

    /// Makes room for this many items without changing the contents.
    pub fn preallocate_to_size(&mut self, len: usize) -> Result<(), SequenceError> {
        let bytes = len.saturating_mul(self.item_size());
        check_size(bytes)?;
        self.buffer.reserve(bytes);
        Ok(())
    }

    /// An Io index as a position between 0 and `len`.
    pub fn wrap_position(&self, index: i64) -> usize {
        let len = self.len();
        match usize::try_from(index) {
            Ok(position) => position.min(len),
            Err(_) => len.saturating_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
        }
    }

    /// From `start` up to but without `end`; no `end` means the end.
    pub fn exclusive_slice(&self, start: i64, end: Option<i64>) -> Sequence {
        let start = self.wrap_position(start);
        let end = end.map_or(self.len(), |end| self.wrap_position(end));
        self.range(start, end)
    }

    /// From `start` up to and with `end`; no `end` means the end.
    pub fn inclusive_slice(&self, start: i64, end: Option<i64>) -> Sequence {
        let end = match end {
            None | Some(-1) => None,
            Some(end) => Some(end.saturating_add(1)),
        };
        self.exclusive_slice(start, end)
    }

    /// The two parts before and from an index.
    pub fn split_at(&self, index: i64) -> (Sequence, Sequence) {
        let position = self.wrap_position(index);
        (self.range(0, position), self.range(position, self.len()))
    }

    /// The items between two positions, empty when they are out of order or past the end.
    pub fn range(&self, start: usize, end: usize) -> Sequence {
        self.like(self.range_bytes(start, end))
    }

    pub(super) fn range_bytes(&self, start: usize, end: usize) -> &[u8] {
        let end = end.min(self.len());
        let start = start.min(end);
        &self.as_bytes()[start * self.item_size()..end * self.item_size()]
    }

    /// Io's `asList`: each character (each item, where there are no characters) as a sequence of its own. Sequences of
    /// floats list Numbers instead: see [`Sequence::numbers`].
    pub fn characters(&self) -> Vec<Sequence> {
        match self.as_str() {
            Some(text) if self.encoding == super::Encoding::Utf8 => {
                text.char_indices().map(|(start, c)| self.range(start, start + c.len_utf8())).collect()
            }
            _ => self.as_bytes().chunks_exact(self.item_size()).map(|item| self.like(item)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    #[test]
    fn exclusive_slices_follow_the_io_suite() {
        let cases = [
            ("", 1, None, ""),
            ("abcdef", 1, None, "bcdef"),
            ("abcdef", -1, None, "f"),
            ("abcdef", 20, None, ""),
            ("abcdef", -20, None, "abcdef"),
            ("abcdef", 1, Some(2), "b"),
            ("abcdef", -2, Some(-1), "e"),
            ("abcdef", 2, Some(1), ""),
            ("abcdef", 1, Some(-1), "bcde"),
            ("abcdef", 3, Some(-3), ""),
            ("abcdef", 2, Some(-3), "c"),
            ("abcdef", 2, Some(2000), "cdef"),
            ("abcdef", 2, Some(-2000), ""),
            ("abcdef", i64::MIN, Some(i64::MAX), "abcdef"),
        ];
        for (source, start, end, expected) in cases {
            assert_eq!(text(source).exclusive_slice(start, end), text(expected), "{source} {start} {end:?}");
        }
    }

    #[test]
    fn inclusive_slices_follow_the_io_suite() {
        let cases = [
            (1, None, "bcdef"),
            (-1, None, "f"),
            (1, Some(2), "bc"),
            (-2, Some(-1), "ef"),
            (2, Some(1), ""),
            (-1, Some(-2), ""),
            (1, Some(-1), "bcdef"),
            (3, Some(-3), "d"),
            (2, Some(-3), "cd"),
            (2, Some(2000), "cdef"),
            (2, Some(-2000), ""),
        ];
        for (start, end, expected) in cases {
            assert_eq!(text("abcdef").inclusive_slice(start, end), text(expected), "{start} {end:?}");
        }
    }

    #[test]
    fn splits_at_an_index() {
        assert_eq!(text("abc").split_at(1), (text("a"), text("bc")));
        assert_eq!(text("abc").split_at(55), (text("abc"), text("")));
        assert_eq!(text("abc").split_at(-1), (text("ab"), text("c")));
    }

    #[test]
    fn storing_past_the_end_fills_with_zeros() {
        let mut sequence = Sequence::with_type(ItemType::Float32, Encoding::Number);
        sequence.at_put(2, 0.5).unwrap();
        assert_eq!(sequence.numbers().collect::<Vec<_>>(), [0.0, 0.0, 0.5]);
        assert!(sequence.at_put(-1, 0.0).is_err());
        assert!(sequence.at_put(i64::MAX, 0.0).is_err());
        assert_eq!(sequence.at(usize::MAX), None);
    }

    #[test]
    fn lists_characters_not_bytes() {
        assert_eq!(text("aé").characters(), [text("a"), text("é")]);
        assert_eq!(Sequence::from_bytes(b"a\xff").characters().len(), 2);
    }

    use crate::sequence::{Encoding, ItemType};
}
