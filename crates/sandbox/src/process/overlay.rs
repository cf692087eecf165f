//! The kernel's overlay: over directories of the host that every run sees, and with a layer in memory over what was granted.
//!
//! What lies below one is not reached by what a run does to a file and not to its bytes: locks, watches and flushes are the
//! overlay's, and sockets of the host have no one behind them there.

use rustix::io::Result as Answer;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
};
use std::ffi::CStr;
use std::os::fd::OwnedFd;

pub const HARMLESS: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// A mount that hangs nowhere yet. The options name directories by paths, from the working directory.
pub fn mount(options: &[(&CStr, &CStr)], attributes: MountAttrFlags) -> Answer<OwnedFd> {
    let context = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(&context, *key, *value)?;
    }
    // By what a layer is marked. Without one nothing of ours is, and each look for marks costs a microsecond.
    if options.iter().any(|(key, _)| *key == c"upperdir") {
        fsconfig_set_flag(&context, c"userxattr")?;
    }
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}
