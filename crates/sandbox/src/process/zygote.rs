//! A zygote: an interpreter that was started in a cell before any run, and forks for each. The run's first process is made as
//! for any other, and seals itself; instead of starting a program it hands out its namespaces and landlock's rules. The
//! zygote's child enters those, carries out the same calls to seal itself, which it is told as data, and runs the code.
//!
//! The zygote never runs anything foreign, and what its children write is theirs: memory is copied, and of its descriptors
//! they keep none.

use super::cell::Cell;
use super::cgroup::{Cgroup, Layout};
use super::inside::become_user;
use super::plan::Plan;
use super::stream::Given;
use crate::error::SandboxError;
use crate::limits::Limits;
use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg, socketpair,
};
use rustix::process::{Signal, pidfd_send_signal};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::ffi::{CStr, CString, OsString};
use std::fmt::Write;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use system::clone::{self, Child};
use system::program::{self, Words};

/// What a zygote is: data.
#[derive(Clone, Debug)]
pub struct ZygoteKind {
    /// The interpreter, inside and outside.
    pub program: CString,
    /// Its arguments: how it is given its code, and what to load.
    pub arguments: Vec<CString>,
    /// It serves orders whose first word is one of these,
    pub names: Vec<OsString>,
    /// and whose second is this one, with code behind it, or no option.
    pub option: OsString,
    /// Variables that begin with this change how it starts, but for these.
    pub prefix: String,
    pub harmless: Vec<String>,
}

pub struct Zygote {
    pub cell: Cell,
    child: Child,
    socket: OwnedFd,
}

/// Of the first process of a run, in the order in which it hands them out; that of processes first.
pub const NAMESPACES: [&CStr; 6] = [
    c"/proc/self/ns/pid",
    c"/proc/self/ns/mnt",
    c"/proc/self/ns/ipc",
    c"/proc/self/ns/uts",
    c"/proc/self/ns/time",
    c"/proc/self/ns/cgroup",
];
/// With landlock's rules before them.
pub const HANDED_TO_ZYGOTE: usize = 1 + NAMESPACES.len();
/// Longer messages do not fit through the socket for sure.
const TOLD_BYTES: usize = 100 << 10;
/// What it needs to enter namespaces and to give up capabilities.
const NEEDED: CapabilitySet = CapabilitySet::SYS_ADMIN.union(CapabilitySet::SYS_CHROOT).union(CapabilitySet::SETPCAP);
/// Where it finds the socket.
const SOCKET: i32 = 3;

impl Zygote {
    pub fn start(kind: &ZygoteKind, cell: Cell, limits: &Limits) -> Result<Zygote, SandboxError> {
        // Its children are born where it is: in the cgroup that the runs of this thread are in.
        let cgroup = Cgroup::of_thread(limits).map_err(SandboxError::system("make a cgroup"))?;
        let (socket, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(SandboxError::system("make a socket; the limit of open files may be too low"))?;
        let arguments = Words::new(std::iter::once(&kind.program).chain(&kind.arguments).cloned().collect());
        let environment =
            Words::new(vec![c"LANG=C.UTF-8".into(), c"HOME=/home/user".into(), c"PATH=/usr/bin:/bin".into()]);
        let mut body = || match make_ready(&theirs) {
            Ok(()) => {
                program::execute(&kind.program, &arguments, &environment);
                127
            }
            Err(_) => 126,
        };
        let child = clone::clone_inside(
            &|| cell.enter_as_it_is(),
            0,
            cgroup.as_ref().and_then(Cgroup::to_be_made_in),
            &mut body,
        )
        .map_err(SandboxError::system("start a zygote"))?;
        Ok(Zygote { cell, child, socket })
    }

    /// Whether what its children use counts as their run's. Cgroups of the second version are made for each run, and the
    /// children would be in the zygote's.
    pub fn can_be_limited() -> bool {
        !matches!(Layout::of_host(), Layout::Second { .. })
    }

    /// Asks for a run. What comes of it is told over the socket that is returned.
    pub fn ask(&self, plan: &Plan<'_>, given: &Given, handed_out: &[OwnedFd]) -> Result<OwnedFd, SandboxError> {
        let (report, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(SandboxError::system("make a socket; the limit of open files may be too low"))?;
        let text = told(plan);
        let mut descriptors: Vec<BorrowedFd<'_>> = given.all().to_vec();
        descriptors.push(theirs.as_fd());
        descriptors.extend(handed_out.iter().map(AsFd::as_fd));
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4 + HANDED_TO_ZYGOTE))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        sendmsg(&self.socket, &[IoSlice::new(text.as_bytes())], &mut control, SendFlags::NOSIGNAL)
            .map_err(SandboxError::system("ask a zygote"))?;
        Ok(report)
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.child.pidfd, Signal::KILL);
        let _ = clone::wait(self.child.pid, true);
    }
}

