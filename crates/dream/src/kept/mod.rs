//! Kept dreams: one file each, `DIR/dreams/d7`, which outlives every process. The process of a dream is a cache of it.
//!
//! - `header`: what a dream is, and how it ended; `file_change`: what it wrote in directories; `name`: what it is called
//! - `directory`: all dreams of an image; `lineage`: those inside of others; `retention`: which of them go by themselves
//! - `recording`: a file while it is written; `scan`: the same when it is read; `layout`: its first and last bytes
//!
//! **A crash** leaves a file whose header is whole, for it has no name before, and whose tail may be torn; the tail is cut.
//! Whatever has an end is whole, or said to be damaged. `docs/dream-format.md` has every byte.

mod directory;
mod file_change;
mod header;
mod layout;
mod lineage;
mod name;
mod recording;
mod retention;
mod scan;

pub use directory::{Dreams, KeptDream, Listed, Summary};
pub use file_change::{FileChange, FileKind, Original, digest_of};
pub use header::{End, Header, Limits, PROGRAM_FAILED, SeenDirectory, Status, Usage};
pub use lineage::{DEPTH_MAX, Lineage};
pub use name::DreamId;
pub use recording::Recording;
pub use retention::Retention;
