//! `cargo xtask tidy`: the rules of `ARCHITECTURE.md` and `CONTRIBUTING.md` that the compiler does not check.
//! Each rule is a file of pure functions from text to findings; this one gathers the tree and prints.

mod documents;
mod files;
mod graph;
mod source;

use crate::workspace::Workspace;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;

/// One broken rule.
#[derive(Debug, PartialEq)]
pub struct Finding {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl Finding {
    /// A finding about a file as a whole.
    fn in_file(path: &str, what: impl Into<String>) -> Finding {
        Finding::at(path, 1, what)
    }

    fn at(path: &str, line: usize, what: impl Into<String>) -> Finding {
        Finding { path: path.into(), line, what: what.into() }
    }
}

/// The text files of the tree by path from the root, with `/` between names.
pub type Tree = BTreeMap<String, String>;

pub fn run(workspace: &Workspace) -> Result<()> {
    let listing = files::list(&workspace.root)?;
    let tree = read(workspace, &listing.tracked)?;
    let mut findings = files::check(&tree, &listing.untracked);
    findings.extend(graph::check(workspace, &tree));
    findings.extend(documents::check(workspace, &tree, &listing.tracked));
    for (path, text) in tree.iter().filter(|(path, _)| path.ends_with(".rs")) {
        findings.extend(source::check(path, text));
    }
    for Finding { path, line, what } in &findings {
        println!("{path}:{line}: {what}");
    }
    ensure!(findings.is_empty(), "{} findings", findings.len());
    println!("{} files are tidy", tree.len());
    Ok(())
}

/// Reads all files that are text.
fn read(workspace: &Workspace, paths: &[String]) -> Result<Tree> {
    let mut tree = Tree::new();
    for path in paths {
        let bytes = std::fs::read(workspace.root.join(path)).with_context(|| format!("cannot read {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            tree.insert(path.clone(), text);
        }
    }
    Ok(tree)
}
