//! The telos command: arguments, configuration and wiring; nothing else.

mod alarm;
mod answer;
mod apply;
mod brokered;
mod cambrian;
mod chronicle;
mod command;
mod documentation;
mod examination;
mod habit;
mod handover;
mod highlight;
mod hint;
mod holder;
mod host;
mod images;
mod options;
mod progress;
mod report;
mod resident;
mod runs;
mod session;
mod source;
mod turns;
mod warden;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue};
use std::path::Path;
use std::process::ExitCode;
use system::memory::Memory;
use system::shell::quoted;

/// The image process makes copies of itself.
#[global_allocator]
static MEMORY: Memory = Memory;

fn main() -> ExitCode {
    system::program::hear_of_children();
    let cli = command::Cli::read().unwrap_or_else(|error| with_tip(error).exit());
    install_panic_message();
    let is_json = cli.is_json;
    match std::panic::catch_unwind(|| cli.run()) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => command::tell_failure(&error, is_json),
        Err(_) => ExitCode::from(session::exit_code::INTERNAL),
    }
}

/// What was meant by words that clap does not know, where we can guess it better than clap does.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    let tip = text(ContextKind::InvalidSubcommand)
        .and_then(|word| for_command(&word))
        .or_else(|| text(ContextKind::InvalidArg).and_then(|written| for_expression(&written)));
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// `telos x.io` is how most languages run a file, and `telos '1 + 2'` how a calculator is asked.
fn for_command(word: &str) -> Option<String> {
    if word.ends_with(".io") || Path::new(word).is_file() {
        return Some(format!("to run a file: telos run {}", quoted(word)));
    }
    let commands: Vec<String> =
        command::Cli::command().get_subcommands().map(|command| command.get_name().to_string()).collect();
    if let Some(command) = hint::nearest(word, &commands) {
        return Some(format!("did you mean 'telos {command}'?"));
    }
    let is_word = word.chars().all(|character| character.is_alphabetic() || character == '-');
    (!is_word).then(|| format!("to evaluate an expression: telos eval {}", quoted(word)))
}

/// `telos eval '-1 + 2'`: what begins with a dash looks like an option, of which clap names the beginning only.
fn for_expression(written: &str) -> Option<String> {
    let mut arguments = std::env::args().skip(1);
    arguments.find(|argument| argument == "eval")?;
    let expression = arguments.find(|argument| argument.starts_with(written) && !argument.starts_with("--"))?;
    Some(format!("an expression that begins with - stands behind --: telos eval -- {}", quoted(&expression)))
}

/// A panic is a fault of ours, and should say so before anything else.
fn install_panic_message() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report::say("internal error: telos has a bug, the program may be right. Please report this with the program.");
        default(panic);
    }));
}
