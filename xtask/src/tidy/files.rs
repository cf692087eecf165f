//! Rules about files as such: nothing forgotten, nothing that only makes sense on one machine.

use super::{Finding, Tree};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// The index that must link every decision record.
const ADR_INDEX: &str = "docs/adr/README.md";
/// Where the standard library's load order may be written.
const LOAD_ORDER: &str = "crates/language/";
/// Golden tests lie below a directory of this name.
const GOLDEN: &str = "/tests/golden/";
/// Directories at the root of a file system that only a developer's machine has.
const MACHINE_DIRECTORIES: &[&str] = &["work", "farm", "root", "tmp/wt", "tmp/target"];
/// The one registry that a lock file may name.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub struct Listing {
    pub tracked: Vec<String>,
    pub untracked: Vec<String>,
}

/// The files that git knows, and those that it neither knows nor ignores. Without git, as in an unpacked archive,
/// everything counts as tracked.
pub fn list(root: &Path) -> Result<Listing> {
    if !root.join(".git").exists() {
        let mut tracked = Vec::new();
        walk(root, "", &mut tracked)?;
        return Ok(Listing { tracked, untracked: Vec::new() });
    }
    let existing = |paths: Vec<String>| paths.into_iter().filter(|path| root.join(path).is_file()).collect();
    Ok(Listing {
        tracked: existing(git(root, &["ls-files", "-z"])?),
        untracked: git(root, &["ls-files", "-z", "--others", "--exclude-standard"])?,
    })
}

fn git(root: &Path, arguments: &[&str]) -> Result<Vec<String>> {
    // A checkout that belongs to another user, as in CI, would else be refused.
    let output = Command::new("git").args(["-c", "safe.directory=*"]).args(arguments).current_dir(root).output();
    let output = output.context("cannot start git")?;
    anyhow::ensure!(output.status.success(), "git: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(String::from).collect())
}

fn walk(directory: &Path, prefix: &str, found: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_file() {
            found.push(name);
        } else if name != "target" && name != ".git" {
            walk(&entry.path(), &format!("{name}/"), found)?;
        }
    }
    Ok(())
}

pub fn check(tree: &Tree, untracked: &[String]) -> Vec<Finding> {
    let forgotten = untracked.iter().map(|path| Finding::in_file(path, "neither tracked nor ignored by git"));
    forgotten
        .chain(unlisted_records(tree))
        .chain(unloaded_library(tree))
        .chain(half_goldens(tree))
        .chain(tree.iter().flat_map(|(path, text)| machine_traces(path, text)))
        .collect()
}

fn unlisted_records(tree: &Tree) -> Vec<Finding> {
    let index = tree.get(ADR_INDEX).map_or("", String::as_str);
    let records = tree.keys().filter(|path| *path != ADR_INDEX);
    records
        .filter_map(|path| Some((path, path.strip_prefix("docs/adr/")?)))
        .filter(|(_, name)| !index.contains(&format!("({name})")))
        .map(|(path, _)| Finding::in_file(path, format!("not linked in {ADR_INDEX}")))
        .collect()
}

fn unloaded_library(tree: &Tree) -> Vec<Finding> {
    let in_library = |path: &str| path.split('/').rev().nth(1) == Some("stdlib") && path.ends_with(".io");
    let sources: Vec<&String> = tree
        .iter()
        .filter(|(path, _)| path.starts_with(LOAD_ORDER) && path.ends_with(".rs"))
        .map(|(_, text)| text)
        .collect();
    let is_loaded = |path: &str| {
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".io");
        let names = [format!("\"{stem}\""), format!("{stem}.io\"")];
        sources.iter().any(|source| names.iter().any(|name| source.contains(name)))
    };
    tree.keys()
        .filter(|path| in_library(path) && !is_loaded(path))
        .map(|path| Finding::in_file(path, format!("no source under {LOAD_ORDER} loads this file")))
        .collect()
}

/// A golden script without its output tests nothing, and an output without its script is left over.
fn half_goldens(tree: &Tree) -> Vec<Finding> {
    let goldens = tree.keys().filter(|path| path.contains(GOLDEN));
    let other_half = |path: &str| match path.rsplit_once('.') {
        Some((stem, "io")) => Some(format!("{stem}.out")),
        Some((stem, "out")) => Some(format!("{stem}.io")),
        _ => None,
    };
    goldens
        .filter_map(|path| Some((path, other_half(path)?)))
        .filter(|(_, other)| !tree.contains_key(other))
        .map(|(path, other)| Finding::in_file(path, format!("a golden test without its other half, {other}")))
        .collect()
}

fn machine_traces(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if MACHINE_DIRECTORIES.iter().any(|directory| names_directory(line, directory)) {
            findings.push(Finding::at(path, number + 1, "names a path of one machine"));
        }
        if path.ends_with(".lock") && line.contains("registry+") && !line.contains(REGISTRY) {
            findings.push(Finding::at(path, number + 1, "names a registry other than crates.io"));
        }
    }
    findings
}

/// Whether the line holds the directory as an absolute path: `/name/`, with nothing of a path before it.
fn names_directory(line: &str, directory: &str) -> bool {
    let needle = format!("/{directory}/");
    line.match_indices(&needle).any(|(position, _)| {
        let before = line[..position].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || "_.-}*".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect()
    }

    #[test]
    fn untracked_files_are_forgotten() {
        assert_eq!(check(&Tree::new(), &["notes.txt".into()]).len(), 1);
    }

    #[test]
    fn every_decision_is_in_the_index() {
        let tree =
            tree(&[(ADR_INDEX, "[one](0001-one.md)"), ("docs/adr/0001-one.md", ""), ("docs/adr/0002-two.md", "")]);
        let findings = check(&tree, &[]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].path, "docs/adr/0002-two.md");
    }

    #[test]
    fn every_library_file_is_loaded() {
        let load = "const ORDER: &[&str] = &[\"List\", include_str!(\"../stdlib/Map.io\")];";
        let files = ["List.io", "Map.io", "Lost.io"].map(|name| format!("crates/language/stdlib/{name}"));
        let mut tree = tree(&[("crates/language/src/library.rs", load)]);
        tree.extend(files.iter().map(|path| (path.clone(), String::new())));
        let findings = check(&tree, &[]);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].path.ends_with("Lost.io"));
    }

    #[test]
    fn a_golden_test_has_two_halves() {
        let path = |name: &str| format!("crates/language/tests/golden/lists/{name}");
        let files = [path("at.io"), path("at.out"), path("lost.io"), path("left.out")];
        let findings = check(&files.into_iter().map(|path| (path, String::new())).collect(), &[]);
        let found: Vec<&str> = findings.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(found, [path("left.out"), path("lost.io")]);
    }

    #[test]
    fn machine_paths_are_found_and_relative_ones_left_alone() {
        let absolute = ["see /", "work", "/design"].concat();
        assert_eq!(machine_traces("a.md", &absolute).len(), 1);
        let relative = ["see docs/", "work", "/design"].concat();
        assert_eq!(machine_traces("a.md", &relative), []);
    }

    #[test]
    fn a_lock_file_names_only_the_public_registry() {
        assert_eq!(machine_traces("Cargo.lock", &format!("source = \"{REGISTRY}\"")), []);
        assert_eq!(machine_traces("Cargo.lock", "source = \"registry+https://mirror.example/index\"").len(), 1);
    }
}
