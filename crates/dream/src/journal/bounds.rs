//! How much a journal may be. Whoever reads one chooses; the dreamer keeps to the same, and is told before it breaks them.

use serde::{Deserialize, Serialize};

/// What a decoder keeps meanwhile is at most one frame, and what it makes of one: a value takes at least a byte in the frame
/// and 24 in memory, twice that while a list of them grows. So the most is about 64 times `frame_bytes`; a [`super::Journal`]
/// is at most 24 times `journal_bytes`, and 128 bytes for each change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Bounds {
    /// Of one commit's payload.
    pub frame_bytes: usize,
    pub frame_changes: usize,
    /// Frames and all.
    pub journal_bytes: u64,
    pub journal_changes: u64,
    /// Of an author, and of a cause.
    pub text_bytes: usize,
    /// Of the name of a slot or call.
    pub name_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            frame_bytes: 8 << 20,
            frame_changes: 500_000,
            journal_bytes: 64 << 20,
            journal_changes: 2_000_000,
            text_bytes: 4 << 10,
            name_bytes: 64 << 10,
        }
    }
}
