//! File: reading, writing, moving and removing. The path is a slot, so that a File means the same in another process; the open
//! stream is not, and belongs to this one.

use super::open::{close, descriptor, open, open_for, popen, reopen, standard, stream_of, temporary_file, with_stream};
use super::read::{Until, read, read_line, read_lines, read_path, wait};
use super::stream::Stream;
use super::{Row, Shared, bytes_to_write, os_argument, os_string, own_process, set_path, told_bytes};
use language::{ALL, Args, NONE, ONE, Outcome, Signal, TWO, Value, Vm};
use object::Kind;
use object::sequence::{SIZE_LIMIT_BYTES, Sequence};
use std::fs::{self, OpenOptions};
use std::io::{self, SeekFrom};
use std::path::{Path, PathBuf};

/// What needs both files and processes.
pub const COMMAND_TABLE: &[Row] = &[("popen", ONE, popen)];

/// What a File and a Directory have in common.
pub const PATH_TABLE: &[Row] = &[
    ("setPath", ONE, |vm, args| {
        set_path(vm, &args)?;
        Ok(args.target)
    }),
    ("name", NONE, |vm, args| {
        let path = path_of(vm, &args)?;
        Ok(name_of(vm, &path))
    }),
];

pub const TABLE: &[Row] = &[
    ("standardInput", NONE, |vm, args| standard(vm, &args, "<standard input>", |_| Stream::Input)),
    ("standardOutput", NONE, |vm, args| {
        standard(vm, &args, "<standard output>", |shared| Stream::Output(shared.output.clone()))
    }),
    ("standardError", NONE, |vm, args| standard(vm, &args, "<standard error>", |_| Stream::Error)),
    ("temporaryFile", NONE, temporary_file),
    ("mode", NONE, |vm, args| Ok(vm.get_slot(args.target, "openMode").unwrap_or(Value::NIL))),
    ("open", ONE, open),
    ("openForReading", ONE, |vm, args| open_for(vm, args, "read")),
    ("openForUpdating", ONE, |vm, args| open_for(vm, args, "update")),
    ("openForAppending", ONE, |vm, args| open_for(vm, args, "append")),
    ("reopen", TWO, reopen),
    ("close", NONE, close),
    ("isOpen", NONE, |vm, args| Ok(Value::boolean(stream_of(vm, args.target).is_some()))),
    ("descriptor", NONE, descriptor),
    ("descriptorId", NONE, descriptor),
    ("contents", NONE, contents),
    ("asBuffer", NONE, contents),
    ("readLine", NONE, |vm, args| {
        let line = read_line(vm, &args)?;
        Ok(line.map_or(Value::NIL, |line| buffer(vm, line)))
    }),
    ("readLines", NONE, |vm, args| {
        if stream_of(vm, args.target).is_none() {
            open_for(vm, args, "read")?;
        }
        read_lines(vm, &args)
    }),
    ("readBufferOfLength", ONE, |vm, args| {
        let bytes = read_count(vm, &args, 0)?;
        Ok(if bytes.is_empty() { Value::NIL } else { buffer(vm, bytes) })
    }),
    ("readStringOfLength", ONE, |vm, args| {
        let bytes = read_count(vm, &args, 0)?;
        Ok(if bytes.is_empty() { Value::NIL } else { vm.immutable(Sequence::from_vec(bytes)) })
    }),
    ("readToBufferLength", TWO, read_to_buffer),
    ("at", ONE, |vm, args| {
        seek(vm, &args)?;
        let byte = read(vm, &args, Until::Count(1))?;
        Ok(byte.first().map_or(Value::NIL, |&byte| Value::number(byte.into())))
    }),
    ("atPut", TWO, |vm, args| {
        let byte = args.integer(vm, 1)? as u8;
        seek(vm, &args)?;
        with_stream(vm, &args, "write to", |stream| stream.write(&[byte]))?;
        Ok(args.target)
    }),
    ("write", ALL, write),
    ("flush", NONE, |vm, args| {
        with_stream(vm, &args, "write to", Stream::flush)?;
        Ok(args.target)
    }),
    ("rewind", NONE, |vm, args| {
        with_stream(vm, &args, "rewind", |stream| stream.seek(SeekFrom::Start(0)))?;
        Ok(args.target)
    }),
    ("setPosition", ONE, |vm, args| {
        seek(vm, &args)?;
        Ok(args.target)
    }),
    ("position", NONE, |vm, args| {
        let at = with_stream(vm, &args, "find the position in", |stream| stream.seek(SeekFrom::Current(0)))?;
        Ok(Value::number(at as f64))
    }),
    ("positionAtEnd", NONE, |vm, args| {
        with_stream(vm, &args, "set the position in", |stream| stream.seek(SeekFrom::End(0)))?;
        Ok(args.target)
    }),
    ("isAtEnd", NONE, |vm, args| {
        if let Some(stream) = stream_of(vm, args.target) {
            wait(vm, &args, &mut stream.borrow_mut())?;
        }
        with_stream(vm, &args, "read", Stream::is_at_end).map(Value::boolean)
    }),
    ("remove", NONE, remove),
    ("moveTo", ONE, move_to),
    ("truncateToSize", ONE, truncate),
];

