//! Directory: what is in it, and where the program is.

use super::file::{fail, note_refused, path_of, reason};
use super::open::with_descriptors;
use super::{Row, os_argument, own_process, symbol_of_os};
use language::{Args, NONE, ONE, Outcome, Signal, Value, Vm};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub const TABLE: &[Row] = &[
    ("exists", ONE, |vm, args| {
        let path = match args.count {
            0 => path_of(vm, &args)?,
            _ => given(vm, &args, Path::new(""))?,
        };
        Ok(Value::boolean(path.is_dir()))
    }),
    ("items", NONE, |vm, args| {
        let path = path_of(vm, &args)?;
        let mut items = Vec::new();
        for name in names(vm, &args)? {
            items.push(item(vm, &joined(&path, &name)));
        }
        Ok(vm.list(items))
    }),
    ("size", NONE, |vm, args| Ok(Value::number(names(vm, &args)?.len() as f64))),
    ("at", ONE, |vm, args| {
        let path = path_of(vm, &args)?;
        let path = given(vm, &args, &path)?;
        Ok(if path.exists() { item(vm, &path) } else { Value::NIL })
    }),
    ("create", NONE, |vm, args| {
        let path = path_of(vm, &args)?;
        Ok(if path.is_dir() || made(vm, &path).is_ok() { args.target } else { Value::NIL })
    }),
    ("createSubdirectory", ONE, create_subdirectory),
    ("currentWorkingDirectory", NONE, |vm, _| match std::env::current_dir() {
        Ok(path) => Ok(symbol_of_os(vm, path.as_os_str())),
        Err(error) => Err(vm.raise(format!("cannot find the current directory: {}", reason(&error)))),
    }),
    ("setCurrentWorkingDirectory", ONE, |vm, args| {
        let path = given(vm, &args, Path::new(""))?;
        Ok(Value::boolean(std::env::set_current_dir(path).is_ok()))
    }),
];

/// Names in the directory in their order, after `.` and `..`, which the system counts too.
fn names(vm: &mut Vm, args: &Args) -> Result<Vec<OsString>, Signal> {
    let path = path_of(vm, args)?;
    let read = || -> io::Result<Vec<OsString>> {
        fs::read_dir(&path)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    };
    let mut names = with_descriptors(vm, read).map_err(|error| fail(vm, args, "read the directory", &error))?;
    vm.charge(names.len())?;
    names.extend([".".into(), "..".into()]);
    names.sort();
    Ok(names)
}

/// A path with a name appended as text: joining would drop the `.` that a program may look for.
fn joined(path: &Path, name: &OsString) -> PathBuf {
    let mut joined = path.as_os_str().to_os_string();
    if !joined.is_empty() && !joined.as_encoded_bytes().ends_with(b"/") {
        joined.push("/");
    }
    joined.push(name);
    joined.into()
}

/// A Directory or File for a path.
fn item(vm: &mut Vm, path: &Path) -> Value {
    let proto = vm.prototype(if path.is_dir() { "Directory" } else { "File" });
    let item = vm.object(proto);
    let path = symbol_of_os(vm, path.as_os_str());
    vm.set_slot(item, "path", path);
    item
}

/// The path that is the first argument, below another.
fn given(vm: &mut Vm, args: &Args, below: &Path) -> Result<PathBuf, Signal> {
    let path = below.join(os_argument(vm, args, 0)?);
    Ok(own_process::seen(vm, path))
}

fn made(vm: &mut Vm, path: &Path) -> io::Result<()> {
    fs::create_dir(path).inspect_err(|error| note_refused(vm, "make", path, error))
}

fn create_subdirectory(vm: &mut Vm, args: Args) -> Outcome {
    let path = path_of(vm, &args)?;
    let path = given(vm, &args, &path)?;
    if path.is_dir() {
        return Ok(item(vm, &path));
    }
    match made(vm, &path) {
        Ok(()) => Ok(item(vm, &path)),
        Err(error) => Err(vm.raise(format!("cannot create the directory \"{}\": {}", path.display(), reason(&error)))),
    }
}
