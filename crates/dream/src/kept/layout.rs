//! The parts of the file that are no journal: the label in front, the header behind it, files, and the end.

use super::{End, FileChange, Header};
use crate::error::DreamError;
use crate::journal::HEADER_BYTES;
use object::change::Time;
use sandbox::outcome::ChangeKind;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub const MAGIC: &[u8; 8] = b"telosdrm";
pub const VERSION: u32 = 1;
/// Magic, version, and four bytes of nought.
pub const LABEL_BYTES: usize = 16;
/// The last bytes of an end: where its frame begins, and the mark. So it is found without reading what is before it.
pub const TRAILER_BYTES: usize = 16;
const END_MARK: &[u8; 8] = b"telosend";

/// In front of a commit: when it was received.
pub const RECEIPT_BYTES: usize = 8;

/// Of a header, and of an end.
pub const JSON_BYTES_MOST: usize = 1 << 20;
/// Of one file and what is said about it.
pub const FILE_BYTES_MOST: usize = 256 << 20;

pub fn label() -> [u8; LABEL_BYTES] {
    let mut label = [0; LABEL_BYTES];
    label[..8].copy_from_slice(MAGIC);
    label[8..12].copy_from_slice(&VERSION.to_le_bytes());
    label
}

/// The version, if these are the first bytes of a kept dream.
pub fn version_of(label: &[u8]) -> Option<u32> {
    let rest = label.strip_prefix(MAGIC)?;
    rest.first_chunk().map(|version| u32::from_le_bytes(*version))
}

/// The header's frame is checked before anything is known of the dream.
pub fn header_seed() -> u64 {
    store::checksum(0, MAGIC)
}

pub fn encode_header(header: &Header) -> Result<Vec<u8>, DreamError> {
    json("header", header)
}

/// `position` is where the frame begins in the file.
pub fn encode_end(end: &End, position: u64) -> Result<Vec<u8>, DreamError> {
    let mut bytes = json("end", end)?;
    bytes.extend(position.to_le_bytes());
    bytes.extend(END_MARK);
    Ok(bytes)
}

pub fn decode_end(payload: &[u8]) -> Result<End, String> {
    let (told, _) = payload.split_last_chunk::<TRAILER_BYTES>().ok_or("the end is too short")?;
    decode(told)
}

/// Where the end begins, if the file's last bytes are those of one.
pub fn end_position(trailer: &[u8; TRAILER_BYTES], file_bytes: u64) -> Option<u64> {
    let (position, mark) = trailer.split_first_chunk()?;
    let position = u64::from_le_bytes(*position);
    let is_within = position >= LABEL_BYTES as u64
        && position.checked_add((HEADER_BYTES + TRAILER_BYTES) as u64).is_some_and(|least| least <= file_bytes);
    (mark == END_MARK && is_within).then_some(position)
}

/// The length of what is said, that, and the content.
pub fn encode_file(change: &FileChange) -> Result<Vec<u8>, DreamError> {
    let told = json("file", change)?;
    let bytes = 4 + told.len() + change.content().len();
    if bytes > FILE_BYTES_MOST {
        return Err(DreamError::TooLong { what: "changed file", bytes, most: FILE_BYTES_MOST });
    }
    let mut payload = Vec::with_capacity(bytes);
    payload.extend((told.len() as u32).to_le_bytes());
    payload.extend(told);
    payload.extend(change.content());
    Ok(payload)
}

/// Without its content.
pub fn decode_file_told(payload: &[u8]) -> Result<FileChange, String> {
    decode(split_file(payload)?.0)
}

fn split_file(payload: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let short = "it is shorter than it says";
    let (length, rest) = payload.split_first_chunk().ok_or(short)?;
    Ok(rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or(short)?)
}

pub fn decode_file(payload: &[u8]) -> Result<FileChange, String> {
    let (told, content) = split_file(payload)?;
    let mut change: FileChange = decode(told)?;
    match &mut change.written {
        ChangeKind::File { bytes, .. } => bytes.extend(content),
        _ if content.is_empty() => {}
        _ => return Err("something that is no file has bytes".into()),
    }
    Ok(change)
}

/// The time of receipt, and the commit as it came.
pub fn split_receipt(payload: &[u8]) -> Result<(Time, &[u8]), String> {
    let (receipt, commit) = payload.split_first_chunk().ok_or("a commit is shorter than it says")?;
    Ok((Time(u64::from_le_bytes(*receipt)), commit))
}

pub fn decode<T: DeserializeOwned>(told: &[u8]) -> Result<T, String> {
    serde_json::from_slice(told).map_err(|error| error.to_string())
}

fn json(what: &'static str, value: &impl Serialize) -> Result<Vec<u8>, DreamError> {
    let bytes = serde_json::to_vec(value).expect("plain data without maps is JSON");
    let most = JSON_BYTES_MOST - TRAILER_BYTES;
    if bytes.len() > most {
        return Err(DreamError::TooLong { what, bytes: bytes.len(), most });
    }
    Ok(bytes)
}
