//! Mutation testing of `merge`: cargo-mutants changes the kernel in one place after the other, and its own tests must notice.
//! What they cannot notice stands in `crates/merge/mutants.txt` with the reason; any other survivor fails.

use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::path::Path;

/// Cases of each property. Enough for all that the tests can notice to be noticed, few enough for a thousand runs.
const CASES: u32 = 192;
/// Seconds after which a test that a mutant sent round in circles is ended. It took a few.
const TIMEOUT: &str = "90";

const EXPLAINED: &str = "crates/merge/mutants.txt";

/// `shard` is one part of several, as `2/8`.
pub fn run(workspace: &Workspace, shard: Option<&str>, seed: u64) -> Result<String> {
    ensure!(
        workspace.cargo(["mutants", "--version"]).output().is_ok_and(|output| output.status.success()),
        "cargo-mutants is missing: install it with `cargo install cargo-mutants --locked`"
    );
    let output = workspace.target.join("mutants");
    std::fs::create_dir_all(&output).with_context(|| format!("cannot make {}", output.display()))?;
    let mut command = workspace.cargo(["mutants", "--package", "merge", "--test-package", "merge", "--no-shuffle"]);
    command.args(["--timeout", TIMEOUT, "--cap-lints", "true", "--colors", "never", "--no-times", "--output"]);
    command.arg(&output).args(shard.iter().flat_map(|shard| ["--shard", shard]));
    command.env("TELOS_CASES", CASES.to_string()).env("TELOS_SEED", seed.to_string());
    let status = command.status().context("cannot start cargo mutants")?;
    // 2 and 3 say that mutants were missed or ran too long, which is looked at below.
    ensure!(matches!(status.code(), Some(0 | 2 | 3)), "{} failed ({status})", workspace::describe(&command));
    let read = |name: &str| mutants(&output.join("mutants.out").join(name));
    let (caught, missed, late) = (read("caught.txt")?, read("missed.txt")?, read("timeout.txt")?);
    let explained = explained(&workspace.root.join(EXPLAINED))?;
    let unexplained = unexplained(&missed, &explained);
    ensure!(unexplained.is_empty(), "nobody noticed:\n{}", unexplained.join("\n"));
    Ok(format!("{} caught, {} timed out, {} explained", caught.len(), late.len(), missed.len()))
}

/// What cargo-mutants wrote into a list, one mutant a line.
fn mutants(list: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Mutants by file and what was changed, each with how many of them there are: lines move, and are not named.
fn explained(list: &Path) -> Result<BTreeMap<String, usize>> {
    let text = std::fs::read_to_string(list).with_context(|| format!("cannot read {}", list.display()))?;
    let mut explained = BTreeMap::new();
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        let has_reason = lines.peek().is_some_and(|next| next.starts_with("    "));
        ensure!(has_reason, "{}: no reason follows `{line}`", list.display());
        while lines.next_if(|next| next.starts_with("    ")).is_some() {}
        *explained.entry(line.to_owned()).or_insert(0) += 1;
    }
    Ok(explained)
}

fn unexplained(missed: &[String], explained: &BTreeMap<String, usize>) -> Vec<String> {
    let mut left = explained.clone();
    let mut unexplained = Vec::new();
    for mutant in missed {
        match left.get_mut(&name(mutant)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => unexplained.push(mutant.clone()),
        }
    }
    unexplained
}

/// `crates/merge/src/line.rs:7:9: replace …` without the directory and where in the file it is.
fn name(mutant: &str) -> String {
    let (place, change) = mutant.split_once(": ").unwrap_or(("", mutant));
    let file = place.split(':').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    format!("{file}: {change}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survivor_is_known_by_its_file_and_what_was_changed() {
        let explained = BTreeMap::from([("line.rs: replace < with <= in Sequence::split".to_owned(), 1)]);
        let missed =
            ["3:5", "9:1"].map(|at| format!("crates/merge/src/line.rs:{at}: replace < with <= in Sequence::split"));
        assert_eq!(unexplained(&missed[..1], &explained), [""; 0]);
        assert_eq!(unexplained(&missed, &explained), missed[1..]);
    }
}
