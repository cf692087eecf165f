//! `cargo xtask bench sandbox`: runs a second in sandboxes, ours and those of others, by the program in `bench/sandbox`.
//! Promises and last values are in `SPECIFICATION.md`.

use super::report::{Bar, Comparison, Figure, Report};
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Of bwrap's rate, with more walls than bwrap has.
const COLD_BAR: f64 = 1.1;
/// Of the rate of plain programs.
const BASH_BAR: f64 = 0.5;
const PYTHON_BAR: f64 = 3.0;
const ACCEPTED_BAR: f64 = 1.0;
const ALIVE_BAR: f64 = 1000.0;
const FAILURES_BAR: f64 = 0.0;
/// What others publish of their pools, on 32 processors: to be read beside ours, not compared with them.
const PUBLISHED: [(&str, f64); 2] = [("bash", 1121.0), ("python", 565.0)];
const PARTS: [&str; 2] = ["cold", "up"];
/// What they are called on the command line, and the Debian package they come from.
const PEERS: [(&str, &str); 3] = [("bwrap", "bubblewrap"), ("unshare", "util-linux"), ("runc", "runc")];

#[derive(clap::Args)]
pub struct Options {
    /// How often everything is run
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long each contender runs in each round
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// The same in the part up
    #[arg(long, default_value_t = 10.0)]
    up_seconds: f64,
    /// Also write the report, with every sample, to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// Only this part
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(PARTS))]
    only: Option<String>,
    /// A Python that has the package sandlock, to measure that too
    #[arg(long, value_name = "PYTHON")]
    sandlock: Option<PathBuf>,
    /// Measure this program in place of the one built here
    #[arg(long, value_name = "TELOS")]
    telos: Option<PathBuf>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    for (peer, package) in PEERS {
        workspace::require(peer, package)?;
    }
    if options.sandlock.is_none() {
        println!("sandlock is not measured: give a Python that has it with --sandlock");
    }
    let telos = match &options.telos {
        Some(telos) => telos.clone(),
        None => workspace.build_telos(None)?,
    };
    let mut command = Command::new(build(workspace)?);
    command.arg("--telos").arg(telos).args(["--rounds", &options.rounds.to_string()]);
    command.args(["--seconds", &options.seconds.to_string(), "--up-seconds", &options.up_seconds.to_string()]);
    if let Some(python) = &options.sandlock {
        command.arg("--sandlock").arg(python);
    }
    if let Some(part) = &options.only {
        command.args(["--only", part]);
    }
    let mut report = Report::new("sandbox", options.rounds as usize, versions());
    println!("{}", report.machine);
    println!("{:?}", report.versions);
    let output = command.stderr(Stdio::inherit()).output().context("cannot start bench-sandbox")?;
    ensure!(output.status.success(), "bench-sandbox failed ({})", output.status);
    let samples: Value = serde_json::from_slice(&output.stdout).context("bench-sandbox prints JSON")?;
    if let Some(rates) = samples.get("cold") {
        cold(rates, &mut report)?;
    }
    if let Some(samples) = samples.get("up") {
        up(samples, &mut report)?;
    }
    report.finish(options.json.as_deref())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.target.join("bench-sandbox");
    let mut command = workspace.cargo(["build", "--quiet", "--release", "--manifest-path", "bench/sandbox/Cargo.toml"]);
    workspace::run(command.arg("--target-dir").arg(&target))?;
    Ok(target.join("release").join("bench-sandbox"))
}

/// The first line of what each says of itself.
fn versions() -> BTreeMap<String, String> {
    let version = |name: &str| {
        let output = Command::new(name).arg("--version").output().ok()?;
        let line = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_string();
        Some((name.to_string(), line))
    };
    ["bash", "/usr/bin/python3", "bwrap", "unshare", "runc"].into_iter().filter_map(version).collect()
}

fn cold(samples: &Value, report: &mut Report) -> Result<()> {
    let comparison = comparison("bash -c true, cold", &samples["rates"])?;
    print(&comparison);
    let bwrap = comparison.series.iter().find(|series| series.name == "bwrap").context("bwrap was not measured")?;
    report.bars.push(Bar::at_least("cold runs a second, telos / bwrap", bwrap.our_ratio.value, COLD_BAR));
    report.bars.extend(failures("cold", &samples["failures"])?);
    report.comparisons.push(comparison);
    Ok(())
}

