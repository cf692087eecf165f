//! Finding one sequence in another. Owns the search algorithm, which is linear in the worst case too: a script must
//! not be able to spend more than it is charged for.
//!
//! As in Io, nothing is found in an empty sequence, and an empty sequence is found at the start of any other.

use std::borrow::Cow;

use super::{Item, ItemType, Sequence, with_item};

/// Up to here the plain search beats the prefix table; beyond, its worst case would no longer be linear.
const SHORT_NEEDLE: usize = 8;

impl Sequence {
    /// The first position at or after `from`.
    pub fn find_seq(&self, other: &Sequence, from: usize) -> Option<usize> {
        if from >= self.len() {
            return None;
        }
        let needle = other.items_equal_in(self)?;
        let found = match self.item_size() {
            1 => find(&self.as_bytes()[from..], &needle),
            size => find(&wide_items(self.range_bytes(from, self.len()), size), &wide_items(&needle, size)),
        };
        found.map(|position| from + position)
    }

    /// The last position such that the match ends at or before `before` (the end, if none is given). As in Io, a
    /// `before` past the end finds nothing.
    pub fn reverse_find_seq(&self, other: &Sequence, before: Option<usize>) -> Option<usize> {
        let before = before.unwrap_or(self.len());
        if before > self.len() {
            return None;
        }
        let size = self.item_size();
        let needle = other.items_equal_in(self)?;
        let haystack = self.range_bytes(0, before);
        match size {
            1 => reverse_find(haystack, &needle),
            _ => reverse_find(&wide_items(haystack, size), &wide_items(&needle, size)),
        }
    }

    /// Of all the sequences, the earliest match: its position and which one it was (the first listed on a tie). Linear
    /// for each of them.
    pub fn find_seqs(&self, others: &[&Sequence], from: usize) -> Option<(usize, usize)> {
        let matches = others.iter().enumerate();
        matches.filter_map(|(which, other)| self.find_seq(other, from).map(|at| (at, which))).min()
    }

    pub fn contains_seq(&self, other: &Sequence) -> bool {
        self.find_seq(other, 0).is_some()
    }

    /// Whether any item has this value, Io's `contains(aNumber)`.
    pub fn contains_number(&self, number: f64) -> bool {
        if self.item_type == ItemType::Uint8 {
            return number as u8 as f64 == number && self.as_bytes().contains(&(number as u8));
        }
        self.numbers().any(|item| item == number)
    }

    pub fn begins_with_seq(&self, other: &Sequence) -> bool {
        other.items_equal_in(self).is_some_and(|prefix| self.as_bytes().starts_with(&prefix))
    }

    pub fn ends_with_seq(&self, other: &Sequence) -> bool {
        other.items_equal_in(self).is_some_and(|suffix| self.as_bytes().ends_with(&suffix))
    }

    /// Ignoring the case of ASCII letters.
    pub fn find_any_case_seq(&self, other: &Sequence) -> Option<usize> {
        if self.is_empty() && other.is_empty() {
            return Some(0);
        }
        self.as_lowercase().find_seq(&other.as_lowercase(), 0)
    }

    pub fn contains_any_case_seq(&self, other: &Sequence) -> bool {
        self.find_any_case_seq(other).is_some()
    }

    pub fn is_equal_any_case(&self, other: &Sequence) -> bool {
        self.len() == other.len() && self.as_lowercase().equals(&other.as_lowercase())
    }

    /// How often the other occurs, without overlaps; an empty one never does.
    pub fn occurrences_of_seq(&self, other: &Sequence) -> usize {
        let mut count = 0;
        self.each_match_of(other, |_| count += 1);
        count
    }

    /// The positions of all matches, without overlaps.
    pub(super) fn matches_of(&self, other: &Sequence) -> Vec<usize> {
        let mut found = Vec::new();
        self.each_match_of(other, |position| found.push(position));
        found
    }

