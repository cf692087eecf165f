//! Calls to the world outside, of the live image and of dreams: who asked, and the process that answers. What is asked and
//! answered goes through unread; whose it is, the keeper knows by the line it came over, and nobody can say otherwise.

use super::child::{self, Child};
use super::plan::{Notice, Plan};
use super::{BROKER, BROKER_PAIR, Keeper};
use crate::brokering::{LIVE, with_caller};
use crate::error::KeeperError;
use crate::protocol::{FRAME_BYTES_MAX, Inbox, Kind, Outbox};
use rustix::event::epoll::{self, EventData, EventFlags};
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// One caller has one machine, and waits for each; those that it does not wait for any more count too.
const CALLS_OF_ONE_MAX: usize = 8;
/// How long the broker may take to end what was under way.
const PARTING: Duration = Duration::from_secs(2);

/// Whose call it is: [`LIVE`], or a dream's number.
type Caller = u64;

struct Call {
    caller: Caller,
    /// The caller's own number for it.
    id: u64,
}

#[derive(Default)]
pub struct Calls {
    entries: HashMap<u64, Call>,
    count: u64,
}

pub struct Broker {
    pub child: Child,
    inbox: Inbox,
    outbox: Outbox,
    /// Dreams that it knows of.
    introduced: BTreeSet<Caller>,
}

impl Keeper<'_> {
    /// A call of the live image.
    pub fn receive_live_call(&mut self, id: u64, body: &[u8]) {
        if !self.receive_call(LIVE, id, body) {
            self.give_back(LIVE, id, &failed("too many calls that nobody waits for any more are under way"));
        }
    }

    /// Hands a call on. False if the caller asks more than anybody does.
    pub fn receive_call(&mut self, caller: Caller, id: u64, body: &[u8]) -> bool {
        if self.calls.entries.values().filter(|call| call.caller == caller).count() >= CALLS_OF_ONE_MAX {
            return false;
        }
        if let Err(error) = self.ensure_broker() {
            self.give_back(caller, id, &failed(&error.to_string()));
            return true;
        }
        let token = self.calls.count;
        self.calls.count += 1;
        self.calls.entries.insert(token, Call { caller, id });
        let introduction = self.dreams.introduction(caller);
        let Some(broker) = &mut self.broker else { return true };
        if caller != LIVE && broker.introduced.insert(caller) {
            broker.outbox.push(Kind::Born, caller, introduction.as_deref().unwrap_or_default());
        }
        broker.outbox.push(Kind::Call, token, &with_caller(caller, body));
        self.flush_broker();
        true
    }

    /// The caller does not wait for it any more.
    pub fn cancel_call(&mut self, caller: Caller, id: u64) {
        let found = self.calls.entries.iter().find(|(_, call)| call.caller == caller && call.id == id);
        let Some(token) = found.map(|(token, _)| *token) else { return };
        if let Some(broker) = &mut self.broker {
            broker.outbox.push(Kind::Cancel, token, &[]);
        }
        self.flush_broker();
    }

    /// The caller has gone.
    pub fn forget_caller(&mut self, caller: Caller) {
        let tokens: Vec<u64> =
            self.calls.entries.iter().filter(|(_, call)| call.caller == caller).map(|(token, _)| *token).collect();
        self.calls.entries.retain(|_, call| call.caller != caller);
        let Some(broker) = &mut self.broker else { return };
        tokens.iter().for_each(|token| broker.outbox.push(Kind::Cancel, *token, &[]));
        if broker.introduced.remove(&caller) {
            broker.outbox.push(Kind::Over, caller, &[]);
        }
        self.flush_broker();
    }

    pub fn hear_broker(&mut self, flags: EventFlags) {
        if flags.contains(EventFlags::OUT) {
            self.flush_broker();
        }
        let Some(broker) = &mut self.broker else { return };
        if !flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
            return;
        }
        let heard = broker.inbox.fill(&broker.child.pair);
        let mut inbox = std::mem::take(&mut broker.inbox);
        while let Ok(Some(frame)) = inbox.next(FRAME_BYTES_MAX) {
            if frame.kind == Kind::Returned
                && let Some(Call { caller, id }) = self.calls.entries.remove(&frame.id)
            {
                self.give_back(caller, id, frame.body);
            }
        }
        let Some(broker) = &mut self.broker else { return };
        broker.inbox = inbox;
        if matches!(heard, Ok(0)) {
            // Its end is told by itself, and until then it would say this for ever.
            let _ = epoll::delete(&self.poll, &broker.child.pair);
        }
    }

    fn give_back(&mut self, caller: Caller, id: u64, body: &[u8]) {
        match caller {
            LIVE => self.outbox.push(Kind::Returned, id, body),
            dream => self.tell_dream(dream, |outbox| outbox.push(Kind::Returned, id, body)),
        }
    }

    fn flush_broker(&mut self) {
        let Some(broker) = &mut self.broker else { return };
        let is_full = !broker.outbox.drain(&broker.child.pair).unwrap_or(true);
        let flags = if is_full { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
        let _ = epoll::modify(&self.poll, &broker.child.pair, EventData::new_u64(BROKER_PAIR), flags);
    }

    /// Whoever waits is told; the next call gets another broker.
    pub fn broker_ended(&mut self) {
        let Some(status) = self.broker.as_mut().and_then(|broker| broker.child.ended()) else { return };
        self.broker = None;
        let cause = child::cause(status);
        let message = format!("the process that makes calls ended: {cause}; whether the call was made is not known");
        for (_, Call { caller, id }) in std::mem::take(&mut self.calls.entries) {
            self.give_back(caller, id, &failed(&message));
        }
        (self.notify)(Notice::BrokerLost { cause });
    }

    pub fn part_from_broker(&mut self) {
        if let Some(broker) = self.broker.take() {
            let _ = epoll::delete(&self.poll, &broker.child.end);
            broker.child.part(PARTING);
        }
    }

    fn ensure_broker(&mut self) -> Result<(), KeeperError> {
        if self.broker.is_none() {
            self.broker = Some(start_broker(&self.poll, &self.plan)?);
        }
        Ok(())
    }
}

/// An answer in the place of the broker.
fn failed(message: &str) -> Vec<u8> {
    json!({ "way": "failed", "values": [message] }).to_string().into_bytes()
}

fn start_broker(poll: &OwnedFd, plan: &Plan) -> Result<Broker, KeeperError> {
    let child = Child::start_broker(plan)?;
    for (source, token) in [(child.pair.as_fd(), BROKER_PAIR), (child.end.as_fd(), BROKER)] {
        epoll::add(poll, source, EventData::new_u64(token), EventFlags::IN)
            .map_err(KeeperError::system("watch the broker"))?;
    }
    Ok(Broker { child, inbox: Inbox::default(), outbox: Outbox::default(), introduced: BTreeSet::new() })
}
