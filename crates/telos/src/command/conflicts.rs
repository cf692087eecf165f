//! `telos conflicts`: places that two sides wrote to, and deciding which is to stay.

use super::allowance::Allowance;
use super::dream::{WRONG_USAGE, exit_code, files_text};
use super::history::{one_line, time_text};
use super::refusal::refusal;
use super::{RequestOptions, ask, print};
use crate::options::ImageDirectory;
use crate::report;
use crate::resident::CONFLICTS_MAX;
use anyhow::bail;
use clap::{Args, Subcommand};
use dream::path::written;
use keeper::Client;
use keeper::protocol::{Command, ConflictChoice, FilesReport, Form, Outcome, Request};
use serde_json::Value;
use std::fmt::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos conflicts --image garden              those that are open
  telos conflicts --image garden show 2       what each side wrote
  telos conflicts --image garden resolve 2 --side 1
  telos conflicts --image garden resolve 2 --keep
  telos conflicts --image garden resolve 2 --side 1 --force
                                              also over what came there since
  telos conflicts --json | jq '.[].object_name'

Exit codes:
    0   done; also if none is open
    1   there is no such conflict or side, or its place was written to since, or
        no image is up
    2   wrong usage
    3   refused: it would change what is locked, or the token is a wrong one
    4   not resolved: a file was changed meanwhile, and is open again";

/// List what merges left to be decided, show it, decide it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Conflicts {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,

    /// List those that are decided, too
    #[arg(long)]
    all: bool,

    /// How many to list, the oldest first
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100)]
    count: u64,

    #[command(subcommand)]
    command: Option<Act>,
}

#[derive(Subcommand, Debug)]
enum Act {
    /// Show what each side wrote
    Show {
        /// Its number in the list
        conflict: u64,
    },
    /// Decide which value stays
    Resolve(Resolve),
}

#[derive(Args, Debug)]
struct Resolve {
    #[command(flatten)]
    options: RequestOptions,

    #[command(flatten)]
    allowance: Allowance,

    /// Its number in the list
    conflict: u64,

    /// Take what this side wrote, as show counts them
    #[arg(long, value_name = "SIDE", conflicts_with = "keep")]
    side: Option<u64>,

    /// Leave what is there now
    #[arg(long)]
    keep: bool,

    /// Take the side also over what somebody wrote there since
    #[arg(long, conflicts_with = "keep")]
    force: bool,
}

