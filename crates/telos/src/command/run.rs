//! `telos run`: a file from start to end.

use super::{end, read_source};
use crate::host::Sink;
use crate::options::{Color, MachineOptions};
use crate::session::{Session, stop_on_ctrl_c};
use clap::Args;
use std::path::Path;
use std::process::ExitCode;

/// Run a file, or standard input
///
/// The program finds its own name and the arguments in `System args`. When the file has been evaluated, coroutines
/// that are still at work are let come to their end.
#[derive(Args, Debug)]
pub struct Run {
    #[command(flatten)]
    machine: MachineOptions,

    /// The file to run; - is standard input
    file: String,

    /// Arguments for the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Run {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let source = read_source(&self.file)?;
        let mut session = Session::new(&self.machine, Sink::Standard);
        stop_on_ctrl_c(&session, true);
        let mut arguments = vec![self.file.clone()];
        arguments.extend(self.arguments);
        session.set_arguments(&arguments);
        session.set_launch_file(Path::new(&self.file));
        let result = session.evaluate(&source, &self.file).map(|_| ()).and_then(|()| session.drain());
        Ok(end(session, result, color))
    }
}
