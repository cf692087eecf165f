//! What became of each element of a list, and what was put between them. Owns the pairing: equal elements first, by the
//! longest common subsequence; then, between those, elements that are alike.
//!
//! It looks at the base and one side only, so whatever it decides, it decides the same for both sides.

use super::forest::{Class, Forest};
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Same,
    /// It became the side's element at this index.
    Edited(usize),
    Deleted,
}

/// How a side's list came of the base's.
pub struct Alignment {
    pub fates: Vec<Fate>,
    /// What of the side's list is new before each element of the base, and behind the last. In the place of elements that
    /// were deleted in a row, it is before the first of them.
    pub gaps: Vec<Range<usize>>,
}

/// How alike two elements are, of which one is the base's; 0 if they have nothing to do with each other.
pub trait Likeness {
    fn likeness(&mut self, forest: &mut Forest, base: usize, side: usize) -> Option<u32>;
}

/// None if that would take too long.
pub fn align(forest: &mut Forest, base: &[Class], side: &[Class], alike: &mut impl Likeness) -> Option<Alignment> {
    let mut pairs = common(forest, base, side)?;
    pairs.push((base.len(), side.len()));
    let (mut all, mut from) = (Vec::with_capacity(pairs.len()), (0, 0));
    for pair in pairs {
        all.extend(between(forest, from.0..pair.0, from.1..pair.1, alike)?);
        all.push(pair);
        from = (pair.0 + 1, pair.1 + 1);
    }
    Some(Alignment::of(base, side, &all))
}

/// For lists in which places count: each element became what stands in its place.
pub fn in_place(base: &[Class], side: &[Class]) -> Alignment {
    let pairs: Vec<(usize, usize)> = (0..=base.len()).map(|at| (at, at)).collect();
    Alignment::of(base, side, &pairs)
}

impl Alignment {
    /// Of pairs in order, the last of which is behind both lists.
    fn of(base: &[Class], side: &[Class], pairs: &[(usize, usize)]) -> Alignment {
        let mut fates = vec![Fate::Deleted; base.len()];
        let mut gaps = vec![0..0; base.len() + 1];
        let mut from = (0, 0);
        for &(at, becomes) in pairs {
            gaps[from.0] = from.1..becomes;
            if let Some(fate) = fates.get_mut(at) {
                *fate = if base[at] == side[becomes] { Fate::Same } else { Fate::Edited(becomes) };
            }
            from = (at + 1, becomes + 1);
        }
        Alignment { fates, gaps }
    }

    /// Whether elements came or went.
    pub fn is_structural(&self) -> bool {
        self.fates.contains(&Fate::Deleted) || self.gaps.iter().any(|gap| !gap.is_empty())
    }

    /// Elements that are gone, in rows as long as may be.
    pub fn deletions(&self) -> Vec<Range<usize>> {
        let mut rows: Vec<Range<usize>> = Vec::new();
        for (at, fate) in self.fates.iter().enumerate() {
            match rows.last_mut() {
                _ if *fate != Fate::Deleted => {}
                Some(row) if row.end == at => row.end = at + 1,
                _ => rows.push(at..at + 1),
            }
        }
        rows
    }
}

/// A longest common subsequence, as pairs of indexes.
fn common(forest: &mut Forest, base: &[Class], side: &[Class]) -> Option<Vec<(usize, usize)>> {
    let head = base.iter().zip(side).take_while(|(base, side)| base == side).count();
    let (base, side) = (&base[head..], &side[head..]);
    let tail = base.iter().rev().zip(side.iter().rev()).take_while(|(base, side)| base == side).count();
    let (rows, columns) = (base.len() - tail, side.len() - tail);
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    let found = best_pairs(forest, rows, columns, |at, becomes| u32::from(base[at] == side[becomes]))?;
    pairs.extend(found.into_iter().map(|(at, becomes)| (head + at, head + becomes)));
    pairs.extend((0..tail).map(|at| (head + rows + at, head + columns + at)));
    Some(pairs)
}

/// Pairs of elements between two that are equal.
fn between(
    forest: &mut Forest,
    base: Range<usize>,
    side: Range<usize>,
    alike: &mut impl Likeness,
) -> Option<Vec<(usize, usize)>> {
    let (rows, columns) = (base.len(), side.len());
    if rows == 0 || columns == 0 {
        return Some(Vec::new());
    }
    // What stands alone in the place of another became of it, whatever it is.
    if rows == 1 && columns == 1 {
        return Some(vec![(base.start, side.start)]);
    }
    forest.work(rows.checked_mul(columns)?)?;
    let mut scores = Vec::with_capacity(rows * columns);
    for at in base.clone() {
        for becomes in side.clone() {
            let score = alike.likeness(forest, at, becomes)?;
            let is_in_place = rows == columns && at - base.start == becomes - side.start;
            scores.push(score.max(u32::from(is_in_place)));
        }
    }
    let found = best_pairs(forest, rows, columns, |at, becomes| scores[at * columns + becomes])?;
    Some(found.into_iter().map(|(at, becomes)| (base.start + at, side.start + becomes)).collect())
}

/// The pairs in order whose scores make the greatest sum; pairs that score nothing are none.
fn best_pairs(
    forest: &mut Forest,
    rows: usize,
    columns: usize,
    score: impl Fn(usize, usize) -> u32,
) -> Option<Vec<(usize, usize)>> {
    let width = columns + 1;
    forest.work(rows.checked_mul(columns)?)?;
    let mut sums = vec![0u32; (rows + 1) * width];
    for at in (0..rows).rev() {
        for becomes in (0..columns).rev() {
            let paired = match score(at, becomes) {
                0 => 0,
                score => sums[(at + 1) * width + becomes + 1] + score,
            };
            let here = at * width + becomes;
            sums[here] = paired.max(sums[here + width]).max(sums[here + 1]);
        }
    }
    let (mut pairs, mut at, mut becomes) = (Vec::new(), 0, 0);
    while at < rows && becomes < columns {
        let here = at * width + becomes;
        let score = score(at, becomes);
        if score > 0 && sums[here] == sums[here + width + 1] + score {
            pairs.push((at, becomes));
            (at, becomes) = (at + 1, becomes + 1);
        } else if sums[here] == sums[here + width] {
            at += 1;
        } else {
            becomes += 1;
        }
    }
    Some(pairs)
}
