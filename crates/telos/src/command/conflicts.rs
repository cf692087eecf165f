//! `telos conflicts`: places that two sides wrote to, and deciding which is to stay.

use super::allowance::{Allowance, refusal};
use super::dream::{exit_code, files_text};
use super::history::{one_line, time_text};
use super::{RequestOptions, ask, print};
use crate::options::ImageDirectory;
use crate::report;
use anyhow::bail;
use clap::{Args, Subcommand};
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
  telos conflicts --json | jq '.[].object_name'

Exit codes:
    0   done; also if none is open
    1   there is no such conflict or side, or no image is up
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
    #[arg(long, value_name = "SIDE", required_unless_present = "keep", conflicts_with = "keep")]
    side: Option<u64>,

    /// Leave what is there now
    #[arg(long)]
    keep: bool,
}

impl Conflicts {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match &self.command {
            None => self.list(),
            Some(Act::Show { conflict }) => self.show(*conflict),
            Some(Act::Resolve(resolve)) => self.resolve(resolve),
        }
    }

    fn all(&self) -> anyhow::Result<Vec<Value>> {
        let conflicts = ask(&self.directory, &Request::new(Command::Conflicts))?;
        Ok(conflicts.as_array().cloned().unwrap_or_default())
    }

    fn list(&self) -> anyhow::Result<ExitCode> {
        let is_shown = |conflict: &&Value| self.all || conflict["status"] == "open";
        let conflicts = self.all()?;
        let shown: Vec<&Value> = conflicts.iter().filter(is_shown).collect();
        if self.json {
            return print(&format!("{}\n", serde_json::to_string(&shown)?));
        }
        if shown.is_empty() {
            report::say(if self.all { "telos: there are no conflicts" } else { "telos: no conflict is open" });
        }
        print(&shown.into_iter().map(line).collect::<String>())
    }

    fn show(&self, number: u64) -> anyhow::Result<ExitCode> {
        let Some(conflict) = self.all()?.into_iter().find(|conflict| conflict["conflict"] == number) else {
            bail!("there is no conflict {number}; `telos conflicts --all` has them")
        };
        if self.json {
            return print(&format!("{conflict}\n"));
        }
        print(&page(&conflict))
    }

    fn resolve(&self, resolve: &Resolve) -> anyhow::Result<ExitCode> {
        let choice = resolve.side.map_or(ConflictChoice::Keep, ConflictChoice::Side);
        let command = Command::Resolve { conflict: resolve.conflict, choice };
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
        "slot" => format!("{object} {}", key.trim_matches('"')),
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
