//! How failures look: what went wrong, where, the source with a caret, the way there, and a hint.

use crate::session::{Failure, Session};
use crate::{hint, options::Color};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use language::{Error, Exception, Halt, TraceEntry};
use std::fmt::Write;

/// The stack is shown up to here, then counted.
const STACK_LINES: usize = 16;
/// Longer lines are shown around the place only.
const LINE_CHARACTERS: usize = 400;
/// What a program puts into a message is shown up to here.
const MESSAGE_CHARACTERS: usize = 4_000;
/// A name in the stack is shown up to here.
const NAME_CHARACTERS: usize = 30;

/// Writes a failure to standard error, after all that the program has written.
pub fn show(session: &mut Session, failure: &Failure, color: Color) {
    session.output.flush();
    let text = render(session, failure, color.on_stderr());
    if !text.is_empty() {
        say(&text);
    }
}

/// Writes a line to standard error. Where nobody reads it, there is nobody to complain to.
pub fn say(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}

/// A failure as text; nothing for one that needs no words.
pub fn render(session: &mut Session, failure: &Failure, is_colored: bool) -> String {
    let renderer = if is_colored { Renderer::styled() } else { Renderer::plain() };
    let message = |title: String, hint: Option<String>| {
        let group = Group::with_title(Level::ERROR.primary_title(title));
        renderer.render(&[group.elements(hint.map(|hint| Level::HELP.message(hint)))])
    };
    match failure {
        Failure::Program(Error::Exception(exception)) => exception_text(session, exception, &renderer),
        Failure::Program(Error::Syntax { label, error }) => {
            let place = Place { label, line: error.line, column: error.column, name: "" };
            with_source(session, &renderer, format!("syntax error: {}", error.message), &place, error.hint.clone())
        }
        Failure::Program(Error::Halted(Halt::Exit { .. })) | Failure::OutputClosed => String::new(),
        Failure::Program(Error::Halted(halt)) => message(halt.to_string(), limit_hint(halt)),
        Failure::TimedOut(timeout) => message(format!("timed out after {} s", timeout.as_secs_f64()), None),
        Failure::OutputFailed(error) => message(format!("cannot write to standard output: {error}"), None),
    }
}

fn limit_hint(halt: &Halt) -> Option<String> {
    match halt {
        Halt::Fuel { .. } => Some("--fuel allows more".to_string()),
        Halt::Memory { .. } => Some("--memory allows more".to_string()),
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

fn exception_text(session: &mut Session, exception: &Exception, renderer: &Renderer) -> String {
    let title = shortened(&format!("{}: {}", exception.type_name, exception.message), MESSAGE_CHARACTERS);
    let hint = hint::for_exception(&mut session.vm, exception);
    let is_placed = |entry: &&TraceEntry| entry.line > 0;
    let is_own = |entry: &&TraceEntry| is_placed(entry) && !is_library(&entry.label);
    // The library is right more often than its caller.
    let first = exception.trace.iter().find(is_own).or_else(|| exception.trace.iter().find(is_placed));
    let Some(entry) = first else {
        let group = Group::with_title(Level::ERROR.primary_title(title));
        return renderer.render(&[group.elements(hint.map(|hint| Level::HELP.message(hint)))]);
    };
    let place = Place { label: &entry.label, line: entry.line, column: entry.column, name: &entry.name };
    let mut text = with_source(session, renderer, title, &place, hint);
    append_stack(&mut text, &exception.trace);
    text
}

fn is_library(label: &str) -> bool {
    language::library_sources().any(|(name, _)| name == label)
}

fn with_source(
    session: &Session,
    renderer: &Renderer,
    title: String,
    place: &Place<'_>,
    hint: Option<String>,
) -> String {
    let source = session.source_of(place.label);
    let line = source.as_deref().and_then(|source| source.lines().nth(place.line.saturating_sub(1) as usize));
    let Some(line) = line else {
        let origin = format!("{title} ({}:{}:{})", place.label, place.line, place.column);
        let group = Group::with_title(Level::ERROR.primary_title(origin));
        return renderer.render(&[group.elements(hint.map(|hint| Level::HELP.message(hint)))]);
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
    renderer.render(&[group.elements(hint.map(|hint| Level::HELP.message(hint)))])
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
fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

fn append_stack(text: &mut String, trace: &[TraceEntry]) {
    let shown: Vec<&TraceEntry> = trace.iter().filter(|entry| entry.line > 0).collect();
    if shown.len() < 2 {
        return;
    }
    let width =
        shown.iter().take(STACK_LINES).map(|entry| entry.name.chars().count().min(NAME_CHARACTERS)).max().unwrap_or(0);
    text.push_str("\nstack:");
    for entry in shown.iter().take(STACK_LINES) {
        let place = format!("{}:{}:{}", entry.label, entry.line, entry.column);
        // Writing to a String never fails.
        let _ = write!(text, "\n    {:width$}  {place}", shortened(&entry.name, NAME_CHARACTERS));
    }
    if shown.len() > STACK_LINES {
        let _ = write!(text, "\n    … {} more", shown.len() - STACK_LINES);
    }
}
