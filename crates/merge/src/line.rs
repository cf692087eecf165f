//! Elements in an order: protos, the items of a list, the units of a sequence. Owns the pieces and who sees which.
//!
//! A line is a run of pieces. What was there at the oldest open fork is at rest and nameless but for its index; what was
//! inserted since carries the change that did it. What is deleted stays as long as some fork may see it. Values are held
//! only while the image does not: of elements about to come, and of those that went.

use crate::register::Register;
use crate::stamp::{Stamp, View};
use crate::values::Values;
use object::change::{ChangeId, Datum};
use std::collections::{BTreeMap, BTreeSet};

/// One element: where it came from, and which one of that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Element {
    pub source: Source,
    pub offset: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Source {
    Rest,
    Change(ChangeId),
}

/// Elements that came together and still stand together.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub source: Source,
    pub start: u64,
    pub count: u64,
    /// None for what is at rest: all see it.
    pub stamp: Option<Stamp>,
    /// Between which elements it was put, as its author saw them.
    pub left: Option<Element>,
    pub right: Option<Element>,
    /// A place for an element that was moved here, instead of an element.
    pub moved: Option<Element>,
    pub deleted: Vec<Stamp>,
    pub values: Option<Values>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub pieces: Vec<Piece>,
    pub positions: BTreeMap<Element, Moved>,
    /// Items that were set.
    pub settings: BTreeMap<Element, Register<Datum>>,
    /// As the live image shows it.
    pub ruling: Ruling,
    /// Of protos, what live goes by: a commit that has something to say of them, and what had become of them before it.
    pub stated: Vec<(Stamp, Ruling)>,
    /// Protos that are in a cycle which live saw after its commit of this number, and so agreed to.
    pub agreed: BTreeMap<Element, u64>,
}

/// What becomes of the protos of an object of which some would close a cycle.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ruling {
    /// Those are not shown.
    pub left_out: BTreeSet<Element>,
    /// Of those, what somebody has seen left out, who went on from there: nobody waits for it any longer.
    pub given_up: BTreeSet<Element>,
    /// These were deleted in merges and commits up to this number, and are shown all the same: what had replaced them is
    /// left out. Who deletes one later does not see it any longer.
    pub kept: BTreeMap<Element, u64>,
}

impl Ruling {
    pub const NONE: Ruling = Ruling { left_out: BTreeSet::new(), given_up: BTreeSet::new(), kept: BTreeMap::new() };

    pub fn is_empty(&self) -> bool {
        self.left_out.is_empty() && self.kept.is_empty()
    }
}

/// Where an element stands that was moved: at home, or at the place that a change made.
#[derive(Clone, Debug)]
pub(crate) struct Moved {
    pub register: Register<Option<ChangeId>>,
    /// Kept here from the first move on, so that a place need not look for its element's home.
    pub deleted: Vec<Stamp>,
}

/// The author's index is outside of what it saw.
#[derive(Debug)]
pub(crate) struct OutOfRange;

impl Piece {
    pub fn rest(start: u64, count: u64) -> Piece {
        Piece {
            source: Source::Rest,
            start,
            count,
            stamp: None,
            left: None,
            right: None,
            moved: None,
            deleted: Vec::new(),
            values: None,
        }
    }

    pub fn element(&self, offset: u64) -> Element {
        Element { source: self.source, offset: self.start + offset }
    }

    pub fn holds(&self, element: Element) -> bool {
        self.source == element.source && (self.start..self.start + self.count).contains(&element.offset)
    }

    /// Whether the view knows of it, deleted or not.
    pub fn exists_in(&self, view: &View) -> bool {
        self.stamp.as_ref().is_none_or(|stamp| view.sees(stamp))
    }

    /// Whether the values of both can be held together.
    pub fn is_like(&self, other: &Piece) -> bool {
        match (&self.values, &other.values) {
            (None, None) | (Some(Values::Items(_)), Some(Values::Items(_))) => true,
            (Some(Values::Units { width, .. }), Some(Values::Units { width: same, .. })) => width == same,
            _ => false,
        }
    }

    /// Adds the elements of one that is like this, behind its own.
    pub fn take_in(&mut self, other: Piece) {
        self.count += other.count;
        match (&mut self.values, other.values) {
            (Some(Values::Items(items)), Some(Values::Items(others))) => items.extend(others),
            (Some(Values::Units { bytes, .. }), Some(Values::Units { bytes: others, .. })) => bytes.extend(others),
            _ => {}
        }
    }

    /// Keeps the first `at` elements and returns the others.
    fn split_off(&mut self, at: u64) -> Piece {
        let tail = Piece {
            source: self.source,
            start: self.start + at,
            count: self.count - at,
            stamp: self.stamp,
            left: Some(self.element(at - 1)),
            right: self.right,
            moved: self.moved,
            deleted: self.deleted.clone(),
            values: self.values.as_mut().map(|values| values.split_off(at)),
        };
        self.count = at;
        tail
    }
}

impl Sequence {
    pub fn new(rest: u64) -> Sequence {
        let pieces = if rest == 0 { Vec::new() } else { vec![Piece::rest(0, rest)] };
        Sequence { pieces, ..Sequence::default() }
    }

    /// Whether the view, under this ruling, shows the piece at this index.
    pub fn shows(&self, index: usize, view: &View, ruling: &Ruling) -> bool {
        let piece = &self.pieces[index];
        let here = piece.moved.and(piece.stamp).map(|stamp| stamp.id);
        let is_elsewhere = || self.moved(piece).is_some_and(|moved| *moved.register.shown_in(view) != here);
        self.has(index, view, ruling) && !is_elsewhere()
    }

