//! The record of a state change, and its bytes: redo in the log, journal of a dream, operation of the merge, history.
//! Owns the format, which must last; knows neither heap nor language, so that store and merge can share it.
//!
//! - `id`: who made a change or an object, and which one; `time`: when, by a hybrid logical clock
//! - `datum`: a value that means the same in every process; `operation`: what one change does; `creation`: a new object
//! - `encode`, `decode`: the changes of one actor as one batch of bytes, in the format that `wire` numbers
//! - `draft`: what changes do to an object at rest, and what takes them back; `look`: what it holds meanwhile;
//!   `stored`: such an object as bytes; `outline`: just what decides whether a change fits
//!
//! **The author's view.** A change says what its author did to what the author saw: the fork point and its own earlier
//! changes. So positions in lists are plain indexes, and what a write replaces is, unless named, what was there. Names
//! of elements and replaced changes can be found by replaying the author's view, and need not be trusted or stored.

mod creation;
mod datum;
mod decode;
mod draft;
mod encode;
mod error;
mod id;
mod look;
mod operation;
mod outline;
mod places;
mod stored;
mod table;
mod time;
mod wire;

pub use creation::{Body, BodyOf, Creation, CreationOf, Form, Resting, RestingSlot};
pub use datum::{Datum, DatumOf, Text};
pub use decode::{Decoder, ReadText};
pub use draft::Draft;
pub use encode::Encoder;
pub use error::ChangeError;
pub use id::{ActorId, ChangeId, ObjectId};
pub use operation::{Field, FieldOf, Line, Operation, Run, RunOf};
pub use outline::Outline;
pub use stored::{borrow_stored, decode_stored, encode_stored, outline_stored};
pub use time::{Clock, Time};

/// One change of state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub id: ChangeId,
    pub time: Time,
    pub object: ObjectId,
    pub operation: Operation,
    pub preds: Preds,
}

/// The changes that one replaces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Preds {
    /// What the author saw there: its own latest change of the place, else the version at the fork point.
    #[default]
    Seen,
    /// These and no others. An undo names what it undoes.
    Named(Box<[ChangeId]>),
}

impl Change {
    /// A change that replaces what its author saw.
    pub fn new(id: ChangeId, time: Time, object: ObjectId, operation: Operation) -> Change {
        Change { id, time, object, operation, preds: Preds::Seen }
    }

    /// The making of an object: its id follows from the change, or from the place that it is made under.
    pub fn create(id: ChangeId, time: Time, creation: Creation) -> Change {
        Change::new(id, time, creation.object(id), Operation::Create(Box::new(creation)))
    }
}

/// One batch of bytes from changes of one actor, numbered without gaps.
pub fn encode(changes: &[Change]) -> Result<Vec<u8>, ChangeError> {
    encode_behind(Vec::new(), changes)
}

/// The same behind what a buffer holds.
pub fn encode_behind(mut buffer: Vec<u8>, changes: &[Change]) -> Result<Vec<u8>, ChangeError> {
    let Some(first) = changes.first() else { return Ok(buffer) };
    buffer.reserve(changes.iter().map(guess_bytes).sum());
    let mut encoder = Encoder::new(first.id, buffer);
    changes.iter().try_for_each(|change| encoder.push(change))?;
    Ok(encoder.finish())
}

/// About so many does a change take; a wrong guess costs a copy or some room, nothing else.
fn guess_bytes(change: &Change) -> usize {
    let text_bytes = match &change.operation {
        Operation::Put { value: Datum::Text(text), .. } => text.as_bytes().len(),
        _ => 0,
    };
    16 + text_bytes
}

/// All changes of a batch.
pub fn decode(bytes: &[u8]) -> Result<Vec<Change>, ChangeError> {
    if bytes.is_empty() { Ok(Vec::new()) } else { Decoder::new(bytes)?.collect() }
}
