//! Taking a sequence apart at what is found in it: separators, markers around a piece, `#{…}` in text.

use std::borrow::Cow;
use std::ops::Range;

use super::{Sequence, SequenceError, WHITE_SPACE, check_size};

/// A piece of text to interpolate: ranges of items in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InterpolationPiece {
    Text(Range<usize>),
    Code(Range<usize>),
}

/// A separator in the item type of what it splits. Long ones are searched for beforehand: comparing them anew at every
/// item would cost more than linear time.
struct Separator<'a> {
    bytes: Cow<'a, [u8]>,
    occurrences: Option<Vec<usize>>,
}

impl<'a> Separator<'a> {
    const LONGEST_COMPARED: usize = 16;

    fn new(separator: &'a Sequence, haystack: &Sequence) -> Option<Self> {
        let bytes = separator.items_equal_in(haystack)?;
        let is_long = bytes.len() > Self::LONGEST_COMPARED;
        Some(Separator { occurrences: is_long.then(|| haystack.occurrences(&bytes)), bytes })
    }

    fn is_at(&self, index: usize, rest: &[u8]) -> bool {
        match &self.occurrences {
            Some(occurrences) => occurrences.binary_search(&index).is_ok(),
            None => rest.starts_with(&self.bytes),
        }
    }
}

impl Sequence {
    /// The parts between separators (any single white space character, if none are given). Where several separators
    /// match, the first listed wins. As in Io, a separator at the end adds no empty part, and nothing splits into
    /// nothing. Linear for each separator.
    pub fn split(&self, separators: &[&Sequence]) -> Result<Vec<Sequence>, SequenceError> {
        let mut parts = Vec::new();
        self.each_part(separators, |range| parts.push(self.range(range.start, range.end)))?;
        Ok(parts)
    }

    /// How many parts `split` would give.
    pub fn split_count(&self, separators: &[&Sequence]) -> Result<usize, SequenceError> {
        let mut count = 0;
        self.each_part(separators, |_| count += 1)?;
        Ok(count)
    }

    /// The same without empty parts.
    pub fn split_no_empties(&self, separators: &[&Sequence]) -> Result<Vec<Sequence>, SequenceError> {
        let mut parts = self.split(separators)?;
        parts.retain(|part| !part.is_empty());
        Ok(parts)
    }

    fn each_part(&self, separators: &[&Sequence], mut found: impl FnMut(Range<usize>)) -> Result<(), SequenceError> {
        let white_space = WHITE_SPACE.split_inclusive(|_| true).map(Sequence::from).collect::<Vec<_>>();
        let white_space = white_space.iter().collect::<Vec<_>>();
        let separators = if separators.is_empty() { white_space.as_slice() } else { separators };
        if separators.iter().any(|separator| separator.is_empty()) {
            return Err(SequenceError::EmptySeparator);
        }
        let size = self.item_size();
        let separators: Vec<Separator<'_>> =
            separators.iter().filter_map(|separator| Separator::new(separator, self)).collect();
        let mut starts_separator = [false; 256];
        separators.iter().for_each(|separator| starts_separator[usize::from(separator.bytes[0])] = true);

        let bytes = self.as_bytes();
        let (mut last, mut position) = (0, 0);
        while position < bytes.len() {
            let rest = &bytes[position..];
            let matched = match starts_separator[usize::from(rest[0])] {
                true => separators.iter().find(|separator| separator.is_at(position / size, rest)),
                false => None,
            };
            let Some(separator) = matched else {
                position += size;
                continue;
            };
            found(last / size..position / size);
            position += separator.bytes.len();
            last = position;
        }
        if last != bytes.len() {
            found(last / size..bytes.len() / size);
        }
        Ok(())
    }

    /// Io's `join`: the parts in order with the receiver between them.
    pub fn join(&self, parts: &[&Sequence]) -> Result<Sequence, SequenceError> {
        let separators = self.size_in_bytes().saturating_mul(parts.len());
        check_size(parts.iter().fold(separators, |total, part| total.saturating_add(part.size_in_bytes())))?;
        let mut out = parts.first().map_or_else(Sequence::new, |first| (*first).clone());
        for part in parts.iter().skip(1) {
            out.append_seq(self);
            out.append_seq(part);
        }
        Ok(out)
    }

    /// What precedes the first occurrence; everything when there is none.
    pub fn before_seq(&self, other: &Sequence) -> Sequence {
        self.find_seq(other, 0).map_or_else(|| self.clone(), |position| self.range(0, position))
    }

    /// What follows the first occurrence; `None` (Io's nil) when there is none.
    pub fn after_seq(&self, other: &Sequence) -> Option<Sequence> {
        let position = self.find_seq(other, 0)?;
        Some(self.range(position + self.prefix_len(other), self.len()))
    }

