//! What a run did to directories that it saw through a layer: read from the layer, and compared with what was there before.
//!
//! - `layer`: what is in a layer after the run, as hostile as the run
//! - `tree`: a directory of the host, reached through one descriptor and nothing else; `digest`: of what is in it
//! - `snapshot`: what was there before
//! - `plan`: from both, what would have to be done to the directory
//!
//! Nothing here writes to a directory of the host.

pub mod digest;
pub(crate) mod layer;
pub mod plan;
pub mod snapshot;
pub mod tree;

pub use digest::Digest;
pub use plan::{Leaf, Plan, Step};
pub use snapshot::Snapshot;
pub use tree::{Fingerprint, Kind, Tree};
