//! What is to be run, and what it may see.

use crate::limits::Limits;
use crate::network::Network;
use crate::network::sockets::Sockets;
use crate::outcome::Changed;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// One run. What is not named here is not there for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Order {
    /// The first is looked for in the `PATH` of `environment`, inside.
    pub program: Vec<OsString>,
    /// All of it: nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts, inside.
    #[serde(with = "path")]
    pub directory: PathBuf,
    pub view: View,
    #[serde(skip)]
    pub network: Network,
    /// What becomes of socket calls that do not go through the proxy.
    #[serde(skip)]
    pub sockets: Sockets,
    pub limits: Limits,
    /// Whoever gave the order typed that it may run behind fewer walls than all; the outcome says which were missing.
    pub allows_weaker: bool,
}

/// The files that a run sees: the system's programs and libraries, read-only, and these. All that it writes goes to memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct View {
    pub grants: Vec<Grant>,
    pub files: Vec<FileIn>,
    /// What is in the layers from the beginning, as the outcome of another run told it; parents first. Not for runs in cells.
    #[serde(skip)]
    pub written: Vec<Changed>,
}

/// A directory or file of the host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Grant {
    #[serde(with = "path")]
    pub host: PathBuf,
    #[serde(with = "path")]
    pub inside: PathBuf,
    pub access: Access,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Access {
    Read,
    /// Writes stay in a layer above it, in memory, and are part of the outcome.
    Layered,
}

/// A file that is handed in as bytes; it lies in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileIn {
    #[serde(with = "path")]
    pub inside: PathBuf,
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    pub is_executable: bool,
}

/// Paths need not be text.
mod path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serde_bytes::Bytes::new(path.as_os_str().as_bytes()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let bytes = serde_bytes::ByteBuf::deserialize(deserializer)?;
        Ok(OsStr::from_bytes(&bytes).into())
    }
}
