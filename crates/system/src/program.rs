//! What turns a process into a program, and what a program must not inherit: signals that are ignored or held back.

use crate::clone::{check, last};
use rustix::io::Result;
use std::ffi::{CStr, CString, c_char};
use std::os::fd::{FromRawFd, OwnedFd};

/// Arguments or environment of a program, made before the process that becomes it, which must not ask for memory.
pub struct Words {
    words: Vec<CString>,
    pointers: Vec<*const c_char>,
}

// SAFETY: the pointers lead to the words beside them, which nobody changes.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    pub fn new(words: Vec<CString>) -> Words {
        let end = std::iter::once(std::ptr::null());
        let pointers = words.iter().map(|word| word.as_ptr()).chain(end).collect();
        Words { words, pointers }
    }

    pub fn as_slice(&self) -> &[CString] {
        &self.words
    }
}

/// Becomes the program; returns only why not.
pub fn execute(path: &CStr, arguments: &Words, environment: &Words) -> rustix::io::Errno {
    // SAFETY: both lists end with a null pointer and point to words that live as long as they do.
    unsafe { libc::execve(path.as_ptr(), arguments.pointers.as_ptr(), environment.pointers.as_ptr()) };
    last()
}

/// Makes every signal do what it does by default, and holds none back: what a new program expects.
pub fn restore_signals() -> Result<()> {
    const HIGHEST: libc::c_int = 64;
    for signal in 1..=HIGHEST {
        // SAFETY: the default is no function of ours. Those that cannot be set are refused, which is as well.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    release_signals()
}

/// Holds no signal back.
pub fn release_signals() -> Result<()> {
    // SAFETY: an empty set is made and used, both on this stack.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        check(libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut()).into())
    }
}

/// Lets the kernel keep how a child ended until we ask. Whoever started us may have turned that off, which programs inherit.
pub fn hear_of_children() {
    // SAFETY: the default is no function of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Makes writing where nobody reads an error, as Rust's library expects it, and no signal.
pub fn ignore_broken_pipes() {
    // SAFETY: no function of ours is called for it.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Holds back the signal that says that a child ended, and returns a descriptor that is readable when it came.
pub fn children_as_descriptor() -> Result<OwnedFd> {
    // SAFETY: the set is made and used on this stack; the descriptor is new, and nobody else knows it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        check(libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()).into())?;
        let descriptor = libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        check(descriptor.into())?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}
