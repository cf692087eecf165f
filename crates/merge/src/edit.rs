//! Replays edits of lines: what the author meant by its indexes, and the values that the image is about to lose.

use crate::admit::{Refusal, Told};
use crate::apply::Application;
use crate::integrate::Author;
use crate::line::{OutOfRange, Ruling, Sequence};
use crate::register::Register;
use crate::rest::Rest;
use crate::stamp::{Inner, View};
use crate::values::Values;
use object::change::*;

impl<R: Rest> Application<'_, R> {
    pub(crate) fn edit_line(&mut self, change: Told<'_>) -> Result<(), Refusal> {
        let line = match change.operation {
            Operation::Insert { line, .. } | Operation::Delete { line, .. } | Operation::Move { line, .. } => *line,
            _ => Line::Items,
        };
        let place = (change.object, line);
        let ruling = self.ruling_in_view(place);
        let mut sequence = self.take_line(place);
        let result = self.edit(&mut sequence, change, line, &ruling);
        if line == Line::Protos {
            sequence.single_out();
        }
        self.ledger.lines.insert(place, sequence);
        result
    }

    /// What the live image left out of the protos when the author forked. Of its own cycles it saw all.
    fn ruling_in_view(&self, (object, line): (ObjectId, Line)) -> Ruling {
        if line != Line::Protos {
            return Ruling::default();
        }
        let fork = self.ledger.forks.get(&self.view.actor).filter(|_| self.fork.is_some());
        let rulings = fork.map_or(&self.ledger.rulings, |fork| &fork.rulings);
        rulings.get(&object).cloned().unwrap_or_default()
    }

    /// Units of one width only are shown side by side, though each side may have changed the width.
    pub(crate) fn check_widths(&self) -> Result<(), Refusal> {
        for (object, line) in self.touched.lines.keys().filter(|(_, line)| *line == Line::Units) {
            let Some(sequence) = self.ledger.lines.get(&(*object, *line)) else { continue };
            let all = View::all();
            let shown = (0..sequence.pieces.len()).filter(|at| sequence.shows(*at, &all, &sequence.ruling));
            let mut widths = shown.filter_map(|at| {
                let home = sequence.pieces[at].moved.and_then(|element| sequence.locate(element));
                let values = &sequence.pieces[home.map_or(at, |(home, _)| home)].values;
                values.as_ref().map_or_else(|| self.rest.elements(*object, *line, 0, 0).width(), Values::width)
            });
            if let Some(first) = widths.next()
                && let Some(other) = widths.find(|other| *other != first)
            {
                return Err(Refusal::Widths(*object, first, other));
            }
        }
        Ok(())
    }

    fn take_line(&mut self, place: (ObjectId, Line)) -> Sequence {
        let before = self.ledger.lines.get(&place);
        self.touched.lines.entry(place).or_insert_with(|| before.cloned());
        if let Some(line) = self.ledger.lines.remove(&place) {
            return line;
        }
        let length = self.rest.length(place.0, place.1);
        let mut sequence = Sequence::new(length);
        if place.1 == Line::Protos
            && let Some(piece) = sequence.pieces.first_mut()
        {
            piece.values = Some(self.rest.elements(place.0, place.1, 0, length));
        }
        sequence
    }

    fn edit(&self, sequence: &mut Sequence, change: Told<'_>, line: Line, ruling: &Ruling) -> Result<(), Refusal> {
        let apart = Inner::apart();
        // Of protos each edge counts by its own time.
        let inner = if line == Line::Protos { &apart } else { &self.inner };
        let author = Author { stamp: self.stamp(change), view: &self.view, ruling, inner };
        let before = View::at(self.order - 1);
        // The image still holds what it showed before this merge.
        let capture = |sequence: &Sequence, at: usize| {
            let is_held = sequence.shows(at, &before, &sequence.ruling);
            let index = sequence.index_of(at, &before, &sequence.ruling);
            is_held.then(|| self.rest.elements(change.object, line, index, sequence.pieces[at].count))
        };
        let done = match change.operation {
            Operation::Insert { run, index, .. } => match run.len() as u64 {
                0 if *index <= sequence.length(author.view, ruling) => Ok(()),
                0 => Err(OutOfRange),
                count => sequence.insert(&author, *index, Values::from(run), count),
            },
            Operation::Delete { index, count, .. } => sequence.delete(&author, *index, *count, capture),
            Operation::Move { from, to, .. } => {
                sequence.move_to(&author, *from, *to, |sequence, at, _| capture(sequence, at))
            }
            Operation::Set { index, value } => return self.set_item(sequence, change, &author, *index, value),
            _ => Ok(()),
        };
        done.map_err(|OutOfRange| Refusal::OutOfRange(change.id))
    }

    fn set_item(
        &self,
        sequence: &mut Sequence,
        change: Told<'_>,
        author: &Author<'_>,
        index: u64,
        value: &Datum,
    ) -> Result<(), Refusal> {
        let found = sequence.find(author.view, author.ruling, index);
        let (at, offset) = found.map_err(|OutOfRange| Refusal::OutOfRange(change.id))?;
        let piece = &sequence.pieces[at];
        let element = piece.moved.unwrap_or(piece.element(offset));
        if !sequence.settings.contains_key(&element) {
            let held = sequence.value(at, offset).unwrap_or_else(|| {
                let before = View::at(self.order - 1);
                let index = sequence.index_of(at, &before, &sequence.ruling) + offset;
                self.rest.elements(change.object, Line::Items, index, 1).item(0).cloned().unwrap_or_default()
            });
            sequence.settings.insert(element, Register::new(held));
        }
        let register = sequence.settings.get_mut(&element).expect("it was put there above");
        self.terms().write(register, change, author.stamp, value)
    }
}
