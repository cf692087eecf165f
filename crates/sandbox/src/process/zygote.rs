//! A zygote: an interpreter that was started in a cell before any run, and forks for each. The run's first process is made as
//! for any other, and seals itself; instead of starting a program it hands out its namespaces and landlock's rules. The
//! zygote's child enters those, carries out the same calls to seal itself, which it is told as data, and runs the code.
//!
//! The zygote never runs anything foreign, and what its children write is theirs: memory is copied, and of its descriptors
//! they keep none.

use super::cell::{Cell, is_alive};
use super::plan::Plan;
use super::report::Step;
use super::stream::Given;
use super::view::{HOME, PATH};
use crate::error::SandboxError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};
use rustix::process::{Signal, pidfd_send_signal};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use system::program;
use system::sealing::Call;

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

/// A zygote, which lives in a cell; it goes before that does.
pub struct Guest {
    socket: OwnedFd,
    pidfd: OwnedFd,
    /// How the last run was sealed: the next one mostly is in the same way, and need not be told again.
    told: Mutex<Vec<(Step, Call)>>,
}

/// Of the first process of a run, in the order in which it hands them out; that of processes first.
pub const NAMESPACES: [&CStr; 3] = [c"/proc/self/ns/pid", c"/proc/self/ns/mnt", c"/proc/self/ns/ipc"];
/// With landlock's rules before them.
pub const HANDED_TO_ZYGOTE: usize = 1 + NAMESPACES.len();
/// Said instead of how a run is sealed, if that is as it was.
const AS_BEFORE: &str = "=";
/// Longer messages do not fit through the socket for sure.
const TOLD_BYTES: usize = 100 << 10;
/// What it needs to enter namespaces and to give up capabilities.
pub const NEEDED: CapabilitySet =
    CapabilitySet::SYS_ADMIN.union(CapabilitySet::SYS_CHROOT).union(CapabilitySet::SETPCAP);
/// It counts to the memory of its runs: with less they would have too little.
const LEAST_MEMORY_BYTES: u64 = 128 << 20;
/// How long one may take to load what it serves with.
const PATIENCE: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };
/// Variables that a program looks at before any code of its own.
const EARLY: [&str; 3] = ["LD_", "MALLOC_", "GLIBC_"];
/// Of a cell that has one.
pub const PROCESSES: u64 = 2;
/// Where it finds the socket.
const SOCKET: i32 = 3;

impl Guest {
    pub fn start(kind: &ZygoteKind, cell: &Cell) -> Result<Guest, SandboxError> {
        let (socket, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(SandboxError::system("make a socket; the limit of open files may be too low"))?;
        let pidfd = cell.house(&kind.program, &kind.arguments, &theirs)?;
        let guest = Guest { socket, pidfd, told: Mutex::default() };
        guest.await_readiness()?;
        Ok(guest)
    }

    /// It says a byte when it has loaded everything.
    fn await_readiness(&self) -> Result<(), SandboxError> {
        let trouble = |errno| SandboxError::system("start a zygote: it has not become ready")(errno);
        let mut waited = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut waited, Some(&PATIENCE)).map_err(trouble)? {
            0 => Err(trouble(Errno::TIMEDOUT)),
            _ => match rustix::net::recv(&self.socket, &mut [0u8; 1], RecvFlags::DONTWAIT).map_err(trouble)? {
                (1, _) => Ok(()),
                _ => Err(trouble(Errno::PIPE)),
            },
        }
    }

    pub fn is_alive(&self) -> bool {
        is_alive(&self.pidfd)
    }

