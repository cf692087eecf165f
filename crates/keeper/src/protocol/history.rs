//! How the history of an image is told: the values of `Log` and `Show`, as JSON in the text of an answer.

use serde::{Deserialize, Serialize};

/// One commit in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitLine {
    pub number: u64,
    /// When it was made, in milliseconds since 1970.
    pub time_ms: i64,
    pub author: Option<String>,
    pub cause: Option<String>,
    pub changes: u64,
}

/// One commit and what it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitPage {
    pub commit: CommitLine,
    pub changes: Vec<ChangeLine>,
}

/// One change in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLine {
    /// What was done: `add`, `set`, `remove`, `clone` and the like.
    pub verb: String,
    /// The object, by its name if it has one.
    pub object: String,
    /// The slot, key or position.
    pub place: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
}
