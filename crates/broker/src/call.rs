//! What is asked and what is answered.

use crate::value::Value;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Call {
    /// Such as `Http.request`.
    pub name: String,
    #[serde(default)]
    pub arguments: Vec<Value>,
    /// Of a call that was promised by a dream, and may be made more than once: whoever it is for can tell that by the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Call {
    pub fn new(name: &str, arguments: impl IntoIterator<Item = Value>) -> Call {
        Call { name: name.into(), arguments: arguments.into_iter().collect(), key: None }
    }
}

/// How a call was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By the world outside.
    Redirected,
    /// By a script, or from a recording.
    Simulated,
    /// By a promise: it is to be made when the dream is merged.
    Deferred,
    /// Not at all: policy forbids it. The one value says why.
    Blocked,
    /// By an error; the one value is its message.
    Failed,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Answer {
    pub way: Way,
    pub values: Vec<Value>,
}

impl Answer {
    pub fn failed(why: impl Into<String>) -> Answer {
        Answer { way: Way::Failed, values: vec![Value::Text(why.into())] }
    }

    pub fn blocked(why: impl Into<String>) -> Answer {
        Answer { way: Way::Blocked, values: vec![Value::Text(why.into())] }
    }
}

/// What kind of thing of the world outside a call is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    Http,
    Commands,
    Files,
    Environment,
    Clock,
    Randomness,
}

/// Every call there is.
const CALLS: &[(&str, Capability)] = &[
    ("Http.request", Capability::Http),
    ("System.system", Capability::Commands),
    ("System.systemOutput", Capability::Commands),
    ("File.read", Capability::Files),
    ("File.write", Capability::Files),
    ("File.append", Capability::Files),
    ("File.remove", Capability::Files),
    ("File.exists", Capability::Files),
    ("Directory.list", Capability::Files),
    ("Environment.get", Capability::Environment),
    ("Clock.now", Capability::Clock),
    ("Randomness.bytes", Capability::Randomness),
];

impl Capability {
    pub const ALL: [Capability; 6] = [
        Capability::Http,
        Capability::Commands,
        Capability::Files,
        Capability::Environment,
        Capability::Clock,
        Capability::Randomness,
    ];

    /// By the name of a call; none if there is no such call.
    pub fn of(name: &str) -> Option<Capability> {
        CALLS.iter().find(|(each, _)| *each == name).map(|(_, capability)| *capability)
    }

    /// As it stands in files.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Http => "http",
            Capability::Commands => "commands",
            Capability::Files => "files",
            Capability::Environment => "environment",
            Capability::Clock => "clock",
            Capability::Randomness => "randomness",
        }
    }
}

/// The names of all calls, for messages.
pub fn all_calls() -> String {
    CALLS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
