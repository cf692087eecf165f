//! Changing by items: appending, inserting, removing, reordering. Owns what happens when the two sides differ in item
//! type: the receiver widens to hold the other, and text stays text.

use std::borrow::Cow;

use super::{Encoding, Item, SIZE_LIMIT_BYTES, Sequence, SequenceError, check_size, with_item};

impl Sequence {
    /// Adds raw bytes to a sequence of byte items; for wider items each byte becomes one item. Amortised linear in
    /// the bytes given.
    #[inline]
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if self.item_size() == 1 {
            self.buffer.extend(bytes);
        } else {
            bytes.iter().for_each(|byte| self.append_number(f64::from(*byte)));
        }
    }

    /// Io's `append(aNumber)`.
    pub fn append_number(&mut self, number: f64) {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..self.item_type.size()];
        with_item!(self.item_type, T => T::from_number(number).write(bytes));
        self.buffer.extend(bytes);
    }

    /// Amortised linear in the other; the receiver is converted first when its items are narrower.
    #[inline]
    pub fn append_seq(&mut self, other: &Sequence) {
        if self.item_type == other.item_type {
            self.buffer.extend(other.as_bytes());
            return;
        }
        self.widen_for(other);
        self.buffer.extend(&other.items_for(self));
    }

    /// Appends so few bytes of the same kind that nothing has to be asked first. False if nothing was done.
    #[inline]
    pub(crate) fn append_short(&mut self, other: &Sequence, most_bytes: usize) -> bool {
        let bytes = other.as_bytes();
        let is_plain = self.item_type == other.item_type
            && bytes.len() <= most_bytes
            && self.size_in_bytes() + bytes.len() <= SIZE_LIMIT_BYTES;
        if is_plain {
            self.buffer.extend(bytes);
        }
        is_plain
    }

    /// Io's `..`: a new sequence, in one allocation.
    pub fn clone_append_seq(&self, other: &Sequence) -> Sequence {
        let mut out = self.like(&[]);
        out.buffer.reserve(self.size_in_bytes() + other.size_in_bytes());
        out.buffer.extend(self.as_bytes());
        out.append_seq(other);
        out
    }

    /// Several at once, in order.
    pub fn prepend_seq(&mut self, others: &[Sequence]) {
        let mut front = Sequence::new();
        others.iter().for_each(|other| front.append_seq(other));
        self.insert(0, &front);
    }

    pub fn at_insert_seq(&mut self, index: usize, other: &Sequence) -> Result<(), SequenceError> {
        if index > self.len() {
            return Err(SequenceError::InsertOutOfBounds { index, len: self.len() });
        }
        self.insert(index, other);
        Ok(())
    }

    fn insert(&mut self, index: usize, other: &Sequence) {
        self.replace_range(index, index, other);
    }

    /// Puts the other in place of the items between two positions.
    pub fn replace_range(&mut self, start: usize, end: usize, other: &Sequence) {
        let characters_before = if self.item_type == other.item_type { None } else { Some(self.clone()) };
        self.widen_for(other);
        let (start, end) = match characters_before {
            // Widening UTF-8 text decodes it, so positions must follow their characters.
            Some(before) if before.len() != self.len() => {
                let decoded = |end| before.range(0, end).code_points().len();
                (decoded(start), decoded(end))
            }
            _ => (start, end),
        };
        let size = self.item_size();
        let end = end.min(self.len());
        let start = start.min(end);
        let items = other.items_for(self);
        self.buffer.splice(start * size..end * size, &items);
    }

    pub fn insert_seq_every(&mut self, other: &Sequence, count: usize) -> Result<(), SequenceError> {
        if count == 0 {
            return Err(SequenceError::EveryZeroItems);
        }
        if count > self.len() {
            return Err(SequenceError::EveryTooManyItems { count, len: self.len() });
        }
        self.widen_for(other);
        let insert = other.items_for(self);
        let chunk = count * self.item_size();
        let grown = (self.len() / count).saturating_mul(insert.len());
        check_size(self.size_in_bytes().saturating_add(grown))?;
        let mut out = Vec::with_capacity(self.size_in_bytes() + grown);
        for piece in self.as_bytes().chunks(chunk) {
            out.extend_from_slice(piece);
            if piece.len() == chunk {
                out.extend_from_slice(&insert);
            }
        }
        *self = self.like_vec(out);
        Ok(())
    }

    /// The removed item; `None` (Io's nil) past the end. Negative indices count from the end.
    pub fn remove_at(&mut self, index: i64) -> Option<f64> {
        let position = self.wrap_position(index);
        let removed = self.at(position)?;
        self.remove_range(position, position + 1);
        Some(removed)
    }

    /// Removes from `start` up to and with `end`.
    pub fn remove_slice(&mut self, start: i64, end: i64) {
        let start = self.wrap_position(start);
        self.remove_range(start, self.wrap_position(end) + 1);
    }

    /// Removes the items between two positions, nothing when they are out of order.
    pub fn remove_range(&mut self, start: usize, end: usize) {
        let size = self.item_size();
        let end = end.min(self.len());
        if start < end {
            self.buffer.splice(start * size..end * size, &[]);
        }
    }

    pub fn remove_last(&mut self) {
        let len = self.len();
        self.remove_range(len.saturating_sub(1), len);
    }

    /// Keeps `leave` items, drops `remove`, and so on to the end.
    pub fn leave_then_remove(&mut self, leave: usize, remove: usize) -> Result<(), SequenceError> {
        match (leave, remove) {
            (0, 0) => return Err(SequenceError::NothingToLeaveOrRemove),
            (0, _) => self.empty(),
            (_, 0) => {}
            _ => {
                let size = self.item_size();
                let period = leave.saturating_add(remove).saturating_mul(size);
                let keep = leave.saturating_mul(size);
                let kept = self.as_bytes().chunks(period).flat_map(|chunk| &chunk[..keep.min(chunk.len())]);
                *self = self.like_vec(kept.copied().collect());
            }
        }
        Ok(())
    }

    /// To size zero, keeping type and encoding.
    pub fn empty(&mut self) {
        self.buffer.resize(0);
    }

    /// Takes over contents, type and encoding of the other.
    pub fn copy(&mut self, other: &Sequence) {
        self.clone_from(other);
    }

    pub fn reverse_in_place(&mut self) {
        let size = self.item_size();
        let bytes = self.buffer.as_mut_slice();
        bytes.reverse();
        if size > 1 {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
    }

    pub fn reverse(&self) -> Sequence {
        let mut reversed = self.clone();
        reversed.reverse_in_place();
        reversed
    }

    /// Ascending by value; NaN last. Takes `n log n` steps.
    pub fn sort(&mut self) {
        if self.item_size() == 1 && !self.item_type.is_signed() {
            self.buffer.as_mut_slice().sort_unstable();
            return;
        }
        let mut items: Vec<_> = self.scalars().collect();
        items.sort_by(|left, right| {
            left.partial_cmp(right).unwrap_or_else(|| left.to_number().total_cmp(&right.to_number()))
        });
        self.store_scalars(&items);
    }

    /// Each item twice.
    pub fn duplicate_indexes(&mut self) {
        let doubled = self.as_bytes().chunks_exact(self.item_size()).flat_map(|item| [item, item]);
        *self = self.like_vec(doubled.flatten().copied().collect());
    }

    /// Keeps items 0, 2, 4 …
    pub fn remove_odd_indexes(&mut self) {
        self.keep_every_other(0);
    }

    /// Keeps items 1, 3, 5 …
    pub fn remove_even_indexes(&mut self) {
        self.keep_every_other(1);
    }

    fn keep_every_other(&mut self, first: usize) {
        let kept = self.as_bytes().chunks_exact(self.item_size()).skip(first).step_by(2);
        *self = self.like_vec(kept.flatten().copied().collect());
    }

    pub(super) fn store_scalars(&mut self, scalars: &[super::Scalar]) {
        let item_type = self.item_type;
        let slots = self.buffer.as_mut_slice().chunks_exact_mut(item_type.size());
        for (slot, scalar) in slots.zip(scalars) {
            with_item!(item_type, T => T::from_scalar(*scalar).write(slot));
        }
    }

    /// Converts the receiver when the other's items are wider than its own.
    pub(super) fn widen_for(&mut self, other: &Sequence) {
        if self.item_size() < other.item_size() {
            if self.encoding == Encoding::Utf8 && other.encoding.is_text() {
                *self = Sequence::from_code_points(&self.code_points(), other.item_type, other.encoding);
            } else {
                self.convert_to_item_type(other.item_type);
            }
        }
    }

    /// The items as bytes of the target's item type, decoding UTF-8 text on its way into wider text.
    pub(super) fn items_for(&self, target: &Sequence) -> Cow<'_, [u8]> {
        if self.item_type == target.item_type {
            return Cow::Borrowed(self.as_bytes());
        }
        let decodes = self.encoding == Encoding::Utf8 && target.encoding.is_text() && target.item_size() > 1;
        let converted = if decodes {
            Sequence::from_code_points(&self.code_points(), target.item_type, target.encoding)
        } else {
            let mut converted = self.clone();
            converted.convert_to_item_type(target.item_type);
            converted
        };
        Cow::Owned(converted.as_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::ItemType;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    #[test]
    fn text_widens_by_character() {
        let mut sequence = text("é");
        sequence.append_seq(&Sequence::from_code_point(128512.0).unwrap());
        assert_eq!(sequence.item_type(), ItemType::Uint32);
        assert_eq!(sequence.to_text(), "é😀");
        sequence.append_seq(&text("ü"));
        assert_eq!(sequence.to_text(), "é😀ü");
        assert_eq!(sequence.len(), 3);
    }

    #[test]
    fn inserts_as_the_io_suite_says() {
        let insert = |index, other: &str| {
            let mut sequence = text("abc");
            sequence.at_insert_seq(index, &text(other)).map(|()| sequence.to_text())
        };
        assert_eq!(insert(3, "def").unwrap(), "abcdef");
        assert_eq!(insert(2, "def").unwrap(), "abdefc");
        assert_eq!(insert(0, "def").unwrap(), "defabc");
        assert_eq!(insert(9, "def").unwrap_err().to_string(), "insert index out of sequence bounds");
    }

    #[test]
    fn removes_slices_as_the_io_suite_says() {
        let cases = [(1, 1, "ac"), (1, 2, "a"), (2, 1, "abc"), (2, 0, "abc"), (0, 2, ""), (1, 8, "a"), (-8, 1, "c")];
        for (start, end, expected) in cases {
            let mut sequence = text("abc");
            sequence.remove_slice(start, end);
            assert_eq!(sequence, text(expected), "{start} {end}");
        }
    }

    #[test]
    fn removes_items() {
        let mut sequence = text("abc");
        assert_eq!(sequence.remove_at(-1), Some(99.0));
        assert_eq!(sequence.remove_at(3), None);
        assert_eq!(sequence.remove_at(0), Some(97.0));
        assert_eq!(sequence, text("b"));
    }

    #[test]
    fn inserts_and_removes_periodically() {
        let every = |count| {
            let mut sequence = text("abc");
            sequence.insert_seq_every(&text("."), count).map(|()| sequence.to_text())
        };
        assert_eq!(every(1).unwrap(), "a.b.c.");
        assert_eq!(every(2).unwrap(), "ab.c");
        assert_eq!(every(3).unwrap(), "abc.");
        assert!(every(0).is_err() && every(4).is_err());

        let leave = |source, leave, remove| {
            let mut sequence = text(source);
            sequence.leave_then_remove(leave, remove).map(|()| sequence.to_text())
        };
        assert_eq!(leave("abc", 0, 1).unwrap(), "");
        assert_eq!(leave("abc", 1, 1).unwrap(), "ac");
        assert_eq!(leave("abcd", 1, 4).unwrap(), "a");
        assert_eq!(leave("abcde", 2, 2).unwrap(), "abe");
        assert!(leave("abc", 0, 0).is_err());
    }

    #[test]
    fn reverses_items_not_bytes() {
        let mut sequence = text("abc").as_ucs4();
        sequence.reverse_in_place();
        assert_eq!(sequence.to_text(), "cba");
    }

    #[test]
    fn doubles_and_halves() {
        let mut vector = Sequence::vector(&[1.0, 2.0, 3.0]);
        vector.duplicate_indexes();
        assert_eq!(vector.numbers().collect::<Vec<_>>(), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
        vector.remove_odd_indexes();
        assert_eq!(vector, Sequence::vector(&[1.0, 2.0, 3.0]));
        vector.remove_even_indexes();
        assert_eq!(vector, Sequence::vector(&[2.0]));
    }
}