impl ZygoteKind {
    /// Whether a run of it is what the order wants.
    pub fn serves(&self, order: &crate::order::Order) -> bool {
        let mut words = order.program.iter();
        let (name, second) = (words.next(), words.next());
        let is_code = second == Some(&self.option) && words.next().is_some();
        let is_file = second.is_some_and(|word| !word.as_encoded_bytes().starts_with(b"-"));
        let changes_start = order.environment.iter().any(|(name, value)| {
            let name = name.to_string_lossy();
            let is_other_language = matches!(&*name, "LC_ALL" | "LC_CTYPE" | "LANG") && value != "C.UTF-8";
            is_other_language || name.starts_with(&self.prefix) && !self.harmless.iter().any(|each| *each == *name)
        });
        let bytes: usize = order.program.iter().map(|word| word.len()).sum::<usize>()
            + order.environment.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        name.is_some_and(|name| self.names.contains(name))
            && (is_code || is_file)
            && !changes_start
            && 2 * bytes < TOLD_BYTES
            && order.view.grants.is_empty()
            && !order.allows_weaker
    }
}

/// In the process that becomes the zygote: its user, its descriptors, and the capabilities that it keeps.
fn make_ready(socket: &OwnedFd) -> rustix::io::Result<()> {
    let nothing = rustix::fs::open(c"/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    // Before its number belongs to another.
    drop(nothing);
    system::descriptor::close_all_but(&[socket.as_raw_fd()])?;
    // The lowest that is free now, unless it is there already.
    if socket.as_raw_fd() == SOCKET {
        rustix::io::fcntl_setfd(socket, FdFlags::empty())?;
    } else {
        std::mem::forget(rustix::io::dup(socket)?);
    }
    rustix::process::setsid()?;
    become_user()?;
    let sets = CapabilitySets { effective: NEEDED, permitted: NEEDED, inheritable: NEEDED };
    rustix::thread::set_capabilities(None, sets)?;
    for capability in NEEDED.iter() {
        rustix::thread::configure_capability_in_ambient_set(capability, true)?;
    }
    program::restore_signals()
}

/// All that the zygote's child is told.
fn told(plan: &Plan<'_>) -> String {
    let mut text = String::new();
    let words =
        |words: &[CString]| words.iter().flat_map(|word| word.as_bytes_with_nul().to_vec()).collect::<Vec<u8>>();
    let directory = std::slice::from_ref(&plan.directory);
    for (name, bytes) in [
        ("argv", words(plan.arguments.as_slice())),
        ("env", words(plan.environment.as_slice())),
        ("cwd", words(directory)),
    ] {
        // Writing to a String never fails.
        let _ = write!(text, "{name} ");
        bytes.iter().for_each(|byte| drop(write!(text, "{byte:02x}")));
        text.push('\n');
    }
    let lines: Vec<String> = plan.steps.iter().map(|(_, call)| call.told()).collect();
    text + &lines.join("\n")
}
