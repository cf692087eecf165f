//! Group commit. A commit is put into a queue and is visible at once; whoever waits for it, and finds nobody writing,
//! becomes the leader: writes all that is queued with one write and one flush, and wakes the others. So the thread that
//! commits never waits for a disk, and a lone committer pays no hand-over to another thread.
//!
//! **The latch.** After a failed write or flush nobody knows what is on the medium, and asking again may be answered with a
//! success that covers nothing. So a failure stays: every later commit and every wait that is not yet satisfied is refused
//! with its cause, until the store is opened again.

use crate::bytes::checksum;
use crate::error::StoreError;
use crate::frame::{self, Header, Kind};
use crate::label::Label;
use crate::log::Log;
use crate::pending::{Committed, Pending};
use crate::record::{Durability, NewCommit};
use object::change::{ActorId, ChangeId, Time};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A buffer that grew beyond this is given back after its use.
const KEPT_BYTES: usize = 1 << 20;

pub struct Journal {
    pub log: Log,
    inside: Mutex<Inside>,
    /// Something was written or flushed, or it failed.
    progress: Condvar,
    /// Room was freed in the log.
    room: Condvar,
    /// There may be work for the checkpoint.
    work: Condvar,
    most_wait: Duration,
}

/// What changes with each commit.
pub struct Inside {
    pub pending: Pending,
    pub counters: Counters,
    queue: Vec<u8>,
    /// Somebody in the queue asked for a flush.
    wants_flush: bool,
    is_writing: bool,
    /// Positions: the queue's end, its start, and up to where the log is flushed and free.
    end: u64,
    written: u64,
    pub durable: u64,
    pub applied: u64,
    failure: Option<String>,
    spare: Vec<u8>,
    /// When the oldest pending commit was made.
    pub waiting_since: Option<Instant>,
    /// Asks the checkpoint's thread to end.
    pub is_stopping: bool,
    pub is_refused: bool,
}

/// What the next commit goes on from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counters {
    pub actor: ActorId,
    /// The first actor that was not given out,
    pub next_actor: ActorId,
    /// and the first that the log does not know to be given out.
    pub reserved_actor: ActorId,
    pub time: Time,
    pub number: u64,
    pub next_change: u64,
}

/// A commit that was made, to be waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    pub number: u64,
    end: u64,
    durability: Durability,
}

/// Where a recovered log ends.
pub struct Start {
    pub end: u64,
    pub applied: u64,
    pub counters: Counters,
    pub pending: Pending,
    pub is_read_only: bool,
}

impl Journal {
    pub fn new(log: Log, start: Start, most_wait: Duration) -> Journal {
        let waiting_since = (start.pending.len() > 0).then(Instant::now);
        let inside = Inside {
            pending: start.pending,
            counters: start.counters,
            queue: Vec::new(),
            wants_flush: false,
            is_writing: false,
            end: start.end,
            written: start.end,
            // What was read may still be in the kernel's hands only: the first flush, or the checkpoint's, settles it.
            durable: start.applied,
            applied: start.applied,
            failure: None,
            spare: Vec::new(),
            waiting_since,
            is_stopping: false,
            is_refused: start.is_read_only,
        };
        let (progress, room, work) = (Condvar::new(), Condvar::new(), Condvar::new());
        Journal { log, inside: Mutex::new(inside), progress, room, work, most_wait }
    }

    /// A panic while it is held is a bug; what it guards is changed in steps that leave it whole.
    pub fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a commit. It is visible to readers when this returns, and durable when `wait` does.
    pub fn commit(&self, commit: NewCommit) -> Result<Ticket, StoreError> {
        let payload = commit.encode()?;
        let payload_checksum = checksum(self.log.seed(), &payload);
        let mut inside = self.room_for(payload.len())?;
        let next_change = inside.check_order(&commit)?;
        let number = inside.counters.number + 1;
        let end = inside.enqueue(&self.log, Kind::Commit, number, payload_checksum, &payload);
        inside.wants_flush |= commit.durability == Durability::Flush;
        inside.counters.number = number;
        inside.counters.next_change = next_change;
        inside.counters.time = inside.counters.time.max(commit.time);
        let NewCommit { time, author, cause, changes, durability } = commit;
        inside.pending.push(Arc::new(Committed { number, time, author, cause, changes, end }));
        if inside.waiting_since.is_none() {
            inside.waiting_since = Some(Instant::now());
        }
        self.work.notify_one();
        Ok(Ticket { number, end, durability })
    }

