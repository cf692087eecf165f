//! `telos dream new` and `run`: how a dream begins.

use super::agent::{Agent, AgentOptions};
use super::{connect, tell};
use crate::command::exec::view::{Mapping, mapping};
use crate::command::{RequestOptions, print, send};
use crate::options::{Color, ImageDirectory, parse_bytes, parse_time};
use crate::session::exit_code;
use crate::source;
use anyhow::{anyhow, bail};
use clap::Args;
use keeper::Client;
use keeper::protocol::{Command, DreamBegun, DreamGrant, DreamOrder, Form, Outcome, Request, Rung};
use sandbox::{Access, Grant};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What a dream is told when it begins.
#[derive(Args, Debug)]
struct OrderOptions {
    /// What the dream is for, in words
    #[arg(long, value_name = "TEXT", default_value = "")]
    mandate: String,

    /// Keep its journal after its end, until it is discarded
    #[arg(long)]
    keep: bool,

    /// End it after that time, whatever it does: 30, 1.5s or 2m
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Limits")]
    lifetime: Option<Duration>,

    /// How much it may add to the memory that it shares with the image: 64M, 1.5GiB or bytes
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Limits")]
    room: Option<u64>,

    /// Begin it inside of this dream, with all that it has done by now
    #[arg(long, value_name = "DREAM")]
    within: Option<String>,

    /// What it may ask of the world outside, and how it is answered; docs/broker.md says how that is written
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    net_policy: Option<PathBuf>,
}

/// What a dream sees of the host.
#[derive(Args, Debug)]
struct FileOptions {
    /// Let it read a directory or file; INSIDE is where it finds it, the same path unless given
    #[arg(long, value_name = "DIR[:INSIDE]", value_parser = mapping(), help_heading = "Files")]
    read: Vec<Mapping>,

    /// Let it read and change a directory; what it changes stays in a layer above it, see dream show --files
    #[arg(long, value_name = "DIR[:INSIDE]", value_parser = mapping(), help_heading = "Files")]
    write: Vec<Mapping>,
}

impl FileOptions {
    fn is_asked(&self) -> bool {
        !self.read.is_empty() || !self.write.is_empty()
    }

    fn grants(&self) -> anyhow::Result<Vec<DreamGrant>> {
        let text = |path: PathBuf| path.into_os_string().into_string().map_err(|path| anyhow!("{path:?} is no text"));
        let grant = |mapping: &Mapping, access| -> anyhow::Result<DreamGrant> {
            let Grant { host, inside, access } = mapping.grant(access)?;
            Ok(DreamGrant { host: text(host)?, inside: text(inside)?, is_layered: access == Access::Layered })
        };
        let read = self.read.iter().map(|mapping| grant(mapping, Access::Read));
        read.chain(self.write.iter().map(|mapping| grant(mapping, Access::Layered))).collect()
    }
}

impl OrderOptions {
    /// Something is asked for that a world dream has not.
    fn needs_process(&self) -> bool {
        self.net_policy.is_some() || self.within.is_some() || self.room.is_some()
    }

    fn policies(&self) -> anyhow::Result<Option<serde_json::Value>> {
        let Some(file) = &self.net_policy else { return Ok(None) };
        Ok(Some(serde_json::to_value(broker::Policies::read(file)?)?))
    }

    fn order(&self, agent: String) -> anyhow::Result<DreamOrder> {
        Ok(DreamOrder {
            mandate: self.mandate.clone(),
            agent,
            time_ms: self.lifetime.map(|time| time.as_millis() as u64),
            memory_bytes: self.room,
            policies: self.policies()?,
            within: self.within.clone(),
            is_kept: self.keep,
            ..DreamOrder::default()
        })
    }
}

pub fn begin(client: &mut Client, order: DreamOrder) -> anyhow::Result<DreamBegun> {
    match client.send(&Request::new(Command::Dream(Box::new(order))))?.outcome {
        Outcome::Value(shown) => Ok(serde_json::from_str(&shown.text)?),
        Outcome::Failure(failure) => bail!(failure.message),
    }
}

