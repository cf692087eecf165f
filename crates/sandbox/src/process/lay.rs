//! Fills a layer with what was left in one before, so that a run finds it there. Directly, before the layer is put over its
//! directory: what is missing is marked as the kernel's overlay marks it.

use super::world::write_all;
use crate::changes::{layer::OPAQUE, tree};
use crate::error::SandboxError;
use crate::order::{Access, View};
use crate::outcome::{ChangeKind, Changed};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, XattrFlags, chmodat, fchmod, fsetxattr, mkdirat, mknodat, openat,
    openat2, symlinkat,
};
use rustix::io::Result as Answer;
use std::ffi::{CStr, CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// One thing that lies in a layer from the beginning, ready for a process that must not ask for memory.
pub struct Laid<'a> {
    grant: usize,
    /// From the layer's top.
    parent: CString,
    name: CString,
    what: What<'a>,
}

enum What<'a> {
    File { bytes: &'a [u8], mode: u32 },
    Link { target: CString },
    Directory { mode: u32, replaces: bool },
    Removed,
}

/// Those of all layers, in the order of the view: parents come before what is in them.
pub fn make_ready(view: &View) -> Result<Vec<Laid<'_>>, SandboxError> {
    view.written.iter().map(|written| make_one_ready(view, written)).collect()
}

fn make_one_ready<'a>(view: &View, written: &'a Changed) -> Result<Laid<'a>, SandboxError> {
    let Changed { grant, path, kind } = written;
    let refuse = |why: &str| SandboxError::Grant { path: path.clone(), why: why.into() };
    let is_layered = view.grants.get(*grant).is_some_and(|grant| grant.access == Access::Layered);
    let (Some(name), true, true) = (path.file_name(), tree::is_below(path), is_layered) else {
        return Err(refuse("what lies in a layer from the beginning is named from its directory"));
    };
    let word = |word: &OsStr| CString::new(word.as_bytes()).map_err(|_| refuse("there is a zero byte in it"));
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let what = match kind {
        ChangeKind::File { bytes, mode } => What::File { bytes, mode: *mode },
        ChangeKind::Link { target } => What::Link { target: word(target.as_os_str())? },
        ChangeKind::Directory { mode, replaces } => What::Directory { mode: *mode, replaces: *replaces },
        ChangeKind::Removed => What::Removed,
        ChangeKind::Unreadable { why } => return Err(refuse(why)),
    };
    Ok(Laid { grant: *grant, parent: word(parent.as_os_str())?, name: word(name)?, what })
}

/// Into the layer of this grant.
pub fn lay(laid: &[Laid<'_>], grant: usize, upper: &OwnedFd) -> Answer<()> {
    let own = || laid.iter().filter(move |laid| laid.grant == grant);
    for each in own() {
        lay_one(&open_parent(upper, &each.parent)?, &each.name, &each.what)?;
    }
    // A directory may be one that nobody may enter.
    for each in own().rev() {
        if let What::Directory { mode, .. } = each.what {
            let parent = open_parent(upper, &each.parent)?;
            chmodat(&parent, &each.name, Mode::from_raw_mode(mode), AtFlags::empty())?;
        }
    }
    Ok(())
}

fn lay_one(parent: &OwnedFd, name: &CStr, what: &What<'_>) -> Answer<()> {
    match what {
        What::File { bytes, mode } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(parent, name, flags, Mode::RUSR | Mode::WUSR)?;
            write_all(&file, bytes)?;
            fchmod(&file, Mode::from_raw_mode(*mode))
        }
        What::Link { target } => symlinkat(target, parent, name),
        What::Directory { replaces, .. } => {
            mkdirat(parent, name, Mode::RWXU)?;
            if *replaces {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let directory = openat(parent, name, flags, Mode::empty())?;
                fsetxattr(&directory, OPAQUE, b"y", XattrFlags::empty())?;
            }
            Ok(())
        }
        What::Removed => mknodat(parent, name, FileType::CharacterDevice, Mode::empty(), 0),
    }
}

fn open_parent(upper: &OwnedFd, parent: &CStr) -> Answer<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    openat2(upper, parent, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty(), resolve)
}
