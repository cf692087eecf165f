//! The living image: a program whose objects outlive the process, one transaction at a time.
//!
//! - `form`, `identity`: how values are written, and who is who, in memory and at rest
//! - `capture`, `difference`: from the heap to records, of what is new and of what changed; `load`: back again
//! - `commit`: all that a transaction did, as one batch of changes

mod capture;
mod commit;
mod difference;
mod form;
mod identity;
mod load;

pub use capture::Language;
pub use commit::{Commitment, commitment};
pub use identity::Identities;
pub use load::{Records, StoreLoader};
