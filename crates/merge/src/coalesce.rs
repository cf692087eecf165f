//! Keeps lines short while forks are open: what no open fork can tell apart is one piece, be it that none has seen it or
//! that all have.

use crate::line::{Element, Piece, Sequence, Source};
use crate::stamp::{Stamp, View};
use object::change::ActorId;
use std::collections::BTreeSet;

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
            self.pieces[at - 1].take_in(tail);
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

impl Sequence {
    /// Lets go of what all open forks see alike, being older than the oldest: of elements deleted by then, and of the
    /// names of others. What something younger was put beside stays, and so does what stands beside it: where the next
    /// one goes may depend on it.
    pub fn forget(&mut self, oldest: u64) {
        if !self.positions.is_empty() {
            return;
        }
        let is_old = |stamp: &Stamp| stamp.order <= oldest;
        let is_known = |piece: &Piece| piece.stamp.as_ref().is_none_or(is_old);
        let young = self.pieces.iter().filter(|piece| !is_known(piece));
        let mut named: BTreeSet<Element> = young.flat_map(|piece| piece.left.into_iter().chain(piece.right)).collect();
        let is_named = |named: &BTreeSet<Element>, piece: &Piece| {
            named.range(piece.element(0)..piece.element(piece.count)).next().is_some()
        };
        let mut at = 0;
        while at < self.pieces.len() {
            let piece = &self.pieces[at];
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| self.pieces.get(at));
            let is_gone = is_known(piece) && piece.deleted.iter().any(is_old);
            if is_gone && !is_named(&named, piece) && beside.into_iter().all(is_known) {
                let gone = self.pieces.remove(at);
                self.settings.retain(|element, _| !gone.holds(*element));
            } else {
                at += 1;
            }
        }
        named.extend(self.settings.keys());
        let is_plain = |piece: &Piece| {
            is_known(piece) && piece.deleted.is_empty() && piece.values.is_none() && !is_named(&named, piece)
        };
        self.join_plain(is_plain);
    }

    /// Lets go of items that all open forks see set alike, unless the value is nowhere else.
    pub fn forget_settings(&mut self, live: ActorId, oldest: u64, views: &[View]) {
        let hidden = |element: Element| self.pieces.iter().any(|piece| piece.values.is_some() && piece.holds(element));
        let mut settings = std::mem::take(&mut self.settings);
        settings.retain(|element, register| {
            register.prune_replaced(live, oldest, views);
            register.is_newer_than(oldest) || hidden(*element)
        });
        self.settings = settings;
    }

    /// Neighbours that nobody names become one piece, under names that were never used.
    fn join_plain(&mut self, is_plain: impl Fn(&Piece) -> bool) {
        let at_rest = self.pieces.iter().filter(|piece| piece.source == Source::Rest);
        let mut unused = at_rest.map(|piece| piece.start + piece.count).max().unwrap_or(0);
        let mut joined: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        for piece in std::mem::take(&mut self.pieces) {
            match joined.last_mut().filter(|last| is_plain(last) && is_plain(&piece)) {
                Some(last) => {
                    *last = Piece::rest(unused, last.count + piece.count);
                    unused += last.count;
                }
                None => joined.push(piece),
            }
        }
        self.pieces = joined;
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
    same_deletion && one.is_like(other) && one.moved.is_none() && other.moved.is_none()
}
