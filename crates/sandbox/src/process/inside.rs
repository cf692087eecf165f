//! The first process inside: makes the view, gives up everything, starts the program and stays to reap. Its end is the end
//! of all that runs in its namespace.
//!
//! **It must not ask for memory**: it is a copy of a process that may have had other threads, or shares the memory of the cell's
//! process. All it needs is in the plan.

use super::cgroup;
use super::dream;
use super::network::Wires;
use super::plan::Plan;
use super::report::{Failure, LENGTH, Message, Step};
use super::seal;
use super::source::MOST_LAYERS;
use super::start::Purpose;
use super::view::{HOST_NAME, USER};
use super::world;
use super::zygote::HANDED_TO_ZYGOTE;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Access, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::SendFlags;
use rustix::process::{Gid, Uid};
use rustix::thread::LinkNameSpaceType;
use std::ffi::CStr;
use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use system::clone::{self, namespace};
use system::passing;
use system::program;

/// Descriptors that are handed out, at most: a layer each, two to count by, and what a zygote's child needs.
pub const HANDED_OUT: usize = MOST_LAYERS + 2 + HANDED_TO_ZYGOTE;

/// What the process inside is handed.
pub struct Handed<'a> {
    pub plan: &'a Plan<'a>,
    pub socket: BorrowedFd<'a>,
    /// To its cgroup, if it is not there already.
    pub doors: &'a [File],
    /// What stays open, in rising order.
    pub kept: &'a [RawFd],
    /// What of it is left to who goes on inside as it is, in rising order.
    pub handed_on: &'a [RawFd],
    /// Standard input, output and error of the program.
    pub streams: [BorrowedFd<'a>; 3],
    /// Namespaces that it makes for itself.
    pub namespaces: u64,
}

/// A cgroup of the first version has so many directories, at most.
const DOORS: usize = 2;

/// All of the process's life, to its exit code, which nobody looks at; those of a cell and of a dream go on.
pub fn live(handed: &Handed<'_>) -> i32 {
    let mut inside = Inside {
        plan: handed.plan,
        socket: handed.socket,
        failed: 0,
        handed_out: [const { None }; HANDED_OUT],
        handed_out_count: 0,
    };
    let result = inside.prepare(handed).and_then(|()| inside.run(handed));
    if let Err(failure) = result {
        inside.tell(Message::Failed(failure));
        return 1;
    }
    0
}

pub struct Inside<'a> {
    pub plan: &'a Plan<'a>,
    socket: BorrowedFd<'a>,
    /// Steps that failed and may, and what is noted beside.
    failed: u32,
    /// For the one outside: what use can be counted by, then what layered grants are written to.
    handed_out: [Option<OwnedFd>; HANDED_OUT],
    handed_out_count: usize,
}

/// Names the step that an error came from.
pub fn at<T>(step: Step, item: usize, result: rustix::io::Result<T>) -> Result<T, Failure> {
    result.map_err(|errno| Failure { step, item: item as u16, errno })
}

