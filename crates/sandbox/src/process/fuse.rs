//! A layer by fuse-overlayfs, a program of the host, where the kernel's overlay refuses a directory: on kernels before 5.11, and
//! where there are too many layers below already, as in a container inside another.
//!
//! The program is a process of the run, started before anything foreign is, and sealed as that will be. It is handed a mount that
//! is made here, and finds the directory, which is read-only, and the layer, which is the run's to write to; it sees the host's
//! files no longer than we do. A run cannot look into it: it has a capability that means nothing, and the run has none. Where
//! landlock does not keep signals away a run can end it, and has no files in that directory then.

use super::filter;
use super::report::Step;
use super::seal;
use super::source::{Granted, Layer};
use super::view::USER;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, open, statat};
use rustix::io::{Errno, Result as Answer, fcntl_dupfd_cloexec};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};
use rustix::path::DecInt;
use rustix::process::{Resource, Rlimit};
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use system::clone;
use system::program::{self, Words};
use system::sealing::Call;

/// Where it may be.
const PLACES: &[&str] = &["/usr/bin/fuse-overlayfs", "/usr/local/bin/fuse-overlayfs", "/bin/fuse-overlayfs"];
const DEVICE: &CStr = c"/dev/fuse";
/// The number by which it is handed the device.
const HANDED: RawFd = 3;
/// It wants paths that lead somewhere: what is in memory lies there, in our mount namespace, until it has begun.
const SHELF: &CStr = c"/tmp";

/// The program made ready, for a process that must not ask for memory.
pub struct Fuse {
    path: CString,
    layers: Vec<Served>,
    environment: Words,
    steps: Vec<(Step, Call)>,
}

/// What it is told for the layer of a grant.
struct Served {
    grant: usize,
    /// Where it works, in memory. Not where the kernel has tried to: that left a directory there that nobody may enter.
    work: CString,
    arguments: Words,
}

/// It writes at once, so that nothing is missing in the layer when a run is over.
fn served(grant: usize, layer: &Layer) -> Option<Served> {
    let work = CString::new(format!("fuse{grant}")).ok()?;
    let part = |name: &CStr| [SHELF.to_bytes(), b"/", name.to_bytes()].concat();
    let [lower, upper, place] = [&layer.lower, &layer.upper, &work].map(|name| part(name));
    let parts =
        [b"lowerdir=".as_slice(), &lower, b",upperdir=", &upper, b",workdir=", &place, b",writeback=0"].concat();
    let words = [c"fuse-overlayfs", c"-f", c"-o"].map(CStr::to_owned).into_iter();
    let arguments = Words::new(words.chain(CString::new(parts)).chain([c"/dev/fd/3".to_owned()]).collect());
    Some(Served { grant, work, arguments })
}

impl Fuse {
    /// `None` where it is not installed.
    pub fn find(grants: &[(usize, Granted)], rlimits: &[(Resource, Rlimit)], is_counted: bool) -> Option<Fuse> {
        let place = PLACES.iter().find(|place| Path::new(place).is_file())?;
        Some(Fuse {
            path: CString::new(*place).ok()?,
            layers: grants.iter().filter_map(|(index, granted)| served(*index, granted.layer.as_ref()?)).collect(),
            environment: Words::new(Vec::new()),
            steps: seal::steps_of_fuse(rlimits, &filter::of_fuse(is_counted)),
        })
    }

    /// Puts a grant's layer over its directory, the parts of which are in memory: a mount that hangs nowhere yet, and is
    /// served.
    pub fn mount(&self, memory: &OwnedFd, grant: usize, attributes: MountAttrFlags) -> Answer<OwnedFd> {
        let Served { work, arguments, .. } = self.layers.iter().find(|one| one.grant == grant).ok_or(Errno::NOENT)?;
        mkdirat(memory, work, Mode::RWXU)?;
        let device = open(DEVICE, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let mount = make(&device, attributes)?;
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        let shelf = open_tree(memory, c"", flags | OpenTreeFlags::AT_EMPTY_PATH | OpenTreeFlags::AT_RECURSIVE)?;
        move_mount(&shelf, c"", CWD, SHELF, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        clone::clone_until_exec(&mut || self.become_program(arguments, device.as_fd()))?;
        drop(device);
        // Who asks first waits until somebody serves it, or is told that nobody will.
        let is_served = statat(&mount, c"", AtFlags::EMPTY_PATH);
        // It has all of it open, and what it hides of the host may be granted next.
        unmount(SHELF, UnmountFlags::DETACH)?;
        is_served.map(|_| mount)
    }

    fn become_program(&self, arguments: &Words, device: BorrowedFd<'_>) -> i32 {
        const NOT_STARTED: i32 = 127;
        if self.make_ready(device).is_ok() {
            program::execute(&self.path, arguments, &self.environment);
        }
        NOT_STARTED
    }

    fn make_ready(&self, device: BorrowedFd<'_>) -> Answer<()> {
        // Apart from its place, so that it is one that programs inherit.
        let apart = fcntl_dupfd_cloexec(device, HANDED + 1)?;
        system::descriptor::put(&apart, HANDED)?;
        let nothing = open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(&nothing)?;
        rustix::stdio::dup2_stdout(&nothing)?;
        rustix::stdio::dup2_stderr(&nothing)?;
        system::descriptor::close_all_but(&[HANDED])?;
        // They are closed.
        std::mem::forget((apart, nothing));
        rustix::process::setsid()?;
        rustix::process::chdir(c"/")?;
        program::restore_signals()?;
        self.steps.iter().try_for_each(|(_, call)| call.perform(None))
    }
}

/// The mount, in the run's user namespace, in which the device was opened.
fn make(device: &OwnedFd, attributes: MountAttrFlags) -> Answer<OwnedFd> {
    let context = fsopen(c"fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, c"fd", DecInt::new(device.as_raw_fd()).as_c_str())?;
    fsconfig_set_string(&context, c"rootmode", c"40000")?;
    for key in [c"user_id", c"group_id"] {
        fsconfig_set_string(&context, key, DecInt::new(USER).as_c_str())?;
    }
    fsconfig_set_flag(&context, c"default_permissions")?;
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Whether trying it makes sense after the kernel's overlay answered this.
pub fn is_worth_trying(errno: Errno) -> bool {
    matches!(errno, Errno::NODEV | Errno::PERM | Errno::OPNOTSUPP | Errno::INVAL)
}
