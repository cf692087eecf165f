//! What is said about dreams. A dream that was begun is spoken to as the live image is, by requests that name it.

use super::Outcome;
use serde::{Deserialize, Serialize};

/// A dream to be begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DreamOrder {
    /// What it is for, in words.
    pub mandate: String,
    /// Who dreams.
    pub agent: String,
    /// From its beginning to its end, whatever happens in it; none is the default.
    pub time_ms: Option<u64>,
    /// Of processor time.
    pub cpu_ms: Option<u64>,
    /// That it may have beside what it shares with the live image.
    pub memory_bytes: Option<u64>,
    /// Of its journal.
    pub journal_bytes: Option<u64>,
    /// What it may ask of the world outside, as the broker reads it; none is what a dream may by default.
    pub policies: Option<serde_json::Value>,
    /// Directories of the host that it sees.
    pub grants: Vec<DreamGrant>,
    /// What keeps it in.
    pub rung: Rung,
    /// Evaluates this and ends, without being spoken to.
    pub source: Option<String>,
    /// What that may use.
    pub source_fuel: Option<u64>,
    pub source_memory_bytes: Option<u64>,
    /// Ends after the first evaluation, and has failed if that did.
    pub is_for_one: bool,
    /// Begins inside of this dream, with all that it has done by now, and not from the live image.
    pub within: Option<String>,
    /// Goes on with this one, which was kept.
    pub again: Option<String>,
    /// Its journal is kept after its end, until somebody discards it.
    pub is_kept: bool,
}

/// A step of the ladder of isolation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// In the image process itself, by the language alone: nothing that it writes is ever seen, and it is given nothing of the
    /// host. For a `source`, and done when it is answered.
    World,
    /// A process of its own, behind all walls.
    #[default]
    Process,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DreamGrant {
    pub host: String,
    pub inside: String,
    /// What it writes there stays in a layer above.
    pub is_layered: bool,
}

/// What a dream asks about dreams inside of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nest {
    /// A name for one that is to be begun.
    Name,
    /// Begins one that was given a name, and lets it evaluate the source.
    Begin {
        dream: String,
        mandate: String,
        source: String,
        #[serde(default)]
        budget: Budget,
    },
    /// What is known of one; an empty text if it has not begun.
    Page(String),
    Keep(String),
    Discard(String),
}

/// What a program gives to a dream that it asks for: time from its beginning to its end, and what its source may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    pub time_ms: Option<u64>,
    pub fuel: Option<u64>,
    pub memory_bytes: Option<u64>,
}

/// What the one who began a dream is answered, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DreamBegun {
    pub dream: String,
    /// The last commit of the live image that it has.
    pub commit: u64,
    /// What its program came to, if that is over already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Which dream a line leads to, and which one is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DreamName {
    pub dream: String,
    /// As in its order, of one that was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<serde_json::Value>,
}
