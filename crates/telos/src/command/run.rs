//! `telos run`: a file from start to end.

use super::{advise, end};
use crate::hint::nearest;
use crate::host::Sink;
use crate::options::{CONFINING, Color, MachineOptions};
use crate::report;
use crate::session::{Session, stop_on_ctrl_c};
use crate::source;
use anyhow::Context;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, ValueHint};
use std::path::Path;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos run hello.io
  telos run --fuel 1e6 --memory 64M --timeout 5 hello.io
  telos run hello.io --fuel 3          here --fuel is for the program
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

    /// The file to run, - for standard input; then arguments for the program, also those that begin with --
    #[arg(required = true, value_names = ["FILE", "ARGUMENTS"], num_args = 1.., value_hint = ValueHint::FilePath)]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<String>,
}

impl Run {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let (file, arguments) = self.program.split_first().context("there is a file, or clap had refused")?;
        if !is_separated() {
            refuse_unknown_option(file);
        }
        let mut session = Session::new(&self.machine, Sink::Standard);
        let Some(source) = source::read(file, session.deadline())? else {
            let failure = session.timed_out();
            return Ok(end(session, Err(failure), color));
        };
        if !is_separated() {
            ask_about(file, arguments, &source);
        }
        stop_on_ctrl_c(&session, true);
        session.set_arguments(&self.program);
        session.set_launch_file(Path::new(file));
        let result = session.evaluate(&source, file).map(|_| ()).and_then(|()| session.drain());
        advise(&mut session, &source, color);
        Ok(end(session, result, color))
    }
}

/// Options that are about telos, wherever they are looked for.
const INFORMING: &[&str] = &["--help", "-h"];

/// Whether `--` says where our options end.
fn is_separated() -> bool {
    std::env::args_os().any(|argument| argument == "--")
}

/// What begins with a dash where the file should stand is an option that we do not have. Ends the process.
fn refuse_unknown_option(file: &str) {
    if file.starts_with('-') && file != "-" {
        let known: Vec<String> = CONFINING.iter().map(|name| name.to_string()).collect();
        let name = file.split('=').next().unwrap_or(file);
        let meant = nearest(name, &known).map(|name| format!("\n\n  tip: did you mean '{name}'?")).unwrap_or_default();
        let message = format!("unexpected argument '{file}' found{meant}");
        super::Cli::command().error(ErrorKind::UnknownArgument, message).exit();
    }
}

/// A limit that stands behind the file limits nothing, and `--help` there says nothing of telos. That may be meant, and
/// `--` before the file says so; or, for what limits nothing anyhow, a program that looks at its arguments.
fn ask_about(file: &str, arguments: &[String], source: &str) {
    let is_confining = |argument: &&String| CONFINING.contains(&argument.split('=').next().unwrap_or(argument));
    if let Some(argument) = arguments.iter().find(is_confining) {
        report::say(&format!(
            "warning: {argument} stands after the file, so it is for the program and limits nothing\n\
             help: telos run {argument} … {file}, or, if that was meant: telos run -- {file} {argument} …"
        ));
    } else if let Some(argument) = arguments.iter().find(|argument| INFORMING.contains(&argument.as_str()))
        && !source.contains("args")
    {
        report::say(&format!(
            "note: {argument} stands after the file, so it is for the program, which does not look at its arguments\n\
             help: telos run {argument} is about telos"
        ));
    }
}
