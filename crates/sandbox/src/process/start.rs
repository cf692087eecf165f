//! Starts a run: makes all ready, then the first process inside, and hears from it that the program runs or why not.

use super::cell::Cell;
use super::cgroup::{Before, Cgroup, Heir, Layout};
use super::ids::Ids;
use super::inside::{self, HANDED_OUT, Handed};
use super::meter::{Counted, Meter};
use super::network::Services;
use super::plan::{Base, Plan, Setting};
use super::report::{self, Failure, LENGTH, Message, Step};
use super::source::{self, Origin, Source};
use super::stream::{self, Given, Kept};
use super::supervise::{Init, Run};
use super::survey;
use super::void;
use super::zygote::{self, Guest, HANDED_TO_ZYGOTE};
use crate::backend::Streams;
use crate::error::SandboxError;
use crate::order::{Access, Order};
use crate::wall::{Lack, Wall};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, socketpair};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use system::clone::{self, Child, namespace};
use system::passing::{self, Received};

/// Whether a program is to run, or it is only to be found out whether one could.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    Run,
    Probe,
    /// It is the process of a cell, with the files that all runs see.
    Cell,
    /// A zygote's child is the program.
    Hosted,
    /// It is that child.
    Guest,
    /// The first process goes on with code of ours.
    Dream,
}

impl Purpose {
    pub fn starts_program(self) -> bool {
        matches!(self, Purpose::Run | Purpose::Guest)
    }
}

/// A run in new namespaces.
pub fn begin(order: &Order, streams: Streams, purpose: Purpose) -> Result<Run, SandboxError> {
    begin_with(order, streams, purpose, GoingOn { handed_on: &[], body: &mut || 0, meanwhile: &mut || {} })
}

/// What a dream goes on with.
pub struct GoingOn<'a> {
    /// Descriptors, in rising order.
    pub handed_on: &'a [RawFd],
    /// All that its process does, to its exit code.
    pub body: &'a mut dyn FnMut() -> i32,
    /// What is done out here while it is being sealed.
    pub meanwhile: &'a mut dyn FnMut(),
}

/// The same; that of a dream goes on.
pub fn begin_with(
    order: &Order,
    streams: Streams,
    purpose: Purpose,
    going_on: GoingOn<'_>,
) -> Result<Run, SandboxError> {
    let GoingOn { handed_on, body, meanwhile } = going_on;
    let begun = Begun::now(order, streams, Ids::of_run())?;
    // The two things that take the kernel longest, a network and cgroups, are made at the same time, where nobody has to know
    // before that one of them cannot be had.
    let at_once = purpose == Purpose::Run && !order.allows_weaker && Layout::of_host().is_entered();
    // An attendant has live to look after it, and many of them are made.
    let heir = if purpose == Purpose::Dream { Heir::Parent } else { Heir::Caretaker };
    let mut cgroup = if at_once { None } else { make_cgroup(order, heir)? };
    let doors = cgroup.as_ref().map_or(Ok(Vec::new()), doors_of)?;
    let is_counted = cgroup.is_none() && !at_once;
    let is_dream = purpose == Purpose::Dream;
    let base = if is_dream { Base::of_dreams() } else { Base::of_host(is_counted) };
    let setting = Setting { purpose, is_counted, cell: None, base };
    let mut plan = Plan::new(order, source::find(&order.view.grants, begun.ids)?, setting)?;
    let left_open = left_open(&plan, &begun.inner, handed_on);
    let mut make = |namespaces: u64, plan: &Plan<'_>| {
        let (socket, streams) = (begun.inner.as_fd(), begun.given.all());
        let own = if at_once { namespace::NETWORK } else { 0 };
        let handed = Handed { plan, socket, doors: &doors, kept: &left_open, handed_on, streams, namespaces: own };
        let cgroup = cgroup.as_ref().and_then(Cgroup::to_be_made_in);
        clone::clone_into(namespaces & !own, cgroup, || match inside::live(&handed) {
            0 if is_dream => body(),
            code => code,
        })
    };
    // All dreams have the same network, in which there is nothing.
    let shared = if is_dream && void::is_entered() { namespace::NETWORK } else { 0 };
    let (child, lacks) = match make(all_namespaces() & !shared, &plan) {
        Ok(child) => (child, Vec::new()),
        Err(errno) => {
            let lacks = weaker(errno, order)?;
            plan.do_without(&lacks);
            let left = all_namespaces() & !namespaces_of(&lacks) & !shared;
            (make(left, &plan).map_err(SandboxError::system("make namespaces for the sandbox"))?, lacks)
        }
    };
    let Child { pid, pidfd } = child;
    let init = Init { pid, pidfd: Arc::new(pidfd), is_gone: false, cell: None };
    if at_once {
        cgroup = make_cgroup(order, heir)?;
    }
    begun.ids.map(pid)?;
    let late = cgroup.as_ref().filter(|_| at_once).map_or(Ok(Vec::new()), doors_of)?;
    let entered: Vec<BorrowedFd<'_>> = late.iter().map(AsFd::as_fd).collect();
    // If it is gone, its last message says why.
    let _ = passing::send(&begun.socket, &[IoSlice::new(b"g")], &entered);
    drop((doors, late));
    meanwhile();
    let mut run = begun.run(order, cgroup.map(|cgroup| (Arc::new(cgroup), Before::default())), init, None)?;
    run.lacks.extend(lacks);
    run.services = plan.wires.as_ref().map(|wires| Services::start(order, wires)).transpose()?;
    if is_dream && plan.grants.is_empty() {
        // It holds nothing but memory, and that is shared with whom this is a copy of: whoever gives it back copies it first.
        std::mem::forget(plan);
    }
    Ok(run)
}

