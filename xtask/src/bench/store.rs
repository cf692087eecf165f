//! `cargo xtask bench store`: the store against a raw append with a flush, SQLite, LMDB, redb and fjall. The peers are built
//! in a workspace of their own, `bench/store`, which takes the samples; medians, ratios and bars are made here.

use super::report::{Bar, Comparison, Figure, Report};
use super::statistics::{Median, median, median_ratio};
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const PARTS: [&str; 4] = ["commits", "recovery", "checkpoint", "reads"];
/// Ours first.
const CONTENDERS: [&str; 6] = ["telos", "raw", "sqlite", "lmdb", "redb", "fjall"];
const RAW_BAR: f64 = 1.3;
const SQLITE_RATE_BAR: f64 = 4.0;
const RECOVERY_BAR: f64 = 1e6;
const CHECKPOINT_BAR: f64 = 2.0;
const READS_BAR: f64 = 2.0;

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
    /// Make a store there, of about `--bytes`, and measure nothing
    #[arg(long)]
    make_image: Option<PathBuf>,
    /// Size of the image that is read from, or made
    #[arg(long, default_value_t = 1 << 30)]
    bytes: u64,
    /// Read from this store, instead of making one
    #[arg(long)]
    image: Option<PathBuf>,
    /// Where the stores are made; else where temporary files are
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
    let samples = take_samples(&program, options)?;
    let mut report = Report::new("store", options.rounds as usize, BTreeMap::new());
    println!("{}", report.machine);
    if let Some(commits) = samples.get("commits") {
        report_commits(commits, &mut report)?;
    }
    report_image(&samples, &mut report)?;
    report.finish(options.json.as_deref())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let manifest = workspace.root.join("bench").join("store").join("Cargo.toml");
    let target = workspace.target.join("bench-store");
    let mut command = workspace.cargo(["build", "--quiet", "--release", "--manifest-path"]);
    workspace::run(command.arg(manifest).arg("--target-dir").arg(&target))?;
    Ok(target.join("release").join("bench-store"))
}

fn take_samples(program: &PathBuf, options: &Options) -> Result<Value> {
    let mut command = Command::new(program);
    command.args(["--rounds", &options.rounds.to_string(), "--bytes", &options.bytes.to_string()]);
    let paths = [("--image", &options.image), ("--directory", &options.directory)];
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

fn numbers(value: &Value) -> Result<Vec<f64>> {
    let numbers = value.as_array().context("samples are missing")?;
    Ok(numbers.iter().filter_map(Value::as_f64).collect())
}

fn report_commits(commits: &Value, report: &mut Report) -> Result<()> {
    println!("\nratios telos / peer of a durable commit of four puts of 150 bytes, with their 95 % interval\n");
    println!("{:<8} {:>10} {:<20} {:>12} {:>14}", "", "p50, µs", "telos / peer", "bytes", "commits/s, 16");
    let measured = |what: &'static str, unit| -> Result<Comparison> {
        let samples: Vec<Vec<f64>> =
            CONTENDERS.iter().map(|name| numbers(&commits[what][*name])).collect::<Result<_>>()?;
        Ok(Comparison::of(what, unit, CONTENDERS.map(String::from), samples))
    };
    let p50 = measured("p50_us", "µs")?;
    let bytes = measured("device_bytes", "bytes")?;
    let rates = measured("rate_16", "commits/s")?;
    for (index, name) in CONTENDERS.iter().enumerate() {
        let ratio: Median = p50.series[index].our_ratio;
        println!(
            "{name:<8} {:>10.1} {:<20} {:>12.0} {:>14.0}",
            p50.series[index].median.value,
            ratio.to_string(),
            bytes.series[index].median.value,
            rates.series[index].median.value,
        );
        if index == 0 {
            continue;
        }
        if *name == "raw" {
            report.bars.push(Bar::at_most("commit p50, telos / raw append", ratio.value, RAW_BAR));
            continue;
        }
        let slower = format!("commit p50, telos / {name}, low end of the interval");
        report.bars.push(Bar::at_most(slower, ratio.low, 1.0));
        let fewer = format!("device bytes a commit, telos / {name}");
        report.bars.push(Bar::at_most(fewer, bytes.series[index].our_ratio.value, 1.0));
        let bar = if *name == "sqlite" { SQLITE_RATE_BAR } else { 1.0 };
        let faster = format!("commits/s of 16 committers, telos / {name}");
        report.bars.push(Bar::at_least(faster, rates.series[index].our_ratio.value, bar));
    }
    println!();
    report.comparisons.extend([p50, bytes, rates, measured("p99_us", "µs")?]);
    Ok(())
}

fn report_image(samples: &Value, report: &mut Report) -> Result<()> {
    if let Some(recovery) = samples.get("recovery") {
        let rate = median(&numbers(&recovery["changes_per_second"])?).value;
        report.bars.push(Bar::at_least("changes replayed a second", rate, RECOVERY_BAR));
    }
    if let Some(checkpoint) = samples.get("checkpoint") {
        let of = |what: &str| numbers(&checkpoint[what]);
        let ratio = |part: &str| -> Result<f64> {
            Ok(median_ratio(&of(&format!("busy_{part}_us"))?, &of(&format!("quiet_{part}_us"))?).value)
        };
        report.bars.push(Bar::at_most("commit p99 beside a checkpoint / without", ratio("p99")?, CHECKPOINT_BAR));
        report.figures.push(Figure::new("commit p50 beside a checkpoint / without", ratio("p50")?, "×"));
        let scattered = checkpoint["scattered"].as_f64().context("the number of changes is missing")?;
        let (seconds, written) = (median(&of("seconds")?).value, median(&of("device_bytes")?).value);
        report.figures.push(Figure::new("checkpoint, beside commits", scattered / seconds, "objects/s"));
        report.figures.push(Figure::new("checkpoint, bytes written a changed byte", written / scattered / 150.0, "×"));
    }
    if let Some(reads) = samples.get("reads") {
        let ratio = median_ratio(&numbers(&reads["telos_s"])?, &numbers(&reads["lmdb_s"])?);
        report.bars.push(Bar::at_most("random reads, telos / bare LMDB", ratio.value, READS_BAR));
        let count = reads["reads"].as_f64().context("the number of reads is missing")?;
        let each = median(&numbers(&reads["telos_s"])?).value * 1e6 / count;
        report.figures.push(Figure::new("random read of an object", each, "µs"));
    }
    if let Some(opening) = samples.get("opening") {
        report.figures.push(Figure::new(
            "opening, to the first object",
            median(&numbers(&opening["telos_ms"])?).value,
            "ms",
        ));
    }
    Ok(())
}
