//! The commands, one file each, and what they have in common.

mod completions;
mod demo;
mod eval;
mod fmt;
mod json;
mod repl;
mod run;

use crate::habit;
use crate::options::Color;
use crate::report;
use crate::session::{Failure, Session};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

// Lines of at most 80 columns, as they are printed.
const EXAMPLES: &str = "\
Examples:
  telos demo                         a tour of the language
  telos eval '1 + 2'                 evaluate an expression
  telos run hello.io Ada             run a file; \"Ada\" is for the program
  telos run --fuel 1e6 --no-host x.io
                                     run code that you do not trust
  telos repl                         explore, with completion and help

Exit codes:
    0   success, or the code that the program gave to System exit
    1   an exception, in a coroutine too, a syntax error or an unreadable file
    2   wrong usage
  122   out of fuel
  123   out of memory
  124   timed out
  130   interrupted
  141   nobody reads the output";

/// The Io language: everything is an object, code included.
#[derive(Parser, Debug)]
#[command(name = "telos", version, about, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,
}

#[derive(Subcommand, Debug)]
enum Command {
    Run(run::Run),
    Eval(eval::Eval),
    Repl(repl::Repl),
    Fmt(fmt::Fmt),
    Completions(completions::Completions),
    Demo(demo::Demo),
}

impl Cli {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Run(command) => command.run(self.color),
            Command::Eval(command) => command.run(self.color),
            Command::Repl(command) => command.run(self.color),
            Command::Fmt(command) => command.run(self.color),
            Command::Completions(command) => command.run(),
            Command::Demo(command) => command.run(self.color),
        }
    }
}

/// Tells the author of a program that does what nobody wants without failing.
fn advise(session: &mut Session, source: &str, color: Color) {
    let names = session.vm.own_names(session.vm.lobby());
    if let Some(words) = habit::misread(source, |name| names.iter().any(|each| each == name)) {
        report::advise(session, words, color);
    }
}

/// Ends a session: what is buffered is written, a failure is shown and becomes the exit code.
fn end(mut session: Session, result: Result<(), Failure>, color: Color) -> ExitCode {
    let result = match (result, session.finish()) {
        (Ok(()), finished) => finished,
        // A program that ended well but could not write did not end well.
        (Err(failure), Err(finished)) if failure.exit_code() == 0 => Err(finished),
        (Err(failure), _) => Err(failure),
    };
    let unhandled = session.take_unhandled();
    unhandled.iter().for_each(|failure| report::show(&mut session, failure, color));
    let code = match result {
        Ok(()) => unhandled.first().map_or(ExitCode::SUCCESS, |failure| ExitCode::from(failure.exit_code())),
        Err(failure) => {
            report::show(&mut session, &failure, color);
            ExitCode::from(failure.exit_code())
        }
    };
    // The process ends here: taking a large heap apart piece by piece would only delay it.
    std::mem::forget(session);
    code
}
