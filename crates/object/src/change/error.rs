//! What can be wrong with a batch of changes, and with an object that they are applied to.

use super::id::{ChangeId, ObjectId};

/// Positions are bytes from the start of the batch.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("batch ends in the middle of a record, at byte {0}")]
    Truncated(usize),
    #[error("batch has format version {0}, newer than this program understands")]
    Version(u8),
    #[error("{what} at byte {at} is none that exists")]
    Unknown { what: &'static str, at: usize },
    #[error("{what} at byte {at} is out of range")]
    Range { what: &'static str, at: usize },
    #[error("change {found} follows, where {expected} must")]
    Order { expected: ChangeId, found: ChangeId },
    #[error("change {0} makes an object under an id that is not its own")]
    Identity(ChangeId),
    #[error("change {0} holds what the format has no form for: {1}")]
    Unencodable(ChangeId, &'static str),
    #[error("object {0} holds what the format has no form for: {1}")]
    Unstorable(ObjectId, &'static str),
    #[error("object {0} does not match its checksum")]
    Checksum(ObjectId),
    #[error("stored object has {0} bytes too many")]
    Surplus(usize),
    #[error("position {index} lies outside of {length} elements")]
    Position { index: u64, length: u64 },
    #[error("the object cannot hold {0}")]
    Mismatch(&'static str),
    #[error("the object exists already")]
    Existing,
}
