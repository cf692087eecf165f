//! What a merge has to say beside its effects: two sides wrote (a conflict), or the union breaks a rule (a violation).

use crate::stamp::Policy;
use object::change::{ChangeId, Datum, Field, ObjectId, Time};

/// Where something is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    pub object: ObjectId,
    pub position: Position,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Position {
    Field(Field),
    /// An item of a list, by its index in the live image when this was said.
    Item(u64),
}

/// Several sides wrote different values to one place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Conflict {
    pub place: Place,
    /// The value that all sides started from.
    pub base: Datum,
    /// The strongest first.
    pub siblings: Vec<Sibling>,
    pub shown: Datum,
    pub status: Status,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Sibling {
    pub change: ChangeId,
    pub time: Time,
    /// None for the live image.
    pub policy: Option<Policy>,
    pub value: Datum,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Status {
    /// Some side asked to keep both: somebody has to decide.
    Open,
    /// A policy decided; the siblings are here so that no value is lost.
    Settled,
    /// Somebody wrote over all siblings, having seen them. A conflict that was open stays to be closed.
    Superseded,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Violation {
    /// The proto was left out, because it would close a cycle that neither side had.
    ProtoCycle { object: ObjectId, proto: ObjectId, change: ChangeId },
}
