//! What a dream wrote in directories that it saw through a layer of its own, as data: for whoever shows it, and for whoever
//! applies it after a merge and must know whether the originals are still what they were.

use sandbox::changes::{Digest, digest};
use sandbox::outcome::ChangeKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use system::changed::path;

/// One thing that is not as it was. The bytes of a file are written behind the rest, as they are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileChange {
    /// The directory of the host, as the dream's grant names it.
    #[serde(with = "path")]
    pub directory: PathBuf,
    /// From there.
    #[serde(with = "path")]
    pub path: PathBuf,
    pub written: ChangeKind,
    /// Of a file's content or a link's target, such as `sha256:ba78…`.
    #[serde(default)]
    pub digest: Option<String>,
    /// What was there before; none if nothing was.
    #[serde(default)]
    pub original: Option<Original>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Original {
    pub kind: FileKind,
    pub mode: u32,
    pub bytes: u64,
    /// Of a file's content or a link's target, such as `sha256:ba78…`. None if nobody knows any more what the dream saw.
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

impl FileChange {
    /// Nothing was there, and nothing is: what was told of it before is not so any more.
    pub fn none(directory: &Path, path: &Path) -> FileChange {
        let (directory, path) = (directory.to_path_buf(), path.to_path_buf());
        FileChange { directory, path, written: ChangeKind::Removed, digest: None, original: None }
    }

    pub fn is_none(&self) -> bool {
        self.written == ChangeKind::Removed && self.original.is_none()
    }

    /// What happened to it, in a word.
    pub fn word(&self) -> &'static str {
        let Some(original) = &self.original else {
            return if self.is_none() { "none" } else { self.written_word().unwrap_or("created") };
        };
        let is_same = match (&self.written, original.kind) {
            (ChangeKind::File { .. }, FileKind::File) => original.digest.is_some() && self.digest == original.digest,
            (ChangeKind::Directory { replaces, .. }, FileKind::Directory) => !replaces,
            _ => false,
        };
        self.written_word().unwrap_or(if is_same { "mode" } else { "changed" })
    }

    const fn written_word(&self) -> Option<&'static str> {
        match self.written {
            ChangeKind::Removed => Some("removed"),
            ChangeKind::Unreadable { .. } => Some("unreadable"),
            _ => None,
        }
    }

    /// Whether it holds what it says that it does.
    pub fn is_sound(&self) -> bool {
        let found = match &self.written {
            ChangeKind::File { bytes, .. } => digest::of(bytes),
            ChangeKind::Link { target } => digest::of(target.as_os_str().as_bytes()),
            _ => return true,
        };
        self.digest.as_ref() == Some(&found.text())
    }

    /// What a file holds now.
    pub fn content(&self) -> &[u8] {
        match &self.written {
            ChangeKind::File { bytes, .. } => bytes,
            _ => &[],
        }
    }
}

/// What tells the changed files of a dream from any others; what they hold is in it by their own digests.
pub fn digest_of(written: &BTreeMap<(PathBuf, PathBuf), FileChange>) -> String {
    let mut digest = Digest::default();
    for change in written.values() {
        digest.add(&serde_json::to_vec(change).expect("plain data without maps is JSON"));
    }
    digest.text()
}

impl FileKind {
    pub const fn name(self) -> &'static str {
        match self {
            FileKind::File => "file",
            FileKind::Link => "link",
            FileKind::Directory => "directory",
            FileKind::Other => "other",
        }
    }
}
