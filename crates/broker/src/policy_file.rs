//! Policies as people write them: TOML, with answers and recordings.

use crate::call::{Capability, Way};
use crate::error::BrokerError;
use crate::house;
use crate::later;
use crate::policy::{Policies, Policy, Ruling};
use crate::record::Line;
use crate::script::{Pattern, Scripted};
use crate::value::Value;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Of the file and all recordings that it names together.
const BYTES_MAX: usize = 4 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    http: Option<Table>,
    commands: Option<Table>,
    files: Option<Table>,
    environment: Option<Table>,
    clock: Option<Table>,
    randomness: Option<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    policy: Policy,
    recording: Option<PathBuf>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    answer: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    call: String,
    #[serde(default)]
    arguments: Vec<Pattern>,
    #[serde(default)]
    values: Vec<Value>,
    error: Option<String>,
}

impl Policies {
    /// Reads a policy file and the recordings that it names, whose paths are from its directory.
    pub fn read(file: &Path) -> Result<Policies, BrokerError> {
        let mut left = BYTES_MAX;
        let bytes = read_bounded(file, &mut left)?.ok_or_else(|| too_big(file))?;
        let text = String::from_utf8(bytes).map_err(|_| content(file, None, "it is no UTF-8 text"))?;
        let tables: PolicyFile = toml::from_str(&text).map_err(|error| house::toml_error(file, &text, &error))?;
        let PolicyFile { http, commands, files, environment, clock, randomness } = tables;
        let mut policies = Policies::default();
        let together = Capability::ALL.into_iter().zip([http, commands, files, environment, clock, randomness]);
        for (capability, table) in together {
            if let Some(table) = table {
                *policies.ruling_mut(capability) = ruling(file, capability, table, &mut left)?;
            }
        }
        Ok(policies)
    }
}

/// Scripted answers come before recorded ones.
fn ruling(file: &Path, capability: Capability, table: Table, left: &mut usize) -> Result<Ruling, BrokerError> {
    let name = capability.name();
    if capability != Capability::Http && !table.hosts.is_empty() {
        return Err(content(file, None, &format!("[{name}] has no `hosts`; only [http] has")));
    }
    if table.policy == Policy::Later && !later::can_be_later(capability) {
        return Err(content(file, None, &format!("[{name}] cannot be `later`; [http] and [commands] can")));
    }
    for host in &table.hosts {
        house::destinations(host).map_err(|error| content(file, None, &format!("[http] hosts: {error}")))?;
    }
    let mut answers = Vec::new();
    for row in table.answer {
        if Capability::of(&row.call) != Some(capability) {
            let why = format!("[[{name}.answer]] is for `{}`, which is no call of {name}", row.call);
            return Err(content(file, None, &why));
        }
        answers.push(Scripted { name: row.call, arguments: row.arguments, values: row.values, error: row.error });
    }
    if let Some(recording) = table.recording {
        let path = file.parent().unwrap_or(Path::new("")).join(recording);
        let bytes = read_bounded(&path, left)?
            .ok_or_else(|| BrokerError::TooManyAnswers { path: file.into(), limit: BYTES_MAX })?;
        recorded(&path, &bytes, capability, &mut answers)?;
    }
    Ok(Ruling { policy: table.policy, answers, hosts: table.hosts })
}

/// What was answered to calls of this capability.
fn recorded(path: &Path, bytes: &[u8], capability: Capability, answers: &mut Vec<Scripted>) -> Result<(), BrokerError> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    for (number, line) in lines {
        let line: Line = serde_json::from_slice(line)
            .map_err(|error| content(path, Some(number + 1), &format!("no line of a recording: {error}")))?;
        let is_played = matches!(line.answer.way, Way::Redirected | Way::Simulated);
        if is_played && Capability::of(&line.call.name) == Some(capability) {
            let arguments = line.call.arguments.into_iter().map(Pattern::Exactly).collect();
            answers.push(Scripted { name: line.call.name, arguments, values: line.answer.values, error: None });
        }
    }
    Ok(())
}

/// None if there is more than is left.
fn read_bounded(path: &Path, left: &mut usize) -> Result<Option<Vec<u8>>, BrokerError> {
    let unread = |source| BrokerError::Read { path: path.into(), source };
    let file = File::open(path).map_err(unread)?;
    if !file.metadata().map_err(unread)?.is_file() {
        return Err(BrokerError::NotAFile { path: path.into() });
    }
    let mut bytes = Vec::new();
    file.take(*left as u64 + 1).read_to_end(&mut bytes).map_err(unread)?;
    if bytes.len() > *left {
        return Ok(None);
    }
    *left -= bytes.len();
    Ok(Some(bytes))
}

fn too_big(path: &Path) -> BrokerError {
    BrokerError::TooBig { path: path.into(), limit: BYTES_MAX }
}

fn content(path: &Path, line: Option<usize>, why: &str) -> BrokerError {
    BrokerError::Content { path: path.into(), line, why: why.into() }
}
