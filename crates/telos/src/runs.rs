//! The log of what was run: one JSON object a line, in the user's state directory, for that user only. `described` says what
//! stands in it.
//!
//! Files are called after the month and a number, `2026-11.0003.jsonl`. A writer appends a line with one write to the
//! newest file of the month, and begins the next when that is full; nothing is ever renamed or written over, so any number
//! of writers need no lock. Old files are removed whole: by number, so that the log keeps to its size, and by month.

pub mod described;

use anyhow::{Context, ensure};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::fs::Mode;
use serde_json::{Map, Value, json};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file that has so many bytes is followed by another.
const FILE_BYTES: u64 = 2 << 20;
/// So many files are kept, 64 MiB at most,
const FILES_MAX: usize = 32;
/// and none of a month that is so many months back.
const MONTHS_MAX: i32 = 3;
/// A line holds at most so much of any text or list: what was run is named, not kept.
const TEXT_CHARACTERS_MAX: usize = 1000;
pub const LIST_LENGTH_MAX: usize = 64;
/// Longer lines are none of ours.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Adds who, when and where to what is known of a run, and writes it down.
pub fn record(run: Map<String, Value>) -> anyhow::Result<()> {
    let now = Timestamp::now();
    let mut line = Map::new();
    line.insert("at".into(), json!(now.to_string()));
    line.insert("user".into(), json!(rustix::process::getuid().as_raw()));
    line.insert("directory".into(), json!(std::env::current_dir().ok().map(|here| here.display().to_string())));
    line.insert("process".into(), json!(std::process::id()));
    line.insert("telos".into(), json!(env!("CARGO_PKG_VERSION")));
    line.extend(run);
    let line = format!("{}\n", bounded(Value::Object(line)));
    append(&directory()?, now, line.as_bytes())
}

/// The newest runs, the oldest of them first.
pub fn newest(count: usize) -> anyhow::Result<Vec<Value>> {
    let directory = directory()?;
    let mut runs: Vec<Value> = Vec::new();
    for name in files(&directory).into_iter().rev() {
        let mut earlier = read(&directory.join(name))?;
        earlier.append(&mut runs);
        runs = earlier;
        if runs.len() >= count {
            break;
        }
    }
    Ok(runs.split_off(runs.len().saturating_sub(count)))
}

/// Where the log is; it need not exist.
pub fn directory() -> anyhow::Result<PathBuf> {
    let named = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = named.or_else(|| Some(std::env::home_dir()?.join(".local/state")));
    Ok(state.context("there is no home directory; XDG_STATE_HOME names a place")?.join("telos/runs"))
}

fn append(directory: &Path, now: Timestamp, line: &[u8]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write to {}", directory.display());
    let month = month_of(now, 0);
    let kept = files(directory);
    if kept.is_empty() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory).with_context(cannot)?;
    }
    let newest = kept.iter().filter_map(|name| number_in(name, &month)).max();
    let mut number = newest.unwrap_or(0);
    let (mut file, mut length) = open(&directory.join(name_of(&month, number))).with_context(cannot)?;
    if length >= FILE_BYTES {
        number += 1;
        (file, length) = open(&directory.join(name_of(&month, number))).with_context(cannot)?;
    }
    // Somebody's write that ran out of room left half a line, which must not swallow this one.
    let glue: &[u8] = if ends_a_line(&file, length)? { b"" } else { b"\n" };
    let bytes = [glue, line].concat();
    let written = file.write(&bytes).with_context(cannot)?;
    ensure!(written == bytes.len(), "{} has no room", directory.display());
    if newest != Some(number) {
        forget(directory, now);
    }
    Ok(())
}

/// With its length.
fn open(path: &Path) -> std::io::Result<(File, u64)> {
    let file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
    let details = file.metadata()?;
    // One that another program made, or a umask, is made ours alone.
    if details.mode() & 0o777 != 0o600 {
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    }
    Ok((file, details.len()))
}

fn ends_a_line(file: &File, length: u64) -> std::io::Result<bool> {
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok(last == *b"\n")
}

/// Removes the oldest. Another writer may do the same.
fn forget(directory: &Path, now: Timestamp) {
    let names = files(directory);
    let oldest_month = month_of(now, MONTHS_MAX);
    let too_many = names.len().saturating_sub(FILES_MAX);
    for (position, name) in names.iter().enumerate() {
        if position < too_many || name.as_str() < oldest_month.as_str() {
            let _ = std::fs::remove_file(directory.join(name));
        }
    }
}

/// Our files, the oldest first.
fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_ours = |name: &String| name.get(..7).is_some_and(|month| number_in(name, month).is_some());
    let mut names: Vec<String> = names.filter(is_ours).collect();
    names.sort();
    names
}

fn name_of(month: &str, number: u32) -> String {
    format!("{month}.{number:04}.jsonl")
}

fn number_in(name: &str, month: &str) -> Option<u32> {
    name.strip_prefix(month)?.strip_prefix('.')?.strip_suffix(".jsonl")?.parse().ok()
}

/// `2026-11`, or so many months before.
fn month_of(now: Timestamp, back: i32) -> String {
    let date = now.to_zoned(TimeZone::UTC).date();
    let months = i32::from(date.year()) * 12 + i32::from(date.month()) - 1 - back;
    format!("{:04}-{:02}", months.div_euclid(12), months.rem_euclid(12) + 1)
}

/// Lines that are no JSON are passed over: half a line of a full disk is no reason to hide the others.
fn read(path: &Path) -> anyhow::Result<Vec<Value>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened.with_context(|| format!("cannot read \"{}\"", path.display()))?,
    };
    let mut reader = BufReader::new(file);
    let mut runs = Vec::new();
    let mut line = Vec::new();
    while reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? > 0 {
        runs.extend(serde_json::from_slice::<Value>(&line).ok().filter(Value::is_object));
        line.clear();
    }
    Ok(runs)
}

fn bounded(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > TEXT_CHARACTERS_MAX => {
            let beginning: String = text.chars().take(TEXT_CHARACTERS_MAX).collect();
            Value::String(beginning + "…")
        }
        Value::Array(values) => values.into_iter().take(LIST_LENGTH_MAX).map(bounded).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, each)| (name, bounded(each))).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests;
