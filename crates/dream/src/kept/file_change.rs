//! What a dream wrote in directories that it saw through a layer of its own, as data: for whoever shows it, and for whoever
//! applies it after a merge and must know whether the originals are still what they were.

use sandbox::outcome::{ChangeKind, Changed};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// One thing that is not as it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileChange {
    /// The directory of the host, as the dream's grant names it.
    pub directory: PathText,
    /// From there.
    pub path: PathText,
    pub written: Written,
    /// What was there before; none if nothing was.
    #[serde(default)]
    pub original: Option<Original>,
    /// What a file holds now. Written behind the rest, as it is.
    #[serde(skip)]
    pub content: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    File {
        mode: u32,
    },
    Link {
        target: PathText,
    },
    Directory {
        mode: u32,
        /// Nothing that was below it is there any more.
        replaces: bool,
    },
    Removed,
    /// Something that cannot be told as bytes. Never applied.
    Unreadable {
        why: String,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Original {
    pub kind: FileKind,
    pub mode: u32,
    pub bytes: u64,
    /// Of a file's content or a link's target, such as `sha256:ba78…`.
    #[serde(default)]
    pub digest: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    File,
    Link,
    Directory,
    Other,
}

/// A path as text, or as bytes where it is none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathText {
    Text(String),
    Bytes(Vec<u8>),
}

impl FileChange {
    /// What a sandbox says was changed below a grant's directory, with what was there before.
    pub fn new(directory: &Path, changed: Changed, original: Option<Original>) -> FileChange {
        let mut content = Vec::new();
        let written = match changed.kind {
            ChangeKind::File { bytes, mode } => {
                content = bytes;
                Written::File { mode }
            }
            ChangeKind::Link { target } => Written::Link { target: PathText::from(&*target) },
            ChangeKind::Directory { mode, replaces } => Written::Directory { mode, replaces },
            ChangeKind::Removed => Written::Removed,
            ChangeKind::Unreadable { why } => Written::Unreadable { why },
        };
        FileChange { directory: directory.into(), path: PathText::from(&*changed.path), written, original, content }
    }
}

impl From<&Path> for PathText {
    fn from(path: &Path) -> PathText {
        match path.to_str() {
            Some(text) => PathText::Text(text.into()),
            None => PathText::Bytes(path.as_os_str().as_bytes().into()),
        }
    }
}

impl From<PathText> for PathBuf {
    fn from(path: PathText) -> PathBuf {
        match path {
            PathText::Text(text) => text.into(),
            PathText::Bytes(bytes) => OsString::from_vec(bytes).into(),
        }
    }
}
