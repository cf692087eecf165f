//! A process that outlives this one, to remove the directories that this one makes and cannot remove if it is killed.
//!
//! It shares our memory, so that making it copies nothing, and sleeps until we are gone. From then on nobody else is in that
//! memory, which is as the killed one left it: so it asks for none. Where the kernel ends us for want of memory it ends all who
//! share ours, and so the caretaker too: what stays then somebody else has to look for.

use crate::clone::{check, wait};
use crate::descriptor;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{AtFlags, CWD, unlinkat};
use rustix::io::{Errno, Result};
use rustix::process::{PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, setpgid};
use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::time::Duration;

/// A process that does so for these directories until it is dropped. Whoever drops it has removed them, or leaves them.
pub struct Caretaker {
    pid: i32,
    pidfd: OwnedFd,
    /// What it reads and stands on, at places that stay.
    errand: NonNull<Errand>,
    stack: NonNull<Stack>,
}

// SAFETY: who has one gives both places back at its end and looks at neither before.
unsafe impl Send for Caretaker {}
// SAFETY: the same.
unsafe impl Sync for Caretaker {}

struct Errand {
    /// Tells when we are gone.
    maker: OwnedFd,
    directories: Vec<CString>,
}

/// A whole number of what a stack is aligned to.
type Stack = [MaybeUninit<u128>; 1024];

/// How long a directory may be in use after our end: what runs in a cgroup ends with us, and takes its time.
const PATIENCE: Duration = Duration::from_secs(60);
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl Caretaker {
    /// To be called before the directories are made: what is made before would stay if we were killed in between.
    pub fn of<'a>(directories: impl Iterator<Item = &'a Path>) -> Result<Caretaker> {
        let names = directories.map(|path| CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL));
        let maker = pidfd_open(getpid(), PidfdFlags::empty())?;
        let errand = Box::new(Errand { maker, directories: names.collect::<Result<_>>()? });
        let stack: Box<Stack> = Box::new([const { MaybeUninit::uninit() }; 1024]);
        let (errand, stack) = (NonNull::from(Box::leak(errand)), NonNull::from(Box::leak(stack)));
        // What is sent to us is not for it: it has our handlers, and they would do their work in our memory.
        let before = block_signals()?;
        let made = start(errand, stack);
        set_signals(&before)?;
        let (pid, pidfd) = made.inspect_err(|_| give_back(errand, stack))?;
        // What ends our group is not to end it. If it is gone, so is what it was for.
        let _ = setpgid(rustix::process::Pid::from_raw(pid), None);
        Ok(Caretaker { pid, pidfd, errand, stack })
    }
}

/// To be called when there is no process, or no more.
fn give_back(errand: NonNull<Errand>, stack: NonNull<Stack>) {
    // SAFETY: both were leaked from boxes, once, and nobody uses them any more.
    unsafe {
        drop(Box::from_raw(errand.as_ptr()));
        drop(Box::from_raw(stack.as_ptr()));
    }
}

impl Drop for Caretaker {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        // It stands on a stack of ours. Where nobody wants to know of ends, this waits for it and finds no child then.
        let _ = wait(self.pid, true);
        give_back(self.errand, self.stack);
    }
}

fn start(errand: NonNull<Errand>, stack: NonNull<Stack>) -> Result<(i32, OwnedFd)> {
    let mut pidfd: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: the stack is aligned and lives, with all that the process reads, until it was waited for, or as long as the memory,
    // if we are killed. It writes to nothing but that stack, and to the C library's number of an error if it cannot close
    // descriptors, and ends then.
    let pid = unsafe {
        let top = stack.add(1).as_ptr();
        libc::clone(take_care, top.cast(), flags, errand.as_ptr().cast(), &raw mut pidfd)
    };
    check(pid.into())?;
    // SAFETY: the kernel has just made the descriptor, and nobody else knows it.
    Ok((pid, unsafe { OwnedFd::from_raw_fd(pidfd) }))
}

extern "C" fn take_care(errand: *mut libc::c_void) -> libc::c_int {
    // SAFETY: it is what `start` gave, which lives and is written to by nobody.
    let errand = unsafe { &*errand.cast::<Errand>() };
    // Whoever waits for the end of what we write to does not wait for it.
    if keep_only(&errand.maker).is_err() {
        return 1;
    }
    while let Err(Errno::INTR) = poll(&mut [PollFd::new(&errand.maker, PollFlags::IN)], None) {}
    let mut waited = Duration::ZERO;
    let mut pause = SHORTEST_PAUSE;
    while !errand.directories.iter().all(is_removed) && waited < PATIENCE {
        sleep(pause);
        waited += pause;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
    0
}

/// All descriptors but one are closed; its table of them is a copy of ours.
fn keep_only(kept: &OwnedFd) -> Result<()> {
    // What is standard to programs would stay open, so that takes its place.
    (0..=2).try_for_each(|standard| descriptor::put(kept, standard))?;
    descriptor::close_all_but(&[kept.as_raw_fd()])
}

/// Whether it is gone, or cannot go because of something that waiting does not change.
fn is_removed(directory: &CString) -> bool {
    !matches!(unlinkat(CWD, directory, AtFlags::REMOVEDIR), Err(Errno::BUSY | Errno::INTR | Errno::AGAIN))
}

fn sleep(time: Duration) {
    let time = rustix::time::Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
    // Nothing but its end wakes it up sooner.
    let _ = poll(&mut [], Some(&time));
}

fn block_signals() -> Result<libc::sigset_t> {
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both places are ours; the first is filled before it is read, the second by the call that does not fail.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        match libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr()) {
            0 => Ok(before.assume_init()),
            errno => Err(Errno::from_raw_os_error(errno)),
        }
    }
}

fn set_signals(signals: &libc::sigset_t) -> Result<()> {
    // SAFETY: reads what the kernel gave before.
    match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, signals, std::ptr::null_mut()) } {
        0 => Ok(()),
        errno => Err(Errno::from_raw_os_error(errno)),
    }
}
