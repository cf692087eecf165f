//! What the samples say of the store alone: commits against its peers, recovery, checkpoint and reads.

use super::super::report::{Bar, Comparison, Figure, Report};
use super::super::statistics::{Median, median_ratio};
use super::{median_of, number, numbers};
use anyhow::Result;
use serde_json::Value;

/// Ours first.
const CONTENDERS: [&str; 6] = ["telos", "raw", "sqlite", "lmdb", "redb", "fjall"];
const RAW_BAR: f64 = 1.3;
const SQLITE_RATE_BAR: f64 = 4.0;
const RECOVERY_BAR: f64 = 1e6;
const CHECKPOINT_BAR: f64 = 2.0;
const READS_BAR: f64 = 2.0;

pub fn report(samples: &Value, report: &mut Report) -> Result<()> {
    if let Some(commits) = samples.get("commits") {
        report_commits(commits, report)?;
    }
    report_image(samples, report)
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

/// Recovery, checkpoint and reads.
fn report_image(samples: &Value, report: &mut Report) -> Result<()> {
    if let Some(recovery) = samples.get("recovery") {
        let rate = median_of(&recovery["changes_per_second"])?;
        report.bars.push(Bar::at_least("changes replayed a second", rate, RECOVERY_BAR));
    }
    if let Some(checkpoint) = samples.get("checkpoint") {
        let of = |what: &str| numbers(&checkpoint[what]);
        let ratio = |part: &str| -> Result<f64> {
            Ok(median_ratio(&of(&format!("busy_{part}_us"))?, &of(&format!("quiet_{part}_us"))?).value)
        };
        report.bars.push(Bar::at_most("commit p99 beside a checkpoint / without", ratio("p99")?, CHECKPOINT_BAR));
        report.figures.push(Figure::new("commit p50 beside a checkpoint / without", ratio("p50")?, "×"));
        let alone = |what: &str| median_of(&checkpoint[what]);
        report.figures.push(Figure::new("checkpoint", alone("changes_per_second")?, "objects/s"));
        report.figures.push(Figure::new("checkpoint, bytes written a changed byte", alone("bytes_per_byte")?, "×"));
    }
    if let Some(reads) = samples.get("reads") {
        let ratio = median_ratio(&numbers(&reads["telos_s"])?, &numbers(&reads["lmdb_s"])?);
        report.bars.push(Bar::at_most("random reads, telos / bare LMDB", ratio.value, READS_BAR));
        let count = number(&reads["reads"])?;
        let each = median_of(&reads["telos_s"])? * 1e6 / count;
        report.figures.push(Figure::new("random read of an object", each, "µs"));
    }
    Ok(())
}
