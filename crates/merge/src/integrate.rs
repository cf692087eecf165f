//! Where elements go that were inserted side by side: Fugue order. What one author put together stays together, and
//! the place depends on the set of insertions alone, never on the order in which they come in.

use crate::line::{Element, Moved, OutOfRange, Piece, Ruling, Sequence, Source};
use crate::register::Register;
use crate::stamp::{Inner, Stamp, View};
use crate::values::Values;
use std::collections::BTreeSet;

/// Who edits, and what it sees.
pub(crate) struct Author<'a> {
    pub stamp: Stamp,
    pub view: &'a View,
    pub ruling: &'a Ruling,
    pub inner: &'a Inner,
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
        let (at, offset) = self.find(author.view, author.ruling, from)?;
        let at = self.isolate(at, offset);
        let element = self.pieces[at].moved.unwrap_or(self.pieces[at].element(0));
        let home = self.locate(element).map_or(at, |(home, offset)| self.isolate(home, offset));
        if self.pieces[home].values.is_none() {
            self.pieces[home].values = capture(self, home, 0);
        }
        // The author sees the element where it was, which is not where it counts from now on.
        let before = if to <= from { to } else { to.saturating_add(1) };
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
        let home = self.locate(element).map_or(Vec::new(), |(home, _)| self.pieces[home].deleted.clone());
        let unmoved = || Moved { register: Register::new(None), deleted: home };
        let register = &mut self.positions.entry(element).or_insert_with(unmoved).register;
        register.write(author.stamp, Some(author.stamp.id), author.view, author.inner);
        Ok(())
    }

    /// Puts a new piece before what the author sees at `index`.
    pub fn put(&mut self, author: &Author<'_>, index: u64, mut piece: Piece) -> Result<(), OutOfRange> {
        let mut first = 0;
        if index > 0 {
            let (at, offset) = self.find(author.view, author.ruling, index - 1)?;
            piece.left = Some(self.pieces[at].element(offset));
            first = self.split(at, offset + 1);
        }
        let right = (first..self.pieces.len()).find(|at| self.pieces[*at].exists_in(author.view));
        piece.right = right.map(|at| self.pieces[at].element(0));
        if first > 0 && self.extends(first - 1, &piece, author.inner) {
            self.pieces[first - 1].take_in(piece);
            return Ok(());
        }
        let at = self.place_between(&piece, first, right.unwrap_or(self.pieces.len()));
        self.pieces.insert(at, piece);
        Ok(())
    }

    /// Whether the author goes on where it stopped: then both are one piece, by the name of the first.
    fn extends(&self, at: usize, piece: &Piece, inner: &Inner) -> bool {
        let before = &self.pieces[at];
        let (Some(stamp), Some(new)) = (&before.stamp, &piece.stamp) else { return false };
        let next = Element { source: before.source, offset: before.start + before.count };
        inner.cannot_tell(stamp, new)
            && (before.moved.or(piece.moved)).is_none()
            && before.is_like(piece)
            && self.locate_any(next).is_none()
    }

    /// Where among the pieces `first..end`, none of which its author saw, the new one goes. Where the neighbours of
    /// those are, inside, outside or the same as its own, is all that counts.
    fn place_between(&self, piece: &Piece, first: usize, end: usize) -> usize {
        let between = &self.pieces[first..end];
        let sources: BTreeSet<Source> = between.iter().map(|other| other.source).collect();
        let is_inside = |element: Option<Element>| element.is_some_and(|element| sources.contains(&element.source));
        let (mut place, mut is_passing) = (first, false);
        for (at, other) in (first..).zip(between) {
            if !is_passing {
                place = at;
            }
            let is_child = other.left == piece.left;
            let is_sibling = is_child && other.right == piece.right;
            if !(is_child || is_inside(other.left)) || (is_sibling && piece.source < other.source) {
                return place;
            }
            if is_child {
                is_passing = is_inside(other.right);
            }
        }
        if is_passing { place } else { end }
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
            let (at, offset) = self.find(author.view, author.ruling, index)?;
            let at = self.split(at, offset);
            if self.pieces[at].count > left {
                self.split(at, left);
            }
            left -= self.pieces[at].count;
            let home = self.home(at);
            if self.pieces[home].values.is_none() {
                self.pieces[home].values = capture(self, home);
            }
            self.delete_at(home, author.stamp);
        }
        Ok(())
    }

    /// Where the elements of a piece are at home, as a piece of their own.
    fn home(&mut self, at: usize) -> usize {
        match self.pieces[at].moved {
            Some(element) => self.locate(element).map_or(at, |(home, offset)| self.isolate(home, offset)),
            None => at,
        }
    }

    /// Notes who deleted the elements of a piece, wherever they stand now.
    pub fn delete_at(&mut self, at: usize, stamp: Stamp) {
        let element = self.pieces[at].moved.unwrap_or(self.pieces[at].element(0));
        let moved = self.positions.get_mut(&element).map(|moved| &mut moved.deleted);
        moved.unwrap_or(&mut self.pieces[at].deleted).push(stamp);
    }
}
