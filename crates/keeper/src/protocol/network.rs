//! What becomes of a run's socket calls, and whom it called.

use serde::{Deserialize, Serialize};

/// What becomes of socket calls to the outside that do not go through the proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunSockets {
    /// There is nobody in the run's own network.
    #[default]
    Alone,
    /// Refused and told.
    Blocked,
    /// Made to those of the order's hosts that they name. What is said comes back as a stream if it is to be kept.
    Redirected { is_kept: bool },
    /// Answered with what was said once.
    Recorded { recording: String },
}

impl RunSockets {
    pub fn is_alone(&self) -> bool {
        *self == RunSockets::Alone
    }
}

/// Whom a run called, or tried to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCalls {
    /// In the order in which they ended.
    pub calls: Vec<RunCall>,
    /// How many more there were.
    pub left_out: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCall {
    pub via: RunVia,
    /// The host and port, or what stood in their place.
    pub asked: String,
    pub fate: RunFate,
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunVia {
    Proxy,
    Connect,
    Http,
    Socks,
    Socket { thread: i32 },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunFate {
    Reached { address: std::net::SocketAddr },
    Replayed,
    Refused { why: String },
}
