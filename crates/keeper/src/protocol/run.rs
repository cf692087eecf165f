//! A program to be run in a sandbox, what it says on the way, and how it ended. Bytes that may be many, such as files that
//! are handed in, stand behind the JSON, not in it: a body is one line of JSON, and then bytes.

use super::network::{RunCalls, RunSockets};
use crate::error::KeeperError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use system::changed::ChangeKind;

/// A word of the system, which is text nearly always.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Word {
    Text(String),
    Bytes(Vec<u8>),
}

impl Word {
    pub fn new(word: &OsStr) -> Word {
        match word.to_str() {
            Some(text) => Word::Text(text.to_string()),
            None => Word::Bytes(word.as_bytes().to_vec()),
        }
    }

    pub fn of_path(path: &Path) -> Word {
        Word::new(path.as_os_str())
    }

    pub fn into_word(self) -> OsString {
        match self {
            Word::Text(text) => text.into(),
            Word::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }

    pub fn into_path(self) -> PathBuf {
        self.into_word().into()
    }
}

/// What is to be run. What is not named here is not there for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOrder {
    pub program: Vec<Word>,
    #[serde(default)]
    pub environment: Vec<(Word, Word)>,
    /// Where it starts; its home if this is empty.
    #[serde(default = "home")]
    pub directory: Word,
    #[serde(default)]
    pub grants: Vec<RunGrant>,
    /// Their bytes follow the order, one behind the other.
    #[serde(default)]
    pub files: Vec<RunFile>,
    /// Hosts and ports that it may call.
    #[serde(default)]
    pub network: Vec<String>,
    #[serde(default, skip_serializing_if = "RunSockets::is_alone")]
    pub sockets: RunSockets,
    #[serde(default)]
    pub limits: RunLimits,
    #[serde(default)]
    pub allows_weaker: bool,
    #[serde(default)]
    pub input: RunInput,
    /// Whoever orders it writes it into the log of runs; else the warden does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub records_itself: bool,
}

/// Who ordered a run, as the keeper knows it: not from the order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunClient {
    pub user: u32,
    pub process: i32,
    /// What it says of itself.
    pub name: String,
}

fn home() -> Word {
    Word::Text(String::new())
}

impl RunOrder {
    pub fn new(program: impl IntoIterator<Item = impl AsRef<OsStr>>) -> RunOrder {
        RunOrder {
            program: program.into_iter().map(|word| Word::new(word.as_ref())).collect(),
            environment: Vec::new(),
            directory: home(),
            grants: Vec::new(),
            files: Vec::new(),
            network: Vec::new(),
            sockets: RunSockets::Alone,
            limits: RunLimits::default(),
            allows_weaker: false,
            input: RunInput::Empty,
            records_itself: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunGrant {
    pub host: Word,
    pub inside: Word,
    /// It may write there, to a layer in memory.
    pub is_layered: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    pub inside: Word,
    pub length_bytes: usize,
    pub is_executable: bool,
}

/// What it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunInput {
    #[default]
    Empty,
    /// So many bytes, behind those of the files.
    Bytes(usize),
    /// A descriptor that came with the order.
    Descriptor,
}

/// How much it may use; a limit that is `null` is none, and one that is not named has its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    pub time_ms: Option<u64>,
    pub cpu_ms: Option<u64>,
    pub memory_bytes: Option<u64>,
    pub processes: Option<u64>,
    pub open_files: Option<u64>,
    pub file_bytes: Option<u64>,
    pub disk_bytes: Option<u64>,
    pub disk_files: Option<u64>,
    pub output_bytes: Option<u64>,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits {
            time_ms: Some(60_000),
            cpu_ms: Some(60_000),
            memory_bytes: Some(1 << 30),
            processes: Some(256),
            open_files: Some(1024),
            file_bytes: Some(1 << 30),
            disk_bytes: Some(256 << 20),
            disk_files: Some(65_536),
            output_bytes: Some(16 << 20),
        }
    }
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    Ended {
        verdict: RunVerdict,
        usage: RunUsage,
        /// Walls that it ran without.
        lacks: Vec<RunLack>,
        #[serde(default)]
        calls: RunCalls,
    },
    /// It was not run, or it is not known what became of it.
    Failed { kind: RunFailure, message: String },
}

