//! The living image: a program whose objects outlive the process, one transaction at a time.
//!
//! - `image`: a machine on a store; what a message did is committed whole, or taken back
//! - `form`, `identity`: how values are written, and who is who, in memory and at rest; `speech`: what only Io knows
//! - `capture`, `difference` with `matching`, `commit`: from the heap to records, of what is new and of what changed, as one batch
//! - `branch`: the image in two, by a copy of the process or by a level of the heap
//! - `guard`: objects and slots that nothing writes to unless a person allows it
//! - `reading`: what a program read, and whether changes concern it
//! - `revert`: one commit taken back, with `taken_back`: which ones were; `merging`: a dream's journal as one commit; both stand on `past`: what objects were, and on
//!   `retell`: what happened, told to the merge kernel again; `landmarks`: where to begin in a store
//! - `provenance`: which commits, and which dreams, wrote a slot
//! - `reconcile`: methods that two sides changed, as one
//! - `load`, `evict`: from records to the heap, at first touch, and out again

mod branch;
mod capture;
mod commit;
mod difference;
mod error;
mod evict;
mod form;
mod guard;
mod identity;
mod image;
mod landmarks;
mod load;
mod matching;
mod merging;
mod past;
mod provenance;
mod reading;
pub mod reconcile;
mod retell;
mod revert;
mod speech;
mod taken_back;

pub use branch::Imagined;
pub use capture::Language;
pub use commit::{Commitment, commitment};
pub use error::ImageError;
pub use form::{Flags, is_one_of, readable_text};
pub use guard::{Guard, Named};
pub use identity::Identities;
pub use image::{Cause, Embedder, Image, Options, now_ms};
pub use load::{Records, StoreLoader};
pub use merging::{
    APPLY_FILES, Arrival, BroughtFiles, Choice, Delivery, DeliveryStatus, Description, FileConflict, Left, MergePlan,
    Merged, PLANNED_MOST, Part, Proto, Settlement, Withdrawal, policy_name,
};
pub use provenance::{Dreamt, Provenance, Search, Writing};
pub use reading::ReadSet;
pub use revert::Reverted;
