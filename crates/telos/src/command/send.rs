//! `telos send`: one request to an image that is up.

use super::allowance::Allowance;
use crate::answer::{exit_code_of, render};
use crate::options::{Color, ImageDirectory, parse_bytes, parse_count, parse_time};
use crate::report;
use crate::session::exit_code;
use crate::source;
use clap::{Args, ValueEnum};
use keeper::Client;
use keeper::protocol::{Answer, Durability, Failure, FailureKind, Form, Outcome, Place, Request};
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  telos send --image garden '1 + 2'
  telos send --image garden 'Garden := Object clone do(trees := list()); nil'
  telos send --image garden --cause 'first tree' 'Garden trees append(\"oak\")'
  telos send --json 'Garden trees size'     with TELOS_IMAGE=garden
  telos send --fuel 1e6 --timeout 2s - < script.io

Exit codes:
    0   it is committed, or the code that it gave to System exit
    1   an exception or a syntax error: nothing was changed; or no image is up
    2   wrong usage
    3   refused: it would change what is locked, or the token is a wrong one
  122   out of fuel
  123   out of memory
  124   timed out
  130   interrupted";

/// Evaluate an expression in an image that is up
///
/// It is one transaction: all that it did is committed, or, if it fails, nothing. The value is printed, unless it is
/// nil or the expression has printed something itself; lists and maps inside of others are shortened to 40
/// characters, and whole with --json.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Send {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    limits: RequestOptions,

    #[command(flatten)]
    allowance: Allowance,

    /// Print a JSON object with value, type, output and commit, or with error and output
    #[arg(long)]
    json: bool,

    /// An Io expression, - for standard input
    #[arg(value_name = "EXPRESSION")]
    expression: String,
}

/// What a request may say beside its expression.
#[derive(Args, Clone, Debug, Default)]
pub struct RequestOptions {
    /// Stop after N messages: 1000000, 1e6 or 10M
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, help_heading = "Limits")]
    pub fuel: Option<u64>,

    /// Stop when the image would use more memory: 64M, 1.5GiB or bytes
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_hyphen_values = true, help_heading = "Limits")]
    pub memory: Option<u64>,

    /// Stop after that time, waiting for its turn included: 5, 1.5s, 500ms or 2m
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    #[command(flatten)]
    pub history: HistoryOptions,
}

/// What is written down of who did something, and when it counts as done.
#[derive(Args, Clone, Debug, Default)]
pub struct HistoryOptions {
    /// Who this is, for the history; $USER unless given, or the user's name
    #[arg(long, value_name = "NAME", help_heading = "History")]
    pub author: Option<String>,

    /// Why this is done, for the history
    #[arg(long, value_name = "TEXT", help_heading = "History")]
    pub cause: Option<String>,

    /// What the answer waits for
    #[arg(long, value_name = "WHEN", default_value = "flush", help_heading = "History")]
    pub durability: Until,
}

/// When a transaction counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Until {
    /// It would survive a power failure
    #[default]
    Flush,
    /// It would survive the end of the process
    Os,
}

impl RequestOptions {
    pub fn request(&self, source: &str, label: &str, form: Form) -> Request {
        let HistoryOptions { author, cause, durability } = self.history.clone();
        let author = author.or_else(own_name);
        let durability = match durability {
            Until::Flush => Durability::Flush,
            Until::Os => Durability::Os,
        };
        Request {
            label: label.to_string(),
            form,
            fuel: self.fuel,
            memory_bytes: self.memory,
            timeout_ms: self.timeout.map(|timeout| timeout.as_millis() as u64),
            durability,
            author,
            cause,
            ..Request::evaluate(source)
        }
    }
}

/// Who started this: as the environment says, else as the system knows the user, else by number.
fn own_name() -> Option<String> {
    let in_environment = std::env::var("USER").ok().filter(|name| !name.is_empty());
    in_environment.or_else(|| {
        let id = rustix::process::geteuid().as_raw().to_string();
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let name = users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == id).then(|| name.to_string())
        });
        Some(name.unwrap_or(id))
    })
}

