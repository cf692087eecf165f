//! Replacing and clipping around what is found. Each pass builds its result once, however many matches there are.

use super::{Sequence, SequenceError, check_size};

impl Sequence {
    /// Every occurrence, left to right; an empty one is never replaced. Linear in the result, too.
    pub fn replace_seq(&mut self, from: &Sequence, to: &Sequence) -> Result<(), SequenceError> {
        let mut times = self.occurrences_of_seq(from);
        if times == 0 {
            return Ok(());
        }
        if self.item_size() < to.item_size() {
            self.widen_for(to);
            times = self.occurrences_of_seq(from);
        }
        let skipped = self.prefix_len(from);
        let replacement = to.items_for(self);
        let grown = times.saturating_mul(replacement.len());
        check_size(self.size_in_bytes().saturating_add(grown))?;

        let mut out = Vec::with_capacity(self.size_in_bytes());
        let mut start = 0;
        // Found again instead of kept: there may be as many as items, and each place takes eight bytes.
        self.each_match_of(from, |position| {
            out.extend_from_slice(self.range_bytes(start, position));
            out.extend_from_slice(&replacement);
            start = position + skipped;
        });
        out.extend_from_slice(self.range_bytes(start, self.len()));
        *self = self.like_vec(out);
        Ok(())
    }

    /// The first occurrence at or after `from_index`.
    pub fn replace_first_seq(&mut self, from: &Sequence, to: &Sequence, from_index: usize) {
        if let Some(position) = self.find_seq(from, from_index) {
            self.replace_range(position, position + self.prefix_len(from), to);
        }
    }

    pub fn remove_seq(&mut self, other: &Sequence) -> Result<(), SequenceError> {
        self.replace_seq(other, &self.like(&[]))
    }

    /// Pair after pair, each over the result of the ones before: Io's `replaceMap`.
    pub fn replace_map<'a>(
        &mut self,
        pairs: impl IntoIterator<Item = (&'a Sequence, &'a Sequence)>,
    ) -> Result<(), SequenceError> {
        pairs.into_iter().try_for_each(|(from, to)| self.replace_seq(from, to))
    }

    /// Drops what precedes the first occurrence. Like the other three, tells whether there was one.
    pub fn clip_before_seq(&mut self, other: &Sequence) -> bool {
        let found = self.find_seq(other, 0);
        found.inspect(|position| self.remove_range(0, *position)).is_some()
    }

    /// Drops the first occurrence and what precedes it.
    pub fn clip_before_end_of_seq(&mut self, other: &Sequence) -> bool {
        let found = self.find_seq(other, 0).filter(|_| !other.is_empty());
        found.inspect(|position| self.remove_range(0, *position + self.prefix_len(other))).is_some()
    }

    /// Drops what follows the first occurrence.
    pub fn clip_after_seq(&mut self, other: &Sequence) -> bool {
        let found = self.find_seq(other, 0);
        found.inspect(|position| self.remove_range(*position + self.prefix_len(other), self.len())).is_some()
    }

    /// Drops the first occurrence and what follows it.
    pub fn clip_after_start_of_seq(&mut self, other: &Sequence) -> bool {
        let found = self.find_seq(other, 0);
        found.inspect(|position| self.remove_range(*position, self.len())).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    #[test]
    fn replaces() {
        let replace = |source, from: &str, to: &str| {
            let mut sequence = text(source);
            sequence.replace_seq(&text(from), &text(to)).unwrap();
            sequence.to_text()
        };
        assert_eq!(replace("abc", "a", "AA"), "AAbc");
        assert_eq!(replace("aabca", "a", "aa"), "aaaabcaa");
        assert_eq!(replace("abc", "", "x"), "abc");
        assert_eq!(replace("a界a", "界", "-"), "a-a");

        let mut first = text("abcabc");
        first.replace_first_seq(&text("b"), &text("XX"), 2);
        assert_eq!(first, text("abcaXXc"));
        first.remove_seq(&text("X")).unwrap();
        assert_eq!(first, text("abcac"));
    }

    #[test]
    fn replaces_narrow_by_wide() {
        let mut sequence = text("aéb");
        sequence.replace_seq(&text("b"), &text("界").as_ucs4()).unwrap();
        assert_eq!(sequence.to_text(), "aé界");
    }

    #[test]
    fn refuses_a_result_beyond_the_limit() {
        let mut sequence = text("a").repeated(1 << 16).unwrap();
        assert!(sequence.replace_seq(&text("a"), &sequence.clone()).is_err());
    }

    #[test]
    fn clips_around_a_match() {
        let clip = |action: fn(&mut Sequence, &Sequence) -> bool, other: &str| {
            let mut sequence = text("abcde");
            let clipped = action(&mut sequence, &text(other));
            (clipped, sequence.to_text())
        };
        assert_eq!(clip(Sequence::clip_before_seq, "cd"), (true, "cde".into()));
        assert_eq!(clip(Sequence::clip_before_end_of_seq, "cd"), (true, "e".into()));
        assert_eq!(clip(Sequence::clip_after_seq, "cd"), (true, "abcd".into()));
        assert_eq!(clip(Sequence::clip_after_start_of_seq, "cd"), (true, "ab".into()));
        assert_eq!(clip(Sequence::clip_after_seq, "x"), (false, "abcde".into()));
    }
}
