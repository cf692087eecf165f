//! Files: of the live image as they are, of dreams below directories of the house only.

mod beneath;
mod live;

pub use beneath::beneath;
pub use live::live;

use crate::call::Call;
use crate::error::Refusal;
use crate::value::Value;
use rustix::fs::{FileType, fstat};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Anew,
    AtEnd,
}

/// The names of a directory, each a line. What is no text there, or would be two lines, has U+FFFD in its place.
const NAMES_BYTES_MAX: usize = 8 << 20;

/// What is read may grow meanwhile: it is the bytes that are counted.
fn read_all(call: &Call, file: File, limit_bytes: u64) -> Result<Vec<Value>, Refusal> {
    let mut bytes = Vec::new();
    file.take(limit_bytes + 1).read_to_end(&mut bytes).map_err(|error| failure(call, &error))?;
    match bytes.len() as u64 <= limit_bytes {
        true => Ok(vec![Value::Bytes(bytes)]),
        false => Err(Refusal::failed(format!(
            "`{}`: the file has more than {} MiB; read less of it with a command",
            call.name,
            limit_bytes >> 20
        ))),
    }
}

fn write_all(call: &Call, mut file: File, writing: Writing, bytes: &[u8]) -> Result<Vec<Value>, Refusal> {
    let emptied = match writing {
        // What is no plain file has no length to set.
        Writing::Anew if is_plain(&file) => file.set_len(0),
        Writing::Anew | Writing::AtEnd => Ok(()),
    };
    emptied.and_then(|()| file.write_all(bytes)).map_err(|error| failure(call, &error))?;
    Ok(vec![Value::Nil])
}

fn is_plain(file: impl AsFd) -> bool {
    fstat(file).is_ok_and(|details| FileType::from_raw_mode(details.st_mode) == FileType::RegularFile)
}

fn listed(call: &Call, names: impl Iterator<Item = io::Result<Vec<u8>>>) -> Result<Vec<Value>, Refusal> {
    let mut lines = Vec::new();
    let mut size_bytes = 0;
    for name in names {
        let name = name.map_err(|error| failure(call, &error))?;
        size_bytes += name.len() + 1;
        if size_bytes > NAMES_BYTES_MAX {
            return Err(Refusal::failed(format!("`{}`: the directory has too many names; use a command", call.name)));
        }
        lines.push(String::from_utf8_lossy(&name).replace('\n', "\u{fffd}"));
    }
    lines.sort_unstable();
    Ok(vec![Value::Text(lines.join("\n"))])
}

fn failure(call: &Call, error: &io::Error) -> Refusal {
    let path = call.arguments.first().and_then(Value::as_bytes).unwrap_or_default();
    let path: String = String::from_utf8_lossy(path).chars().take(256).flat_map(char::escape_debug).collect();
    Refusal::failed(format!("`{}` of \"{path}\": {error}", call.name))
}
