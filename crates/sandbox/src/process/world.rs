//! Builds the files that a run sees, from an empty file system in memory, and leaves the host's behind.
//!
//! One file system in memory holds all that a run can write, so that one size and one number of files limit it. Its `root` is
//! shown read-only as `/`; the writable directories in it are shown once more, writable. No mount is ever made outside the
//! mount namespace of the run.

use super::grant::{self, View};
use super::inside::{Inside, at};
use super::overlay;
use super::plan::Plan;
use super::report::{Failure, Step};
use super::source::Origin;
use super::start::Purpose;
use super::view::{CODE, Content, Cover, MACHINE_ID, NOTHING, OWN, OWN_PLACE, Part, Shown};
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat, sendfile, symlinkat};
use rustix::io::{Errno, Result as Answer};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use system::mount::{NO_DEVICES, NO_PROGRAMS, NO_SETUID, READ_ONLY, restrict};

/// Where in the file system in memory the run's root is.
const ROOT: &CStr = c"root";

pub fn build(inside: &mut Inside<'_>) -> Result<(), Failure> {
    let plan = inside.plan;
    let skeleton = &plan.skeleton;
    let cover = place_of_memory(plan);
    let memory = at(Step::Memory, 0, memory(&plan.memory_options, cover))?;
    let place = at(Step::Memory, 0, make_root(&memory))?;
    for (item, path) in skeleton.directories.iter().enumerate() {
        at(Step::Skeleton, item, mkdirat(&place, path, Mode::from_raw_mode(0o755)))?;
    }
    for (item, (path, target)) in skeleton.links.iter().enumerate() {
        at(Step::Skeleton, item, symlinkat(target, &place, path))?;
    }
    // What several runs see has nothing of any of them, and nobody may ever write to it.
    let is_shared = plan.purpose == Purpose::Cell;
    for (item, (path, content)) in skeleton.files.iter().enumerate() {
        at(Step::Skeleton, item, fill_file(&place, path, content))?;
    }
    let identity = match is_shared {
        true => symlinkat(c"/run/machine-id", &place, MACHINE_ID),
        false => write_file(&place, MACHINE_ID, &plan.machine_id, 0o644),
    };
    at(Step::Skeleton, 0, identity)?;
    for device in &skeleton.devices {
        at(Step::Devices, 0, write_file(&place, &device.inside, b"", 0o644))?;
    }
    let root = at(Step::Memory, 0, show_root(&memory))?;
    for path in skeleton.writable.iter().filter(|_| !is_shared) {
        at(Step::Memory, 0, show_writable(&place, &root, path))?;
    }
    show_system(inside, &memory, &root)?;
    for device in &skeleton.devices {
        at(Step::Devices, 0, show(&root, device, NO_SETUID | NO_PROGRAMS))?;
    }
    match proc(&root) {
        Ok(proc) if plan.is_counted => {
            inside.hand_out(proc);
            inside.hand_out(at(Step::Proc, 0, rustix::io::fcntl_dupfd_cloexec(&place, 3))?);
        }
        answer => inside.wall(Step::Proc, answer.map(drop))?,
    }
    grant::show_all(inside, &View { memory: &memory, place: &place, root: &root })?;
    at(Step::Pivot, 0, leave_host(&root, cover))?;
    at(Step::Directory, 0, rustix::process::chdir(&plan.directory))
}

