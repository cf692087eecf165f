//! Processes: shell commands, and this one's number.

use super::file::reason;
use super::open::with_descriptors;
use super::read::{Gathered, WAIT_SLICE, wait_slice};
use super::started::Started;
use super::{Row, Shared, bytes_for_host, os_string};
use language::{Args, Halt, NONE, ONE, Outcome, Signal, Value, Vm};
use object::sequence::Sequence;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::cell::RefCell;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// What is read of a command at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The first look whether a command has ended comes after this; most are short.
const FIRST_PAUSE: Duration = Duration::from_micros(200);

pub const TABLE: &[Row] = &[
    ("system", ONE, system),
    ("systemOutput", ONE, system_output),
    ("thisProcessPid", NONE, |_, _| Ok(Value::number(std::process::id().into()))),
];

thread_local! {
    /// Commands that nobody waits for any more. They may go on, but each keeps its number until it was asked how it ended.
    static ABANDONED: RefCell<Vec<Started>> = const { RefCell::new(Vec::new()) };
}

/// Leaves a command to itself, its File having been forgotten.
pub fn abandon(command: Started) {
    ABANDONED.with_borrow_mut(|abandoned| abandoned.push(command));
    forget_ended();
}

fn forget_ended() {
    ABANDONED.with_borrow_mut(|abandoned| abandoned.retain_mut(|command| matches!(command.try_wait(), Ok(None))));
}

/// A shell that will run the command with the variables that the program has set.
pub fn shell(vm: &mut Vm, command: OsString) -> Command {
    forget_ended();
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command);
    if let Some(shared) = vm.extra::<Shared>() {
        shared.output.flush();
        shell.envs(&shared.environment);
    }
    shell
}

/// Runs a command and answers its exit status.
fn system(vm: &mut Vm, args: Args) -> Outcome {
    let command = bytes_for_host(vm, &args, 0)?;
    let mut command = spawn(vm, command, |_| {})?;
    let status = wait(vm, &mut command)?;
    Ok(number(status))
}

/// Runs a command and answers a list of its exit status, its output and what it wrote to standard error.
fn system_output(vm: &mut Vm, args: Args) -> Outcome {
    let command = bytes_for_host(vm, &args, 0)?;
    let mut command = spawn(vm, command, |shell| {
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    })?;
    match collect_output(vm, &mut command) {
        Ok([output, errors]) => {
            let status = wait(vm, &mut command)?;
            let [output, errors] = [output, errors].map(|part| vm.buffer(Sequence::from_vec(part.bytes)));
            Ok(vm.list([number(status), output, errors]))
        }
        Err(signal) => {
            command.end();
            Err(signal)
        }
    }
}

fn spawn(vm: &mut Vm, command: Vec<u8>, connect: fn(&mut Command)) -> Result<Started, Signal> {
    let command = os_string(command);
    let shown = command.to_string_lossy().into_owned();
    let mut shell = shell(vm, command);
    connect(&mut shell);
    with_descriptors(vm, || Started::spawn(&mut shell))
        .map_err(|error| vm.raise(format!("cannot run \"{shown}\": {}", reason(&error))))
}

/// Both outputs of a command, until it closes them, or has ended and left them to a child of its own.
fn collect_output(vm: &mut Vm, command: &mut Started) -> Result<[Gathered; 2], Signal> {
    let mut gathered = [Gathered::default(), Gathered::default()];
    let mut pipes: [Option<OwnedFd>; 2] =
        [command.take_stdout().map(Into::into), command.take_stderr().map(Into::into)];
    let interrupt = vm.extra::<Shared>().map(|shared| shared.interrupt.clone()).unwrap_or_default();
    let mut chunk = vec![0; CHUNK_BYTES];
    while pipes.iter().any(Option::is_some) {
        // Asked before looking: what it wrote before its end is in the pipe then.
        let has_ended = matches!(command.try_wait(), Ok(Some(_)));
        let open = || pipes.iter().flatten();
        let mut descriptors: Vec<PollFd<'_>> = open().map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
        if wait_slice(&mut descriptors, &interrupt)? == 0 {
            if has_ended {
                break;
            }
            continue;
        }
        let mut is_ready = descriptors.iter().map(|each| !each.revents().is_empty()).collect::<Vec<_>>().into_iter();
        for at in 0..pipes.len() {
            let Some(pipe) = &pipes[at] else { continue };
            if is_ready.next() != Some(true) {
                continue;
            }
            match rustix::io::read(pipe, &mut chunk[..]) {
                Ok(0) => pipes[at] = None,
                Ok(count) => {
                    let beside = gathered[1 - at].bytes.len();
                    gathered[at].take(vm, &chunk[..count], beside)?;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(vm.raise(format!("cannot read what the command writes: {error}"))),
            }
        }
    }
    Ok(gathered)
}

/// Waits for a command's end. A program that is stopped meanwhile takes the command with it.
pub fn wait(vm: &mut Vm, command: &mut Started) -> Result<ExitStatus, Signal> {
    let interrupt = vm.extra::<Shared>().map(|shared| shared.interrupt.clone()).unwrap_or_default();
    let mut pause = FIRST_PAUSE;
    loop {
        match command.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if interrupt.take() => {
                command.end();
                return Err(Halt::Interrupted.into());
            }
            Ok(None) => {}
            Err(error) => return Err(vm.raise(format!("cannot wait for the command: {}", reason(&error)))),
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(WAIT_SLICE);
    }
}

/// An exit status; 128 and the signal's number if a signal ended it, as shells do.
fn number(status: ExitStatus) -> Value {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Value::number(code.unwrap_or(-1).into())
}
