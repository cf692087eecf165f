//! Calls to the world outside: what was asked, how it was answered, and what the answer was, as the payload of one change.
//!
//! The payload is a record: the arguments, then the way as text, then the answer. Records do not nest, so arguments and answers
//! are numbers, texts, bytes and objects. **What a journal says here is the dreamer's word**: the broker, which answered, has
//! a record of its own, and that one counts.

use object::change::{Change, ChangeId, Datum, Operation, Text, Time};

/// How a call was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answered {
    /// By the world outside, through the primary.
    Redirected,
    /// By a script, or from a recording.
    Simulated,
    /// By a promise: it is to be made when the dream is merged.
    Deferred,
    /// Not at all: policy forbids it. The answer says why.
    Blocked,
    /// By an error; the answer is its message.
    Failed,
}

impl Answered {
    pub const ALL: [Answered; 5] =
        [Answered::Redirected, Answered::Simulated, Answered::Deferred, Answered::Blocked, Answered::Failed];

    pub const fn name(self) -> &'static str {
        match self {
            Answered::Redirected => "redirected",
            Answered::Simulated => "simulated",
            Answered::Deferred => "deferred",
            Answered::Blocked => "blocked",
            Answered::Failed => "failed",
        }
    }

    fn of(name: &[u8]) -> Option<Answered> {
        Answered::ALL.into_iter().find(|each| each.name().as_bytes() == name)
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Call<'j> {
    pub id: ChangeId,
    pub time: Time,
    pub name: &'j Text,
    pub arguments: &'j [Datum],
    pub answered: Answered,
    pub answer: &'j Datum,
}

impl<'j> Call<'j> {
    /// A call as the operation that tells of it.
    pub fn operation(name: &str, arguments: &[Datum], answered: Answered, answer: Datum) -> Operation {
        let told = arguments.iter().cloned().chain([Datum::text(answered.name()), answer]);
        Operation::Call { name: name.into(), payload: Datum::record(told) }
    }

    /// None if the payload has another form.
    pub(crate) fn read(change: &Change, name: &'j Text, payload: &'j Datum) -> Option<Call<'j>> {
        let Datum::Record(fields) = payload else { return None };
        let [arguments @ .., Datum::Text(way), answer] = &**fields else { return None };
        let answered = Answered::of(way.as_bytes())?;
        Some(Call { id: change.id, time: change.time, name, arguments, answered, answer })
    }
}
