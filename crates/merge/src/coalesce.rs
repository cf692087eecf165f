//! Keeps lines short that the live image edits while forks are open: what no open fork can tell apart is one piece.

use crate::line::{Element, Piece, Sequence, Source, Values};
use crate::stamp::Stamp;
use object::change::ActorId;

/// Which changes no open fork has seen: live's own, after the newest fork.
#[derive(Clone, Copy)]
struct Unseen {
    live: ActorId,
    newest: u64,
}

impl Unseen {
    fn holds(self, stamp: &Stamp) -> bool {
        stamp.id.actor == self.live && stamp.order > self.newest
    }
}

impl Sequence {
    /// Joins neighbours; `newest` is the order of the newest open fork.
    pub fn coalesce(&mut self, live: ActorId, newest: u64) {
        if !self.positions.is_empty() {
            return;
        }
        let unseen = Unseen { live, newest };
        let mut at = 1;
        while at < self.pieces.len() {
            let (one, other) = (&self.pieces[at - 1], &self.pieces[at]);
            if !are_alike(one, other, unseen) || !(continues(one, other) || self.is_appended(one, other, unseen)) {
                at += 1;
                continue;
            }
            let tail = self.pieces.remove(at);
            let piece = &mut self.pieces[at - 1];
            piece.count += tail.count;
            if let (Some(values), Some(more)) = (&mut piece.values, &tail.values) {
                values.append(more);
            }
        }
    }

    /// Whether live put one behind the other, so that the other may go by the name of the first: nobody knows its own.
    fn is_appended(&self, one: &Piece, other: &Piece, unseen: Unseen) -> bool {
        let is_unseen = |piece: &Piece| piece.stamp.as_ref().is_some_and(|stamp| unseen.holds(stamp));
        let next = Element { source: one.source, offset: one.start + one.count };
        is_unseen(one)
            && is_unseen(other)
            && other.left == Some(one.element(one.count - 1))
            && other.right == one.right
            && self.locate_any(next).is_none()
            && !self.is_referred_to(other.source)
    }

    fn is_referred_to(&self, source: Source) -> bool {
        let refers = |element: Option<Element>| element.is_some_and(|element| element.source == source);
        self.pieces.iter().any(|piece| refers(piece.left) || refers(piece.right))
            || self.settings.keys().any(|element| element.source == source)
    }
}

/// Parts of one insertion, or of what is at rest, that follow each other.
fn continues(one: &Piece, other: &Piece) -> bool {
    one.source == other.source && one.start + one.count == other.start && one.stamp == other.stamp
}

/// Equally deleted, or not, in every view, with values that can be joined.
fn are_alike(one: &Piece, other: &Piece, unseen: Unseen) -> bool {
    let same_deletion = match (&one.deleted[..], &other.deleted[..]) {
        ([by], [also]) => by == also || (unseen.holds(by) && unseen.holds(also)),
        (by, also) => by == also,
    };
    let same_values = match (&one.values, &other.values) {
        (None, None) | (Some(Values::Items(_)), Some(Values::Items(_))) => true,
        (Some(Values::Units { width, .. }), Some(Values::Units { width: same, .. })) => width == same,
        _ => false,
    };
    same_deletion && same_values && one.moved.is_none() && other.moved.is_none()
}
