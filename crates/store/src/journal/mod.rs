//! Group commit. A commit is put into a queue and is visible at once; whoever waits for it, and finds nobody writing,
//! becomes the leader: writes all that is queued with one write and one flush, and wakes the others. So the thread that
//! commits never waits for a disk, and a lone committer pays no hand-over to another thread.
//!
//! `leader` writes and flushes; `inside` is what changes with each commit, behind one lock.
//!
//! **The latch.** After a failed write or flush nobody knows what is on the medium, and asking again may be answered with a
//! success that covers nothing. So a failure stays: every later commit and every wait that is not yet satisfied is refused
//! with its cause, until the store is opened again.

mod inside;
mod leader;

pub use inside::Inside;

use crate::bytes::checksum;
use crate::error::StoreError;
use crate::fit::{Outlines, Unfit};
use crate::frame::{self, Kind};
use crate::log::Log;
use crate::pending::{Committed, Pending};
use crate::reader::Reader;
use crate::record::{Durability, NewCommit};
use object::change::{ActorId, Time};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub struct Journal {
    pub log: Log,
    inside: Mutex<Inside>,
    /// Something was written or flushed, or it failed.
    progress: Condvar,
    /// Room was freed in the log.
    room: Condvar,
    /// There may be work for the checkpoint.
    work: Condvar,
    bounds: Bounds,
}

/// When somebody is woken, or told to wait.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The checkpoint begins at so many pending changes or bytes, or when the oldest commit has waited so long.
    pub begin_changes: usize,
    pub begin_bytes: u64,
    pub begin_after: Duration,
    /// So long does a commit wait for room.
    pub full_wait: Duration,
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
    pub fn new(log: Log, start: Start, bounds: Bounds) -> Journal {
        let inside = Inside::new(start);
        let (progress, room, work) = (Condvar::new(), Condvar::new(), Condvar::new());
        Journal { log, inside: Mutex::new(inside), progress, room, work, bounds }
    }

    /// A panic while it is held is a bug; what it guards is changed in steps that leave it whole.
    pub fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a commit. It is visible to readers when this returns, and durable when `wait` does.
    pub fn commit(&self, commit: NewCommit, reader: &Reader) -> Result<Ticket, StoreError> {
        let payload = commit.encode()?;
        let payload_checksum = checksum(self.log.seed(), &payload);
        let (mut inside, outlines) = self.fitting(&commit, payload.len(), reader)?;
        let next_change = inside.check_order(&commit)?;
        let number = inside.counters.number + 1;
        let end = inside.enqueue(&self.log, Kind::Commit, number, payload_checksum, &payload);
        inside.wants_flush |= commit.durability == Durability::Flush;
        inside.counters.number = number;
        inside.counters.next_change = next_change;
        inside.counters.time = inside.counters.time.max(commit.time);
        let NewCommit { time, author, cause, changes, durability } = commit;
        inside.pending.push(Arc::new(Committed { number, time, author, cause, changes, end }), outlines);
        // The checkpoint's thread sleeps until the oldest is due, unless there is much.
        if inside.waiting_since.is_none() || self.has_gathered(&inside) {
            inside.waiting_since.get_or_insert_with(Instant::now);
            if inside.is_resting {
                self.work.notify_one();
            }
        }
        Ok(Ticket { number, end, durability })
    }

    /// Waits for room, and finds out whether the commit fits; then nobody else can commit before it.
    fn fitting(
        &self,
        commit: &NewCommit,
        payload_bytes: usize,
        reader: &Reader,
    ) -> Result<(MutexGuard<'_, Inside>, Outlines), StoreError> {
        loop {
            let inside = self.room_for(payload_bytes)?;
            match inside.check_fit(commit, None) {
                Ok(outlines) => return Ok((inside, outlines)),
                Err(Unfit::Refused(error)) => return Err(error),
                Err(Unfit::Unknown) => drop(inside),
            }
            // The snapshot is locked before the journal, and never while somebody waits for room.
            let snapshot = reader.lock();
            let inside = self.lock();
            if !inside.has_room(payload_bytes, self.log.capacity()) {
                continue;
            }
            let stored = |object| snapshot.outline(object);
            match inside.check_fit(commit, Some(&stored)) {
                Ok(outlines) => return Ok((inside, outlines)),
                Err(Unfit::Refused(error)) => return Err(error),
                Err(Unfit::Unknown) => unreachable!("the image was at hand"),
            }
        }
    }

    /// Gives out an actor that nobody had or will have. Notes a few at a time in the log; whoever gets one of them waits until
    /// the note is flushed.
    pub fn mint_actor(&self) -> Result<ActorId, StoreError> {
        const TOGETHER: u64 = 64;
        let mut inside = self.room_for(8)?;
        let actor = inside.counters.next_actor;
        inside.counters.next_actor = ActorId(actor.0 + 1);
        let number = inside.counters.number;
        if actor >= inside.counters.reserved_actor {
            let reserved = actor.0 + TOGETHER;
            inside.counters.reserved_actor = ActorId(reserved);
            let payload = reserved.to_le_bytes();
            let payload_checksum = checksum(self.log.seed(), &payload);
            inside.reserved_end = inside.enqueue(&self.log, Kind::Actors, number, payload_checksum, &payload);
            inside.wants_flush = true;
        }
        let end = inside.reserved_end;
        drop(inside);
        self.wait(Ticket { number, end, durability: Durability::Flush })?;
        Ok(actor)
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
        let until = Instant::now() + self.bounds.full_wait;
        let mut inside = self.lock();
        loop {
            inside.check_open()?;
            if inside.has_room(payload_bytes, capacity) {
                return Ok(inside);
            }
            let used = inside.end - inside.applied;
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

    /// For the checkpoint's thread: sleeps until a step is due. False if it is to end instead.
    pub fn await_work(&self) -> bool {
        let mut inside = self.lock();
        loop {
            if inside.is_stopping || inside.failure.is_some() {
                return false;
            }
            let due = inside.waiting_since.map(|since| self.bounds.begin_after.saturating_sub(since.elapsed()));
            if due.is_some_and(|left| left.is_zero()) || self.has_gathered(&inside) {
                return true;
            }
            inside.is_resting = true;
            inside = match due {
                Some(left) => self.work.wait_timeout(inside, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.work.wait(inside).unwrap_or_else(PoisonError::into_inner),
            };
            inside.is_resting = false;
        }
    }

    fn has_gathered(&self, inside: &Inside) -> bool {
        let is_much = inside.pending.changes() >= self.bounds.begin_changes
            || inside.end - inside.applied >= self.bounds.begin_bytes.min(self.log.capacity() / 2);
        is_much && inside.pending.len() > 0
    }
}
