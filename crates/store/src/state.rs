//! What the image knows about itself: one record, written with every step of the checkpoint.

use crate::bytes::{Fields, checksum};
use crate::error::StoreError;
use object::change::{ActorId, Time};
use std::path::Path;

pub const FORMAT: u32 = 1;
pub const KEY: &[u8] = b"state";
/// Without the checksum behind it.
const BYTES: usize = 88;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    pub store: [u8; 16],
    /// Who makes the changes of the live image.
    pub actor: ActorId,
    /// The first actor that was not given out.
    pub next_actor: ActorId,
    /// The latest time of a commit.
    pub time: Time,
    /// The last commit that is applied.
    pub number: u64,
    /// The number of the live image's next change.
    pub next_change: u64,
    /// Up to this position of the log everything is applied.
    pub applied: u64,
    /// How many objects there are: fewer would be a loss that no checksum sees.
    pub objects: u64,
    /// The oldest commit of the history.
    pub first_number: u64,
}

impl State {
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.store);
        let numbers = [
            self.actor.0,
            self.next_actor.0,
            self.time.0,
            self.number,
            self.next_change,
            self.applied,
            self.objects,
            self.first_number,
        ];
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let checksum = checksum(2, &bytes);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<State, StoreError> {
        let mut fields = Fields::new(bytes);
        let format = fields.u32();
        if format > FORMAT {
            return Err(StoreError::Version { path: path.into(), found: format, known: FORMAT });
        }
        fields.u32();
        let store = fields.array();
        let mut number = || fields.u64();
        let state = State {
            store,
            actor: ActorId(number()),
            next_actor: ActorId(number()),
            time: Time(number()),
            number: number(),
            next_change: number(),
            applied: number(),
            objects: number(),
            first_number: number(),
        };
        if bytes.len() != BYTES + 8 || number() != checksum(2, &bytes[..BYTES]) {
            return Err(StoreError::corrupt(path, "its state does not match its checksum"));
        }
        Ok(state)
    }
}
