//! `telos dream eval`, `end` and `discard`: what is said to a dream.

use super::connect;
use crate::command::allowance::Allowance;
use crate::command::refusal::refusal;
use crate::command::{RequestOptions, print, send};
use crate::options::{Color, ImageDirectory};
use crate::source;
use clap::Args;
use keeper::protocol::{Command, FailureKind, Form, Outcome, Request};
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
        let request = Request { dream: Some(self.dream), ..self.limits.request(&text, label, form) };
        let answer = connect(&self.directory)?.send(&request)?;
        match self.json {
            true => print(&format!("{}\n", send::json_of(&answer))).map(drop)?,
            false => send::print(&answer, (label, &text), color)?,
        }
        Ok(ExitCode::from(crate::answer::exit_code_of(&answer.outcome)))
    }
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
