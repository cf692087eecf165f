//! Our standard output and error, for what a program prints. Whoever watches over the program also writes what it printed, and
//! must not wait for a reader that stands still: not after the program's time is up, and not when it is to be stopped.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat};
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

/// How long a reader is waited for.
#[derive(Default)]
pub struct Patience {
    pub until: Option<Instant>,
    /// Becomes readable when it is to be stopped.
    pub lifeline: Option<OwnedFd>,
}

/// Why not all of it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unwritten {
    /// Nobody reads.
    Closed,
    /// It cannot be written: there is no room, say.
    Failed(Errno),
    /// It was not taken in time.
    Late,
    Stopped,
}

impl Unwritten {
    /// Whether nothing that comes later can be written either.
    pub const fn is_lasting(self) -> bool {
        matches!(self, Unwritten::Closed | Unwritten::Failed(_))
    }
}

pub struct Outlet {
    descriptor: OwnedFd,
    way: Way,
}

/// How to write without being held up.
enum Way {
    /// It never blocks: it is a file, or we opened it so.
    Whole,
    Socket,
    /// So few bytes fit if there is room at all.
    InPieces,
}

/// What fits into a pipe that has room.
const PIECE_BYTES: usize = 4096;

impl Outlet {
    pub fn new(standard: impl AsFd) -> std::io::Result<Outlet> {
        let descriptor = standard.as_fd().try_clone_to_owned()?;
        let kind = fstat(&descriptor).map(|details| FileType::from_raw_mode(details.st_mode))?;
        Ok(match kind {
            FileType::Socket => Outlet { descriptor, way: Way::Socket },
            FileType::Fifo | FileType::CharacterDevice => Outlet::opened_anew(descriptor),
            _ => Outlet { descriptor, way: Way::Whole },
        })
    }

    /// Whether it blocks is shared by all who have the same open file, so that ours alone must not only if it is another one.
    /// That may be forbidden, where it belongs to somebody else.
    fn opened_anew(descriptor: OwnedFd) -> Outlet {
        let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(descriptor) => Outlet { descriptor, way: Way::Whole },
            Err(_) => Outlet { descriptor, way: Way::InPieces },
        }
    }

    pub fn write(&self, bytes: &[u8], patience: &Patience) -> Result<(), Unwritten> {
        let mut left = bytes;
        while !left.is_empty() {
            let written = match self.way {
                Way::Whole => rustix::io::write(&self.descriptor, left),
                Way::Socket => rustix::net::send(&self.descriptor, left, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
                Way::InPieces => {
                    self.await_room(patience)?;
                    rustix::io::write(&self.descriptor, &left[..left.len().min(PIECE_BYTES)])
                }
            };
            match written {
                Ok(count) => left = left.get(count..).unwrap_or_default(),
                Err(Errno::AGAIN) => self.await_room(patience)?,
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET | Errno::BADF) => return Err(Unwritten::Closed),
                Err(error) => return Err(Unwritten::Failed(error)),
            }
        }
        Ok(())
    }

    fn await_room(&self, patience: &Patience) -> Result<(), Unwritten> {
        loop {
            let left = patience.until.map(|until| until.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            let mut waited = vec![PollFd::new(&self.descriptor, PollFlags::OUT)];
            waited.extend(patience.lifeline.iter().map(|lifeline| PollFd::new(lifeline, PollFlags::IN)));
            match poll(&mut waited, left.as_ref()) {
                Ok(0) => return Err(Unwritten::Late),
                Ok(_) if waited.get(1).is_some_and(|lifeline| !lifeline.revents().is_empty()) => {
                    return Err(Unwritten::Stopped);
                }
                // If nobody reads any more, the next write says so.
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Unwritten::Closed),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    /// A pipe and a socket, each with its other end.
    fn ways() -> Vec<(Outlet, std::fs::File)> {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let in_pieces = Outlet { descriptor: writer.try_clone().unwrap(), way: Way::InPieces };
        let (near, far) = UnixStream::pair().unwrap();
        let (other_reader, other_writer) = rustix::pipe::pipe().unwrap();
        vec![
            (in_pieces, reader.into()),
            (Outlet::new(&near).unwrap(), OwnedFd::from(far).into()),
            (Outlet::new(&other_writer).unwrap(), other_reader.into()),
        ]
    }

    #[test]
    fn a_reader_that_stands_still_is_waited_for_no_longer_than_may_be() {
        let much = vec![b'x'; 1 << 20];
        for (outlet, _reader) in ways() {
            let late = Patience { until: Some(Instant::now() + Duration::from_millis(20)), lifeline: None };
            assert_eq!(outlet.write(&much, &late), Err(Unwritten::Late));
            let (lifeline, end) = rustix::pipe::pipe().unwrap();
            drop(end);
            let stopped = Patience { until: None, lifeline: Some(lifeline) };
            assert_eq!(outlet.write(&much, &stopped), Err(Unwritten::Stopped));
        }
    }

    #[test]
    fn a_reader_that_reads_gets_all_of_it_and_one_that_has_gone_is_told() {
        let much: Vec<u8> = (0..1_000_000_u32).map(|number| number as u8).collect();
        for (outlet, mut reader) in ways() {
            let length = much.len();
            let reading = std::thread::spawn(move || {
                let mut read = vec![0; length];
                reader.read_exact(&mut read).unwrap();
                read
            });
            outlet.write(&much, &Patience::default()).unwrap();
            assert!(reading.join().unwrap() == much);
            assert_eq!(outlet.write(b"x", &Patience::default()), Err(Unwritten::Closed));
        }
    }
}
