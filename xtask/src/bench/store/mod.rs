//! `cargo xtask bench store`: the store and the living image against a raw append with a flush, SQLite, LMDB, redb and fjall.
//! The peers are built in a workspace of their own, `bench/store`, which takes the samples; medians, ratios and bars are
//! made here: of the store in `stored.rs`, of the image in `living.rs`.

mod living;
mod stored;

use super::report::Report;
use super::statistics::median;
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PARTS: [&str; 11] = [
    "commits",
    "recovery",
    "checkpoint",
    "reads",
    "heap",
    "opening",
    "clients",
    "rollback",
    "touch",
    "worlds",
    "sizes",
];

#[derive(clap::Args)]
pub struct Options {
    /// How often everything is run
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Also write the report, with every sample, to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// Only this part
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(PARTS))]
    only: Option<String>,
    /// Make an image there, of about `--bytes`, and measure nothing
    #[arg(long)]
    make_image: Option<PathBuf>,
    /// Size of the image that is made; the large one has ten times as much
    #[arg(long, default_value_t = 1_000_000_000)]
    bytes: u64,
    /// Use this image, made before, instead of making one
    #[arg(long)]
    image: Option<PathBuf>,
    /// Use this large image, made before, instead of making one
    #[arg(long)]
    large_image: Option<PathBuf>,
    /// Where everything is made; else where temporary files are
    #[arg(long)]
    directory: Option<PathBuf>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let program = build(workspace)?;
    if let Some(path) = &options.make_image {
        let mut command = Command::new(program);
        command.arg("--make-image").arg(path).args(["--bytes", &options.bytes.to_string()]);
        return workspace::run(&mut command);
    }
    let samples = take_samples(workspace, &program, options)?;
    let mut report = Report::new("store", options.rounds as usize, BTreeMap::new());
    println!("{}", report.machine);
    stored::report(&samples, &mut report)?;
    living::report(&samples, &mut report)?;
    report.finish(options.json.as_deref())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let manifest = workspace.root.join("bench").join("store").join("Cargo.toml");
    let target = workspace.target.join("bench-store");
    let mut command = workspace.cargo(["build", "--quiet", "--release", "--manifest-path"]);
    workspace::run(command.arg(manifest).arg("--target-dir").arg(&target))?;
    Ok(target.join("release").join("bench-store"))
}

fn take_samples(workspace: &Workspace, program: &Path, options: &Options) -> Result<Value> {
    let mut command = Command::new(program);
    command.args(["--rounds", &options.rounds.to_string(), "--bytes", &options.bytes.to_string()]);
    command.arg("--telos").arg(workspace.build_telos(None)?);
    command.arg("--programs").arg(workspace.root.join("bench").join("language"));
    let paths =
        [("--image", &options.image), ("--large-image", &options.large_image), ("--directory", &options.directory)];
    for (name, path) in paths.iter().filter_map(|(name, path)| Some((name, path.as_ref()?))) {
        command.arg(name).arg(path);
    }
    if let Some(part) = &options.only {
        command.args(["--only", part]);
    }
    let output = command.stderr(Stdio::inherit()).output().context("cannot start the benchmark")?;
    ensure!(output.status.success(), "the benchmark failed ({})", output.status);
    let text = String::from_utf8(output.stdout)?;
    let last = text.lines().last().context("the benchmark printed nothing")?;
    serde_json::from_str(last).context("cannot read the output of the benchmark")
}

/// The samples under a name.
fn numbers(value: &Value) -> Result<Vec<f64>> {
    let numbers = value.as_array().context("samples are missing")?;
    Ok(numbers.iter().filter_map(Value::as_f64).collect())
}

/// A single number under a name.
fn number(value: &Value) -> Result<f64> {
    value.as_f64().context("a number is missing")
}

fn median_of(value: &Value) -> Result<f64> {
    Ok(median(&numbers(value)?).value)
}
