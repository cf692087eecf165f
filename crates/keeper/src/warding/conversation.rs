//! What is said about one run over its socket: the order comes, output and changes and the end go. Whoever closes the other
//! end, or its half of it, wants the run stopped.

use super::Warding;
use crate::error::KeeperError;
use crate::protocol::{
    FRAME_BYTES_MAX, Frame, HEADER_BYTES, Inbox, Kind, Outbox, RunChange, RunChangeKind, RunClient, RunEnd, RunFailure,
    RunLimit, RunOrder, RunStream, RunVerdict, Word, split_bytes, with_bytes,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    sending: Mutex<Sending>,
}

#[derive(Default)]
struct Sending {
    /// Nobody reads any more, or took too long to: from then on nothing is handed on, and this is how it ended.
    given_up: Option<RunVerdict>,
    /// Of the frame that was begun then. It has to come before the end, which would be taken for a part of it.
    rest: Vec<u8>,
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
                let conversation = Arc::new(Conversation { socket, token: frame.id, sending: Mutex::default() });
                let end = match split_bytes::<RunOrder>(frame.body) {
                    Ok((order, bytes)) => warding.run(Ordered { order, client, bytes, input }, &conversation),
                    Err(error) => RunEnd::failed(RunFailure::Refused, error.to_string()),
                };
                conversation.finish(end);
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
        let mut sending = self.sending();
        let mut left = frame;
        while !left.is_empty() && sending.given_up.is_none() {
            match send(&self.socket, left, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(count) => left = left.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => sending.given_up = self.await_room(until).err(),
                Err(_) => sending.given_up = Some(RunVerdict::Stopped),
            }
        }
        if left.len() < frame.len() {
            sending.rest = left.to_vec();
        }
    }

    fn sending(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says how it ended, after what was begun. What was not handed on whole did not end well, whatever the program says.
    fn finish(&self, mut end: RunEnd) {
        let mut sending = self.sending();
        if let (RunEnd::Ended { verdict, .. }, Some(given_up)) = (&mut end, sending.given_up)
            && matches!(verdict, RunVerdict::Exited(_) | RunVerdict::Signalled(_))
        {
            *verdict = given_up;
        }
        let mut outbox = Outbox::default();
        outbox.push_bytes(&std::mem::take(&mut sending.rest));
        outbox.push_json(Kind::Ended, self.token, &end);
        // Whoever does not hear it has no use for it.
        let _ = outbox.drain(&self.socket);
    }

    /// Until there is room. If the run is to be stopped, or its time is up, that is how it ends.
    fn await_room(&self, until: Option<Instant>) -> Result<(), RunVerdict> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut waited = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::OUT | PollFlags::IN)];
        match poll(&mut waited, left.as_ref()) {
            Ok(0) => Err(RunVerdict::Limited(RunLimit::Time)),
            Err(Errno::INTR) => Ok(()),
            Ok(_) if waited[0].revents() == PollFlags::OUT => Ok(()),
            _ => Err(RunVerdict::Stopped),
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
