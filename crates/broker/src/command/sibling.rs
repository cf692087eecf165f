//! A command of a dream: in a sandbox of its own beside the dream's, with no network and no files but the system's. What
//! the caller says of environment and directory means nothing there.

use super::OUTPUT_BYTES_MAX;
use crate::call::Call;
use crate::error::Refusal;
use crate::stop::Stop;
use crate::value::Value;
use sandbox::outcome::Limit;
use sandbox::process::{HOME, PATH};
use sandbox::{Backend, Limits, Order, SandboxError, Stdin, Stream, Streams, Verdict};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const TIME: Duration = Duration::from_secs(60);
const MEMORY_BYTES: u64 = 512 << 20;
const VARIABLES: [(&str, &str); 4] = [("PATH", PATH), ("HOME", HOME), ("USER", "user"), ("LANG", "C.UTF-8")];

pub fn sibling(backend: &dyn Backend, call: &Call, stop: &Stop) -> Result<Vec<Value>, Refusal> {
    let line = call.bytes(0, "a command")?;
    if line.contains(&0) {
        return Err(Refusal::failed("a command has no NUL in it: take it out"));
    }
    let gathered: Arc<Mutex<[Vec<u8>; 2]>> = Arc::default();
    let sink = Arc::clone(&gathered);
    let output = Box::new(move |stream: Stream, bytes: &[u8]| {
        let mut gathered = sink.lock().unwrap_or_else(PoisonError::into_inner);
        gathered[usize::from(stream == Stream::Error)].extend_from_slice(bytes);
    });
    let running = backend.start(&order(line), Streams { stdin: Stdin::Empty, output }).map_err(refused)?;
    let ending = running.stop();
    let _watch = stop.watch(move || ending.stop());
    let outcome = running.wait().map_err(refused)?;
    let status = status(&outcome.verdict)?;
    let [output, errors] = std::mem::take(&mut *gathered.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(vec![Value::Number(status), Value::Bytes(output), Value::Bytes(errors)])
}

fn order(line: &[u8]) -> Order {
    let limits = Limits {
        time: Some(TIME),
        cpu: Some(TIME),
        memory_bytes: Some(MEMORY_BYTES),
        output_bytes: Some(OUTPUT_BYTES_MAX as u64),
        ..Limits::default()
    };
    let program: [&OsStr; 3] = ["/bin/sh".as_ref(), "-c".as_ref(), OsStr::from_bytes(line)];
    Order {
        program: program.map(OsString::from).to_vec(),
        environment: VARIABLES.map(|(name, text)| (name.into(), text.into())).to_vec(),
        directory: HOME.into(),
        limits,
        ..Order::default()
    }
}

fn refused(error: SandboxError) -> Refusal {
    let why = match &error {
        // The general message offers what is not to be had here.
        SandboxError::TooWeak(_) => "this host has not all walls of a sandbox; `telos doctor` says which".to_string(),
        _ => error.to_string(),
    };
    Refusal::failed(format!("the command was not run: {why}"))
}

fn status(verdict: &Verdict) -> Result<f64, Refusal> {
    let limited = |what: String| Err(Refusal::failed(format!("the command was ended: a dream's may {what}")));
    match verdict {
        Verdict::Exited(code) => Ok((*code).into()),
        Verdict::Signalled(signal) => Ok((128 + signal).into()),
        Verdict::Limited(Limit::Time | Limit::Cpu) => limited(format!("take {} seconds", TIME.as_secs())),
        Verdict::Limited(Limit::Memory) => limited(format!("use {} MiB of memory", MEMORY_BYTES >> 20)),
        Verdict::Limited(Limit::Output) => limited(format!("write {} MiB", OUTPUT_BYTES_MAX >> 20)),
        Verdict::Stopped => Err(Refusal::failed("the command was stopped, with all that it had started")),
    }
}
