//! Landlock: rights to files that a process gives up by itself, hierarchy by hierarchy.

use crate::clone::{check, last};
use rustix::io::Result;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

pub const EXECUTE: u64 = 1 << 0;
pub const WRITE_FILE: u64 = 1 << 1;
pub const READ_FILE: u64 = 1 << 2;
pub const READ_DIRECTORY: u64 = 1 << 3;
/// Truncating and device calls came later; see `known`.
pub const TRUNCATE: u64 = 1 << 14;

/// All rights to files that a version of landlock knows.
const fn known(version: u32) -> u64 {
    let rights = match version {
        0 => 0,
        1 => 13,
        2 => 14,
        3 | 4 => 15,
        _ => 16,
    };
    (1 << rights) - 1
}

/// Sockets with abstract names and signals of those outside: from version 6.
const SCOPES: u64 = 0b11;

#[repr(C)]
struct Attributes {
    files: u64,
    network: u64,
    scopes: u64,
}

#[repr(C, packed)]
struct Beneath {
    rights: u64,
    directory: i32,
}

const BENEATH: libc::c_int = 1;
const ASK_VERSION: libc::c_uint = 1;

/// Which landlock this kernel has.
pub fn version() -> Result<u32> {
    // SAFETY: asked for the version the kernel takes no structure.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0usize, 0usize, ASK_VERSION) };
    if answer < 0 { Err(last()) } else { Ok(answer as u32) }
}

/// Rights that stay; all others go with `sealing::keep_to_rules`.
pub struct Rules {
    descriptor: OwnedFd,
    known: u64,
}

impl Rules {
    /// None stay yet.
    pub fn new() -> Result<Rules> {
        let version = version()?;
        let scopes = if version >= 6 { SCOPES } else { 0 };
        let attributes = Attributes { files: known(version), network: 0, scopes };
        // Older kernels refuse what is longer than what they know.
        let size = match version {
            ..4 => 8,
            4 | 5 => 16,
            _ => size_of::<Attributes>(),
        };
        // SAFETY: the structure lives and is as long as said.
        let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attributes, size, 0) };
        if answer < 0 {
            return Err(last());
        }
        // SAFETY: the kernel has just made the descriptor, and nobody else knows it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(answer as i32) };
        Ok(Rules { descriptor, known: known(version) })
    }

    /// Everything that this kernel knows.
    pub fn all(&self) -> u64 {
        self.known
    }

    /// Leaves rights to a file, or to a directory and all below it.
    pub fn leave(&self, directory: impl AsFd, rights: u64) -> Result<()> {
        let rule = Beneath { rights: rights & self.known, directory: directory.as_fd().as_raw_fd() };
        // SAFETY: the structure is what this kind of rule takes, and lives.
        check(unsafe {
            libc::syscall(libc::SYS_landlock_add_rule, self.descriptor.as_raw_fd(), BENEATH, &raw const rule, 0)
        })
    }

    /// For `sealing::keep_to_rules`.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
