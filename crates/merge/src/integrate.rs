//! Where elements go that were inserted side by side: Fugue order. What one author put together stays together, and
//! the place depends on the set of insertions alone, never on the order in which they come in.

use crate::line::{Element, OutOfRange, Piece, Sequence, Source, Values};
use crate::register::Register;
use crate::stamp::{Stamp, View};
use std::collections::BTreeSet;

/// Who edits, and what it sees.
pub(crate) struct Author<'a> {
    pub stamp: Stamp,
    pub view: &'a View,
    pub suppressed: &'a BTreeSet<Element>,
}

impl Sequence {
    /// Puts values before what the author sees at `index`.
    pub fn insert(&mut self, author: &Author<'_>, index: u64, values: Values, count: u64) -> Result<(), OutOfRange> {
        let piece = Piece {
            source: Source::Change(author.stamp.id),
            start: 0,
            count,
            stamp: Some(author.stamp),
            left: None,
            right: None,
            moved: None,
            deleted: Vec::new(),
            values: Some(values),
        };
        self.put(author, index, piece)
    }

    /// Takes the element at `from` to where, without it, index `to` is. `captured` is its value, if the image holds it.
    pub fn move_to(
        &mut self,
        author: &Author<'_>,
        from: u64,
        to: u64,
        capture: impl FnOnce(&Sequence, usize, u64) -> Option<Values>,
    ) -> Result<(), OutOfRange> {
        let (at, offset) = self.find(author.view, author.suppressed, from)?;
        if to >= self.length(author.view, author.suppressed) {
            return Err(OutOfRange);
        }
        let at = self.isolate(at, offset);
        let element = self.pieces[at].moved.unwrap_or(self.pieces[at].element(0));
        let home = self.locate(element).map_or(at, |(home, offset)| self.isolate(home, offset));
        if self.pieces[home].values.is_none() {
            self.pieces[home].values = capture(self, home, 0);
        }
        // The author sees the element where it was, which is not where it counts from now on.
        let before = if to <= from { to } else { to + 1 };
        let place = Piece {
            source: Source::Change(author.stamp.id),
            start: 0,
            count: 1,
            stamp: Some(author.stamp),
            left: None,
            right: None,
            moved: Some(element),
            deleted: Vec::new(),
            values: None,
        };
        self.put(author, before, place)?;
        let register = self.positions.entry(element).or_insert_with(|| Register::new(None));
        let replaced = register.seen(author.view);
        register.push(author.stamp, Some(author.stamp.id), replaced);
        Ok(())
    }

    fn put(&mut self, author: &Author<'_>, index: u64, mut piece: Piece) -> Result<(), OutOfRange> {
        let mut first = 0;
        if index > 0 {
            let (at, offset) = self.find(author.view, author.suppressed, index - 1)?;
            piece.left = Some(self.pieces[at].element(offset));
            first = self.split(at, offset + 1);
        }
        let right = (first..self.pieces.len()).find(|at| self.pieces[*at].exists_in(author.view));
        piece.right = right.map(|at| self.pieces[at].element(0));
        let at = self.place_between(&piece, first, right.unwrap_or(self.pieces.len()));
        self.pieces.insert(at, piece);
        Ok(())
    }

    /// Where among the pieces `first..end`, none of which its author saw, the new one goes.
    fn place_between(&self, piece: &Piece, first: usize, end: usize) -> usize {
        let (left, right) = (self.left_position(piece.left), self.right_position(piece.right));
        let (mut place, mut is_passing) = (first, false);
        for at in first..=end {
            if !is_passing {
                place = at;
            }
            if at == end {
                break;
            }
            let other = &self.pieces[at];
            let (other_left, other_right) = (self.left_position(other.left), self.right_position(other.right));
            let is_sibling = other_left == left && other_right == right;
            if other_left < left || (is_sibling && piece.source < other.source) {
                break;
            }
            if other_left == left {
                is_passing = other_right < right;
            }
        }
        place
    }

    /// Positions from 1 on; 0 is before all.
    fn left_position(&self, element: Option<Element>) -> (usize, u64) {
        element.and_then(|element| self.locate_any(element)).map_or((0, 0), |(at, offset)| (at + 1, offset))
    }

    fn right_position(&self, element: Option<Element>) -> (usize, u64) {
        element.and_then(|element| self.locate_any(element)).unwrap_or((usize::MAX, 0))
    }

    /// Deletes what the author sees at these indexes. `capture` gives the values that the image still holds.
    pub fn delete(
        &mut self,
        author: &Author<'_>,
        index: u64,
        count: u64,
        capture: impl Fn(&Sequence, usize) -> Option<Values>,
    ) -> Result<(), OutOfRange> {
        let mut left = count;
        while left > 0 {
            let (at, offset) = self.find(author.view, author.suppressed, index)?;
            let at = self.split(at, offset);
            if self.pieces[at].count > left {
                self.split(at, left);
            }
            left -= self.pieces[at].count;
            let home = match self.pieces[at].moved {
                Some(element) => self.locate(element).map_or(at, |(home, offset)| self.isolate(home, offset)),
                None => at,
            };
            if self.pieces[home].values.is_none() {
                self.pieces[home].values = capture(self, home);
            }
            self.pieces[home].deleted.push(author.stamp);
        }
        Ok(())
    }
}
