//! The durable home of an image: commits go to a log, `telos.wal`, with one flush for all who wait; later the checkpoint
//! moves them into `telos.img`, a B+tree of objects and history. Knows changes and objects at rest; knows no language.
//!
//! - `store`, `options`: an open store and its bounds; `make`, `open`: how it is made and found again; `hold`: who may open it
//! - `journal`: group commit and the latch; `fit`: what no commit may do; `record`: a commit as bytes; `pending`: what the image does not hold yet
//! - `log`, `label`, `ring`, `frame`: the log file, from the whole to the byte; `recover`: reading its tail after a crash
//! - `image`, `state`: the tables and what the image knows about itself; `reader`: an object as it is now; `stages`: as it was lately
//! - `checkpoint`, `background`, `pace`: from log to image, on a thread of its own, without getting in the way
//! - `fork`: a copy of the process goes on with the store, and hands out what it commits
//! - `history`: commits, newest first; `backup`: a copy while it runs; `check`: looks at everything
//!
//! **The promise.** What `wait` acknowledged is there after any crash; what was under way is there whole or not at all.
//! Damage is told, never read as data. `docs/file-format.md` has every byte.

mod background;
mod backup;
mod bytes;
mod check;
mod checkpoint;
mod error;
mod fit;
mod fork;
mod frame;
mod history;
mod hold;
mod image;
mod journal;
mod label;
mod log;
mod make;
mod open;
mod options;
mod pace;
mod pending;
mod reader;
mod record;
mod recover;
mod ring;
mod stages;
mod state;
mod store;

pub use backup::Backup;
pub use bytes::checksum;
pub use check::{Check, Progress, Report};
pub use error::StoreError;
pub use fork::{Branched, ForkPoint, Pin};
pub use history::History;
pub use hold::Held;
pub use journal::Ticket;
pub use make::LIVE_ACTOR;
pub use open::{Disks, IMAGE, LOCK, LOG, Opened, Recovered};
pub use options::{Checkpoints, Options};
pub use reader::Found;
pub use record::{Commit, Durability, NewCommit, Payload, encode_payload};
pub use store::{Status, Store};
