//! The loopback interface of a new network namespace, which is there but down.

use crate::clone::{check, last};
use rustix::io::Result;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Brings up the loopback interface of the calling process's network namespace.
pub fn raise() -> Result<()> {
    // SAFETY: numbers only; the descriptor is new, and nobody else knows it.
    let socket = unsafe {
        let descriptor = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if descriptor < 0 {
            return Err(last());
        }
        OwnedFd::from_raw_fd(descriptor)
    };
    // SAFETY: plain data, for which zeroes are valid; the name is shorter than its place.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(*b"lo") {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is whole, lives, and is what this ioctl takes.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }.into())
}