impl Conflicts {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match &self.command {
            None => self.list(),
            Some(Act::Show { conflict }) => self.show(*conflict),
            Some(Act::Resolve(resolve)) => self.resolve(resolve),
        }
    }

    /// Those behind one, asked for in pieces: an answer has no room for any number of them.
    fn behind(&self, mut after: u64, count: u64, is_all: bool) -> anyhow::Result<Vec<Value>> {
        let mut conflicts: Vec<Value> = Vec::new();
        loop {
            let wanted = (count - conflicts.len() as u64).min(CONFLICTS_MAX);
            let command = Command::Conflicts { after, count: wanted, is_all };
            let page = ask(&self.directory, &Request::new(command))?.as_array().cloned().unwrap_or_default();
            let is_last = (page.len() as u64) < wanted;
            conflicts.extend(page);
            after = conflicts.last().and_then(|conflict| conflict["conflict"].as_u64()).unwrap_or(after);
            if is_last || conflicts.len() as u64 >= count {
                return Ok(conflicts);
            }
        }
    }

    fn list(&self) -> anyhow::Result<ExitCode> {
        // One more, to know whether there are more.
        let mut shown = self.behind(0, self.count.saturating_add(1), self.all)?;
        let has_more = shown.len() as u64 > self.count;
        shown.truncate(usize::try_from(self.count).unwrap_or(usize::MAX));
        if has_more {
            report::say(&format!("telos: there are more than {}; --count N lists more", self.count));
        }
        if self.json {
            return print(&format!("{}\n", serde_json::to_string(&shown)?));
        }
        if shown.is_empty() && !has_more {
            report::say(if self.all { "telos: there are no conflicts" } else { "telos: no conflict is open" });
        }
        print(&shown.iter().map(line).collect::<String>())
    }

    fn show(&self, number: u64) -> anyhow::Result<ExitCode> {
        let found = self.behind(number.saturating_sub(1), 1, true)?.pop();
        let Some(conflict) = found.filter(|conflict| conflict["conflict"] == number) else {
            bail!("there is no conflict {number}; `telos conflicts --all` has them")
        };
        if self.json {
            return print(&format!("{conflict}\n"));
        }
        print(&page(&conflict))
    }

    fn resolve(&self, resolve: &Resolve) -> anyhow::Result<ExitCode> {
        if resolve.side.is_none() && !resolve.keep {
            let number = resolve.conflict;
            report::say(&format!(
                "error: which side is to stay? `telos conflicts show {number}` has them, --side N takes what one of them wrote, \
                 and --keep leaves what is there now"
            ));
            return Ok(ExitCode::from(WRONG_USAGE));
        }
        let choice = resolve.side.map_or(ConflictChoice::Keep, ConflictChoice::Side);
        let command = Command::Resolve { conflict: resolve.conflict, choice, is_forced: resolve.force };
        let request = Request { command, ..resolve.options.request("", "resolve", Form::Json) };
        let mut client = Client::connect(&self.directory.to_find()?, "telos conflicts")?;
        resolve.allowance.show_to(&mut client)?;
        match client.send(&request)?.outcome {
            Outcome::Failure(failure) => Err(refusal(failure)),
            Outcome::Value(shown) => {
                let told: Value = serde_json::from_str(&shown.text)?;
                let files: Option<FilesReport> = serde_json::from_value(told["files"].clone()).unwrap_or_default();
                let is_done = files.as_ref().is_none_or(|files| files.status == "delivered" && files.left.is_empty());
                let state = if is_done { "is resolved" } else { "is not resolved" };
                match self.json {
                    true => print(&format!("{}\n", shown.text))?,
                    false => print(&format!("conflict {} {state}\n{}", resolve.conflict, files_text(files.as_ref())))?,
                };
                Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(exit_code::CONFLICTS) })
            }
        }
    }
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or("nothing")
}

/// Where it is, as a person would say it.
fn place(conflict: &Value) -> String {
    let object = conflict["object_name"].as_str().or(conflict["object_id"].as_str()).unwrap_or_default();
    let key = conflict["key"].as_str().unwrap_or_default();
    match word(conflict, "part") {
        "slot" => format!("{object} {}", written(bare(key))),
        "file" => key.trim_matches('"').to_string(),
        "content" | "flags" => format!("{object}, its content"),
        part => format!("{object}, {part} {key}"),
    }
}

fn line(conflict: &Value) -> String {
    let sides: Vec<&str> =
        conflict["siblings"].as_array().into_iter().flatten().map(|sibling| word(sibling, "who")).collect();
    let (place, status) = (place(conflict), word(conflict, "status"));
    let number = conflict["conflict"].to_string();
    let text = format!("{number:>3}  {status:<8}  {place}: {}", sides.join(" and "));
    format!("{}\n", one_line(&text))
}

fn page(conflict: &Value) -> String {
    let mut text = format!("conflict {} is {}: {}\n", conflict["conflict"], word(conflict, "status"), place(conflict));
    let indented = |value: &str| value.replace('\n', "\n      ");
    // Writing to a String never fails.
    let _ = writeln!(text, "  before   {}", indented(word(conflict, "base")));
    for sibling in conflict["siblings"].as_array().into_iter().flatten() {
        let time = sibling["time_ms"].as_f64().map(|time| format!(", {}", time_text(time as i64))).unwrap_or_default();
        let _ = writeln!(text, "  side {}   {}{time}", sibling["side"], word(sibling, "who"));
        let _ = writeln!(text, "      {}", indented(word(sibling, "value")));
    }
    let _ = writeln!(text, "  shown    {}", indented(word(conflict, "shown")));
    if let Some(reason) = conflict["reason"].as_str() {
        let _ = writeln!(text, "  because  {}", one_line(reason));
    }
    if word(conflict, "part") == "file" {
        let dream = word(conflict, "dream");
        let _ = writeln!(text, "  what the dream wrote in files: telos dream show --files {dream}");
    }
    text
}

/// A text without the quotes that it is shown in.
fn bare(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}