    /// What stands between two markers; `None` (Io's nil) when one is missing. No (or an empty) first marker means the
    /// start, no second one the end.
    pub fn between_seq(&self, from: Option<&Sequence>, to: Option<&Sequence>) -> Option<Sequence> {
        let start = match from.filter(|from| !from.is_empty()) {
            Some(from) => self.find_seq(from, 0)? + self.prefix_len(from),
            None => 0,
        };
        let end = match to {
            Some(to) => self.find_seq(to, start)?,
            None => self.len(),
        };
        Some(self.range(start, end))
    }

    /// The plain parts and the `#{…}` parts in order. A `#{` that is never closed is plain text; the first `}` closes.
    pub fn interpolation_pieces(&self) -> Vec<InterpolationPiece> {
        let (open, close) = (Sequence::from("#{"), Sequence::from("}"));
        let closes = self.matches_of(&close);
        let mut pieces = Vec::new();
        let mut start = 0;
        for position in self.matches_of(&open) {
            if position < start {
                continue;
            }
            let code_start = position + 2;
            let next_close = closes.partition_point(|close| *close < code_start);
            let Some(&code_end) = closes.get(next_close) else { break };
            if start < position {
                pieces.push(InterpolationPiece::Text(start..position));
            }
            pieces.push(InterpolationPiece::Code(code_start..code_end));
            start = code_end + 1;
        }
        if start < self.len() {
            pieces.push(InterpolationPiece::Text(start..self.len()));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    fn split(source: &str, separators: &[&str]) -> Vec<String> {
        let separators: Vec<Sequence> = separators.iter().map(|separator| text(separator)).collect();
        let parts = text(source).split(&separators.iter().collect::<Vec<_>>()).unwrap();
        parts.iter().map(Sequence::to_text).collect()
    }

    #[test]
    fn splits() {
        assert_eq!(split("a b\tc\nd", &[]), ["a", "b", "c", "d"]);
        assert_eq!(split("a   b", &[]), ["a", "", "", "b"]);
        assert_eq!(split("a*b|c,d", &["*", "|", ","]), ["a", "b", "c", "d"]);
        assert_eq!(split("This ##is## a #split# test!", &["##"]), ["This ", "is", " a #split# test!"]);
        assert_eq!(split(",a,", &[","]), ["", "a"]);
        assert_eq!(split("", &[","]), Vec::<String>::new());
        assert_eq!(split("aéb", &["é"]), ["a", "b"]);
        let long = "ab".repeat(10);
        assert_eq!(split(&format!("x{long}aby{long}"), &[&long]), ["x", "aby"]);
        assert_eq!(text("a").split(&[&text("")]).unwrap_err().to_string(), "empty string argument");
        assert_eq!(text("a界b").as_ucs4().split(&[&text("界")]).unwrap()[1].to_text(), "b");
        let parts = text("this is a \ttest").split_no_empties(&[&text(" "), &text("\t")]).unwrap();
        assert_eq!(parts, ["this", "is", "a", "test"].map(text));
    }

    #[test]
    fn takes_what_is_before_after_and_between() {
        assert_eq!(text("abcbd").before_seq(&text("b")), text("a"));
        assert_eq!(text("aba").before_seq(&text("c")), text("aba"));
        assert_eq!(text("a").before_seq(&text("")), text(""));
        assert_eq!(text("aba").after_seq(&text("a")), Some(text("ba")));
        assert_eq!(text("a").after_seq(&text("")), Some(text("a")));
        assert_eq!(text("").after_seq(&text("")), None);
        assert_eq!(text("aba").after_seq(&text("c")), None);

        let between = |source, from, to| text(source).between_seq(Some(&text(from)), Some(&text(to)));
        assert_eq!(between("abcd", "a", "d"), Some(text("bc")));
        assert_eq!(between("bcd", "a", "d"), None);
        assert_eq!(between("abc", "a", "d"), None);
        assert_eq!(text("abc").between_seq(None, None), Some(text("abc")));
    }

    #[test]
    fn finds_the_code_in_text() {
        use InterpolationPiece::{Code, Text};
        assert_eq!(text("ab#{1+7}cd").interpolation_pieces(), [Text(0..2), Code(4..7), Text(8..10)]);
        assert_eq!(text("#{}").interpolation_pieces(), [Code(2..2)]);
        assert_eq!(text("a#{b").interpolation_pieces(), [Text(0..4)]);
        assert_eq!(text("#{#{a}}").interpolation_pieces(), [Code(2..5), Text(6..7)]);
    }

    #[test]
    fn joins() {
        let parts = [text("a"), text("b"), text("c")];
        let parts: Vec<&Sequence> = parts.iter().collect();
        assert_eq!(text("--").join(&parts), Ok(text("a--b--c")));
        assert_eq!(text("--").join(&[]), Ok(text("")));
    }
}
