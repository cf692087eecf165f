//! `cargo xtask bench dream`: what dreams cost, beside a bare fork, the same walls made by hand, and bwrap, by the program in
//! `bench/dream`. Promises and last values are in `SPECIFICATION.md`.

use super::report::{Bar, Comparison, Figure, Report};
use super::statistics::{median, median_ratio};
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Of the same walls made by hand.
const BEGIN_BAR: f64 = 2.0;
/// Of a large image, to a small one.
const LARGE_BAR: f64 = 1.5;
/// Of the last of a hundred, to the first.
const CROWD_BAR: f64 = 2.0;
/// Of a bare fork.
const PAUSE_BAR: f64 = 5.0;
const IDLE_BAR_BYTES: f64 = 1_048_576.0;
const MANY_BAR: f64 = 1000.0;
/// Of bwrap's runs of `true`.
const RATE_BAR: f64 = 1.0;
const WORLDS_BAR: f64 = 100_000.0;
/// Of the same without dreams.
const LIVE_BAR: f64 = 3.0;
const FAILURES_BAR: f64 = 0.0;
/// Of two forks and the tests that a cycle cannot do without.
const CYCLE_BAR: f64 = 3.0;
/// Of the same without merges, and so many merges.
const MERGING_BAR: f64 = 2.0;
const MERGES_BAR: f64 = 100.0;
const PARTS: [&str; 10] = ["begin", "pause", "idle", "many", "rate", "worlds", "live", "merge", "cycle", "merging"];
/// How many of the first and of the last of a crowd count: one alone says nothing.
const FEW: usize = 5;

#[derive(clap::Args)]
pub struct Options {
    /// How often the parts are run that measure for a while
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How often those that measure one thing after the other
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// How long each contender runs in each round
    #[arg(long, default_value_t = 2000)]
    milliseconds: u32,
    /// Size of the large image
    #[arg(long, default_value_t = 1_000_000_000)]
    bytes: u64,
    /// How many dreams are alive at once in the part many
    #[arg(long, default_value_t = 1000)]
    many: u32,
    /// Also write the report, with every sample, to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// Only this part
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(PARTS))]
    only: Option<String>,
    /// Use this large image, made by `bench store --make-image`, instead of making one
    #[arg(long)]
    large_image: Option<PathBuf>,
    /// Measure this program in place of the one built here
    #[arg(long, value_name = "TELOS")]
    telos: Option<PathBuf>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    workspace::require("bwrap", "bubblewrap")?;
    let samples = take_samples(workspace, options)?;
    let mut report = Report::new("dream", options.rounds as usize, BTreeMap::new());
    println!("{}", report.machine);
    type Tell = fn(&Value, &mut Report) -> Result<()>;
    let parts: [Tell; 10] = [begin, pause, idle, many, rate, worlds, live, merge, cycle, merging];
    for (name, tell) in PARTS.into_iter().zip(parts) {
        if let Some(samples) = samples.get(name) {
            tell(samples, &mut report).with_context(|| format!("of the part {name}"))?;
        }
    }
    report.finish(options.json.as_deref())
}

fn take_samples(workspace: &Workspace, options: &Options) -> Result<Value> {
    let telos = match &options.telos {
        Some(telos) => telos.clone(),
        None => workspace.build_telos(None)?,
    };
    let target = workspace.target.join("bench-dream");
    let mut build = workspace.cargo(["build", "--quiet", "--release", "--manifest-path", "bench/dream/Cargo.toml"]);
    workspace::run(build.arg("--target-dir").arg(&target))?;
    let mut command = Command::new(target.join("release").join("bench-dream"));
    command.arg("--telos").arg(telos);
    for (name, number) in [
        ("--rounds", u64::from(options.rounds)),
        ("--samples", options.samples.into()),
        ("--milliseconds", options.milliseconds.into()),
        ("--bytes", options.bytes),
        ("--many", options.many.into()),
    ] {
        command.arg(name).arg(number.to_string());
    }
    if let Some(path) = &options.large_image {
        command.arg("--large-image").arg(path);
    }
    if let Some(part) = &options.only {
        command.args(["--only", part]);
    }
    let output = command.stderr(Stdio::inherit()).output().context("cannot start bench-dream")?;
    ensure!(output.status.success(), "bench-dream failed ({})", output.status);
    serde_json::from_slice(&output.stdout).context("bench-dream prints JSON")
}