/// Adds what is a run's own to a view that was made before and is never written to: a file system in memory for all that it
/// may write, its /proc, and what was granted.
pub fn furnish(inside: &mut Inside<'_>) -> Result<(), Failure> {
    let plan = inside.plan;
    let root =
        at(Step::Memory, 0, openat(CWD, c"/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()))?;
    let memory = at(Step::Memory, 0, memory(&plan.memory_options, OWN_PLACE))?;
    for (name, place) in OWN {
        at(Step::Memory, 0, show_own(&memory, &root, name, place))?;
    }
    at(Step::Skeleton, 0, write_file(&memory, c"machine-id", &plan.machine_id, 0o444))?;
    // It covers that of the cell, which must be there: the kernel shows nobody more than they had.
    let proc = at(Step::Proc, 0, proc(&root))?;
    if plan.is_counted {
        inside.hand_out(proc);
        inside.hand_out(at(Step::Proc, 0, rustix::io::fcntl_dupfd_cloexec(&memory, 3))?);
    }
    let code = match plan.has_code {
        true => Some(at(Step::Memory, 0, show_own(&memory, &root, CODE, CODE))?),
        false => None,
    };
    grant::show_all(inside, &View { memory: &memory, place: &root, root: &root })?;
    for own in code.iter().chain([&memory]) {
        at(Step::File, 0, restrict(own, READ_ONLY | NO_SETUID | NO_DEVICES))?;
    }
    at(Step::Directory, 0, rustix::process::chdir(&plan.directory))
}

/// A directory of a run's own file system in memory, shown at its place.
fn show_own(memory: &OwnedFd, root: &OwnedFd, name: &CStr, place: &CStr) -> Answer<OwnedFd> {
    mkdirat(memory, name, Mode::from_raw_mode(0o755))?;
    let tree = copy(memory, name, false)?;
    attach(&tree, root, place)?;
    Ok(tree)
}

const HOST_ROOT: &CStr = c"/";
/// Nothing of the host's is needed any more, and it is there: the ids were mapped by it.
const HOST_PROC: &CStr = c"/proc";

/// Where in this mount namespace the file system in memory is put, and only we know of it. What lies over the root itself must
/// be taken away by itself, which costs as much as a wall.
fn place_of_memory(plan: &Plan<'_>) -> &'static CStr {
    let is_below = |path: &CString| path.to_bytes().starts_with(HOST_PROC.to_bytes());
    // Who serves a layer by FUSE looks there for its own descriptors.
    let is_needed = plan.fuse.is_some()
        || plan.grants.iter().any(|(_, granted)| matches!(&granted.from, Origin::Path(path) if is_below(path)));
    if is_needed { HOST_ROOT } else { HOST_PROC }
}

/// A file system in memory, put over a place of this mount namespace.
fn memory(options: &[(CString, CString)], place: &CStr) -> Answer<OwnedFd> {
    let context = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(&context, key, value)?;
    }
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let memory = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    attach(&memory, CWD, place)?;
    Ok(memory)
}

/// The directory that becomes the root, as it can be written to.
fn make_root(memory: &OwnedFd) -> Answer<OwnedFd> {
    mkdirat(memory, ROOT, Mode::from_raw_mode(0o755))?;
    openat(memory, ROOT, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn show_root(memory: &OwnedFd) -> Answer<OwnedFd> {
    let root = copy(memory, ROOT, false)?;
    restrict(&root, READ_ONLY | NO_SETUID | NO_DEVICES)?;
    attach(&root, memory, ROOT)?;
    Ok(root)
}

fn show_writable(place: &OwnedFd, root: &OwnedFd, path: &CStr) -> Answer<()> {
    let tree = copy(place, path, false)?;
    attach(&tree, root, path)
}

fn show(root: &OwnedFd, shown: &Shown, attributes: u64) -> Answer<()> {
    let tree = copy(CWD, &shown.host, shown.is_directory)?;
    restrict(&tree, attributes)?;
    attach(&tree, root, &shown.inside)
}

/// Programs and libraries below an overlay: a run's locks and watches are on files of its own then. What the kernel puts none
/// over, such as a directory in which something else is mounted, is shown as it is; in a cell it is below one already. Where there
/// can be one overlay for all, there is.
fn show_system(inside: &mut Inside<'_>, memory: &OwnedFd, root: &OwnedFd) -> Result<(), Failure> {
    let skeleton = &inside.plan.skeleton;
    let is_covered = !inside.plan.is_in_cell;
    let both = skeleton.together.as_ref().filter(|_| is_covered).and_then(|both| cover(memory, both).ok());
    for part in &skeleton.parts {
        let own = if is_covered && both.is_none() { cover_part(memory, part).ok() } else { None };
        let overlay = both.as_ref().or(own.as_ref());
        if overlay.is_none() && is_covered {
            inside.note(Step::Uncovered);
        }
        for (shown, below) in skeleton.shown.iter().filter_map(|shown| Some((shown, part.below(shown)?))) {
            let is_shown = match overlay {
                Some(overlay) => show_covered(overlay, below, root, shown),
                None => show(root, shown, READ_ONLY | NO_SETUID | NO_DEVICES),
            };
            at(Step::System, 0, is_shown)?;
        }
    }
    Ok(())
}

/// An overlay over a part of the host and over nothing.
fn cover_part(memory: &OwnedFd, part: &Part) -> Answer<OwnedFd> {
    match mkdirat(memory, NOTHING, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => cover(memory, &part.cover),
        Err(errno) => Err(errno),
    }
}

/// An overlay, at a place that only we know of.
fn cover(memory: &OwnedFd, asked: &Cover) -> Answer<OwnedFd> {
    mkdirat(memory, &asked.place, Mode::from_raw_mode(0o755))?;
    rustix::process::fchdir(memory)?;
    let attributes = overlay::HARMLESS | MountAttrFlags::MOUNT_ATTR_RDONLY;
    let overlay = overlay::mount(&[(c"lowerdir", &asked.lowers)], attributes)?;
    attach(&overlay, memory, &asked.place)?;
    Ok(overlay)
}

fn show_covered(overlay: &OwnedFd, below: &CStr, root: &OwnedFd, shown: &Shown) -> Answer<()> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    flags.set(OpenTreeFlags::AT_EMPTY_PATH, below.is_empty());
    attach(&open_tree(overlay, below, flags)?, root, &shown.inside)
}

fn proc(root: &OwnedFd) -> Answer<OwnedFd> {
    let proc = make_proc()?;
    attach(&proc, root, c"proc")?;
    Ok(proc)
}

/// Processes of the run only, and nothing of the host's kernel.
fn make_proc() -> Answer<OwnedFd> {
    let context = fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"subset", c"pid")?;
    fsconfig_create(&context)?;
    let attributes =
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Makes the new root the root, and takes the host's files away with all that hangs below them.
fn leave_host(root: &OwnedFd, cover: &CStr) -> Answer<()> {
    rustix::process::fchdir(root)?;
    rustix::process::pivot_root(c".", c".")?;
    // What now lies over the new root is the host's, and over that may lie the file system in memory: the topmost goes first.
    // Were the host's left, nobody would see it by a path from the root, but by one that climbs above it.
    if cover == HOST_ROOT {
        unmount(c".", UnmountFlags::DETACH)?;
    }
    unmount(c".", UnmountFlags::DETACH)?;
    rustix::process::chdir(c"/")
}

/// A copy of what is mounted at a path, which hangs nowhere yet.
pub fn copy(directory: impl AsFd, path: &CStr, is_recursive: bool) -> Answer<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    flags.set(OpenTreeFlags::AT_RECURSIVE, is_recursive);
    open_tree(directory, path, flags)
}

fn attach(mount: &OwnedFd, directory: impl AsFd, path: &CStr) -> Answer<()> {
    move_mount(mount, c"", directory, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
}

/// Puts a mount over what a descriptor is of.
pub fn attach_here(mount: &OwnedFd, target: &OwnedFd) -> Answer<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, c"", target, c"", flags)
}

fn write_file(directory: &OwnedFd, path: &CStr, bytes: &[u8], mode: u32) -> Answer<()> {
    write_all(&create(directory, path, mode)?, bytes)
}

fn create(directory: &OwnedFd, path: &CStr, mode: u32) -> Answer<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(directory, path, flags, Mode::from_raw_mode(mode))
}

/// What is copied passes through the kernel only. If it has gone meanwhile, it is not there.
fn fill_file(directory: &OwnedFd, path: &CStr, content: &Content) -> Answer<()> {
    let (host, bytes) = match content {
        Content::Words(words) => return write_file(directory, path, words.as_bytes(), 0o644),
        Content::Copied { host, bytes } => (host, *bytes as usize),
    };
    let Ok(from) = openat(CWD, host, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty()) else {
        return Ok(());
    };
    let into = create(directory, path, 0o644)?;
    let mut left = bytes;
    while left > 0 {
        match sendfile(&into, &from, None, left)? {
            0 => break,
            count => left = left.saturating_sub(count),
        }
    }
    Ok(())
}

pub fn write_all(file: &OwnedFd, bytes: &[u8]) -> Answer<()> {
    let mut left = bytes;
    while !left.is_empty() {
        let written = rustix::io::write(file, left)?;
        left = left.get(written..).unwrap_or_default();
    }
    Ok(())
}
