//! Frames in bytes: taken apart as they come in, piece by piece, and put together to go out in one write.

use crate::error::KeeperError;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use system::passing;

/// The longest body of a frame.
pub const FRAME_BYTES_MAX: usize = 16 << 20;
pub const HEADER_BYTES: usize = 13;
/// How much is read at once; a longer frame is read in several pieces.
pub(crate) const READ_BYTES: usize = 64 << 10;
/// More descriptors that come with one piece are closed by the kernel.
const DESCRIPTORS_AT_ONCE: usize = 4;

/// What a frame is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Client to keeper: the first frame of a connection. Keeper to a run's supervisor: who ordered it.
    Hello = 1,
    /// Keeper to client: go on.
    Welcome = 2,
    /// Keeper to client: why the connection is closed now.
    Refusal = 3,
    Request = 4,
    Answer = 5,
    /// Client to keeper, keeper to image process: stop the request with this id, and answer it.
    Cancel = 6,
    /// What is going on; answered with the same kind.
    Status = 7,
    /// Keeper to image process: close the files and end.
    Stop = 8,
    /// Image process to keeper: the image is open, requests are welcome.
    Ready = 9,
    /// Image process to keeper: why it could not be opened or closed.
    Failed = 10,
    /// Client to keeper, keeper to a run's supervisor: a program to be run in a sandbox.
    Run = 11,
    /// Back from there: what it wrote, behind a byte that says on which stream.
    Output = 12,
    /// One thing that it changed.
    Change = 13,
    /// How it ended, after all else.
    Ended = 14,
    /// Image process to keeper: a dream was begun; the line to it comes with the frame. Keeper to broker: what it may do.
    Born = 15,
    /// Keeper to image process: a dream is over, and what was kept for it is needed no more. Image process to keeper: it is to end.
    Over = 16,
    /// Image process or dream to keeper, keeper to broker: a call to the world outside.
    Call = 17,
    /// Back from there: what it was answered.
    Returned = 18,
    /// Dream to keeper: something about dreams inside of it; answered as a call is.
    Nest = 19,
    /// Client to keeper, and no further: a person's token. Answered as a request is.
    Person = 20,
    /// Keeper to image process: a request that a person allows to change what is protected or locked.
    Allowed = 21,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        use Kind::*;
        const KINDS: [Kind; 21] = [
            Hello, Welcome, Refusal, Request, Answer, Cancel, Status, Stop, Ready, Failed, Run, Output, Change, Ended,
            Born, Over, Call, Returned, Nest, Person, Allowed,
        ];
        KINDS.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// One frame, in the buffer it was read into.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'i> {
    pub kind: Kind,
    pub id: u64,
    pub body: &'i [u8],
}

/// What came in and was not looked at yet.
#[derive(Default)]
pub struct Inbox {
    buffer: Vec<u8>,
    start: usize,
}

impl Inbox {
    /// Reads what there is, up to a piece. Zero if nothing will come any more.
    pub fn fill(&mut self, descriptor: impl AsFd) -> io::Result<usize> {
        self.make_room();
        loop {
            match rustix::io::read(&descriptor, spare_capacity(&mut self.buffer)) {
                Err(Errno::INTR) => {}
                read => return Ok(read?),
            }
        }
    }

    /// The same for whoever has to wait for it, at most so long. Who sleeps in the read itself is woken not only by what
    /// comes, but also each time when the other side takes what was sent there: Linux wakes all who sleep at such a socket,
    /// and only a poll says what for. That is a wake-up for nothing with every request.
    pub fn fill_when_there(&mut self, socket: impl AsFd, time: Option<Duration>) -> io::Result<usize> {
        // A duration that does not fit is longer than anybody waits.
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        loop {
            match poll(&mut [PollFd::new(&socket, PollFlags::IN)], time.as_ref()) {
                Ok(0) => return Err(io::ErrorKind::WouldBlock.into()),
                Err(Errno::INTR) => {}
                // Whatever it is, reading tells.
                Ok(_) | Err(_) => return self.fill(socket),
            }
        }
    }

