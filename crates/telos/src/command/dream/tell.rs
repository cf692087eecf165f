//! `telos dream list` and `show`: what there is to tell of dreams.

use super::{connect, files};
use crate::command::exec::tamed;
use crate::command::history::{one_line, time_text};
use crate::command::status::spoken;
use crate::command::{ask, print};
use crate::options::{Color, ImageDirectory};
use crate::report;
use anyhow::bail;
use clap::Args;
use jiff::Timestamp;
use keeper::Client;
use keeper::protocol::{Command, Outcome, Request};
use serde_json::Value;
use std::fmt::Write;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

/// Of a mandate, or of a reason, in a list; `show` has all of it.
const TOLD_CHARACTERS: usize = 200;

/// List the dreams that are going on and those that are kept
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  telos dream list --image garden\n  telos dream list --json | jq '.[].dream'")]
pub struct List {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let dreams = ask(&self.directory, &Request::new(Command::Dreams))?;
        if self.json {
            return print(&format!("{dreams}\n"));
        }
        if dreams.as_array().is_none_or(Vec::is_empty) {
            report::say("telos: there are no dreams");
        }
        let now_ms = Timestamp::now().as_millisecond().max(0) as u64;
        print(&table(dreams.as_array().map(Vec::as_slice).unwrap_or_default(), now_ms))
    }
}

/// A row for each; nothing if there is none.
fn table(dreams: &[Value], now_ms: u64) -> String {
    let heading = ["DREAM", "STATUS", "AGE", "LEFT", "KEPT", "COMMIT", "FOR"].map(String::from);
    let rows: Vec<[String; 7]> =
        std::iter::once(heading).chain(dreams.iter().map(|dream| row(dream, now_ms))).collect();
    if dreams.is_empty() {
        return String::new();
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..7).map(width).collect();
    let line = |row: &[String; 7]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", one_line(&cells.join("  ")))
    };
    rows.iter().map(line).collect()
}

fn row(dream: &Value, now_ms: u64) -> [String; 7] {
    let word = |name: &str| dream[name].as_str().unwrap_or_default();
    let short = |name: &str| report::shortened(word(name), TOLD_CHARACTERS);
    let time = |from: u64, to: u64| spoken(Duration::from_millis(to.saturating_sub(from)));
    let left = dream["ends_by_ms"].as_u64().map(|end| time(now_ms, end)).unwrap_or_default();
    let kept = if dream["is_kept"] == true { "yes" } else { "no" };
    let (mandate, reason) = (short("mandate"), short("reason"));
    let why = match reason.as_str() {
        "" => String::new(),
        reason if mandate.is_empty() => format!("({reason})"),
        reason => format!(" ({reason})"),
    };
    [
        word("dream").into(),
        word("status").into(),
        time(dream["created_ms"].as_u64().unwrap_or(now_ms), now_ms),
        left,
        kept.into(),
        dream["commit"].to_string(),
        format!("{mandate}{why}"),
    ]
}

/// Show how a dream ended and what it changed, as a diff of objects
///
/// What was before is the image as it is now: where it has changed since the dream began, the head says so.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  telos dream show --image garden d65\n  telos dream show --json d65\n  telos dream show --files d65"
)]
pub struct Show {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print a JSON object with one entry for each change; with --files, an array with one object for each file
    #[arg(long)]
    json: bool,

    /// Show what it wrote in the directories of --write, as a patch
    #[arg(long)]
    files: bool,

    /// Show also what the machine keeps for itself: calls, locals, coroutines
    #[arg(long, conflicts_with_all = ["json", "files"])]
    all: bool,

    /// The dream's name
    dream: String,
}

impl Show {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let page = page(&mut connect(&self.directory)?, &self.dream)?;
        if self.files {
            let written = files::read(&self.directory.to_find()?, &page)?;
            if self.json {
                return print(&format!("{}\n", files::to_json(&written)));
            }
            let patch = files::patch(&written);
            crate::host::write_out(&if std::io::stdout().is_terminal() { tamed(&patch) } else { patch })?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.json {
            let page = whole_page(&mut connect(&self.directory)?, &self.dream)?;
            return print(&format!("{page}\n"));
        }
        let code = print(&head(&page))?;
        print_changes(&page, self.all, color)?;
        if page["changes"].as_array().is_none_or(Vec::is_empty) && page["changed_files"] == 0 {
            return print("it changed nothing\n");
        }
        Ok(code)
    }
}

/// Show what a dream changed, and nothing else
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  telos dream diff --image garden d65")]
pub struct Diff {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print a JSON array with one object for each change
    #[arg(long)]
    json: bool,

    /// The dream's name
    dream: String,
}

