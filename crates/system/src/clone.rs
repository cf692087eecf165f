//! New processes that go on with code of ours, in namespaces of their own, and the end of them.
//!
//! The child of a process with several threads has one: what another thread held at that moment, such as the lock of the
//! allocator, is held for ever. So the body of a child **must not ask for memory**: all that it needs is made before. Those of
//! `fork` and `fork_into` may, and so may all children of a process with one thread.

use rustix::io::{Errno, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// Which namespaces a process gets, as the kernel's bits.
pub mod namespace {
    pub const TIME: u64 = libc::CLONE_NEWTIME as u64;
    pub const MOUNT: u64 = libc::CLONE_NEWNS as u64;
    pub const CGROUP: u64 = libc::CLONE_NEWCGROUP as u64;
    pub const UTS: u64 = libc::CLONE_NEWUTS as u64;
    pub const IPC: u64 = libc::CLONE_NEWIPC as u64;
    pub const USER: u64 = libc::CLONE_NEWUSER as u64;
    pub const PID: u64 = libc::CLONE_NEWPID as u64;
    pub const NETWORK: u64 = libc::CLONE_NEWNET as u64;
}

/// A process that was started here.
#[derive(Debug)]
pub struct Child {
    pub pid: i32,
    pub pidfd: OwnedFd,
}

/// How a process ended and what it and all that it waited for used.
#[derive(Clone, Copy, Debug)]
pub struct End {
    pub status: i32,
    pub user: Duration,
    pub system: Duration,
    /// Of the largest of them.
    pub memory_bytes: u64,
}

/// Leaves the process, whatever happens: a child that unwound would go on as a second copy of its parent.
struct Leave(i32);

impl Drop for Leave {
    fn drop(&mut self) {
        // SAFETY: ends the process at once; nothing of it runs any more.
        unsafe { libc::_exit(self.0) }
    }
}

/// The exit code of a child whose code panicked.
pub const PANICKED: i32 = 70;

/// Starts a process in new namespaces that runs `body` and ends with what that returns.
pub fn clone(namespaces: u64, body: impl FnOnce() -> i32) -> Result<Child> {
    clone_into(namespaces, None, body)
}

/// The same, in a cgroup (of the second version) from its first moment.
pub fn clone_into(namespaces: u64, cgroup: Option<BorrowedFd<'_>>, body: impl FnOnce() -> i32) -> Result<Child> {
    let mut pidfd: RawFd = -1;
    let pid = clone3(namespaces | libc::CLONE_PIDFD as u64, &mut pidfd, cgroup)?;
    if pid == 0 {
        let mut leave = Leave(PANICKED);
        leave.0 = body();
        drop(leave);
    }
    // SAFETY: the kernel has just made the descriptor, and nobody else knows it.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Child { pid, pidfd })
}

/// Starts a copy of this process that runs `body`, and goes on at once. The copy may ask for memory, also where there are several
/// threads here: the C library sees to its own locks. What other threads hold of ours, such as that of standard output, is
/// held there for ever.
pub fn fork(body: impl FnOnce() -> i32) -> Result<Child> {
    // SAFETY: the child goes on here with a copy of all, and leaves by `_exit`.
    let pid = unsafe { libc::fork() };
    check(pid.into())?;
    if pid == 0 {
        let mut leave = Leave(PANICKED);
        leave.0 = body();
        drop(leave);
    }
    child_of(pid)
}

/// Starts a process that runs `body`, and returns when it has become a program or has ended. It shares our memory until then,
/// so that nothing is copied: `body` must not panic, and must leave nothing changed.
pub fn clone_until_exec(body: &mut dyn FnMut() -> i32) -> Result<i32> {
    let mut body = body;
    let mut stack = [const { MaybeUninit::<u128>::uninit() }; SHORT_STACK / size_of::<u128>()];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is ours, aligned, and lives until the new process has left it, which this call waits for. What it is
    // given lives as long. It is the older call because the newer one cannot be checked by a filter, and the caller may be
    // behind one.
    let pid = unsafe {
        let top = stack.as_mut_ptr().add(stack.len());
        libc::clone(go_until_exec, top.cast(), flags, (&raw mut body).cast())
    };
    if pid == -1 && last() == Errno::INVAL {
        return fork_until_exec(body);
    }
    check(pid.into())?;
    Ok(pid)
}

/// The same with a copy of our memory: older kernels share none where clocks were set.
fn fork_until_exec(body: &mut dyn FnMut() -> i32) -> Result<i32> {
    let flags = libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: without a new stack and without shared memory this is a fork: the child goes on here with a copy of all.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    check(pid)?;
    if pid == 0 {
        let mut leave = Leave(PANICKED);
        leave.0 = body();
        drop(leave);
    }
    Ok(pid as i32)
}

extern "C" fn go_until_exec(body: *mut libc::c_void) -> libc::c_int {
    // SAFETY: it is what `clone_until_exec` gave, which waits for this process.
    let body = unsafe { &mut *body.cast::<&mut dyn FnMut() -> i32>() };
    body()
}

/// Bytes of the stack of a process that shares our memory, and is soon gone. All of it is touched, a page at a time.
const SHORT_STACK: usize = 16 << 10;

fn clone3(flags: u64, pidfd: &mut RawFd, cgroup: Option<BorrowedFd<'_>>) -> Result<i32> {
    const INTO_CGROUP: u64 = 1 << 33;
    // SAFETY: plain data, for which zeroes are valid.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = flags;
    // One that is not ours but our parent's child says what we say when it ends.
    arguments.exit_signal = if flags & libc::CLONE_PARENT as u64 == 0 { libc::SIGCHLD as u64 } else { 0 };
    arguments.pidfd = std::ptr::from_mut(pidfd) as u64;
    if let Some(cgroup) = cgroup {
        arguments.flags |= INTO_CGROUP;
        arguments.cgroup = cgroup.as_raw_fd() as u64;
    }
    let size = size_of::<libc::clone_args>();
    // SAFETY: without a new stack and without shared memory this is a fork: the child goes on here with a copy of all.
    // The structure is whole, and the kernel writes the descriptor where it says, which lives.
    let answer = unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size) };
    if answer < 0 { Err(last()) } else { Ok(answer as i32) }
}

