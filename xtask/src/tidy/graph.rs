//! The crate graph: which crate may see which, and that the pure ones stay pure.

use super::{Finding, Tree};
use crate::workspace::{Package, Workspace};

/// What each crate may depend on, as `ARCHITECTURE.md` draws it; the later ones stand here already. `telos` wires
/// everything together and is not in the table.
const ALLOWED: &[(&str, &[&str])] = &[
    ("object", &[]),
    ("system", &[]),
    ("testkit", &["object", "system"]),
    ("xtask", &[]),
    ("language", &["object"]),
    ("merge", &["object"]),
    ("store", &["object", "system"]),
    ("keeper", &["system"]),
    ("sandbox", &["system"]),
    ("broker", &["sandbox", "system"]),
    ("image", &["object", "language", "store", "merge"]),
    ("dream", &["object", "system", "language", "store", "image", "merge", "sandbox"]),
    ("evolve", &["object", "image", "dream"]),
    ("server", &["object", "sandbox", "image", "dream", "evolve"]),
];

/// The binary, which may see all but the test kit and xtask.
const BINARY: &str = "telos";
/// Crates that touch neither disk nor clock, process nor randomness; their `clippy.toml` bans the calls.
const PURE: &[&str] = &["object", "language", "merge"];
/// The crate that may hold `unsafe`, and so does without the workspace's lints.
const UNSAFE_CRATE: &str = "system";
/// What every pure crate's `clippy.toml` bans, at the least.
const BANNED: &[&str] = &["std::fs::read", "std::time::Instant::now", "std::process::Command", "std::println"];

pub fn check(workspace: &Workspace, tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let manifest = manifest_path(workspace, package);
        let edges = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
        findings.extend(edges.filter_map(|edge| {
            let is_dev = edge.kind.as_deref() == Some("dev");
            let objection = objection(&package.name, &edge.name, is_dev)?;
            Some(Finding::in_file(&manifest, objection))
        }));
        if let Some(text) = tree.get(&manifest) {
            findings.extend(missing_lints(&package.name, &manifest, text));
        }
        if PURE.contains(&package.name.as_str()) {
            let path = manifest.replace("Cargo.toml", "clippy.toml");
            findings.extend(missing_bans(&path, tree.get(&path).map_or("", String::as_str)));
        }
    }
    findings
}

fn manifest_path(workspace: &Workspace, package: &Package) -> String {
    let path = package.manifest_path.strip_prefix(&workspace.root).unwrap_or(&package.manifest_path);
    path.to_string_lossy().replace('\\', "/")
}

/// Why `from` must not depend on `to`, if so.
fn objection(from: &str, to: &str, is_dev: bool) -> Option<String> {
    if to == "testkit" {
        return (!is_dev).then(|| format!("{from} may see testkit only as a dev-dependency"));
    }
    if from == BINARY {
        return (to == "xtask").then(|| format!("{from} must not see xtask"));
    }
    match ALLOWED.iter().find(|(name, _)| *name == from) {
        None => Some(format!("crate {from} is not in the table of xtask/src/tidy/graph.rs: say there what it may see")),
        Some((_, allowed)) if allowed.contains(&to) => None,
        Some(_) => Some(format!("{from} must not depend on {to}")),
    }
}

fn missing_lints(name: &str, manifest: &str, text: &str) -> Option<Finding> {
    let inherits = text.contains("[lints]\nworkspace = true");
    (!inherits && name != UNSAFE_CRATE)
        .then(|| Finding::in_file(manifest, "does not inherit the workspace's lints, which forbid unsafe code"))
}

fn missing_bans(path: &str, text: &str) -> Vec<Finding> {
    let missing = BANNED.iter().filter(|banned| !text.contains(**banned));
    missing.map(|banned| Finding::in_file(path, format!("a pure crate bans {banned}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_point_down() {
        assert_eq!(objection("language", "object", false), None);
        assert_eq!(objection("telos", "language", false), None);
        assert!(objection("object", "language", false).is_some());
        assert!(objection("xtask", "language", false).is_some());
        assert!(objection("telos", "xtask", false).is_some());
    }

    #[test]
    fn the_test_kit_is_for_tests() {
        assert_eq!(objection("language", "testkit", true), None);
        assert!(objection("language", "testkit", false).is_some());
        assert!(objection("telos", "testkit", false).is_some());
    }

    #[test]
    fn a_new_crate_must_enter_the_table() {
        assert!(objection("utils", "object", false).is_some_and(|reason| reason.contains("table")));
    }

    #[test]
    fn the_table_has_no_cycle() {
        let position = |name: &str| ALLOWED.iter().position(|(other, _)| *other == name);
        for (from, allowed) in ALLOWED {
            for to in *allowed {
                assert!(position(to) < position(from), "{from} sees {to}, which comes later");
            }
        }
    }

    #[test]
    fn only_system_goes_without_the_lints() {
        assert!(missing_lints("object", "Cargo.toml", "[package]").is_some());
        assert!(missing_lints("system", "Cargo.toml", "[package]").is_none());
        assert!(missing_lints("object", "Cargo.toml", "[lints]\nworkspace = true\n").is_none());
    }

    #[test]
    fn a_pure_crate_without_bans_is_found() {
        assert_eq!(missing_bans("clippy.toml", "").len(), BANNED.len());
    }
}
