//! `telos status`: what an image that is up is doing.

use super::print;
use crate::options::ImageDirectory;
use clap::Args;
use keeper::Client;
use keeper::protocol::Status as Report;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  telos status --image garden
  telos status --json | jq .image        with TELOS_IMAGE=garden
  telos status > /dev/null && echo up";

/// Show what an image that is up is doing
///
/// The exit code is not zero if it is not up. The image answers while it is busy, too.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Status {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl Status {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let directory = self.directory.to_find()?;
        let status = Client::connect(&directory, concat!("telos status ", env!("CARGO_PKG_VERSION")))?.status()?;
        let text = if self.json { serde_json::to_string(&status)? + "\n" } else { rendered(&status) };
        print(&text)
    }
}

fn rendered(status: &Report) -> String {
    let up = Duration::from_secs(status.up_ms / 1000);
    let mut text = format!("{} is {}, for {}\n", status.directory, status.state, spoken(up));
    // Writing to a String never fails.
    let _ = writeln!(text, "  keeper    process {}, telos {}", status.keeper_pid, status.telos);
    let _ = writeln!(text, "  image     process {}", status.image_pid);
    let _ = writeln!(text, "  clients   {}", status.clients);
    let (waiting, ahead, answered) = (status.requests_waiting, status.requests_ahead, status.requests_answered);
    let _ = writeln!(text, "  requests  {waiting} waiting, {ahead} under way, {answered} answered");
    let (waiting, under_way, ended) = (status.runs_waiting, status.runs_under_way, status.runs_ended);
    let _ = writeln!(text, "  runs      {waiting} waiting, {under_way} under way, {ended} ended");
    if status.wrong_tokens > 0 {
        let _ = writeln!(text, "  tokens    {} wrong ones were shown", status.wrong_tokens);
    }
    if status.image.is_empty() {
        text.push_str("  the image process does not say what it is doing\n");
    }
    text.push_str(&table(status.image.iter()));
    text
}

/// Names and values, one a line.
pub fn table<'r>(rows: impl Iterator<Item = (&'r String, &'r serde_json::Value)> + Clone) -> String {
    let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0).max(8);
    rows.map(|(name, value)| format!("  {:width$}  {}\n", name.replace('_', " "), words(value))).collect()
}

/// A value without the marks of JSON.
fn words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Null => "-".to_string(),
        serde_json::Value::Bool(true) => "yes".to_string(),
        serde_json::Value::Bool(false) => "no".to_string(),
        serde_json::Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            fields
                .map(|(name, value)| format!("{} {}", name.replace('_', " "), words(value)))
                .collect::<Vec<_>>()
                .join(", ")
        }
        other => other.to_string(),
    }
}

pub fn spoken(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds} s"),
        (0, 0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (0, hours, minutes, _) => format!("{hours} h {minutes} min"),
        (days, hours, ..) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spoken_in_two_units() {
        let spoken = |seconds| spoken(Duration::from_secs(seconds));
        assert_eq!([5, 65, 3660, 90_000].map(spoken), ["5 s", "1 min 5 s", "1 h 1 min", "1 d 1 h"]);
    }
}
