//! Faults of mapped files: if a file is shorter than the tree in it says, or its pages lead nowhere, touching it raises a
//! signal in whoever reads. Nothing can be done then but to end; this says which file it was.
//!
//! Only what a file can be the reason of is named: SIGBUS, SIGSEGV inside the mapping or near address zero, where a damaged
//! page leads LMDB, and LMDB's own assertions. All else, such as a stack that overflowed, is left to whoever handled it before.

use lmdb_master_sys as sys;
use std::ffi::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// No program has anything at addresses below.
const NEAR_ZERO: usize = 64 << 10;

/// The line to write, made before it is needed: a handler must not ask for memory.
static MESSAGE: AtomicPtr<Vec<u8>> = AtomicPtr::new(std::ptr::null_mut());
/// Where the file that was opened last is mapped.
static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
/// What was done about these signals before.
static BEFORE_BUS: OnceLock<libc::sigaction> = OnceLock::new();
static BEFORE_SEGV: OnceLock<libc::sigaction> = OnceLock::new();

/// From now on a fault ends the process with `path` named on the standard error. The signal is not swallowed: whoever waits
/// for the process sees it. Of several files the last one is named.
pub fn name_on_fault(path: &Path) {
    let mut line = b"fault while reading ".to_vec();
    line.extend(path.as_os_str().as_bytes());
    line.extend(b": the file is shorter than it says, or damaged\n");
    // Never freed: a handler may be reading it on another thread.
    MESSAGE.store(Box::into_raw(Box::new(line)), Ordering::Release);
    BEFORE_BUS.get_or_init(|| install(libc::SIGBUS));
    BEFORE_SEGV.get_or_init(|| install(libc::SIGSEGV));
}

/// Notes where a file is mapped, if faults are to be named.
pub(crate) fn note_mapping(path: &Path) {
    if MESSAGE.load(Ordering::Acquire).is_null() {
        return;
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.into());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let Some(line) =
        maps.lines().rfind(|line| Path::new(line.splitn(6, ' ').last().unwrap_or_default().trim()) == path)
    else {
        return;
    };
    let range = line.split([' ', '-']).take(2).map(|number| usize::from_str_radix(number, 16).unwrap_or(0));
    for (place, number) in [&START, &END].into_iter().zip(range) {
        place.store(number, Ordering::Release);
    }
}

/// For LMDB, which calls it before it aborts because a page is not what it must be.
pub(crate) unsafe extern "C" fn report_assertion(_environment: *mut sys::MDB_env, _message: *const c_char) {
    say();
}

/// Puts our handler in the place of another, and returns that one.
fn install(signal: c_int) -> libc::sigaction {
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = report;
    // SAFETY: the structures are plain data for which zeroes are a valid value; the handler is a function with the
    // signature that is expected with SA_SIGINFO, and does only what a handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let mut before: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(signal, &action, &mut before);
        before
    }
}

/// Says what it knows and steps back: the fault happens again, and is whose it was before.
extern "C" fn report(signal: c_int, information: *mut libc::siginfo_t, _context: *mut c_void) {
    let before = if signal == libc::SIGBUS { BEFORE_BUS.get() } else { BEFORE_SEGV.get() };
    // SAFETY: the kernel gives the information; where a fault was is in it for those that the processor raised, which
    // have a code above zero. `sigaction`, `signal` and `raise` may be called in a handler.
    unsafe {
        let is_fault = (*information).si_code > 0;
        if is_fault && is_of_file(signal, (*information).si_addr() as usize) {
            say();
        }
        match before {
            Some(before) => drop(libc::sigaction(signal, before, std::ptr::null_mut())),
            None => drop(libc::signal(signal, libc::SIG_DFL)),
        }
        if !is_fault {
            libc::raise(signal);
        }
    }
}

fn is_of_file(signal: c_int, address: usize) -> bool {
    let mapping = START.load(Ordering::Acquire)..END.load(Ordering::Acquire);
    signal == libc::SIGBUS || address < NEAR_ZERO || mapping.contains(&address)
}

fn say() {
    let message = MESSAGE.load(Ordering::Acquire);
    // SAFETY: the pointer is null or came from a box that is never freed; `write` may be called in a handler.
    unsafe {
        if let Some(line) = message.as_ref() {
            libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        }
    }
}

#[cfg(test)]
mod tests;
