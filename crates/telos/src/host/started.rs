//! Commands that were started and have not ended. Owns that none of them outlives a program that is stopped: all are
//! known here, to whoever must end them, on whichever thread.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

static RUNNING: Mutex<Vec<Target>> = Mutex::new(Vec::new());

/// Whom to end: a process, and its whole group if it leads one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Target {
    process: Pid,
    leads_group: bool,
}

impl Target {
    /// It may have ended by itself; then there is nothing to do.
    fn end(self) {
        let _ = match self.leads_group {
            true => kill_process_group(self.process, Signal::KILL),
            false => kill_process(self.process, Signal::KILL),
        };
    }
}

/// A command that was started.
pub struct Started {
    child: Child,
    target: Target,
}

impl Started {
    /// Starts a command in a process group of its own, so that what it starts in turn can be ended with it. Not where
    /// somebody types: the terminal stops whoever reads from it in another group.
    pub fn spawn(command: &mut Command) -> io::Result<Started> {
        let leads_group = !io::stdin().is_terminal();
        if leads_group {
            command.process_group(0);
        }
        let mut running = running();
        let child = command.spawn()?;
        let target = Target { process: Pid::from_child(&child), leads_group };
        running.push(target);
        Ok(Started { child, target })
    }

    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// How it ended, if it has. From then on its number may belong to another, so nobody knows it any more.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let mut running = running();
        let status = self.child.try_wait()?;
        if status.is_some() {
            running.retain(|target| *target != self.target);
        }
        Ok(status)
    }

    /// Ends it, and waits until it has.
    pub fn end(&mut self) {
        let mut running = running();
        if let Some(at) = running.iter().position(|target| *target == self.target) {
            running.swap_remove(at).end();
            drop(running);
            let _ = self.child.wait();
        }
    }
}

/// Ends every command that has not ended by itself.
pub fn end_all() {
    running().iter().for_each(|target| target.end());
}

fn running() -> MutexGuard<'static, Vec<Target>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
