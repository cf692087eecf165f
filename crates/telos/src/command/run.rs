//! `telos run`: a file from start to end.

use super::{advise, end, read_source};
use crate::host::Sink;
use crate::options::{CONFINING, Color, MachineOptions};
use crate::report;
use crate::session::{Session, stop_on_ctrl_c};
use clap::Args;
use std::path::Path;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos run hello.io
  telos run --fuel 1e6 --memory 64M --timeout 5 hello.io
  telos run hello.io --fuel 3          here --fuel is for hello.io, not for telos
  telos run -- hello.io --fuel 3       the same, and telos does not ask
  echo '1 println' | telos run -";

/// Run a file, or standard input
///
/// Options of telos stand before the file; everything after it is for the program, which finds its own name and the
/// arguments in `System args`. When the file has been evaluated, coroutines that are still at work are let come to
/// their end.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    machine: MachineOptions,

    /// The file to run; - is standard input
    file: String,

    /// Arguments for the program, also those that begin with --
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Run {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let source = read_source(&self.file)?;
        self.ask_about_arguments();
        let mut session = Session::new(&self.machine, Sink::Standard);
        stop_on_ctrl_c(&session, true);
        let mut arguments = vec![self.file.clone()];
        arguments.extend(self.arguments);
        session.set_arguments(&arguments);
        session.set_launch_file(Path::new(&self.file));
        let result = session.evaluate(&source, &self.file).map(|_| ()).and_then(|()| session.drain());
        advise(&mut session, &source, color);
        Ok(end(session, result, color))
    }

    /// A limit that stands behind the file limits nothing. It may be meant so: `--` before the file says that it is.
    fn ask_about_arguments(&self) {
        let is_confining = |argument: &&String| {
            let name = argument.split('=').next().unwrap_or(argument);
            CONFINING.contains(&name)
        };
        let is_meant = || std::env::args_os().any(|argument| argument == "--");
        if let Some(argument) = self.arguments.iter().find(is_confining).filter(|_| !is_meant()) {
            let file = &self.file;
            report::say(&format!(
                "warning: {argument} stands after the file, so it is for the program and limits nothing\n\
                 help: telos run {argument} … {file}, or, if that was meant: telos run -- {file} {argument} …"
            ));
        }
    }
}
