//! A cell: a process that has namespaces with the files that all runs see, and starts one run after another in them. A run
//! gets new process, mount and ipc namespaces, and a file system in memory for all that it writes; the others, and so its clocks,
//! are the cell's. Another run only follows if the network is as it was when the cell was made.
//!
//! - here: the cell as the one outside has it; `serve`: its process; `told`: what both say to each other
//!
//! The process shares its memory with the first process of each run, which is ours, too, and with nothing foreign: so a run
//! costs no copy of memory. It is in the runs' cgroup, and dies with whoever holds the cell.

mod serve;
mod told;

use super::cgroup::{Cgroup, Heir};
use super::ids::Ids;
use super::meter::Parent;
use super::plan::{Base, Plan, Setting};
use super::source::{Origin, Source};
use super::start::{self, Purpose};
use super::stream::Given;
use super::supervise::Init;
use super::view::{CODE_PLACE, WRITABLE};
use crate::error::SandboxError;
use crate::limits::Limits;
use crate::order::{Access, Order};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, socketpair};
use rustix::process::{Signal, pidfd_send_signal};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use system::clone::{self, Child};
use told::{Answer, Told};
pub use told::{KILLED, Line};

/// Counters that any use of the network moves: packets, and attempts that did not become packets. What `netstat` counts
/// beyond them needs packets.
const COUNTERS: [&str; 3] = ["dev", "snmp", "snmp6"];
/// What is read at once; most are shorter.
const PIECE_BYTES: usize = 8 << 10;
/// If so much more is left in memory than at the beginning, no other run follows.
const LEFT_BYTES: u64 = 16 << 20;

pub struct Cell {
    pub ids: Ids,
    pub base: Base,
    pub cgroup: Option<Arc<Cgroup>>,
    limit_bytes: Option<u64>,
    /// What is in memory while no run is here.
    rest_bytes: u64,
    line: Line,
    /// How many sockets there are.
    sockets: Arc<File>,
    /// Each as it was at the beginning.
    counters: Vec<(File, Vec<u8>)>,
    /// What the kernel says of a zygote, where nothing else tells what its children used.
    zygote: OnceLock<Arc<File>>,
    process: Child,
}

