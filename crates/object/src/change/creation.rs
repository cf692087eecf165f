//! A new object in one record: what it is, what it inherits and all that it holds.

use super::datum::{Datum, Text};
use super::id::{ChangeId, ObjectId};
use super::operation::{Field, Run};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Creation {
    /// Which built-in kind, by a number that the language gives.
    pub kind: u32,
    pub flags: u32,
    /// Objects that were there before this one.
    pub protos: Vec<ObjectId>,
    pub slots: Vec<(Text, Datum)>,
    pub body: Body,
    /// The place in which it is made, for a container that is one and the same whoever makes it there.
    pub under: Option<(ObjectId, Field)>,
}

/// What an object holds beside its slots.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Body {
    #[default]
    Nothing,
    /// What only the object's language understands.
    Data(Datum),
    /// The elements of a list or of a mutable sequence.
    Elements(Run),
    Map(Vec<(Datum, Datum)>),
    Counters(Vec<(Datum, i64)>),
    /// The members of a set or bag, and how often each is in it.
    Members(Vec<(Datum, u64)>),
}

impl Creation {
    /// Which object the change of this id makes.
    pub fn object(&self, change: ChangeId) -> ObjectId {
        match &self.under {
            None => ObjectId::minted(change),
            Some((parent, field)) => ObjectId::derived(*parent, field, self.kind, &self.protos),
        }
    }

    pub fn references(&self, visit: &mut dyn FnMut(ObjectId)) {
        self.protos.iter().for_each(|proto| visit(*proto));
        self.slots.iter().for_each(|(_, value)| value.references(visit));
        match &self.body {
            Body::Nothing | Body::Elements(Run::Units { .. }) => {}
            Body::Data(data) => data.references(visit),
            Body::Elements(Run::Items(items)) => items.iter().for_each(|item| item.references(visit)),
            Body::Map(entries) => entries.iter().for_each(|(key, value)| {
                key.references(visit);
                value.references(visit);
            }),
            Body::Counters(counters) => counters.iter().for_each(|(key, _)| key.references(visit)),
            Body::Members(members) => members.iter().for_each(|(member, _)| member.references(visit)),
        }
        if let Some((parent, field)) = &self.under {
            visit(*parent);
            if let Field::Entry(key) = field {
                key.references(visit);
            }
        }
    }
}
