//! `cargo xtask soak`: the long checks in full. Tests read their case counts from the environment (`TELOS_CASES`, and
//! `TELOS_SOAK=1` for whatever is not a count), so the same tests run in the gate as a sample.

use crate::fuzz;
use crate::workspace::{self, Workspace};
use anyhow::{Result, ensure};

#[derive(clap::Args)]
pub struct Options {
    /// How long the fuzz targets run, together
    #[arg(long, default_value_t = 60)]
    minutes: u64,
    /// How many cases each property test draws
    #[arg(long, default_value_t = 100_000)]
    cases: u64,
    /// Seed of everything that is drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    println!("soak: {} cases, {} minutes of fuzzing, seed {}", options.cases, options.minutes, options.seed);
    let stages = [
        ("tests", tests(workspace, options)),
        ("fuzz", fuzz_all(workspace, options)),
        ("valgrind", memcheck(workspace)),
    ];
    let mut failed = Vec::new();
    for (stage, result) in stages {
        println!("{stage:<10} {}", result.as_ref().map_or_else(|error| format!("FAILED: {error:#}"), |()| "ok".into()));
        failed.extend(result.is_err().then_some(stage));
    }
    ensure!(failed.is_empty(), "soak failed: {}", failed.join(", "));
    Ok(())
}

fn tests(workspace: &Workspace, options: &Options) -> Result<()> {
    let mut command =
        workspace.cargo(["test", "--workspace", "--exclude", "xtask", "--profile", "gate", "--no-fail-fast"]);
    command.env("TELOS_SOAK", "1");
    command.env("TELOS_CASES", options.cases.to_string()).env("TELOS_SEED", options.seed.to_string());
    workspace::run(&mut command)
}

/// The targets in turn, each minute from another seed.
fn fuzz_all(workspace: &Workspace, options: &Options) -> Result<()> {
    let minutes = options.minutes.div_ceil(fuzz::TARGETS.len() as u64);
    for seed in (0..minutes).map(|minute| options.seed + minute) {
        for target in fuzz::TARGETS {
            fuzz::fuzz(workspace, target, 60, u64::MAX, seed)?;
        }
    }
    Ok(())
}

/// The demo under memcheck: reads of uninitialised or freed memory would come from our `unsafe`, or a dependency's.
fn memcheck(workspace: &Workspace) -> Result<()> {
    workspace::require("valgrind", "valgrind")?;
    let telos = workspace.build_telos(None)?;
    let mut command = std::process::Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99"]).arg(telos).arg("demo");
    workspace::run(command.stdout(std::process::Stdio::null()))
}
