//! What tests of every crate share: seeded generators and golden files. A dev-dependency only.
//!
//! - `random`: numbers from a seed; `programs`: Io programs that try to break a machine; `mutate`: text made worse
//! - `shrink`: less of an input that still fails
//! - `crash`: a disk that remembers what a crash would leave, and fails when told to
//! - `fuzz`: the loop of a fuzz target and its command line; `watchdog`: notices a case that does not end

pub mod crash;
pub mod fuzz;
pub mod mutate;
pub mod programs;
pub mod random;
pub mod shrink;
pub mod watchdog;

pub use random::Random;
/// And for tests of copies of a process.
pub use system::clone::{leave, wait};
/// For tests of damaged files in crates that do not see `system`.
pub use system::fault::name_on_fault;