    pub(super) fn each_match_of(&self, other: &Sequence, found: impl FnMut(usize)) {
        let Some(needle) = other.items_equal_in(self) else { return };
        match self.item_size() {
            1 => find_all(self.as_bytes(), &needle, found),
            size => find_all(&wide_items(self.as_bytes(), size), &wide_items(&needle, size), found),
        }
    }

    /// The positions of all matches of these items, overlapping ones included.
    pub(super) fn occurrences(&self, needle: &[u8]) -> Vec<usize> {
        match self.item_size() {
            1 => find_overlapping(self.as_bytes(), needle),
            size => find_overlapping(&wide_items(self.as_bytes(), size), &wide_items(needle, size)),
        }
    }

    /// These items in the type of the haystack, or `None` when some value does not exist in that type and so cannot
    /// be found there.
    pub(super) fn items_equal_in(&self, haystack: &Sequence) -> Option<Cow<'_, [u8]>> {
        let items = self.items_for(haystack);
        if let Cow::Owned(converted) = &items {
            let size = haystack.item_size();
            let same_count = converted.len() / size == self.len();
            let value = |bytes: &[u8]| with_item!(haystack.item_type, T => T::read(bytes).to_scalar());
            // A different count means UTF-8 text was decoded, which keeps its characters.
            if same_count && !converted.chunks_exact(size).zip(self.scalars()).all(|(item, own)| value(item) == own) {
                return None;
            }
        }
        Some(items)
    }
}

fn wide_items(bytes: &[u8], size: usize) -> Vec<u64> {
    let widen = |item: &[u8]| item.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    bytes.chunks_exact(size).map(widen).collect()
}

pub(super) fn find<T: Copy + Eq>(haystack: &[T], needle: &[T]) -> Option<usize> {
    let Some(first) = needle.first() else { return Some(0) };
    if needle.len() > SHORT_NEEDLE {
        return search_with_table(haystack, needle, &prefix_table(needle));
    }
    let last = haystack.len().checked_sub(needle.len())?;
    let mut from = 0;
    loop {
        from += haystack[from..=last].iter().position(|item| item == first)?;
        if haystack[from..].starts_with(needle) {
            return Some(from);
        }
        from += 1;
        if from > last {
            return None;
        }
    }
}

/// One table for all matches, so that the whole stays linear.
fn find_all<T: Copy + Eq>(haystack: &[T], needle: &[T], mut found: impl FnMut(usize)) {
    let table = if needle.len() > SHORT_NEEDLE { prefix_table(needle) } else { Vec::new() };
    let mut from = 0;
    while !needle.is_empty() {
        let rest = &haystack[from..];
        let next = match table.is_empty() {
            true => find(rest, needle),
            false => search_with_table(rest, needle, &table),
        };
        let Some(position) = next else { break };
        found(from + position);
        from += position + needle.len();
    }
}

fn reverse_find<T: Copy + Eq>(haystack: &[T], needle: &[T]) -> Option<usize> {
    if needle.len() <= SHORT_NEEDLE {
        let last = haystack.len().checked_sub(needle.len())?;
        return (0..=last).rev().find(|start| haystack[*start..].starts_with(needle));
    }
    let reversed = |items: &[T]| items.iter().rev().copied().collect::<Vec<_>>();
    let (backwards, needle) = (reversed(haystack), reversed(needle));
    let found = search_with_table(&backwards, &needle, &prefix_table(&needle))?;
    Some(haystack.len() - found - needle.len())
}

/// For each prefix of the needle, the length of its longest border (Knuth, Morris and Pratt).
fn prefix_table<T: Eq>(needle: &[T]) -> Vec<usize> {
    let mut table = vec![0; needle.len()];
    let mut matched = 0;
    for position in 1..needle.len() {
        while matched > 0 && needle[position] != needle[matched] {
            matched = table[matched - 1];
        }
        if needle[position] == needle[matched] {
            matched += 1;
        }
        table[position] = matched;
    }
    table
}