impl Send {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let is_stdin = self.expression == "-";
        if is_stdin && self.allowance.takes_input() {
            anyhow::bail!("standard input cannot be both the expression and the token");
        }
        let source = if is_stdin { source::read("-", None)?.unwrap_or_default() } else { self.expression.clone() };
        let label = if is_stdin { "stdin" } else { "send" };
        let directory = self.directory.to_find()?;
        let mut client = Client::connect(&directory, concat!("telos send ", env!("CARGO_PKG_VERSION")))?;
        self.allowance.show_to(&mut client)?;
        // Whoever goes away stops what they asked for.
        let _ = ctrlc::set_handler(|| std::process::exit(exit_code::INTERRUPTED.into()));
        let form = if self.json { Form::Json } else { Form::Text };
        let answer = client.send(&self.limits.request(&source, label, form))?;
        let printed = if self.json { print_json(&answer) } else { print(&answer, (label, &source), color) };
        Ok(ExitCode::from(match printed {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => exit_code::OUTPUT_CLOSED,
            Err(error) => return Err(unprinted(&error, answer.commit)),
            Ok(()) => exit_code_of(&answer.outcome),
        }))
    }
}

/// The answer could not be written, and whoever sees that exit code would send the request again.
fn unprinted(error: &std::io::Error, commit: Option<u64>) -> anyhow::Error {
    match commit {
        Some(number) => anyhow::anyhow!("cannot write the answer: {error}; what was sent is done, as commit {number}"),
        None => anyhow::anyhow!("cannot write the answer: {error}; nothing was changed"),
    }
}

/// Output and value, as `eval` prints them; failures to standard error.
pub fn print(answer: &Answer, own: (&str, &str), color: Color) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(answer.output.as_bytes())?;
    match &answer.outcome {
        Outcome::Value(shown) if answer.output.is_empty() && shown.kind != "nil" => writeln!(stdout, "{}", shown.text)?,
        Outcome::Value(_) => {}
        Outcome::Failure(failure) => {
            stdout.flush()?;
            let text = render(failure, own, color.on_stderr());
            if !text.is_empty() {
                report::say(&text);
            }
        }
    }
    if answer.is_cut {
        report::say("warning: the value or the output was longer than an answer may be, and is shortened");
    }
    stdout.flush()
}

fn print_json(answer: &Answer) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "{}", json_of(answer))
}

pub fn json_of(answer: &Answer) -> serde_json::Value {
    let mut object = match &answer.outcome {
        Outcome::Value(shown) => {
            let value = serde_json::from_str(&shown.text).unwrap_or(serde_json::Value::String(shown.text.clone()));
            json!({ "value": value, "type": shown.kind })
        }
        Outcome::Failure(failure) => json!({ "error": error_of(failure) }),
    };
    object["output"] = json!(answer.output);
    object["fuel"] = json!(answer.fuel_used);
    object["commit"] = json!(answer.commit);
    if answer.is_cut {
        object["cut"] = json!(true);
    }
    object
}

/// The same object that `eval --json` prints.
pub fn error_of(failure: &Failure) -> serde_json::Value {
    let kind = match failure.kind {
        FailureKind::Exception => failure.type_name.as_deref().unwrap_or("Exception"),
        FailureKind::Syntax => "syntax",
        FailureKind::Refused => "refused",
        FailureKind::Locked => "locked",
        FailureKind::Lost => "lost",
        FailureKind::Storage => "storage",
        _ => "halted",
    };
    let places: Vec<_> = failure.trace.iter().filter(|place| place.line > 0).map(place_of).collect();
    json!({ "type": kind, "message": failure.message, "hint": failure.hint, "stack": places })
}

fn place_of(place: &Place) -> serde_json::Value {
    let mut object = json!({ "message": place.name, "file": place.label, "line": place.line, "column": place.column });
    if place.times > 1 {
        object["times"] = json!(place.times);
    }
    object
}
