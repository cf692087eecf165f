//! What a dream wrote in directories that it saw through a layer of its own, as data: for whoever shows it, and for whoever
//! applies it after a merge and must know whether the originals are still what they were.

use sandbox::outcome::ChangeKind;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
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
    /// What a file holds now.
    pub fn content(&self) -> &[u8] {
        match &self.written {
            ChangeKind::File { bytes, .. } => bytes,
            _ => &[],
        }
    }
}