impl Diff {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let mut client = connect(&self.directory)?;
        if self.json {
            let page = whole_page(&mut client, &self.dream)?;
            return print(&format!("{}\n", page["changes"]));
        }
        print_changes(&page(&mut client, &self.dream)?, false, color)
    }
}

pub fn page(client: &mut Client, dream: &str) -> anyhow::Result<Value> {
    match client.send(&Request::new(Command::ShowDream(dream.into())))?.outcome {
        Outcome::Value(shown) => Ok(serde_json::from_str(&shown.text)?),
        Outcome::Failure(failure) => bail!(failure.message),
    }
}

/// The same with all changes, however many answers that takes.
pub fn whole_page(client: &mut Client, dream: &str) -> anyhow::Result<Value> {
    let mut whole = page(client, dream)?;
    while let Some(from) = whole["more_from"].as_u64() {
        let request = Request::new(Command::DreamChanges { dream: dream.into(), from });
        let Outcome::Value(shown) = client.send(&request)?.outcome else { bail!("the rest of dream {dream} is gone") };
        let mut more: Value = serde_json::from_str(&shown.text)?;
        if let (Some(changes), Some(others)) = (whole["changes"].as_array_mut(), more["changes"].as_array_mut()) {
            changes.append(others);
        }
        whole["more_from"] = more["more_from"].take();
    }
    Ok(whole)
}

/// All that is known of a dream but what it changed.
fn head(page: &Value) -> String {
    let word = |name: &str| page[name].as_str().unwrap_or_default();
    let time = |name: &str| page[name].as_i64().map(time_text);
    let status = match word("reason") {
        "" => word("status").to_string(),
        reason => format!("{}: {reason}", word("status")),
    };
    let began = time("created_ms").unwrap_or_default();
    let place = match word("parent") {
        "" => format!("from commit {}", page["commit"]),
        parent => format!("inside of {parent}"),
    };
    let later = match page["later_commits"].as_u64() {
        None | Some(0) => None,
        Some(1) => Some("compared with the image as it is now, 1 commit later".to_string()),
        Some(count) => Some(format!("compared with the image as it is now, {count} commits later")),
    };
    let facts = [
        ("status", Some(status)),
        ("mandate", Some(word("mandate").to_string())),
        ("agent", Some(word("agent").to_string())),
        ("began", Some(format!("{began}, {place}"))),
        ("ended", time("ended_ms")),
        ("kept", (page["is_kept"] == true).then(|| "until it is discarded".to_string())),
        ("changes", later),
    ];
    let mut text = format!("dream {}\n", word("dream"));
    for (name, fact) in facts {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            // Writing to a String never fails.
            let _ = writeln!(text, "  {name:<8} {}", one_line(&fact));
        }
    }
    if !word("output").is_empty() {
        text += "  output\n";
        text.extend(word("output").lines().map(|line| format!("    {}\n", one_line(line))));
    }
    text + "\n"
}

pub fn print_changes(page: &Value, is_all: bool, color: Color) -> anyhow::Result<ExitCode> {
    let text = page["text_with_all"].as_str().filter(|_| is_all).or(page["text"].as_str()).unwrap_or_default();
    let mut shown = String::new();
    for line in text.lines() {
        let paint = match line.trim_start().as_bytes().first() {
            Some(b'+') if color.on_stdout() => "\x1b[32m",
            Some(b'-') if color.on_stdout() => "\x1b[31m",
            _ => "",
        };
        let end = if paint.is_empty() { "" } else { "\x1b[0m" };
        let _ = writeln!(shown, "{paint}{}{end}", crate::report::harmless(line));
    }
    let name = page["dream"].as_str().unwrap_or_default();
    match page["machine_objects"].as_u64().filter(|_| !is_all).unwrap_or(0) {
        0 => {}
        1 => shown += &format!("and 1 object of the machine changed; telos dream show --all {name} shows it\n"),
        count => {
            shown += &format!("and {count} objects of the machine changed; telos dream show --all {name} shows them\n")
        }
    }
    match page["changed_files"].as_u64().unwrap_or(0) {
        0 => {}
        1 => shown += &format!("1 file changed: telos dream show --files {name}\n"),
        count => shown += &format!("{count} files changed: telos dream show --files {name}\n"),
    }
    crate::host::write_out(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Of a dream that was kept before mandates had a bound.
    #[test]
    fn a_list_has_room_for_any_mandate() {
        let dream =
            json!({ "dream": "d65", "status": "ended", "mandate": "ü".repeat(300_000), "reason": "z".repeat(70_000) });
        let text = table(&[dream], 0);
        assert!(text.lines().all(|line| line.chars().count() < 500), "{}", text.len());
    }
}
