//! Results as JSON, for other programs.

use crate::hint;
use crate::host::write_out;
use crate::report::{self, CANNOT_WRITE};
use crate::session::{Failure, Session, exit_code};
use language::{Error, Halt, Trace, TraceEntry, Value};
use object::Kind;
use serde_json::{Map, Number, json};
use std::process::ExitCode;

/// Deeper lists and maps are named only: they may contain themselves.
const DEPTH_MAX: usize = 32;
/// After so many values the rest is named only.
const VALUES_MAX: usize = 100_000;

/// Prints the one object that stands for an evaluation, and gives the exit code that belongs to it.
pub fn print(mut session: Session, result: Result<Value, Failure>) -> ExitCode {
    let described = result.and_then(|value| Ok((described(&mut session, value)?, session.vm.type_name(value))));
    let _ = session.finish();
    let output = session.output.take_captured();
    let unhandled = session.take_unhandled();
    let (mut object, code) = match described {
        Ok((value, type_name)) => {
            let code = unhandled.first().map_or(0, Failure::exit_code);
            (json!({ "value": value, "type": type_name, "output": output }), code)
        }
        Err(Failure::Program(Error::Halted(Halt::Exit { code }))) => (json!({ "exit": code, "output": output }), code),
        Err(failure) => {
            let error = error_of(&mut session, &failure);
            (json!({ "error": error, "output": output }), failure.exit_code())
        }
    };
    if !unhandled.is_empty() {
        object["unhandled"] = unhandled.iter().map(|failure| error_of(&mut session, failure)).collect();
    }
    std::mem::forget(session);
    match write_out(format!("{object}\n").as_bytes()) {
        // A reader that has gone has no use for an error either.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            report::say(&format!("error: {CANNOT_WRITE}: {error}"));
            ExitCode::from(exit_code::EXCEPTION)
        }
        _ => ExitCode::from(code),
    }
}

/// Numbers, text, lists, maps and constants as they are; any other object as its text.
pub fn described(session: &mut Session, value: Value) -> Result<serde_json::Value, Failure> {
    let mut left = VALUES_MAX;
    value_of(session, value, DEPTH_MAX, &mut left)
}

fn value_of(session: &mut Session, value: Value, depth: usize, left: &mut usize) -> Result<serde_json::Value, Failure> {
    *left = left.saturating_sub(1);
    if value.is_nil() {
        return Ok(serde_json::Value::Null);
    }
    if value == Value::TRUE || value == Value::FALSE {
        return Ok(json!(value == Value::TRUE));
    }
    if let Some(number) = session.vm.number_of(value) {
        return Ok(number_of(number));
    }
    let handle = session.vm.handle_of(value);
    if depth > 0 && *left > 0 {
        if let Some(values) = session.vm.heap().list(handle).map(<[Value]>::to_vec) {
            let items = values.into_iter().map(|each| value_of(session, each, depth - 1, left));
            return items.collect::<Result<Vec<_>, _>>().map(serde_json::Value::Array);
        }
        if session.vm.kind_of(value) == Kind::Map {
            return map_of(session, handle, depth, left);
        }
    }
    if matches!(session.vm.kind_of(value), Kind::List | Kind::Map) {
        return Ok(json!(session.vm.type_name(value)));
    }
    session.text_of(value).map(serde_json::Value::String)
}

fn map_of(
    session: &mut Session,
    handle: language::Handle,
    depth: usize,
    left: &mut usize,
) -> Result<serde_json::Value, Failure> {
    let entries: Vec<_> =
        session.vm.heap().map(handle).into_iter().flatten().map(|(&key, &each)| (key, each)).collect();
    let mut object = Map::new();
    for (key, each) in entries {
        let key = session.vm.heap().symbol_text(key).into_owned();
        object.insert(key, value_of(session, each, depth - 1, left)?);
    }
    Ok(serde_json::Value::Object(object))
}

/// Whole numbers without a point. JSON has no infinities: they are null.
fn number_of(number: f64) -> serde_json::Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return json!(number as i64);
    }
    Number::from_f64(number).map_or(serde_json::Value::Null, serde_json::Value::Number)
}

fn error_of(session: &mut Session, failure: &Failure) -> serde_json::Value {
    match failure {
        Failure::Program(Error::Exception(exception)) | Failure::Unhandled(exception) => {
            let hint = hint::for_exception(session, exception);
            let trace = places_of(&exception.trace);
            json!({ "type": exception.type_name, "message": exception.message, "hint": hint, "stack": trace })
        }
        Failure::Program(Error::Syntax { label, error }) => {
            let place = json!({ "file": label, "line": error.line, "column": error.column });
            json!({ "type": "syntax", "message": error.message, "hint": error.hint, "stack": [place] })
        }
        Failure::Program(Error::Halted(halt)) => {
            json!({ "type": "halted", "message": halt.to_string(), "stack": places_of(session.vm.halted_at()) })
        }
        Failure::TimedOut(timeout) => {
            let message = format!("timed out after {} s", timeout.as_secs_f64());
            json!({ "type": "halted", "message": message, "stack": places_of(session.vm.halted_at()) })
        }
        other => json!({ "type": "halted", "message": report::render(session, other, false) }),
    }
}

fn places_of(trace: &Trace) -> Vec<serde_json::Value> {
    trace.entries.iter().filter(|entry| entry.line > 0).map(place_of).collect()
}

/// In a recursion, the messages of a round stand once, with how often they came.
fn place_of(entry: &TraceEntry) -> serde_json::Value {
    let mut place = json!({ "message": entry.name, "file": entry.label, "line": entry.line, "column": entry.column });
    if entry.times > 1 {
        place["times"] = json!(entry.times);
    }
    place
}
