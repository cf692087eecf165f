//! How alike two elements of lists are: by what they say, and by how they begin. Owns the scores.

use super::align::Likeness;
use super::forest::{Class, Forest};
use super::tree::{Chain, Statement};

/// Two elements are alike that share more than half of what they say, in thousandths.
const ALIKE_MORE_THAN: u32 = 500;
/// If they begin with the same message, a third is enough.
const SAME_FIRST_BONUS: u32 = 200;
/// If they begin with the same message about the same thing, whatever follows.
const SAME_SUBJECT_BONUS: u32 = 1000;

/// What elements of two lists say, each looked at once.
pub struct Alike {
    /// An element as statements.
    base: Vec<Chain>,
    side: Vec<Chain>,
    bags: [Vec<Option<Vec<Class>>>; 2],
    beginning: Beginning,
}

/// What elements have ahead that begin alike.
type Beginning = fn(&Forest, &Chain, &Chain) -> u32;

impl Alike {
    fn of(base: Vec<Chain>, side: Vec<Chain>, beginning: Beginning) -> Alike {
        let bags = [vec![None; base.len()], vec![None; side.len()]];
        Alike { base, side, bags, beginning }
    }

    pub fn statements(base: &Chain, side: &Chain) -> Alike {
        let elements = |chain: &Chain| chain.iter().map(|statement| vec![statement.clone()]).collect();
        Alike::of(elements(base), elements(side), beginning)
    }

    pub fn arguments(base: &[Chain], side: &[Chain]) -> Alike {
        Alike::of(base.to_vec(), side.to_vec(), beginning)
    }

    /// Messages of one name are alike.
    pub fn messages(base: &Statement, side: &Statement) -> Alike {
        let elements = |statement: &Statement| statement.iter().map(|&id| vec![vec![id]]).collect();
        let beginning = |forest: &Forest, base: &Chain, side: &Chain| {
            if forest.head(base[0][0]) == forest.head(side[0][0]) { SAME_SUBJECT_BONUS } else { 0 }
        };
        Alike::of(elements(base), elements(side), beginning)
    }
}

fn beginning(forest: &Forest, base: &Chain, side: &Chain) -> u32 {
    let (base, side) = (base[0][0], side[0][0]);
    let (subject, same) = (forest.subject(base), forest.subject(side));
    if forest.head(base) != forest.head(side) {
        0
    } else if subject.is_some() && subject == same {
        SAME_SUBJECT_BONUS
    } else {
        SAME_FIRST_BONUS
    }
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
        let score = shared as u32 + (self.beginning)(forest, &self.base[base], &self.side[side]);
        Some(if score > ALIKE_MORE_THAN { score } else { 0 })
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
