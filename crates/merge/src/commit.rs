//! The two ways in: what the live image did, and what a fork's journal says it did.

use crate::admit::{Refusal, Told, owned};
use crate::apply::{Application, ForkTerms};
use crate::ledger::Ledger;
use crate::rest::{Reconciler, Rest};
use crate::settle::Outcome;
use crate::stamp::View;
use crate::steps::Steps;
use object::change::{ActorId, Change, Time};

impl Ledger {
    /// Takes note of what the live image did: changes in the order of their numbers, which its rest has not seen yet.
    /// Costs nothing while no fork is open.
    pub fn commit(&mut self, changes: &[Change], rest: &impl Rest) -> Result<(), Refusal> {
        let Some(last) = changes.last() else { return Ok(()) };
        if self.open_forks().next().is_none() {
            // What is still here is older than this, and would be wrong after it.
            self.compact();
            self.admitted.insert(self.live, last.id.seq);
            return Ok(());
        }
        let newest = self.newest();
        let mut application = Application::new(self, rest, View::all(), None);
        application.replay(changes, Told::from)?;
        application.hold_protos(last);
        application.settle_lines(&mut Outcome::default());
        application.settle_members(&mut Outcome::default());
        let touched = std::mem::take(&mut application.touched.registers);
        for at in touched {
            let register = &mut self.registers.at(at).register;
            register.live = register.shown().clone();
            register.prune_unseen(self.live, newest);
        }
        self.admitted.insert(self.live, last.id.seq);
        Ok(())
    }

    /// Merges a fork's journal, or the rest of one. `receipt` is the time at which it came in.
    pub fn merge(
        &mut self,
        actor: ActorId,
        journal: &[Change],
        receipt: Time,
        rest: &impl Rest,
        reconciler: &impl Reconciler,
    ) -> Result<Outcome, Refusal> {
        let last = journal.last().map_or(0, |change| change.id.seq);
        if last <= self.admitted(actor) {
            return Ok(Outcome::default());
        }
        let fork = self.forks.get(&actor).filter(|fork| fork.is_open).ok_or(Refusal::UnknownFork(actor))?;
        let changes = self.new_changes(fork, journal)?;
        let forked = fork.time;
        let terms = ForkTerms { policy: fork.policy, exceptions: fork.exceptions.clone(), is_undo: fork.is_undo };
        let steps = if fork.is_undo || fork.is_vouched_for { Steps::unbounded() } else { Steps::bounded() };
        let view = fork.view.clone();
        let mut application = Application::new(self, rest, view, Some(terms));
        application.replay(changes, |change| owned(change, actor, forked, receipt))?;
        application.rule(actor, &steps)?;
        let outcome = application.settle(reconciler);
        self.admitted.insert(actor, last);
        Ok(outcome)
    }
}
