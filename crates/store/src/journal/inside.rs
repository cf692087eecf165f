//! What changes with each commit: positions, counters, the queue of frames and the pending commits. Changed under one lock, in
//! steps that leave it whole.

use super::{Counters, Start, Ticket};
use crate::error::StoreError;
use crate::fit::{Fit, Outlines, Stored, Unfit};
use crate::fork::Branch;
use crate::frame::{self, Header, Kind};
use crate::log::Log;
use crate::pending::{Committed, Pending};
use crate::record::{Commit, Durability, NewCommit};
use object::change::{ActorId, ChangeId};
use std::sync::Arc;
use std::time::Instant;

/// A buffer that grew beyond this is given back after its use.
const KEPT_BYTES: usize = 1 << 20;

pub struct Inside {
    pub pending: Pending,
    pub counters: Counters,
    pub(super) queue: Vec<u8>,
    /// Somebody in the queue asked for a flush.
    pub(super) wants_flush: bool,
    pub(super) is_writing: bool,
    /// Positions: the queue's end, its start, and up to where the log is flushed and free.
    pub(super) end: u64,
    pub(super) written: u64,
    pub durable: u64,
    pub applied: u64,
    /// Where the last note of actors ends.
    pub(super) reserved_end: u64,
    pub(super) failure: Option<String>,
    pub(super) spare: Vec<u8>,
    /// When the oldest pending commit was made.
    pub waiting_since: Option<Instant>,
    /// Asks the checkpoint's thread to end.
    pub(super) is_stopping: bool,
    /// That thread waits for work. Waking it all the same would be a call of the system with every commit.
    pub(super) is_resting: bool,
    is_read_only: bool,
    /// In a copy of the process that has the log.
    branch: Option<Branch>,
}

impl Inside {
    pub(super) fn new(start: Start) -> Inside {
        Inside {
            waiting_since: (start.pending.len() > 0).then(Instant::now),
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
            reserved_end: 0,
            failure: None,
            spare: Vec::new(),
            is_stopping: false,
            is_resting: false,
            is_read_only: start.is_read_only,
            branch: None,
        }
    }

    pub fn check_open(&self) -> Result<(), StoreError> {
        match &self.failure {
            Some(cause) => Err(StoreError::Latched(cause.clone())),
            None if self.is_read_only => Err(StoreError::ReadOnly),
            None => Ok(()),
        }
    }

    /// Whether a commit is as durable as it asked to be.
    pub fn has_reached(&self, ticket: Ticket) -> bool {
        if self.branch.is_some() {
            return true;
        }
        let reached = match ticket.durability {
            Durability::Flush => self.durable,
            Durability::Os => self.written,
        };
        reached >= ticket.end
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
    pub(super) fn fail(&mut self, error: &StoreError) {
        if self.failure.is_none() {
            self.failure = Some(error.to_string());
        }
    }

    /// The live image's changes follow each other; those of others are the merge's business. Returns the next number.
    pub(super) fn check_order(&self, commit: &NewCommit) -> Result<u64, StoreError> {
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

    /// Whether a frame with such a payload fits into the log, and the store takes any.
    pub(super) fn has_room(&self, payload_bytes: usize, capacity: u64) -> bool {
        let is_free = self.end - self.applied + frame::frame_bytes(payload_bytes) <= capacity;
        (is_free || self.branch.is_some()) && self.check_open().is_ok()
    }

    /// What the objects of a commit will be; in the right order, and each of them fit for what is done to it.
    pub(super) fn check_fit(&self, commit: &NewCommit, stored: Option<Stored<'_>>) -> Result<Outlines, Unfit> {
        self.check_order(commit).map_err(Unfit::Refused)?;
        let Counters { actor, number, .. } = self.counters;
        Fit { pending: &self.pending, live: actor, number: number + 1, stored }.check(commit)
    }

    /// In a copy of the process: from now on nothing goes to the log, and changes are another actor's.
    pub fn branch_off(&mut self, actor: ActorId) {
        self.branch = Some(Branch::default());
        self.queue = Vec::new();
        self.counters.actor = actor;
        self.counters.next_change = 1;
    }

    /// In such a copy: a commit that is not told again.
    pub fn add_to_branch(&mut self, commit: Commit) -> Result<(), StoreError> {
        if self.branch.is_none() {
            return Err(StoreError::ReadOnly);
        }
        let Commit { time, author, cause, changes, .. } = commit;
        self.counters.number += 1;
        self.counters.time = self.counters.time.max(time);
        let committed = Committed { number: self.counters.number, time, author, cause, changes, end: self.end };
        self.pending.push_unknown(Arc::new(committed));
        Ok(())
    }

    pub fn take_journal(&mut self) -> Vec<Vec<u8>> {
        self.branch.as_mut().map(|branch| std::mem::take(&mut branch.journal)).unwrap_or_default()
    }

    /// Puts a frame into the queue and returns where it ends.
    pub(super) fn enqueue(&mut self, log: &Log, kind: Kind, number: u64, payload_checksum: u64, payload: &[u8]) -> u64 {
        if let Some(branch) = &mut self.branch {
            branch.journal.push(payload.to_vec());
            return self.end;
        }
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

    pub(super) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= KEPT_BYTES {
            buffer.clear();
            self.spare = buffer;
        }
    }
}
