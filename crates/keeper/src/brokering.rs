//! The broker: the process that makes calls to the world outside, for the live image and for dreams, and has the secrets that
//! those need. It hears each call with the number of whoever asks, which the keeper vouches for, and answers each on a thread of
//! its own. It ends when the keeper has gone.

use crate::error::KeeperError;
use crate::inside::take_pair;
use crate::protocol::{FRAME_BYTES_MAX, Frame, Inbox, Kind, Outbox};
use std::collections::HashMap;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The number of the live image as a caller; dreams have others.
pub(crate) const LIVE: u64 = 0;

/// So many calls at once.
const CALLS_MAX: usize = 256;
/// How long those may take to end when the keeper has gone.
const PARTING: Duration = Duration::from_millis(1500);

/// What answers calls. The bytes are what the caller said, and what it is answered.
pub trait Brokering: Send + Sync + 'static {
    type Caller: Send + Sync + 'static;
    /// Ends a call that is under way.
    type Stop: Clone + Default + Send + 'static;

    fn live(&self) -> Self::Caller;

    /// A dream, with what it may do, as whoever began it wrote that down.
    fn dream(&self, name: &str, policies: &[u8]) -> Self::Caller;

    /// Soon after it is stopped it answers, whatever that is.
    fn answer(&self, caller: &Self::Caller, call: &[u8], stop: &Self::Stop) -> Vec<u8>;

    fn stop(&self, stop: &Self::Stop);

    /// In the place of an answer.
    fn refuse(&self, why: &str) -> Vec<u8>;
}

/// Runs this process as the broker, with the connection to the keeper as its standard input.
pub fn broker(brokering: impl Brokering) -> Result<(), KeeperError> {
    let pair = take_pair()?;
    crate::inside::catch_signals()?;
    let writer = pair.try_clone().map_err(KeeperError::system("share the pair"))?;
    let mut desk = Desk {
        callers: HashMap::from([(LIVE, Arc::new(brokering.live()))]),
        office: Arc::new(Office {
            brokering,
            under_way: Mutex::default(),
            ended: Condvar::new(),
            writer: Mutex::new(writer),
        }),
    };
    let mut inbox = Inbox::default();
    while matches!(inbox.fill(&pair), Ok(1..)) {
        while let Some(frame) = inbox.next(FRAME_BYTES_MAX)? {
            desk.take(&frame);
        }
    }
    desk.office.close();
    Ok(())
}

/// Who there is to ask for something; the thread that hears the keeper has it.
struct Desk<B: Brokering> {
    callers: HashMap<u64, Arc<B::Caller>>,
    office: Arc<Office<B>>,
}

/// What all threads share.
struct Office<B: Brokering> {
    brokering: B,
    under_way: Mutex<HashMap<u64, B::Stop>>,
    ended: Condvar,
    writer: Mutex<UnixStream>,
}

impl<B: Brokering> Desk<B> {
    fn take(&mut self, frame: &Frame<'_>) {
        let brokering = &self.office.brokering;
        match frame.kind {
            Kind::Born => {
                let (name, policies) = split_name(frame.body);
                self.callers.insert(frame.id, Arc::new(brokering.dream(&name, policies)));
            }
            Kind::Over => drop(self.callers.remove(&frame.id)),
            Kind::Cancel => {
                let stop = lock(&self.office.under_way).get(&frame.id).cloned();
                stop.iter().for_each(|stop| brokering.stop(stop));
            }
            Kind::Call => {
                if let Err(why) = self.begin(frame.id, frame.body) {
                    self.office.give_back(frame.id, &brokering.refuse(why));
                }
            }
            // The keeper says nothing else.
            _ => {}
        }
    }

    fn begin(&self, token: u64, body: &[u8]) -> Result<(), &'static str> {
        let (caller, call) = split_caller(body).ok_or("a call without a caller")?;
        let caller = self.callers.get(&caller).cloned().ok_or("nobody knows who asks this")?;
        let stop = B::Stop::default();
        {
            let mut under_way = lock(&self.office.under_way);
            if under_way.len() >= CALLS_MAX {
                return Err("too many calls are under way; try again when some are done");
            }
            under_way.insert(token, stop.clone());
        }
        let (office, call) = (self.office.clone(), call.to_vec());
        let answer = move || office.answer(token, &caller, &call, &stop);
        if std::thread::Builder::new().name("call".into()).spawn(answer).is_err() {
            lock(&self.office.under_way).remove(&token);
            return Err("the system has no thread left for this call");
        }
        Ok(())
    }
}

impl<B: Brokering> Office<B> {
    fn answer(&self, token: u64, caller: &B::Caller, call: &[u8], stop: &B::Stop) {
        let answered = catch_unwind(AssertUnwindSafe(|| self.brokering.answer(caller, call, stop)));
        let body =
            answered.unwrap_or_else(|_| self.brokering.refuse("the broker could not make this call: it panicked"));
        self.give_back(token, &body);
        lock(&self.under_way).remove(&token);
        self.ended.notify_all();
    }

    fn give_back(&self, token: u64, body: &[u8]) {
        let mut outbox = Outbox::default();
        outbox.push(Kind::Returned, token, body);
        // If the keeper has gone, nobody waits for it.
        let _ = outbox.drain(&*lock(&self.writer));
    }

    /// Stops all that is under way, and waits for it, at most as long as the keeper would wait for this process.
    fn close(&self) {
        let under_way = lock(&self.under_way);
        under_way.values().for_each(|stop| self.brokering.stop(stop));
        drop(self.ended.wait_timeout_while(under_way, PARTING, |under_way| !under_way.is_empty()));
    }
}

/// What a panic leaves behind here is whole.
fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A dream's name, and behind a line's end what it may do.
pub(crate) fn with_name(name: &str, policies: &[u8]) -> Vec<u8> {
    [name.as_bytes(), b"\n", policies].concat()
}

fn split_name(body: &[u8]) -> (String, &[u8]) {
    let end = body.iter().position(|byte| *byte == b'\n').unwrap_or(body.len());
    (String::from_utf8_lossy(&body[..end]).into_owned(), body.get(end + 1..).unwrap_or_default())
}

const CALLER_BYTES: usize = 8;

/// A call, and before it whose it is.
pub(crate) fn with_caller(caller: u64, call: &[u8]) -> Vec<u8> {
    [&caller.to_le_bytes(), call].concat()
}

fn split_caller(body: &[u8]) -> Option<(u64, &[u8])> {
    let (caller, call) = body.split_first_chunk::<CALLER_BYTES>()?;
    Some((u64::from_le_bytes(*caller), call))
}
