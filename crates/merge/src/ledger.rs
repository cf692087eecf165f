//! The changes since the oldest open fork, place by place, and the forks themselves.

use crate::admit::Refusal;
use crate::line::Sequence;
use crate::members::Members;
use crate::protos::Rulings;
use crate::registers::Registers;
use crate::stamp::{Fork, Policy, Stamp, View};
use object::change::{ActorId, Datum, Field, Line, ObjectId, Time};
use siphasher::sip::SipHasher13;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::sync::Arc;

/// Looked up, never walked where the order could be noticed.
pub(crate) type Table<K, V> = HashMap<K, V, Keyed>;

/// A hash that nobody outside can aim at: journals choose the names that are hashed.
#[derive(Clone, Copy)]
pub(crate) struct Keyed(u64);

impl BuildHasher for Keyed {
    type Hasher = SipHasher13;

    fn build_hasher(&self) -> SipHasher13 {
        SipHasher13::new_with_keys(self.0, 0)
    }
}

/// One for each image. With no fork open it is empty, and commits cost it nothing.
#[derive(Clone)]
pub struct Ledger {
    pub(crate) live: ActorId,
    /// How many commits and merges there have been while forks were open.
    pub(crate) order: u64,
    /// Those that are open, and those merged whose changes are still here.
    pub(crate) forks: BTreeMap<ActorId, Fork>,
    /// The last change of each actor that was admitted.
    pub(crate) admitted: BTreeMap<ActorId, u64>,
    pub(crate) registers: Registers,
    pub(crate) lines: Table<(ObjectId, Line), Sequence>,
    pub(crate) members: Table<(ObjectId, Datum), Members>,
    pub(crate) created: Table<ObjectId, Vec<Stamp>>,
    /// What became of protos that would close cycles, as the live image shows it.
    pub(crate) rulings: Arc<Rulings>,
}

impl Ledger {
    /// `seed` is any number that those who write journals do not know.
    pub fn new(live: ActorId, seed: u64) -> Ledger {
        Ledger {
            live,
            order: 0,
            forks: BTreeMap::new(),
            admitted: BTreeMap::new(),
            registers: Registers::new(Keyed(seed)),
            lines: HashMap::with_hasher(Keyed(seed)),
            members: HashMap::with_hasher(Keyed(seed)),
            created: HashMap::with_hasher(Keyed(seed)),
            rulings: Arc::default(),
        }
    }

    /// Opens a fork of the image as it is now.
    pub fn fork(&mut self, actor: ActorId, time: Time, policy: Policy) -> Result<(), Refusal> {
        let view = View { actor, order: self.order, parents: Vec::new(), without: Vec::new() };
        self.open(view, self.rulings.clone(), time, policy)
    }

    /// Opens a fork of another one, after that one's change of number `seq`: before anything later of it is merged,
    /// since what an author does at one go is not kept apart.
    pub fn fork_inside(
        &mut self,
        parent: ActorId,
        seq: u64,
        actor: ActorId,
        time: Time,
        policy: Policy,
    ) -> Result<(), Refusal> {
        let outer = self.forks.get(&parent).filter(|fork| fork.is_open).ok_or(Refusal::UnknownFork(parent))?;
        if self.admitted(parent) > seq {
            return Err(Refusal::ParentMovedOn(parent, seq));
        }
        let mut parents = outer.view.parents.clone();
        parents.push((parent, seq));
        let view = View { actor, order: outer.view.order, parents, without: Vec::new() };
        let rulings = outer.rulings.clone();
        self.open(view, rulings, time, policy)
    }

    /// Opens a fork for an undo, which may name any change as replaced.
    pub fn fork_for_undo(&mut self, actor: ActorId, time: Time, policy: Policy) -> Result<(), Refusal> {
        self.fork(actor, time, policy)?;
        self.forks.entry(actor).and_modify(|fork| fork.is_undo = true);
        Ok(())
    }

    /// The fork's journal was merged before and is told again: it is not refused for what it takes, which may be more among
    /// others than it was then.
    pub fn vouch_for(&mut self, actor: ActorId) {
        self.forks.entry(actor).and_modify(|fork| fork.is_vouched_for = true);
    }

    /// Gives one place a policy of its own for this fork, as the fork-point state declares it.
    pub fn except(&mut self, actor: ActorId, place: (ObjectId, Field), policy: Policy) -> Result<(), Refusal> {
        let fork = self.forks.get_mut(&actor).ok_or(Refusal::UnknownFork(actor))?;
        fork.exceptions.insert(place, policy);
        Ok(())
    }

    fn open(&mut self, view: View, rulings: Arc<Rulings>, time: Time, policy: Policy) -> Result<(), Refusal> {
        let actor = view.actor;
        if actor > ActorId::MAX
            || actor == self.live
            || self.forks.contains_key(&actor)
            || self.admitted.contains_key(&actor)
        {
            return Err(Refusal::ActorTaken(actor));
        }
        let exceptions = BTreeMap::new();
        let fork = Fork {
            actor,
            time,
            policy,
            exceptions,
            is_undo: false,
            is_vouched_for: false,
            view,
            rulings,
            is_open: true,
        };
        self.forks.insert(actor, fork);
        Ok(())
    }

    /// The fork will say no more. What only it needed leaves with the next compaction.
    pub fn close(&mut self, actor: ActorId) {
        if let Some(fork) = self.forks.get_mut(&actor) {
            fork.is_open = false;
        }
    }

    pub fn open_forks(&self) -> impl Iterator<Item = &Fork> {
        self.forks.values().filter(|fork| fork.is_open)
    }

    /// Up to where the newest open fork has seen everything.
    pub(crate) fn newest(&self) -> u64 {
        self.open_forks().map(|fork| fork.view.order).max().unwrap_or(0)
    }

    /// The number of the last change of this actor that was admitted; 0 if there was none.
    pub fn admitted(&self, actor: ActorId) -> u64 {
        self.admitted.get(&actor).copied().unwrap_or(0)
    }

    /// How many places, lines and members are not at rest.
    pub fn len(&self) -> usize {
        self.registers.len() + self.lines.len() + self.members.len()
    }

    /// How many versions and pieces all of that is: what the open forks cost in memory.
    pub fn weight(&self) -> usize {
        let versions: usize = self.registers.iter().map(|entry| entry.register.versions.len()).sum();
        versions + self.lines.values().map(Sequence::weight).sum::<usize>() + self.members.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever knows where names go in the tables can choose them so that all go to one place.
    #[test]
    fn where_a_name_goes_depends_on_the_seed() {
        let [one, same, other] = [1, 1, 2].map(|seed| Keyed(seed).hash_one("name"));
        assert_eq!(one, same);
        assert_ne!(one, other);
    }
}
