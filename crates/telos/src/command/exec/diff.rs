//! `--diff`: what a program changed, as a patch that `git apply` takes. `telos dream show --files` shows it the same way.

use sandbox::changes::{Kind, Leaf, Plan, Snapshot, Step};
use similar::TextDiff;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer files are named only.
pub const FILE_BYTES_MAX: u64 = 8 << 20;
/// Comparing two files takes no longer; then the rest of them is shown as replaced.
const COMPARING: Duration = Duration::from_secs(2);
/// A file that holds a zero byte before here is no text, as git sees it.
const LOOKED_AT_BYTES: usize = 8000;

/// By path, what was there and what is to be.
pub type Sides = BTreeMap<PathBuf, (Option<Side>, Option<Side>)>;

/// A file or link on one side.
pub struct Side {
    mode: u32,
    bytes: Result<Vec<u8>, Unshown>,
}

/// Why what was there is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unshown {
    TooLong,
    /// Somebody has changed or removed it since.
    Gone,
}

impl Side {
    pub fn new(kind: Kind, mode: u32, bytes: Result<Vec<u8>, Unshown>) -> Side {
        let mode = if kind == Kind::Link { 0o120_000 } else { normal(0o100_644 | mode & 0o111) };
        Side { mode, bytes }
    }

    pub fn of_file(bytes: &[u8], mode: u32) -> Side {
        let is_short = bytes.len() as u64 <= FILE_BYTES_MAX;
        Side::new(Kind::File, mode, if is_short { Ok(bytes.to_vec()) } else { Err(Unshown::TooLong) })
    }
}

/// The patch. Paths are counted from the directory, below `prefix` where there are several.
pub fn diff(plan: &Plan<'_>, prefix: &Path) -> Vec<u8> {
    let mut sides = Sides::new();
    for step in &plan.steps {
        match step {
            Step::Remove(path) => {
                for (each, _) in plan.snapshot.below(path) {
                    sides.insert(each.clone(), (before(plan.snapshot, each), None));
                }
            }
            Step::Write(path, leaf) => {
                let entry = sides.entry(path.clone()).or_insert_with(|| (before(plan.snapshot, path), None));
                entry.1 = Some(after(leaf));
            }
            // Git knows no directories.
            Step::MakeDirectory(..) | Step::SetMode(..) => {}
        }
    }
    self::patch(&sides, prefix, &plan.refused)
}

/// Refused is what cannot be shown, with the reason.
pub fn patch(sides: &Sides, prefix: &Path, refused: &[(PathBuf, String)]) -> Vec<u8> {
    let mut patch = Vec::new();
    // Directories that were removed have no side at all.
    for (path, (before, after)) in sides.iter().filter(|(_, (before, after))| before.is_some() || after.is_some()) {
        one(&mut patch, &prefix.join(path), before.as_ref(), after.as_ref());
    }
    for (path, why) in refused {
        patch.extend(format!("# {path:?} is not shown: {why}\n").into_bytes());
    }
    patch
}

fn before(snapshot: &Snapshot, path: &Path) -> Option<Side> {
    let print = snapshot.before(path)?;
    if !matches!(print.kind, Kind::File | Kind::Link) {
        return None;
    }
    let bytes = snapshot.tree.content(path, print.kind, FILE_BYTES_MAX).map_err(|_| Unshown::TooLong);
    Some(Side::new(print.kind, print.mode, bytes))
}

fn after(leaf: &Leaf) -> Side {
    match leaf {
        Leaf::Link { target } => Side::new(Kind::Link, 0, Ok(target.as_os_str().as_bytes().to_vec())),
        Leaf::File { bytes, mode } => Side::of_file(bytes, *mode),
    }
}

/// Git knows two modes of files.
const fn normal(mode: u32) -> u32 {
    if mode & 0o100 != 0 { 0o100_755 } else { 0o100_644 }
}

