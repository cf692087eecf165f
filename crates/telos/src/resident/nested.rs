//! Dreams inside of dreams: what one asks of the live image, which alone begins dreams, and how it is answered. A dream knows of
//! those only that it began, and gives them no more than it has itself.

use super::{Resident, check_delivered, locks};
use dream::{DreamId, Dreams};
use keeper::Begun;
use keeper::protocol::{Answer, DreamOrder, FailureKind, Nest, Outcome, Shown};
use object::change::ActorId;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// So many names may be given to one dream that it has not used.
const UNUSED_MAX: usize = 256;
/// So many that it began may be going on.
const CHILDREN_MAX: usize = 16;

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

    fn give(&mut self, actor: ActorId, to: &str) -> Result<(), String> {
        if self.given.values().filter(|each| *each == to).count() >= UNUSED_MAX {
            return Err(format!("{UNUSED_MAX} dreams were asked for and have not begun"));
        }
        self.given.insert(actor, to.into());
        Ok(())
    }

    /// One may be begun inside of this, if its name was given to it.
    fn order(&mut self, within: &str, id: DreamId, mandate: &str, source: &str) -> Result<DreamOrder, String> {
        if self.given.get(&id.0).is_none_or(|to| to != within) {
            return Err(format!("{id} is no name that was given to {within}"));
        }
        let going_on = self.orders.values().filter(|(order, _)| order.within.as_deref() == Some(within)).count();
        if going_on >= CHILDREN_MAX {
            return Err(format!("{CHILDREN_MAX} dreams inside of {within} are going on, and no more may be"));
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
            time_ms: Some(left.max(1)),
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
                let actor = self.image.store().mint_actor().map_err(|error| error.to_string())?;
                self.dreams.parents.give(actor, within)?;
                Ok(DreamId(actor).to_string())
            }
            Nest::Begin { dream, mandate, source } => {
                let id: DreamId = dream.parse().map_err(|error: dream::DreamError| error.to_string())?;
                let order = self.dreams.parents.order(within, id, mandate, source)?;
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
