//! The telos command: arguments, configuration and wiring; nothing else.

mod command;
mod documentation;
mod habit;
mod highlight;
mod hint;
mod host;
mod options;
mod report;
mod session;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = command::Cli::parse();
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

/// A panic is a fault of ours, and should say so before anything else.
fn install_panic_message() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report::say("internal error: telos has a bug, the program may be right. Please report this with the program.");
        default(panic);
    }));
}