fn make_cgroup(order: &Order, heir: Heir) -> Result<Option<Cgroup>, SandboxError> {
    Cgroup::make(&order.limits, heir)
        .map_err(SandboxError::system("make a cgroup; what holds this process may not allow it: run it elsewhere"))
}

/// None if the process is made in it.
fn doors_of(cgroup: &Cgroup) -> Result<Vec<File>, SandboxError> {
    let doors = if cgroup.to_be_made_in().is_some() { Ok(Vec::new()) } else { cgroup.doors() };
    doors.map_err(SandboxError::system("open the sandbox's cgroup"))
}

/// A run in a cell, which can have it; as a child of a zygote there, if one is given.
pub fn begin_in(
    cell: &mut Cell,
    zygote: Option<&Guest>,
    order: &Order,
    sources: Vec<Source>,
    streams: Streams,
) -> Result<Run, SandboxError> {
    cell.limit(&order.limits)?;
    let begun = Begun::now(order, streams, cell.ids)?;
    let cgroup = cell.cgroup.as_ref().map(|cgroup| (cgroup.clone(), cgroup.count_anew()));
    let plan = match zygote {
        None => None,
        Some(_) => {
            let setting = Setting {
                purpose: Purpose::Guest,
                is_counted: cgroup.is_none(),
                cell: Some(zygote::PROCESSES),
                base: cell.base.clone(),
            };
            Some(Plan::new(order, Vec::new(), setting)?)
        }
    };
    let parent = cell.parent_of_next();
    let init = cell.start(order, sources, zygote.is_some(), &begun.given, begun.inner.as_fd())?;
    let mut run = begun.run(order, cgroup, init, zygote.zip(plan.as_ref()))?;
    if let Meter::Counted(counted) = &mut run.meter {
        counted.parent = parent;
    }
    Ok(run)
}

/// What is made for any run before its first process.
struct Begun {
    started: Instant,
    ids: Ids,
    given: Given,
    kept: Kept,
    socket: OwnedFd,
    inner: OwnedFd,
}

