//! Calls from a program to the world outside: told to whoever is at the other end of the line, and waited for. One at a time,
//! for there is one machine.

use super::answers::Sender;
use super::living::Listen;
use crate::protocol::{Answer, FRAME_BYTES_MAX, Inbox, Kind, Nest, Outbox};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// How often a program that waits is asked whether it should stop.
const SLICE: Duration = Duration::from_millis(50);

/// The way out for calls.
#[derive(Clone)]
pub struct Outside(Arc<Way>);

enum Way {
    /// Another thread reads what comes back; one that is made when it is needed, if it can be.
    Beside { sender: Sender, listen: OnceLock<Listen>, state: Mutex<State>, is_here: Condvar },
    /// Nobody else uses the line.
    Alone(Mutex<Line>),
}

#[derive(Default)]
struct State {
    /// The number of the call that is waited for, or was last.
    number: u64,
    returned: Option<Vec<u8>>,
    is_closed: bool,
}

struct Line {
    stream: UnixStream,
    inbox: Inbox,
    number: u64,
}

/// Why a call has no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unanswered {
    /// The program was told to stop meanwhile.
    Stopped,
    /// Nobody is at the other end.
    Gone,
}

impl Outside {
    pub(super) fn beside(sender: Sender) -> Outside {
        let listen = OnceLock::new();
        Outside(Arc::new(Way::Beside { sender, listen, state: Mutex::default(), is_here: Condvar::new() }))
    }

    /// This is called before anything is waited for.
    pub(super) fn listen_by(&self, how: Listen) {
        if let Way::Beside { listen, .. } = &*self.0 {
            let _ = listen.set(how);
        }
    }

    /// For a process with one thread.
    pub fn alone(stream: UnixStream) -> Outside {
        Outside(Arc::new(Way::Alone(Mutex::new(Line { stream, inbox: Inbox::default(), number: 0 }))))
    }

    /// Says something and waits for what comes back, which may take as long as it likes: `is_stopped` is asked now and then.
    pub fn call(&self, message: &impl Serialize, is_stopped: &mut dyn FnMut() -> bool) -> Result<Vec<u8>, Unanswered> {
        self.ask(Kind::Call, message, is_stopped)
    }

    /// The same about dreams inside of this one.
    pub fn nest(&self, nest: &Nest, is_stopped: &mut dyn FnMut() -> bool) -> Result<Answer, Unanswered> {
        let body = self.ask(Kind::Nest, nest, is_stopped)?;
        serde_json::from_slice(&body).map_err(|_| Unanswered::Gone)
    }

    fn ask(
        &self,
        kind: Kind,
        message: &impl Serialize,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<u8>, Unanswered> {
        match &*self.0 {
            Way::Beside { sender, listen, state, is_here } => {
                listen.get().into_iter().for_each(|listen| listen());
                let number = {
                    let mut state = lock(state);
                    state.number += 1;
                    state.returned = None;
                    state.number
                };
                sender.send(kind, number, message);
                let mut state = lock(state);
                loop {
                    if let Some(returned) = state.returned.take() {
                        return Ok(returned);
                    }
                    if state.is_closed {
                        return Err(Unanswered::Gone);
                    }
                    if is_stopped() {
                        // What comes all the same is not waited for any more.
                        state.number += 1;
                        sender.send(Kind::Cancel, number, &());
                        return Err(Unanswered::Stopped);
                    }
                    state = is_here.wait_timeout(state, SLICE).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
            Way::Alone(line) => lock(line).ask(kind, message, is_stopped),
        }
    }

    /// The thread that reads has this for whoever waits.
    pub(super) fn give(&self, number: u64, body: &[u8]) {
        if let Way::Beside { state, is_here, .. } = &*self.0 {
            let mut state = lock(state);
            if state.number == number {
                state.returned = Some(body.to_vec());
                is_here.notify_one();
            }
        }
    }

    /// Nothing will come any more.
    pub(super) fn close(&self) {
        if let Way::Beside { state, is_here, .. } = &*self.0 {
            lock(state).is_closed = true;
            is_here.notify_one();
        }
    }
}

/// What a panic leaves behind here is whole.
fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    fn ask(
        &mut self,
        kind: Kind,
        message: &impl Serialize,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<u8>, Unanswered> {
        self.number += 1;
        self.send(kind, message)?;
        loop {
            while let Some(frame) = self.inbox.next(FRAME_BYTES_MAX).map_err(|_| Unanswered::Gone)? {
                match frame.kind {
                    Kind::Returned if frame.id == self.number => return Ok(frame.body.to_vec()),
                    Kind::Stop => return Err(Unanswered::Gone),
                    _ => {}
                }
            }
            if is_stopped() {
                self.send(Kind::Cancel, &())?;
                return Err(Unanswered::Stopped);
            }
            let slice = Timespec::try_from(SLICE).expect("a slice is short");
            let mut waited = [PollFd::new(&self.stream, PollFlags::IN)];
            if matches!(poll(&mut waited, Some(&slice)), Ok(1..)) && !matches!(self.inbox.fill(&self.stream), Ok(1..)) {
                return Err(Unanswered::Gone);
            }
        }
    }

    fn send(&self, kind: Kind, message: &impl Serialize) -> Result<(), Unanswered> {
        let mut outbox = Outbox::default();
        outbox.push_json(kind, self.number, message);
        outbox.drain(&self.stream).map(drop).map_err(|_| Unanswered::Gone)
    }
}
