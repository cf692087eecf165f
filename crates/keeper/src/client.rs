//! The Rust client: connects to the image of a directory, sends requests and waits for their answers.
//!
//! A request may take for ever, but a keeper greets at once, however much it has to do. So a client that hears nothing for
//! a while asks by another connection whether it still does, and gives up if not.

mod run;

pub use run::RunEvent;

use crate::error::KeeperError;
use crate::protocol::{
    Answer, FRAME_BYTES_MAX, Frame, Hello, Inbox, Kind, Outbox, Outcome, Refusal, Request, Status, VERSION, Welcome,
};
use crate::socket;
use crate::token::Token;
use serde::de::DeserializeOwned;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection to an image that is up.
///
/// ```no_run
/// use keeper::{Client, protocol::{Outcome, Request}};
///
/// let mut client = Client::connect("my-image".as_ref(), "my program")?;
/// let answer = client.send(&Request::evaluate("1 + 2"))?;
/// assert!(matches!(answer.outcome, Outcome::Value(value) if value.text == "3"));
/// # Ok::<(), keeper::KeeperError>(())
/// ```
pub struct Client {
    directory: PathBuf,
    stream: UnixStream,
    writing: Writing,
    inbox: Inbox,
    outbox: Outbox,
    welcome: Welcome,
    last_id: u64,
}

/// The right to write to a connection, which its client and its cancellers share: a frame is written whole before the
/// next one begins.
#[derive(Clone, Default)]
struct Writing(Arc<Mutex<()>>);

impl Writing {
    /// Whoever panicked while holding it was between two calls of the system; the other side sees what is missing.
    fn take(&self) -> MutexGuard<'_, ()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops requests of a client from another thread.
pub struct Canceller {
    stream: UnixStream,
    writing: Writing,
}

impl Canceller {
    /// Asks to stop a request, which is then answered as interrupted, unless it was done already. Waits until what the
    /// client is sending has been sent; and stands behind it, so whoever posts more than 64 requests at once stops none
    /// before the keeper has read them.
    pub fn cancel(&self, id: u64) -> Result<(), KeeperError> {
        let mut outbox = Outbox::default();
        outbox.push(Kind::Cancel, id, &[]);
        let _turn = self.writing.take();
        // A keeper that does not read is what its client finds out.
        while !outbox.drain(&self.stream).map_err(|_| KeeperError::KeeperGone)? {}
        Ok(())
    }
}

impl Client {
    /// Connects to the image in a directory. `name` says who this is, for people.
    pub fn connect(directory: &Path, name: &str) -> Result<Client, KeeperError> {
        let stream = socket::connect(directory)?;
        if !socket::is_welcome(&socket::peer(&stream)?) && !rustix::process::geteuid().is_root() {
            return Err(KeeperError::NotYours(socket::socket_path(directory)));
        }
        let mut client = Client::new(directory, stream);
        client.outbox.push_json(Kind::Hello, 0, &Hello { protocol: VERSION, client: name.to_string() });
        client.flush()?;
        client.welcome = client.expect(Kind::Welcome, 0)?;
        Ok(client)
    }

    /// A client that has said nothing yet.
    fn new(directory: &Path, stream: UnixStream) -> Client {
        let welcome = Welcome { protocol: 0, telos: String::new(), pid: 0, directory: String::new() };
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        let directory = directory.into();
        Client { directory, stream, writing: Writing::default(), inbox, outbox, welcome, last_id: 0 }
    }

    /// What the keeper said of itself.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Sends a request and waits for its answer.
    pub fn send(&mut self, request: &Request) -> Result<Answer, KeeperError> {
        let id = self.post(request)?;
        self.flush()?;
        self.wait(id)
    }

    /// Waits for the answer to one request. Answers to others that come before are lost.
    pub fn wait(&mut self, id: u64) -> Result<Answer, KeeperError> {
        self.expect(Kind::Answer, id)
    }

    /// Puts a request into the buffer, to be sent with others by [`Client::flush`]; gives its id. Whoever sends more
    /// than 64 before reading answers may have to wait until some are done.
    pub fn post(&mut self, request: &Request) -> Result<u64, KeeperError> {
        let before = self.outbox.len();
        self.last_id += 1;
        self.outbox.push_json(Kind::Request, self.last_id, request);
        if self.outbox.len() - before > FRAME_BYTES_MAX {
            self.outbox.truncate(before);
            let most = FRAME_BYTES_MAX >> 20;
            return Err(KeeperError::Protocol(format!("a request of more than {most} MiB; send it in parts")));
        }
        Ok(self.last_id)
    }

    pub fn flush(&mut self) -> Result<(), KeeperError> {
        let written = {
            let _turn = self.writing.take();
            loop {
                match self.outbox.drain(&self.stream) {
                    Ok(false) => self.check_keeper()?,
                    written => break written,
                }
            }
        };
        match written {
            Ok(_) => Ok(()),
            // Who refuses says why before closing.
            Err(_) => match self.receive() {
                Err(error @ KeeperError::Refused(_)) => Err(error),
                _ => Err(KeeperError::KeeperGone),
            },
        }
    }

