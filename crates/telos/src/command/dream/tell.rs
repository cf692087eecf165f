//! `telos dream list` and `show`: what there is to tell of dreams.

use super::{connect, files};
use crate::command::exec::tamed;
use crate::command::{ask, print};
use crate::options::{Color, ImageDirectory};
use anyhow::bail;
use clap::Args;
use keeper::Client;
use keeper::protocol::{Command, Outcome, Request};
use serde_json::Value;
use std::fmt::Write;
use std::io::IsTerminal;
use std::process::ExitCode;

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
        let mut text = String::new();
        for dream in dreams.as_array().into_iter().flatten() {
            let word = |name: &str| dream[name].as_str().unwrap_or_default();
            let (name, status, mandate) = (word("dream"), word("status"), word("mandate"));
            let (commit, reason) = (dream["commit"].as_u64().unwrap_or(0), word("reason"));
            let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
            let _ = writeln!(text, "{name:<6} {status:<8} from commit {commit:<6} {mandate}{why}");
        }
        print(&text)
    }
}

/// Show what a dream changed, as a diff of objects
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
        print_page(&page, color)
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

pub fn print_page(page: &Value, color: Color) -> anyhow::Result<ExitCode> {
    let text = page["text"].as_str().unwrap_or_default();
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
    match page["changed_files"].as_u64().unwrap_or(0) {
        0 => {}
        1 => shown += &format!("1 file changed: telos dream show --files {name}\n"),
        count => shown += &format!("{count} files changed: telos dream show --files {name}\n"),
    }
    crate::host::write_out(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
