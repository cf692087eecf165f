//! One member of a set or bag, observed-remove: taking out takes what its author saw, and nothing put in meanwhile.
//!
//! Occurrences are taken from the front of the addition that brought them, and a removal says how far: two sides that
//! each take one took the same one.

use crate::stamp::{Stamp, View};
use object::change::ChangeId;

#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    /// What is there; the first is what was at rest.
    additions: Vec<Addition>,
    pub live: u64,
}

#[derive(Clone, Debug)]
struct Addition {
    stamp: Option<Stamp>,
    count: u64,
    removals: Vec<(Stamp, u64)>,
}

impl Addition {
    fn removed(&self, sees: impl Fn(&Stamp) -> bool) -> u64 {
        self.removals.iter().filter(|(stamp, _)| sees(stamp)).map(|(_, upto)| *upto).max().unwrap_or(0)
    }

    fn is_seen(&self, view: &View) -> bool {
        self.stamp.as_ref().is_none_or(|stamp| view.sees(stamp))
    }

    fn id(&self) -> Option<ChangeId> {
        self.stamp.map(|stamp| stamp.id)
    }
}

impl Members {
    pub fn new(rest: u64) -> Members {
        Members { additions: vec![Addition { stamp: None, count: rest, removals: Vec::new() }], live: rest }
    }

    pub fn add(&mut self, stamp: Stamp, count: u64) {
        let at = self.additions.partition_point(|addition| addition.id() < Some(stamp.id));
        self.additions.insert(at, Addition { stamp: Some(stamp), count, removals: Vec::new() });
    }

    /// Takes up to `count` occurrences that the view shows, of all additions or of those named.
    pub fn remove(&mut self, stamp: Stamp, count: u64, view: &View, named: Option<&[ChangeId]>) {
        let mut left = count;
        for addition in &mut self.additions {
            let is_meant = named.is_none_or(|named| addition.id().is_some_and(|id| named.contains(&id)));
            if !is_meant || !addition.is_seen(view) {
                continue;
            }
            let before = addition.removed(|stamp| view.sees(stamp));
            let taken = left.min(addition.count - before);
            if taken > 0 {
                addition.removals.push((stamp, before + taken));
                left -= taken;
            }
        }
    }

    /// What is older than the oldest open fork is the same for all: what was taken then is gone.
    pub fn forget(&mut self, oldest: u64) {
        let is_old = |stamp: &Stamp| stamp.order <= oldest;
        for addition in &mut self.additions {
            let gone = addition.removed(is_old);
            addition.count -= gone;
            addition.removals.iter_mut().for_each(|(_, upto)| *upto = upto.saturating_sub(gone));
            addition.removals.retain(|(_, upto)| *upto > 0);
        }
        self.additions.retain(|addition| addition.count > 0 || addition.stamp.as_ref().is_some_and(|by| !is_old(by)));
    }

    /// How often it is in there.
    pub fn count(&self) -> u64 {
        let alive = self.additions.iter().map(|addition| addition.count - addition.removed(|_| true));
        alive.fold(0, u64::saturating_add)
    }

    /// How many occurrences that others put in were taken by these changes alone.
    pub fn taken_only_by(&self, is_theirs: impl Fn(&Stamp) -> bool) -> u64 {
        let others = self.additions.iter().filter(|addition| !addition.stamp.as_ref().is_some_and(&is_theirs));
        let taken = others.map(|addition| addition.removed(|_| true) - addition.removed(|stamp| !is_theirs(stamp)));
        taken.fold(0, u64::saturating_add)
    }

    pub fn is_newer_than(&self, order: u64) -> bool {
        let stamps = self
            .additions
            .iter()
            .flat_map(|addition| addition.stamp.iter().chain(addition.removals.iter().map(|(stamp, _)| stamp)));
        stamps.into_iter().any(|stamp| stamp.order > order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::change::{ActorId, Time};

    fn stamp(order: u64) -> Stamp {
        Stamp { id: ChangeId::new(ActorId(1), order), order, time: Time(order), policy: None }
    }

    /// A bag that is filled and emptied while there is always some fork open would grow for ever.
    #[test]
    fn what_all_have_seen_put_in_and_taken_is_forgotten() {
        let mut members = Members::new(3);
        members.add(stamp(1), 2);
        members.remove(stamp(2), 4, &View::all(), None);
        members.remove(stamp(3), 1, &View::all(), None);
        members.forget(2);
        let removals: Vec<usize> = members.additions.iter().map(|addition| addition.removals.len()).collect();
        assert_eq!((removals, members.count()), (vec![1], 0));
        assert!(members.is_newer_than(2) && !members.is_newer_than(3));
        members.add(stamp(4), 2);
        members.forget(3);
        assert_eq!((members.additions.len(), members.count()), (1, 2));
        assert!(members.is_newer_than(3) && !members.is_newer_than(4));
    }
}