/// Runs through an image that is up: rates, a burst, and how many are alive at once.
fn up(samples: &Value, report: &mut Report) -> Result<()> {
    for (program, bar) in [("bash", BASH_BAR), ("python", PYTHON_BAR)] {
        let comparison = comparison(&format!("{program}, through an image that is up"), &samples["rates"][program])?;
        print(&comparison);
        let plain = comparison.series.iter().find(|series| series.name == "plain").context("nothing plain was run")?;
        report.bars.push(Bar::at_least(format!("{program} runs a second, up / plain"), plain.our_ratio.value, bar));
        report.comparisons.push(comparison);
    }
    println!();
    for (program, rate) in PUBLISHED {
        report.figures.push(Figure::new(&format!("{program}, published by others, 32 vCPU"), rate, "runs/s"));
    }
    let number = |part: &str, field: &str| {
        samples[part][field].as_f64().with_context(|| format!("{part} has no number called {field}"))
    };
    for (name, part, field, unit) in [
        ("burst of 1,000: under way when all were accepted", "burst", "under_way", "runs"),
        ("burst of 1,000: all ended", "burst", "ended_s", "s"),
        ("1,000 at once: until the last one ran", "alive", "taken_s", "s"),
    ] {
        report.figures.push(Figure::new(name, number(part, field)?, unit));
    }
    report.bars.push(Bar::at_most("burst of 1,000: seconds to accept", number("burst", "accepted_s")?, ACCEPTED_BAR));
    report.bars.extend(failures("up", &samples["rates"]["failures"])?);
    for (name, part) in [("burst of 1,000: runs that failed", "burst"), ("1,000 at once: runs that failed", "alive")] {
        report.bars.push(Bar::at_most(name, number(part, "failures")?, FAILURES_BAR));
    }
    report.bars.push(Bar::at_least("alive at once", number("alive", "at_once")?, ALIVE_BAR));
    Ok(())
}

/// A bar for each contender: a rate with runs in it that failed says nothing, whoever's it is.
fn failures(part: &str, counts: &Value) -> Result<Vec<Bar>> {
    let counts = counts.as_object().with_context(|| format!("{part} does not say how many runs failed"))?;
    let bar = |(name, count): (&String, &Value)| {
        let count = count.as_f64().with_context(|| format!("the failures of {name} are no number"))?;
        Ok(Bar::at_most(format!("{part}: runs of {name} that failed"), count, FAILURES_BAR))
    };
    counts.iter().map(bar).collect()
}

/// Ours first.
fn comparison(name: &str, rates: &Value) -> Result<Comparison> {
    let rates = rates.as_object().context("there are no rates")?;
    let names = rates.keys().filter(|name| *name != "telos").cloned();
    let names: Vec<String> = ["telos".to_string()].into_iter().chain(names).collect();
    let samples = names.iter().map(|name| {
        let numbers = rates.get(name).and_then(Value::as_array).with_context(|| format!("no rates of {name}"))?;
        Ok(numbers.iter().filter_map(Value::as_f64).collect())
    });
    let samples: Vec<Vec<f64>> = samples.collect::<Result<_>>()?;
    ensure!(samples.iter().all(|samples| !samples.is_empty()), "a contender has no samples");
    Ok(Comparison::of(name, "runs/s", names, samples))
}

fn print(comparison: &Comparison) {
    println!("\n{}: median runs a second, and ours as a part of that with the 95 % interval\n", comparison.name);
    for series in &comparison.series {
        println!("  {:<12} {:>9.1} {} {}", series.name, series.median.value, comparison.unit, series.our_ratio);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_failed_run_of_anybody_fails_its_bar() {
        let bars = failures("cold", &json!({ "telos": 0, "runc": 2 })).unwrap();
        let held: Vec<(&str, bool)> = bars.iter().map(|bar| (bar.promise.as_str(), bar.held)).collect();
        assert!(held.contains(&("cold: runs of telos that failed", true)), "{held:?}");
        assert!(held.contains(&("cold: runs of runc that failed", false)), "{held:?}");
        assert!(failures("cold", &Value::Null).is_err());
    }

    #[test]
    fn our_rate_is_compared_with_each() {
        let rates = json!({ "bwrap": [100.0, 200.0], "telos": [110.0, 220.0] });
        let comparison = comparison("cold", &rates).unwrap();
        assert_eq!(comparison.series[0].name, "telos");
        assert!((comparison.series[1].our_ratio.value - 1.1).abs() < 1e-9);
        assert!(super::comparison("cold", &json!({ "bwrap": [1.0] })).is_err());
    }
}
