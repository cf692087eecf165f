//! Attributes of mounts, which `rustix` does not set.

use crate::clone::check;
use rustix::io::Result;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

pub const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub const NO_SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub const NO_DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
pub const NO_PROGRAMS: u64 = libc::MOUNT_ATTR_NOEXEC;

/// Sets attributes of a mount and of all below it, and cuts it off from the mounts of others.
pub fn restrict(mount: impl AsFd, attributes: u64) -> Result<()> {
    set(mount.as_fd(), attributes, libc::MS_PRIVATE, 0)
}

/// Makes the owners of files appear through this mount as a user namespace maps them. It must not be attached yet.
pub fn map_owners(mount: impl AsFd, namespace: impl AsFd) -> Result<()> {
    set(mount.as_fd(), libc::MOUNT_ATTR_IDMAP, 0, namespace.as_fd().as_raw_fd() as u64)
}

fn set(mount: BorrowedFd<'_>, attributes: u64, propagation: u64, namespace: u64) -> Result<()> {
    let attributes = libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation, userns_fd: namespace };
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    // SAFETY: the structure is whole and lives; the path is empty and ends with a zero.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })
}
