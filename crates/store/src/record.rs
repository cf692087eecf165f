//! A commit in its three forms: what a caller hands in, what the log and the history hold as bytes, and what history tells.

use crate::bytes::{Fields, checksum};
use crate::error::StoreError;
use crate::pending::Committed;
use object::change::{self, Change, ChangeError, Time};
use std::path::Path;

/// Before author, cause and changes stand the time and their lengths.
const FIXED_BYTES: usize = 16;
const HISTORY_FORM: u8 = 1;

/// What a transaction did, to be made durable as a whole or not at all.
#[derive(Clone, Debug, Default)]
pub struct NewCommit {
    pub time: Time,
    pub author: String,
    pub cause: String,
    /// Of one actor, numbered without gaps; those of the store's own actor go on where the last commit ended.
    pub changes: Vec<Change>,
    pub durability: Durability,
}

/// What `wait` waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// The commit survives a failure of power.
    #[default]
    Flush,
    /// The commit survives the end of the process, but not of the system.
    Os,
}

/// A commit as history tells it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commit {
    pub number: u64,
    pub time: Time,
    pub author: String,
    pub cause: String,
    pub changes: Vec<Change>,
    /// What takes it back, in the order in which it is to be done; each names the change that it takes back. Numbered
    /// from 1 under the commit's own actor: whoever uses them gives them ids of their own. Calls and new objects have none.
    pub inverse: Vec<Change>,
}

impl NewCommit {
    /// The payload of its frame.
    pub fn encode(&self) -> Result<Vec<u8>, StoreError> {
        Ok(encode_payload(self.time, &self.author, &self.cause, &self.changes)?)
    }
}

/// The payload of a commit's frame, in the log and in the journal of a dream.
pub fn encode_payload(time: Time, author: &str, cause: &str, changes: &[Change]) -> Result<Vec<u8>, ChangeError> {
    payload_behind(Vec::new(), time, author, cause, changes)
}

fn payload_behind(
    mut bytes: Vec<u8>,
    time: Time,
    author: &str,
    cause: &str,
    changes: &[Change],
) -> Result<Vec<u8>, ChangeError> {
    bytes.reserve(FIXED_BYTES + author.len() + cause.len());
    bytes.extend(time.0.to_le_bytes());
    bytes.extend((author.len() as u32).to_le_bytes());
    bytes.extend((cause.len() as u32).to_le_bytes());
    bytes.extend(author.as_bytes());
    bytes.extend(cause.as_bytes());
    change::encode_behind(bytes, changes)
}

/// The payload of a frame taken apart, for whoever decodes the parts with bounds of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Payload<'b> {
    pub time: Time,
    pub author: &'b [u8],
    pub cause: &'b [u8],
    /// The changes as `object::change` writes them; nothing, if there are none.
    pub batch: &'b [u8],
}

impl<'b> Payload<'b> {
    /// None if it is shorter than it says.
    pub fn read(bytes: &'b [u8]) -> Option<Payload<'b>> {
        let mut fields = Fields::new(bytes);
        let mut fixed = Fields::new(fields.take(FIXED_BYTES)?);
        let (time, author_bytes, cause_bytes) = (Time(fixed.u64()), fixed.u32(), fixed.u32());
        let author = fields.take(author_bytes as usize)?;
        let cause = fields.take(cause_bytes as usize)?;
        Some(Payload { time, author, cause, batch: fields.rest() })
    }
}

/// A commit without what takes it back.
pub fn decode_payload(number: u64, payload: &[u8], path: &Path) -> Result<Commit, StoreError> {
    let short = || StoreError::corrupt(path, format!("commit {number} is shorter than it says"));
    let Payload { time, author, cause, batch } = Payload::read(payload).ok_or_else(short)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (author, cause, changes) = (text(author), text(cause), change::decode(batch)?);
    Ok(Commit { number, time, author, cause, changes, inverse: Vec::new() })
}

/// The value under which the history keeps a commit: checksum, form, length of the payload, payload, inverse. Written in place
/// of whatever the buffer holds.
pub fn encode_history(commit: &Committed, inverse: &[Change], buffer: &mut Vec<u8>) -> Result<(), StoreError> {
    let mut bytes = std::mem::take(buffer);
    bytes.clear();
    bytes.extend([0; 8]);
    bytes.push(HISTORY_FORM);
    bytes.extend([0; 4]);
    let payload = bytes.len();
    bytes = payload_behind(bytes, commit.time, &commit.author, &commit.cause, &commit.changes)?;
    let payload_bytes = (bytes.len() - payload) as u32;
    bytes[payload - 4..payload].copy_from_slice(&payload_bytes.to_le_bytes());
    bytes = change::encode_behind(bytes, inverse)?;
    let checksum = checksum(commit.number, &bytes[8..]);
    bytes[..8].copy_from_slice(&checksum.to_le_bytes());
    *buffer = bytes;
    Ok(())
}

pub fn decode_history(number: u64, value: &[u8], path: &Path) -> Result<Commit, StoreError> {
    let damaged = |what| StoreError::corrupt(path, format!("commit {number} of the history {what}"));
    let mut fields = Fields::new(value);
    if value.len() < 13 || fields.u64() != checksum(number, &value[8..]) {
        return Err(damaged("does not match its checksum"));
    }
    if fields.u8() != HISTORY_FORM {
        return Err(damaged("has a form that this program does not understand"));
    }
    let payload_bytes = fields.u32() as usize;
    let payload = fields.take(payload_bytes).ok_or_else(|| damaged("is shorter than it says"))?;
    let mut commit = decode_payload(number, payload, path)?;
    commit.inverse = change::decode(fields.rest())?;
    Ok(commit)
}
