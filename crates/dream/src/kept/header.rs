//! What is written of a dream when it begins and when it ends, as JSON: fields may be added, and one that is missing has its
//! default.

use crate::journal::{Bounds, ForkPoint};
use crate::kept::DreamId;
use merge::Policy;
use object::change::{ActorId, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::PathBuf;
use system::changed::path;

/// What a dream is. Known by the primary, and fixed when the dream is forked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The id of the image's store.
    #[serde(with = "hex")]
    pub store: [u8; 16],
    /// The last commit that the dream sees.
    pub fork_commit: u64,
    #[serde(with = "time")]
    pub forked: Time,
    #[serde(with = "actor")]
    pub actor: ActorId,
    /// The dream that this one was forked inside of, and how many changes that had made by then.
    #[serde(default)]
    pub parent: Option<(DreamId, u64)>,
    /// What the dream was made for, in words.
    #[serde(default)]
    pub mandate: String,
    /// What runs in it: a script, or a command.
    #[serde(default)]
    pub agent: String,
    #[serde(with = "policy")]
    pub policy: Policy,
    #[serde(default)]
    pub limits: Limits,
    /// Directories of the host that it sees.
    #[serde(default)]
    pub directories: Vec<SeenDirectory>,
    /// Which calls may be made when it is merged, as the broker reads it; none if none may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promises: Option<serde_json::Value>,
    /// How much its journal may be.
    #[serde(default)]
    pub bounds: Bounds,
    /// By the wall clock.
    pub created_ms: u64,
    /// Whether it stays until somebody discards it.
    #[serde(default)]
    pub is_kept: bool,
}

/// A directory of the host, and where in the dream it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeenDirectory {
    #[serde(with = "path")]
    pub host: PathBuf,
    #[serde(with = "path")]
    pub inside: PathBuf,
    /// What it writes there stays in a layer above.
    #[serde(default)]
    pub is_layered: bool,
}

/// None is no limit.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    pub time_ms: Option<u64>,
    pub cpu_ms: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub fuel: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct End {
    pub status: Status,
    /// In words, where the status does not say it all.
    #[serde(default)]
    pub reason: String,
    pub ended_ms: u64,
    #[serde(default)]
    pub usage: Usage,
    #[serde(default)]
    pub is_kept: bool,
    /// What it wrote to its standard output and error, or the beginning of that.
    #[serde(default)]
    pub output: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It did what it was to do.
    Ended,
    /// It went wrong by itself: an exception, a journal that was refused.
    Failed,
    /// It was ended: by somebody, by a limit, or with the system.
    Killed,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub time_ms: u64,
    pub cpu_ms: u64,
    pub memory_bytes: u64,
    pub fuel: u64,
}

impl Header {
    pub const fn id(&self) -> DreamId {
        DreamId(self.actor)
    }

    pub const fn fork(&self) -> ForkPoint {
        ForkPoint { store: self.store, actor: self.actor, forked: self.forked }
    }
}

/// The reason of a dream whose program ended with an error; what it wrote tells more.
pub const PROGRAM_FAILED: &str = "its program failed";

impl End {
    /// Which limit ended it, in a word. Its attendant writes the reasons, in words for people.
    pub fn limit(&self) -> Option<&'static str> {
        let limits =
            [("no time left", "time"), ("no processor time left", "cpu"), ("more memory than it may", "memory")];
        let excess = self.reason.strip_prefix("it had ").filter(|_| self.status == Status::Killed)?;
        limits.into_iter().find(|(words, _)| excess.starts_with(words)).map(|(_, limit)| limit)
    }
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ended => "ended",
            Status::Failed => "failed",
            Status::Killed => "killed",
        }
    }
}

impl Serialize for DreamId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'d> Deserialize<'d> for DreamId {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<DreamId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

mod time {
    use super::*;

    pub fn serialize<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(time.0)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Time, D::Error> {
        u64::deserialize(deserializer).map(Time)
    }
}

mod actor {
    use super::*;

    pub fn serialize<S: Serializer>(actor: &ActorId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(actor.0)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<ActorId, D::Error> {
        let actor = ActorId(u64::deserialize(deserializer)?);
        if actor <= ActorId::MAX { Ok(actor) } else { Err(serde::de::Error::custom("no actor has this number")) }
    }
}

mod hex {
    use super::*;

    pub fn serialize<S: Serializer>(id: &[u8; 16], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", u128::from_be_bytes(*id)))
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<[u8; 16], D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_whole = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u128::from_str_radix(&text, 16).ok().filter(|_| is_whole);
        number.map(u128::to_be_bytes).ok_or_else(|| serde::de::Error::custom("the id of a store has 32 hex digits"))
    }
}

mod policy {
    use super::*;

    const NAMES: [(Policy, &str); 4] = [
        (Policy::LiveWins, "live-wins"),
        (Policy::LastWriterWins, "last-writer-wins"),
        (Policy::ForkWins, "fork-wins"),
        (Policy::KeepBoth, "keep-both"),
    ];

    pub fn serialize<S: Serializer>(policy: &Policy, serializer: S) -> Result<S::Ok, S::Error> {
        let name = NAMES.iter().find(|(each, _)| each == policy).map_or("", |(_, name)| name);
        serializer.serialize_str(name)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Policy, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = NAMES.iter().find(|(_, name)| *name == text).map(|(policy, _)| *policy);
        found.ok_or_else(|| serde::de::Error::custom(format_args!("{text:?} is no policy")))
    }
}
