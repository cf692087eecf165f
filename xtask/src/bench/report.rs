//! What a benchmark hands out: comparisons, single figures and bars; as JSON, and as a verdict.

use super::statistics::{Median, median, median_ratio};
use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Serialize)]
pub struct Report {
    pub benchmark: &'static str,
    pub machine: String,
    pub versions: BTreeMap<String, String>,
    pub rounds: usize,
    pub comparisons: Vec<Comparison>,
    pub figures: Vec<Figure>,
    pub bars: Vec<Bar>,
}

/// The same work done by several contenders; the first is ours.
#[derive(Serialize)]
pub struct Comparison {
    pub name: String,
    pub unit: &'static str,
    pub series: Vec<Series>,
}

#[derive(Serialize)]
pub struct Series {
    pub name: String,
    /// One per round, in the comparison's unit.
    pub samples: Vec<f64>,
    pub median: Median,
    /// Our value as a part of this contender's; 1 for ourselves.
    pub our_ratio: Median,
}

/// A number worth knowing that no bar hangs on.
#[derive(Serialize)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: &'static str,
}

/// A promise, and whether it holds.
#[derive(Serialize)]
pub struct Bar {
    pub promise: String,
    pub measured: f64,
    pub limit: f64,
    pub held: bool,
}

impl Comparison {
    pub fn of_cpu_seconds(name: &str, names: impl IntoIterator<Item = String>, samples: Vec<Vec<f64>>) -> Comparison {
        Comparison::of(name, "CPU seconds", names, samples)
    }

    pub fn of(
        name: &str,
        unit: &'static str,
        names: impl IntoIterator<Item = String>,
        samples: Vec<Vec<f64>>,
    ) -> Comparison {
        let ours = samples[0].clone();
        let series = names.into_iter().zip(samples).map(|(name, samples)| Series {
            name,
            median: median(&samples),
            our_ratio: median_ratio(&ours, &samples),
            samples,
        });
        Comparison { name: name.into(), unit, series: series.collect() }
    }
}

impl Figure {
    pub fn new(name: &str, value: f64, unit: &'static str) -> Figure {
        Figure { name: name.into(), value, unit }
    }
}

impl Bar {
    pub fn at_most(promise: impl Into<String>, measured: f64, limit: f64) -> Bar {
        Bar { promise: promise.into(), measured, limit, held: measured <= limit }
    }

    pub fn at_least(promise: impl Into<String>, measured: f64, limit: f64) -> Bar {
        Bar { promise: promise.into(), measured, limit, held: measured >= limit }
    }
}

impl Report {
    pub fn new(benchmark: &'static str, rounds: usize, versions: BTreeMap<String, String>) -> Report {
        Report {
            benchmark,
            machine: machine(),
            versions,
            rounds,
            comparisons: Vec::new(),
            figures: Vec::new(),
            bars: Vec::new(),
        }
    }

    /// Prints figures and bars, writes the JSON, and fails if a bar is not held.
    pub fn finish(&self, json: Option<&Path>) -> Result<()> {
        for Figure { name, value, unit } in &self.figures {
            println!("{name:<48} {value:>10.3} {unit}");
        }
        println!();
        for Bar { promise, measured, limit, held } in &self.bars {
            let word = if *held { "held" } else { "MISSED" };
            println!("{word:<7} {promise}: {measured:.3} (bar {limit})");
        }
        if let Some(path) = json {
            let text = serde_json::to_string_pretty(self)?;
            std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?;
        }
        let missed = self.bars.iter().filter(|bar| !bar.held).count();
        ensure!(missed == 0, "{missed} of {} bars missed", self.bars.len());
        Ok(())
    }
}

/// Processor, number of cores and kernel, as far as the host tells.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let information = read("/proc/cpuinfo");
    let model = information.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{}, {cores} cores, kernel {}", model.unwrap_or("unknown processor"), kernel.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_holds_our_ratio_to_each() {
        let names = ["telos", "python"].map(String::from);
        let comparison = Comparison::of_cpu_seconds("fib", names, vec![vec![1.0, 1.0], vec![2.0, 4.0]]);
        assert_eq!(comparison.series[0].our_ratio.value, 1.0);
        assert_eq!(comparison.series[1].our_ratio.value, 0.375);
    }

    #[test]
    fn a_missed_bar_fails_the_run() {
        let mut report = Report::new("test", 1, BTreeMap::new());
        report.bars.push(Bar::at_most("ratio", 0.5, 0.8));
        report.bars.push(Bar::at_least("programs ahead", 5.0, 5.0));
        assert!(report.finish(None).is_ok());
        report.bars.push(Bar::at_most("ratio", 0.81, 0.8));
        assert!(report.finish(None).is_err());
    }
}
