//! A commit of the live image does what it says and nothing else. Whatever became of protos that closed cycles, live has
//! seen it and goes on from there: what would come back, now that nothing is in its way, counts as deleted by the commit,
//! and what would go counts as put there by it.

use crate::apply::Application;
use crate::integrate::Author;
use crate::line::{Element, Piece, Ruling, Sequence, Source};
use crate::rest::Rest;
use crate::stamp::{Inner, Stamp, View};
use crate::values::Values;
use object::change::{Change, Line};

impl<R: Rest> Application<'_, R> {
    /// Makes the ledger's protos those that the image shows after a commit, of which this is the last change.
    pub(crate) fn hold_protos(&mut self, last: &Change) {
        if !self.touched.lines.keys().any(|(_, line)| *line == Line::Protos) {
            return;
        }
        let stamp = Stamp { id: last.id, order: self.order, time: last.time, policy: None };
        let mut is_changed = true;
        while std::mem::take(&mut is_changed) {
            let mut rulings = self.ledger.rulings(&View::all(), &self.rest);
            let protos = self.ledger.lines.iter_mut().filter(|((_, line), _)| *line == Line::Protos);
            for ((object, _), sequence) in protos {
                is_changed |= sequence.hold(&rulings.remove(object).unwrap_or_default(), stamp);
            }
        }
    }
}

impl Sequence {
    /// Changes what this ruling would show otherwise than the image does. False if there is no such thing.
    fn hold(&mut self, ruling: &Ruling, stamp: Stamp) -> bool {
        let all = View::all();
        let mut is_changed = false;
        for at in (0..self.pieces.len()).rev() {
            let (is_shown, would_be) = (self.shows(at, &all, &self.ruling), self.shows(at, &all, ruling));
            if is_shown == would_be {
                continue;
            }
            is_changed = true;
            if is_shown {
                self.put_again(at, stamp);
            }
            self.delete_at(at, stamp);
            let element = self.element_at(at);
            self.ruling.kept.remove(&element);
        }
        is_changed
    }

    /// Puts what an element holds behind it, as a new one.
    fn put_again(&mut self, at: usize, stamp: Stamp) {
        let source = Source::Change(stamp.id);
        let used = self.pieces.iter().filter(|piece| piece.source == source).map(|piece| piece.start + piece.count);
        let start = used.max().unwrap_or(0);
        let piece = Piece {
            source,
            start,
            stamp: Some(stamp),
            values: self.value(at, 0).map(|value| Values::Items([value].into())),
            ..Piece::rest(start, 1)
        };
        let ruling = self.ruling.clone();
        let author = Author { stamp, view: &View::all(), ruling: &ruling, inner: &Inner::apart() };
        let behind = self.index_of(at, author.view, &ruling) + 1;
        self.put(&author, behind, piece).expect("what is shown has an index");
    }

    fn element_at(&self, at: usize) -> Element {
        self.pieces[at].moved.unwrap_or(self.pieces[at].element(0))
    }
}
