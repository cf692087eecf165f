//! What is said about one run over its socket: the order comes, output and changes and the end go. Whoever closes the other
//! end, or its half of it, wants the run stopped.

use super::Warding;
use crate::error::KeeperError;
use crate::protocol::{
    FRAME_BYTES_MAX, Frame, HEADER_BYTES, Inbox, Kind, Outbox, RunChange, RunChangeKind, RunClient, RunEnd, RunFailure,
    RunOrder, RunStream, Word, split_bytes, with_bytes,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// An order with all that came with it.
pub struct Ordered<'o> {
    pub order: RunOrder,
    pub client: RunClient,
    /// Of the files, and of what it reads.
    pub bytes: &'o [u8],
    pub input: Option<OwnedFd>,
}

/// The way back to the keeper.
pub struct Conversation {
    socket: UnixStream,
    token: u64,
    /// Nobody reads any more, or took too long to.
    is_given_up: AtomicBool,
}

/// The most bytes of a file in one frame.
const PIECE_BYTES: usize = 1 << 20;

/// Holds all of a conversation.
pub fn hold(warding: &impl Warding, socket: UnixStream, input: Option<OwnedFd>) {
    let mut inbox = Inbox::default();
    let mut client = RunClient::default();
    loop {
        match inbox.next(FRAME_BYTES_MAX) {
            Ok(Some(Frame { kind: Kind::Hello, body, .. })) => {
                client = serde_json::from_slice(body).unwrap_or_default();
                continue;
            }
            Ok(Some(frame)) => {
                let is_given_up = AtomicBool::new(false);
                let conversation = Arc::new(Conversation { socket, token: frame.id, is_given_up });
                let end = match split_bytes::<RunOrder>(frame.body) {
                    Ok((order, bytes)) => warding.run(Ordered { order, client, bytes, input }, &conversation),
                    Err(error) => RunEnd::failed(RunFailure::Refused, error.to_string()),
                };
                let mut outbox = Outbox::default();
                outbox.push_json(Kind::Ended, conversation.token, &end);
                // Whoever does not hear it has no use for it.
                let _ = outbox.drain(&conversation.socket);
                return;
            }
            Ok(None) => {}
            Err(_) => return,
        }
        if !matches!(inbox.fill(&socket), Ok(1..)) {
            return;
        }
    }
}

/// Says of a run that nobody can see to why it was not run.
pub fn refuse(socket: OwnedFd, error: &KeeperError) {
    let mut outbox = Outbox::default();
    let end = RunEnd::failed(RunFailure::Refused, format!("{error}; nothing was run"));
    outbox.push_json(Kind::Ended, 0, &end);
    // The order lies there unread; what is said is heard all the same.
    let _ = outbox.drain(UnixStream::from(socket));
}

impl Conversation {
    /// Becomes readable when the run is to be stopped.
    pub fn lifeline(&self) -> io::Result<OwnedFd> {
        Ok(self.socket.try_clone()?.into())
    }

    /// Whether nobody hears any more how the run ends.
    pub fn is_abandoned(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut waited = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::empty())];
        matches!(poll(&mut waited, Some(&now)), Ok(1..))
    }

    /// Hands output on, and waits while nobody takes it: until the run is to be stopped, or its time is up.
    pub fn output(&self, stream: RunStream, bytes: &[u8], until: Option<Instant>) {
        for piece in bytes.chunks(PIECE_BYTES) {
            let mut frame = header(Kind::Output, self.token, piece.len() + 1);
            frame.push(stream as u8);
            frame.extend_from_slice(piece);
            self.send(&frame, until);
        }
    }

    fn send(&self, frame: &[u8], until: Option<Instant>) {
        let mut left = frame;
        while !left.is_empty() && !self.is_given_up.load(Ordering::Relaxed) {
            match send(&self.socket, left, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(count) => left = left.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.await_room(until) => {}
                Err(_) => self.is_given_up.store(true, Ordering::Relaxed),
            }
        }
    }

    /// Whether there is room; not if the run is to be stopped.
    fn await_room(&self, until: Option<Instant>) -> bool {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut waited = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::OUT | PollFlags::IN)];
        match poll(&mut waited, left.as_ref()) {
            Ok(0) => false,
            Err(Errno::INTR) => true,
            Err(_) => false,
            Ok(_) => waited[0].revents() == PollFlags::OUT,
        }
    }

    /// One thing that the run changed, with the bytes of a file.
    pub fn change(&self, change: &RunChange, bytes: &[u8]) {
        let mut pieces = bytes.chunks(PIECE_BYTES);
        let first = with_bytes(change, &[pieces.next().unwrap_or_default()]);
        self.send_whole(&first);
        let more = RunChange { grant: change.grant, path: Word::Text(String::new()), kind: RunChangeKind::More };
        pieces.for_each(|piece| self.send_whole(&with_bytes(&more, &[piece])));
    }

    fn send_whole(&self, body: &[u8]) {
        let mut frame = header(Kind::Change, self.token, body.len());
        frame.extend_from_slice(body);
        self.send(&frame, None);
    }
}

fn header(kind: Kind, token: u64, length: usize) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER_BYTES + length);
    frame.extend_from_slice(&(length as u32).to_le_bytes());
    frame.push(kind as u8);
    frame.extend_from_slice(&token.to_le_bytes());
    frame
}
