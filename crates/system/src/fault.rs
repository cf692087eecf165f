//! Faults of mapped files: if a file is shorter than the tree in it says, or its pages lead nowhere, touching it raises a
//! signal in whoever reads. Nothing can be done then but to end; this says which file it was.

use std::ffi::c_int;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, Ordering};

const SIGNALS: [c_int; 3] = [libc::SIGBUS, libc::SIGSEGV, libc::SIGABRT];

/// The line to write, made before it is needed: a handler must not ask for memory.
static MESSAGE: AtomicPtr<Vec<u8>> = AtomicPtr::new(std::ptr::null_mut());

/// From now on a fault ends the process with `path` named on the standard error. The signal is not swallowed: whoever waits
/// for the process sees it. Of several files the last one is named.
pub fn name_on_fault(path: &Path) {
    let mut line = b"fault while reading ".to_vec();
    line.extend(path.as_os_str().as_bytes());
    line.extend(b": the file is shorter than it says, or damaged\n");
    // Never freed: a handler may be reading it on another thread.
    MESSAGE.store(Box::into_raw(Box::new(line)), Ordering::Release);
    for signal in SIGNALS {
        install(signal);
    }
}

fn install(signal: c_int) {
    let handler: extern "C" fn(c_int) = report;
    // SAFETY: the structure is plain data for which zeroes are a valid value; the handler is a function with the
    // signature that is expected without SA_SIGINFO, and does only what a handler may. SA_RESETHAND and returning let
    // the fault happen again, with the signal's own meaning.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESETHAND | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

extern "C" fn report(_signal: c_int) {
    let message = MESSAGE.load(Ordering::Acquire);
    // SAFETY: the pointer is null or came from a box that is never freed; `write` may be called in a handler.
    unsafe {
        if let Some(line) = message.as_ref() {
            libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        }
    }
}
