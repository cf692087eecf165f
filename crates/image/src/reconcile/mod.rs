//! Methods that two sides changed, as one: the [`merge::Reconciler`] of the image. Owns nothing of the image; it reads
//! records, and says which to make.
//!
//! **For whoever plans a merge:** make [`Methods`] from something that finds objects ([`Views`]) and from the number that
//! the first new object may have; hand it to `Ledger::merge`; then put what [`Methods::into_made`] gives into the same
//! commit, before the effects, each creation under the change of its number. The numbers are those from the first on,
//! without gaps. Every attempt at a merge takes a new one.
//!
//! **What is merged.** Places whose three values are blocks as the machine makes them. A body is merged as a tree:
//! statement by statement, and within one that both sides changed, message by message, and argument by argument. What
//! only one side changed is taken, what both changed alike is taken once, and a move is a deletion and an insertion. All
//! else, such as a message that both edited, or one that one side deleted and the other edited, is a contradiction: the
//! place is then a register. `list` says what contradicts in lists, `order` when new statements of both sides may stand
//! beside each other, `method` what is around the body. If the result is what one side has already, it is that side's
//! object, and nothing is made.
//!
//! What comes out is code that nobody wrote. It must be verified, whatever was verified before.
//!
//! - `tree`, `method`: code as plain data; `record`: from and to records
//! - `three_way`: the merge; `forest`: what is equal; `align` with `alike`: what became of what; `list`, `order`: what goes together

mod align;
mod alike;
mod forest;
mod list;
mod method;
mod order;
mod record;
mod three_way;
mod tree;

pub use method::Method;
pub use three_way::three_way;
pub use tree::{Chain, Found, Head, Message, MessageId, Origin, Shell, Statement, Tree};

use merge::{Place, Reconciler};
use object::change::{ChangeId, Creation, Datum, ObjectId};
use std::cell::RefCell;

/// Where the objects of a merge are found. The kernel does not say which side it was that wrote a value; but an object
/// that is new since the fork is known to one side only.
pub trait Views {
    /// An object as it was where both sides began.
    fn before(&self, object: ObjectId) -> Option<Creation>;
    /// An object as the side left it that changed it since; none if both did, and differently.
    fn after(&self, object: ObjectId) -> Option<Creation>;
}

/// Merges methods. Remembers what is to be made for that.
pub struct Methods<V> {
    views: V,
    first: ChangeId,
    made: RefCell<Vec<(ObjectId, Creation)>>,
}

impl<V: Views> Methods<V> {
    /// New objects are numbered from `first` on.
    pub fn new(views: V, first: ChangeId) -> Methods<V> {
        Methods { views, first, made: RefCell::default() }
    }

    /// The objects to make, in the order of their numbers.
    pub fn into_made(self) -> Vec<(ObjectId, Creation)> {
        self.made.into_inner()
    }

    /// What a side has: from where it lives, or made here, by a merge of other sides.
    fn after(&self, object: ObjectId) -> Option<Creation> {
        let seq = object.minted_by().filter(|change| change.actor == self.first.actor).map(|change| change.seq);
        let made = self.made.borrow();
        let made_here = seq.and_then(|seq| made.get(usize::try_from(seq.checked_sub(self.first.seq)?).ok()?));
        made_here.map_or_else(|| self.views.after(object), |(_, creation)| Some(creation.clone()))
    }

    fn write(&self, method: &Method) -> Option<Datum> {
        let mut made = self.made.borrow_mut();
        let mut next = self.first.seq.checked_add(made.len() as u64)?;
        let new = record::write(method, &mut || {
            let id = ObjectId::minted(ChangeId::new(self.first.actor, next));
            next += 1;
            id
        });
        let (id, _) = new.last()?;
        let id = *id;
        made.extend(new);
        Some(Datum::Object(id))
    }
}

impl<V: Views> Reconciler for Methods<V> {
    fn reconcile(&self, _: &Place, base: &Datum, one: &Datum, other: &Datum) -> Option<Datum> {
        let (Datum::Object(base), Datum::Object(left), Datum::Object(right)) = (base, one, other) else { return None };
        let base = record::read(*base, &|id| self.views.before(id))?;
        let (left, right) = (record::read(*left, &|id| self.after(id))?, record::read(*right, &|id| self.after(id))?);
        let merged = Method::merged(&base, &left, &right)?;
        let is_there = [(&left, one), (&right, other)].into_iter().filter(|(side, _)| side.same_code(&merged));
        match is_there.map(|(_, datum)| datum).min() {
            Some(datum) => Some(datum.clone()),
            None => self.write(&merged),
        }
    }
}
