//! A command of the live image: `/bin/sh -c`, in a process group of its own, so that what it starts can be ended with it.

use super::OUTPUT_BYTES_MAX;
use crate::call::Call;
use crate::error::Refusal;
use crate::stop::Stop;
use crate::value::Value;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

/// The variable by which a command can tell that it is run for the same call again.
const KEY: &str = "TELOS_DELIVERY_KEY";
/// What is read at once.
const CHUNK_BYTES: usize = 64 << 10;

pub fn live(call: &Call, stop: &Stop) -> Result<Vec<Value>, Refusal> {
    let cannot = |error: io::Error| Refusal::failed(format!("cannot run the command: {error}"));
    let mut shell = shell(call)?;
    let awake =
        Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(|error| cannot(error.into()))?);
    let waking = Arc::clone(&awake);
    let _watch = stop.watch(move || {
        // A counter that cannot be written to is full, and wakes all the same.
        let _ = rustix::io::write(&*waking, &1u64.to_ne_bytes());
    });
    let mut running = Running::start(&mut shell).map_err(cannot)?;
    let gathered = running.gather(&awake)?;
    let status = running.child.wait().map_err(cannot)?;
    running.has_ended = true;
    let [output, errors] = gathered.map(Value::Bytes);
    Ok(vec![Value::Number(number(status)), output, errors])
}

fn shell(call: &Call) -> Result<Command, Refusal> {
    let line = call.bytes(0, "a command")?;
    if line.contains(&0) {
        return Err(Refusal::failed("a command has no NUL in it: take it out"));
    }
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(std::os::unix::ffi::OsStrExt::from_bytes(line) as &std::ffi::OsStr);
    if let Some(Value::Text(_) | Value::Bytes(_)) = call.arguments.get(1) {
        shell.current_dir(call.path(1)?);
    } else {
        call.text_or_nil(1, "a directory, or nil")?;
    }
    // This process may have secrets in its environment: a command has what its caller gives it.
    shell.env_clear();
    for at in 2..call.arguments.len() {
        let pair = call.text(at, "a variable, K=V")?;
        match pair.split_once('=') {
            Some((name, text)) if !name.is_empty() && !pair.contains('\0') => shell.env(name, text),
            _ => {
                return Err(Refusal::failed(format!(
                    "argument {} of `{}` is a variable: write K=V",
                    at + 1,
                    call.name
                )));
            }
        };
    }
    if let Some(key) = &call.key {
        shell.env(KEY, key);
    }
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    Ok(shell)
}

/// A command that was started. Its group is killed if it is dropped before its end was seen.
struct Running {
    child: Child,
    group: Pid,
    /// Readable when it has ended.
    end: OwnedFd,
    has_ended: bool,
}

impl Running {
    fn start(shell: &mut Command) -> io::Result<Running> {
        let mut child = shell.spawn()?;
        let group = Pid::from_child(&child);
        match pidfd_open(group, PidfdFlags::empty()) {
            Ok(end) => Ok(Running { child, group, end, has_ended: false }),
            Err(error) => {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = child.wait();
                Err(error.into())
            }
        }
    }

    /// Both outputs, until they are closed, or the command has ended and left them to a child of its own.
    fn gather(&mut self, awake: &OwnedFd) -> Result<[Vec<u8>; 2], Refusal> {
        let mut pipes: [Option<OwnedFd>; 2] =
            [self.child.stdout.take().map(Into::into), self.child.stderr.take().map(Into::into)];
        let mut gathered = [Vec::new(), Vec::new()];
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let (has_ended, is_stopped, ready) = self.look(awake, &pipes)?;
            if is_stopped {
                return Err(Refusal::failed("the command was stopped, with all that it had started"));
            }
            if has_ended && !ready.contains(&true) {
                return Ok(gathered);
            }
            for at in 0..pipes.len() {
                let Some(pipe) = pipes[at].as_ref().filter(|_| ready[at]) else { continue };
                match rustix::io::read(pipe, &mut chunk[..]) {
                    Ok(0) => pipes[at] = None,
                    Ok(count) => gathered[at].extend_from_slice(&chunk[..count]),
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(Refusal::failed(format!("cannot read what the command writes: {error}"))),
                }
            }
            if gathered.iter().map(Vec::len).sum::<usize>() > OUTPUT_BYTES_MAX {
                return Err(Refusal::failed(format!(
                    "the command wrote more than {} MiB and was ended; let it write to a file",
                    OUTPUT_BYTES_MAX >> 20
                )));
            }
        }
    }

    /// Waits until something happens: the end, a stop, or output in one of the pipes.
    fn look(&self, awake: &OwnedFd, pipes: &[Option<OwnedFd>; 2]) -> Result<(bool, bool, [bool; 2]), Refusal> {
        // Asked before looking at the pipes: what it wrote before its end is in them then.
        let mut first = [PollFd::new(&self.end, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let has_ended = wait(&mut first, Some(&at_once))?[0];
        let mut watched = vec![PollFd::from_borrowed_fd(awake.as_fd(), PollFlags::IN)];
        if !has_ended {
            watched.push(PollFd::new(&self.end, PollFlags::IN));
        }
        watched.extend(pipes.iter().flatten().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let happened = wait(&mut watched, has_ended.then_some(&at_once))?;
        let mut of_pipes = happened[if has_ended { 1 } else { 2 }..].iter();
        let ready = [0, 1].map(|at| pipes[at].is_some() && of_pipes.next() == Some(&true));
        Ok((has_ended, happened[0], ready))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.has_ended {
            // Its number is still its own: nobody has waited for it.
            let _ = kill_process_group(self.group, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn wait(descriptors: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> Result<Vec<bool>, Refusal> {
    loop {
        match poll(descriptors, timeout) {
            Ok(_) => return Ok(descriptors.iter().map(|each| !each.revents().is_empty()).collect()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(Refusal::failed(format!("cannot wait for the command: {error}"))),
        }
    }
}

/// 128 and the signal's number if a signal ended it, as shells do.
fn number(status: ExitStatus) -> f64 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1).into()
}
