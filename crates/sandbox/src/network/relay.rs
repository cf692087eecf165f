//! Carries bytes between a run and somebody outside, both ways at once, until both have ended or a bound is met.

use super::body::Passing;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const BUFFER_BYTES: usize = 64 << 10;

/// The bytes that a run's connections may still carry, all together.
#[derive(Debug)]
pub struct Budget(AtomicU64);

impl Budget {
    pub fn new(bytes: u64) -> Budget {
        Budget(AtomicU64::new(bytes))
    }

    /// Whether there was enough left.
    fn pay(&self, bytes: u64) -> bool {
        self.0.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// What went over a connection.
#[derive(Default, Debug)]
pub struct Traffic {
    /// From the run to the other side.
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Sent,
    Received,
}

/// Two ends, and what binds them.
pub struct Relay<'a> {
    pub inside: &'a TcpStream,
    pub outside: &'a TcpStream,
    /// What may pass from inside to outside.
    pub passing: Passing,
    pub budget: &'a Budget,
    pub idle: Duration,
    /// Sees every byte as it is passed on.
    pub observe: &'a mut dyn FnMut(Direction, &[u8]),
}

/// Bytes on their way in one direction.
struct Flow {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Nothing more is read.
    has_ended: bool,
    is_shut: bool,
}

impl Flow {
    fn new(early: &[u8]) -> Flow {
        let mut buffer = vec![0; BUFFER_BYTES.max(early.len())].into_boxed_slice();
        buffer[..early.len()].copy_from_slice(early);
        Flow { buffer, start: 0, end: early.len(), has_ended: false, is_shut: false }
    }

    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    fn wants_to_read(&self) -> bool {
        self.is_empty() && !self.has_ended
    }

    fn read(&mut self, mut from: &TcpStream) -> io::Result<()> {
        match from.read(&mut self.buffer) {
            Ok(0) => self.has_ended = true,
            Ok(count) => (self.start, self.end) = (0, count),
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn write(&mut self, mut to: &TcpStream) -> io::Result<()> {
        match to.write(&self.buffer[self.start..self.end]) {
            Ok(count) => self.start += count,
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Tells the other side, once, that nothing more comes.
    fn shut(&mut self, to: &TcpStream) {
        if self.has_ended && self.is_empty() && !self.is_shut {
            self.is_shut = true;
            // It may have gone already, and then knows.
            let _ = to.shutdown(Shutdown::Write);
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

impl Relay<'_> {
    /// Carries what came early, and then everything, to the end. What went over is told even if it ended badly.
    pub fn carry(mut self, early: &[u8]) -> (Traffic, io::Result<()>) {
        let mut traffic = Traffic::default();
        let result = self.carry_on(early, &mut traffic);
        (traffic, result)
    }

    fn carry_on(&mut self, early: &[u8], traffic: &mut Traffic) -> io::Result<()> {
        self.inside.set_nonblocking(true)?;
        self.outside.set_nonblocking(true)?;
        let is_tunnel = self.passing == Passing::Everything;
        let mut up = Flow::new(early);
        let mut down = Flow::new(&[]);
        self.admit(&mut up, traffic)?;
        loop {
            if self.passing.is_done() {
                up.has_ended = true;
            }
            // A server may take half a farewell for a whole one; after a request it is not needed.
            if is_tunnel {
                up.shut(self.outside);
            }
            down.shut(self.inside);
            if down.is_shut && (up.is_shut || !is_tunnel) {
                return Ok(());
            }
            self.step(&mut up, &mut down, traffic)?;
        }
    }

    /// Waits until something can be done, and does it.
    fn step(&mut self, up: &mut Flow, down: &mut Flow, traffic: &mut Traffic) -> io::Result<()> {
        let interest = |read: bool, write: bool| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, read);
            flags.set(PollFlags::OUT, write);
            flags
        };
        let wanted = [
            (self.inside, interest(up.wants_to_read(), !down.is_empty())),
            (self.outside, interest(down.wants_to_read(), !up.is_empty())),
        ];
        // An end that nothing is wanted of stays out: the kernel would tell of its going away again and again.
        let mut polled: Vec<PollFd<'_>> = wanted
            .iter()
            .filter(|(_, flags)| !flags.is_empty())
            .map(|(stream, flags)| PollFd::new(stream, *flags))
            .collect();
        let timeout = Timespec::try_from(self.idle).map_err(|_| io::ErrorKind::InvalidInput)?;
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(rustix::io::Errno::INTR) => return Ok(()),
            other => other?,
        };
        // Nothing blocks, so that whatever is wanted may be tried.
        if up.wants_to_read() {
            up.read(self.inside)?;
            self.admit(up, traffic)?;
        }
        if down.wants_to_read() {
            down.read(self.outside)?;
            self.welcome(down, traffic)?;
        }
        if !up.is_empty() {
            up.write(self.outside)?;
        }
        if !down.is_empty() {
            down.write(self.inside)?;
        }
        Ok(())
    }

    /// Of what came from the run, that which may pass.
    fn admit(&mut self, up: &mut Flow, traffic: &mut Traffic) -> io::Result<()> {
        let bytes = &up.buffer[up.start..up.end];
        let taken = self.passing.take(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "bad chunks"))?;
        up.end = up.start + taken;
        traffic.sent_bytes += taken as u64;
        self.pass(Direction::Sent, &up.buffer[up.start..up.end])
    }

    fn welcome(&mut self, down: &mut Flow, traffic: &mut Traffic) -> io::Result<()> {
        let bytes = &down.buffer[down.start..down.end];
        traffic.received_bytes += bytes.len() as u64;
        self.pass(Direction::Received, bytes)
    }

    fn pass(&mut self, direction: Direction, bytes: &[u8]) -> io::Result<()> {
        if !self.budget.pay(bytes.len() as u64) {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "the run's bytes are used up"));
        }
        if !bytes.is_empty() {
            (self.observe)(direction, bytes);
        }
        Ok(())
    }
}
