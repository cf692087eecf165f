//! What is to be run, and what it may see.

use crate::limits::Limits;
use crate::network::Network;
use crate::network::sockets::Sockets;
use std::ffi::OsString;
use std::path::PathBuf;

/// One run. What is not named here is not there for it.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The first is looked for in the `PATH` of `environment`, inside.
    pub program: Vec<OsString>,
    /// All of it: nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts, inside.
    pub directory: PathBuf,
    pub view: View,
    pub network: Network,
    /// What becomes of socket calls that do not go through the proxy.
    pub sockets: Sockets,
    pub limits: Limits,
    /// Whoever gave the order typed that it may run behind fewer walls than all; the outcome says which were missing.
    pub allows_weaker: bool,
}

/// The files that a run sees: the system's programs and libraries, read-only, and these. All that it writes goes to memory.
#[derive(Clone, Debug, Default)]
pub struct View {
    pub grants: Vec<Grant>,
    pub files: Vec<FileIn>,
}

/// A directory or file of the host.
#[derive(Clone, Debug)]
pub struct Grant {
    pub host: PathBuf,
    pub inside: PathBuf,
    pub access: Access,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    /// Writes stay in a layer above it, in memory, and are part of the outcome.
    Layered,
}

/// A file that is handed in as bytes; it lies in memory.
#[derive(Clone, Debug)]
pub struct FileIn {
    pub inside: PathBuf,
    pub bytes: Vec<u8>,
    pub is_executable: bool,
}
