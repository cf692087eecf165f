//! A process that outlives this one, to remove the directories that this one makes and cannot remove if it is killed.
//!
//! It shares our memory, so that making it copies nothing, and sleeps until we are gone. From then on nobody else is in that
//! memory, which is as the killed one left it: so it asks for none.

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
use std::time::Duration;

/// A process that does so for these directories until it is dropped. Whoever drops it has removed them, or leaves them.
pub struct Caretaker {
    pid: i32,
    pidfd: OwnedFd,
    /// What it stands on and reads, at places that stay.
    _errand: Box<Errand>,
}

struct Errand {
    /// Tells when we are gone.
    maker: OwnedFd,
    directories: Vec<CString>,
    stack: [MaybeUninit<u128>; STACK_BYTES / size_of::<u128>()],
}

const STACK_BYTES: usize = 16 << 10;
/// How long a directory may be in use after our end: what runs in a cgroup ends with us, and takes its time.
const PATIENCE: Duration = Duration::from_secs(60);
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl Caretaker {
    /// To be called before the directories are made: what is made before would stay if we were killed in between.
    pub fn of<'a>(directories: impl Iterator<Item = &'a Path>) -> Result<Caretaker> {
        let names = directories.map(|path| CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL));
        let mut errand = Box::new(Errand {
            maker: pidfd_open(getpid(), PidfdFlags::empty())?,
            directories: names.collect::<Result<_>>()?,
            stack: [const { MaybeUninit::uninit() }; STACK_BYTES / size_of::<u128>()],
        });
        let mut pidfd: RawFd = -1;
        // What is sent to us is not for it: it has our handlers, and they would do their work in our memory.
        let before = block_signals()?;
        let made = start(&mut errand, &mut pidfd);
        set_signals(&before)?;
        let pid = made?;
        // SAFETY: the kernel has just made the descriptor, and nobody else knows it.
        Ok(Caretaker { pid, pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) }, _errand: errand })
    }
}

impl Drop for Caretaker {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        // It stands on a stack of ours. Where nobody wants to know of ends, this waits for it and finds no child then.
        let _ = wait(self.pid, true);
    }
}

fn start(errand: &mut Errand, pidfd: &mut RawFd) -> Result<i32> {
    let flags = libc::CLONE_VM | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: the stack is aligned and lives, with all that the process reads, until it was waited for, or as long as the memory,
    // if we are killed. It writes to nothing but that stack, and to the C library's number of an error if it cannot close
    // descriptors, and ends then.
    let pid = unsafe {
        let top = errand.stack.as_mut_ptr().add(errand.stack.len());
        libc::clone(take_care, top.cast(), flags, std::ptr::from_mut(errand).cast(), std::ptr::from_mut(pidfd))
    };
    check(pid.into())?;
    Ok(pid)
}

extern "C" fn take_care(errand: *mut libc::c_void) -> libc::c_int {
    // SAFETY: it is what `start` gave, which lives and is written to by nobody.
    let errand = unsafe { &*errand.cast::<Errand>() };
    // What ends our group is not to end it.
    let _ = setpgid(None, None);
    // Whoever waits for the end of what we write to does not wait for it.
    if keep_only(&errand.maker).is_err() {
        return 1;
    }
    while let Err(Errno::INTR) = poll(&mut [PollFd::new(&errand.maker, PollFlags::IN)], None) {}
    let mut waited = Duration::ZERO;
    let mut pause = SHORTEST_PAUSE;
    while !errand.directories.iter().all(|directory| is_removed(directory)) && waited < PATIENCE {
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