    /// Gives out an actor that nobody had or will have. Notes a few at a time in the log, and waits for that.
    pub fn mint_actor(&self) -> Result<ActorId, StoreError> {
        const TOGETHER: u64 = 64;
        let mut inside = self.room_for(8)?;
        let actor = inside.counters.next_actor;
        inside.counters.next_actor = ActorId(actor.0 + 1);
        if actor < inside.counters.reserved_actor {
            return Ok(actor);
        }
        let reserved = actor.0 + TOGETHER;
        inside.counters.reserved_actor = ActorId(reserved);
        let payload = reserved.to_le_bytes();
        let payload_checksum = checksum(self.log.seed(), &payload);
        let number = inside.counters.number;
        let end = inside.enqueue(&self.log, Kind::Actors, number, payload_checksum, &payload);
        inside.wants_flush = true;
        drop(inside);
        self.wait(Ticket { number, end, durability: Durability::Flush })?;
        Ok(actor)
    }

    /// Returns when the commit is as durable as it asked to be.
    pub fn wait(&self, ticket: Ticket) -> Result<(), StoreError> {
        let mut inside = self.lock();
        loop {
            let reached = match ticket.durability {
                Durability::Flush => inside.durable,
                Durability::Os => inside.written,
            };
            if reached >= ticket.end {
                return Ok(());
            }
            inside = self.lead_or_follow(inside)?;
        }
    }

    /// Flushes all that was committed, and returns up to where.
    pub fn flush(&self) -> Result<u64, StoreError> {
        let mut inside = self.lock();
        let end = inside.end;
        while inside.durable < end {
            inside.wants_flush = true;
            inside = self.lead_or_follow(inside)?;
        }
        Ok(end)
    }

    fn lead_or_follow<'j>(&'j self, inside: MutexGuard<'j, Inside>) -> Result<MutexGuard<'j, Inside>, StoreError> {
        if let Some(cause) = &inside.failure {
            return Err(StoreError::Latched(cause.clone()));
        }
        if inside.is_writing {
            return Ok(self.progress.wait(inside).unwrap_or_else(PoisonError::into_inner));
        }
        Ok(self.lead(inside))
    }

    /// Writes what is queued, for all.
    fn lead<'j>(&'j self, mut inside: MutexGuard<'j, Inside>) -> MutexGuard<'j, Inside> {
        inside.is_writing = true;
        let spare = std::mem::take(&mut inside.spare);
        let frames = std::mem::replace(&mut inside.queue, spare);
        let wants_flush = std::mem::take(&mut inside.wants_flush);
        let (start, end, durable) = (inside.written, inside.end, inside.durable);
        drop(inside);
        let mut result = if frames.is_empty() { Ok(()) } else { self.log.write(start, &frames, durable) };
        if wants_flush {
            result = result.and_then(|()| self.log.flush());
        }
        let mut inside = self.lock();
        match result {
            Ok(()) => {
                inside.written = end;
                if wants_flush {
                    inside.durable = end;
                }
            }
            Err(error) => inside.fail(&error),
        }
        inside.give_back(frames);
        self.end_writing(&mut inside);
        inside
    }

    fn end_writing(&self, inside: &mut Inside) {
        inside.is_writing = false;
        self.progress.notify_all();
        if inside.failure.is_some() {
            self.room.notify_all();
            self.work.notify_all();
        }
    }

