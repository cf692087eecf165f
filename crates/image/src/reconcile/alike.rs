//! How alike two elements of lists are: by what they say, and by how they begin. Owns the scores.

use super::align::Likeness;
use super::forest::{Class, Forest};
use super::tree::{Chain, Statement};

/// How much of what they say two elements must share to be alike, in thousandths.
const ALIKE_LEAST: usize = 500;
/// Elements that begin alike are alike, whatever follows.
const OPENING_SCORE: u32 = 1000;

/// What elements of two lists say, each looked at once.
pub struct Alike {
    /// An element as statements.
    base: Vec<Chain>,
    side: Vec<Chain>,
    bags: [Vec<Option<Vec<Class>>>; 2],
    opens_alike: Opening,
}

type Opening = fn(&Forest, &Chain, &Chain) -> bool;

impl Alike {
    fn of(base: Vec<Chain>, side: Vec<Chain>, opens_alike: Opening) -> Alike {
        let bags = [vec![None; base.len()], vec![None; side.len()]];
        Alike { base, side, bags, opens_alike }
    }

    pub fn statements(base: &Chain, side: &Chain) -> Alike {
        let elements = |chain: &Chain| chain.iter().map(|statement| vec![statement.clone()]).collect();
        Alike::of(elements(base), elements(side), has_same_subject)
    }

    pub fn messages(base: &Statement, side: &Statement) -> Alike {
        let elements = |statement: &Statement| statement.iter().map(|&id| vec![vec![id]]).collect();
        Alike::of(elements(base), elements(side), |forest, base, side| {
            forest.head(base[0][0]) == forest.head(side[0][0])
        })
    }

    pub fn arguments(base: &[Chain], side: &[Chain]) -> Alike {
        Alike::of(base.to_vec(), side.to_vec(), |_, _, _| false)
    }
}

/// Whether both statements begin with the same message to the same thing: an assignment to one slot, a question about one
/// condition.
fn has_same_subject(forest: &Forest, base: &Chain, side: &Chain) -> bool {
    let (base, side) = (base[0][0], side[0][0]);
    let (asked, same) = (forest.subject(base), forest.subject(side));
    forest.head(base) == forest.head(side) && asked.is_some() && asked == same
}

impl Likeness for Alike {
    fn likeness(&mut self, forest: &mut Forest, base: usize, side: usize) -> Option<u32> {
        for (bags, elements, at) in [(0, &self.base, base), (1, &self.side, side)] {
            if self.bags[bags][at].is_none() {
                self.bags[bags][at] = Some(forest.bag(&elements[at])?);
            }
        }
        let (Some(mine), Some(theirs)) = (&self.bags[0][base], &self.bags[1][side]) else { return Some(0) };
        let total = mine.len() + theirs.len();
        forest.work(total)?;
        let shared = 2000 * shared(mine, theirs) / total.max(1);
        let opening = if (self.opens_alike)(forest, &self.base[base], &self.side[side]) { OPENING_SCORE } else { 0 };
        let is_alike = opening > 0 || shared >= ALIKE_LEAST;
        Some(if is_alike { opening + shared as u32 } else { 0 })
    }
}

/// How many elements two sorted lists share.
fn shared(mut left: &[Class], mut right: &[Class]) -> usize {
    let mut count = 0;
    while let ([first, left_rest @ ..], [second, right_rest @ ..]) = (left, right) {
        count += usize::from(first == second);
        (left, right) =
            (if first <= second { left_rest } else { left }, if second <= first { right_rest } else { right });
    }
    count
}
