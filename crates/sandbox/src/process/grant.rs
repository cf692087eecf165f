//! Puts what was granted and handed in into the view, from inside.
//!
//! Paths inside are chosen by whoever gave the order, and lead through links. So each is looked up as if the new root were
//! the root already: none leads out of it.

use super::fuse;
use super::inside::{Inside, at};
use super::lay;
use super::overlay;
use super::report::{Failure, Step};
use super::source::{Granted, Layer, Origin, Place, Written};
use super::world::{attach_here, copy};
use crate::order::Access;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, chmodat, mkdirat, openat, openat2};
use rustix::io::{Errno, Result as Answer};
use rustix::mount::MountAttrFlags;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use system::mount::{NO_DEVICES, NO_SETUID, READ_ONLY, restrict};

/// The view while it is made.
pub struct View<'a> {
    /// The file system in memory.
    pub memory: &'a OwnedFd,
    /// Its part that becomes the root, as it can be written to, without what is mounted there.
    pub place: &'a OwnedFd,
    /// The root, read-only, with what is mounted there.
    pub root: &'a OwnedFd,
}

pub fn show_all(inside: &mut Inside<'_>, view: &View<'_>) -> Result<(), Failure> {
    let plan = inside.plan;
    for (index, granted) in &plan.grants {
        at(Step::Grant, *index, make_target(view, granted))?;
        show_one(inside, view, *index, granted)?;
    }
    for (item, file) in plan.files.iter().enumerate() {
        at(Step::File, item, write(view, file))?;
    }
    Ok(())
}

fn show_one(inside: &mut Inside<'_>, view: &View<'_>, index: usize, granted: &Granted) -> Result<(), Failure> {
    let Some(layer) = &granted.layer else { return at(Step::Grant, index, show(view, granted)) };
    let shown = show_layered(inside, view, index, (granted, layer));
    match granted.access {
        Access::Layered => {
            if let Some(upper) = inside.tried(Step::Layer, index, shown)? {
                inside.hand_out(upper);
            }
            Ok(())
        }
        Access::Read => match shown {
            Err(errno) if inside.plan.allows_weaker => {
                inside.wall(Step::Layer, Err(errno))?;
                at(Step::Grant, index, show(view, granted))
            }
            shown => at(Step::Layer, index, shown.map(drop)),
        },
    }
}

/// An empty directory or file to mount on, unless there is one.
fn make_target(view: &View<'_>, granted: &Granted) -> Answer<()> {
    make_ancestors(view, &granted.place)?;
    let Place { parent, name, .. } = &granted.place;
    ignore_existing(writable(view, parent, |directory| match granted.is_directory {
        true => mkdirat(directory, name, Mode::from_raw_mode(0o755)),
        false => create(directory, name, 0o644).map(drop),
    }))
}

fn show(view: &View<'_>, granted: &Granted) -> Answer<()> {
    let tree = source(granted)?;
    restrict(&tree, READ_ONLY | NO_SETUID | NO_DEVICES)?;
    attach_at(view, &tree, &granted.place.path)
}

/// Puts a layer in memory over the directory; returns that layer, for the one outside to look at in the end.
fn show_layered(
    inside: &mut Inside<'_>,
    view: &View<'_>,
    index: usize,
    (granted, layer): (&Granted, &Layer),
) -> Answer<OwnedFd> {
    let upper = make_parts(view.memory, granted, layer, |upper| lay::lay(&inside.plan.laid, index, upper))?;
    // The kernel's overlay takes paths.
    rustix::process::fchdir(view.memory)?;
    let parts = [(c"lowerdir", &layer.lower), (c"upperdir", &layer.upper), (c"workdir", &layer.work)];
    let mut attributes = overlay::HARMLESS;
    attributes.set(MountAttrFlags::MOUNT_ATTR_RDONLY, granted.access == Access::Read);
    let overlay =
        match (overlay::mount(&parts.map(|(key, name)| (key, name.as_c_str())), attributes), &inside.plan.fuse) {
            (Err(errno), Some(fuse)) if fuse::is_worth_trying(errno) => {
                let mount = fuse.mount(view.memory, index, attributes).map_err(|_| errno)?;
                inside.note(Step::Substitute);
                mount
            }
            (overlay, _) => overlay?,
        };
    attach_at(view, &overlay, &granted.place.path)?;
    Ok(upper)
}

/// The directory that is granted, read-only, the layer, and where the overlay works; returns the layer.
fn make_parts(
    memory: &OwnedFd,
    granted: &Granted,
    layer: &Layer,
    fill: impl Fn(&OwnedFd) -> Answer<()>,
) -> Answer<OwnedFd> {
    for name in [&layer.lower, &layer.upper, &layer.work] {
        mkdirat(memory, name, Mode::from_raw_mode(0o755))?;
    }
    let upper = openat(memory, &layer.upper, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    fill(&upper)?;
    chmodat(memory, &layer.upper, Mode::from_raw_mode(granted.mode), rustix::fs::AtFlags::empty())?;
    let tree = source(granted)?;
    restrict(&tree, READ_ONLY | NO_SETUID | NO_DEVICES)?;
    let lower = openat(memory, &layer.lower, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    attach_here(&tree, &lower)?;
    Ok(upper)
}

/// What is granted, as a mount that hangs nowhere yet.
fn source(granted: &Granted) -> Answer<OwnedFd> {
    match &granted.from {
        Origin::Mount(mount) => rustix::io::fcntl_dupfd_cloexec(mount, 3),
        Origin::Path(path) => copy(CWD, path, false),
    }
}

fn attach_at(view: &View<'_>, mount: &OwnedFd, path: &CStr) -> Answer<()> {
    let target = locate(view.root.as_fd(), path)?;
    attach_here(mount, &target)
}

fn write(view: &View<'_>, file: &Written<'_>) -> Answer<()> {
    make_ancestors(view, &file.place)?;
    let Place { parent, name, path, .. } = &file.place;
    writable(view, parent, |directory| {
        let descriptor = create(directory, name, file.mode)?;
        super::world::write_all(&descriptor, file.bytes)
    })?;
    // A file below a directory that is shown read-only would not be seen.
    locate(view.root.as_fd(), path).map(drop).map_err(|_| Errno::ROFS)
}

fn make_ancestors(view: &View<'_>, place: &Place) -> Answer<()> {
    for (directory, name) in &place.ancestors {
        ignore_existing(writable(view, directory, |directory| mkdirat(directory, name, Mode::from_raw_mode(0o755))))?;
    }
    Ok(())
}

/// Does something in a directory as the run sees it or, where that is read-only, as we do.
fn writable(view: &View<'_>, directory: &CStr, act: impl Fn(BorrowedFd<'_>) -> Answer<()>) -> Answer<()> {
    let seen = locate(view.root.as_fd(), directory)?;
    match act(seen.as_fd()) {
        Err(Errno::ROFS) => act(locate(view.place.as_fd(), directory)?.as_fd()),
        answer => answer,
    }
}

fn locate(root: BorrowedFd<'_>, path: &CStr) -> Answer<OwnedFd> {
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    openat2(root, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

fn create(directory: BorrowedFd<'_>, name: &CStr, mode: u32) -> Answer<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(directory, name, flags, Mode::from_raw_mode(mode))
}

fn ignore_existing(answer: Answer<()>) -> Answer<()> {
    match answer {
        Err(Errno::EXIST) => Ok(()),
        answer => answer,
    }
}
