//! `telos outbox`: what is to be done to the world outside after merges, and what became of it.

use super::history::one_line;
use super::{ask, print};
use crate::options::ImageDirectory;
use crate::report;
use clap::{Args, Subcommand};
use keeper::protocol::{Command, Request};
use serde_json::Value;
use std::fmt::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos outbox --image garden             what waits, and what failed
  telos outbox --image garden --all       also what is done
  telos outbox --image garden resend      try again what failed";

/// List what is to be done after merges: files to be applied, calls to be made
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Outbox {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print JSON
    #[arg(long, global = true)]
    json: bool,

    /// List what is done, too: the last thousand
    #[arg(long)]
    all: bool,

    #[command(subcommand)]
    command: Option<Act>,
}

#[derive(Subcommand, Debug)]
enum Act {
    /// Try again what failed for good
    Resend {
        /// Only this; all of it, unless given
        key: Option<String>,
    },
}

impl Outbox {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(Act::Resend { key }) = self.command {
            let count = ask(&self.directory, &Request::new(Command::Resend(key)))?;
            return match self.json {
                true => print(&format!("{{\"resent\":{count}}}\n")),
                false => print(&format!("{count} will be tried again\n")),
            };
        }
        let told = ask(&self.directory, &Request::new(Command::Outbox))?;
        let is_open = |delivery: &&Value| ["waiting", "failed"].contains(&word(delivery, "status"));
        let all = told.as_array().map(Vec::as_slice).unwrap_or_default();
        let shown: Vec<&Value> = all.iter().filter(|delivery| self.all || is_open(delivery)).collect();
        if self.json {
            return print(&format!("{}\n", serde_json::to_string(&shown)?));
        }
        if shown.is_empty() {
            report::say(if self.all {
                "telos: nothing was ever to be done"
            } else {
                "telos: nothing waits, and nothing failed"
            });
        }
        print(&shown.into_iter().map(page).collect::<String>())
    }
}

fn word<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// The first arguments say what it is about.
fn page(delivery: &Value) -> String {
    let arguments = delivery["arguments"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let about: Vec<&str> = arguments.take(2).collect();
    let (status, call, dream) = (word(delivery, "status"), word(delivery, "call"), word(delivery, "dream"));
    let mut text = one_line(&format!("{status:<9}  {dream:<5}  {call} {}", about.join(" ")));
    // Writing to a String never fails.
    let _ = write!(text, "\n  {}, attempts: {}", one_line(word(delivery, "key")), delivery["attempts"]);
    let answer = word(delivery, "answer");
    if !answer.is_empty() {
        let _ = write!(text, "\n  {}", one_line(answer));
    }
    text + "\n"
}
