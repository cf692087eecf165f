//! `telos exec`: any program in a sandbox.
//!
//! - `job`: from the command line to an order; `limits`, `view` and `sockets` are its options, `language` what `--lang` knows,
//!   for which `ask` asks the host
//! - `stream`: output on its way out; `terminal` keeps it from steering ours, `outlet` from being held up
//! - `result`: exit codes, last words, JSON
//! - `diff`: what a program made of a directory (`sandbox::changes`), shown; `crate::apply` does it
//! - `ending`: all that happens after the program has ended
//!
//! Nothing here starts a thread before the run has been started: the sandbox forks.

mod ask;
pub mod diff;
mod ending;
pub mod job;
mod language;
mod limits;
mod list;
pub mod outlet;
pub mod result;
pub mod signals;
pub mod sockets;
mod stream;
pub mod terminal;
pub mod view;
pub mod zygote;

pub use terminal::tamed;

use self::ending::Ending;
use self::job::Job;
use self::outlet::Patience;
use self::stream::{Route, Tap};
use super::print;
use crate::warden::Remote;
use anyhow::Context;
use clap::{Args, ValueHint};
use sandbox::changes::Snapshot;
use sandbox::process::Process;
use sandbox::{Access, Backend, Order, Streams};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  telos exec -- ls -l /                    a command; it sees no file of yours
  telos exec --lang python -e 'print(6*7)'
  telos exec sum.py -- 1 2 3               a file, by its extension; arguments
  echo 'print(6*7)' | telos exec --lang python   the code from standard input
  telos exec --write . --diff -- make      what would it change here?
  telos exec --write . --apply -- make     keep that, if nobody interfered
  telos exec --read data:/data --timeout 5 --memory 256M --json job.py
  telos exec --net example.org:443 -- curl -s https://example.org
  telos exec --read . --sockets block.toml --json -- ./tool
                                           whom would it call?
  telos exec --image garden -- ls /        through an image that is up: faster
  telos exec --list                        the languages, and which are here

Exit codes:
  0 to 255     what the program ended with; 128 + N if signal N ended it
  2            an option is wrong
  121 to 124   it used up its output, CPU, memory or time
  125          it was not run, also where nothing is named to be run;
               or what it changed was not applied, or a recording not written
  127          there is no such program inside
  130, 141     stopped with Ctrl-C, nobody reads the output";

/// Run any program in a sandbox
///
/// It sees the programs and libraries of the system, read-only, and nothing else: no file, variable, process or
/// network of yours. What it writes lies in memory and is gone with it. Grant what it needs; what this host cannot
/// keep in is refused. Every run is recorded: telos runs.
#[derive(Args, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub struct Exec {
    /// The language of the code: its name, as --list shows it; else the file tells
    #[arg(long, short, value_name = "NAME")]
    lang: Option<String>,

    /// The code itself
    #[arg(long = "code", short = 'e', value_name = "CODE", allow_hyphen_values = true, conflicts_with = "file")]
    code: Option<String>,

    /// Show the languages, and which of them are installed
    #[arg(long, conflicts_with_all = ["file", "code", "lang", "words"])]
    list: bool,

    #[command(flatten)]
    view: view::ViewOptions,

    /// Print what it changed below --write, as a patch; its own output goes to standard error
    #[arg(long, requires = "write", help_heading = "Changes")]
    diff: bool,

    /// Carry over what it changed below --write, if it ended well and nobody else changed it meanwhile
    #[arg(long, requires = "write", help_heading = "Changes")]
    apply: bool,

    #[command(flatten)]
    limits: limits::LimitOptions,

    /// Run also where this host lacks a wall; the result says which. See telos doctor
    #[arg(long)]
    allow_weaker: bool,

    /// Print one JSON object with the verdict, the usage and the output
    #[arg(long)]
    json: bool,

    /// Run it through the image that is up in this directory, whose sandboxes are ready
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    image: Option<PathBuf>,

    /// On a terminal, let its control sequences through
    #[arg(long)]
    raw: bool,

    /// A file with code, - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// The command, or arguments for the code
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// Sandboxes that this process makes and watches over itself.
pub fn backend() -> Process {
    Process::new()
}

impl Exec {
    /// A command, with nothing said about how it is to be run.
    pub fn of(words: Vec<OsString>) -> Exec {
        Exec { words, ..Exec::default() }
    }

    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.list {
            return print(&if self.json { list::json_text()? } else { list::text()? });
        }
        let mut ending = Ending::new(self.json);
        match Job::new(&self) {
            Ok(job) => match &self.image {
                Some(directory) => self.perform(&Remote { directory: directory.clone() }, job, &mut ending),
                None => self.perform(&backend(), job, &mut ending),
            },
            Err(error) => ending.refuse(&error, result::exit_code::REFUSED),
        }
        ending.finish()
    }

    fn perform(&self, backend: &dyn Backend, job: Job, ending: &mut Ending) {
        let Job { order, stdin, language, code, keeping } = job;
        ending.describe(&order, language.as_deref(), code.as_ref());
        ending.tell_of_left(&order);
        let snapshots = match self.snapshots(&order) {
            Ok(snapshots) => snapshots,
            Err(error) => return ending.refuse(&error, result::exit_code::REFUSED),
        };
        let tap = match Tap::new(self.route(), self.raw).context("its output cannot be written anywhere") {
            Ok(tap) => tap,
            Err(error) => return ending.refuse(&error, result::exit_code::REFUSED),
        };
        let started = backend.start(&order, Streams { stdin, output: tap.sink() });
        let ended = started.and_then(|mut running| {
            ending.signals = signals::stop_on_signals(&mut *running);
            let until = order.limits.time.and_then(|time| Instant::now().checked_add(time));
            tap.stop_with(running.stop(), Patience { until, lifeline: ending.signals.lifeline() });
            running.wait()
        });
        let outcome = match ended {
            Ok(outcome) => outcome,
            Err(error) => return ending.fail(error),
        };
        ending.ended(&order, &outcome, tap.taken());
        if let Some(keeping) = keeping {
            ending.keep_recording(&keeping);
        }
        if self.diff || self.apply {
            ending.changes(&snapshots, outcome.changes, self.diff, self.apply);
        } else {
            ending.forget(&order, &outcome.changes);
        }
    }

    fn route(&self) -> Route {
        match (self.json, self.diff) {
            (true, _) => Route::Kept,
            (false, true) => Route::Aside,
            (false, false) => Route::Through,
        }
    }

    /// Of the directories that may be changed, with their number among the grants.
    fn snapshots(&self, order: &Order) -> anyhow::Result<Vec<(usize, PathBuf, Snapshot)>> {
        if !self.diff && !self.apply {
            return Ok(Vec::new());
        }
        let layered = order.view.grants.iter().enumerate().filter(|(_, grant)| grant.access == Access::Layered);
        layered.map(|(number, grant)| Ok((number, grant.inside.clone(), Snapshot::take(&grant.host)?))).collect()
    }
}