impl Inside<'_> {
    /// A step without which there is a wall less: fails, or is noted where that is allowed.
    pub fn wall(&mut self, step: Step, result: rustix::io::Result<()>) -> Result<(), Failure> {
        match result {
            Err(_) if self.plan.allows_weaker => {
                self.note(step);
                Ok(())
            }
            result => at(step, 0, result),
        }
    }

    /// A step that only a probe goes on without.
    pub fn tried<T>(&mut self, step: Step, item: usize, result: rustix::io::Result<T>) -> Result<Option<T>, Failure> {
        match result {
            Err(_) if self.plan.purpose == Purpose::Probe => {
                self.note(step);
                Ok(None)
            }
            result => at(step, item, result).map(Some),
        }
    }

    /// Namespaces and files. What needs no user comes before the user is there, while the one outside sees to that.
    fn prepare(&mut self, handed: &Handed<'_>) -> Result<(), Failure> {
        // First of all, so that what it uses is counted there; what it enters by is closed with all else. A cgroup that is being
        // made is entered later, before anything of the run's is there.
        at(Step::Group, 0, cgroup::enter(handed.doors.iter()))?;
        at(Step::Descriptors, 0, take(handed))?;
        if self.plan.is_in_cell {
            return if self.plan.shares_view { world::furnish(self) } else { world::build(self) };
        }
        if handed.namespaces != 0 {
            at(Step::OwnNetwork, 0, clone::unshare(handed.namespaces))?;
        }
        let is_dream = self.plan.purpose == Purpose::Dream;
        self.wall(Step::Time, renew_clocks(&self.plan.time_offsets, is_dream))?;
        // A dream may not have a socket that would need it.
        if !is_dream {
            self.wall(Step::Loopback, system::loopback::raise())?;
        }
        self.wall(Step::HostName, rustix::system::sethostname(HOST_NAME.as_bytes()))?;
        self.plan.wires.as_ref().map_or(Ok(()), Wires::lay)?;
        let doors = at(Step::Go, 0, self.await_go())?;
        at(Step::Group, 0, cgroup::enter(doors.iter().flatten()))?;
        at(Step::Ids, 0, become_user())?;
        self.wall(Step::Cgroup, clone::unshare(namespace::CGROUP))?;
        lower_numbers(is_dream);
        world::build(self)
    }

    /// From here on nothing is trusted.
    fn run(&mut self, handed: &Handed<'_>) -> Result<(), Failure> {
        if self.plan.purpose == Purpose::Cell {
            return at(Step::Fork, 0, self.tell_started());
        }
        seal::close(self)?;
        if self.plan.purpose == Purpose::Hosted {
            let children = at(Step::Fork, 0, program::children_as_descriptor())?;
            at(Step::Fork, 0, self.tell_started())?;
            // No child has this number: it stays until the one outside has gone, or ends it.
            self.watch(&children, 0);
            return Ok(());
        }
        if self.plan.purpose == Purpose::Dream {
            return at(Step::GoOn, 0, self.go_on(handed.handed_on));
        }
        if self.plan.purpose == Purpose::Probe {
            return at(Step::Fork, 0, self.tell_started());
        }
        let children = at(Step::Fork, 0, program::children_as_descriptor())?;
        let plan = self.plan;
        let socket = self.socket;
        let pid = clone::clone_until_exec(&mut || become_program(plan, socket));
        let pid = at(Step::Fork, 0, pid)?;
        at(Step::Fork, 0, self.tell_started())?;
        self.watch(&children, pid);
        Ok(())
    }

    /// Leaves to the code that goes on what it is to have, and nothing else. There is one thread, so it may ask for memory.
    fn go_on(&mut self, handed_on: &[RawFd]) -> rustix::io::Result<()> {
        system::arguments::replace_environment(&self.plan.environment)?;
        program::ignore_broken_pipes();
        rustix::thread::set_name(c"dream")?;
        self.tell_started()?;
        system::descriptor::close_all_but(handed_on)
    }

    /// Reaps until the program has ended, or the one outside is gone.
    fn watch(&self, children: &OwnedFd, program: i32) {
        loop {
            while let Ok(Some((pid, status))) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {
                if pid.as_raw_nonzero().get() == program {
                    self.tell(Message::Ended { status: status.as_raw() });
                    return;
                }
            }
            let mut waited =
                [PollFd::new(children, PollFlags::IN), PollFd::from_borrowed_fd(self.socket, PollFlags::IN)];
            if !matches!(poll(&mut waited, None), Ok(_) | Err(Errno::INTR)) || !waited[1].revents().is_empty() {
                return;
            }
            let mut information = [0u8; 128];
            while rustix::io::read(children, &mut information).is_ok() {}
        }
    }

    /// For the one outside: a step that was taken, and makes a difference there.
    pub fn note(&mut self, step: Step) {
        self.failed |= 1 << (step as u8);
    }

    pub fn hand_out(&mut self, descriptor: OwnedFd) {
        if let Some(place) = self.handed_out.get_mut(self.handed_out_count) {
            *place = Some(descriptor);
            self.handed_out_count += 1;
        }
    }

    /// Says that the program runs, with what is handed out.
    fn tell_started(&mut self) -> rustix::io::Result<()> {
        let mut descriptors = [self.socket; HANDED_OUT];
        for (place, descriptor) in descriptors.iter_mut().zip(self.handed_out.iter().flatten()) {
            *place = descriptor.as_fd();
        }
        let descriptors = descriptors.get(..self.handed_out_count).unwrap_or_default();
        let bytes = Message::Started { failed: self.failed }.encode();
        passing::send(self.socket, &[IoSlice::new(&bytes)], descriptors)?;
        self.handed_out = [const { None }; HANDED_OUT];
        Ok(())
    }

    fn tell(&self, message: Message) {
        tell(self.socket, message);
    }

    /// What comes with the word are doors to its cgroup.
    fn await_go(&self) -> rustix::io::Result<[Option<OwnedFd>; DOORS]> {
        let (mut byte, mut doors) = ([0u8; 1], [const { None }; DOORS]);
        match passing::receive_into(self.socket, &mut byte, &mut doors)? {
            1 => Ok(doors),
            _ => Err(Errno::PIPE),
        }
    }
}

