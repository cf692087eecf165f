//! The terminal that controls a process, given up without a session of its own.

use crate::clone::check;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};
use std::os::fd::AsRawFd;

/// Leaves it, for this process and the copies that it will make. Who leads no session gets none again, whatever it opens. The
/// session stays the same, and with it the share of the processor that most kernels give to each.
pub fn leave() -> Result<()> {
    let terminal = match rustix::fs::open(c"/dev/tty", OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty()) {
        Ok(terminal) => terminal,
        // There is none.
        Err(Errno::NXIO) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    // SAFETY: this ioctl takes no argument.
    check(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCNOTTY) }.into())
}