/// The same, and it has answered: so what keeps it from going on is known.
fn begin_and_hear(client: &mut Client, order: DreamOrder) -> anyhow::Result<DreamBegun> {
    let begun = begin(client, order)?;
    let greeting = Request { dream: Some(begun.dream.clone()), ..Request::evaluate("nil") };
    match client.send(&greeting)?.outcome {
        Outcome::Value(_) => Ok(begun),
        Outcome::Failure(failure) => bail!(failure.message),
    }
}

/// Begin a dream that waits to be spoken to
///
/// Prints its name. It lives until it is discarded, its time is up, or the image stops.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  telos dream new --image garden --mandate 'try a new gate' --lifetime 10m")]
pub struct New {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    order: OrderOptions,

    #[command(flatten)]
    files: FileOptions,

    /// Print a JSON object with its name and the commit it was forked at
    #[arg(long)]
    json: bool,
}

impl New {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let order = DreamOrder { grants: self.files.grants()?, ..self.order.order(String::new())? };
        let begun = begin_and_hear(&mut connect(&self.directory)?, order)?;
        match self.json {
            true => print(&format!("{}\n", serde_json::to_string(&begun)?)),
            false => print(&format!("{}\n", begun.dream)),
        }
    }
}

/// Go on with a dream that was kept
///
/// Makes its process again: a fork of the image as it was when the dream began, with all that the dream did since. The live
/// image is not changed. It sees the directories that it saw, with what it wrote there.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  telos dream resume --image garden d65\n  telos dream eval --image garden d65 'Garden size'"
)]
pub struct Resume {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    order: OrderOptions,

    /// The dream's name
    dream: String,
}

impl Resume {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let order = DreamOrder { again: Some(self.dream.clone()), ..self.order.order(String::new())? };
        let begun = begin_and_hear(&mut connect(&self.directory)?, order)?;
        print(&format!("{}\n", begun.dream))
    }
}

/// A step of the ladder of isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RungName {
    /// the language alone, in the image process: quickest, and for Io code that needs nothing of the host
    World,
    /// a sealed process
    Process,
}

const RUN_EXAMPLES: &str = "\
Examples:
  telos dream run --image garden mend.io
  telos dream run --image garden -e 'Garden grow = method(size = size + 2)'
  telos dream run --image garden --keep --mandate 'mend the gate' mend.io
  telos dream run --image garden --mandate 'mend the gate' \\
      --file mend.py --command python3 mend.py

An agent is a program that speaks JSON-RPC 2.0, one object a line, over its
standard input and output: eval, get, set, list, tests, log, done. Standard
error is its log, TELOS_MANDATE its mandate. It is sealed as by telos exec.
With it, --fuel is for all that it evaluates, --timeout and --memory for each,
and --lifetime ends both. Exit codes are those of exec; 1 if it never said done.";

/// Run a script or an agent in a dream, and show what it changed
///
/// Forks the image, seals the copy, runs the script there as one transaction, or gives the dream to a command; ends the
/// dream, and shows its journal. The live image goes on meanwhile and is not changed. Exit codes are those of eval.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    order: OrderOptions,

    #[command(flatten)]
    files: FileOptions,

    #[command(flatten)]
    limits: RequestOptions,

    /// What keeps it in
    #[arg(long, value_name = "RUNG", default_value = "process")]
    rung: RungName,

    /// The same, or more, where that is needed for what is asked
    #[arg(long, value_name = "RUNG", conflicts_with = "rung")]
    at_least: Option<RungName>,

    #[command(flatten)]
    agent: AgentOptions,

    /// Print a JSON object with the dream's name, what the script or the agent came to, and its changes
    #[arg(long)]
    json: bool,

    /// Run this source
    #[arg(short, long, value_name = "SOURCE", conflicts_with = "file", required_unless_present_any = ["file", "command"])]
    expression: Option<String>,

    /// A file of Io source, - for standard input
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<String>,
}

