//! File: what the system knows of the thing at its path.

use super::Row;
use super::file::{fail, path_of};
use language::{Args, NONE, ONE, Outcome, Signal, Value, Vm};
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

const USER_EXECUTABLE: u32 = 0o100;

pub const TABLE: &[Row] = &[
    ("exists", ONE, |vm, args| {
        let path = match args.count {
            0 => path_of(vm, &args)?,
            _ => {
                let path = super::os_argument(vm, &args, 0)?.into();
                super::own_process::seen(vm, path)
            }
        };
        Ok(Value::boolean(path.exists()))
    }),
    ("stat", NONE, |vm, args| metadata(vm, &args).map(|_| args.target)),
    ("size", NONE, |vm, args| number(vm, &args, |metadata| metadata.len() as f64)),
    ("protectionMode", NONE, |vm, args| number(vm, &args, |metadata| metadata.mode().into())),
    ("userId", NONE, |vm, args| number(vm, &args, |metadata| metadata.uid().into())),
    ("groupId", NONE, |vm, args| number(vm, &args, |metadata| metadata.gid().into())),
    ("lastAccessDate", NONE, |vm, args| date(vm, &args, |metadata| (metadata.atime(), metadata.atime_nsec()))),
    ("lastInfoChangeDate", NONE, |vm, args| date(vm, &args, |metadata| (metadata.ctime(), metadata.ctime_nsec()))),
    ("lastDataChangeDate", NONE, |vm, args| date(vm, &args, |metadata| (metadata.mtime(), metadata.mtime_nsec()))),
    ("isDirectory", NONE, |vm, args| truth(vm, &args, Metadata::is_dir)),
    ("isRegularFile", NONE, |vm, args| truth(vm, &args, Metadata::is_file)),
    ("isPipe", NONE, |vm, args| truth(vm, &args, |metadata| metadata.file_type().is_fifo())),
    ("isSocket", NONE, |vm, args| truth(vm, &args, |metadata| metadata.file_type().is_socket())),
    ("isUserExecutable", NONE, |vm, args| truth(vm, &args, |metadata| metadata.mode() & USER_EXECUTABLE != 0)),
    ("isLink", NONE, |vm, args| {
        let path = path_of(vm, &args)?;
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Value::boolean(metadata.is_symlink())),
            Err(error) => Err(fail(vm, &args, "look at", &error)),
        }
    }),
];

fn metadata(vm: &mut Vm, args: &Args) -> Result<Metadata, Signal> {
    let path = path_of(vm, args)?;
    fs::metadata(path).map_err(|error| fail(vm, args, "look at", &error))
}

fn number(vm: &mut Vm, args: &Args, read: fn(&Metadata) -> f64) -> Outcome {
    metadata(vm, args).map(|metadata| Value::number(read(&metadata)))
}

fn truth(vm: &mut Vm, args: &Args, read: fn(&Metadata) -> bool) -> Outcome {
    metadata(vm, args).map(|metadata| Value::boolean(read(&metadata)))
}

fn date(vm: &mut Vm, args: &Args, read: fn(&Metadata) -> (i64, i64)) -> Outcome {
    let (seconds, nanoseconds) = read(&metadata(vm, args)?);
    Ok(vm.date(seconds as f64 + nanoseconds as f64 / 1e9))
}
