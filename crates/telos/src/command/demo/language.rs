//! `telos demo language`: a tour of the language, each stop with its source and its live result.

use super::page::{BOLD, Page, colored};
use crate::host::Sink;
use crate::options::{Color, MachineOptions};
use crate::session::{Failure, Session};
use crate::{highlight, report};
use anstyle::AnsiColor;
use std::process::ExitCode;

/// The stops of the tour. Lines that begin with `//!` are the guide's words, the first of them the title.
const STOPS: &[(&str, &str)] = &[
    ("prototypes.io", include_str!("../../../demo/language/prototypes.io")),
    ("messages.io", include_str!("../../../demo/language/messages.io")),
    ("self.io", include_str!("../../../demo/language/self.io")),
    ("closures.io", include_str!("../../../demo/language/closures.io")),
    ("coroutines.io", include_str!("../../../demo/language/coroutines.io")),
    ("exceptions.io", include_str!("../../../demo/language/exceptions.io")),
    ("limits.io", include_str!("../../../demo/language/limits.io")),
];

/// Enough for every stop but the runaway loop.
const FUEL: u64 = 1_000_000;

pub fn run(color: Color) -> anyhow::Result<ExitCode> {
    let page = Page::new(color);
    page.styled(BOLD, &format!("telos {}: the Io language, confined and alive\n", env!("CARGO_PKG_VERSION")));
    for (index, (name, text)) in STOPS.iter().enumerate() {
        stop(&page, index + 1, name, text);
    }
    page.plain("\nNow you: ");
    page.styled(BOLD, "telos repl");
    page.plain("   or: ");
    page.styled(BOLD, "telos eval '1 + 2'\n");
    page.output.flush();
    Ok(ExitCode::SUCCESS)
}

fn stop(page: &Page, number: usize, name: &str, text: &str) {
    let (words, source): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("//!"));
    let mut words = words.iter().map(|line| line.trim_start_matches("//!").trim());
    let title = words.next().unwrap_or(name);
    page.styled(colored(AnsiColor::BrightBlue).bold(), &format!("\n{number}. {title}\n"));
    words.for_each(|line| page.plain(&format!("   {line}\n")));
    page.plain("\n");
    let source = source.join("\n");
    let source = source.trim();
    for line in source.lines() {
        let shown = if page.is_colored { highlight::colored(line) } else { line.to_string() };
        page.plain(format!("     {shown}").trim_end());
        page.plain("\n");
    }
    page.plain("\n");
    show_result(page, name, source);
    page.output.flush();
}

/// Runs a stop in a machine of its own, and shows what it printed or how it ended.
fn show_result(page: &Page, name: &str, source: &str) {
    let options = MachineOptions { fuel: Some(FUEL), ..MachineOptions::default() };
    let mut session = Session::new(&options, Sink::Captured);
    let result = session.evaluate(source, name).map(|_| ()).and_then(|()| session.drain());
    for line in session.output.take_captured().lines() {
        page.styled(colored(AnsiColor::Green), &format!("   → {line}\n"));
    }
    if let Err(failure) = result {
        let words = match &failure {
            Failure::Program(language::Error::Halted(halt)) => halt.to_string(),
            other => report::render(&mut session, other, page.is_colored),
        };
        page.styled(colored(AnsiColor::Red), &format!("   ✗ {words}\n"));
    }
}
