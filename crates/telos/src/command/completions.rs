//! `telos completions`: scripts that let a shell complete our commands.

use super::Cli;
use crate::host::write_out;
use crate::report::CANNOT_WRITE;
use crate::session::exit_code;
use anyhow::Context;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos completions bash > ~/.local/share/bash-completion/completions/telos
  telos completions zsh > ~/.zfunc/_telos
  telos completions fish > ~/.config/fish/completions/telos.fish";

/// Print a completion script for a shell
///
/// Where it goes depends on the shell.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "telos", &mut script);
        match write_out(&script) {
            // Whoever has gone away needs no words.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                Ok(ExitCode::from(exit_code::OUTPUT_CLOSED))
            }
            written => written.map(|()| ExitCode::SUCCESS).context(CANNOT_WRITE),
        }
    }
}
