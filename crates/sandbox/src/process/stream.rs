//! The pipes between a run and whoever ordered it.

use super::ids::Ids;
use crate::backend::{Stdin, Stream, Streams};
use crate::error::SandboxError;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Gid, OFlags, Uid, fchown, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

/// What is read at once: most runs say little, and memory that is not touched costs nothing.
const CHUNK: usize = 16 << 10;
/// What is read of a stream before limits are looked at again: a run may say more as fast as it is read.
const CHUNKS_AT_ONCE: usize = 16;

/// The ends of the pipes that the run gets.
pub struct Given {
    pub input: OwnedFd,
    pub output: OwnedFd,
    pub error: OwnedFd,
}

impl Given {
    /// A program opens its output again, by name, only if it is its own.
    pub fn belong_to(&self, ids: Ids) -> rustix::io::Result<()> {
        for end in self.all().iter().filter(|_| ids.are_own) {
            fchown(end, Some(Uid::from_raw(ids.user)), Some(Gid::from_raw(ids.group)))?;
        }
        Ok(())
    }

    pub fn all(&self) -> [BorrowedFd<'_>; 3] {
        use std::os::fd::AsFd;
        [self.input.as_fd(), self.output.as_fd(), self.error.as_fd()]
    }
}

/// The ends of the pipes that stay here. One that is `None` has been closed.
pub struct Kept {
    input: Option<Feed>,
    output: Option<OwnedFd>,
    error: Option<OwnedFd>,
    sink: crate::backend::Sink,
    buffer: Vec<u8>,
    pub output_bytes: u64,
    most_bytes: Option<u64>,
}

/// Standard input on its way: what was read from its source and not yet written, and where more comes from.
struct Feed {
    pipe: OwnedFd,
    source: Option<OwnedFd>,
    pending: Vec<u8>,
    written: usize,
}

pub fn make(streams: Streams, most_bytes: Option<u64>) -> Result<(Given, Kept), SandboxError> {
    let pipe = || {
        pipe_with(PipeFlags::CLOEXEC)
            .map_err(SandboxError::system("make a pipe; the limit of open files may be too low"))
    };
    let ((input, feed), (output_end, output), (error_end, error)) = (pipe()?, pipe()?, pipe()?);
    for end in [&feed, &output_end, &error_end] {
        fcntl_setfl(end, OFlags::NONBLOCK).map_err(SandboxError::system("make a pipe that does not block"))?;
    }
    let feed = match streams.stdin {
        Stdin::Empty => None,
        Stdin::Bytes(pending) => Some(Feed { pipe: feed, source: None, pending, written: 0 }),
        Stdin::Descriptor(source) => Some(Feed { pipe: feed, source: Some(source), pending: Vec::new(), written: 0 }),
    };
    let kept = Kept {
        input: feed,
        output: Some(output_end),
        error: Some(error_end),
        sink: streams.output,
        buffer: Vec::new(),
        output_bytes: 0,
        most_bytes,
    };
    Ok((Given { input, output, error }, kept))
}

impl Kept {
    /// What to wait for.
    pub fn watch<'a>(&'a self, waited: &mut Vec<PollFd<'a>>) {
        waited.extend(self.output.iter().chain(&self.error).map(|end| PollFd::new(end, PollFlags::IN)));
        match &self.input {
            Some(Feed { source: Some(source), pending, .. }) if pending.is_empty() => {
                waited.push(PollFd::new(source, PollFlags::IN));
            }
            Some(feed) => waited.push(PollFd::new(&feed.pipe, PollFlags::OUT)),
            None => {}
        }
    }

    /// Moves what can be moved without waiting. `false` if the run said more than it may.
    pub fn pump(&mut self) -> bool {
        self.feed();
        self.drain(Stream::Output, CHUNKS_AT_ONCE) && self.drain(Stream::Error, CHUNKS_AT_ONCE)
    }

    /// After the end: what lies in the pipes still. Not more than they hold, for somebody else may have them open.
    pub fn pump_rest(&mut self) -> bool {
        let chunks_in = |end: &Option<OwnedFd>| {
            let held = end.as_ref().and_then(|end| rustix::pipe::fcntl_getpipe_size(end).ok());
            held.unwrap_or_default().div_ceil(CHUNK).max(CHUNKS_AT_ONCE)
        };
        let (output, error) = (chunks_in(&self.output), chunks_in(&self.error));
        self.drain(Stream::Output, output) && self.drain(Stream::Error, error)
    }

    fn feed(&mut self) {
        let is_done = self.input.as_mut().is_some_and(|feed| !matches!(feed.advance(), Ok(true)));
        if is_done {
            self.input = None;
        }
    }

    fn drain(&mut self, stream: Stream, most_chunks: usize) -> bool {
        let place = match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        let Some(end) = place else { return true };
        make_room(&mut self.buffer);
        for _ in 0..most_chunks {
            let count = match rustix::io::retry_on_intr(|| rustix::io::read(&*end, &mut self.buffer)) {
                Ok(count @ 1..) => count,
                Err(Errno::AGAIN) => return true,
                Ok(0) | Err(_) => {
                    *place = None;
                    return true;
                }
            };
            let room = self.most_bytes.map_or(u64::MAX, |most| most - self.output_bytes);
            let taken = usize::try_from(room).map_or(count, |room| room.min(count));
            self.output_bytes += taken as u64;
            if taken > 0 {
                (self.sink)(stream, self.buffer.get(..taken).unwrap_or_default());
            }
            if taken < count {
                return false;
            }
            if count < CHUNK {
                return true;
            }
        }
        true
    }
}

/// For a chunk. What is asked for as zeroes is not touched before something is read into it.
fn make_room(buffer: &mut Vec<u8>) {
    match buffer.capacity() {
        0 => *buffer = vec![0; CHUNK],
        _ => buffer.resize(CHUNK, 0),
    }
}

impl Feed {
    /// Whether there may be more to do.
    fn advance(&mut self) -> io::Result<bool> {
        if self.written == self.pending.len() {
            let Some(source) = &self.source else { return Ok(false) };
            let mut is_ready = [PollFd::new(source, PollFlags::IN)];
            let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
            if matches!(rustix::event::poll(&mut is_ready, Some(&now)), Ok(0) | Err(Errno::INTR)) {
                return Ok(true);
            }
            make_room(&mut self.pending);
            let read = rustix::io::read(source, &mut self.pending);
            self.pending.truncate(read.unwrap_or(0));
            self.written = 0;
            match read {
                Ok(1..) => {}
                // A signal came, or somebody who reads the same source was faster.
                Err(Errno::INTR | Errno::AGAIN) => return Ok(true),
                Ok(0) => return Ok(false),
                Err(errno) => return Err(errno.into()),
            }
        }
        match rustix::io::write(&self.pipe, self.pending.get(self.written..).unwrap_or_default()) {
            Ok(count) => self.written += count,
            Err(Errno::AGAIN | Errno::INTR) => {}
            // The run reads no more.
            Err(errno) => return Err(errno.into()),
        }
        if self.written == self.pending.len() {
            self.pending.clear();
            self.written = 0;
        }
        Ok(self.source.is_some() || !self.pending.is_empty())
    }
}