/// Which of the two goes on.
#[derive(Debug)]
pub enum Forked {
    Parent {
        child: i32,
    },
    /// It must never return to where its parent goes on, and leave by `leave`: it holds a copy of all that the parent has.
    Child,
}

/// Makes a copy of this process, with this thread only, that may ask for memory: the C library sees to its own locks.
pub fn fork_in_two() -> Result<Forked> {
    // SAFETY: what other threads held is held for ever in the child, whose author answers for not needing it.
    let pid = unsafe { libc::fork() };
    check(pid.into())?;
    Ok(if pid == 0 { Forked::Child } else { Forked::Parent { child: pid } })
}

/// Ends the process at once: nothing that it inherited is closed, written or told.
pub fn leave(code: i32) -> ! {
    // SAFETY: ends the process; nothing of it runs any more.
    unsafe { libc::_exit(code) }
}

/// Starts a copy of this process in new namespaces that may ask for memory, also where there are several threads here: it is
/// made by one that the C library has made, whose locks are in order, and which ends at once.
pub fn fork_into(namespaces: u64, body: impl FnOnce() -> i32) -> Result<Child> {
    let (mut reader, writer) = std::io::pipe().map_err(|_| last())?;
    // SAFETY: the child goes on here with a copy of all, and leaves by `_exit`.
    let middle = unsafe { libc::fork() };
    check(middle.into())?;
    if middle == 0 {
        let mut leave = Leave(PANICKED);
        leave.0 = between(namespaces, &writer, body);
        drop(leave);
    }
    drop(writer);
    let mut bytes = [0; size_of::<i32>()];
    let read = std::io::Read::read_exact(&mut reader, &mut bytes);
    wait(middle, true)?;
    read.map_err(|_| Errno::AGAIN)?;
    child_of(check_number(i32::from_ne_bytes(bytes))?)
}

/// A child of ours, by its number, which stays its own until we have waited for it.
fn child_of(pid: i32) -> Result<Child> {
    let number = rustix::process::Pid::from_raw(pid).ok_or(Errno::CHILD)?;
    let pidfd = rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty());
    if pidfd.is_err() {
        let _ = rustix::process::kill_process(number, rustix::process::Signal::KILL);
        let _ = wait(pid, true);
    }
    Ok(Child { pid, pidfd: pidfd? })
}

/// The one in the middle: tells the number of the process that it makes, or that of an error, below nought.
fn between(namespaces: u64, writer: &std::io::PipeWriter, body: impl FnOnce() -> i32) -> i32 {
    let mut writer = writer;
    let mut pidfd: RawFd = -1;
    let told = match clone3(namespaces | (libc::CLONE_PIDFD | libc::CLONE_PARENT) as u64, &mut pidfd, None) {
        Ok(0) => return body(),
        Ok(pid) => pid,
        Err(errno) => -errno.raw_os_error(),
    };
    i32::from(std::io::Write::write_all(&mut writer, &told.to_ne_bytes()).is_err())
}

fn check_number(told: i32) -> Result<i32> {
    if told < 0 { Err(Errno::from_raw_os_error(-told)) } else { Ok(told) }
}

/// What processes that share memory with their parent stand on, one at a time. Whoever needs more faults, and does not write
/// over what lies below.
pub struct Stack(*mut libc::c_void);

