//! What can be wrong with a journal. Each breaks the whole of it: what a dreamer said before is worth no more than what it
//! said last.

use object::change::{ActorId, ChangeError, ChangeId, ObjectId};

/// Positions are bytes from the beginning of the journal.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JournalError {
    #[error(
        "one transaction of the dream wrote {bytes} bytes, more than the {most} that its journal takes at once (at byte {position}); let it write less, or in several transactions"
    )]
    FrameBytes { position: u64, bytes: usize, most: usize },
    #[error(
        "one transaction of the dream made more than the {most} changes that its journal takes at once (at byte {position}); let it change less, or in several transactions"
    )]
    FrameChanges { position: u64, most: usize },
    #[error(
        "the journal has more than the {most} bytes that are allowed; let the dream write less, or have several dreams do it"
    )]
    JournalBytes { most: u64 },
    #[error(
        "the journal has more than the {most} changes that are allowed; let the dream change less, or have several dreams do it"
    )]
    JournalChanges { most: u64 },
    #[error("the frame at byte {position} does not match its checksum")]
    Checksum { position: u64 },
    #[error("the frame at byte {position} is of kind {kind}, which no journal has")]
    Kind { position: u64, kind: u8 },
    #[error("the commit at byte {position} is shorter than it says")]
    Short { position: u64 },
    #[error("the {what} of the commit at byte {position} is no text in UTF-8")]
    NoText { what: &'static str, position: u64 },
    #[error("the {what} at byte {position} has {bytes} bytes, more than the {most} that are allowed")]
    TextBytes { what: &'static str, position: u64, bytes: usize, most: usize },
    #[error("the changes of the commit at byte {position} cannot be read: {source}")]
    Changes { position: u64, source: ChangeError },
    #[error("change {found} is by another actor than the dream, which is {expected:?}")]
    Actor { expected: ActorId, found: ChangeId },
    #[error("change {found} comes where change {expected} must")]
    Gap { expected: u64, found: u64 },
    #[error("change {0} replaces {1}, which its author cannot have seen")]
    UnknownPred(ChangeId, ChangeId),
    #[error("change {0} names object {1}, which its author cannot know")]
    UnknownObject(ChangeId, ObjectId),
    #[error("change {0} is a call without arguments, way and answer")]
    Call(ChangeId),
    /// A writer met a commit that the journal has no form for.
    #[error("the commit cannot be written: {0}")]
    Unwritable(String),
}
