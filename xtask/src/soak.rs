//! `cargo xtask soak`: the long checks in full, part by part. Tests read their case counts from the environment
//! (`TELOS_CASES`, and `TELOS_SOAK=1` for whatever is not a count), so the same tests run in the gate as a sample.

use crate::gate::{Outcome, step, summarise};
use crate::workspace::{self, Workspace};
use crate::{bench, fuzz, gate, mutants};
use anyhow::{Result, ensure};

#[derive(clap::Args)]
pub struct Options {
    /// Only this part: a crate's name for its tests, fuzz, valgrind, lists or mutants
    #[arg(long)]
    only: Option<String>,
    /// How long the fuzz targets run, together
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// How many cases each property test draws
    #[arg(long, default_value_t = 100_000)]
    cases: u64,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Of the mutants only one part of several, such as 2/8
    #[arg(long)]
    shard: Option<String>,
}

/// Crates without long tests of what ships.
const WITHOUT_TESTS: &[&str] = &["xtask", "testkit"];

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    println!("soak: {} cases, {} minutes of fuzzing, seed {}", options.cases, options.minutes, options.seed);
    let crates = workspace.packages.iter().map(|package| package.name.as_str());
    let parts = crates.filter(|name| !WITHOUT_TESTS.contains(name)).chain(["fuzz", "valgrind", "lists", "mutants"]);
    let is_chosen = |part: &&str| options.only.as_deref().is_none_or(|only| only == *part);
    let outcomes: Vec<Outcome> = parts.filter(is_chosen).map(|part| run_part(workspace, options, part)).collect();
    ensure!(
        !outcomes.is_empty(),
        "there is no part of that name: take a crate's name, fuzz, valgrind, lists or mutants"
    );
    summarise(&outcomes)
}

fn run_part(workspace: &Workspace, options: &Options, part: &str) -> Outcome {
    match part {
        "fuzz" => step(part, || fuzz_all(workspace, options)),
        "valgrind" => step(part, || memcheck(workspace)),
        "lists" => step(part, || bench::lists(workspace, options.cases).map(|()| "as in loro".into())),
        "mutants" => step(part, || mutants::run(workspace, options.shard.as_deref(), options.seed)),
        name => step(&format!("tests {name}"), || tests(workspace, options, name)),
    }
}

fn tests(workspace: &Workspace, options: &Options, package: &str) -> Result<String> {
    let mut command = workspace.cargo(["test", "--package", package, "--profile", "gate", "--no-fail-fast"]);
    command.env("TELOS_SOAK", "1");
    command.env("TELOS_CASES", options.cases.to_string()).env("TELOS_SEED", options.seed.to_string());
    gate::counted(&mut [command])
}

/// The targets in turn, each minute from another seed.
fn fuzz_all(workspace: &Workspace, options: &Options) -> Result<String> {
    let minutes = options.minutes.div_ceil(fuzz::TARGETS.len() as u64);
    for seed in (0..minutes).map(|minute| options.seed + minute) {
        for target in fuzz::TARGETS {
            fuzz::fuzz(workspace, target, 60, u64::MAX, seed)?;
        }
    }
    Ok(format!("{minutes} minutes of each target"))
}

/// The tour of the language under memcheck: reads of uninitialised or freed memory would come from our `unsafe`, or a dependency's.
fn memcheck(workspace: &Workspace) -> Result<String> {
    workspace::require("valgrind", "valgrind")?;
    let telos = workspace.build_telos(None)?;
    let mut command = std::process::Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99"]).arg(telos).args(["demo", "language"]);
    workspace::run(command.stdout(std::process::Stdio::null())).map(|()| String::new())
}
