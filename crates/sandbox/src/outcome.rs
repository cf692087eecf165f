//! How a run ended, what it used and what it changed.

use crate::network::call::Kept;
use crate::wall::Lack;
use std::path::PathBuf;
use std::time::Duration;

pub use system::changed::ChangeKind;

#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub usage: Usage,
    /// Walls that it ran without, because whoever ordered it allowed that.
    pub lacks: Vec<Lack>,
    /// What it wrote below grants that are layered.
    pub changes: Vec<Changed>,
    /// Whom it called, or tried to.
    pub calls: Kept,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    Exited(i32),
    Signalled(i32),
    /// It ran into a limit and was ended for it.
    Limited(Limit),
    /// Somebody stopped it.
    Stopped,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    Time,
    Cpu,
    Memory,
    Output,
}

#[derive(Clone, Debug, Default)]
pub struct Usage {
    pub time: Duration,
    pub user: Duration,
    pub system: Duration,
    /// The most at once, as far as the host tells.
    pub memory_bytes: u64,
    pub output_bytes: u64,
}

/// One thing below a layered grant that is not as it was.
#[derive(Clone, Debug)]
pub struct Changed {
    /// Which of the order's grants.
    pub grant: usize,
    /// From the grant's directory.
    pub path: PathBuf,
    pub kind: ChangeKind,
}
