//! `telos lock`, `unlock` and `locks`: what changes only with a person's token.

use super::allowance::Allowance;
use super::history::{one_line, time_text};
use super::refusal::refusal;
use super::{RequestOptions, ask, print};
use crate::options::ImageDirectory;
use crate::report;
use anyhow::ensure;
use clap::Args;
use keeper::Client;
use keeper::protocol::{Command, Form, LockLine, LockReport, LockTarget, Outcome, Request};
use keeper::token::Imprint;
use std::process::ExitCode;

const LOCK_EXAMPLES: &str = "\
Examples:
  telos token new --image garden --into ~/garden.token   once
  telos lock --image garden Account
  telos lock --image garden Account.rates
  telos lock --image garden --dream d65
  telos lock --image garden --whole
  telos unlock --image garden Account --token-file ~/garden.token

A lock covers the object with its slots and protos, the slot by whose name it
was locked, and the methods, lists, maps, texts and numbers in it. Other objects
in its slots want locks of their own. A dream that is locked is not merged,
discarded, resumed or expired; of a locked image nothing changes. Locking needs
no token, for it makes nothing less safe; whatever changes what is locked does:
send, revert, undo, conflicts resolve and dream merge take --token-file.

Exit codes:
    0   it is locked, now or before
    1   there is no such object or dream, the image has no token yet, or is not up
    2   wrong usage
    3   refused: the image is locked, or the token is missing or wrong";

/// What is meant.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Target {
    /// Names from the Lobby, such as Garden or Garden.gate
    #[arg(value_name = "OBJECT")]
    object: Option<String>,

    /// A dream that is over
    #[arg(long, value_name = "ID")]
    dream: Option<String>,

    /// The image with all that is in it
    #[arg(long)]
    whole: bool,
}

impl Target {
    fn target(&self) -> LockTarget {
        match (&self.object, &self.dream) {
            (Some(path), _) => LockTarget::Object(path.clone()),
            (None, Some(dream)) => LockTarget::Dream(dream.clone()),
            (None, None) => LockTarget::Whole,
        }
    }
}

/// What locking and unlocking are told alike.
#[derive(Args, Debug)]
struct Order {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    options: RequestOptions,

    #[command(flatten)]
    allowance: Allowance,

    /// Print a JSON object with kind, name, how much it covers, and the commit
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

impl Order {
    fn give(self, command: fn(LockTarget) -> Command) -> anyhow::Result<ExitCode> {
        let request =
            Request { command: command(self.target.target()), ..self.options.request("", "lock", Form::Json) };
        let name = concat!("telos lock ", env!("CARGO_PKG_VERSION"));
        let mut client = Client::connect(&self.directory.to_find()?, name)?;
        self.allowance.show_to(&mut client)?;
        match client.send(&request)?.outcome {
            Outcome::Value(shown) => tell(&serde_json::from_str(&shown.text)?, self.json),
            Outcome::Failure(failure) => Err(refusal(failure)),
        }
    }
}

/// Let an object, a dream or the whole image change only with a person's token
#[derive(Args, Debug)]
#[command(after_help = LOCK_EXAMPLES)]
pub struct Lock {
    #[command(flatten)]
    order: Order,
}

impl Lock {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let has_token = Imprint::of(&self.order.directory.to_find()?)?.is_some();
        ensure!(has_token, "the image has no token, so nobody could unlock it again; `telos token new` makes one");
        self.order.give(Command::Lock)
    }
}

/// Let what was locked change as all else does; needs the person's token
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  telos unlock --image garden Account --token-file ~/garden.token\n  telos unlock --image garden --dream d65 --token-file -\n\nExit codes:\n    0   it is unlocked\n    1   it was not locked, or no image is up\n    2   wrong usage\n    3   refused: the token is missing or wrong"
)]
pub struct Unlock {
    #[command(flatten)]
    order: Order,
}

impl Unlock {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        self.order.give(Command::Unlock)
    }
}

fn tell(report: &LockReport, is_json: bool) -> anyhow::Result<ExitCode> {
    if is_json {
        return print(&format!("{}\n", serde_json::to_string(report)?));
    }
    let name = one_line(&report.name);
    let covers = match report.covers {
        0 => String::new(),
        1 => ", and nothing else belongs to it".into(),
        covers => format!(", with {} objects that belong to it", covers - 1),
    };
    print(&match (report.is_locked, report.commit) {
        (true, Some(commit)) => format!("{name} is locked, as commit {commit}{covers}\n"),
        (true, None) => format!("{name} is locked already{covers}\n"),
        (false, _) => format!("{name} is unlocked\n"),
    })
}

/// List what changes only with a person's token
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  telos locks --image garden\n  telos send --image garden 'Telos locks map(at(\"name\"))'"
)]
pub struct Locks {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

impl Locks {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let locks = ask(&self.directory, &Request::new(Command::Locks))?;
        if self.json {
            return print(&format!("{locks}\n"));
        }
        let locks: Vec<LockLine> = serde_json::from_value(locks)?;
        if locks.is_empty() {
            report::say("telos: nothing is locked");
        }
        print(&locks.iter().map(line).collect::<String>())
    }
}

fn line(lock: &LockLine) -> String {
    let text =
        format!("{:<6}  {:<24}  {}  {}  {}", lock.kind, lock.name, time_text(lock.time_ms), lock.author, lock.cause);
    format!("{}\n", one_line(&text))
}
