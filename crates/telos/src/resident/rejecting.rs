//! A dream that was rejected: it is kept with its journal, and the verdict is noted in the image, for whoever tries something with
//! the same objects next.

use super::judgement::Judgement;
use super::{Resident, cause_of, evidence};
use crate::report;
use dream::DreamId;
use image::{Arrival, Description, MergePlan};
use keeper::protocol::{Request, Verdict};
use language::Value;
use object::change::{Datum, ObjectId};
use std::collections::{BTreeMap, BTreeSet};
use store::Ticket;

/// So many of the objects that it would have changed are told.
const OBJECTS_MAX: usize = 100;

pub struct Rejected<'r> {
    pub plan: &'r MergePlan,
    pub verdict: &'r Verdict,
    pub judgement: &'r Judgement,
}

/// Which dream it was, and what it was for.
struct Tried<'t> {
    name: &'t str,
    mandate: &'t str,
    agent: &'t str,
}

impl Resident {
    pub(super) fn archive(&mut self, request: &Request, rejected: &Rejected<'_>) -> Option<Ticket> {
        let Rejected { plan, verdict, judgement } = rejected;
        let Arrival { name, mandate, agent, .. } = &plan.arrival;
        let changed = plan.effects.iter().map(|effect| effect.object).collect();
        self.note(request, &Tried { name, mandate, agent }, changed, (verdict, judgement))
    }

    /// A merge that the image asked for came to nothing, and nobody waits for the answer: it is told, and noted like a rejection.
    pub(super) fn note_failure(&mut self, name: &str, request: &Request, message: &str) -> Option<Ticket> {
        report::say(&format!("warning: dream {name} was not merged: {message}"));
        let id: Option<DreamId> = name.parse().ok();
        let header = id.and_then(|id| self.kept().ok()?.header(id).ok());
        let (mandate, agent) = header.map(|header| (header.mandate, header.agent)).unwrap_or_default();
        let judgement = Judgement::unsure(message.into());
        let tried = Tried { name, mandate: &mandate, agent: &agent };
        self.note(request, &tried, BTreeSet::new(), (&judgement.verdict(&[]), &judgement))
    }

    fn note(
        &mut self,
        request: &Request,
        tried: &Tried<'_>,
        changed: BTreeSet<ObjectId>,
        (verdict, judgement): (&Verdict, &Judgement),
    ) -> Option<Ticket> {
        let name = tried.name;
        let kept = name
            .parse()
            .map_err(|error: dream::DreamError| error.to_string())
            .and_then(|id: DreamId| self.kept()?.set_kept(id, true).map_err(|error| error.to_string()));
        kept.err().iter().for_each(|problem| report::say(&format!("warning: {name} is not kept: {problem}")));
        let store = self.image.store().clone();
        let is_there = |object: &ObjectId| store.read(*object).is_ok_and(|record| record.is_some());
        let objects: Vec<ObjectId> = changed.into_iter().filter(is_there).take(OBJECTS_MAX).collect();
        let values: BTreeMap<ObjectId, Value> =
            objects.iter().map(|object| (*object, self.image.value_of(*object))).collect();
        let description = described(tried, (verdict, judgement), &objects, store.time().ms());
        let sources = Description::texts(&judgement.methods);
        let cause = cause_of(request, &format!("reject {name}"));
        let noted = self.transact(&cause, |session| {
            let telos = session.vm.get_slot(session.vm.lobby(), "Telos");
            let Some(telos) = telos else { return Ok(()) };
            let value_of = |object: ObjectId| values.get(&object).copied().unwrap_or(Value::NIL);
            let rejection = description.make(&mut session.vm, &value_of);
            let sources = sources.make(&mut session.vm, &value_of);
            session.send(telos, "noteRejection", &[rejection, sources]).map(drop)
        });
        match noted {
            Ok(((), ticket)) => ticket,
            Err(failure) => {
                report::say(&format!("warning: that {name} was rejected is not noted: {}", failure.message));
                None
            }
        }
    }
}

fn described(
    tried: &Tried<'_>,
    (verdict, judgement): (&Verdict, &Judgement),
    objects: &[ObjectId],
    time_ms: u64,
) -> Description {
    let reasons: Vec<String> = verdict.reasons().collect();
    let number = |object: &ObjectId| object.to_string();
    let name = |object: &ObjectId| judgement.names.get(&number(object)).cloned();
    let names: Vec<String> =
        objects.iter().map(|object| name(object).unwrap_or_else(|| format!("object {object}"))).collect();
    let objects = objects.iter().map(|object| Description::Value(Datum::Object(*object))).collect();
    Description::Object {
        proto: ("Dream", "Rejection"),
        slots: vec![
            ("dream", Description::text(tried.name)),
            ("mandate", Description::text(tried.mandate)),
            ("agent", Description::text(tried.agent)),
            ("time", Description::number(time_ms)),
            ("reasons", Description::texts(&reasons)),
            ("objects", Description::List(objects)),
            ("names", Description::texts(&names)),
            ("verdict", evidence::description(verdict)),
        ],
    }
}