impl Run {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        if !self.agent.command.is_empty() {
            let words: Vec<_> = self.agent.command.iter().map(|word| word.to_string_lossy()).collect();
            let mut dream = self.dream_order(words.join(" "))?;
            let job = self.agent.job(&mut dream)?;
            let agent = Agent { job, dream, limits: self.limits, is_json: self.json };
            return agent.run(connect(&self.directory)?, color);
        }
        self.agent.check_unused()?;
        let (label, text) = match (&self.expression, &self.file) {
            (Some(source), _) => ("dream".to_string(), source.clone()),
            (None, Some(file)) => (file.clone(), source::read(file, None)?.unwrap_or_default()),
            (None, None) => bail!("give a file, or source with -e"),
        };
        let mut client = connect(&self.directory)?;
        // Whoever goes away stops what they asked for; the dream ends when its time is up.
        let _ = ctrlc::set_handler(|| std::process::exit(exit_code::INTERRUPTED.into()));
        if self.rung_to_take() == RungName::World {
            return self.run_in_world(&mut client, &label, text, color);
        }
        let begun = begin(&mut client, self.dream_order(label.clone())?)?;
        let form = if self.json { Form::Json } else { Form::Text };
        let request = Request { dream: Some(begun.dream.clone()), ..self.limits.request(&text, &label, form) };
        let answer = client.send(&request)?;
        let wake = Request { dream: Some(begun.dream.clone()), ..Request::new(Command::Wake) };
        // The answer is that it is over, in one way or another; then all of it is written down.
        client.send(&wake)?;
        let code = ExitCode::from(crate::answer::exit_code_of(&answer.outcome));
        let page = match self.json {
            true => tell::whole_page(&mut client, &begun.dream)?,
            false => tell::page(&mut client, &begun.dream)?,
        };
        if self.json {
            let object = json!({ "dream": begun.dream, "answer": send::json_of(&answer), "journal": page });
            print(&format!("{object}\n"))?;
            return Ok(code);
        }
        send::print(&answer, (&label, &text), color)?;
        tell::print_page(&page, color)?;
        Ok(code)
    }

    /// The lowest that is enough.
    fn rung_to_take(&self) -> RungName {
        match self.at_least {
            Some(RungName::World) if self.order.needs_process() || self.files.is_asked() => RungName::Process,
            Some(rung) => rung,
            None => self.rung,
        }
    }

    fn dream_order(&self, agent: String) -> anyhow::Result<DreamOrder> {
        Ok(DreamOrder { grants: self.files.grants()?, ..self.order.order(agent)? })
    }

    fn run_in_world(&self, client: &mut Client, label: &str, source: String, color: Color) -> anyhow::Result<ExitCode> {
        let order = DreamOrder { rung: Rung::World, source: Some(source), ..self.dream_order(label.to_string())? };
        let command = Command::Dream(Box::new(order));
        let limits = self.limits.request("", label, Form::Text);
        // It lives as long as its one request, on the live machine.
        let lifetime = self.order.lifetime.map(|time| time.as_millis() as u64);
        let timeout_ms = limits.timeout_ms.into_iter().chain(lifetime).min();
        let request = Request { command, timeout_ms, ..limits };
        let begun: DreamBegun = match client.send(&request)?.outcome {
            Outcome::Value(shown) => serde_json::from_str(&shown.text)?,
            Outcome::Failure(failure) => bail!(failure.message),
        };
        let page = tell::page(client, &begun.dream)?;
        if self.json {
            print(&format!("{}\n", json!({ "dream": begun.dream, "journal": page })))?;
        } else {
            print(page["output"].as_str().unwrap_or_default())?;
            tell::print_page(&page, color)?;
        }
        let has_failed = page["status"] == "failed";
        Ok(if has_failed { ExitCode::from(exit_code::EXCEPTION) } else { ExitCode::SUCCESS })
    }
}
