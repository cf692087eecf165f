//! The end of a commit or merge for one line: what it shows now, and how that differs from the image.

use crate::conflict::{Place, Position, Violation, push_conflicts};
use crate::line::{Element, Ruling, Sequence, Source};
use crate::register::Register;
use crate::settle::{Effect, Outcome};
use crate::stamp::View;
use object::change::*;

impl Sequence {
    pub(crate) fn live_index(&self, element: Element) -> Option<u64> {
        let (at, offset) = self.locate(element)?;
        let position = self.positions.get(&element).and_then(|moved| *moved.register.shown());
        let (at, offset) = match position {
            None => (at, offset),
            Some(change) => (self.locate_any(Element { source: Source::Change(change), offset: 0 })?, 0),
        };
        let all = View::all();
        self.shows(at, &all, &self.ruling).then(|| self.index_of(at, &all, &self.ruling) + offset)
    }

    /// Reports protos that are left out and were not before.
    pub(crate) fn report_cycles(&self, object: ObjectId, now: &Ruling, before: &Ruling, outcome: &mut Outcome) {
        let waiting = now.left_out.difference(&now.given_up);
        for element in waiting.filter(|element| !before.left_out.contains(element)) {
            let Some((at, offset)) = self.locate(*element) else { continue };
            let (Some(Datum::Object(proto)), Some(stamp)) = (self.value(at, offset), self.pieces[at].stamp) else {
                continue;
            };
            outcome.violations.push(Violation::ProtoCycle { object, proto, change: stamp.id });
        }
    }

    /// Says how the image differs from what is shown now, and forgets values that it will hold.
    pub(crate) fn settle(&mut self, place: (ObjectId, Line), order: u64, ruling: Ruling, outcome: &mut Outcome) {
        let (object, line) = place;
        let (before, all) = (View::at(order - 1), View::all());
        let shows = |at| (self.shows(at, &before, &self.ruling), self.shows(at, &all, &ruling));
        let shown: Vec<(bool, bool)> = (0..self.pieces.len()).map(shows).collect();
        // First what goes: a text may become one of wider units only while it is empty.
        let mut index = 0;
        for (piece, was_and_is) in self.pieces.iter().zip(&shown) {
            match was_and_is {
                (true, false) => push_delete(&mut outcome.effects, object, line, index, piece.count),
                (true, true) => index += piece.count,
                (false, _) => {}
            }
        }
        let mut index = 0;
        for (at, (was, _)) in shown.iter().enumerate().filter(|(_, (_, is))| *is) {
            if *was {
                self.push_settings(object, at, index, outcome);
            } else {
                let run = self.run(at, |register| register.shown().clone());
                outcome.effects.push(Effect { object, operation: Operation::Insert { line, index, run } });
            }
            index += self.pieces[at].count;
        }
        self.ruling = ruling;
        for register in self.settings.values_mut() {
            register.live = register.shown().clone();
        }
        for (piece, (_, is)) in self.pieces.iter_mut().zip(shown) {
            if is && line != Line::Protos {
                piece.values = None;
            }
        }
    }

    /// The values of a hidden piece that the image is to take in.
    pub(crate) fn run(&self, at: usize, setting: impl Fn(&Register<Datum>) -> Datum) -> Run {
        let piece = &self.pieces[at];
        let home = piece.moved.and_then(|element| self.locate(element)).map_or(at, |(home, _)| home);
        let mut values = self.pieces[home].values.clone().expect("values of hidden elements are kept");
        if !self.settings.is_empty() {
            for offset in 0..piece.count {
                if let Some(register) = self.settings.get(&self.pieces[home].element(offset)) {
                    values.set_item(offset as usize, setting(register));
                }
            }
        }
        values.to_run()
    }

    fn push_settings(&self, object: ObjectId, at: usize, index: u64, outcome: &mut Outcome) {
        let piece = &self.pieces[at];
        let first = piece.moved.unwrap_or(piece.element(0));
        let end = Element { offset: first.offset + piece.count, ..first };
        for (element, register) in self.settings.range(first..end) {
            let index = index + element.offset - first.offset;
            if register.live != *register.shown() {
                let operation = Operation::Set { index, value: register.shown().clone() };
                outcome.effects.push(Effect { object, operation });
            }
            let place = || Place { object, position: Position::Item(index) };
            push_conflicts(place, register, &register.heads(), &mut outcome.conflicts);
        }
    }
}

/// Deletions that follow each other are one.
fn push_delete(effects: &mut Vec<Effect>, object: ObjectId, line: Line, index: u64, count: u64) {
    if let Some(Effect { object: same, operation: Operation::Delete { line: other, index: at, count: before } }) =
        effects.last_mut()
        && (*same, *other, *at) == (object, line, index)
    {
        *before += count;
        return;
    }
    effects.push(Effect { object, operation: Operation::Delete { line, index, count } });
}
