//! One list out of two that came of the same. Owns what may be taken from both sides and what contradicts itself.
//!
//! What only one side did is done; what both did alike is done once. Otherwise:
//! - an element that one side deleted and the other edited is a contradiction;
//! - new elements of one side must have kept their neighbourhood on the other: nothing goes into the middle of what the
//!   other side deleted, nor beside what it put something else in the place of;
//! - in a statement each message is sent to what the one before it gave, so nothing goes beside what the other side
//!   deleted, and no two sides put different messages into one place;
//! - what both sides put, or moved, but to different places, was meant once or twice: nobody knows;
//! - arguments mean what their place says, so only one side may add or remove some;
//! - new statements of both sides in one place are for `order` to judge.

use super::align::{Alignment, Fate};
use super::forest::Class;
use rustc_hash::FxHashMap;
use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    Statements,
    Messages,
    Arguments,
}

/// Where an element of the result comes from, by its index there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    Base(usize),
    One(usize),
    Other(usize),
    /// All three differ: to be merged from the base's and each side's element.
    Merged(usize, usize, usize),
}

/// A side: its elements, and how they came of the base's.
pub struct Side {
    pub classes: Vec<Class>,
    pub alignment: Alignment,
}

impl Side {
    fn new_at(&self, gap: usize) -> &[Class] {
        &self.classes[self.alignment.gaps[gap].clone()]
    }

    fn is_deleted(&self, at: usize) -> bool {
        self.alignment.fates.get(at) == Some(&Fate::Deleted)
    }

    /// Whether it put something of its own there.
    fn differs_at(&self, gap: usize, other: &Side) -> bool {
        !self.new_at(gap).is_empty() && self.new_at(gap) != other.new_at(gap)
    }

    fn same_structure(&self, other: &Side) -> bool {
        let deleted = |side: &Side| side.alignment.deletions();
        let gaps = 0..self.alignment.gaps.len();
        deleted(self) == deleted(other) && gaps.into_iter().all(|gap| self.new_at(gap) == other.new_at(gap))
    }
}

/// Says of new statements of both sides, that differ, in which order they go: whether those of one side are first. None
/// if it matters.
pub type Ordering<'o> = dyn FnMut(Range<usize>, Range<usize>) -> Option<bool> + 'o;

/// None if the sides contradict each other.
pub fn merge(rule: Rule, base: &[Class], one: &Side, other: &Side, order: &mut Ordering<'_>) -> Option<Vec<Piece>> {
    if clashes(rule, one, other) || clashes(rule, other, one) {
        return None;
    }
    let mut pieces = Vec::new();
    let count = one.alignment.fates.len();
    for at in 0..=count {
        pieces.extend(gap(rule, one, other, at, order)?);
        if at < count {
            pieces.extend(element(one, other, at)?);
        }
    }
    // Each side left something, but not the same.
    let is_gone = pieces.is_empty();
    let is_wrong = rule != Rule::Arguments && (is_gone || is_doubled(base, one, other, &pieces));
    if is_wrong { None } else { Some(pieces) }
}

/// Whether something is there more often than either side has it: both put it, or moved it, but to different places.
fn is_doubled(base: &[Class], one: &Side, other: &Side, pieces: &[Piece]) -> bool {
    let mut counts: FxHashMap<Class, [usize; 3]> = FxHashMap::default();
    let mut count = |class: Class, which: usize| counts.entry(class).or_default()[which] += 1;
    one.classes.iter().for_each(|class| count(*class, 0));
    other.classes.iter().for_each(|class| count(*class, 1));
    for piece in pieces {
        match *piece {
            Piece::Base(at) => count(base[at], 2),
            Piece::One(at) => count(one.classes[at], 2),
            Piece::Other(at) => count(other.classes[at], 2),
            Piece::Merged(..) => {}
        }
    }
    counts.values().any(|[one, other, merged]| merged > one.max(other))
}

/// Whether what `one` deleted is in the way of what `other` put there.
fn clashes(rule: Rule, one: &Side, other: &Side) -> bool {
    if rule == Rule::Arguments {
        let are_both = one.alignment.is_structural() && other.alignment.is_structural();
        return are_both && !one.same_structure(other);
    }
    one.alignment.deletions().into_iter().any(|row| {
        let is_replaced = !one.new_at(row.start).is_empty();
        let around =
            if is_replaced || rule == Rule::Messages { row.start..row.end + 1 } else { row.start + 1..row.end };
        let is_beside = |at: usize| other.is_deleted(at) && !one.is_deleted(at);
        let both_deleted = || is_beside(row.end) || row.start.checked_sub(1).is_some_and(is_beside);
        around.into_iter().any(|gap| other.differs_at(gap, one)) || rule == Rule::Messages && both_deleted()
    })
}

fn element(one: &Side, other: &Side, at: usize) -> Option<Option<Piece>> {
    Some(match (one.alignment.fates[at], other.alignment.fates[at]) {
        (Fate::Same, Fate::Same) => Some(Piece::Base(at)),
        (Fate::Edited(one), Fate::Same) => Some(Piece::One(one)),
        (Fate::Same, Fate::Edited(other)) => Some(Piece::Other(other)),
        (Fate::Edited(left), Fate::Edited(right)) if one.classes[left] == other.classes[right] => {
            Some(Piece::One(left))
        }
        (Fate::Edited(one), Fate::Edited(other)) => Some(Piece::Merged(at, one, other)),
        (Fate::Deleted, Fate::Deleted | Fate::Same) | (Fate::Same, Fate::Deleted) => None,
        (Fate::Deleted, Fate::Edited(_)) | (Fate::Edited(_), Fate::Deleted) => return None,
    })
}

fn gap(rule: Rule, one: &Side, other: &Side, at: usize, order: &mut Ordering<'_>) -> Option<Vec<Piece>> {
    let (mine, theirs) = (one.new_at(at), other.new_at(at));
    let (left, right) = (one.alignment.gaps[at].clone(), other.alignment.gaps[at].clone());
    if mine == theirs || theirs.is_empty() {
        return Some(left.map(Piece::One).collect());
    }
    if mine.is_empty() {
        return Some(right.map(Piece::Other).collect());
    }
    if rule != Rule::Statements {
        return None;
    }
    let head = mine.iter().zip(theirs).take_while(|(mine, theirs)| mine == theirs).count();
    let tails = mine[head..].iter().rev().zip(theirs[head..].iter().rev());
    let tail = tails.take_while(|(mine, theirs)| mine == theirs).count();
    let mut pieces: Vec<Piece> = (left.start..left.start + head).map(Piece::One).collect();
    let (ours, others) = (left.start + head..left.end - tail, right.start + head..right.end - tail);
    // The last statement says what the whole is worth, and there is only one.
    let is_last = at == one.alignment.fates.len() && tail == 0;
    if !ours.is_empty() && !others.is_empty() && is_last {
        return None;
    }
    let is_one_first = ours.is_empty() || others.is_empty() || order(ours.clone(), others.clone())?;
    let (ours, others) = (ours.map(Piece::One), others.map(Piece::Other));
    if is_one_first {
        pieces.extend(ours.chain(others))
    } else {
        pieces.extend(others.chain(ours))
    }
    pieces.extend((left.end - tail..left.end).map(Piece::One));
    Some(pieces)
}
