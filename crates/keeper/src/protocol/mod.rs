//! The language of the socket, version 1. After connecting, a client sends a `Hello` and gets a `Welcome`; then it
//! sends requests, as many as it likes at once, and gets an answer for each, not always in the same order. A run is ordered
//! likewise, and answered by what it writes, then by what it changed, then by its end.
//!
//! A frame is thirteen bytes and a body:
//!
//! | bytes | |
//! |---|---|
//! | 0–3 | length of the body, little-endian |
//! | 4 | kind, see [`Kind`] |
//! | 5–12 | id, little-endian: chosen by whoever asks, given back with the answer |
//! | 13… | JSON, one of the structures in `message`; of a run, see `run` |
//!
//! A client may show a person's token, in a frame of its own that the keeper hands to nobody: from then on its requests go to the image
//! process as ones that a person allows, by the kind of their frames. Nothing that a client can send says so.
//!
//! The id stands outside of the body so that the keeper hands bodies on without reading them.

mod dream;
mod frame;
mod history;
mod lock;
mod merge;
mod message;
mod network;
mod run;

pub use dream::{Budget, DreamBegun, DreamGrant, DreamName, DreamOrder, Nest, Rung};
pub(crate) use frame::READ_BYTES;
pub use frame::{FRAME_BYTES_MAX, Frame, HEADER_BYTES, Inbox, Kind, Outbox};
pub use history::{ChangeLine, CommitLine, CommitPage};
pub use lock::{LockLine, LockReport, LockTarget};
pub use merge::{
    CheckOutcome, CheckResult, ConflictChoice, FileLeft, FilesReport, MergeOrder, MergeReport, MergeStatus, TestKind,
    TestResult, Verdict,
};
pub use message::{
    Answer, Command, Durability, Failure, FailureKind, Form, Hello, Outcome, Place, Refusal, Request, Shown, Status,
    TEXT_BYTES_MAX, Welcome,
};
pub(crate) use message::{Envelope, Reason};
pub use network::{RunCall, RunCalls, RunFate, RunSockets, RunVia};
pub use run::{
    RunChange, RunChangeKind, RunClient, RunEnd, RunFailure, RunFile, RunGrant, RunInput, RunLack, RunLimit, RunLimits,
    RunOrder, RunStream, RunUsage, RunVerdict, Word, split_bytes, with_bytes,
};

/// What a client and a keeper must agree on.
pub const VERSION: u32 = 1;