fn begin(samples: &Value, report: &mut Report) -> Result<()> {
    let names = ["telos", "telos_large", "bare_fork", "namespaces", "walled", "bwrap"];
    let all = names.map(|name| numbers(&samples[name]));
    let all: Vec<Vec<f64>> = all.into_iter().collect::<Result<_>>()?;
    let comparison = Comparison::of("begin to first answer", "µs", names.map(String::from), all);
    print(&comparison);
    for (name, samples) in names.iter().zip(&comparison.series) {
        figure(report, &format!("begin: {name}, p99"), quantile(&samples.samples, 0.99), "µs");
    }
    let ours = &comparison.series[0];
    let walled = ours.median.value / comparison.series[4].median.value;
    report.bars.push(Bar::at_most("begin, of the same walls made by hand (medians)", walled, BEGIN_BAR));
    let size = comparison.series[1].median.value / ours.median.value;
    let bytes = number(&samples["large_bytes"])? / 1e6;
    report.bars.push(Bar::at_most(format!("begin, an image of {bytes:.0} MB to one of 13 MB"), size, LARGE_BAR));
    report.comparisons.push(comparison);
    crowds(samples["crowds"].as_array().context("no crowds")?, report)
}

/// A hundred dreams that stay, while live is written to.
fn crowds(crowds: &[Value], report: &mut Report) -> Result<()> {
    let (mut calm, mut first, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for crowd in crowds {
        let each = numbers(&crowd["each"])?;
        calm.extend(numbers(&crowd["calm"])?);
        first.extend(&each[..FEW.min(each.len())]);
        last.extend(&each[each.len().saturating_sub(FEW)..]);
    }
    let (calm, first, last) = (median(&calm).value, median(&first).value, median(&last).value);
    for (name, value) in [("before the writes", calm), ("the first five of 100", first), ("the last five of 100", last)]
    {
        figure(report, &format!("begin: {name}, p50"), value, "µs");
    }
    report.bars.push(Bar::at_most("begin, the 100th under writes to the first", last / first, CROWD_BAR));
    Ok(())
}

fn pause(samples: &Value, report: &mut Report) -> Result<()> {
    for (part, words) in [("fresh", "a small image"), ("read", "a large image of which 100,000 objects were read")] {
        let (ours, bare) = (numbers(&samples[part]["telos"])?, numbers(&samples[part]["bare_fork"])?);
        figure(
            report,
            &format!("pause, {part}: memory to copy"),
            number(&samples[part]["anonymous_bytes"])? / 1e6,
            "MB",
        );
        for (name, times) in [("telos", &ours), ("bare fork", &bare)] {
            figure(report, &format!("pause, {part}: {name}, p50"), median(times).value, "µs");
            figure(report, &format!("pause, {part}: {name}, p99"), quantile(times, 0.99), "µs");
        }
        let ratio = median(&ours).value / median(&bare).value;
        report.bars.push(Bar::at_most(format!("pause of {words}, of a bare fork (p50)"), ratio, PAUSE_BAR));
    }
    Ok(())
}

fn idle(samples: &Value, report: &mut Report) -> Result<()> {
    let (attendant, dreamer) =
        (median(&numbers(&samples["attendants"])?).value, median(&numbers(&samples["dreamers"])?).value);
    figure(report, "idle: private memory of an attendant", attendant / 1024.0, "KiB");
    figure(report, "idle: private memory of a dreamer", dreamer / 1024.0, "KiB");
    report.bars.push(Bar::at_most("private bytes of an idle dream", attendant + dreamer, IDLE_BAR_BYTES));
    Ok(())
}

fn many(samples: &Value, report: &mut Report) -> Result<()> {
    for (name, field, unit) in [
        ("many: until the last had written", "begun_s", "s"),
        ("many: until all were gone", "gone_s", "s"),
        ("many: bytes of the whole system, each", "system_bytes_each", "B"),
    ] {
        figure(report, name, number(&samples[field])?, unit);
    }
    report.bars.push(Bar::at_least("dreams alive at once", number(&samples["at_once"])?, MANY_BAR));
    report.bars.push(Bar::at_most("dreams of many that failed", number(&samples["failures"])?, FAILURES_BAR));
    Ok(())
}

fn rate(samples: &Value, report: &mut Report) -> Result<()> {
    let names = ["telos", "bwrap"];
    let all: Vec<Vec<f64>> = names.iter().map(|name| numbers(&samples[*name])).collect::<Result<_>>()?;
    let comparison = Comparison::of("dreams a second", "/s", names.map(String::from), all);
    print(&comparison);
    let ratio = comparison.series[1].our_ratio.value;
    report.bars.push(Bar::at_least("dreams a second, of bwrap's runs of true", ratio, RATE_BAR));
    for name in names {
        let failures = number(&samples["failures"][name])?;
        report.bars.push(Bar::at_most(format!("rate: failures of {name}"), failures, FAILURES_BAR));
    }
    report.comparisons.push(comparison);
    Ok(())
}

fn worlds(samples: &Value, report: &mut Report) -> Result<()> {
    let by_source = median(&numbers(&samples["source"])?).value;
    figure(report, "world dreams, of source that is parsed", by_source, "/s");
    let by_message = median(&numbers(&samples["message"])?).value;
    report.bars.push(Bar::at_least("world dreams a second of one core", by_message, WORLDS_BAR));
    Ok(())
}

fn live(samples: &Value, report: &mut Report) -> Result<()> {
    beside(samples, "dreams", LIVE_BAR, report)
}

/// What clients of live see while something else goes on, and while it does not.
fn beside(samples: &Value, what: &str, bar: f64, report: &mut Report) -> Result<()> {
    for part in ["with", "without"] {
        for field in ["p50", "p99"] {
            let value = median(&numbers(&samples[part][field])?).value;
            figure(report, &format!("live, {part} {what}: {field}"), value, "µs");
        }
        figure(report, &format!("live, {part} {what}: requests"), number(&samples[part]["requests"])?, "");
        let failures = number(&samples[part]["failures"])?;
        report.bars.push(Bar::at_most(format!("live, {part} {what}: requests that failed"), failures, FAILURES_BAR));
    }
    figure(report, &format!("live: {what} meanwhile"), number(&samples[what])?, "");
    let ratio = median_ratio(&numbers(&samples["with"]["p99"])?, &numbers(&samples["without"]["p99"])?);
    println!("\nlive, p99 with {what} to without: {ratio}");
    report.bars.push(Bar::at_most(format!("live, p99 with {what} to without"), ratio.value, bar));
    Ok(())
}

fn merge(samples: &Value, report: &mut Report) -> Result<()> {
    let names = ["large", "small"];
    let all: Vec<Vec<f64>> = names.iter().map(|name| numbers(&samples[*name])).collect::<Result<_>>()?;
    let comparison = Comparison::of("a merge, by the size of the image", "µs", names.map(String::from), all);
    print(&comparison);
    let [large, small] = ["large_bytes", "small_bytes"].map(|name| number(&samples[name]).map(|bytes| bytes / 1e6));
    let promise = format!("a merge into an image of {:.0} MB to one of {:.0} MB", large?, small?);
    report.bars.push(Bar::at_most(promise, comparison.series[1].our_ratio.value, LARGE_BAR));
    report.comparisons.push(comparison);
    Ok(())
}

fn cycle(samples: &Value, report: &mut Report) -> Result<()> {
    let names = ["cycle", "parts"];
    let all: Vec<Vec<f64>> = names.iter().map(|name| numbers(&samples[*name])).collect::<Result<_>>()?;
    let comparison = Comparison::of("a whole cycle, and its parts", "µs", names.map(String::from), all);
    print(&comparison);
    for (name, field) in [("two forks, sealed", "begins"), ("the tests in live", "tests")] {
        figure(report, &format!("cycle: {name}, p50"), median(&numbers(&samples[field])?).value, "µs");
    }
    let ratio = comparison.series[1].our_ratio.value;
    report.bars.push(Bar::at_most("a cycle, of two forks and the same tests in live", ratio, CYCLE_BAR));
    report.comparisons.push(comparison);
    Ok(())
}

fn merging(samples: &Value, report: &mut Report) -> Result<()> {
    beside(samples, "merges", MERGING_BAR, report)?;
    report.bars.push(Bar::at_least("merges while clients were served", number(&samples["merges"])?, MERGES_BAR));
    Ok(())
}

fn figure(report: &mut Report, name: &str, value: f64, unit: &'static str) {
    report.figures.push(Figure::new(name, value, unit));
}

fn print(comparison: &Comparison) {
    println!("\n{}: medians, and ours as a part of that with the 95 % interval\n", comparison.name);
    for series in &comparison.series {
        println!("  {:<12} {:>9.1} {} {}", series.name, series.median.value, comparison.unit, series.our_ratio);
    }
}

fn numbers(value: &Value) -> Result<Vec<f64>> {
    let numbers: Vec<f64> = value.as_array().context("samples are missing")?.iter().filter_map(Value::as_f64).collect();
    ensure!(!numbers.is_empty(), "there are no samples");
    Ok(numbers)
}

fn number(value: &Value) -> Result<f64> {
    value.as_f64().context("a number is missing")
}

fn quantile(samples: &[f64], part: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn held(tell: impl FnOnce(&mut Report) -> Result<()>) -> Vec<bool> {
        let mut report = Report::new("dream", 1, BTreeMap::new());
        tell(&mut report).unwrap();
        report.bars.iter().map(|bar| bar.held).collect()
    }

    #[test]
    fn the_last_of_a_crowd_are_compared_with_the_first() {
        let crowd = |last: f64| {
            let each = [[1.0; FEW], [last; FEW]].concat();
            json!({ "calm": [1.0], "each": each })
        };
        assert_eq!(held(|report| crowds(&[crowd(1.9)], report)), [true]);
        assert_eq!(held(|report| crowds(&[crowd(2.1)], report)), [false]);
    }

    #[test]
    fn a_dream_that_failed_fails_its_bar() {
        let samples = json!({ "at_once": 1000, "failures": 1, "begun_s": 1, "gone_s": 1, "system_bytes_each": 1 });
        assert_eq!(held(|report| many(&samples, report)), [true, false]);
        assert!(many(&json!({}), &mut Report::new("dream", 1, BTreeMap::new())).is_err());
    }

    #[test]
    fn a_cycle_and_merges_beside_live_have_their_bars() {
        let cycles = |ours: f64| json!({ "cycle": [ours], "parts": [10.0], "begins": [8.0], "tests": [2.0] });
        assert_eq!(held(|report| cycle(&cycles(29.0), report)), [true]);
        assert_eq!(held(|report| cycle(&cycles(31.0), report)), [false]);
        let slices = |p99: f64| json!({ "p50": [1.0], "p99": [p99], "requests": 1, "failures": 0 });
        let samples = json!({ "with": slices(2.1), "without": slices(1.0), "merges": 99 });
        assert_eq!(held(|report| merging(&samples, report)), [true, true, false, false]);
    }
}
