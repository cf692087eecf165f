//! Dreams inside of dreams: what one asks of the live image, which alone begins dreams, and how it is answered. A dream knows of
//! those only that it began, and gives each no more than it has itself; how many there may be is counted for the outermost, with all
//! that is inside of it.

use super::{Resident, check_delivered, locks};
use dream::{DreamId, Dreams};
use keeper::Begun;
use keeper::protocol::{Answer, Budget, DreamOrder, FailureKind, Nest, Outcome, Shown};
use object::change::ActorId;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// So many names may be given to one dream that it has not used.
const UNUSED_MAX: usize = 256;
/// So many may be going on inside of one that live began, however deep.
const FAMILY_MAX: usize = 16;

/// What is known of dreams that are going on, for those inside of them.
#[derive(Default)]
pub struct Parents {
    orders: BTreeMap<String, (DreamOrder, Instant)>,
    /// Names that were given and not used, and to whom.
    given: BTreeMap<ActorId, String>,
}

impl Parents {
    pub fn begun(&mut self, dream: &str, order: &DreamOrder) {
        self.orders.insert(dream.into(), (order.clone(), Instant::now()));
    }

    pub fn over(&mut self, dream: &str) {
        self.orders.remove(dream);
        self.given.retain(|_, to| to != dream);
    }

    fn check_given(&self, to: &str) -> Result<(), String> {
        if self.given.values().filter(|each| *each == to).count() >= UNUSED_MAX {
            return Err(format!("{UNUSED_MAX} dreams were asked for and have not begun"));
        }
        Ok(())
    }

    /// The dream around this one that no other is around.
    fn outermost<'a>(&'a self, dream: &'a str) -> &'a str {
        let around = |dream: &&'a str| self.orders.get(*dream)?.0.within.as_deref();
        std::iter::successors(Some(dream), around).last().unwrap_or(dream)
    }

    /// One may be begun inside of this, if its name was given to it.
    fn order(
        &mut self,
        within: &str,
        id: DreamId,
        (mandate, source): (&str, &str),
        budget: Budget,
    ) -> Result<DreamOrder, String> {
        if self.given.get(&id.0).is_none_or(|to| to != within) {
            return Err(format!("{id} is no name that was given to {within}"));
        }
        let outermost = self.outermost(within);
        let family = self.orders.keys().filter(|dream| self.outermost(dream) == outermost);
        // It is one of them itself.
        if family.count() > FAMILY_MAX {
            return Err(format!("{FAMILY_MAX} dreams inside of {outermost} are going on, and no more may be"));
        }
        let (parent, since) = self.orders.get(within).ok_or_else(|| format!("dream {within} is over"))?;
        self.given.remove(&id.0);
        let time = parent.time_ms.map_or(super::dreams::TIME, Duration::from_millis);
        let left = time.saturating_sub(since.elapsed()).as_millis() as u64;
        Ok(DreamOrder {
            mandate: mandate.into(),
            agent: within.into(),
            within: Some(within.into()),
            source: Some(source.into()),
            time_ms: Some(budget.time_ms.unwrap_or(left).min(left).max(1)),
            source_fuel: budget.fuel,
            source_memory_bytes: budget.memory_bytes,
            // Neither its own grants nor answers to one are those of the other.
            grants: parent.grants.clone(),
            policies: parent.policies.clone(),
            memory_bytes: parent.memory_bytes,
            cpu_ms: parent.cpu_ms,
            journal_bytes: parent.journal_bytes,
            ..DreamOrder::default()
        })
    }
}

impl Resident {
    /// Answers a dream.
    pub(super) fn nested(&mut self, within: &str, nest: &Nest) -> Result<String, String> {
        match nest {
            Nest::Name => {
                self.dreams.parents.check_given(within)?;
                let actor = self.image.store().mint_actor().map_err(|error| error.to_string())?;
                self.dreams.parents.given.insert(actor, within.into());
                Ok(DreamId(actor).to_string())
            }
            Nest::Begin { dream, mandate, source, budget } => {
                let id: DreamId = dream.parse().map_err(|error: dream::DreamError| error.to_string())?;
                let order = self.dreams.parents.order(within, id, (mandate, source), *budget)?;
                self.fork(&order, Some(id.0)).map(|_| String::new()).map_err(|failure| failure.message)
            }
            Nest::Page(name) => Err(format!("{name} is told of beside the machine")),
            Nest::Keep(name) => self.change_child(within, name, |dreams, id| dreams.set_kept(id, true)),
            // A dream shows no token.
            Nest::Discard(name) if self.locks.holds_dream(name) => Err(locks::dream_is_locked(name)),
            Nest::Discard(name) => {
                check_delivered(self.image.store(), name)?;
                self.change_child(within, name, Dreams::remove)
            }
        }
    }

    /// What is known of one, told beside the machine.
    pub(super) fn nested_page(&self, within: &str, name: &str) -> Begun {
        let answer = match self.child_of(within, name) {
            Ok(Some(_)) => return self.show_dream(name),
            Ok(None) => Answer::new(Outcome::Value(Shown { text: String::new(), kind: "Sequence".into() })),
            Err(message) => Answer::failed(FailureKind::Refused, message),
        };
        Begun::Done { answer, wait: None }
    }

    /// One that was begun inside of this; none if it has not begun yet.
    fn child_of(&self, within: &str, name: &str) -> Result<Option<(Dreams, DreamId)>, String> {
        let id: DreamId = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        let dreams = self.kept()?;
        let header = match dreams.header(id) {
            Err(dream::DreamError::Missing(_)) => return Ok(None),
            header => header.map_err(|error| error.to_string())?,
        };
        let is_child = header.parent.is_some_and(|(parent, _)| parent.to_string() == within);
        if is_child { Ok(Some((dreams, id))) } else { Err(format!("{name} is not a dream inside of {within}")) }
    }

    fn change_child(
        &self,
        within: &str,
        name: &str,
        change: impl FnOnce(&Dreams, DreamId) -> Result<(), dream::DreamError>,
    ) -> Result<String, String> {
        let (dreams, id) = self.child_of(within, name)?.ok_or_else(|| format!("dream {name} has not begun"))?;
        change(&dreams, id).map(|()| String::new()).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each had as many children as any other: one dream filled all places that there were, each with as much memory as itself.
    #[test]
    fn all_that_is_inside_of_one_counts_for_it_however_deep() {
        let mut parents = Parents::default();
        let order = |within: Option<&str>| DreamOrder { within: within.map(Into::into), ..DreamOrder::default() };
        parents.begun("outer", &order(None));
        parents.begun("other", &order(None));
        for number in 0..FAMILY_MAX {
            let around = if number == 0 { "outer".into() } else { format!("inner{}", number - 1) };
            parents.begun(&format!("inner{number}"), &order(Some(&around)));
        }
        let mut ask = |within: &str| {
            parents.given.insert(ActorId(9), within.into());
            parents.order(within, DreamId(ActorId(9)), ("", ""), Budget::default())
        };
        assert!(ask("outer").is_err() && ask("inner3").is_err());
        assert!(ask("other").is_ok());
    }
}
