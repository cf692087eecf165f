//! A journal as something that a person can read: object by object what is other than it was, methods as source; and as JSON,
//! change by change.
//!
//! - `view`: what objects were before the dream and are after it; `title`: what they are called
//! - `code`: methods and messages from their records; `readable`: those as a person would write them
//! - `value`: one value in a line; `diff`, `lines`: all of them, with what was before; `json`: for programs
//!
//! **Hostile too.** What is shown may try to look like something else. Nothing here sends control characters on, a literal is
//! shown by its value and not by what it says of itself, and source that would be other code when it is read is marked. A few
//! bytes can stand for a long text again and again, so there is an end to what is shown; what is left out is counted. Tables
//! of what a stranger named are hashed with a key.

mod code;
mod diff;
mod json;
mod lines;
mod readable;
mod title;
mod value;
mod view;

pub use diff::{Diff, Section, diff};
pub use json::changes as to_json;
pub use lines::{Line, Mark};

use object::change::{Datum, Field, Line as ElementLine, ObjectId, Run};

/// What is known of the image as it was at the fork point.
pub trait Names {
    /// The path by which a person finds the object, such as `Account` or `Shop prices`; `Lobby` for that itself.
    fn name(&self, object: ObjectId) -> Option<String>;

    /// What the object had in this field; `Absent` if it had none, none if nobody knows.
    fn before(&self, object: ObjectId, field: &Field) -> Option<Datum>;

    /// What the object had in this line.
    fn run_before(&self, _object: ObjectId, _line: ElementLine) -> Option<Run> {
        None
    }
}

/// For a journal without its image: objects have ids, and what was before is not known.
pub struct Nameless;

impl Names for Nameless {
    fn name(&self, _: ObjectId) -> Option<String> {
        None
    }

    fn before(&self, _: ObjectId, _: &Field) -> Option<Datum> {
        None
    }
}
