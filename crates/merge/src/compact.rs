//! Lets go of what no open fork can need: what all of them have seen is at rest. Nobody notices but the memory.

use crate::ledger::Ledger;
use crate::stamp::View;

impl Ledger {
    /// Drops stamps, siblings and deleted elements older than the oldest open fork.
    pub fn compact(&mut self) {
        let Some(oldest) = self.open_forks().map(|fork| fork.view.order).min() else {
            self.registers.clear();
            self.lines.clear();
            self.members.clear();
            self.created.clear();
            self.forks.clear();
            return;
        };
        let views: Vec<View> = self.open_forks().map(|fork| fork.view.clone()).collect();
        self.registers.retain(|register| {
            register.prune(|version, versions| {
                let is_replaced_in = |view: &View| {
                    let mut later = versions.iter().filter(|other| other.replaces.ids().contains(&version.stamp.id));
                    later.any(|other| view.sees(&other.stamp))
                };
                views.iter().any(|view| view.sees(&version.stamp) && !is_replaced_in(view))
            });
            register.versions.iter().any(|version| version.stamp.order > oldest)
        });
        self.members.retain(|_, members| members.is_newer_than(oldest));
        self.lines.retain(|_, line| line.is_newer_than(oldest));
        self.created.retain(|_, stamps| stamps.iter().any(|stamp| stamp.order > oldest));
        self.drop_forks();
    }

    /// A merged fork is remembered as long as some of its changes are.
    fn drop_forks(&mut self) {
        let registers = self.registers.iter().flat_map(|entry| &entry.register.versions).map(|version| version.stamp);
        let lines = self.lines.values().flat_map(|line| line.stamps());
        let needed: std::collections::BTreeSet<_> = registers.chain(lines).map(|stamp| stamp.id.actor).collect();
        self.forks.retain(|actor, fork| fork.is_open || needed.contains(actor));
    }
}
