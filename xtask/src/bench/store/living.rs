//! What the samples say of the living image: what persistence costs a program, opening after a kill, clients of the socket,
//! rollback, first touches, worlds, and how checkpoint and latency go with size.

use super::super::report::{Bar, Comparison, Figure, Report};
use super::super::statistics::{geometric_mean, median, median_ratio};
use super::{median_of, number, numbers};
use anyhow::{Context, Result};
use serde_json::Value;

const HEAP_BAR: f64 = 1.15;
const OPENING_BAR: f64 = 5.0;
const OPENING_GROWTH_BAR: f64 = 1.5;
const RESIDENT_BAR: f64 = 64.0;
const SQLITE_RATE_BAR: f64 = 4.0;
const ROLLBACK_BAR: f64 = 1.0;
const TOUCH_BAR: f64 = 2.0;
/// Memory after a million worlds against memory after 100,000.
const WORLDS_BAR: f64 = 1.2;
const MIB: f64 = 1024.0 * 1024.0;

/// Makes figures and bars of the samples of one part.
type Part = fn(&Value, &mut Report) -> Result<()>;

pub fn report(samples: &Value, report: &mut Report) -> Result<()> {
    let parts: [(&str, Part); 7] = [
        ("heap", heap),
        ("opening", opening),
        ("clients", clients),
        ("rollback", rollback),
        ("touch", touch),
        ("worlds", worlds),
        ("sizes", sizes),
    ];
    for (name, part) in parts {
        if let Some(samples) = samples.get(name) {
            part(samples, report).with_context(|| format!("part {name}"))?;
        }
    }
    Ok(())
}

/// Each program as a transaction of an image, against a plain machine.
fn heap(programs: &Value, report: &mut Report) -> Result<()> {
    let mut ratios = Vec::new();
    println!(
        "\nCPU seconds in an image, commit included, and on a plain machine, with the 95 % interval of the ratio\n"
    );
    for (program, samples) in programs.as_object().context("there are no programs")? {
        let series = vec![numbers(&samples["image_s"])?, numbers(&samples["plain_s"])?];
        let comparison = Comparison::of_cpu_seconds(program, ["image", "plain"].map(String::from), series);
        let ratio = comparison.series[1].our_ratio;
        let [image, plain] = [0, 1].map(|index| comparison.series[index].median.value);
        let (commit, changes) = (median_of(&samples["commit_s"])?, median_of(&samples["changes"])?);
        println!("{program:<12} {image:>8.3} {plain:>8.3}  {ratio}  commit {commit:.3} s, {changes} changes");
        report.bars.push(Bar::at_most(format!("{program}, image / plain machine"), ratio.value, HEAP_BAR));
        ratios.push(ratio.value);
        report.comparisons.push(comparison);
    }
    println!();
    report.figures.push(Figure::new("image / plain machine, geometric mean", geometric_mean(&ratios), "×"));
    Ok(())
}

/// The ordinary image, then the large one.
fn opening(sizes: &Value, report: &mut Report) -> Result<()> {
    let sizes = sizes.as_array().context("there are no sizes")?;
    for size in sizes {
        let gigabytes = number(&size["bytes"])? / 1e9;
        let ratio = median_ratio(&numbers(&size["telos_ms"])?, &numbers(&size["lmdb_ms"])?);
        let of = |what: &str| format!("{what}, {gigabytes:.1} GB");
        report.figures.push(Figure::new(&of("opening to the first answer"), median_of(&size["telos_ms"])?, "ms"));
        report.figures.push(Figure::new(&of("bare LMDB in a process"), median_of(&size["lmdb_ms"])?, "ms"));
        let anonymous = median_of(&size["anonymous_bytes"])? / MIB;
        report.figures.push(Figure::new(&of("resident, without pages of files"), anonymous, "MiB"));
        report.bars.push(Bar::at_most(of("opening / bare LMDB in a process"), ratio.value, OPENING_BAR));
        let resident = median_of(&size["resident_bytes"])? / MIB;
        report.bars.push(Bar::at_most(of("resident MiB after the first answer"), resident, RESIDENT_BAR));
    }
    if let [small, large] = &sizes[..] {
        let growth = median_ratio(&numbers(&large["telos_ms"])?, &numbers(&small["telos_ms"])?).value;
        report.bars.push(Bar::at_most("opening, large image / ordinary one", growth, OPENING_GROWTH_BAR));
    }
    Ok(())
}

