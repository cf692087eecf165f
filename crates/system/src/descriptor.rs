//! Descriptors that a program was started with and does not know of.

use crate::clone::check;
use crate::error::SystemError;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::Path;

/// Makes all descriptors but the standard ones end with the next program that this process starts, also those that it
/// was itself started with.
pub fn close_others_on_exec() -> Result<(), SystemError> {
    const FIRST: libc::c_uint = 3;
    // SAFETY: the call takes numbers only. It changes a flag of descriptors and closes none, so that no owner of one
    // notices.
    let result = unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 {
        return Ok(());
    }
    Err(SystemError::file("close descriptors of", Path::new("/proc/self/fd"))(std::io::Error::last_os_error()))
}

/// Closes all descriptors but the standard ones and these, which are in rising order. For a child that was just cloned and
/// never drops what it has copies of: whoever owns a descriptor here must not use it afterwards.
pub fn close_all_but(kept: &[RawFd]) -> rustix::io::Result<()> {
    let mut first: libc::c_uint = 3;
    let end = [RawFd::MAX];
    for descriptor in kept.iter().chain(&end) {
        let descriptor = *descriptor as libc::c_uint;
        if first < descriptor {
            // SAFETY: the call takes numbers only; the caller gives up what is closed.
            check(unsafe { libc::syscall(libc::SYS_close_range, first, descriptor - 1, 0) })?;
        }
        first = first.max(descriptor.saturating_add(1));
    }
    Ok(())
}

/// Gives a descriptor another number as well, which programs inherit. For a child that is about to become one: whoever owns a
/// descriptor of that number must not use it afterwards.
pub fn put(descriptor: impl AsFd, number: RawFd) -> rustix::io::Result<()> {
    // SAFETY: the call takes numbers only; the caller gives up what had the number before.
    check(unsafe { libc::dup2(descriptor.as_fd().as_raw_fd(), number) }.into())
}
