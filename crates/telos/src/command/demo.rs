//! `telos demo`: a tour of the language, each stop with its source and its live result.

use crate::host::{Sink, StandardOutput};
use crate::options::{Color, MachineOptions};
use crate::session::{Failure, Session};
use crate::{highlight, report};
use anstyle::{AnsiColor, Style};
use clap::Args;
use std::process::ExitCode;

/// Take a tour of the language
#[derive(Args, Debug)]
pub struct Demo {}

/// The stops of the tour. Lines that begin with `//!` are the guide's words, the first of them the title.
const STOPS: &[(&str, &str)] = &[
    ("prototypes.io", include_str!("../../demo/prototypes.io")),
    ("messages.io", include_str!("../../demo/messages.io")),
    ("self.io", include_str!("../../demo/self.io")),
    ("closures.io", include_str!("../../demo/closures.io")),
    ("coroutines.io", include_str!("../../demo/coroutines.io")),
    ("exceptions.io", include_str!("../../demo/exceptions.io")),
    ("limits.io", include_str!("../../demo/limits.io")),
];

/// Enough for every stop but the runaway loop.
const FUEL: u64 = 1_000_000;

impl Demo {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let screen = Screen { output: StandardOutput::new(Sink::Standard), is_colored: color.on_stdout() };
        let bold = Style::new().bold();
        screen.styled(bold, &format!("telos {}: the Io language, confined and alive\n", env!("CARGO_PKG_VERSION")));
        for (index, (name, text)) in STOPS.iter().enumerate() {
            stop(&screen, index + 1, name, text);
        }
        screen.plain("\nNow you: ");
        screen.styled(bold, "telos repl");
        screen.plain("   or: ");
        screen.styled(bold, "telos eval '1 + 2'\n");
        screen.output.flush();
        Ok(ExitCode::SUCCESS)
    }
}

struct Screen {
    output: StandardOutput,
    is_colored: bool,
}

impl Screen {
    fn plain(&self, text: &str) {
        self.output.write_bytes(text.as_bytes());
    }

    fn styled(&self, style: Style, text: &str) {
        match self.is_colored {
            true => self.plain(&format!("{style}{text}{style:#}")),
            false => self.plain(text),
        }
    }
}

fn stop(screen: &Screen, number: usize, name: &str, text: &str) {
    let (words, source): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("//!"));
    let mut words = words.iter().map(|line| line.trim_start_matches("//!").trim());
    let title = words.next().unwrap_or(name);
    let heading = Style::new().bold().fg_color(Some(AnsiColor::BrightBlue.into()));
    screen.styled(heading, &format!("\n{number}. {title}\n"));
    words.for_each(|line| screen.plain(&format!("   {line}\n")));
    screen.plain("\n");
    let source = source.join("\n");
    let source = source.trim();
    for line in source.lines() {
        let shown = if screen.is_colored { highlight::colored(line) } else { line.to_string() };
        screen.plain(format!("     {shown}").trim_end());
        screen.plain("\n");
    }
    screen.plain("\n");
    show_result(screen, name, source);
    screen.output.flush();
}

/// Runs a stop in a machine of its own, and shows what it printed or how it ended.
fn show_result(screen: &Screen, name: &str, source: &str) {
    let options = MachineOptions { fuel: Some(FUEL), ..MachineOptions::default() };
    let mut session = Session::new(&options, Sink::Captured);
    let result = session.evaluate(source, name).map(|_| ()).and_then(|()| session.drain());
    let result_style = Style::new().fg_color(Some(AnsiColor::Green.into()));
    for line in session.output.take_captured().lines() {
        screen.styled(result_style, &format!("   → {line}\n"));
    }
    if let Err(failure) = result {
        let words = match &failure {
            Failure::Program(language::Error::Halted(halt)) => halt.to_string(),
            other => report::render(&mut session, other, screen.is_colored),
        };
        screen.styled(Style::new().fg_color(Some(AnsiColor::Red.into())), &format!("   ✗ {words}\n"));
    }
}
