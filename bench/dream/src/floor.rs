//! What nobody can be faster than: a bare fork of a process of the same size, and one behind the same walls made by hand.

#[path = "../../../crates/sandbox/examples/dream/by_hand.rs"]
mod by_hand;

use crate::work::resident_bytes;
use by_hand::Walls;
use std::io::{PipeWriter, Read, Write};
use std::time::{Duration, Instant};
use system::clone::{self, Forked};

/// Memory that this process holds, so that it has as much to copy as another one.
pub struct Ballast {
    _pieces: Vec<Vec<u8>>,
}

impl Ballast {
    pub fn like(pid: u32) -> Ballast {
        const PIECE_BYTES: usize = 64 << 10;
        let (wanted, own) = (resident_bytes(pid).1, resident_bytes(std::process::id()).1);
        let pieces = ((wanted - own).max(0.0) / PIECE_BYTES as f64).ceil() as usize;
        Ballast { _pieces: (0..pieces).map(|_| vec![1; PIECE_BYTES]).collect() }
    }
}

/// How long the fork of a process kept it, which goes on at once; the copy ends at once, too.
pub fn pause() -> Duration {
    let start = Instant::now();
    let forked = clone::fork_in_two().expect("a process can be made");
    let pause = start.elapsed();
    match forked {
        Forked::Child => clone::leave(0),
        Forked::Parent { child } => drop(clone::wait(child, true)),
    }
    pause
}

/// Until a copy of this process says something.
pub fn bare() -> Duration {
    until_told(tell)
}

/// The same behind namespaces and files of its own: a copy makes a second one.
pub fn in_namespaces() -> Duration {
    until_told(|into| by_hand::make(into, Walls::Namespaces))
}

/// And all other walls of a dream.
pub fn walled() -> Duration {
    until_told(|into| by_hand::make(into, Walls::All))
}

fn until_told(attend: fn(&PipeWriter) -> i32) -> Duration {
    let (mut heard, into) = std::io::pipe().expect("a pipe can be made");
    let start = Instant::now();
    let attendant = clone::fork(|| attend(&into)).expect("a process can be made");
    drop(into);
    heard.read_exact(&mut [0]).expect("code ran inside");
    let taken = start.elapsed();
    let end = clone::wait(attendant.pid, true).expect("it is our child").expect("it was waited for");
    assert_eq!(end.status, 0, "it went wrong");
    taken
}

fn tell(mut into: &PipeWriter) -> i32 {
    i32::from(into.write_all(b"!").is_err())
}

fn in_child(child: rustix::io::Result<clone::Child>) -> i32 {
    let end = child.and_then(|child| clone::wait(child.pid, true));
    end.ok().flatten().map_or(1, |end| end.status)
}
