//! A copy of this process goes on with the store where it is, and can reach neither the log nor the image's file: what it commits is
//! pending for ever, under an actor of its own, and is handed out as its journal.
//!
//! The copy is made while its maker holds both locks of the store, so that they are free in the copy. The pages that it reads
//! are kept by a pin, which its maker drops when the copy has ended.

use crate::error::StoreError;
use crate::record::Commit;
use crate::store::Store;
use object::change::{ActorId, ObjectId, Time};
use std::sync::Arc;
use system::clone::{self, Forked};

/// Where a copy left the live store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForkPoint {
    /// The last commit that it has.
    pub commit: u64,
    pub time: Time,
    /// Who makes its changes.
    pub actor: ActorId,
}

/// Keeps what a copy reads.
pub struct Pin {
    _pin: Arc<system::lmdb::Pin>,
    _counted: Arc<()>,
}

pub enum Branched {
    Live { child: i32, pin: Pin },
    Copy,
}

/// What a copy has in place of a log.
#[derive(Default)]
pub struct Branch {
    /// Payloads of commits that nobody has taken yet.
    pub journal: Vec<Vec<u8>>,
}

impl Store {
    /// To be called before the first fork, and not in a hurry: waits for a step of the checkpoint.
    pub fn prepare_forks(&self) -> Result<(), StoreError> {
        let _turn = self.shared.turn();
        self.shared.reader.lock().prepare_forks(self.shared.options.map_bytes)
    }

    /// Copies this process. `actor` is one that `mint_actor` gave.
    pub fn fork(&self, actor: ActorId) -> Result<(Branched, ForkPoint), StoreError> {
        let snapshot = self.shared.reader.lock();
        let Some(pin) = snapshot.pin() else {
            drop(snapshot);
            self.prepare_forks()?;
            return self.fork(actor);
        };
        let mut inside = self.shared.journal.lock();
        inside.check_open()?;
        // Whoever keeps something there holds neither of the others.
        let _stages = self.shared.reader.stages.lock();
        let point = ForkPoint { commit: inside.counters.number, time: inside.counters.time, actor };
        match clone::fork_in_two().map_err(|errno| StoreError::Fork(errno.into()))? {
            Forked::Parent { child } => {
                let pin = Pin { _pin: pin, _counted: self.shared.forks.clone() };
                Ok((Branched::Live { child, pin }, point))
            }
            Forked::Child => {
                // The live process drops its own; this copy of it must not even look as if it did.
                std::mem::forget(pin);
                inside.branch_off(actor);
                Ok((Branched::Copy, point))
            }
        }
    }

    /// In a copy: makes it one that was made at an earlier commit, and then committed these. Returns the objects that may be others
    /// now. Objects that live has made since stay, and nothing refers to them.
    pub fn become_earlier(&self, commit: u64, later: Vec<Commit>) -> Result<Vec<ObjectId>, StoreError> {
        let mut touched = Vec::new();
        let last = self.last_commit();
        for number in (commit + 1..=last).rev() {
            let mut commit = self.commit_at(number)?.ok_or(StoreError::Forgotten(number))?;
            commit.changes = std::mem::take(&mut commit.inverse);
            touched.extend(commit.changes.iter().map(|change| change.object));
            self.shared.journal.lock().add_to_branch(commit)?;
        }
        for commit in later {
            touched.extend(commit.changes.iter().map(|change| change.object));
            let mut inside = self.shared.journal.lock();
            // Those of dreams around this one are numbered by themselves.
            if let Some(last) = commit.changes.last().filter(|last| last.id.actor == inside.counters.actor) {
                inside.counters.next_change = last.id.seq + 1;
            }
            inside.add_to_branch(commit)?;
        }
        Ok(touched)
    }

    /// What was committed in a copy since this was last asked, as payloads of the log's form.
    pub fn take_journal(&self) -> Vec<Vec<u8>> {
        self.shared.journal.lock().take_journal()
    }
}