impl Cell {
    pub fn make(limits: &Limits) -> Result<Cell, SandboxError> {
        let cgroup =
            Cgroup::make(limits, Heir::Caretaker).map_err(SandboxError::system("make a cgroup"))?.map(Arc::new);
        let (ids, base) = (Ids::of_run(), Base::of_host(cgroup.is_none()));
        let order = Order::default();
        let setting = Setting { purpose: Purpose::Cell, is_counted: cgroup.is_none(), cell: None, base: base.clone() };
        let plan = Plan::new(&order, Vec::new(), setting)?;
        let (line, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .map_err(SandboxError::system("make a socket; the limit of open files may be too low"))?;
        let doors = cgroup.as_ref().map_or(Ok(Vec::new()), |cgroup| cgroup.doors());
        let doors = doors.map_err(SandboxError::system("open the cgroup of a cell"))?;
        let process = clone::fork_into(start::all_namespaces(), || serve::live(&plan, base.clone(), &theirs, &doors))
            .map_err(SandboxError::system("start the process of a cell"))?;
        drop((theirs, doors));
        let mut cell = Cell::around(process, Line::new(line), (ids, base), cgroup)?;
        cell.limit_bytes = limits.memory_bytes;
        Ok(cell)
    }

    /// Lets the process go on in its namespaces, and looks at them.
    fn around(
        process: Child,
        line: Line,
        (ids, base): (Ids, Base),
        cgroup: Option<Arc<Cgroup>>,
    ) -> Result<Cell, SandboxError> {
        let doomed = Doomed(Some(process));
        let pid = doomed.0.as_ref().map_or(0, |process| process.pid);
        ids.map(pid)?;
        let looked = |source| SandboxError::System { action: "look at a cell", source };
        let directory = Path::new("/proc").join(pid.to_string()).join("net");
        let open = |name: &str| File::open(directory.join(name));
        let sockets = Arc::new(open("sockstat").map_err(looked)?);
        // Without version 6 there is nothing to count.
        let files: Vec<File> = COUNTERS.iter().filter_map(|name| open(name).ok()).collect();
        let _ = rustix::net::send(line.socket(), b"g", SendFlags::NOSIGNAL);
        start::await_start(line.socket(), &Order::default())?;
        line.await_word("start the process of a cell")?;
        let counters = files.into_iter().map(|file| Ok((read(&file)?, file)).map(|(text, file)| (file, text)));
        let counters = counters.collect::<io::Result<Vec<_>>>().map_err(looked)?;
        let mut doomed = doomed;
        let process = doomed.0.take().ok_or_else(|| looked(io::ErrorKind::NotFound.into()))?;
        let (limit_bytes, rest_bytes, zygote) = (None, 0, OnceLock::new());
        let mut cell = Cell { ids, base, cgroup, limit_bytes, rest_bytes, line, sockets, counters, zygote, process };
        cell.settle();
        Ok(cell)
    }

    /// What is in memory now is its own.
    pub fn settle(&mut self) {
        self.rest_bytes = self.cgroup.as_ref().and_then(|cgroup| cgroup.bytes()).unwrap_or(0);
    }

    /// Holds runs to another limit of memory than the last.
    pub fn limit(&mut self, limits: &Limits) -> Result<(), SandboxError> {
        if let (Some(cgroup), true) = (&self.cgroup, self.limit_bytes != limits.memory_bytes) {
            let bytes = limits.memory_bytes.unwrap_or(i64::MAX as u64);
            cgroup.limit_memory(bytes).map_err(SandboxError::system("limit the memory of a cell"))?;
            self.limit_bytes = limits.memory_bytes;
        }
        Ok(())
    }

    /// Starts a run; what comes of it is told over `socket`.
    pub fn start(
        &self,
        order: &Order,
        sources: Vec<Source>,
        is_hosted: bool,
        given: &Given,
        socket: BorrowedFd<'_>,
    ) -> Result<Init, SandboxError> {
        let mounts = sources.iter().filter_map(|source| match &source.from {
            Origin::Mount(mount) => Some(mount.as_fd()),
            Origin::Path(_) => None,
        });
        let about = sources.iter().map(|source| source.about).collect();
        let [input, output, error] = given.all();
        let descriptors: Vec<BorrowedFd<'_>> = [input, output, error, socket].into_iter().chain(mounts).collect();
        let told = Told::Run { order: std::borrow::Cow::Borrowed(order), about, is_hosted };
        match self.line.ask(&told, &descriptors)? {
            (Answer::Made { pid }, Some(pidfd)) => Ok(Init {
                pid,
                pidfd: Arc::new(pidfd),
                is_gone: false,
                cell: Some((self.line.clone(), self.sockets.clone())),
            }),
            (Answer::Refused(reason), _) => Err(reason.into()),
            (Answer::Failed { errno }, _) => Err(SandboxError::system(
                "start a run in a cell; too many processes may be in use",
            )(rustix::io::Errno::from_raw_os_error(errno))),
            _ => {
                Err(SandboxError::System { action: "start a run in a cell", source: io::ErrorKind::InvalidData.into() })
            }
        }
    }

    /// Starts a program that stays, with a socket as its fourth descriptor.
    pub fn house(&self, program: &CString, arguments: &[CString], socket: &OwnedFd) -> Result<OwnedFd, SandboxError> {
        let told = Told::House { program: program.clone(), arguments: arguments.to_vec() };
        match self.line.ask(&told, &[socket.as_fd()])? {
            (Answer::Made { .. }, Some(pidfd)) => {
                self.line.await_word("start a zygote")?;
                if let Some(stat) = stat_of(&pidfd).filter(|_| self.cgroup.is_none()) {
                    self.zygote.get_or_init(|| Arc::new(stat));
                }
                Ok(pidfd)
            }
            (Answer::Failed { errno }, _) => {
                Err(SandboxError::system("start a zygote")(rustix::io::Errno::from_raw_os_error(errno)))
            }
            _ => Err(SandboxError::System { action: "start a zygote", source: io::ErrorKind::InvalidData.into() }),
        }
    }

    /// Who will wait for the next run's program, if it can be asked what that used.
    pub fn parent_of_next(&self) -> Option<Parent> {
        self.zygote.get().map(Parent::of)
    }

    pub fn is_alive(&self) -> bool {
        is_alive(&self.process.pidfd)
    }

    /// Whether nothing is left of the runs that were in it, and nothing can be told of them. All of them have ended.
    pub fn is_pristine(&self) -> bool {
        let sockets = read(&self.sockets).unwrap_or_default();
        let bytes = self.cgroup.as_ref().and_then(|cgroup| cgroup.bytes()).unwrap_or(0);
        has_no_sockets(&String::from_utf8_lossy(&sockets))
            && bytes < self.rest_bytes + LEFT_BYTES
            && self.counters.iter().all(|(file, before)| read(file).is_ok_and(|now| now == *before))
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        end(&self.process);
    }
}

/// A process that ends unless it is taken out in time.
struct Doomed(Option<Child>);

impl Drop for Doomed {
    fn drop(&mut self) {
        self.0.iter().for_each(end);
    }
}

/// The `stat` of a descriptor's process, whose number is another one in the cell.
fn stat_of(pidfd: &OwnedFd) -> Option<File> {
    let about = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd())).ok()?;
    let number = about.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    File::open(format!("/proc/{}/stat", number.trim())).ok()
}