fn search_with_table<T: Eq>(haystack: &[T], needle: &[T], table: &[usize]) -> Option<usize> {
    let mut matched = 0;
    haystack.iter().enumerate().find_map(|(position, item)| {
        matched = advance(item, needle, table, matched);
        (matched == needle.len()).then(|| position + 1 - matched)
    })
}

fn find_overlapping<T: Eq>(haystack: &[T], needle: &[T]) -> Vec<usize> {
    let table = prefix_table(needle);
    let mut found = Vec::new();
    let mut matched = 0;
    for (position, item) in haystack.iter().enumerate() {
        matched = advance(item, needle, &table, matched);
        if matched == needle.len() {
            found.push(position + 1 - matched);
            matched = table[matched - 1];
        }
    }
    found
}

/// How much of the needle is matched once this item follows `matched` matched ones.
fn advance<T: Eq>(item: &T, needle: &[T], table: &[usize], mut matched: usize) -> usize {
    while matched > 0 && *item != needle[matched] {
        matched = table[matched - 1];
    }
    if *item == needle[matched] { matched + 1 } else { matched }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    #[test]
    fn finds_as_the_io_suite_says() {
        let find = |needle: &str, from| text("abcabc").find_seq(&text(needle), from);
        assert_eq!(find("a", 0), Some(0));
        assert_eq!(find("bc", 0), Some(1));
        assert_eq!(find("a", 1), Some(3));
        assert_eq!(find("a", 3), Some(3));
        assert_eq!(find("a", 4), None);
        assert_eq!(find("", 2), Some(2));
        assert_eq!(text("abcd").find_seq(&text("abcde"), 0), None);
        assert_eq!(text("").find_seq(&text(""), 0), None);
    }

    #[test]
    fn finds_backwards_as_the_io_suite_says() {
        let find = |needle: &str, before| text("abcabc").reverse_find_seq(&text(needle), before);
        assert_eq!(find("a", None), Some(3));
        assert_eq!(find("bc", None), Some(4));
        assert_eq!(find("a", Some(1)), Some(0));
        assert_eq!(find("a", Some(0)), None);
        assert_eq!(find("a", Some(4)), Some(3));
        assert_eq!(find("abcde", None), None);
    }

    #[test]
    fn long_needles_are_found_both_ways() {
        let sequence = text(&format!("{}b{}b", "a".repeat(50), "a".repeat(50)));
        let needle = text(&format!("{}b", "a".repeat(20)));
        assert_eq!(sequence.find_seq(&needle, 0), Some(30));
        assert_eq!(sequence.reverse_find_seq(&needle, None), Some(81));
        assert_eq!(sequence.occurrences_of_seq(&needle), 2);
    }

    #[test]
    fn finds_across_item_types() {
        let wide = text("a界b界").as_ucs4();
        assert_eq!(wide.find_seq(&text("界"), 2), Some(3));
        assert_eq!(wide.find_seq(&text("b"), 0), Some(2));
        assert!(wide.begins_with_seq(&text("a界")));
        assert!(wide.ends_with_seq(&text("界")));
        assert_eq!(text("aL").find_seq(&Sequence::from_code_point(0x14c as f64).unwrap(), 0), None);
    }

    #[test]
    fn ignores_case() {
        assert!(text("ABCD").contains_any_case_seq(&text("bCd")));
        assert!(!text("abcd").contains_any_case_seq(&text("zz")));
        assert!(text("ABC").is_equal_any_case(&text("abc")));
        assert!(!text("AbC").is_equal_any_case(&text("AbCd")));
        assert!(text("").is_equal_any_case(&text("")));
    }

    #[test]
    fn finds_the_earliest_of_several() {
        let (b, bc, z) = (text("b"), text("bc"), text("z"));
        assert_eq!(text("abc").find_seqs(&[&z, &bc, &b], 0), Some((1, 1)));
        assert_eq!(text("abc").find_seqs(&[&z], 0), None);
        assert_eq!(text("aaa").occurrences_of_seq(&text("aa")), 1);
    }
}
