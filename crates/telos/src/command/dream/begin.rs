//! `telos dream new` and `resume`: how a dream begins, and what `run` has in common with them.

use super::connect;
use crate::command::allowance::Allowance;
use crate::command::exec::view::{Mapping, mapping};
use crate::command::print;
use crate::command::refusal::refusal;
use crate::options::{ImageDirectory, parse_bytes, parse_time};
use anyhow::anyhow;
use clap::Args;
use keeper::Client;
use keeper::protocol::{Command, DreamBegun, DreamGrant, DreamOrder, Outcome, Request};
use sandbox::{Access, Grant};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const NEW_EXAMPLES: &str = "\
Examples:
  telos dream new --image garden --mandate 'try a new gate' --lifetime 10m
  telos dream eval --image garden d65 'Garden := Object clone; nil'
  telos dream end --image garden d65       when all is said; merge is next
  telos dream resume --image garden d65    if its time was up too early";

/// What a dream is told when it begins.
#[derive(Args, Debug)]
pub struct OrderOptions {
    /// What the dream is for, in words
    #[arg(long, value_name = "TEXT", default_value = "")]
    mandate: String,

    /// Keep its journal after its end, until it is discarded
    #[arg(long)]
    pub keep: bool,

    /// End it after that time, whatever it does: 30, 1.5s or 2m; a minute unless given
    #[arg(long, value_name = "TIME", value_parser = parse_time, help_heading = "Limits")]
    pub lifetime: Option<Duration>,

    /// How much it may add to the memory that it shares with the image: 64M, 1.5GiB or bytes; 1 GiB unless given
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Limits")]
    room: Option<u64>,

    /// What it may ask of the world outside, and how it is answered; docs/broker.md says how that is written
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    net_policy: Option<PathBuf>,
}

/// What only a new dream is told: around what it is, and what it sees of the host. One that goes on has both already.
#[derive(Args, Debug)]
pub struct BeginOptions {
    /// Begin it inside of this dream, with all that it has done by now
    #[arg(long, value_name = "DREAM")]
    within: Option<String>,

    /// Let it read a directory or file; INSIDE is where it finds it, the same path unless given
    #[arg(long, value_name = "DIR[:INSIDE]", value_parser = mapping(), help_heading = "Files")]
    read: Vec<Mapping>,

    /// Let it read and change a directory; what it changes stays in a layer above it, see dream show --files
    #[arg(long, value_name = "DIR[:INSIDE]", value_parser = mapping(), help_heading = "Files")]
    write: Vec<Mapping>,
}

impl BeginOptions {
    pub fn is_asked(&self) -> bool {
        self.within.is_some() || !self.read.is_empty() || !self.write.is_empty()
    }

    pub fn complete(&self, order: DreamOrder) -> anyhow::Result<DreamOrder> {
        Ok(DreamOrder { within: self.within.clone(), grants: self.grants()?, ..order })
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
    pub fn needs_process(&self) -> bool {
        self.net_policy.is_some() || self.room.is_some()
    }

    fn policies(&self) -> anyhow::Result<Option<serde_json::Value>> {
        let Some(file) = &self.net_policy else { return Ok(None) };
        Ok(Some(serde_json::to_value(broker::Policies::read(file)?)?))
    }

    pub fn order(&self, agent: String) -> anyhow::Result<DreamOrder> {
        Ok(DreamOrder {
            mandate: self.mandate.clone(),
            agent,
            time_ms: self.lifetime.map(|time| time.as_millis() as u64),
            memory_bytes: self.room,
            policies: self.policies()?,
            is_kept: self.keep,
            ..DreamOrder::default()
        })
    }
}

pub fn begin(client: &mut Client, order: DreamOrder) -> anyhow::Result<DreamBegun> {
    match client.send(&Request::new(Command::Dream(Box::new(order))))?.outcome {
        Outcome::Value(shown) => Ok(serde_json::from_str(&shown.text)?),
        Outcome::Failure(failure) => Err(refusal(failure)),
    }
}

/// The same, and it has answered: so what keeps it from going on is known.
fn begin_and_hear(client: &mut Client, order: DreamOrder) -> anyhow::Result<DreamBegun> {
    let begun = begin(client, order)?;
    let greeting = Request { dream: Some(begun.dream.clone()), ..Request::evaluate("nil") };
    match client.send(&greeting)?.outcome {
        Outcome::Value(_) => Ok(begun),
        Outcome::Failure(failure) => Err(refusal(failure)),
    }
}

/// Its name, or all that is known of it by now.
fn print_begun(begun: &DreamBegun, is_json: bool) -> anyhow::Result<ExitCode> {
    match is_json {
        true => print(&format!("{}\n", serde_json::to_string(begun)?)),
        false => print(&format!("{}\n", begun.dream)),
    }
}

/// Begin a dream that waits to be spoken to
///
/// Prints its name. It lives for a minute, or as long as --lifetime says, unless it is ended or discarded before, or the
/// image stops; what it did by then is written down.
#[derive(Args, Debug)]
#[command(after_help = NEW_EXAMPLES)]
pub struct New {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    order: OrderOptions,

    #[command(flatten)]
    begin: BeginOptions,

    /// Print a JSON object with its name and the commit it was forked at
    #[arg(long)]
    json: bool,
}

impl New {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let order = self.begin.complete(self.order.order(String::new())?)?;
        let begun = begin_and_hear(&mut connect(&self.directory)?, order)?;
        print_begun(&begun, self.json)
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

    #[command(flatten)]
    allowance: Allowance,

    /// Print a JSON object with its name and the commit it was forked at
    #[arg(long)]
    json: bool,

    /// The dream's name
    dream: String,
}

impl Resume {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let order = DreamOrder { again: Some(self.dream.clone()), ..self.order.order(String::new())? };
        let mut client = connect(&self.directory)?;
        self.allowance.show_to(&mut client)?;
        print_begun(&begin_and_hear(&mut client, order)?, self.json)
    }
}
