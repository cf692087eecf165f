//! `cargo xtask test`: every check that a change must pass, in one command. Runs all steps, then names those that failed.

use crate::workspace::{self, Workspace};
use crate::{fuzz, tidy};
use anyhow::{Context, Result, bail, ensure};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Options {
    /// How long each fuzz target runs
    #[arg(long, default_value_t = 60)]
    fuzz_seconds: u64,
    /// Seed of the sampled checks; printed, so that a failure can be run again
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub struct Outcome {
    step: String,
    took: Duration,
    /// What there is to say about a step that passed.
    result: Result<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    require_tools()?;
    let mut outcomes = vec![
        step("format", || command(workspace.cargo(["fmt", "--all", "--", "--check"]))),
        step("clippy", || command(clippy(workspace))),
        step("tidy", || tidy::run(workspace).map(|()| String::new())),
        step("test", || tests(workspace, options.seed)),
    ];
    // Two at a time: each has one thread.
    for pair in fuzz::TARGETS.chunks(2) {
        outcomes.extend(std::thread::scope(|scope| {
            let sample = |target| step(&format!("fuzz {target}"), || fuzz_sample(workspace, target, options));
            let under_way: Vec<_> = pair.iter().map(|target| scope.spawn(move || sample(*target))).collect();
            let ended = under_way.into_iter().map(|each| each.join().expect("a step returns what went wrong"));
            ended.collect::<Vec<Outcome>>()
        }));
    }
    summarise(&outcomes).context("the gate is closed")
}

/// Installs the two components of the toolchain that the gate needs, or says how.
fn require_tools() -> Result<()> {
    for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        if workspace::is_installed(program) {
            continue;
        }
        let installed = Command::new("rustup").args(["component", "add", component]).status();
        if !installed.is_ok_and(|status| status.success()) {
            bail!("{program} is missing: `rustup component add {component}`, or install it with your Rust toolchain");
        }
    }
    Ok(())
}

fn clippy(workspace: &Workspace) -> Command {
    workspace.cargo(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn fuzz_sample(workspace: &Workspace, target: &str, options: &Options) -> Result<String> {
    fuzz::fuzz(workspace, target, options.fuzz_seconds, u64::MAX, options.seed)?;
    Ok(format!("seed {}", options.seed))
}

/// All tests: what ships in the optimised profile that keeps assertions and overflow checks, xtask as it is built already.
fn tests(workspace: &Workspace, seed: u64) -> Result<String> {
    let product = ["test", "--workspace", "--exclude", "xtask", "--profile", "gate", "--no-fail-fast"];
    let tools = ["test", "--package", "xtask"];
    let mut commands = [workspace.cargo(product), workspace.cargo(tools)];
    commands.iter_mut().for_each(|command| {
        command.env("TELOS_SEED", seed.to_string());
    });
    counted(&mut commands)
}

/// Runs `cargo test` commands, all of them, and says how many tests passed.
pub fn counted(commands: &mut [Command]) -> Result<String> {
    let mut tally = Tally::default();
    let mut succeeded = true;
    for command in commands {
        succeeded &= tally_tests(command, &mut tally)?;
    }
    ensure!(succeeded, "{tally}");
    ensure!(tally.passed > 0, "no test ran");
    Ok(tally.to_string())
}

/// Passes the output of `cargo test` on and counts; tells whether it succeeded.
fn tally_tests(command: &mut Command, tally: &mut Tally) -> Result<bool> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo test")?;
    let stdout = child.stdout.take().expect("the output was asked to be piped");
    for line in BufReader::new(stdout).lines() {
        let line = line.context("cannot read the output of cargo test")?;
        println!("{line}");
        tally.read(&line);
    }
    Ok(child.wait()?.success())
}

/// The sums over the result lines that each test binary prints.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    /// What the binaries that failed said last, for whoever reads only the end.
    reasons: Vec<String>,
    /// The last lines that were no test that passed.
    latest: VecDeque<String>,
}

/// Enough for the panics of some tests and their names.
const REASONS: usize = 40;

impl Tally {
    fn read(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ") else { return self.keep(line) };
        let count = |label: &str| {
            let words: Vec<&str> = result.split([' ', ';']).filter(|word| !word.is_empty()).collect();
            words.windows(2).find(|pair| pair[1] == label).and_then(|pair| pair[0].parse::<u64>().ok()).unwrap_or(0)
        };
        self.passed += count("passed");
        self.failed += count("failed");
        let said = self.latest.drain(..);
        if !result.starts_with("ok") {
            self.reasons.extend(said);
        }
    }

    fn keep(&mut self, line: &str) {
        if line.trim().is_empty() || line.ends_with("... ok") {
            return;
        }
        if self.latest.len() == REASONS {
            self.latest.pop_front();
        }
        self.latest.push_back(line.into());
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)?;
        self.reasons.iter().try_for_each(|line| write!(formatter, "\n    {line}"))
    }
}

fn command(mut command: Command) -> Result<String> {
    workspace::run(&mut command).map(|()| String::new())
}

/// Does one step of several, and says when it begins and what went wrong.
pub fn step(name: &str, work: impl FnOnce() -> Result<String>) -> Outcome {
    println!("\n━━ {name}");
    let start = Instant::now();
    let result = work();
    if let Err(error) = &result {
        eprintln!("{error:#}");
    }
    Outcome { step: name.into(), took: start.elapsed(), result }
}

/// Tells how all of them went; an error if one failed.
pub fn summarise(outcomes: &[Outcome]) -> Result<()> {
    println!("\n━━ summary");
    for Outcome { step, took, result } in outcomes {
        let (word, note) = match result {
            Ok(note) => ("ok", note.clone()),
            Err(error) => ("FAILED", format!("{error:#}")),
        };
        println!("{step:<14} {word:<7} {:>7.1} s  {note}", took.as_secs_f64());
    }
    let passed = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count();
    let failed: Vec<&str> =
        outcomes.iter().filter(|outcome| outcome.result.is_err()).map(|outcome| outcome.step.as_str()).collect();
    println!("{passed} steps passed, {} failed", failed.len());
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn the_tally_sums_over_test_binaries() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        tally.read("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s");
        tally.read("test parser::tests::result ... ok");
        assert_eq!(tally.to_string(), "15 passed, 2 failed");
    }

    #[test]
    fn what_a_failed_test_said_is_told_again_at_the_end() {
        let mut tally = Tally::default();
        tally.read("running 2 tests");
        tally.read("test result: ok. 2 passed; 0 failed");
        tally.read("test first ... ok");
        tally.read("test second ... FAILED");
        tally.read("second: it was dark");
        tally.read("test result: FAILED. 1 passed; 1 failed");
        assert_eq!(tally.to_string(), "3 passed, 1 failed\n    test second ... FAILED\n    second: it was dark");
    }
}
