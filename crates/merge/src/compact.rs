//! Lets go of what no open fork can need: what all of them have seen is at rest. Nobody notices but the memory.

use crate::ledger::Ledger;
use crate::stamp::View;
use object::change::Line;

impl Ledger {
    /// Drops stamps, siblings and deleted elements older than the oldest open fork.
    pub fn compact(&mut self) {
        let Some(oldest) = self.open_forks().map(|fork| fork.view.order).min() else {
            self.registers.clear();
            self.lines.clear();
            self.members.clear();
            self.created.clear();
            self.rulings = Default::default();
            self.forks.clear();
            return;
        };
        let live = self.live;
        let views: Vec<View> = self.open_forks().map(|fork| fork.view.clone()).collect();
        self.registers.retain(|register| {
            register.prune_replaced(live, oldest, &views);
            register.is_newer_than(oldest)
        });
        self.members.retain(|_, members| {
            members.forget(oldest);
            members.is_newer_than(oldest)
        });
        self.compact_lines(oldest, &views);
        self.created.retain(|_, stamps| stamps.iter().any(|stamp| stamp.order > oldest));
        self.drop_forks();
    }

    /// Which edges of protos are left out follows from all of them: they stay, or go to rest, together.
    fn compact_lines(&mut self, oldest: u64, views: &[View]) {
        let live = self.live;
        let mut protos = self.lines.iter().filter(|((_, line), _)| *line == Line::Protos);
        let are_protos_needed =
            protos.any(|(_, sequence)| sequence.is_newer_than(oldest) || !sequence.ruling.is_empty());
        self.lines.retain(|(_, line), sequence| match line {
            Line::Protos => are_protos_needed,
            Line::Items | Line::Units => {
                sequence.forget_settings(live, oldest, views);
                sequence.forget(oldest);
                sequence.is_newer_than(oldest)
            }
        });
    }

    /// A merged fork is remembered as long as some of its changes are.
    fn drop_forks(&mut self) {
        let registers = self.registers.iter().flat_map(|entry| &entry.register.versions).map(|version| version.stamp);
        let lines = self.lines.values().flat_map(|line| line.stamps());
        let needed: std::collections::BTreeSet<_> = registers.chain(lines).map(|stamp| stamp.id.actor).collect();
        self.forks.retain(|actor, fork| fork.is_open || needed.contains(actor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Policy;
    use object::change::{ActorId, Time};

    /// Each fork that was ever opened was remembered for as long as some other one was open.
    #[test]
    fn forks_that_said_nothing_are_forgotten() {
        let mut ledger = Ledger::new(ActorId(1), 7);
        for actor in 2..100 {
            ledger.fork(ActorId(actor), Time(actor), Policy::ForkWins).expect("the actor is new");
            ledger.close(ActorId(actor - 1));
            ledger.compact();
            assert_eq!(ledger.forks.len(), 1);
        }
    }
}
