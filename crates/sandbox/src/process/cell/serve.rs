//! The process of a cell. It was forked by the C library, so that it may ask for memory.

use super::super::inside::{self, Handed};
use super::super::plan::{Base, Plan, Setting};
use super::super::seal;
use super::super::source::{About, Origin, Source};
use super::super::start::{self, Purpose};
use super::super::zygote;
use super::told::{Answer, Told, hear, say};
use crate::order::Order;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::CapabilitySets;
use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use system::clone::{self, Stack, namespace};
use system::program::{self, Words};

/// What every run has new. Nothing can be left in the others but in the network, which is looked at.
const FRESH: u64 = namespace::PID | namespace::MOUNT | namespace::IPC;

/// The process's life: its namespaces, its files, and then one run after another, until the one outside has gone.
pub fn live(plan: &Plan<'_>, base: Base, line: &OwnedFd, doors: &[File]) -> i32 {
    let nothing = rustix::fs::open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let Ok(nothing) = nothing else { return 1 };
    let kept = [line.as_raw_fd()];
    let streams = [nothing.as_fd(); 3];
    let handed = Handed { plan, socket: line.as_fd(), doors, kept: &kept, handed_on: &[], streams, namespaces: 0 };
    let is_ready = inside::live(&handed) == 0;
    // It was closed with all else.
    std::mem::forget(nothing);
    let Ok(stack) = Stack::new() else { return 1 };
    let mut cell = Serving { line, base, is_counted: plan.is_counted, processes: 1, stack };
    if !is_ready
        || give_up_what_no_run_needs().is_err()
        || cell.rehearse().is_err()
        || say(line, &Answer::Housed, &[]).is_err()
    {
        return 1;
    }
    while let Ok((told, descriptors)) = hear::<Told<'static>>(line) {
        let answer = match told {
            Told::Run { order, about, is_hosted } => cell.run(&order, about, is_hosted, descriptors),
            Told::House { program, arguments } => cell.house(&program, arguments, descriptors),
        };
        let answer = answer.unwrap_or_else(failed);
        if say(line, &answer, &[]).is_err() {
            break;
        }
    }
    0
}

fn failed(errno: Errno) -> Answer {
    Answer::Failed { errno: errno.raw_os_error() }
}

/// Nothing that is started here gets capabilities by itself; a zygote is given some.
fn give_up_what_no_run_needs() -> rustix::io::Result<()> {
    let all = rustix::thread::capabilities(None)?;
    rustix::thread::set_capabilities(None, CapabilitySets { inheritable: zygote::NEEDED, ..all })?;
    seal::never_any_capability().try_for_each(|call| call.perform(None))
}

struct Serving<'a> {
    line: &'a OwnedFd,
    base: Base,
    is_counted: bool,
    /// Of the cell's user, besides those of runs.
    processes: u64,
    stack: Stack,
}

impl Serving<'_> {
    /// Older kernels make no process that shares memory where clocks were set: then there are no cells.
    fn rehearse(&mut self) -> rustix::io::Result<()> {
        clone::run_sharing(FRESH, &mut self.stack, &mut || 0, |_| {}).map(drop)
    }

    /// Runs to the end; that it has begun is told on the way.
    fn run(
        &mut self,
        order: &Order,
        about: Vec<About>,
        is_hosted: bool,
        descriptors: Vec<OwnedFd>,
    ) -> rustix::io::Result<Answer> {
        let mut descriptors = descriptors.into_iter();
        let mut next = || descriptors.next().ok_or(Errno::BADF);
        let (input, output, error, socket) = (next()?, next()?, next()?, next()?);
        if about.len() != descriptors.len() || about.len() != order.view.grants.len() {
            return Err(Errno::BADMSG);
        }
        let sources = about.into_iter().zip(descriptors);
        let sources = sources.map(|(about, mount)| Source { from: Origin::Mount(mount), about }).collect();
        let setting = Setting {
            purpose: if is_hosted { Purpose::Hosted } else { Purpose::Run },
            is_counted: self.is_counted,
            cell: Some(self.processes),
            base: self.base.clone(),
        };
        let plan = match Plan::new(order, sources, setting) {
            Ok(plan) => plan,
            Err(error) => return Ok(Answer::Refused(error.into())),
        };
        let kept = start::left_open(&plan, &socket, &[]);
        let line = self.line;
        let handed = Handed {
            plan: &plan,
            socket: socket.as_fd(),
            doors: &[],
            namespaces: 0,
            kept: &kept,
            handed_on: &[],
            streams: [input.as_fd(), output.as_fd(), error.as_fd()],
        };
        let end = clone::run_sharing(FRESH, &mut self.stack, &mut || inside::live(&handed), |child| {
            // If nobody hears it, the process inside finds out as well.
            let _ = say(line, &Answer::Made { pid: child.pid }, &[child.pidfd.as_fd()]);
        })?;
        Ok(Answer::Ended { status: end.status, user: end.user, system: end.system, memory_bytes: end.memory_bytes })
    }

    /// Starts a program that stays until its socket is closed.
    fn house(
        &mut self,
        program: &CString,
        arguments: Vec<CString>,
        descriptors: Vec<OwnedFd>,
    ) -> rustix::io::Result<Answer> {
        let socket = descriptors.into_iter().next().ok_or(Errno::BADF)?;
        let arguments = Words::new(std::iter::once(program).cloned().chain(arguments).collect());
        let environment = Words::new(zygote::environment());
        let mut trouble = None;
        let pid = clone::clone_until_exec(&mut || {
            trouble = Some(match zygote::make_ready(&socket) {
                Ok(()) => program::execute(program, &arguments, &environment),
                Err(errno) => errno,
            });
            1
        })?;
        if let Some(errno) = trouble {
            clone::wait(pid, true)?;
            return Err(errno);
        }
        let number = Pid::from_raw(pid).ok_or(Errno::CHILD)?;
        let pidfd = rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty())?;
        self.processes += 1;
        say(self.line, &Answer::Made { pid }, &[pidfd.as_fd()])?;
        Ok(Answer::Housed)
    }
}