    /// The same from a socket through which descriptors may come. `scratch` is what is read into first.
    pub(crate) fn fill_with(
        &mut self,
        socket: impl AsFd,
        scratch: &mut [u8],
        descriptors: &mut VecDeque<OwnedFd>,
    ) -> io::Result<usize> {
        let places = &mut [IoSliceMut::new(scratch)];
        let received = passing::receive(socket, places, DESCRIPTORS_AT_ONCE, RecvFlags::empty())?;
        descriptors.extend(received.descriptors);
        self.make_room();
        self.buffer.extend_from_slice(&scratch[..received.bytes]);
        Ok(received.bytes)
    }

    fn make_room(&mut self) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.start = 0;
            self.buffer.shrink_to(4 * READ_BYTES);
        } else if self.start >= READ_BYTES {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.reserve(READ_BYTES);
    }

    /// The next whole frame, none if there is only a part of one. Whoever announces a body longer than
    /// `body_bytes_max`, or a kind that does not exist, does not speak this protocol.
    pub fn next(&mut self, body_bytes_max: usize) -> Result<Option<Frame<'_>>, KeeperError> {
        let Some((length, kind, id)) = self.header(body_bytes_max)? else { return Ok(None) };
        let body = self.start + HEADER_BYTES..self.start + HEADER_BYTES + length;
        if body.end > self.buffer.len() {
            return Ok(None);
        }
        self.start = body.end;
        Ok(Some(Frame { kind, id, body: &self.buffer[body] }))
    }

    /// What the next frame is about, as soon as its header has come. None also if there is no such kind:
    /// [`Inbox::next`] says so.
    pub fn next_kind(&self) -> Option<Kind> {
        self.header(usize::MAX).ok().flatten().map(|(_, kind, _)| kind)
    }

    fn header(&self, body_bytes_max: usize) -> Result<Option<(usize, Kind, u64)>, KeeperError> {
        let rest = &self.buffer[self.start..];
        let (Some(length), Some(&kind), Some(id)) =
            (rest.first_chunk::<4>(), rest.get(4), rest.get(5..HEADER_BYTES).and_then(|id| id.first_chunk::<8>()))
        else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > body_bytes_max {
            let what = format!("a frame of {length} bytes, where at most {body_bytes_max} are allowed");
            return Err(KeeperError::Protocol(what));
        }
        let Some(kind) = Kind::of(kind) else {
            return Err(KeeperError::Protocol(format!("a frame of kind {kind}, which there is not")));
        };
        Ok(Some((length, kind, u64::from_le_bytes(*id))))
    }

    /// Whether a frame has begun and is not whole, if [`Inbox::next`] has just said that there is none.
    pub fn is_partial(&self) -> bool {
        self.start < self.buffer.len()
    }

    /// How many bytes the frame will have that has begun.
    pub fn announced_bytes(&self) -> usize {
        let header = self.header(FRAME_BYTES_MAX).ok().flatten();
        header.map_or(0, |(length, ..)| HEADER_BYTES + length)
    }
}

/// What is to go out.
#[derive(Default)]
pub struct Outbox {
    buffer: Vec<u8>,
    start: usize,
}

impl Outbox {
    pub fn push(&mut self, kind: Kind, id: u64, body: &[u8]) {
        debug_assert!(body.len() <= FRAME_BYTES_MAX, "whoever makes a body keeps to its bound");
        self.buffer.extend_from_slice(&(body.len() as u32).to_le_bytes());
        self.buffer.push(kind as u8);
        self.buffer.extend_from_slice(&id.to_le_bytes());
        self.buffer.extend_from_slice(body);
    }

    /// What is left of a frame that was begun in another way.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The same for a structure, written straight into place.
    pub fn push_json(&mut self, kind: Kind, id: u64, message: &impl serde::Serialize) {
        let frame = self.buffer.len();
        self.push(kind, id, &[]);
        let body = self.buffer.len();
        // Our own structures have text for keys, and a Vec takes everything.
        let written = serde_json::to_writer(&mut self.buffer, message);
        debug_assert!(written.is_ok());
        let length = (self.buffer.len() - body) as u32;
        self.buffer[frame..frame + 4].copy_from_slice(&length.to_le_bytes());
    }

