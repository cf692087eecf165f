//! `telos dream eval`, `end` and `discard`: what is said to a dream.

use super::{connect, tell};
use crate::command::allowance::Allowance;
use crate::command::refusal::refusal;
use crate::command::{RequestOptions, print, send};
use crate::options::{Color, ImageDirectory};
use crate::source;
use clap::Args;
use keeper::protocol::{Command, Failure, FailureKind, Form, Outcome, Request};
use serde_json::Value;
use std::process::ExitCode;

/// Evaluate an expression in a dream
///
/// As send does in the live image, with its exit codes.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  telos dream eval --image garden d65 'Garden grow'")]
pub struct Eval {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    limits: RequestOptions,

    /// Print a JSON object with value, type, output and commit, or with error and output
    #[arg(long)]
    json: bool,

    /// The dream's name
    dream: String,

    /// An Io expression, - for standard input
    #[arg(value_name = "EXPRESSION")]
    expression: String,
}

impl Eval {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let is_stdin = self.expression == "-";
        let text = if is_stdin { source::read("-", None)?.unwrap_or_default() } else { self.expression.clone() };
        let label = if is_stdin { "stdin" } else { "dream" };
        let form = if self.json { Form::Json } else { Form::Text };
        let request = Request { dream: Some(self.dream.clone()), ..self.limits.request(&text, label, form) };
        let mut client = connect(&self.directory)?;
        let mut answer = client.send(&request)?;
        if let Outcome::Failure(failure) = &mut answer.outcome
            && matches!(failure.kind, FailureKind::Refused | FailureKind::Lost)
            && let Ok(page) = tell::page(&mut client, &self.dream)
        {
            tell_end(failure, &page);
        }
        match self.json {
            true => print(&format!("{}\n", send::json_of(&answer))).map(drop)?,
            false => send::print(&answer, (label, &text), color)?,
        }
        Ok(ExitCode::from(crate::answer::exit_code_of(&answer.outcome)))
    }
}

/// The keeper knows which dreams are going on; how one ended, and what may be done about it, is in what is kept of it.
fn tell_end(failure: &mut Failure, page: &Value) {
    let word = |name: &str| page[name].as_str().unwrap_or_default();
    if !["ended", "failed", "killed"].contains(&word("status")) {
        return;
    }
    let how = match (word("limit"), word("reason")) {
        ("time", _) => ": its time was up".to_string(),
        (_, "") => String::new(),
        (_, reason) => format!(": {reason}"),
    };
    failure.message = format!("dream {} is over{how}", word("dream"));
    let longer = if word("limit") == "time" { "; --lifetime TIME gives it more than a minute" } else { "" };
    failure.hint = Some(format!("telos dream resume {} goes on with it{longer}", word("dream")));
}

/// End dreams that wait to be spoken to; what they did is written down, to be shown or merged
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  telos dream end --image garden d65\n  telos dream merge --image garden d65")]
pub struct End {
    #[command(flatten)]
    directory: ImageDirectory,

    /// Their names
    #[arg(required = true)]
    dreams: Vec<String>,
}

impl End {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = connect(&self.directory)?;
        for dream in self.dreams {
            let wake = Request { dream: Some(dream), ..Request::new(Command::Wake) };
            match client.send(&wake)?.outcome {
                // That it is over is the answer.
                Outcome::Failure(failure) if failure.kind != FailureKind::Lost => return Err(refusal(failure)),
                _ => {}
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// End dreams, and remove what is kept of them
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  telos dream discard --image garden d65 d66")]
pub struct Discard {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    allowance: Allowance,

    /// Their names
    #[arg(required = true)]
    dreams: Vec<String>,
}

impl Discard {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut client = connect(&self.directory)?;
        self.allowance.show_to(&mut client)?;
        for dream in self.dreams {
            // It may be over already; the answer says that it is.
            client.send(&Request { dream: Some(dream.clone()), ..Request::new(Command::Wake) })?;
            if let Outcome::Failure(failure) = client.send(&Request::new(Command::DiscardDream(dream)))?.outcome {
                return Err(refusal(failure));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
