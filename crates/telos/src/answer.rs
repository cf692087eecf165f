//! Between a machine's own words and the protocol's: how a program ended becomes an answer in the image process, and an
//! answer becomes a report, output and an exit code in a client.

use crate::hint;
use crate::report::{self, Page};
use crate::session::{self, Failure, Session, exit_code};
use keeper::protocol::{self, FailureKind, Outcome, Place};
use language::{Error, Halt, Trace, TraceEntry};

// ---- in the image process

/// How a program failed, with the hint that only its machine can give.
pub fn failure_of(session: &mut Session, failure: &Failure) -> protocol::Failure {
    let mut told = protocol::Failure::new(FailureKind::Exception, String::new());
    match failure {
        Failure::Program(Error::Exception(exception)) | Failure::Unhandled(exception) => {
            told.type_name = Some(exception.type_name.clone());
            told.message = exception.message.clone();
            told.hint = hint::for_exception(session, exception);
            set_trace(&mut told, &exception.trace);
        }
        Failure::Program(Error::Syntax { label, error }) => {
            told.kind = FailureKind::Syntax;
            told.message = error.message.clone();
            told.hint = error.hint.clone();
            let (line, column) = (error.line, error.column);
            told.trace = vec![Place { name: String::new(), label: label.clone(), line, column, times: 1 }];
        }
        Failure::Program(Error::Halted(halt)) => {
            told.kind = kind_of(halt);
            told.message = halt.to_string();
            told.hint = report::limit_hint(halt);
            if let Halt::Exit { code } = halt {
                told.exit_code = Some((*code).into());
            } else {
                set_trace(&mut told, session.vm.halted_at());
            }
        }
        // Time is the keeper's, and output goes into the answer.
        Failure::TimedOut(_) | Failure::OutputClosed | Failure::OutputFailed(_) => {
            told.kind = FailureKind::Interrupted;
            told.message = "interrupted".to_string();
        }
    }
    told
}

fn kind_of(halt: &Halt) -> FailureKind {
    match halt {
        Halt::Fuel { .. } => FailureKind::Fuel,
        Halt::Memory { .. } => FailureKind::Memory,
        Halt::Interrupted => FailureKind::Interrupted,
        Halt::Exit { .. } => FailureKind::Exit,
    }
}

fn set_trace(told: &mut protocol::Failure, trace: &Trace) {
    told.more = trace.more;
    told.trace = trace.entries.iter().map(place_of).collect();
}

fn place_of(entry: &TraceEntry) -> Place {
    let TraceEntry { name, label, line, column, times } = entry.clone();
    Place { name, label, line, column, times }
}

// ---- in a client

/// A failure as `eval` would report it. `own` is the source that was sent, with its label.
pub fn render(failure: &protocol::Failure, own: (&str, &str), is_colored: bool) -> String {
    let sources = |label: &str| match label == own.0 {
        true => Some(own.1.to_string()),
        false => session::common_source_of(label),
    };
    let title = match (failure.kind, &failure.type_name) {
        (FailureKind::Exit, _) => return String::new(),
        (FailureKind::Exception, Some(type_name)) => report::exception_title(type_name, &failure.message),
        (FailureKind::Syntax, _) => report::syntax_title(&failure.message),
        _ => failure.message.clone(),
    };
    let entries = failure.trace.iter().map(|place| {
        let Place { name, label, line, column, times } = place.clone();
        TraceEntry { name, label, line, column, times }
    });
    let trace = Trace { entries: entries.collect(), more: failure.more };
    Page::new(&sources, is_colored).located(title, &trace, failure.hint.clone())
}

/// The exit code that `eval` would end with.
pub fn exit_code_of(outcome: &Outcome) -> u8 {
    let Outcome::Failure(failure) = outcome else { return 0 };
    match failure.kind {
        FailureKind::Fuel => exit_code::FUEL,
        FailureKind::Memory => exit_code::MEMORY,
        FailureKind::Timeout => exit_code::TIMEOUT,
        FailureKind::Interrupted => exit_code::INTERRUPTED,
        FailureKind::Exit => failure.exit_code.unwrap_or(0) as u8,
        FailureKind::Locked => exit_code::NOT_ALLOWED,
        _ => exit_code::EXCEPTION,
    }
}