    /// The same wherever the piece was moved to.
    pub fn has(&self, index: usize, view: &View, ruling: &Ruling) -> bool {
        let piece = &self.pieces[index];
        if ruling.is_empty() {
            return self.exists(index, view);
        }
        let element = piece.moved.unwrap_or(piece.element(0));
        let upto = ruling.kept.get(&element).copied().unwrap_or(0);
        let is_deleted = || self.deletions(index).iter().any(|stamp| stamp.order > upto && view.sees(stamp));
        piece.exists_in(view) && !ruling.left_out.contains(&element) && !is_deleted()
    }

    fn moved(&self, piece: &Piece) -> Option<&Moved> {
        if self.positions.is_empty() {
            return None;
        }
        self.positions.get(&piece.moved.unwrap_or(piece.element(0)))
    }

    fn is_deleted(&self, piece: &Piece, view: &View) -> bool {
        let deleted = self.moved(piece).map_or(&piece.deleted, |moved| &moved.deleted);
        deleted.iter().any(|stamp| view.sees(stamp))
    }

    /// The piece that holds an element, and where in it.
    pub fn locate(&self, element: Element) -> Option<(usize, u64)> {
        let index = self.pieces.iter().position(|piece| piece.moved.is_none() && piece.holds(element));
        index.map(|index| (index, element.offset - self.pieces[index].start))
    }

    /// The piece that holds an element, or the place of a moved one.
    pub fn locate_any(&self, element: Element) -> Option<usize> {
        self.pieces.iter().position(|piece| piece.holds(element))
    }

    /// The piece and offset that the view shows at this index.
    pub fn find(&self, view: &View, ruling: &Ruling, index: u64) -> Result<(usize, u64), OutOfRange> {
        let mut left = index;
        for at in 0..self.pieces.len() {
            if self.shows(at, view, ruling) {
                let count = self.pieces[at].count;
                if left < count {
                    return Ok((at, left));
                }
                left -= count;
            }
        }
        Err(OutOfRange)
    }

    /// At which index the view shows the start of a piece, or would.
    pub fn index_of(&self, at: usize, view: &View, ruling: &Ruling) -> u64 {
        let shown = (0..at).filter(|before| self.shows(*before, view, ruling));
        shown.map(|before| self.pieces[before].count).sum()
    }

    pub fn length(&self, view: &View, ruling: &Ruling) -> u64 {
        self.index_of(self.pieces.len(), view, ruling)
    }

    /// Makes the element at `offset` the first of a piece; returns the index of that piece.
    pub fn split(&mut self, index: usize, offset: u64) -> usize {
        if offset == 0 {
            return index;
        }
        if offset < self.pieces[index].count {
            let tail = self.pieces[index].split_off(offset);
            self.pieces.insert(index + 1, tail);
        }
        index + 1
    }

    /// Makes the element a piece of its own; returns the index of that piece.
    pub fn isolate(&mut self, index: usize, offset: u64) -> usize {
        let index = self.split(index, offset);
        self.split(index, 1);
        index
    }

    /// Makes each element a piece of its own, so that each can be left out or kept.
    pub fn single_out(&mut self) {
        if self.pieces.iter().all(|piece| piece.count == 1) {
            return;
        }
        let pieces = std::mem::take(&mut self.pieces);
        for mut piece in pieces {
            while piece.count > 1 {
                let tail = piece.split_off(1);
                self.pieces.push(std::mem::replace(&mut piece, tail));
            }
            self.pieces.push(piece);
        }
    }

    /// The value of an element, if it is not the image that holds it.
    pub fn value(&self, index: usize, offset: u64) -> Option<Datum> {
        let piece = &self.pieces[index];
        let element = piece.moved.unwrap_or(piece.element(offset));
        if let Some(register) = self.settings.get(&element) {
            return Some(register.shown().clone());
        }
        let (home, offset) = if piece.moved.is_some() { self.locate(element)? } else { (index, offset) };
        self.pieces[home].values.as_ref()?.item(offset).cloned()
    }

    /// The pieces that are elements, and not places to which some were moved.
    pub fn homes(&self) -> impl Iterator<Item = usize> {
        (0..self.pieces.len()).filter(|at| self.pieces[*at].moved.is_none())
    }

    /// Whether the view has the piece in the line: moved away counts, deleted does not.
    pub fn exists(&self, index: usize, view: &View) -> bool {
        let piece = &self.pieces[index];
        piece.exists_in(view) && !self.is_deleted(piece, view)
    }

    /// Who deleted what is in this piece.
    pub fn deletions(&self, index: usize) -> &[Stamp] {
        let piece = &self.pieces[index];
        self.moved(piece).map_or(&piece.deleted, |moved| &moved.deleted)
    }

    /// Of everything that happened to it since it was at rest.
    pub fn stamps(&self) -> impl Iterator<Item = Stamp> {
        let pieces = self.pieces.iter().flat_map(|piece| piece.stamp.iter().chain(&piece.deleted).copied());
        let moves = self.positions.values().flat_map(|moved| {
            moved.register.versions.iter().map(|version| version.stamp).chain(moved.deleted.iter().copied())
        });
        let settings = self.settings.values().flat_map(|register| &register.versions).map(|version| version.stamp);
        pieces.chain(moves).chain(settings)
    }

    /// How many pieces and versions.
    pub fn weight(&self) -> usize {
        self.pieces.len() + self.settings.values().map(|register| register.versions.len()).sum::<usize>()
    }

    pub fn is_newer_than(&self, order: u64) -> bool {
        self.stamps().any(|stamp| stamp.order > order)
    }
}
