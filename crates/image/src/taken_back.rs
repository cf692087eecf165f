//! Which commits were taken back. The commit that takes one back says so in its last change: a call of a name that no program can
//! give, so the store keeps it and does nothing with it.

use object::change::{ActorId, Datum, Operation};
use std::collections::BTreeMap;
use store::Commit;

const NAME: &str = "telos.revert";

/// That this commit is taken back.
pub fn operation(number: u64) -> Operation {
    Operation::Call { name: NAME.into(), payload: Datum::number(number as f64) }
}

/// The commits that do not count any more, each with the one that took it back.
#[derive(Default)]
pub struct TakenBack {
    by: BTreeMap<u64, u64>,
}

impl TakenBack {
    /// Hears of a commit, the newest first: one that was itself taken back takes nothing back.
    pub fn hear(&mut self, commit: &Commit, live: ActorId) {
        let last = commit.changes.last().filter(|last| last.id.actor == live);
        if let Some(Operation::Call { name, payload: Datum::Number(number) }) = last.map(|last| &last.operation)
            && name.as_bytes() == NAME.as_bytes()
            && self.by(commit.number).is_none()
        {
            self.by.insert(*number as u64, commit.number);
        }
    }

    /// The commit that took this one back.
    pub fn by(&self, number: u64) -> Option<u64> {
        self.by.get(&number).copied()
    }

    /// Those that were taken back.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.by.keys().copied()
    }

    /// Lets one count again.
    pub fn forget(&mut self, number: u64) {
        self.by.remove(&number);
    }

    /// Whether it was taken back, or took one back.
    pub fn concerns(&self, number: u64) -> bool {
        self.by.contains_key(&number) || self.by.values().any(|by| *by == number)
    }
}
