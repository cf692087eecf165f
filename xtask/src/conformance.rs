//! `cargo xtask conformance`: Io's own correctness suite, run from a local copy of upstream that is never committed.
//! Runs the whole directory once, as upstream does, then each file alone, which shows where a failure lives.

use crate::workspace::Workspace;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// How many tests the whole suite has; fewer means that files were not loaded or tests not found.
const SUITE_TESTS: u32 = 243;
const SUITE_FILES: usize = 27;
const SUITE: &str = "libs/iovm/tests/correctness";

#[derive(clap::Args)]
pub struct Options {
    /// A local copy of upstream Io
    #[arg(long)]
    upstream: PathBuf,
    /// Only this file of the suite, such as ListTest.io, with its output
    #[arg(long)]
    file: Option<String>,
}

/// What the test runner printed at the end of one run.
#[derive(Debug, PartialEq, Default)]
struct Verdict {
    ran: u32,
    failed: Vec<String>,
    exit: Option<i32>,
}

impl Verdict {
    fn holds(&self) -> bool {
        self.ran > 0 && self.failed.is_empty() && self.exit == Some(0)
    }
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let suite = copy_suite(workspace, &options.upstream)?;
    let telos = workspace.build_telos(None)?;
    if let Some(file) = &options.file {
        let (verdict, output) = run_suite(&telos, &suite, Some(file))?;
        println!("{output}");
        ensure!(verdict.holds(), "{file}: {verdict:?}");
        return Ok(());
    }
    let files = test_files(&suite)?;
    println!("{:<30} {:>5} {:>7}", "file", "tests", "failed");
    let mut failing_files = Vec::new();
    let mut ran_alone = 0;
    for file in &files {
        let (verdict, _) = run_suite(&telos, &suite, Some(file))?;
        println!("{file:<30} {:>5} {:>7}", verdict.ran, note(&verdict));
        ran_alone += verdict.ran;
        failing_files.extend((!verdict.holds()).then_some(file.as_str()));
    }
    println!("{:<30} {ran_alone:>5}", "all files, each alone");
    let (whole, output) = run_suite(&telos, &suite, None)?;
    println!("{:<30} {:>5} {:>7}", "whole suite", whole.ran, note(&whole));
    if !whole.holds() {
        println!("{output}");
    }
    println!("{} of {SUITE_TESTS} passed", whole.ran.saturating_sub(whole.failed.len() as u32));
    ensure!(files.len() == SUITE_FILES, "the suite has {} files, expected {SUITE_FILES}", files.len());
    ensure!(whole.holds() && whole.ran == SUITE_TESTS, "the whole suite does not pass");
    ensure!(failing_files.is_empty(), "alone, these files fail: {}", failing_files.join(", "));
    Ok(())
}

fn note(verdict: &Verdict) -> String {
    match verdict.exit {
        Some(code) if code as usize == verdict.failed.len() && verdict.ran > 0 => code.to_string(),
        Some(code) => format!("{} (exit code {code})", verdict.failed.len()),
        None => format!("{} (killed by a signal)", verdict.failed.len()),
    }
}

/// Works on a copy, since some tests write beside themselves.
fn copy_suite(workspace: &Workspace, upstream: &Path) -> Result<PathBuf> {
    let source = upstream.join(SUITE);
    ensure!(source.join("run.io").is_file(), "{} holds no {SUITE}/run.io", upstream.display());
    let copy = workspace.target.join("conformance");
    if copy.exists() {
        std::fs::remove_dir_all(&copy)?;
    }
    copy_directory(&source, &copy).with_context(|| format!("cannot copy {}", source.display()))?;
    Ok(copy)
}

fn copy_directory(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn test_files(suite: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(suite)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        files.extend(name.ends_with("Test.io").then_some(name));
    }
    files.sort();
    Ok(files)
}

fn run_suite(telos: &Path, suite: &Path, file: Option<&str>) -> Result<(Verdict, String)> {
    let mut command = Command::new(telos);
    command.current_dir(suite).arg("run").arg(suite.join("run.io")).args(file);
    let output = command.output().with_context(|| format!("cannot start {}", telos.display()))?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let verdict = Verdict { exit: output.status.code(), ..read_verdict(&text) };
    Ok((verdict, text))
}

fn read_verdict(output: &str) -> Verdict {
    let mut verdict = Verdict::default();
    for line in output.lines() {
        if let Some(name) = line.strip_prefix("FAIL: ") {
            verdict.failed.push(name.trim().into());
        }
        if let Some(rest) = line.strip_prefix("Ran ") {
            verdict.ran = rest.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(verdict.ran);
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::{Verdict, read_verdict};

    #[test]
    fn reads_a_passing_run() {
        let output = "......\n\n-----\nRan 6 tests in 0.002s\n\nOK          AlignTest\n";
        assert_eq!(read_verdict(output), Verdict { ran: 6, failed: vec![], exit: None });
    }

    #[test]
    fn reads_a_failing_run() {
        let output =
            "..E\n=====\nFAIL: ListTest testAt\n-----\nException: x\n-----\nRan 3 tests in 0s\n\nFAILED (failures 1)";
        let verdict = Verdict { exit: Some(1), ..read_verdict(output) };
        assert_eq!((verdict.ran, verdict.failed.as_slice()), (3, ["ListTest testAt".to_string()].as_slice()));
        assert!(!verdict.holds());
    }

    #[test]
    fn a_run_without_tests_does_not_hold() {
        assert!(!Verdict { ran: 0, failed: vec![], exit: Some(0) }.holds());
    }
}
