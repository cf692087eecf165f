//! What to keep and how.

use crate::bounds::Bounds;
use crate::protocol::RunClient;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a keeper needs to know.
pub struct Plan {
    /// Where the image lies and the socket is made; must exist.
    pub directory: PathBuf,
    pub bounds: Bounds,
    /// Our own binary and the arguments that make it the image process.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// The arguments that make it the warden.
    pub warden_arguments: Vec<OsString>,
    /// And those that make it the broker.
    pub broker_arguments: Vec<OsString>,
    /// Variables that the image process gets; it inherits no others.
    pub environment: Vec<(OsString, OsString)>,
}

/// What people want to know while it runs.
#[derive(Debug)]
pub enum Notice<'n> {
    /// The image is open and requests are answered.
    Ready { directory: &'n Path, socket: &'n Path, keeper_pid: u32, image_pid: u32 },
    /// Told to stop; so many requests are let come to their end.
    Stopping { under_way: usize },
    /// They took too long, or somebody is in a hurry: they are interrupted.
    Interrupting { under_way: usize },
    /// The process that watches over runs has ended by itself, and with it the runs; the next one gets another.
    WardenLost { cause: String },
    /// The process that makes calls to the world outside has ended by itself; the next call gets another.
    BrokerLost { cause: String },
    /// A run is gone, and nobody knows what became of it.
    RunLost { who: &'n RunClient, why: &'n str },
    /// A client showed a token that is not the image's; told of the first, the tenth, the hundredth.
    WrongToken { who: &'n RunClient, count: u64 },
    /// A request was told to stop and did not.
    Deaf { seconds: f64 },
}
