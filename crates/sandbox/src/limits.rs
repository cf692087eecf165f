//! How much a run may use. Every limit has a default: nothing is unbounded unless somebody said so.

use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// From start to end; then the whole tree is killed.
    pub time: Option<Duration>,
    /// Of processor time, of all its processes together.
    pub cpu: Option<Duration>,
    /// Of all its processes together, files in memory included.
    pub memory_bytes: Option<u64>,
    /// Processes and threads at once.
    pub processes: Option<u64>,
    /// Descriptors of one process.
    pub open_files: Option<u64>,
    /// Bytes of one file.
    pub file_bytes: Option<u64>,
    /// Bytes of all that it writes to files; they lie in memory.
    pub disk_bytes: Option<u64>,
    /// Files and directories that it may make.
    pub disk_files: Option<u64>,
    /// Of standard output and standard error together.
    pub output_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Some(Duration::from_secs(60)),
            cpu: Some(Duration::from_secs(60)),
            memory_bytes: Some(1 << 30),
            processes: Some(256),
            open_files: Some(1024),
            file_bytes: Some(1 << 30),
            disk_bytes: Some(256 << 20),
            disk_files: Some(65_536),
            output_bytes: Some(16 << 20),
        }
    }
}
