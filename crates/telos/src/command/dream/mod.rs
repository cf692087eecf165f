//! `telos dream`: sealed forks of an image that is up.
//!
//! - `begin`: `new` and `resume`; `run`: `run`, with `agent` for `--command` and `interruption` for Ctrl-C
//! - `talk`: `eval`, `end` and `discard`; `tell`: `list` and `show`; `files`: `show --files`
//! - `merge`: `verify` and `merge`; `merging`: what `run --merge` does after its script or agent

mod agent;
mod begin;
mod files;
mod interruption;
mod merge;
mod merging;
mod run;
mod talk;
mod tell;

pub use merge::{exit_code, files_text, verdict_text};
pub use run::WRONG_USAGE;

use crate::options::{Color, ImageDirectory};
use clap::{Args, Subcommand};
use keeper::Client;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos dream run --image garden mend.io    run a script in a sealed fork
  telos dream show --image garden d65       what it changed, as a diff
  telos dream new --image garden            a dream to talk to; prints its name
  telos dream eval --image garden d66 'Garden grow'
  telos dream discard --image garden d66
  telos dream merge --image garden d65      judge it, and merge what proves good
  telos dream run --image garden --merge mend.io
                                            all of that at once

A dream sees the image as it was when it began, and changes only its own copy.
It reaches no file, network or process of the host. What it changes is written
down: its journal. Each command ends with 1 if there is no such dream or no
image is up; run, verify and merge have more exit codes in their own --help.";

/// Let something happen in a sealed fork of an image, and see what it would change
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Dream {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    New(begin::New),
    Run(Box<run::Run>),
    Resume(begin::Resume),
    Eval(talk::Eval),
    End(talk::End),
    List(tell::List),
    Show(tell::Show),
    Diff(tell::Diff),
    Verify(merge::Verify),
    Merge(merge::Merge),
    Discard(talk::Discard),
}

impl Dream {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::New(command) => command.run(),
            Command::Run(command) => command.run(color),
            Command::Resume(command) => command.run(),
            Command::Eval(command) => command.run(color),
            Command::End(command) => command.run(),
            Command::List(command) => command.run(),
            Command::Show(command) => command.run(color),
            Command::Diff(command) => command.run(color),
            Command::Verify(command) => command.run(),
            Command::Merge(command) => command.run(),
            Command::Discard(command) => command.run(),
        }
    }
}

fn connect(directory: &ImageDirectory) -> anyhow::Result<Client> {
    Ok(Client::connect(&directory.to_find()?, concat!("telos dream ", env!("CARGO_PKG_VERSION")))?)
}
