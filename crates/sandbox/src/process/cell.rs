//! A cell: namespaces that were made before any run, with the files that all runs see. A run in it gets new process, mount,
//! ipc and uts namespaces and clocks, and a file system in memory for all that it writes; the user and the network namespace
//! are the cell's. One run at a time, and another only if the network is as it was when the cell was made.
//!
//! A cell is nothing but descriptors: no process lives in it, and it is gone with whoever holds it.

use super::ids::Ids;
use super::inside::new_clocks;
use super::plan::Base;
use super::start::{self, Purpose};
use super::view::WRITABLE;
use crate::backend::Streams;
use crate::error::SandboxError;
use crate::order::{Access, Order};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use system::clone::{self, namespace};

/// What every run in a cell has new.
pub const FRESH: u64 = namespace::PID | namespace::MOUNT | namespace::IPC | namespace::UTS;

/// Counters that any use of the network moves: packets, and attempts that did not become packets. What `netstat` counts
/// beyond them needs packets.
const COUNTERS: [&str; 3] = ["dev", "snmp", "snmp6"];
/// What is read at once; most are shorter.
const PIECE_BYTES: usize = 8 << 10;

pub struct Cell {
    pub ids: Ids,
    pub base: Base,
    user: OwnedFd,
    network: OwnedFd,
    /// With the view, from which each run's is copied.
    mounts: OwnedFd,
    /// How many sockets there are.
    sockets: File,
    /// Each as it was at the beginning.
    counters: Vec<(File, Vec<u8>)>,
}

impl Cell {
    pub fn make() -> Result<Cell, SandboxError> {
        let order = Order { program: vec!["none".into()], ..Order::default() };
        let run = start::begin(&order, Streams::nowhere(), Purpose::Template)?;
        let (ids, base) = (run.ids, run.base.clone());
        let process = Path::new("/proc").join(run.init.pid.to_string());
        let open = |name: &str| File::open(process.join(name)).map_err(SandboxError::system("look at a cell"));
        let mut counters = Vec::new();
        for name in COUNTERS {
            // Without version 6 there is nothing to count.
            let Ok(file) = open(&format!("net/{name}")) else { continue };
            let text = read(&file).map_err(SandboxError::system("look at a cell"))?;
            counters.push((file, text));
        }
        Ok(Cell {
            ids,
            base,
            user: open("ns/user")?.into(),
            network: open("ns/net")?.into(),
            mounts: open("ns/mnt")?.into(),
            sockets: open("net/sockstat")?,
            counters,
        })
    }

    /// Makes the calling process a member, with clocks that begin anew. Without asking for memory.
    pub fn enter(&self, time_offsets: &[u8]) -> rustix::io::Result<()> {
        clone::enter(self.user.as_fd())?;
        // While the host's /proc is still there.
        new_clocks(time_offsets)?;
        clone::enter(self.network.as_fd())?;
        clone::enter(self.mounts.as_fd())
    }

    /// The same with the host's clocks, for who lives longer than a run.
    pub fn enter_as_it_is(&self) -> rustix::io::Result<()> {
        [&self.user, &self.network, &self.mounts].into_iter().try_for_each(|namespace| clone::enter(namespace.as_fd()))
    }

    /// Whether nothing is left of the runs that were in it, and nothing can be told of them. All of them have ended.
    pub fn is_pristine(&self) -> bool {
        let sockets = read(&self.sockets).unwrap_or_default();
        has_no_sockets(&String::from_utf8_lossy(&sockets))
            && self.counters.iter().all(|(file, before)| read(file).is_ok_and(|now| now == *before))
    }
}

/// Whether all that an order gives lies where the run may write, so that nothing has to be made elsewhere.
pub fn shares_view(order: &Order) -> bool {
    let is_below = |path: &Path| {
        let below = |directory: &str| path.strip_prefix("/").is_ok_and(|path| path.starts_with(directory));
        WRITABLE.iter().any(|directory| below(directory))
    };
    let is_code = |path: &Path| path.parent() == Some(Path::new("/code"));
    order.view.grants.iter().all(|grant| grant.access == Access::Read && is_below(&grant.inside))
        && order.view.files.iter().all(|file| is_below(&file.inside) || is_code(&file.inside))
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
        assert!(shares_view(&order("/home/user/x")));
        assert!(!shares_view(&order("/data/x")) && !shares_view(&order("/tmpx")));
    }
}