    /// Asks for a run. What comes of it is told over the socket that is returned, where the child finds what it is to run:
    /// the zygote itself must not know, since whatever it knew all its children would.
    pub fn ask(&self, plan: &Plan<'_>, given: &Given, handed_out: &[OwnedFd]) -> Result<OwnedFd, SandboxError> {
        let (report, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(SandboxError::system("make a socket; the limit of open files may be too low"))?;
        let trouble = SandboxError::system("ask a zygote");
        let mut descriptors: Vec<BorrowedFd<'_>> = vec![theirs.as_fd()];
        descriptors.extend(given.all());
        descriptors.extend(handed_out.iter().map(AsFd::as_fd));
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4 + HANDED_TO_ZYGOTE))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_told = *told == plan.steps;
        let lines = match is_told {
            true => AS_BEFORE.to_owned(),
            false => plan.steps.iter().map(|(_, call)| call.told()).collect::<Vec<_>>().join("\n"),
        };
        rustix::net::send(&report, &secret(plan), SendFlags::NOSIGNAL)
            .and_then(|_| sendmsg(&self.socket, &[IoSlice::new(lines.as_bytes())], &mut control, SendFlags::NOSIGNAL))
            .map_err(trouble)?;
        if !is_told {
            told.clone_from(&plan.steps);
        }
        Ok(report)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // Nobody waits for it but the kernel, once the cell has gone.
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        let _ = poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], None);
    }
}

impl ZygoteKind {
    /// Whether the first program of this name on the order's path is it.
    fn is_found_as(&self, name: &OsString, order: &crate::order::Order) -> bool {
        let path = order.environment.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value);
        let (Some(path), false) = (path, name.as_encoded_bytes().contains(&b'/')) else { return true };
        let first = std::env::split_paths(path).map(|directory| directory.join(name)).find(|place| place.exists());
        let program = Path::new(OsStr::from_bytes(self.program.as_bytes())).canonicalize();
        first
            .and_then(|first| first.canonicalize().ok())
            .zip(program.ok())
            .is_some_and(|(first, program)| first == program)
    }

    /// Whether a run of it is what the order wants.
    pub fn serves(&self, order: &crate::order::Order) -> bool {
        let mut words = order.program.iter();
        let (name, second) = (words.next(), words.next());
        let is_code = second == Some(&self.option) && words.next().is_some();
        let is_file = second.is_some_and(|word| !word.as_encoded_bytes().starts_with(b"-"));
        let changes_start = order.environment.iter().any(|(name, value)| {
            let name = name.to_string_lossy();
            let is_other_language = matches!(&*name, "LC_ALL" | "LC_CTYPE" | "LANG") && value != "C.UTF-8";
            let is_early = EARLY.iter().any(|early| name.starts_with(early));
            name.is_empty()
                || is_early
                || is_other_language
                || name.starts_with(&self.prefix) && !self.harmless.iter().any(|each| *each == *name)
        });
        // With what ends each of them.
        let bytes: usize = order.program.iter().map(|word| word.len() + 1).sum::<usize>()
            + order.environment.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>();
        name.is_some_and(|name| self.names.contains(name) && self.is_found_as(name, order))
            && (is_code || is_file)
            && !changes_start
            && 2 * bytes < TOLD_BYTES
            && order.limits.memory_bytes.is_none_or(|bytes| bytes >= LEAST_MEMORY_BYTES)
            && order.view.grants.is_empty()
            && !order.allows_weaker
    }
}

/// What most runs are given, in the same order: then a child has nothing to change.
pub fn environment() -> Vec<CString> {
    let variables = [("PATH", PATH), ("HOME", HOME), ("USER", "user"), ("LANG", "C.UTF-8")];
    variables.into_iter().filter_map(|(name, value)| CString::new(format!("{name}={value}")).ok()).collect()
}

/// In the process that becomes the zygote: its descriptors, and the capabilities that it keeps. Without asking for memory.
pub fn make_ready(socket: &OwnedFd) -> rustix::io::Result<()> {
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
    let sets = CapabilitySets { effective: NEEDED, permitted: NEEDED, inheritable: NEEDED };
    rustix::thread::set_capabilities(None, sets)?;
    for capability in NEEDED.iter() {
        rustix::thread::configure_capability_in_ambient_set(capability, true)?;
    }
    program::restore_signals()
}

/// What only the zygote's child is told: words that end with a zero.
fn secret(plan: &Plan<'_>) -> Vec<u8> {
    let (arguments, environment) = (plan.arguments.as_slice(), plan.environment.as_slice());
    let mut told = plan.directory.as_bytes_with_nul().to_vec();
    told.extend(format!("{}\0", arguments.len()).as_bytes());
    arguments.iter().chain(environment).for_each(|word| told.extend(word.as_bytes_with_nul()));
    told
}
