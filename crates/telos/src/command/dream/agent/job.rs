//! From options to the order of an agent's sandbox.

use crate::command::exec::sockets::Keeping;
use crate::command::exec::view::HandedOptions;
use anyhow::ensure;
use clap::Args;
use keeper::protocol::DreamOrder;
use sandbox::process::{HOME, VARIABLES};
use sandbox::{Access, Grant, Limits, Order, View};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Of a dream that nobody gave another.
const LIFETIME: Duration = Duration::from_secs(60);
/// All that an agent may say, standard error included.
const OUTPUT_BYTES_MAX: u64 = 64 << 20;

#[derive(Args, Debug)]
pub struct AgentOptions {
    /// Run this command in a sandbox and give it the dream: docs/dream.md. All that follows is its own
    #[arg(long, value_name = "CMD", num_args = 1.., allow_hyphen_values = true, help_heading = "Agent")]
    #[arg(conflicts_with_all = ["file", "expression"])]
    pub command: Vec<OsString>,

    #[command(flatten)]
    handed: HandedOptions,
}

pub struct Job {
    pub order: Order,
    /// What it says to others is to be written down.
    pub keeping: Option<Keeping>,
}

impl AgentOptions {
    /// What is for commands only was given, and there is none.
    pub fn check_unused(&self) -> anyhow::Result<()> {
        ensure!(self.handed.is_empty(), "--file, --env, --net and --sockets are for agents: --command CMD names one");
        Ok(())
    }

    /// It reads what the dream may read, and ends when the dream does.
    pub fn job(&self, dream: &mut DreamOrder) -> anyhow::Result<Job> {
        let time = dream.time_ms.map_or(LIFETIME, Duration::from_millis);
        dream.time_ms = Some(time.as_millis() as u64);
        let limits =
            Limits { time: Some(time), cpu: Some(time), output_bytes: Some(OUTPUT_BYTES_MAX), ..Limits::default() };
        let readable = dream.grants.iter().filter(|grant| !grant.is_layered);
        let grants: Vec<Grant> = readable
            .map(|grant| Grant { host: (&grant.host).into(), inside: (&grant.inside).into(), access: Access::Read })
            .collect();
        let directory = grants.iter().find(|grant| grant.host.is_dir()).map(|grant| grant.inside.clone());
        let (network, sockets, keeping) = self.handed.network()?;
        let own = VARIABLES.into_iter().chain([("TELOS_MANDATE", dream.mandate.as_str())]);
        let order = Order {
            program: self.command.clone(),
            environment: self.handed.environment(own),
            directory: directory.unwrap_or_else(|| PathBuf::from(HOME)),
            view: View { grants, files: self.handed.files(&limits)?, ..View::default() },
            network,
            sockets,
            limits,
            allows_weaker: false,
        };
        Ok(Job { order, keeping })
    }
}