fn clients(rates: &Value, report: &mut Report) -> Result<()> {
    let ours = numbers(&rates["telos"])?;
    report.figures.push(Figure::new("16 clients through the socket", median(&ours).value, "commits/s"));
    for (name, theirs) in rates.as_object().context("there are no rates")? {
        if name == "telos" {
            continue;
        }
        let theirs = numbers(theirs)?;
        report.figures.push(Figure::new(&format!("16 threads of {name}"), median(&theirs).value, "commits/s"));
        let bar = if name == "sqlite" { SQLITE_RATE_BAR } else { 1.0 };
        let ratio = median_ratio(&ours, &theirs).value;
        report.bars.push(Bar::at_least(format!("16 clients through the socket, telos / {name}"), ratio, bar));
    }
    Ok(())
}

fn rollback(samples: &Value, report: &mut Report) -> Result<()> {
    let writes = number(&samples["writes"])?;
    let nanoseconds = |seconds: f64| seconds * 1e9 / writes;
    for (name, case) in samples["cases"].as_object().context("there are no cases")? {
        if name == "transaction" {
            let (kept, failed) = (median_of(&case["kept_s"])?, median_of(&case["failed_s"])?);
            report.figures.push(Figure::new("write in transaction(), kept", nanoseconds(kept), "ns"));
            report.figures.push(Figure::new("write in transaction(), taken back", nanoseconds(failed), "ns"));
            continue;
        }
        let (make, back) = (numbers(&case["make_s"])?, numbers(&case["back_s"])?);
        report.figures.push(Figure::new(&format!("write, {name}"), nanoseconds(median(&make).value), "ns"));
        report.figures.push(Figure::new(&format!("write taken back, {name}"), nanoseconds(median(&back).value), "ns"));
        let ratio = median_ratio(&back, &make).value;
        report.bars.push(Bar::at_most(format!("rollback / making, {name}"), ratio, ROLLBACK_BAR));
    }
    Ok(())
}

fn touch(samples: &Value, report: &mut Report) -> Result<()> {
    let ratio = median_ratio(&numbers(&samples["telos_s"])?, &numbers(&samples["lmdb_s"])?);
    report.bars.push(Bar::at_most("first touch of objects, image / bare LMDB", ratio.value, TOUCH_BAR));
    let microseconds = |seconds: f64| -> Result<f64> { Ok(seconds * 1e6 / number(&samples["reads"])?) };
    let ours = microseconds(median_of(&samples["telos_s"])?)?;
    report.figures.push(Figure::new("first touch of an object", ours, "µs"));
    let theirs = microseconds(median_of(&samples["lmdb_s"])?)?;
    report.figures.push(Figure::new("the same from bare LMDB", theirs, "µs"));
    Ok(())
}

fn worlds(samples: &Value, report: &mut Report) -> Result<()> {
    let (few, many) = (number(&samples["few_bytes"])?, number(&samples["many_bytes"])?);
    let count = number(&samples["worlds"])?;
    report.figures.push(Figure::new(&format!("resident after {count} worlds"), few / MIB, "MiB"));
    report.figures.push(Figure::new(&format!("resident after {} worlds", count * 10.0), many / MIB, "MiB"));
    report.bars.push(Bar::at_most("memory after ten times the worlds", many / few, WORLDS_BAR));
    Ok(())
}

/// No bar hangs on them: `docs/cost-model.md` predicts them.
fn sizes(sizes: &Value, report: &mut Report) -> Result<()> {
    for size in sizes.as_array().context("there are no sizes")? {
        let gigabytes = number(&size["bytes"])? / 1e9;
        let mut figure = |what: &str, value: f64, unit| {
            report.figures.push(Figure::new(&format!("{what}, {gigabytes:.1} GB"), value, unit));
        };
        figure("checkpoint", median_of(&size["changes_per_second"])?, "changes/s");
        figure("bytes written a changed byte", median_of(&size["bytes_per_byte"])?, "×");
        for (name, what) in [("quiet", "transaction"), ("busy", "transaction beside a checkpoint")] {
            figure(&format!("{what}, p50"), median_of(&size[format!("{name}_p50_us")])?, "µs");
            figure(&format!("{what}, p99"), median_of(&size[format!("{name}_p99_us")])?, "µs");
        }
    }
    Ok(())
}
