//! `cargo xtask fuzz`: seeded generator loops on the stable toolchain. A target is an example `fuzz_<name>` of the crate that
//! it is about; it takes `--seconds` and `--seed` and fails with a message that names the seed of the case.

use crate::workspace::{self, Workspace};
use anyhow::{Result, ensure};

/// Every target; the gate runs a sample of each.
pub const TARGETS: &[&str] = &["syntax", "vm", "journal", "agent"];

fn package_of(target: &str) -> &'static str {
    if matches!(target, "journal" | "agent") { "dream" } else { "language" }
}

#[derive(clap::Args)]
pub struct Options {
    /// Which target: syntax, vm, journal or agent
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(TARGETS))]
    name: String,
    /// How long to run
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// At most so many cases
    #[arg(long, default_value_t = u64::MAX)]
    cases: u64,
    /// Where the generator starts
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    fuzz(workspace, &options.name, options.seconds, options.cases, options.seed)
}

pub fn fuzz(workspace: &Workspace, target: &str, seconds: u64, cases: u64, seed: u64) -> Result<()> {
    let package = package_of(target);
    let source = format!("crates/{package}/examples/fuzz_{target}.rs");
    ensure!(workspace.root.join(&source).is_file(), "fuzz target {target} has no {source}");
    println!("fuzz {target}: {seconds} s from seed {seed}");
    let mut command = workspace.cargo(["run", "--quiet", "--profile", "gate", "--package", package]);
    command.args(["--example", &format!("fuzz_{target}"), "--"]);
    let [seconds, cases, seed] = [seconds, cases, seed].map(|number| number.to_string());
    command.args(["--seconds", &seconds, "--cases", &cases, "--seed", &seed]);
    workspace::run(&mut command)
}
