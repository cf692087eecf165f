//! What is said about locks: what changes only with a person's token.

use serde::{Deserialize, Serialize};

/// What is locked, or is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LockTarget {
    /// An object, by names from the Lobby: `Garden` or `Garden.gate`.
    Object(String),
    /// A dream that is over.
    Dream(String),
    /// The image with all that is in it.
    Whole,
}

/// One lock, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockLine {
    /// `object`, `dream` or `whole`.
    pub kind: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_id: Option<String>,
    /// How many objects it covers.
    #[serde(default)]
    pub covers: u64,
    pub author: String,
    pub cause: String,
    pub time_ms: i64,
}

/// What came of locking or unlocking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockReport {
    pub kind: String,
    pub name: String,
    pub is_locked: bool,
    pub covers: u64,
    /// None if it was so already.
    pub commit: Option<u64>,
}
