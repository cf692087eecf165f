//! Files of the live image: all that this process may. Nothing here waits for the other end of a pipe.

use super::{Writing, failure, listed, read_all, write_all};
use crate::call::Call;
use crate::error::Refusal;
use crate::value::Value;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// More does not cross at once.
const BYTES_MAX: u64 = 64 << 20;

pub fn live(call: &Call) -> Result<Vec<Value>, Refusal> {
    let path = call.path(0)?;
    let failed = |error| failure(call, &error);
    match call.name.as_str() {
        "File.read" => read_all(call, open(call, path, OpenOptions::new().read(true))?, BYTES_MAX),
        "File.write" => written(call, path, Writing::Anew),
        "File.append" => written(call, path, Writing::AtEnd),
        "File.remove" => std::fs::remove_file(path).map(|()| vec![Value::Nil]).map_err(failed),
        "File.exists" => Ok(vec![Value::Number(path.try_exists().map_err(failed)?.into())]),
        "Directory.list" => {
            let entries = std::fs::read_dir(path).map_err(failed)?;
            listed(call, entries.map(|entry| Ok(entry?.file_name().into_vec())))
        }
        other => Err(Refusal::failed(format!("`{other}` is no call of files"))),
    }
}

fn written(call: &Call, path: &Path, writing: Writing) -> Result<Vec<Value>, Refusal> {
    let bytes = call.bytes(1, "what is written")?;
    let mut options = OpenOptions::new();
    options.create(true).write(true).append(writing == Writing::AtEnd);
    write_all(call, open(call, path, &mut options)?, writing, bytes)
}

fn open(call: &Call, path: &Path, options: &mut OpenOptions) -> Result<File, Refusal> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.custom_flags(flags.bits() as i32).open(path).map_err(|error| failure(call, &error))
}
