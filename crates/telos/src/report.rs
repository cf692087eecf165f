//! How failures look: what went wrong, where, the source with a caret, the way there, and a hint.

use crate::command::tamed;
use crate::session::{Failure, Session};
use crate::{hint, host, options::Color};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::Style;
use language::{Error, Exception, Halt, Trace, TraceEntry};
use std::fmt::Write;

/// The stack is shown up to here, then counted.
const STACK_LINES: usize = 16;
/// Longer lines are shown around the place only.
const LINE_CHARACTERS: usize = 400;
/// What a program puts into a message is shown up to here.
const MESSAGE_CHARACTERS: usize = 4_000;
/// A name in the stack is shown up to here.
const NAME_CHARACTERS: usize = 30;

pub const CANNOT_WRITE: &str = "cannot write to standard output";

/// Writes a failure to standard error, after all that the program has written.
pub fn show(session: &mut Session, failure: &Failure, color: Color) {
    session.output.flush();
    let text = render(session, failure, color.on_stderr());
    if !text.is_empty() {
        say(&text);
    }
}

/// Writes a word of advice to standard error, after all that the program has written.
pub fn advise(session: &mut Session, words: &str, color: Color) {
    session.output.flush();
    let renderer = if color.on_stderr() { Renderer::styled() } else { Renderer::plain() };
    say(&renderer.render(&[Group::with_title(Level::HELP.primary_title(words))]));
}

/// An error with its causes, each said once: many say in their own words what caused them. What the system says is said as
/// programs in Io are told it.
pub fn with_causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let said = cause.to_string();
        let of_system = cause.downcast_ref().filter(|cause: &&std::io::Error| cause.raw_os_error().is_some());
        let words = of_system.map_or_else(|| said.clone(), host::reason);
        text = match text.strip_suffix(&said) {
            Some(before) => format!("{before}{words}"),
            None if text.is_empty() => words,
            None => format!("{text}: {words}"),
        };
    }
    text
}

/// Text for people, which may have names in it that were chosen by somebody else: it does nothing to a terminal.
pub fn harmless(text: &str) -> String {
    let tamed = tamed(text.as_bytes());
    String::from_utf8_lossy(&tamed).replace('\r', "^M").replace('\u{8}', "^H")
}

/// Writes a line to standard error. Where nobody reads it, there is nobody to complain to.
pub fn say(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}

/// A failure as text; nothing for one that needs no words.
pub fn render(session: &mut Session, failure: &Failure, is_colored: bool) -> String {
    let hint = match failure {
        Failure::Program(Error::Exception(exception)) | Failure::Unhandled(exception) => {
            hint::for_exception(session, exception)
        }
        _ => None,
    };
    let session = &*session;
    let sources = |label: &str| session.source_of(label);
    let page = Page::new(&sources, is_colored);
    match failure {
        Failure::Program(Error::Exception(exception)) => page.exception(exception, "", hint),
        Failure::Unhandled(exception) => page.exception(exception, "in a coroutine: ", hint),
        Failure::Program(Error::Syntax { label, error }) => {
            let place = Place { label, line: error.line, column: error.column, name: "" };
            page.with_source(syntax_title(&error.message), &place, error.hint.clone())
        }
        Failure::Program(Error::Halted(Halt::Exit { .. })) | Failure::OutputClosed => String::new(),
        Failure::Program(Error::Halted(halt)) => {
            page.located(halt.to_string(), session.vm.halted_at(), limit_hint(halt))
        }
        Failure::TimedOut(timeout) => {
            let hint = Some("--timeout TIME allows more".to_string());
            page.located(format!("timed out after {} s", timeout.as_secs_f64()), session.vm.halted_at(), hint)
        }
        Failure::OutputFailed(error) => page.plain(format!("{CANNOT_WRITE}: {error}"), None),
    }
}

pub fn exception_title(type_name: &str, message: &str) -> String {
    let separator = if message.is_empty() { "" } else { ": " };
    shortened(&format!("{type_name}{separator}{message}"), MESSAGE_CHARACTERS)
}

pub fn syntax_title(message: &str) -> String {
    format!("syntax error: {message}")
}

/// How a program gets more of what it ran out of.
pub fn limit_hint(halt: &Halt) -> Option<String> {
    match halt {
        Halt::Fuel { .. } => Some("--fuel N allows more".to_string()),
        Halt::Memory { .. } => Some("--memory SIZE allows more".to_string()),
        _ => None,
    }
}

struct Place<'a> {
    label: &'a str,
    line: u32,
    column: u32,
    /// The message there, to underline.
    name: &'a str,
}

fn is_library(label: &str) -> bool {
    language::library_sources().any(|(name, _)| name == label)
}

/// A report in the making.
pub struct Page<'s> {
    /// The source that a label stands for, as far as it is known.
    sources: &'s dyn Fn(&str) -> Option<String>,
    renderer: Renderer,
    is_colored: bool,
}

