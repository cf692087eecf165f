//! Objects of an image that are found without a machine: from its root, as the store has it.

use crate::error::ImageError;
use object::change::{ChangeId, Creation, Datum, ObjectId};
use store::Store;

pub struct Landmarks {
    pub root: ObjectId,
    pub object: ObjectId,
    pub lobby: ObjectId,
    pub protos: ObjectId,
    pub core: ObjectId,
    pub list: ObjectId,
}

impl Landmarks {
    pub fn of(store: &Store) -> Result<Landmarks, ImageError> {
        let root = ObjectId::minted(ChangeId::new(store::LIVE_ACTOR, 1));
        let creation = store.read(root)?.ok_or(ImageError::Unborn)?;
        let find = |name| slot_object(&creation, name).ok_or(ImageError::Unborn);
        Ok(Landmarks {
            root,
            object: find("object")?,
            lobby: find("lobby")?,
            protos: find("protos")?,
            core: find("core")?,
            list: find("list")?,
        })
    }

    /// Lobby → Protos → Core → Object → Lobby.
    pub fn ring(&self) -> [ObjectId; 4] {
        [self.lobby, self.protos, self.core, self.object]
    }
}

/// What object a slot of its own refers to.
pub fn slot_object(creation: &Creation, name: &str) -> Option<ObjectId> {
    match slot(creation, name)? {
        Datum::Object(id) => Some(*id),
        _ => None,
    }
}

pub fn slot<'c>(creation: &'c Creation, name: &str) -> Option<&'c Datum> {
    creation.slots.iter().find(|(each, _)| each.as_bytes() == name.as_bytes()).map(|(_, value)| value)
}