impl RunEnd {
    pub fn failed(kind: RunFailure, message: impl Into<String>) -> RunEnd {
        RunEnd::Failed { kind, message: message.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunFailure {
    /// This host cannot keep it in, or there is no room: nothing ran.
    Refused,
    /// The message is its name.
    NoProgram,
    /// It was withdrawn before it began.
    Withdrawn,
    /// The process that watched over it is no more; so is the run.
    Lost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunVerdict {
    Exited(i32),
    Signalled(i32),
    Limited(RunLimit),
    /// Somebody wanted that: of what it said and changed, not all need have come.
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunLimit {
    Time,
    Cpu,
    Memory,
    Output,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunUsage {
    pub time_us: u64,
    pub user_us: u64,
    pub system_us: u64,
    pub memory_bytes: u64,
    pub output_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLack {
    pub wall: String,
    pub why: String,
    pub remedy: String,
}

/// One thing below a layered grant that is not as it was; the bytes of a file follow, in as many frames as it takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunChange {
    pub grant: usize,
    pub path: Word,
    pub kind: RunChangeKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunChangeKind {
    /// More bytes of the file before.
    More,
    #[serde(untagged)]
    Of(ChangeKind),
}

/// Which stream bytes belong to: the first byte of an output frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RunStream {
    Output = 1,
    Error = 2,
    /// What it said to whom it called and heard from them, if that is kept; it comes after the end of all else.
    Recording = 3,
}

impl RunStream {
    pub fn of(byte: u8) -> Option<RunStream> {
        [RunStream::Output, RunStream::Error, RunStream::Recording].into_iter().find(|stream| *stream as u8 == byte)
    }
}

/// A body with its line of JSON and what follows it.
pub fn with_bytes(message: &impl Serialize, bytes: &[&[u8]]) -> Vec<u8> {
    // Our own structures have text for keys.
    let mut body = serde_json::to_vec(message).unwrap_or_default();
    body.push(b'\n');
    bytes.iter().for_each(|bytes| body.extend_from_slice(bytes));
    body
}

/// The same, taken apart.
pub fn split_bytes<T: DeserializeOwned>(body: &[u8]) -> Result<(T, &[u8]), KeeperError> {
    let end = body.iter().position(|byte| *byte == b'\n').unwrap_or(body.len());
    let (line, rest) = body.split_at(end);
    let message = serde_json::from_slice(line).map_err(|error| KeeperError::Protocol(error.to_string()))?;
    Ok((message, rest.get(1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_short_and_a_slip_in_it_is_refused() {
        let order: RunOrder = serde_json::from_str(r#"{"program":["true"]}"#).unwrap();
        assert_eq!(order, RunOrder::new(["true"]));
        let slip = r#"{"program":["true"],"limits":{"memory":5}}"#;
        assert!(serde_json::from_str::<RunOrder>(slip).is_err_and(|error| error.to_string().contains("memory")));
        let limits: RunLimits = serde_json::from_str(r#"{"time_ms":null,"cpu_ms":5}"#).unwrap();
        assert_eq!(limits, RunLimits { time_ms: None, cpu_ms: Some(5), ..RunLimits::default() });
    }

    #[test]
    fn bytes_follow_the_line_whatever_they_are() {
        let word = Word::new(OsStr::from_bytes(b"a\xff\n"));
        let body = with_bytes(&word, &[b"one\n", b"\0two"]);
        let (read, rest): (Word, _) = split_bytes(&body).unwrap();
        assert_eq!((read, rest), (word, &b"one\n\0two"[..]));
        assert!(split_bytes::<RunOrder>(b"{}").is_err());
    }
}
