//! File: opening and closing. Owns the way from a File to its open stream.

use super::file::{fail, path_of, reason};
use super::started::Started;
use super::stream::Stream;
use super::{Shared, process, set_path};
use language::{Args, Outcome, Signal, Value, Vm};
use object::Foreign;
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::any::Any;
use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::rc::Rc;

/// What an open File weighs: most of it is what was read ahead. The collector is told, for it closes forgotten files.
const OPEN_BYTES: usize = 8 * 1024;

/// The stream of an open File.
struct Open(Rc<RefCell<Stream>>);

impl Foreign for Open {
    fn logical_bytes(&self) -> usize {
        OPEN_BYTES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

pub fn stream_of(vm: &Vm, file: Value) -> Option<Rc<RefCell<Stream>>> {
    vm.foreign::<Open>(file).map(|open| open.0.clone())
}

pub fn attach(vm: &mut Vm, file: Value, stream: Stream) {
    let stream = Rc::new(RefCell::new(stream));
    if let Some(shared) = vm.extra::<Shared>() {
        shared.track(&stream);
    }
    attach_shared(vm, file, stream);
}

fn attach_shared(vm: &mut Vm, file: Value, stream: Rc<RefCell<Stream>>) {
    vm.set_foreign(file, Open(stream));
}

pub fn with_stream<R>(
    vm: &mut Vm,
    args: &Args,
    what: &str,
    act: impl FnOnce(&mut Stream) -> io::Result<R>,
) -> Result<R, Signal> {
    let Some(stream) = stream_of(vm, args.target) else {
        return Err(fail(vm, args, what, &io::Error::other("it is not open")));
    };
    let result = act(&mut stream.borrow_mut());
    result.map_err(|error| fail(vm, args, what, &error))
}

pub fn standard(vm: &mut Vm, args: &Args, name: &str, make: fn(&Shared) -> Stream) -> Outcome {
    let Some(stream) = vm.extra::<Shared>().map(|shared| make(shared)) else { return Ok(Value::NIL) };
    let file = vm.object(args.target);
    let name = vm.symbol(name);
    vm.set_slot(file, "path", name);
    attach(vm, file, stream);
    Ok(file)
}

/// An open file without a name: it is gone when it is closed.
pub fn temporary_file(vm: &mut Vm, args: Args) -> Outcome {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    for attempt in 0..1000 {
        let path = std::env::temp_dir().join(format!("telos-{}-{attempt}", std::process::id()));
        match with_descriptors(vm, || options.open(&path)) {
            Ok(opened) => {
                if let Err(error) = fs::remove_file(&path) {
                    return Err(vm.raise(format!("cannot make a temporary file: {}", reason(&error))));
                }
                let file = vm.object(args.target);
                attach(vm, file, Stream::disk(opened));
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(vm.raise(format!("cannot make a temporary file: {}", reason(&error)))),
        }
    }
    Err(vm.raise("cannot make a temporary file: all names are taken"))
}

pub fn open_for(vm: &mut Vm, args: Args, mode: &str) -> Outcome {
    let mode = vm.symbol(mode);
    vm.set_slot(args.target, "openMode", mode);
    open(vm, args)
}

pub fn open(vm: &mut Vm, args: Args) -> Outcome {
    if args.count > 0 {
        set_path(vm, &args)?;
    }
    if stream_of(vm, args.target).is_some() {
        return Ok(args.target);
    }
    let path = path_of(vm, &args)?;
    let mode = vm.get_slot(args.target, "openMode").and_then(|mode| vm.text_of(mode)).unwrap_or_default();
    match with_descriptors(vm, || open_at_once(&mut options_for(&mode), &path)) {
        Ok(opened) => {
            attach(vm, args.target, Stream::disk(opened));
            Ok(args.target)
        }
        Err(error) => Err(fail(vm, &args, "open", &error)),
    }
}

/// Does what needs file descriptors. If there are none left, files that nobody refers to are closed first.
pub fn with_descriptors<R>(vm: &mut Vm, mut open: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    let exhausted = [Errno::MFILE, Errno::NFILE].map(|errno| Some(errno.raw_os_error()));
    match open() {
        Err(error) if exhausted.contains(&error.raw_os_error()) => {
            vm.collect();
            open()
        }
        opened => opened,
    }
}

/// Opens a file without waiting for anybody: a pipe whose writer has not come would hold the machine, deaf to stops. Whoever
/// reads from it waits for the writer's words, and looks up meanwhile.
pub fn open_at_once(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let opened = options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    let flags = rustix::fs::fcntl_getfl(&opened)?;
    rustix::fs::fcntl_setfl(&opened, flags - OFlags::NONBLOCK)?;
    Ok(opened)
}

fn options_for(mode: &str) -> OpenOptions {
    let mut options = OpenOptions::new();
    match mode {
        "read" | "r" => options.read(true),
        "append" | "a" | "a+" => options.read(true).append(true).create(true),
        "w" | "w+" => options.read(true).write(true).create(true).truncate(true),
        _ => options.read(true).write(true).create(true).truncate(false),
    };
    options
}

/// From now on the other File reads and writes what is at this one's path.
pub fn reopen(vm: &mut Vm, args: Args) -> Outcome {
    let other = args.value(vm, 0);
    let Some(stream) = stream_of(vm, other) else { return Err(args.wrong(vm, 0, "File that is open")) };
    let mode = if args.count > 1 { args.value(vm, 1) } else { vm.get_slot(other, "openMode").unwrap_or(Value::NIL) };
    vm.set_slot(args.target, "openMode", mode);
    let mode = vm.text_of(mode).unwrap_or_default();
    let path = path_of(vm, &args)?;
    match with_descriptors(vm, || open_at_once(&mut options_for(&mode), &path)) {
        Ok(opened) => {
            *stream.borrow_mut() = Stream::disk(opened);
            attach_shared(vm, args.target, stream);
            Ok(args.target)
        }
        Err(error) => Err(fail(vm, &args, "open", &error)),
    }
}

/// Runs the path, or the argument, as a command whose output is read.
pub fn popen(vm: &mut Vm, args: Args) -> Outcome {
    if args.count > 0 {
        set_path(vm, &args)?;
    }
    let command = path_of(vm, &args)?.into_os_string();
    let mut shell = process::shell(vm, command);
    match with_descriptors(vm, || Started::spawn(shell.stdout(Stdio::piped()))) {
        Ok(mut command) => {
            let reader = command.take_stdout().map(io::BufReader::new);
            attach(vm, args.target, Stream::Command { reader, command: Some(command) });
            Ok(args.target)
        }
        Err(error) => Err(fail(vm, &args, "run", &error)),
    }
}

pub fn close(vm: &mut Vm, args: Args) -> Outcome {
    let Some(stream) = stream_of(vm, args.target) else { return Ok(args.target) };
    vm.clear_foreign(args.target);
    let mut stream = stream.borrow_mut();
    match stream.finish() {
        Ok(Some(command)) => {
            let status = process::wait(vm, command)?;
            let number = |number: Option<i32>| number.map_or(Value::NIL, |number| Value::number(number.into()));
            vm.set_slot(args.target, "exitStatus", number(status.code()));
            vm.set_slot(args.target, "termSignal", number(status.signal()));
            Ok(args.target)
        }
        Ok(None) => Ok(args.target),
        Err(error) => Err(fail(vm, &args, "close", &error)),
    }
}

pub fn descriptor(vm: &mut Vm, args: Args) -> Outcome {
    vm.heap().note_machine();
    let stream = stream_of(vm, args.target);
    Ok(stream.map_or(Value::NIL, |stream| Value::number(stream.borrow().descriptor().into())))
}