impl<'s> Page<'s> {
    pub fn new(sources: &'s dyn Fn(&str) -> Option<String>, is_colored: bool) -> Page<'s> {
        let renderer = if is_colored { Renderer::styled() } else { Renderer::plain() };
        Page { sources, renderer, is_colored }
    }

    /// A title and a hint, for what has no place.
    fn plain(&self, title: String, hint: Option<String>) -> String {
        let group = Group::with_title(Level::ERROR.primary_title(title));
        self.renderer.render(&[group.elements(hint.map(|hint| Level::HELP.message(hint)))])
    }

    fn exception(&self, exception: &Exception, whereabouts: &str, hint: Option<String>) -> String {
        let title = exception_title(&exception.type_name, &exception.message);
        self.located(format!("{whereabouts}{title}"), &exception.trace, hint)
    }

    /// What happened at the innermost place of a trace, and the way there.
    pub fn located(&self, title: String, trace: &Trace, hint: Option<String>) -> String {
        let is_placed = |entry: &&TraceEntry| entry.line > 0;
        let is_own = |entry: &&TraceEntry| is_placed(entry) && !is_library(&entry.label);
        // The library is right more often than its caller.
        let first = trace.entries.iter().find(is_own).or_else(|| trace.entries.iter().find(is_placed));
        let Some(entry) = first else { return self.plain(title, hint) };
        let place = Place { label: &entry.label, line: entry.line, column: entry.column, name: &entry.name };
        let mut text = self.with_source(title, &place, hint);
        append_stack(&mut text, trace, self.is_colored);
        text
    }

    fn with_source(&self, title: String, place: &Place<'_>, hint: Option<String>) -> String {
        let source = (self.sources)(place.label);
        let line = source.as_deref().and_then(|source| source.lines().nth(place.line.saturating_sub(1) as usize));
        let Some(line) = line else {
            return self.plain(format!("{title} ({}:{}:{})", place.label, place.line, place.column), hint);
        };
        let (line, column) = around(line, place.column as usize);
        let start = line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(offset, _)| offset);
        let length = if line[start..].starts_with(place.name) { place.name.len() } else { 0 };
        let one = line[start..].chars().next().map_or(0, char::len_utf8);
        let span = start..start + length.max(one);
        let snippet = Snippet::source(line)
            .line_start(place.line as usize)
            .path(place.label)
            .annotation(AnnotationKind::Primary.span(span));
        let group = Level::ERROR.primary_title(title).element(snippet);
        self.renderer.render(&[group.elements(hint.map(|hint| Level::HELP.message(hint)))])
    }
}

/// The part of a line around a column, and the column in it. A program on one line of a megabyte stays readable.
fn around(line: &str, column: usize) -> (String, usize) {
    let from = column.saturating_sub(LINE_CHARACTERS / 2);
    if line.len() <= LINE_CHARACTERS {
        return (line.to_string(), column);
    }
    (line.chars().skip(from).take(LINE_CHARACTERS).collect(), column - from)
}

/// The beginning of a text that may be long.
pub fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// One line of a stack: a message, or some in a row of the library's own, which are seldom to blame.
struct StackLine {
    name: String,
    place: String,
    times: u64,
    is_library: bool,
}

fn stack_lines(trace: &Trace) -> Vec<StackLine> {
    let mut lines: Vec<StackLine> = Vec::new();
    for entry in trace.entries.iter().filter(|entry| entry.line > 0) {
        let is_library = is_library(&entry.label);
        // The innermost of the library's messages stands for those that led to it.
        if is_library && lines.last().is_some_and(|last| last.is_library) {
            continue;
        }
        let label = entry.label.strip_prefix("library:").filter(|_| is_library).unwrap_or(&entry.label);
        let place = format!("{label}:{}:{}", entry.line, entry.column);
        lines.push(StackLine { name: shortened(&entry.name, NAME_CHARACTERS), place, times: entry.times, is_library });
    }
    lines
}

fn append_stack(text: &mut String, trace: &Trace, is_colored: bool) {
    let lines = stack_lines(trace);
    if lines.len() < 2 {
        return;
    }
    let shown = &lines[..lines.len().min(STACK_LINES)];
    let width = |length: fn(&StackLine) -> usize| shown.iter().map(length).max().unwrap_or(0);
    let names = width(|line| line.name.chars().count());
    let places = width(|line| if line.times > 1 || line.is_library { line.place.chars().count() } else { 0 });
    let dim = if is_colored { Style::new().dimmed() } else { Style::new() };
    text.push_str("\nstack:");
    for line in shown {
        let style = if line.is_library { dim } else { Style::new() };
        let note = match line.times {
            _ if line.is_library => "  (library)".to_string(),
            1 => String::new(),
            times => format!("  ({} times)", grouped(times)),
        };
        let row = format!("{:names$}  {:places$}{note}", line.name, line.place);
        // Writing to a String never fails.
        let _ = write!(text, "\n    {style}{}{style:#}", row.trim_end());
    }
    let more = trace.more + lines[shown.len()..].iter().map(|line| line.times).sum::<u64>();
    if more > 0 {
        let _ = write!(text, "\n    … {} more", grouped(more));
    }
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story: "cannot make garden: File exists (os error 17): File exists (os error 17)". And some said it as "file exists".
    #[test]
    fn a_cause_that_is_told_already_is_not_told_again() {
        use anyhow::Context;
        let source = std::io::Error::from_raw_os_error(17);
        let error: anyhow::Error = system::SystemError::File { action: "make", path: "x".into(), source }.into();
        let told = with_causes(&error.context("no image"));
        assert_eq!(told, "no image: cannot make x: file exists");
        let plain = Err::<(), _>(anyhow::anyhow!("inside")).context("outside").unwrap_err();
        assert_eq!(with_causes(&plain), "outside: inside");
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1000, 4_000_000].map(grouped), ["0", "999", "1,000", "4,000,000"]);
    }
}
