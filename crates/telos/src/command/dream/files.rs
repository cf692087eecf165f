//! `telos dream show --files`: what a dream wrote in directories, as a patch or as JSON. It is read from the kept dream itself,
//! for it may be long, and compared with the directory here: the image process has no time for either.

use crate::command::exec::diff::{self, FILE_BYTES_MAX, Side, Sides, Unshown};
use crate::runs::described::shown;
use anyhow::Context;
use dream::{Dreams, FileChange, FileKind, Written};
use sandbox::changes::{Kind, Tree, digest};
use sandbox::outcome::ChangeKind;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// All that a dream changed. The page says which store it is of.
pub fn read(image: &Path, page: &Value) -> anyhow::Result<Written> {
    let word = |name: &str| page[name].as_str().with_context(|| format!("the image does not tell the {name}"));
    let store = u128::from_str_radix(word("store")?, 16).context("that is no id of a store")?;
    let dreams = Dreams::open(image, store.to_be_bytes())?;
    Ok(dreams.written(word("dream")?.parse()?)?)
}

/// As `telos exec --diff` shows it.
pub fn patch(written: &Written) -> Vec<u8> {
    let directories: BTreeSet<&PathBuf> = written.keys().map(|(directory, _)| directory).collect();
    let mut patch = Vec::new();
    for directory in &directories {
        let tree = Tree::open(directory).ok();
        let (mut sides, mut refused) = (Sides::new(), Vec::new());
        let changes = || written.values().filter(|change| change.directory == **directory);
        for change in changes() {
            if let ChangeKind::Unreadable { why } = &change.written {
                refused.push((change.path.clone(), why.clone()));
            }
            sides.insert(change.path.clone(), (before(tree.as_ref(), change), after(change)));
        }
        let prefix = match directories.len() {
            1 => PathBuf::new(),
            _ => directory.strip_prefix("/").map(Into::into).unwrap_or_default(),
        };
        patch.extend(diff::patch(&sides, &prefix, &refused));
        patch.extend(changes().filter_map(|change| about_directory(&prefix, change)).flat_map(String::into_bytes));
    }
    patch
}

/// Git knows no directories.
fn about_directory(prefix: &Path, change: &FileChange) -> Option<String> {
    let was_directory = change.original.as_ref().is_some_and(|original| original.kind == FileKind::Directory);
    let mode = match change.written {
        ChangeKind::Directory { mode, .. } => format!(", mode {mode:o}"),
        ChangeKind::Removed if was_directory => String::new(),
        _ => return None,
    };
    Some(format!("# directory {:?}: {}{mode}\n", prefix.join(&change.path), change.word()))
}

/// What the dream saw, if it is still there.
fn before(tree: Option<&Tree>, change: &FileChange) -> Option<Side> {
    let original = change.original.as_ref()?;
    let kind = match original.kind {
        FileKind::File => Kind::File,
        FileKind::Link => Kind::Link,
        FileKind::Directory | FileKind::Other => return None,
    };
    let bytes = if original.bytes > FILE_BYTES_MAX {
        Err(Unshown::TooLong)
    } else {
        let now = tree.and_then(|tree| tree.content(&change.path, kind, FILE_BYTES_MAX).ok());
        let is_it = |bytes: &Vec<u8>| original.digest.as_ref() == Some(&digest::of(bytes).text());
        now.filter(is_it).ok_or(Unshown::Gone)
    };
    Some(Side::new(kind, original.mode, bytes))
}

fn after(change: &FileChange) -> Option<Side> {
    match &change.written {
        ChangeKind::File { bytes, mode } => Some(Side::of_file(bytes, *mode)),
        ChangeKind::Link { target } => Some(Side::new(Kind::Link, 0, Ok(target.as_os_str().as_bytes().to_vec()))),
        _ => None,
    }
}

/// One object a change.
pub fn to_json(written: &Written) -> Value {
    written.values().map(one_to_json).collect()
}

fn one_to_json(change: &FileChange) -> Value {
    let original = change.original.as_ref().map(|original| {
        json!({
            "type": original.kind.name(),
            "mode": format!("{:o}", original.mode),
            "bytes": original.bytes,
            "digest": original.digest,
        })
    });
    let mut fields = json!({
        "directory": shown(&change.directory),
        "path": shown(&change.path),
        "kind": change.word(),
    });
    let more = match &change.written {
        ChangeKind::File { bytes, mode } => {
            json!({ "type": "file", "mode": format!("{mode:o}"), "bytes": bytes.len(), "digest": change.digest })
        }
        ChangeKind::Link { target } => json!({ "type": "link", "target": shown(target), "digest": change.digest }),
        ChangeKind::Directory { mode, .. } => json!({ "type": "directory", "mode": format!("{mode:o}") }),
        ChangeKind::Unreadable { why } => json!({ "why": why }),
        ChangeKind::Removed => json!({}),
    };
    for (name, value) in more.as_object().into_iter().flatten() {
        fields[name] = value.clone();
    }
    fields["original"] = json!(original);
    fields
}
