//! `cargo xtask bench merge`: the merge kernel against automerge, loro and yrs, by the program in `bench/merge`, which is a
//! workspace of its own so that the product never compiles the peers. Promises and last values are in `SPECIFICATION.md`.

use super::report::{Bar, Comparison, Report};
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Ours first.
const ENTRANTS: [&str; 4] = ["telos", "automerge", "loro", "yrs"];
const LISTS: &str = "lists";
const PARTS: [&str; 4] = [LISTS, "sets", "few", "many"];
/// No bar hangs on it: nobody forks telos so.
const COPY: &str = "fork with a copy of all objects";
/// What the program measures, in the order in which it prints it.
const ROWS: [(&str, &str); 8] = [
    ("100 k sets", "ms CPU"),
    ("100 k sets beside an open fork", "ms CPU"),
    ("fork", "ms CPU"),
    (COPY, "ms CPU"),
    ("merge of 1 k concurrent changes", "ms CPU"),
    ("merge of 100 k concurrent changes", "ms CPU"),
    ("bytes a change, of 1 k", "bytes"),
    ("bytes a change, of 100 k", "bytes"),
];
const MERGE_OF_MANY: &str = ROWS[5].0;
const BYTES_BAR: f64 = 8.0;
const CHANGES_PER_SECOND_BAR: f64 = 1e6;
const CHANGES: f64 = 100_000.0;

#[derive(clap::Args)]
pub struct Options {
    /// How often everything is run
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Also write the report, with every sample, to this file
    #[arg(long)]
    json: Option<PathBuf>,
    /// Only this part: lists against loro, sets, the merge of 1 k changes, or of 100 k
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(PARTS))]
    only: Option<String>,
}

pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if options.only.as_deref() == Some(LISTS) {
        return lists(workspace, 10_000);
    }
    let mut command = Command::new(build(workspace)?);
    command.args(["--rounds", &options.rounds.to_string()]);
    if let Some(part) = &options.only {
        command.args(["--only", part]);
    }
    let mut report = Report::new("merge", options.rounds as usize, versions(workspace)?);
    println!("{}", report.machine);
    println!("{:?}", report.versions);
    let output = command.stderr(Stdio::inherit()).output().context("cannot start bench-merge")?;
    ensure!(output.status.success(), "bench-merge failed ({})", output.status);
    let samples = read(&String::from_utf8(output.stdout)?, options.rounds as usize)?;
    compare(samples, &mut report);
    report.finish(options.json.as_deref())
}

/// Lists edited side by side come out as in loro, in so many scripts.
pub fn lists(workspace: &Workspace, scripts: u64) -> Result<()> {
    let mut command = Command::new(build(workspace)?);
    workspace::run(command.args(["--only", LISTS, "--scripts", &scripts.to_string()]))?;
    println!("lists are as in loro in {scripts} scripts");
    Ok(())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.target.join("bench-merge");
    let mut command = workspace.cargo(["build", "--quiet", "--release", "--manifest-path", "bench/merge/Cargo.toml"]);
    workspace::run(command.arg("--target-dir").arg(&target))?;
    Ok(target.join("release").join("bench-merge"))
}

/// Those of the peers, as the lock file of their workspace has them.
fn versions(workspace: &Workspace) -> Result<BTreeMap<String, String>> {
    let path = workspace.root.join("bench/merge/Cargo.lock");
    let lock = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let version = |name: &str| {
        let (_, behind) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
        Some((name.to_string(), behind.split('"').next()?.to_string()))
    };
    Ok(ENTRANTS[1..].iter().filter_map(|name| version(name)).collect())
}

/// For each row and entrant, the samples of all rounds.
fn read(output: &str, rounds: usize) -> Result<Vec<Vec<Vec<f64>>>> {
    let mut samples = vec![vec![Vec::with_capacity(rounds); ENTRANTS.len()]; ROWS.len()];
    for line in output.lines() {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let entrant = ENTRANTS.iter().position(|entrant| *entrant == name);
        let entrant = entrant.with_context(|| format!("bench-merge measured {name:?}, which nobody knows"))?;
        let values: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>()?;
        ensure!(values.len() == ROWS.len(), "bench-merge printed {} values, not {}", values.len(), ROWS.len());
        samples.iter_mut().zip(values).for_each(|(row, value)| row[entrant].push(value));
    }
    ensure!(samples.iter().flatten().all(|samples| samples.len() == rounds), "bench-merge missed a round");
    Ok(samples)
}

fn compare(samples: Vec<Vec<Vec<f64>>>, report: &mut Report) {
    println!("\nmedians of {} rounds; ratios telos / peer, round by round, with their 95 % interval\n", report.rounds);
    let is_measured = |samples: &Vec<Vec<f64>>| samples.iter().flatten().all(|value| value.is_finite());
    for ((name, unit), samples) in ROWS.into_iter().zip(samples).filter(|(_, samples)| is_measured(samples)) {
        let comparison = Comparison::of(name, unit, ENTRANTS.map(String::from), samples);
        println!("{name}");
        for series in &comparison.series {
            println!("  {:<10} {:>12.4} {unit:<6} {}", series.name, series.median.value, series.our_ratio);
        }
        for peer in comparison.series[1..].iter().filter(|_| name != COPY) {
            report.bars.push(Bar::at_most(format!("{name}, telos / {}", peer.name), peer.our_ratio.value, 1.0));
        }
        let ours = comparison.series[0].median.value;
        if name == MERGE_OF_MANY {
            let per_second = CHANGES / ours * 1000.0;
            report.bars.push(Bar::at_least("changes merged a second", per_second, CHANGES_PER_SECOND_BAR));
        }
        if unit == "bytes" {
            report.bars.push(Bar::at_most(name, ours, BYTES_BAR));
        }
        report.comparisons.push(comparison);
    }
}

#[cfg(test)]
mod tests {
    use super::{ENTRANTS, read};

    #[test]
    fn reads_what_the_program_prints() {
        let round: String = ENTRANTS.map(|name| format!("{name} 1 2 3 4 5 6 7 8\n")).concat();
        let samples = read(&round.repeat(2), 2).unwrap();
        assert_eq!(samples[3], vec![vec![4.0, 4.0]; 4]);
        assert!(read(&round, 2).is_err());
        assert!(read("telos 1 2 3\n", 1).is_err());
        assert!(read("other 1 2 3 4 5 6 7 8\n", 1).is_err());
    }
}
