//! Identities: of actors, of changes, of objects. Equal ids mean the same thing in every process and for ever.

use super::operation::FieldOf;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::fmt;
use std::hash::Hasher;

/// Who makes changes: the live image or one fork of it. Minted by the primary, below 2⁶³, never used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(pub u64);

/// One change of one actor. An actor numbers its changes from 1, without gaps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId {
    pub actor: ActorId,
    pub seq: u64,
}

/// One object: the id of the change that made it, or, for a container that several forks may make under the same key,
/// a fingerprint of parent, key, kind and protos, so that all of them make the same one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    high: u64,
    low: u64,
}

/// Set in the upper half of a fingerprint and in no actor.
const DERIVED: u64 = 1 << 63;
/// Part of the format: a fingerprint made today must be the one made in ten years.
const FINGERPRINT_KEY: &[u8; 16] = b"telos container1";

impl ActorId {
    pub const MAX: ActorId = ActorId(DERIVED - 1);
}

impl ChangeId {
    pub const fn new(actor: ActorId, seq: u64) -> ChangeId {
        ChangeId { actor, seq }
    }
}

impl ObjectId {
    /// The object that this change makes.
    pub const fn minted(by: ChangeId) -> ObjectId {
        ObjectId { high: by.actor.0, low: by.seq }
    }

    /// The container of this kind and these protos in this place of its parent.
    pub fn derived<T: Ord + AsRef<[u8]>>(
        parent: ObjectId,
        field: &FieldOf<T>,
        kind: u32,
        protos: &[ObjectId],
    ) -> ObjectId {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend(parent.to_bytes());
        bytes.extend(kind.to_le_bytes());
        field.write_canonical(&mut bytes);
        protos.iter().for_each(|proto| bytes.extend(proto.to_bytes()));
        let mut hasher = SipHasher24::new_with_key(FINGERPRINT_KEY);
        hasher.write(&bytes);
        let hash = hasher.finish128();
        ObjectId { high: hash.h1 | DERIVED, low: hash.h2 }
    }

    /// The change that made it; none for a container known by its place.
    pub const fn minted_by(self) -> Option<ChangeId> {
        if self.is_derived() { None } else { Some(ChangeId::new(ActorId(self.high), self.low)) }
    }

    pub const fn is_derived(self) -> bool {
        self.high & DERIVED != 0
    }

    pub(crate) const fn halves(self) -> (u64, u64) {
        (self.high, self.low)
    }

    pub(crate) const fn from_halves(high: u64, low: u64) -> ObjectId {
        ObjectId { high, low }
    }

    /// Sixteen bytes that sort as the ids do: a key for the store.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.high.to_be_bytes());
        bytes[8..].copy_from_slice(&self.low.to_be_bytes());
        bytes
    }

    pub fn from_bytes(bytes: [u8; 16]) -> ObjectId {
        let number = u128::from_be_bytes(bytes);
        ObjectId { high: (number >> 64) as u64, low: number as u64 }
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl fmt::Debug for ChangeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.seq, self.actor.0)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minted_by() {
            Some(change) => write!(formatter, "{:x}.{:x}", change.actor.0, change.seq),
            None => write!(formatter, "{:016x}{:016x}", self.high, self.low),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Datum, Field};

    #[test]
    fn keys_sort_as_ids_do() {
        let id = |actor, seq| ObjectId::minted(ChangeId::new(ActorId(actor), seq));
        let ids = [id(0, 1), id(0, 256), id(1, 0), id(256, 3)];
        assert!(ids.is_sorted());
        assert!(ids.map(ObjectId::to_bytes).is_sorted());
        assert_eq!(ids.map(|id| ObjectId::from_bytes(id.to_bytes())), ids);
    }

    /// The number is part of the format: if this test must change, old images break.
    #[test]
    fn a_fingerprint_never_changes() {
        let parent = ObjectId::minted(ChangeId::new(ActorId(1), 7));
        let id = ObjectId::derived(parent, &Field::Entry(Datum::text("k")), 4, &[]);
        assert!(id.is_derived() && id.minted_by().is_none());
        assert_eq!(id.to_string(), FINGERPRINT);
        assert_ne!(id, ObjectId::derived(parent, &Field::Slot("k".into()), 4, &[]));
        assert_ne!(id, ObjectId::derived(parent, &Field::Entry(Datum::text("k")), 3, &[]));
    }

    const FINGERPRINT: &str = "da459236b9b00d81492ad51f7ea6084e";
}
