//! The project's own commands: the gate, tidiness, benchmarks, conformance, fuzzing and soak.
//! Nothing here ships, and nothing that ships may depend on it.

mod bench;
mod conformance;
mod fuzz;
mod gate;
mod mutants;
mod soak;
mod tidy;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use workspace::Workspace;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Checks and measures telos")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The gate: formatting, lints, tidiness, all tests and a seeded sample of the long checks
    Test(gate::Options),
    /// The rules that the compiler does not check: crate graph, headers, sizes, links, forgotten files
    Tidy,
    /// Measure telos and its peers, interleaved in one run
    #[command(subcommand)]
    Bench(bench::Bench),
    /// Run Io's own test suite from a local copy of upstream
    Conformance(conformance::Options),
    /// Run one fuzz target for a while
    Fuzz(fuzz::Options),
    /// The long checks in full: every case count, long fuzzing, valgrind
    Soak(soak::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let workspace = Workspace::find()?;
    match command {
        Command::Test(options) => gate::run(&workspace, &options),
        Command::Tidy => tidy::run(&workspace),
        Command::Bench(bench) => bench::run(&workspace, &bench),
        Command::Conformance(options) => conformance::run(&workspace, &options),
        Command::Fuzz(options) => fuzz::run(&workspace, &options),
        Command::Soak(options) => soak::run(&workspace, &options),
    }
}
