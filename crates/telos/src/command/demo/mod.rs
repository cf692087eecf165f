//! `telos demo`: what telos gives, shown by doing it.
//!
//! - `cycle`: the story, from a failing test to a merge, step by step; `story`: how it is told; `act`: one command of it;
//!   `page`: how it looks
//! - `stage`: the image that it happens in, a real one; `traffic`: who calls it all the while
//! - `language`: the other tour, of the language alone

mod act;
mod cycle;
mod language;
mod page;
mod stage;
mod story;
mod traffic;

use crate::options::Color;
use crate::report;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  telos demo                   fork, change, prove, merge: the whole cycle
  telos demo --keep garden     and leave the image in ./garden to play with
  telos demo --json            one object for each step
  telos demo language          a tour of the language

The cycle happens in a real image in a temporary directory, with the commands
that are shown; both are gone when it ends. It needs no network and a few
seconds.

Exit codes:
    0   every step gave what it must
    1   one did not, or this host cannot seal dreams: telos doctor says why
    2   wrong usage
  130   interrupted";

/// See a living image mend itself, or take a tour of the language
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Demo {
    /// Which tour
    #[arg(value_name = "TOUR", default_value = "cycle")]
    tour: Tour,

    /// Leave the image in this directory, which must be new
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    keep: Option<PathBuf>,

    /// Print one JSON object a line, for each step
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Tour {
    /// an image serves, a dream mends it, what proves good is merged
    Cycle,
    /// the language, stop by stop
    Language,
}

const OF_THE_CYCLE: &str = "error: --keep and --json are for the cycle: telos demo, without language\n";
/// As clap ends with it.
const WRONG_USAGE: u8 = 2;

impl Demo {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        match self.tour {
            Tour::Cycle => cycle::run(self.keep.as_deref(), self.json, color),
            Tour::Language if self.json || self.keep.is_some() => {
                report::say(OF_THE_CYCLE.trim_end());
                Ok(ExitCode::from(WRONG_USAGE))
            }
            Tour::Language => language::run(color),
        }
    }
}