fn one(patch: &mut Vec<u8>, path: &Path, before: Option<&Side>, after: Option<&Side>) {
    if let (Some(old), Some(new)) = (before, after)
        && (old.mode == 0o120_000) != (new.mode == 0o120_000)
    {
        // A link that becomes a file, or the other way, is one that goes and one that comes.
        one(patch, path, before, None);
        one(patch, path, None, after);
        return;
    }
    let (a, b) = (quoted("a/", path), quoted("b/", path));
    let is_same = before.zip(after).is_some_and(|(old, new)| old.bytes.is_ok() && old.bytes == new.bytes);
    if is_same && before.map(|side| side.mode) == after.map(|side| side.mode) {
        return;
    }
    let mut head = format!("diff --git {a} {b}\n");
    match (before, after) {
        (None, Some(new)) => head += &format!("new file mode {:o}\n", new.mode),
        (Some(old), None) => head += &format!("deleted file mode {:o}\n", old.mode),
        (Some(old), Some(new)) if old.mode != new.mode => {
            head += &format!("old mode {:o}\nnew mode {:o}\n", old.mode, new.mode);
        }
        _ => {}
    }
    patch.extend(head.into_bytes());
    if is_same {
        return;
    }
    let old_name = if before.is_some() { a } else { "/dev/null".to_string() };
    let new_name = if after.is_some() { b } else { "/dev/null".to_string() };
    let side = |side: Option<&Side>| side.map_or(Ok(Vec::new()), |side| side.bytes.clone());
    match (side(before), side(after)) {
        (Ok(old), Ok(new)) if !is_binary(&old) && !is_binary(&new) => {
            patch.extend(hunks(&old, &new, &old_name, &new_name));
        }
        (Ok(_), Ok(_)) => patch.extend(format!("Binary files {old_name} and {new_name} differ\n").into_bytes()),
        (Err(Unshown::Gone), Ok(new)) => {
            patch.extend(
                format!("# what was in {old_name} is not there any more; this is all of the new\n").into_bytes(),
            );
            if !is_binary(&new) {
                patch.extend(hunks(&[], &new, &old_name, &new_name));
            }
        }
        _ => patch.extend(format!("# {old_name} and {new_name} are too long to be compared\n").into_bytes()),
    }
}

fn hunks(old: &[u8], new: &[u8], old_name: &str, new_name: &str) -> Vec<u8> {
    let compared = TextDiff::configure().timeout(COMPARING).diff_lines(old, new);
    let mut hunks = Vec::new();
    let mut unified = compared.unified_diff();
    // Writing to a vector never fails.
    let _ = unified.header(old_name, new_name).to_writer(&mut hunks);
    hunks
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(LOOKED_AT_BYTES)].contains(&0)
}

/// A name as git writes it: one that holds anything unusual stands in quotes, so that it cannot pretend to be a line.
fn quoted(side: &str, path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let is_usual = |byte: &u8| (0x20..0x7F).contains(byte) && *byte != b'"' && *byte != b'\\';
    if bytes.iter().all(is_usual) {
        return format!("{side}{}", String::from_utf8_lossy(bytes));
    }
    let each = |byte: &u8| if is_usual(byte) { char::from(*byte).to_string() } else { format!("\\{byte:03o}") };
    format!("\"{side}{}\"", bytes.iter().map(each).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &str) -> Side {
        Side { mode: 0o100_644, bytes: Ok(bytes.into()) }
    }

    fn shown(before: Option<Side>, after: Option<Side>) -> String {
        let mut patch = Vec::new();
        one(&mut patch, Path::new("f"), before.as_ref(), after.as_ref());
        String::from_utf8(patch).unwrap()
    }

    #[test]
    fn a_changed_line_is_shown_with_what_stands_around_it() {
        let patch = shown(Some(text("a\nb\nc\n")), Some(text("a\nB\nc\n")));
        assert_eq!(patch, "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(shown(Some(text("a")), Some(text("a"))), "");
    }

    #[test]
    fn binary_and_too_long_files_are_said_to_be_so() {
        let binary = Side { mode: 0o100_644, bytes: Ok(vec![0, 1]) };
        assert!(shown(None, Some(binary)).ends_with("Binary files /dev/null and b/f differ\n"));
        let long = Side { mode: 0o100_644, bytes: Err(Unshown::TooLong) };
        assert!(shown(Some(text("a")), Some(long)).contains("too long"));
    }

    /// A file called "x\n+++ b/y" must not look like a part of the patch.
    #[test]
    fn a_name_cannot_pretend_to_be_a_line() {
        assert_eq!(quoted("a/", Path::new("plain name")), "a/plain name");
        assert_eq!(quoted("a/", Path::new("x\n+\"")), "\"a/x\\012+\\042\"");
    }
}
