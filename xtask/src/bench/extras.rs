//! What `bench language` measures beside the eight programs: start-up, how a map put scales, memory of a long loop,
//! and what fuel accounting costs.

use super::language::{PROGRAMS, Runtimes};
use super::measure::{Contender, interleave};
use super::report::{Bar, Comparison, Figure, Report};
use super::statistics::{geometric_mean, median};
use crate::workspace::Workspace;
use anyhow::Result;
use std::path::Path;

pub const NAMES: [&str; 4] = ["startup", "map_scaling", "memory", "fuel"];

/// Start-ups are short: so many of them per round.
const STARTUPS_PER_ROUND: usize = 20;
/// A put into a map of a million may cost so many times a put into one of 100,000; the caches of the processor are
/// part of it, CPython's own growth stands beside it.
const PUT_GROWTH_BAR: f64 = 2.0;
/// How much more memory a hundredfold loop may use.
const LOOP_GROWTH_BYTES: f64 = 1024.0 * 1024.0;
const FUEL_BAR: f64 = 1.10;
/// The feature of the language crate that compiles fuel accounting out.
const NO_FUEL: &str = "no_fuel";

pub fn measure(
    workspace: &Workspace,
    runtimes: &Runtimes,
    is_wanted: impl Fn(&str) -> bool,
    report: &mut Report,
) -> Result<()> {
    if is_wanted("startup") {
        startup(runtimes, report)?;
    }
    if is_wanted("map_scaling") {
        map_scaling(runtimes, report)?;
    }
    if is_wanted("memory") {
        loop_memory(runtimes, report)?;
    }
    if is_wanted("fuel") {
        fuel(workspace, runtimes, report)?;
    }
    Ok(())
}

/// The whole standard library loaded and nothing done, against CPython without its site packages.
fn startup(runtimes: &Runtimes, report: &mut Report) -> Result<()> {
    let contenders = [
        Contender::new("telos", [runtimes.telos.as_os_str(), "eval".as_ref(), "nil".as_ref()]),
        Contender::new("python", [runtimes.python.as_os_str(), "-S".as_ref(), "-c".as_ref(), "pass".as_ref()]),
    ];
    let samples = interleave(&contenders, report.rounds * STARTUPS_PER_ROUND)?;
    let comparison = Comparison::of_cpu_seconds("startup", contenders.map(|contender| contender.name), samples);
    for series in &comparison.series {
        let milliseconds = series.median.value * 1000.0;
        report.figures.push(Figure::new(&format!("start-up, {}", series.name), milliseconds, "ms CPU"));
    }
    report.bars.push(Bar::at_most("start-up, telos / python -S", comparison.series[1].our_ratio.value, 1.0));
    report.comparisons.push(comparison);
    Ok(())
}

fn map_scaling(runtimes: &Runtimes, report: &mut Report) -> Result<()> {
    let source = |extension: &str| runtimes.programs.join("extra").join(format!("map_puts.{extension}"));
    let telos = |puts: u32| {
        let words = [runtimes.telos.clone(), "run".into(), source("io"), puts.to_string().into()];
        Contender::new("telos", words)
    };
    let python = |puts: u32| Contender::new("python", [runtimes.python.clone(), source("py"), puts.to_string().into()]);
    let ours = put_growth("telos", telos, report)?;
    put_growth("python", python, report)?;
    report.bars.push(Bar::at_most("map put at 1 M keys / at 100 k keys", ours, PUT_GROWTH_BAR));
    Ok(())
}

/// Nanoseconds of a put at both sizes, start-up taken off, and by how much it grows.
fn put_growth(name: &str, contender: impl Fn(u32) -> Contender, report: &mut Report) -> Result<f64> {
    const SIZES: [u32; 3] = [0, 100_000, 1_000_000];
    let samples = interleave(&SIZES.map(contender), report.rounds)?;
    let seconds: Vec<f64> = samples.iter().map(|samples| median(samples).value).collect();
    let put_ns = |index: usize| (seconds[index] - seconds[0]) * 1e9 / f64::from(SIZES[index]);
    let (small, large) = (put_ns(1), put_ns(2));
    report.figures.push(Figure::new(&format!("map put at 100 k keys, {name}"), small, "ns"));
    report.figures.push(Figure::new(&format!("map put at 1 M keys, {name}"), large, "ns"));
    Ok(large / small)
}

fn loop_memory(runtimes: &Runtimes, report: &mut Report) -> Result<()> {
    let source = runtimes.programs.join("extra").join("for_memory.io");
    let peak_bytes = |limit: &str| -> Result<f64> {
        let words = [runtimes.telos.as_path(), Path::new("run"), &source, Path::new(limit)];
        Ok(Contender::new("telos", words).run()?.peak_bytes as f64)
    };
    let (short, long) = (peak_bytes("100000")?, peak_bytes("10000000")?);
    report.figures.push(Figure::new("peak memory of `for` over 100 k", short / 1024.0, "KiB"));
    report.figures.push(Figure::new("peak memory of `for` over 10 M", long / 1024.0, "KiB"));
    report.bars.push(Bar::at_most("`for` over 10 M grows memory by (bytes)", long - short, LOOP_GROWTH_BYTES));
    Ok(())
}

/// The eight programs with and without fuel accounting.
fn fuel(workspace: &Workspace, runtimes: &Runtimes, report: &mut Report) -> Result<()> {
    let has_feature = workspace.package("language").is_some_and(|package| package.features.contains_key(NO_FUEL));
    if !has_feature {
        println!("fuel cost: not measured, the language crate has no feature {NO_FUEL}");
        return Ok(());
    }
    let without = workspace.build_telos(Some((NO_FUEL, &format!("language/{NO_FUEL}"))))?;
    let mut ratios = Vec::new();
    for program in PROGRAMS {
        let source = runtimes.programs.join(format!("{program}.io"));
        let contender = |name: &str, telos: &Path| Contender::new(name, [telos, Path::new("run"), &source]);
        let contenders = [contender("with fuel", &runtimes.telos), contender("without", &without)];
        let samples = interleave(&contenders, report.rounds)?;
        let comparison = Comparison::of_cpu_seconds(
            &format!("fuel, {program}"),
            contenders.map(|contender| contender.name),
            samples,
        );
        let ratio = comparison.series[1].our_ratio.value;
        report.figures.push(Figure::new(&format!("fuel cost, {program}"), ratio, "× without"));
        ratios.push(ratio);
        report.comparisons.push(comparison);
    }
    report.bars.push(Bar::at_most("fuel cost, geometric mean of eight", geometric_mean(&ratios), FUEL_BAR));
    Ok(())
}