    /// Nothing came or was taken for a while: fails if the keeper does not even greet.
    fn check_keeper(&self) -> Result<(), KeeperError> {
        let is_greeted = self.welcome.protocol != 0;
        if !is_greeted {
            let pid = socket::peer(&self.stream)?.pid;
            return Err(KeeperError::Silent { keeper: format!("process {pid}") });
        }
        match Client::connect(&self.directory, "is anybody there") {
            Err(error @ KeeperError::Silent { .. }) => Err(error),
            // It greets; or it sends clients away, or its socket is no longer where it was, and it may well be at work.
            _ => Ok(()),
        }
    }

    /// Waits for the next answer, whichever it is.
    pub fn receive(&mut self) -> Result<(u64, Answer), KeeperError> {
        self.next_frame(|frame| match frame.kind {
            Kind::Answer => Ok(Some((frame.id, decode(frame.body)?))),
            _ => Ok(None),
        })
    }

    /// Shows the token of a person: from now on what this client sends may change what is protected or locked. The keeper checks it,
    /// hands it to nobody, and closes the connection if it is another one.
    pub fn show_token(&mut self, token: &Token) -> Result<(), KeeperError> {
        self.last_id += 1;
        let id = self.last_id;
        self.outbox.push(Kind::Person, id, token.text().as_bytes());
        self.flush()?;
        match self.wait(id)?.outcome {
            Outcome::Value(_) => Ok(()),
            Outcome::Failure(failure) => Err(KeeperError::NotAllowed(failure.message)),
        }
    }

    /// What the image is doing.
    pub fn status(&mut self) -> Result<Status, KeeperError> {
        self.last_id += 1;
        let id = self.last_id;
        self.outbox.push(Kind::Status, id, &[]);
        self.flush()?;
        self.expect(Kind::Status, id)
    }

    /// Lets another thread stop requests, a handler of Ctrl-C for example.
    pub fn canceller(&self) -> Result<Canceller, KeeperError> {
        let stream = self.stream.try_clone().map_err(KeeperError::system("share the connection"))?;
        Ok(Canceller { stream, writing: self.writing.clone() })
    }

    /// Waits for one frame; others are for requests that nobody waits for any more.
    fn expect<T: DeserializeOwned>(&mut self, kind: Kind, id: u64) -> Result<T, KeeperError> {
        self.next_frame(
            |frame| {
                if frame.kind == kind && frame.id == id { decode(frame.body).map(Some) } else { Ok(None) }
            },
        )
    }

    fn next_frame<T>(
        &mut self,
        mut take: impl FnMut(&Frame<'_>) -> Result<Option<T>, KeeperError>,
    ) -> Result<T, KeeperError> {
        loop {
            while let Some(frame) = self.inbox.next(FRAME_BYTES_MAX)? {
                if frame.kind == Kind::Refusal {
                    return Err(KeeperError::Refused(decode::<Refusal>(frame.body)?.message));
                }
                if let Some(taken) = take(&frame)? {
                    return Ok(taken);
                }
            }
            match self.inbox.fill(&self.stream) {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => self.check_keeper()?,
                Ok(0) | Err(_) => return Err(KeeperError::KeeperGone),
                Ok(_) => {}
            }
        }
    }
}

fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, KeeperError> {
    serde_json::from_slice(body).map_err(|error| KeeperError::Protocol(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that was welcomed, and what the keeper has of it.
    fn pair() -> (Client, UnixStream) {
        let (near, far) = UnixStream::pair().unwrap();
        (Client::new(Path::new("."), near), far)
    }

    /// The next frame of a client, without its body.
    fn next(inbox: &mut Inbox, stream: &UnixStream) -> (Kind, u64) {
        loop {
            if let Some(frame) = inbox.next(FRAME_BYTES_MAX).unwrap() {
                return (frame.kind, frame.id);
            }
            assert_ne!(inbox.fill(stream).unwrap(), 0, "the client has gone");
        }
    }

    #[test]
    fn a_request_that_is_too_long_takes_no_other_with_it() {
        let (mut client, far) = pair();
        let first = client.post(&Request::evaluate("1")).unwrap();
        let long = Request::evaluate("x".repeat(FRAME_BYTES_MAX));
        assert!(client.post(&long).is_err_and(|error| error.to_string().contains("16 MiB")));
        let last = client.post(&Request::evaluate("2")).unwrap();
        client.flush().unwrap();
        let mut inbox = Inbox::default();
        assert_eq!(next(&mut inbox, &far), (Kind::Request, first));
        assert_eq!(next(&mut inbox, &far), (Kind::Request, last));
    }

    /// A frame longer than what a socket holds is written in pieces, and another could come between two of them.
    #[test]
    fn a_cancellation_does_not_cut_into_a_request_that_is_being_sent() {
        let (mut client, far) = pair();
        let canceller = client.canceller().unwrap();
        let long = client.post(&Request::evaluate("x".repeat(8 << 20))).unwrap();
        let mut inbox = Inbox::default();
        let (begun, has_begun) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| client.flush().unwrap());
            // What was read of it is less than a socket holds, so it is still being sent.
            inbox.fill(&far).unwrap();
            scope.spawn(move || {
                begun.send(()).unwrap();
                canceller.cancel(7).unwrap();
            });
            has_begun.recv().unwrap();
            assert_eq!(next(&mut inbox, &far), (Kind::Request, long));
            assert_eq!(next(&mut inbox, &far), (Kind::Cancel, 7));
            assert!(!inbox.is_partial());
        });
    }
}
