//! `telos runs`: what was run in sandboxes.

use super::exec::tamed;
use super::print;
use crate::runs;
use clap::Args;
use jiff::{Timestamp, tz::TimeZone};
use serde_json::Value;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos runs
  telos runs -n 1000 --json | jq '.[] | select(.verdict == \"limited\")'";

/// Show what was run in sandboxes
///
/// One line each: when, how it ended, how long it took, the most memory, and what it was. The log is kept in
/// ~/.local/state/telos/runs, or below $XDG_STATE_HOME: the last three months, at most 64 MiB. Output and the values of
/// variables are not in it.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Runs {
    /// How many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    count: usize,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl Runs {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let runs = runs::newest(self.count)?;
        if self.json {
            return print(&format!("{}\n", Value::Array(runs)));
        }
        print(&runs.iter().map(line).collect::<String>())
    }
}

fn line(run: &Value) -> String {
    let time = run["at"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
    let when = time.map(|time| time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string());
    let taken = run["usage"]["time_ms"].as_f64().map(|time| format!("{time:.0} ms")).unwrap_or_default();
    let memory = run["usage"]["memory_bytes"].as_u64().map(|bytes| format!("{} MiB", bytes >> 20)).unwrap_or_default();
    let what = what(run) + &called(run);
    let line = format!("{:19}  {:16}  {taken:>9}  {memory:>9}  {what}", when.unwrap_or_default(), ended(run));
    // What was run may hold anything, and a log is read on terminals.
    String::from_utf8_lossy(&tamed(line.replace(['\n', '\r'], " ").as_bytes())).into_owned() + "\n"
}

fn ended(run: &Value) -> String {
    match run["verdict"].as_str().unwrap_or("?") {
        "exited" => format!("exit {}", run["exit_code"]),
        "signalled" => format!("signal {}", run["signal"]),
        "limited" => format!("out of {}", run["limit"].as_str().unwrap_or("?")),
        other => other.to_string(),
    }
}

/// Whom it called stands in the JSON.
fn called(run: &Value) -> String {
    let calls = run["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let count = calls.len() as u64 + run["calls_left_out"].as_u64().unwrap_or(0);
    match (count, calls.iter().filter(|call| call["fate"] == "refused").count()) {
        (0, _) => String::new(),
        (count, 0) => format!("  [{count} calls]"),
        (count, refused) => format!("  [{count} calls, {refused} refused]"),
    }
}

fn what(run: &Value) -> String {
    const SHOWN_CHARACTERS: usize = 80;
    let words = run["program"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words = words.collect::<Vec<_>>().join(" ");
    let words = match (run["language"].as_str(), run["code"]["file"].as_str(), run["error"].as_str()) {
        (_, _, Some(error)) if words.is_empty() => error.to_string(),
        (Some(language), Some(file), _) => format!("{language}: {file}"),
        (Some(language), None, _) => format!("{language}: {}", run["code"]["digest"].as_str().unwrap_or_default()),
        _ => words,
    };
    words.chars().take(SHOWN_CHARACTERS).collect()
}