/// Nothing can be done if nobody hears it: the one outside is gone then, and so are we soon.
fn tell(socket: BorrowedFd<'_>, message: Message) {
    let bytes: [u8; LENGTH] = message.encode();
    let _ = rustix::net::send(socket, &bytes, SendFlags::NOSIGNAL);
}

/// Puts the program's streams in their places and closes all else, also what only this copy has.
fn take(handed: &Handed<'_>) -> rustix::io::Result<()> {
    let [input, output, error] = handed.streams;
    rustix::stdio::dup2_stdin(input)?;
    rustix::stdio::dup2_stdout(output)?;
    rustix::stdio::dup2_stderr(error)?;
    system::descriptor::close_all_but(handed.kept)?;
    system::arguments::hide();
    rustix::thread::set_name(c"init")?;
    if !handed.plan.is_in_cell {
        // No handler of whoever started us runs inside; a cell has none.
        program::restore_signals()?;
    }
    match handed.plan.purpose {
        Purpose::Dream => dream::detach()?,
        _ => drop(rustix::process::setsid()?),
    }
    rustix::process::umask(Mode::from_raw_mode(0o022));
    Ok(())
}

/// For those that are started here; who goes on itself enters them by itself.
fn renew_clocks(offsets: &[u8], enters: bool) -> rustix::io::Result<()> {
    clone::unshare(namespace::TIME)?;
    let file = rustix::fs::open(c"/proc/self/timens_offsets", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, offsets)?;
    if !enters {
        return Ok(());
    }
    let clocks = rustix::fs::open(c"/proc/self/ns/time_for_children", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::thread::move_into_link_name_space(clocks.as_fd(), Some(LinkNameSpaceType::Time))
}

/// What the kernel counts for each user of the host is counted for the run by itself, and ends sooner; nor are there further
/// user namespaces, nor large buffers. The filter and the limits stand before this: where /proc cannot be written to it goes on without.
/// A dream makes neither notices nor connections, and its filter says so: each of these files would cost it as much as a wall.
fn lower_numbers(is_dream: bool) {
    const OF_ALL: &[(&CStr, &[u8])] = &[(c"/proc/sys/user/max_user_namespaces", b"0")];
    const OF_PROGRAMS: &[(&CStr, &[u8])] = &[
        (c"/proc/sys/user/max_inotify_instances", b"64"),
        (c"/proc/sys/user/max_inotify_watches", b"8192"),
        // What waits in a connection is no more than in any other socket: `meter` counts on that.
        (c"/proc/sys/net/ipv4/tcp_rmem", b"4096 65536 106496"),
        (c"/proc/sys/net/ipv4/tcp_wmem", b"4096 16384 106496"),
    ];
    for (path, number) in OF_ALL.iter().chain(OF_PROGRAMS.iter().filter(|_| !is_dream)) {
        let file = rustix::fs::open(*path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
        let _ = file.and_then(|file| rustix::io::write(&file, number));
    }
}

pub fn become_user() -> rustix::io::Result<()> {
    let (user, group) = (Uid::from_raw(USER), Gid::from_raw(USER));
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}

/// The last steps of ours in the process that becomes the program.
fn become_program(plan: &Plan<'_>, socket: BorrowedFd<'_>) -> i32 {
    const NOT_STARTED: i32 = 127;
    let failure = match make_ready() {
        Ok(()) => execute(plan),
        Err(errno) => errno,
    };
    tell(socket, Message::Failed(Failure { step: Step::Execute, item: 0, errno: failure }));
    NOT_STARTED
}

/// It has no handlers and ignores nothing, as the process that it is a copy of.
fn make_ready() -> rustix::io::Result<()> {
    rustix::process::setsid()?;
    program::release_signals()
}

/// Tries each place; what is there and may not be run says more than what is not there. Becoming what is not there costs the
/// kernel more than looking whether it is.
fn execute(plan: &Plan<'_>) -> Errno {
    let mut failure = Errno::NOENT;
    let Some(found) = &plan.program else { return failure };
    for candidate in &found.candidates {
        let path: &CStr = candidate;
        if rustix::fs::access(path, Access::EXISTS) == Err(Errno::NOENT) {
            continue;
        }
        match program::execute(path, &found.arguments, &plan.environment) {
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => failure = Errno::ACCESS,
            errno => return errno,
        }
    }
    failure
}