/// Whether the process of a descriptor runs.
pub fn is_alive(pidfd: &OwnedFd) -> bool {
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut waited = [rustix::event::PollFd::new(pidfd, rustix::event::PollFlags::IN)];
    matches!(rustix::event::poll(&mut waited, Some(&now)), Ok(0))
}

fn end(process: &Child) {
    let _ = pidfd_send_signal(&process.pidfd, Signal::KILL);
    let _ = clone::wait(process.pid, true);
}

/// Whether all that an order wants can be had in a cell: paths of the host cannot, nor the way out of a network that somebody
/// had before.
pub fn can_run(order: &Order, sources: &[Source]) -> bool {
    order.network == crate::network::Network::None
        && matches!(order.sockets, crate::network::sockets::Sockets::Alone)
        && order.view.written.is_empty()
        && sources.iter().all(|source| matches!(source.from, Origin::Mount(_)))
}

/// Whether all that an order gives lies where the run may write or where code is, so that nothing has to be made elsewhere.
pub fn shares_view(order: &Order) -> bool {
    let is_below = |path: &Path| {
        let below = |directory: &str| path.strip_prefix("/").is_ok_and(|path| path.starts_with(directory));
        WRITABLE.iter().any(|directory| below(directory))
    };
    order.view.grants.iter().all(|grant| grant.access == Access::Read && is_below(&grant.inside))
        && order.view.files.iter().all(|file| is_below(&file.inside) || is_code(&file.inside))
}

pub fn is_code(path: &Path) -> bool {
    path.parent() == Some(Path::new(CODE_PLACE))
}

/// Those in use, of all families, and those of connections that are remembered after their end.
fn has_no_sockets(text: &str) -> bool {
    let mut lines = text.lines();
    let is_unused = lines.next() == Some("sockets: used 0");
    let connections = lines.find_map(|line| line.strip_prefix("TCP: "));
    is_unused && connections.is_some_and(|line| line.contains(" tw 0 "))
}

fn read(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut piece = [0; PIECE_BYTES];
    loop {
        match file.read_at(&mut piece, bytes.len() as u64)? {
            0 => return Ok(bytes),
            count => bytes.extend_from_slice(piece.get(..count).unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::FileIn;

    #[test]
    fn sockets_that_are_left_are_seen() {
        let text =
            |used, tw| format!("sockets: used {used}\nTCP: inuse 0 orphan 0 tw {tw} alloc 1 mem 0\nUDP: inuse 0\n");
        assert!(has_no_sockets(&text(0, 0)));
        assert!(!has_no_sockets(&text(1, 0)) && !has_no_sockets(&text(0, 1)) && !has_no_sockets(""));
    }

    #[test]
    fn what_lies_where_nothing_can_be_written_needs_a_view_of_its_own() {
        let file = |path: &str| FileIn { inside: path.into(), bytes: Vec::new(), is_executable: false };
        let order = |path: &str| {
            let mut order = Order::default();
            order.view.files.push(file(path));
            order
        };
        assert!(shares_view(&Order::default()) && shares_view(&order("/tmp/a/b")));
        assert!(shares_view(&order("/home/user/x")) && shares_view(&order("/code/main.py")));
        assert!(!shares_view(&order("/data/x")) && !shares_view(&order("/tmpx")) && !shares_view(&order("/code/a/b")));
    }
}
