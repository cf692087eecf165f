//! What the ledger asks of the image it belongs to.

use crate::conflict::Place;
use object::change::{Datum, Field, Form, Line, ObjectId, Run};

/// The image as it is just before a commit or merge is applied to it. Asked when a place is touched for the first time
/// since the oldest open fork, and for elements of lines that are about to go.
pub trait Rest {
    fn presence(&self, object: ObjectId) -> Presence;
    /// Of an object that is there.
    fn form(&self, object: ObjectId) -> Form;
    /// `Absent` if there is no such field.
    fn field(&self, object: ObjectId, field: &Field) -> Datum;
    fn length(&self, object: ObjectId, line: Line) -> u64;
    /// Elements that are there, in their order; of no units at all, still how wide they are.
    fn elements(&self, object: ObjectId, line: Line, index: u64, count: u64) -> Run;
    /// How often the set or bag holds this.
    fn occurrences(&self, object: ObjectId, member: &Datum) -> u64;
    /// Whether this proto belongs to a ring that the image was born with. What leads back through it closes no new one.
    fn is_ring(&self, _object: ObjectId, _proto: ObjectId) -> bool {
        false
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// No such object.
    Never,
    /// Not reachable in the live image any more, but kept by an open fork: a reference to it brings it back.
    Kept,
    Live,
}

/// Merges values that have an inside which the kernel does not know, such as methods.
pub trait Reconciler {
    /// One value from two that were made from `base`; none if they contradict each other. Must not depend on which of
    /// the two is which.
    fn reconcile(&self, place: &Place, base: &Datum, one: &Datum, other: &Datum) -> Option<Datum>;
}

/// Leaves every place to its strongest head.
pub struct NoReconciler;

impl Reconciler for NoReconciler {
    fn reconcile(&self, _: &Place, _: &Datum, _: &Datum, _: &Datum) -> Option<Datum> {
        None
    }
}
