//! Which lines others changed where an undo would take something back: for whoever leaves such lines alone. Single values
//! need no such question: there the undo is a conflict like any other.

use crate::ledger::Ledger;
use crate::line::{Element, Piece, Sequence};
use crate::stamp::{Span, Stamp};
use object::change::{Change, Line, ObjectId};

impl Ledger {
    /// Lines in which others set, moved or took out what the changes of `journal` put there, or took out what those set,
    /// in a fixed order. What is `gone` counts for nobody.
    pub fn contended_lines(&self, journal: &[Change], gone: &[Span]) -> Vec<(ObjectId, Line)> {
        let Some(own) = Span::of(journal) else { return Vec::new() };
        let is_mine = |stamp: &Stamp| own.holds(stamp.id) || gone.iter().any(|span| span.holds(stamp.id));
        let lines = self.lines.iter().filter(|(_, sequence)| sequence.is_contended(&is_mine));
        let mut lines: Vec<(ObjectId, Line)> = lines.map(|(place, _)| *place).collect();
        lines.sort();
        lines
    }
}

impl Sequence {
    fn is_contended(&self, is_mine: &dyn Fn(&Stamp) -> bool) -> bool {
        let is_deleted_by_others = |piece: &Piece| piece.deleted.iter().any(|stamp| !is_mine(stamp));
        let mut inserted = self.pieces.iter().filter(|piece| piece.stamp.as_ref().is_some_and(is_mine));
        let is_inserted_touched =
            inserted.any(|piece| is_deleted_by_others(piece) || self.stamps_on(piece).any(|stamp| !is_mine(&stamp)));
        let set = self
            .settings
            .iter()
            .filter(|(_, register)| register.versions.iter().any(|version| is_mine(&version.stamp)));
        let mut homes = set.filter_map(|(element, _)| self.locate(*element));
        is_inserted_touched || homes.any(|(home, _)| is_deleted_by_others(&self.pieces[home]))
    }

    /// Of whoever set or moved an element of the piece.
    fn stamps_on(&self, piece: &Piece) -> impl Iterator<Item = Stamp> {
        let is_held = |element: &Element| piece.holds(*element) || piece.moved == Some(*element);
        let set = self.settings.iter().filter(move |(element, _)| is_held(element));
        let set = set.flat_map(|(_, register)| &register.versions).map(|version| version.stamp);
        let moved = self.positions.iter().filter(move |(element, _)| is_held(element));
        set.chain(moved.flat_map(|(_, moved)| &moved.register.versions).map(|version| version.stamp))
    }
}
