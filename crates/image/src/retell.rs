//! What happened, told to a ledger again: the kernel's ledger lives only while forks are open, and whoever needs one for the past
//! makes it anew from the history. Owns what stands in the way of that.

use crate::past::{Impossible, Past};
use merge::{Ledger, Refusal, fits};
use object::change::{Change, Datum, Line, ObjectId, Operation, Text};
use store::StoreError;

/// Why the kernel could not be told.
pub enum Trouble {
    /// Of this object it cannot say what to do: it became one of another kind, or of wider units.
    Reshaped(ObjectId),
    Store(StoreError),
    Refused(Refusal),
}

impl From<Impossible> for Trouble {
    fn from(Impossible(object): Impossible) -> Trouble {
        Trouble::Reshaped(object)
    }
}

/// A change that is none, of the same number, in the place of one that the kernel is not to see.
pub fn nothing(change: &Change) -> Change {
    Change { operation: no_operation(), ..change.clone() }
}

pub fn no_operation() -> Operation {
    Operation::Call { name: Text::from(""), payload: Datum::Nil }
}

pub fn is_nothing(change: &Change) -> bool {
    matches!(&change.operation, Operation::Call { name, .. } if name.as_bytes().is_empty())
}

/// Tells the ledger what live did, and goes on to the moment behind it.
pub fn retell(ledger: &mut Ledger, past: &mut Past<'_>, changes: &[Change]) -> Result<(), Trouble> {
    let told = ledger.commit(changes, past).map_err(|refusal| blame(refusal, changes));
    past.take_failure().map_err(Trouble::Store)?;
    for change in changes {
        if !fits(&change.operation, || merge::Rest::form(past, change.object)) {
            return Err(Trouble::Reshaped(change.object));
        }
        past.go_on(change)?;
    }
    told
}

/// The object on account of which the kernel refused, if it is one.
pub fn blame(refusal: Refusal, changes: &[Change]) -> Trouble {
    let object = match &refusal {
        Refusal::Unfit(_, object) | Refusal::Widths(object, ..) | Refusal::ObjectExists(_, object) => Some(*object),
        Refusal::OutOfRange(id) | Refusal::UnknownObject(id, _) | Refusal::UnknownPred(id, _) => {
            changes.iter().find(|change| change.id == *id).map(|change| change.object)
        }
        _ => None,
    };
    object.map_or(Trouble::Refused(refusal), Trouble::Reshaped)
}

pub fn line_of(operation: &Operation) -> Option<Line> {
    match operation {
        Operation::Insert { line, .. } | Operation::Delete { line, .. } | Operation::Move { line, .. } => Some(*line),
        Operation::Set { .. } => Some(Line::Items),
        _ => None,
    }
}