    /// Writes what the other side takes. True when nothing is left.
    pub fn drain(&mut self, descriptor: impl AsFd) -> io::Result<bool> {
        while self.start < self.buffer.len() {
            // Not `write`: a socket whose reader has gone must be an error, also where SIGPIPE is not ignored.
            match rustix::net::send(&descriptor, &self.buffer[self.start..], rustix::net::SendFlags::NOSIGNAL) {
                Ok(written) => self.start += written,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        self.buffer.clear();
        self.buffer.shrink_to(4 * READ_BYTES);
        self.start = 0;
        Ok(true)
    }

    /// Writes all of it with a descriptor that goes with its first byte, to a reader that waits for nothing.
    pub(crate) fn drain_with(&mut self, socket: impl AsFd, descriptor: impl AsFd) -> io::Result<bool> {
        let piece = [IoSlice::new(&self.buffer[self.start..])];
        self.start += passing::send(&socket, &piece, &[descriptor.as_fd()])?;
        self.drain(socket)
    }

    /// What was not taken yet.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// So many bytes were taken in another way.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Bytes that were not taken yet.
    pub fn len(&self) -> usize {
        self.buffer.len() - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes back what was pushed after there were so many bytes; none of it may have been written.
    pub(crate) fn truncate(&mut self, bytes: usize) {
        self.buffer.truncate(self.start + bytes);
    }

    /// Forgets everything, for a reader that has gone.
    pub fn clear(&mut self) {
        *self = Outbox::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn inbox(bytes: &[u8]) -> Inbox {
        Inbox { buffer: bytes.to_vec(), start: 0 }
    }

    #[test]
    fn frames_come_in_pieces() {
        let (mut near, far) = UnixStream::pair().unwrap();
        let mut out = Outbox::default();
        out.push(Kind::Request, 7, b"{}");
        out.push_json(Kind::Cancel, 8, &"now");
        let bytes = out.buffer.clone();
        let mut inbox = Inbox::default();
        let mut seen = Vec::new();
        for piece in bytes.chunks(3) {
            near.write_all(piece).unwrap();
            inbox.fill(&far).unwrap();
            while let Some(frame) = inbox.next(100).unwrap() {
                seen.push((frame.kind, frame.id, frame.body.to_vec()));
            }
        }
        assert_eq!(seen, [(Kind::Request, 7, b"{}".to_vec()), (Kind::Cancel, 8, b"\"now\"".to_vec())]);
        assert!(!inbox.is_partial());
    }

    #[test]
    fn what_is_too_long_or_unknown_is_refused_from_its_header() {
        let mut header = vec![1, 0, 0, 1, 4];
        header.extend([0; 8]);
        assert!(inbox(&header).next(FRAME_BYTES_MAX).is_err_and(|error| error.to_string().contains("16777217")));
        assert!(inbox(b"GET / HTTP/1.1\r\n\r\n").next(FRAME_BYTES_MAX).is_err());
        let mut unknown = vec![0, 0, 0, 0, 99];
        unknown.extend([0; 8]);
        assert!(inbox(&unknown).next(FRAME_BYTES_MAX).is_err_and(|error| error.to_string().contains("kind 99")));
        assert_eq!(inbox(&unknown[..12]).next(FRAME_BYTES_MAX).unwrap(), None);
    }

    #[test]
    fn the_kind_of_a_frame_is_known_before_its_body_has_come() {
        let mut out = Outbox::default();
        out.push(Kind::Request, 7, b"{}");
        assert_eq!(inbox(&out.buffer[..HEADER_BYTES]).next_kind(), Some(Kind::Request));
        assert_eq!(inbox(&out.buffer[..HEADER_BYTES - 1]).next_kind(), None);
        let mut whole = inbox(&out.buffer);
        assert_eq!(whole.next_kind(), Some(Kind::Request));
        whole.next(100).unwrap();
        assert_eq!(whole.next_kind(), None);
    }

    #[test]
    fn a_reader_that_is_slow_leaves_a_rest_and_one_that_is_gone_an_error() {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        let mut out = Outbox::default();
        out.push(Kind::Answer, 1, &vec![b' '; 4 << 20]);
        assert!(!out.drain(&near).unwrap() && !out.is_empty());
        drop(far);
        assert!(out.drain(&near).is_err());
    }
}
