//! A process of ours as its parent sees it: the image process, the warden and the broker. It gets one end of a pair of sockets for its
//! standard input, and nothing else that we hold.

use super::plan::Plan;
use crate::error::KeeperError;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, Resource, getrlimit, pidfd_open};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};

pub struct Child {
    process: std::process::Child,
    pub pair: UnixStream,
    /// Becomes readable when the process has ended, also if a fork of it still holds the pair.
    pub end: OwnedFd,
}

impl Child {
    /// The image process, with a stream between.
    pub fn start(plan: &Plan) -> Result<Child, KeeperError> {
        let (pair, theirs) = UnixStream::pair().map_err(KeeperError::system("make a pair"))?;
        Child::spawn(plan, &plan.arguments, pair, OwnedFd::from(theirs))
    }

    /// The warden, to which whole messages are sent.
    pub fn start_warden(plan: &Plan) -> Result<Child, KeeperError> {
        let (pair, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(KeeperError::system("make a pair"))?;
        Child::spawn(plan, &plan.warden_arguments, UnixStream::from(pair), theirs)
    }

    /// The broker, with a stream between. It alone has all of our environment: secrets may be there.
    pub fn start_broker(plan: &Plan) -> Result<Child, KeeperError> {
        let (pair, theirs) = UnixStream::pair().map_err(KeeperError::system("make a pair"))?;
        let mut command = Command::new(&plan.program);
        command.args(&plan.broker_arguments);
        Child::spawn_as(command, plan, pair, OwnedFd::from(theirs))
    }

    fn spawn(plan: &Plan, arguments: &[OsString], pair: UnixStream, theirs: OwnedFd) -> Result<Child, KeeperError> {
        let mut command = Command::new(&plan.program);
        command.args(arguments).env_clear().envs(plan.environment.iter().map(|(name, value)| (name, value)));
        Child::spawn_as(command, plan, pair, theirs)
    }

    fn spawn_as(mut command: Command, plan: &Plan, pair: UnixStream, theirs: OwnedFd) -> Result<Child, KeeperError> {
        pair.set_nonblocking(true).map_err(KeeperError::system("make a pair"))?;
        // Whoever started us may have left descriptors open.
        system::descriptor::close_others_on_exec()
            .map_err(|error| KeeperError::ImageFailed { message: error.to_string() })?;
        let process = command
            .stdin(Stdio::from(theirs))
            // Ctrl-C in a terminal goes to a whole group: the keeper hears it and says what is to be done.
            .process_group(0)
            .spawn()
            .map_err(KeeperError::file("start", &plan.program))?;
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        let pid = pid.expect("the system numbers processes from one on, within an i32");
        let end = pidfd_open(pid, PidfdFlags::empty()).map_err(KeeperError::system("watch a process of ours"))?;
        Ok(Child { process, pair, end })
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// How it ended, if it has. If somebody else was told how, it has gone all the same.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().unwrap_or(Some(ExitStatus::from_raw(UNKNOWN)))
    }

    /// Closes our end and waits until it has ended by itself; kills it if that takes too long.
    pub fn part(mut self, time: std::time::Duration) {
        drop(self.pair);
        let wait = rustix::event::Timespec::try_from(time).ok();
        let mut end = [rustix::event::PollFd::new(&self.end, rustix::event::PollFlags::IN)];
        let _ = rustix::event::poll(&mut end, wait.as_ref());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub fn kill(&mut self) {
        // It fails only if the process has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Of a process of which nobody knows how it ended: neither a code nor a signal.
const UNKNOWN: i32 = 0xffff;
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// How a process ended, in words.
pub fn cause(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(SIGKILL), _) => match getrlimit(Resource::Cpu).maximum {
            Some(seconds) => {
                format!("it was killed (signal 9); its limit of processor time is {seconds} s (ulimit -t)")
            }
            None => "it was killed (signal 9); if nobody did that, the system was out of memory".to_string(),
        },
        (Some(SIGXCPU), _) => "it has used up its limit of processor time (ulimit -t)".to_string(),
        (Some(signal), _) => format!("signal {signal} ended it"),
        (None, Some(code)) => format!("exit code {code}; what it said stands above"),
        (None, None) => "nobody knows how".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keeper asked again and again for one that it took to be there.
    #[test]
    fn a_child_that_somebody_else_waited_for_has_ended() {
        let process = Command::new("true").spawn().unwrap();
        let pid = Pid::from_child(&process);
        let (pair, _) = UnixStream::pair().unwrap();
        let mut child = Child { process, pair, end: pidfd_open(pid, PidfdFlags::empty()).unwrap() };
        rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty()).unwrap();
        assert_eq!(child.ended().map(cause), Some("nobody knows how".to_string()));
    }
}
