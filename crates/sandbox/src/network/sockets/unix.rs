//! Sockets that are files. The name is looked up below the caller's root, where a link cannot lead out, and with the
//! caller's rights, not with ours: else a run could reach the sockets of this host's services through us.

use super::caller::{Request, Rights};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::{Errno, Result};
use rustix::net::SocketAddrUnix;
use rustix::process::{Gid, Uid};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Does something with the address of the socket that the caller means by a path. In a thread of its own: its rights are
/// given up for good.
pub fn with_address<T: Send>(
    request: &Request,
    path: &Path,
    work: impl FnOnce(&SocketAddrUnix) -> Result<T> + Send,
) -> Result<T> {
    let (rights, start) = (request.rights, request.start.as_ref().ok_or(Errno::ACCESS)?);
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().name("call by path".into()).spawn_scoped(scope, move || {
            take_rights(rights)?;
            let file = openat2(start, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), bounds(path))?;
            // The kernel takes a path only; this one means the very file that was found.
            work(&SocketAddrUnix::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?)
        });
        worker.map_err(|_| Errno::AGAIN)?.join().unwrap_or(Err(Errno::IO))
    })
}

/// Where the way begins: the caller's root, or the directory it is in.
pub fn start(thread: i32, path: &Path) -> Result<OwnedFd> {
    let name = if path.is_absolute() { "root" } else { "cwd" };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, format!("/proc/{thread}/{name}"), flags, Mode::empty()).map_err(|_| Errno::ACCESS)
}

/// From the root, everything below it. From another directory only down, without links: its way up could lead out.
fn bounds(path: &Path) -> ResolveFlags {
    match path.is_absolute() {
        true => ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS,
        false => ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    }
}

/// Of this thread only. Whoever is not root has no other rights than the run.
fn take_rights(rights: Rights) -> Result<()> {
    if !rustix::process::geteuid().is_root() || rights.user == 0 {
        return Ok(());
    }
    let (user, group) = (Uid::from_raw(rights.user), Gid::from_raw(rights.group));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}