/// The path of the File or Directory that a primitive was sent to.
pub fn path_of(vm: &mut Vm, args: &Args) -> Result<PathBuf, Signal> {
    let path = vm.get_slot(args.target, "path").and_then(|path| vm.sequence_of(path));
    match path.map(told_bytes) {
        Some(path) => Ok(own_process::seen(vm, PathBuf::from(os_string(path)))),
        None => Err(vm.raise("the path must be a Sequence: set it with setPath")),
    }
}

/// The last component as text, also where it is `.` or `..`.
pub fn name_of(vm: &mut Vm, path: &Path) -> Value {
    let bytes = path.as_os_str().as_encoded_bytes();
    let end = bytes.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    let start = bytes[..end].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    vm.immutable(Sequence::from_bytes(&bytes[start..end]))
}

/// An exception that names the file.
pub fn fail(vm: &mut Vm, args: &Args, what: &str, error: &io::Error) -> Signal {
    match path_of(vm, args) {
        Ok(path) => {
            note_refused(vm, what, &path, error);
            vm.raise(format!("cannot {what} \"{}\": {}", path.display(), reason(error)))
        }
        Err(signal) => signal,
    }
}

/// In a dream: that the system refused this, also if the program is told nothing of it.
pub fn note_refused(vm: &mut Vm, what: &str, path: &Path, error: &io::Error) {
    if let Some(line) = vm.extra::<Shared>().and_then(|shared| shared.outside.as_ref()) {
        line.note_refused(what, path, error);
    }
}

/// The system's words without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn buffer(vm: &mut Vm, bytes: Vec<u8>) -> Value {
    vm.buffer(Sequence::from_vec(bytes))
}

/// All of the file at the path; of standard input and commands, all that is left.
pub fn contents(vm: &mut Vm, args: Args) -> Outcome {
    let is_stream = stream_of(vm, args.target).map(|stream| !matches!(*stream.borrow(), Stream::Disk { .. }));
    let bytes = match is_stream {
        Some(true) => read(vm, &args, Until::End)?,
        Some(false) => {
            with_stream(vm, &args, "write to", Stream::flush)?;
            read_path(vm, &args)?
        }
        None => read_path(vm, &args)?,
    };
    Ok(buffer(vm, bytes))
}

fn read_count(vm: &mut Vm, args: &Args, index: usize) -> Result<Vec<u8>, Signal> {
    let count = args.number(vm, index)?.max(0.0) as u64;
    read(vm, args, Until::Count(count))
}

fn read_to_buffer(vm: &mut Vm, args: Args) -> Outcome {
    let buffer = args.of_kind(vm, 0, Kind::Sequence)?;
    if vm.heap().object(buffer).has(object::flag::SYMBOL) {
        return Err(args.wrong(vm, 0, "mutable Sequence"));
    }
    let bytes = read_count(vm, &args, 1)?;
    let count = bytes.len();
    let size = vm.sequence_of(Value::object(buffer)).map_or(0, Sequence::size_in_bytes);
    if size.saturating_add(count) > SIZE_LIMIT_BYTES {
        return Err(vm.raise(format!("the buffer is full: a Sequence holds {SIZE_LIMIT_BYTES} bytes")));
    }
    let bytes = Sequence::from_vec(bytes);
    vm.sequence_edit(Value::object(buffer), |sequence| sequence.append_seq(&bytes));
    Ok(Value::number(count as f64))
}

fn seek(vm: &mut Vm, args: &Args) -> Result<(), Signal> {
    let to = args.number(vm, 0)?.max(0.0) as u64;
    with_stream(vm, args, "set the position in", |stream| stream.seek(SeekFrom::Start(to))).map(|_| ())
}

fn write(vm: &mut Vm, args: Args) -> Outcome {
    let mode = vm.get_slot(args.target, "openMode").and_then(|mode| vm.text_of(mode)).unwrap_or_default();
    if mode == "read" && stream_of(vm, args.target).is_some() {
        return Err(fail(vm, &args, "write to", &io::Error::other("it is open for reading only")));
    }
    for index in 0..args.count {
        let bytes = bytes_to_write(vm, &args, index)?;
        vm.charge(bytes.len() / 16)?;
        with_stream(vm, &args, "write to", |stream| stream.write(&bytes))?;
    }
    Ok(args.target)
}

fn remove(vm: &mut Vm, args: Args) -> Outcome {
    let path = path_of(vm, &args)?;
    let removed = match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir(&path),
        Ok(_) => fs::remove_file(&path),
        Err(error) => {
            note_refused(vm, "remove", &path, &error);
            Ok(())
        }
    };
    match removed {
        Ok(()) => Ok(args.target),
        Err(error) => Err(fail(vm, &args, "remove", &error)),
    }
}

fn move_to(vm: &mut Vm, args: Args) -> Outcome {
    let to = os_argument(vm, &args, 0)?;
    match fs::rename(path_of(vm, &args)?, &to) {
        Ok(()) => Ok(args.target),
        Err(error) => {
            note_refused(vm, "write to", Path::new(&to), &error);
            Err(fail(vm, &args, &format!("move to \"{}\"", to.display()), &error))
        }
    }
}

/// A file that is not there has nothing to cut off.
fn truncate(vm: &mut Vm, args: Args) -> Outcome {
    let size = args.number(vm, 0)?.max(0.0) as u64;
    let opened = OpenOptions::new().write(true).open(path_of(vm, &args)?);
    match opened.and_then(|file| file.set_len(size)) {
        Ok(()) => Ok(args.target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(args.target),
        Err(error) => Err(fail(vm, &args, "cut", &error)),
    }
}
