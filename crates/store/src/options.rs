//! How a store is opened. Every bound has a default, and says what it bounds.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes that the log holds at most before commits must wait for the checkpoint. Kept in the file: counts only for
    /// a new store.
    pub log_bytes: u64,
    /// Address space that the image may grow into.
    pub map_bytes: usize,
    pub checkpoints: Checkpoints,
    /// The checkpoint begins when so many changes wait for it,
    pub begin_changes: usize,
    /// or so many bytes of log,
    pub begin_bytes: u64,
    /// or when the oldest has waited so long.
    pub begin_after: Duration,
    /// Changes that one step of the checkpoint applies, if no single commit has more.
    pub step_changes: usize,
    /// How long a commit waits for room in a full log before it is refused.
    pub full_wait: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checkpoints {
    /// By a thread of its own.
    Background,
    /// Only when asked for. A full log refuses at once.
    OnRequest,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            log_bytes: 256 << 20,
            map_bytes: 1 << 40,
            checkpoints: Checkpoints::Background,
            begin_changes: 20_000,
            begin_bytes: 4 << 20,
            begin_after: Duration::from_secs(1),
            step_changes: 4096,
            full_wait: Duration::from_secs(10),
        }
    }
}
