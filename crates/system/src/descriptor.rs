//! Descriptors that a program was started with and does not know of.

use crate::error::SystemError;
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