impl Begun {
    fn now(order: &Order, streams: Streams, ids: Ids) -> Result<Begun, SandboxError> {
        let started = Instant::now();
        let (given, kept) = stream::make(streams, order.limits.output_bytes)?;
        given.belong_to(ids).map_err(SandboxError::system("give the sandbox's pipes to its user"))?;
        let (socket, inner) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(SandboxError::system("make a socket; the limit of open files may be too low"))?;
        Ok(Begun { started, ids, given, kept, socket, inner })
    }

    /// Waits until the program runs, and goes on with it as its supervisor.
    fn run(
        self,
        order: &Order,
        // Before the process, which is dropped first then: nothing is removed that somebody is in.
        cgroup: Option<(Arc<Cgroup>, Before)>,
        init: Init,
        zygote: Option<(&Guest, &Plan<'_>)>,
    ) -> Result<Run, SandboxError> {
        let Begun { started, given, kept, socket, inner, .. } = self;
        drop(inner);
        let (failed, mut handed_out) = await_start(&socket, order)?;
        let (socket, init_socket) = match zygote {
            None => (socket, None),
            Some((zygote, plan)) => {
                let for_zygote = handed_out.split_off(handed_out.len().saturating_sub(HANDED_TO_ZYGOTE));
                let report = zygote.ask(plan, &given, &for_zygote)?;
                await_start(&report, order)?;
                (report, Some(socket))
            }
        };
        drop(given);
        let mut handed_out = handed_out.into_iter();
        let meter = meter(cgroup, &mut handed_out)?;
        let layered = order.view.grants.iter().enumerate().filter(|(_, grant)| grant.access == Access::Layered);
        let mut layered: Vec<(usize, usize)> =
            layered.map(|(index, grant)| (source::depth(&grant.inside), index)).collect();
        // In the order in which they were shown.
        layered.sort_by_key(|(depth, _)| *depth);
        Ok(Run {
            init,
            socket: Some(socket),
            streams: kept,
            limits: order.limits.clone(),
            started,
            lacks: report::steps(failed).filter_map(|step| lack(step, None)).collect(),
            noted: report::steps(failed).filter(|step| step.wall().is_none()).collect(),
            uppers: layered.into_iter().map(|(_, index)| index).zip(handed_out).collect(),
            is_stopped: Arc::new(AtomicBool::new(false)),
            services: None,
            lifeline: None,
            init_socket,
            meter,
        })
    }
}

pub fn all_namespaces() -> u64 {
    survey::NAMESPACES.iter().fold(0, |all, (_, flag, _)| all | flag)
}

fn namespaces_of(lacks: &[Lack]) -> u64 {
    let missing = survey::NAMESPACES.iter().filter(|(wall, ..)| lacks.iter().any(|lack| lack.wall == *wall));
    missing.fold(0, |all, (_, flag, _)| all | flag)
}

/// Without a cgroup the process inside hands out what its use can be counted by.
fn meter(
    cgroup: Option<(Arc<Cgroup>, Before)>,
    handed_out: &mut impl Iterator<Item = OwnedFd>,
) -> Result<Meter, SandboxError> {
    match cgroup {
        Some((cgroup, before)) => Ok(Meter::of(cgroup, before)),
        None => match (handed_out.next(), handed_out.next()) {
            (Some(proc), Some(files)) => Ok(Meter::Counted(Counted::new(proc, files))),
            _ => Err(SandboxError::System { action: "count what the sandbox uses", source: Errno::BADF.into() }),
        },
    }
}

/// Which namespaces cannot be had, if it may go on without them.
fn weaker(errno: Errno, order: &Order) -> Result<Vec<Lack>, SandboxError> {
    let lacks = survey::lacking_namespaces();
    if lacks.is_empty() {
        return Err(SandboxError::system("make namespaces for the sandbox; too many may be in use, or processes")(
            errno,
        ));
    }
    let is_possible = order.allows_weaker && !lacks.iter().any(|lack| survey::is_essential(lack.wall));
    if is_possible { Ok(lacks) } else { Err(SandboxError::TooWeak(lacks)) }
}

/// What the process inside does not close, in rising order.
pub fn left_open(plan: &Plan<'_>, socket: &OwnedFd, handed_on: &[RawFd]) -> Vec<RawFd> {
    let mounts = plan.grants.iter().filter_map(|(_, granted)| match &granted.from {
        Origin::Mount(mount) => Some(mount.as_raw_fd()),
        Origin::Path(_) => None,
    });
    let wires = plan.wires.as_ref().map(|wires| wires.inner.as_raw_fd());
    let mut kept: Vec<RawFd> =
        mounts.chain(wires).chain([socket.as_raw_fd()]).chain(handed_on.iter().copied()).collect();
    kept.sort_unstable();
    kept
}

/// Waits until the program runs; which steps failed that may, and what the process inside hands out.
pub fn await_start(socket: &OwnedFd, order: &Order) -> Result<(u32, Vec<OwnedFd>), SandboxError> {
    let mut bytes = [0u8; LENGTH];
    let mut hear = || passing::receive(socket, &mut [IoSliceMut::new(&mut bytes)], HANDED_OUT, RecvFlags::empty());
    // One that ended before it read what it was told says so first, and what it said next.
    let received = match hear() {
        Err(Errno::CONNRESET) => hear(),
        received => received,
    };
    let Received { bytes: count, descriptors: handed_out } =
        received.map_err(SandboxError::system("hear from the sandbox"))?;
    match Message::decode(bytes.get(..count).unwrap_or_default()) {
        Some(Message::Started { failed }) => Ok((failed, handed_out)),
        Some(Message::Failed(failure)) => Err(error_of(failure, order)),
        _ => Err(SandboxError::System {
            action: "start the sandbox: its first process ended before it said why; try again",
            source: Errno::CHILD.into(),
        }),
    }
}

fn error_of(failure: Failure, order: &Order) -> SandboxError {
    let program = || order.program.first().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    match (failure.step, failure.errno) {
        (Step::Execute, Errno::NOENT | Errno::NOTDIR) => SandboxError::NoProgram { program: program() },
        (Step::Grant | Step::Layer, errno) if step_is_of_grant(failure, errno) => SandboxError::Grant {
            path: order.view.grants.get(usize::from(failure.item)).map(|grant| grant.host.clone()).unwrap_or_default(),
            why: grant_trouble(errno),
        },
        (Step::File, errno) => SandboxError::Grant {
            path: order.view.files.get(usize::from(failure.item)).map(|file| file.inside.clone()).unwrap_or_default(),
            why: grant_trouble(errno),
        },
        (Step::Directory, errno) => SandboxError::Grant {
            path: order.directory.clone(),
            why: format!("it cannot start there: {}", std::io::Error::from(errno)),
        },
        (step, errno) => match lack(step, Some(errno)) {
            Some(lack) => SandboxError::TooWeak(vec![lack]),
            None => SandboxError::System { action: step.action(), source: errno.into() },
        },
    }
}

/// Where the kernel knows no overlay that a user may mount it is a wall that is missing; all else is about the grant.
fn step_is_of_grant(failure: Failure, errno: Errno) -> bool {
    failure.step == Step::Grant || !matches!(errno, Errno::NODEV | Errno::PERM | Errno::OPNOTSUPP)
}

fn grant_trouble(errno: Errno) -> String {
    match errno {
        Errno::ROFS => "its place inside lies in a directory that is read-only there".into(),
        Errno::EXIST => "there is something else at its place inside".into(),
        Errno::NOENT | Errno::NOTDIR => "its place inside cannot be made: something else is there on the way".into(),
        Errno::NOSPC => "it does not fit into what may be written; give more disk".into(),
        Errno::INVAL => "another file system is mounted below it; grant that one by itself".into(),
        errno => io::Error::from(errno).to_string(),
    }
}

fn lack(step: Step, errno: Option<Errno>) -> Option<Lack> {
    let wall: Wall = step.wall()?;
    let why = errno.map_or_else(String::new, |errno| format!(": {}", io::Error::from(errno)));
    Some(Lack { wall, why: format!("cannot {}{why}", step.action()), remedy: survey::remedy(wall).into() })
}