    /// Writes the label, in turn with the leaders: a flush that fails tells it to one caller only.
    pub fn relabel(&self, change: impl FnOnce(&mut Label)) -> Result<(), StoreError> {
        let mut inside = self.lock();
        while inside.is_writing {
            inside = self.progress.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(cause) = &inside.failure {
            return Err(StoreError::Latched(cause.clone()));
        }
        inside.is_writing = true;
        let (written, durable) = (inside.written, inside.durable);
        drop(inside);
        let result = self.log.relabel(|label| {
            // Not what this flush will cover: label and frames reach the medium in any order.
            label.durable = durable;
            change(label);
        });
        let mut inside = self.lock();
        match &result {
            Ok(()) => inside.durable = inside.durable.max(written),
            Err(error) => inside.fail(error),
        }
        self.end_writing(&mut inside);
        result
    }

    /// Latches: from now on nothing is taken any more.
    pub fn fail(&self, error: &StoreError) {
        let mut inside = self.lock();
        inside.fail(error);
        self.progress.notify_all();
        self.room.notify_all();
        self.work.notify_all();
    }

    /// Waits until a frame of this size fits, as long as the options allow.
    fn room_for(&self, payload_bytes: usize) -> Result<MutexGuard<'_, Inside>, StoreError> {
        let (wanted, capacity) = (frame::frame_bytes(payload_bytes), self.log.capacity());
        if wanted > capacity || u32::try_from(payload_bytes).is_err() {
            return Err(StoreError::TooLarge { bytes: wanted, most: capacity });
        }
        let until = Instant::now() + self.most_wait;
        let mut inside = self.lock();
        loop {
            inside.check_open()?;
            let used = inside.end - inside.applied;
            if used + wanted <= capacity {
                return Ok(inside);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(StoreError::Full { used, most: capacity });
            }
            self.work.notify_all();
            inside = self.room.wait_timeout(inside, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The image holds everything up to here: the room is free.
    pub fn free(&self, inside: &mut Inside, applied: u64) {
        inside.applied = applied;
        self.room.notify_all();
    }

    pub fn stop(&self) {
        self.lock().is_stopping = true;
        self.work.notify_all();
    }

    /// For the checkpoint's thread: sleeps until something may have to be done.
    pub fn await_work<'j>(&self, inside: MutexGuard<'j, Inside>, most: Duration) -> MutexGuard<'j, Inside> {
        self.work.wait_timeout(inside, most).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Inside {
    pub fn check_open(&self) -> Result<(), StoreError> {
        match &self.failure {
            Some(cause) => Err(StoreError::Latched(cause.clone())),
            None if self.is_refused => Err(StoreError::ReadOnly),
            None => Ok(()),
        }
    }

    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    pub const fn end(&self) -> u64 {
        self.end
    }

    pub const fn written(&self) -> u64 {
        self.written
    }

    /// The first cause is the one that counts.
    fn fail(&mut self, error: &StoreError) {
        if self.failure.is_none() {
            self.failure = Some(error.to_string());
        }
    }

    /// The live image's changes follow each other; those of others are the merge's business. Returns the next number.
    fn check_order(&self, commit: &NewCommit) -> Result<u64, StoreError> {
        let Counters { actor, next_change, .. } = self.counters;
        match commit.changes.first() {
            Some(first) if first.id.actor == actor => {
                let expected = ChangeId::new(actor, next_change);
                if first.id != expected {
                    return Err(StoreError::Order { expected, found: first.id });
                }
                Ok(next_change + commit.changes.len() as u64)
            }
            _ => Ok(next_change),
        }
    }

    /// Puts a frame into the queue and returns where it ends.
    fn enqueue(&mut self, log: &Log, kind: Kind, number: u64, payload_checksum: u64, payload: &[u8]) -> u64 {
        let header = Header {
            kind,
            position: self.end,
            number,
            durable: self.durable,
            session: log.session(),
            payload_bytes: payload.len() as u32,
            payload_checksum,
        };
        header.write(log.seed(), &mut self.queue);
        self.queue.extend(payload);
        self.end = header.end();
        let padded = self.queue.len().next_multiple_of(frame::ALIGNMENT as usize);
        self.queue.resize(padded, 0);
        self.end
    }

    fn give_back(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= KEPT_BYTES {
            buffer.clear();
            self.spare = buffer;
        }
    }
}
