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
        // Of a form that is not understood, too, the checksum is the last: what does not match it says nothing.
        let (body, sum) = bytes.split_last_chunk().unwrap_or((&[], &[0; 8]));
        if u64::from_le_bytes(*sum) != checksum(2, body) {
            return Err(StoreError::corrupt(path, "its state does not match its checksum"));
        }
        let mut fields = Fields::new(body);
        let format = fields.u32();
        if format > FORMAT {
            return Err(StoreError::Version { path: path.into(), found: format, known: FORMAT });
        }
        if body.len() != BYTES {
            return Err(StoreError::corrupt(path, "its state has another length than its format"));
        }
        fields.u32();
        let store = fields.array();
        let mut number = || fields.u64();
        Ok(State {
            store,
            actor: ActorId(number()),
            next_actor: ActorId(number()),
            time: Time(number()),
            number: number(),
            next_change: number(),
            applied: number(),
            objects: number(),
            first_number: number(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.truncate(bytes.len() - 8);
        let sum = checksum(2, &bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    #[test]
    fn a_newer_state_is_refused_by_its_number_and_a_damaged_one_is_never_called_newer() {
        let (actor, next_actor, time) = (ActorId(1), ActorId(2), Time(3));
        let (store, number, next_change, applied) = ([7; 16], 4, 5, 6);
        let state = State { store, actor, next_actor, time, number, next_change, applied, objects: 7, first_number: 8 };
        let path = Path::new("image");
        assert_eq!(State::from_bytes(&state.to_bytes(), path).unwrap(), state);
        for bit in 0..state.to_bytes().len() * 8 {
            let mut flipped = state.to_bytes();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let refused = State::from_bytes(&flipped, path).unwrap_err();
            assert!(matches!(refused, StoreError::Corrupt { .. }), "bit {bit}: {refused}");
        }
        let mut newer = state.to_bytes();
        newer[0] = 2;
        let refused = State::from_bytes(&resealed(newer), path).unwrap_err();
        assert_eq!(refused.to_string(), "image has format 2, newer than the 1 that this program understands");
        assert!(State::from_bytes(&[], path).is_err());
        assert!(State::from_bytes(&resealed(vec![0; 50]), path).is_err());
    }
}