const STACK_BYTES: usize = 128 << 10;
/// Below it; a page is no larger anywhere.
const GUARD_BYTES: usize = 64 << 10;

impl Stack {
    pub fn new() -> Result<Stack> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_NORESERVE;
        let (length, protection) = (GUARD_BYTES + STACK_BYTES, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: asks for new memory, at a place of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(last());
        }
        let stack = Stack(start);
        // SAFETY: the memory is ours, and nobody has used it yet.
        check(unsafe { libc::mprotect(start, GUARD_BYTES, libc::PROT_NONE) }.into())?;
        Ok(stack)
    }

    fn top(&self) -> *mut libc::c_void {
        // SAFETY: it is the end of what was mapped.
        unsafe { self.0.byte_add(GUARD_BYTES + STACK_BYTES) }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no process stands on it: who uses it waits for their end.
        unsafe { libc::munmap(self.0, GUARD_BYTES + STACK_BYTES) };
    }
}

/// Leaves if dropped: whoever shares memory with a process that goes on must not unwind.
struct Bound;

impl Drop for Bound {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// Runs a process in new namespaces (but time) that shares our memory until it ends, and returns how that was. It must not ask
/// for memory, nor panic. `meanwhile` is called once it has been made, and must touch nothing of it.
pub fn run_sharing(
    namespaces: u64,
    stack: &mut Stack,
    body: &mut (dyn FnMut() -> i32 + Send),
    meanwhile: impl FnOnce(&Child),
) -> Result<End> {
    assert_eq!(namespaces & 0xff, 0, "those bits are the signal of its end");
    let mut body = body;
    let mut pidfd: RawFd = -1;
    let flags = namespaces as libc::c_int | libc::CLONE_VM | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: the stack is ours, aligned, and lives until the new process has ended, without which we do not return; so does what
    // it is given. What the C library keeps for a thread, such as numbers of errors, it has in common with us: it asks for no
    // memory, and where it looks at such a number, after a call that failed, so may we, and take one error for another.
    let pid = unsafe { libc::clone(go_sharing, stack.top(), flags, (&raw mut body).cast(), &raw mut pidfd) };
    check(pid.into())?;
    let bound = Bound;
    // SAFETY: the kernel has just made the descriptor, and nobody else knows it.
    meanwhile(&Child { pid, pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) } });
    // Its end is all that lets us go on: it stands on a stack of ours.
    let Ok(end) = wait_among_others(pid) else { std::process::abort() };
    std::mem::forget(bound);
    Ok(end)
}

extern "C" fn go_sharing(body: *mut libc::c_void) -> libc::c_int {
    // SAFETY: it is what `run_sharing` gave, which waits for this process and does not look at it before.
    let body = unsafe { &mut *body.cast::<&mut (dyn FnMut() -> i32 + Send)>() };
    body()
}

/// Gives the calling process, or those that it starts (time), new namespaces.
pub fn unshare(namespaces: u64) -> Result<()> {
    // SAFETY: takes a number. Neither the file table nor memory is unshared, so that no owner of anything notices.
    check(unsafe { libc::unshare(namespaces as libc::c_int) }.into())
}

/// Waits until a child has ended, and lets others go that end meanwhile: orphans that became ours must not stay.
fn wait_among_others(pid: i32) -> Result<End> {
    let mut status = 0;
    // SAFETY: plain data, for which zeroes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both places are ours and live.
        let ended = unsafe { libc::wait4(-1, &mut status, libc::__WALL, &mut usage) };
        if ended == pid {
            return Ok(end_of(status, &usage));
        }
        if ended == -1 && last() != Errno::INTR {
            return Err(last());
        }
    }
}

/// Waits until a child has ended, or looks whether it has.
pub fn wait(pid: i32, blocks: bool) -> Result<Option<End>> {
    let mut status = 0;
    let options = if blocks { libc::__WALL } else { libc::__WALL | libc::WNOHANG };
    // SAFETY: plain data, for which zeroes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both places are ours and live.
        let answer = unsafe { libc::wait4(pid, &mut status, options, &mut usage) };
        match answer {
            0 => return Ok(None),
            -1 if last() == Errno::INTR => {}
            -1 => return Err(last()),
            _ => break,
        }
    }
    Ok(Some(end_of(status, &usage)))
}

fn end_of(status: i32, usage: &libc::rusage) -> End {
    let time =
        |value: libc::timeval| Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64);
    let memory_bytes = (usage.ru_maxrss as u64) << 10;
    End { status, user: time(usage.ru_utime), system: time(usage.ru_stime), memory_bytes }
}

pub(crate) fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

pub(crate) fn check(answer: libc::c_long) -> Result<()> {
    if answer == -1 { Err(last()) } else { Ok(()) }
}
