//! Rules about documents: links lead somewhere, dependencies have their reason, promises name what checks them.

use super::{Finding, Tree};
use crate::workspace::Workspace;
use std::collections::BTreeSet;

const DEPENDENCIES: &str = "docs/dependencies.md";
const SPECIFICATION: &str = "SPECIFICATION.md";
/// The headings of a table of promises.
const PROMISE_COLUMNS: [&str; 3] = ["Promise", "Checked by", "Last measured"];
const UNMEASURED: &str = "not yet measured";

pub fn check(workspace: &Workspace, tree: &Tree, paths: &[String]) -> Vec<Finding> {
    let external = workspace.packages.iter().flat_map(|package| &package.dependencies);
    let used: BTreeSet<&str> =
        external.filter(|dependency| dependency.path.is_none()).map(|dependency| dependency.name.as_str()).collect();
    let mut findings = dependencies(tree.get(DEPENDENCIES).map_or("", String::as_str), &used);
    findings.extend(promises(tree.get(SPECIFICATION).map_or("", String::as_str), tree));
    for (path, text) in tree.iter().filter(|(path, _)| path.ends_with(".md")) {
        findings.extend(links(path, text, paths));
    }
    findings
}

/// Each dependency has a row ``| `name` | reason |``, and each row is still a dependency.
fn dependencies(document: &str, used: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut explained = BTreeSet::new();
    for (number, cells) in table_rows(document) {
        let Some(name) = cells[0].strip_prefix('`').and_then(|cell| cell.strip_suffix('`')) else { continue };
        explained.insert(name);
        if !used.contains(name) {
            findings.push(Finding::at(DEPENDENCIES, number, format!("{name} is no longer a dependency")));
        }
        if cells.last().is_none_or(|reason| reason.len() < 10) {
            findings.push(Finding::at(DEPENDENCIES, number, format!("{name} has no reason")));
        }
    }
    let unexplained = used.iter().filter(|name| !explained.contains(**name));
    findings.extend(unexplained.map(|name| Finding::in_file(DEPENDENCIES, format!("says nothing about {name}"))));
    findings
}

/// Each row of a promise table names a command, and once it has been measured, a test file that exists.
fn promises(document: &str, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut rows = 0;
    for (number, cells) in table_rows(document) {
        if cells.len() != PROMISE_COLUMNS.len() || cells == PROMISE_COLUMNS {
            continue;
        }
        rows += 1;
        let command = code_spans(cells[1]).find(|code| code.starts_with("cargo "));
        let Some(command) = command else {
            findings.push(Finding::at(SPECIFICATION, number, "the promise names no test or benchmark"));
            continue;
        };
        let is_measured = !cells[2].contains(UNMEASURED);
        let is_missing = |path: &String| {
            let directory = path.replace(".rs", "/main.rs");
            !tree.contains_key(path) && !tree.contains_key(&directory)
        };
        if let Some(path) = test_path(command).filter(|path| is_measured && is_missing(path)) {
            findings.push(Finding::at(SPECIFICATION, number, format!("{path} does not exist")));
        }
        if cells[2].is_empty() {
            findings.push(Finding::at(SPECIFICATION, number, format!("no last value: measure, or say `{UNMEASURED}`")));
        }
    }
    if rows == 0 {
        findings.push(Finding::in_file(SPECIFICATION, "holds no promise"));
    }
    findings
}

/// The file behind `cargo test -p CRATE --test NAME`, unless it is a directory of that name.
fn test_path(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split(' ').collect();
    let after = |flag: &str| words.iter().position(|word| *word == flag).and_then(|position| words.get(position + 1));
    Some(format!("crates/{}/tests/{}.rs", after("-p")?, after("--test")?))
}

fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The cells of each table row, with the row's line number; separators are left out.
fn table_rows(document: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    document.lines().enumerate().filter_map(|(index, line)| {
        let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let is_separator = inside.chars().all(|letter| "-:| ".contains(letter));
        (!is_separator).then(|| (index + 1, inside.split('|').map(str::trim).collect()))
    })
}

/// Relative links of a document lead to files or directories of the tree.
fn links(path: &str, text: &str, paths: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        in_code ^= line.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = target.split(['#', ' ']).next().unwrap_or(target);
            if target.is_empty() || target.contains(':') {
                continue;
            }
            if !resolves(path, target, paths) {
                findings.push(Finding::at(path, index + 1, format!("link to {target} leads nowhere")));
            }
        }
    }
    findings
}

fn resolves(from: &str, target: &str, paths: &[String]) -> bool {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            if parts.pop().is_none() {
                return false;
            }
        } else {
            parts.push(part);
        }
    }
    let resolved = parts.join("/");
    let directory = format!("{resolved}/");
    paths.iter().any(|path| *path == resolved || path.starts_with(&directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dependency_has_a_reason_and_every_reason_a_dependency() {
        let document =
            "| Crate | Why |\n|---|---|\n| `clap` | reads the command line |\n| `gone` | was useful once |\n";
        let found = dependencies(document, &BTreeSet::from(["clap", "new"]));
        let whats: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(whats, ["gone is no longer a dependency", "says nothing about new"]);
    }

    #[test]
    fn promises_name_their_check() {
        let rows = [
            "| Promise | Checked by | Last measured |",
            "|---|---|---|",
            "| fast | `cargo xtask bench language` | 0.5 |",
            "| safe | somebody looks | 1 |",
            "| planned | `cargo test -p language --test later` | not yet measured |",
            "| claimed | `cargo test -p language --test missing` | holds |",
        ];
        let found = promises(&rows.join("\n"), &Tree::new());
        let lines: Vec<usize> = found.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [4, 6]);
    }

    #[test]
    fn a_specification_without_promises_is_found() {
        assert_eq!(promises("", &Tree::new()).len(), 1);
    }

    #[test]
    fn links_lead_somewhere() {
        let paths = ["README.md", "docs/glossary.md", "docs/adr/README.md"].map(String::from);
        let text =
            "[a](glossary.md#slot) [b](../README.md) [c](adr/) [d](https://example.org) [e](#here)\n[f](lost.md)\n";
        let found = links("docs/index.md", text, &paths);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].what.as_str()), (2, "link to lost.md leads nowhere"));
    }

    #[test]
    fn links_in_code_are_no_links() {
        assert_eq!(links("a.md", "```\n[a](b.md)\n```\n", &[]), []);
    }
}
