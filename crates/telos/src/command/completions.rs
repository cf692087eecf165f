//! `telos completions`: scripts that let a shell complete our commands.

use super::Cli;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;
use std::process::ExitCode;

/// Print a completion script for a shell
///
/// For bash: telos completions bash > ~/.local/share/bash-completion/completions/telos
#[derive(Args, Debug)]
pub struct Completions {
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "telos", &mut script);
        std::io::stdout().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
