//! The telos command: arguments, configuration and wiring; nothing else.

mod answer;
mod command;
mod documentation;
mod habit;
mod highlight;
mod hint;
mod host;
mod options;
mod report;
mod resident;
mod session;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = command::Cli::try_parse().unwrap_or_else(|error| with_tip(error).exit());
    install_panic_message();
    match std::panic::catch_unwind(|| cli.run()) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            report::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
        Err(_) => ExitCode::from(session::exit_code::INTERNAL),
    }
}

/// `telos x.io` is how most languages run a file.
fn with_tip(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && (word.ends_with(".io") || Path::new(word).is_file())
    {
        let tip = format!("to run a file: telos run {word}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// A panic is a fault of ours, and should say so before anything else.
fn install_panic_message() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report::say("internal error: telos has a bug, the program may be right. Please report this with the program.");
        default(panic);
    }));
}
