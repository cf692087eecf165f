//! The commands, one file each, and what they have in common.

mod allowance;
mod alone;
mod check;
mod completions;
mod conflicts;
mod demo;
pub mod doctor;
mod dream;
mod eval;
mod exec;
mod fmt;
mod history;
mod image;
mod json;
mod lock;
mod origin;
mod outbox;
mod refusal;
mod repl;
mod run;
mod runs;
mod send;
mod status;
mod token;
mod up;

pub use exec::tamed;
pub use json::described;
pub use refusal::tell as tell_failure;
pub use repl::{Snapshot, help_text};
pub use send::RequestOptions;
pub use up::NAME as IMAGE_PROCESS;

use crate::habit;
use crate::options::{Color, ImageDirectory};
use crate::report;
use crate::session::{Failure, Session, exit_code};
use clap::{Parser, Subcommand};
use keeper::Client;
use keeper::protocol::{Outcome, Request};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

// Lines of at most 80 columns, as they are printed.
const EXAMPLES: &str = "\
Examples:
  telos demo                         see it: fork, change, prove, merge
  telos eval '1 + 2'                 evaluate an expression
  telos run hello.io Ada             run a file; \"Ada\" is for the program
  telos run --fuel 1e6 --no-host x.io
                                     run code that you do not trust
  telos repl                         explore, with completion and help
  telos up garden                    keep an image alive in ./garden
  telos send --image garden '1 + 2'  talk to it; status shows what it does
  telos dream run --image garden x.io
                                     a script in a sealed fork of the image
  telos dream run --image garden --merge x.io
                                     and merge what it did, if it proves good
  telos exec script.py               any program, sealed in a sandbox

Exit codes:
    0   success, or the code that the program gave to System exit
    1   an exception, in a coroutine too, a syntax error or an unreadable file
    2   wrong usage
    3   refused: it would change what is protected or locked
  122   out of fuel
  123   out of memory
  124   timed out
  130   interrupted
  141   nobody reads the output";

/// A living image of objects that forks itself, proves a change, and merges it back; in the Io language
#[derive(Parser, Debug)]
#[command(name = "telos", version, about, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,

    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Color,

    /// A program reads what it prints, also if it fails.
    #[arg(skip)]
    pub is_json: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    Demo(demo::Demo),
    Run(run::Run),
    Eval(eval::Eval),
    Repl(repl::Repl),
    Exec(Box<exec::Exec>),
    Doctor(doctor::Doctor),
    Runs(runs::Runs),
    Up(up::Up),
    Dream(Box<dream::Dream>),
    Send(send::Send),
    Status(status::Status),
    Log(history::Log),
    Show(history::Show),
    Revert(history::Revert),
    Conflicts(conflicts::Conflicts),
    History(origin::History),
    Why(origin::Why),
    Undo(origin::Undo),
    Rejections(origin::Rejections),
    Outbox(outbox::Outbox),
    Lock(lock::Lock),
    Unlock(lock::Unlock),
    Locks(lock::Locks),
    Token(token::Token),
    Image(image::Image),
    Fmt(fmt::Fmt),
    Completions(completions::Completions),
    ImageProcess(up::ImageProcess),
    Warden(up::Warden),
    Broker(up::Broker),
    ImageCheck(check::ImageCheck),
}

impl Cli {
    /// From the words behind the program's name, as far as that needs no more than one command: see `alone`.
    pub fn read() -> clap::error::Result<Cli> {
        alone::read(std::env::args_os().skip(1)).map_or_else(|| Cli::read_whole(std::env::args_os()), Ok)
    }

    fn read_whole(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> clap::error::Result<Cli> {
        let (cli, is_json) = parsed::<Cli>(words)?;
        Ok(Cli { is_json, ..cli })
    }

    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Run(command) => command.run(self.color),
            Command::Eval(command) => command.run(self.color),
            Command::Repl(command) => command.run(self.color),
            Command::Exec(command) => command.run(),
            Command::Doctor(command) => command.run(),
            Command::Runs(command) => command.run(),
            Command::Up(command) => command.run(),
            Command::Dream(command) => command.run(self.color),
            Command::Send(command) => command.run(self.color),
            Command::Status(command) => command.run(),
            Command::Log(command) => command.run(),
            Command::Show(command) => command.run(),
            Command::Revert(command) => command.run(),
            Command::Conflicts(command) => command.run(),
            Command::History(command) => command.run(),
            Command::Why(command) => command.run(),
            Command::Undo(command) => command.run(),
            Command::Rejections(command) => command.run(),
            Command::Outbox(command) => command.run(),
            Command::Lock(command) => command.run(),
            Command::Unlock(command) => command.run(),
            Command::Locks(command) => command.run(),
            Command::Token(command) => command.run(),
            Command::Image(command) => command.run(),
            Command::Fmt(command) => command.run(self.color),
            Command::Completions(command) => command.run(),
            Command::Demo(command) => command.run(self.color),
            Command::ImageProcess(command) => command.run_quietly(self.color),
            Command::Warden(command) => command.run(),
            Command::Broker(command) => command.run(),
            Command::ImageCheck(command) => command.run(),
        }
    }
}

/// Reads a command line, and whether it asks for JSON, wherever that is an option.
fn parsed<P: Parser>(words: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> clap::error::Result<(P, bool)> {
    let mut matches = P::command().try_get_matches_from(words)?;
    let (mut inner, mut is_json) = (Some(&matches), false);
    while let Some(each) = inner {
        is_json |= each.try_get_one::<bool>("json").is_ok_and(|json| json == Some(&true));
        inner = each.subcommand().map(|(_, matches)| matches);
    }
    let read = P::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut P::command()))?;
    Ok((read, is_json))
}

/// Writes text for people, or JSON, to standard output. Whoever has gone away needs no words.
fn print(text: &str) -> anyhow::Result<ExitCode> {
    match std::io::stdout().write_all(report::harmless(text).as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::from(exit_code::OUTPUT_CLOSED)),
        written => written.map(|()| ExitCode::SUCCESS).map_err(Into::into),
    }
}

/// Asks an image that is up for something that it answers with JSON.
fn ask(directory: &ImageDirectory, request: &Request) -> anyhow::Result<serde_json::Value> {
    let name = concat!("telos ", env!("CARGO_PKG_VERSION"));
    match Client::connect(&directory.to_find()?, name)?.send(request)?.outcome {
        Outcome::Value(shown) => Ok(serde_json::from_str(&shown.text)?),
        Outcome::Failure(failure) => Err(refusal::refusal(failure)),
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
