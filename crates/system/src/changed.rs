//! What became of a file or directory that a program could write to, as data. Whoever watches such programs, carries what they
//! did over a socket or keeps it in a file has the same words for it.
//!
//! The bytes of a file are not in what is written of it: they may be many, and stand behind.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Written or made; all that it holds now.
    File {
        #[serde(skip)]
        bytes: Vec<u8>,
        mode: u32,
    },
    Link {
        #[serde(with = "path")]
        target: PathBuf,
    },
    Directory {
        mode: u32,
        /// Nothing that was below it is there any more.
        replaces: bool,
    },
    Removed,
    /// Something is there that cannot be told as bytes: a pipe, a socket, or more than may be written. Never applied.
    Unreadable {
        why: String,
    },
}

/// A path as text, or as a list of bytes where it is none.
pub mod path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Told {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => text.serialize(serializer),
            None => path.as_os_str().as_bytes().serialize(serializer),
        }
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match Told::deserialize(deserializer)? {
            Told::Text(text) => text.into(),
            Told::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}
