//! Conflicts, violations, calls and merges as objects that a program can read. A value that is none, because a slot was removed,
//! is nil there, and marked.

use super::arrival::Left;
use super::book::Book;
use super::delivery::{self, Delivery};
use super::policies::policy_name;
use crate::error::ImageError;
use merge::{Conflict, Policy, Position, Sibling, Status, Violation};
use object::change::{ActorId, Body, Creation, Datum, Field, ObjectId, Time};

/// The objects that tell of one merge.
pub struct Entries {
    pub merge: ObjectId,
    pub conflicts: Vec<ObjectId>,
    pub violations: Vec<ObjectId>,
    pub outbox: Vec<ObjectId>,
}

/// Which part of an object a place is, and what it is called there.
pub fn part(position: &Position) -> (&'static str, Datum) {
    match position {
        Position::Field(Field::Slot(name)) => ("slot", Datum::Text(name.clone())),
        Position::Field(Field::Entry(key)) => ("key", key.clone()),
        Position::Field(Field::Data) => ("content", Datum::Nil),
        Position::Field(Field::Flags) => ("flags", Datum::Nil),
        Position::Item(index) => ("item", Datum::number(*index as f64)),
    }
}

/// A place in words.
pub fn place_text(position: &Position) -> String {
    match position {
        Position::Field(Field::Slot(name)) => format!("slot \"{name}\""),
        Position::Field(Field::Entry(Datum::Text(key))) => format!("key \"{key}\""),
        Position::Field(Field::Entry(key)) => format!("key {key:?}"),
        Position::Field(Field::Data | Field::Flags) => "content".into(),
        Position::Item(index) => format!("item {index}"),
    }
}

impl Book<'_> {
    pub(super) fn entries(&mut self, time: Time) -> Result<Entries, ImageError> {
        let plan = self.plan;
        let (mut conflicts, mut settled) = (Vec::new(), Vec::new());
        for conflict in &plan.conflicts {
            let record = self.conflict(conflict)?;
            let records = if conflict.status == Status::Open { &mut conflicts } else { &mut settled };
            records.push(record);
        }
        let violations: Vec<ObjectId> = plan.violations.iter().map(|violation| self.violation(violation)).collect();
        let outbox = plan
            .outbox
            .iter()
            .map(|(key, name, arguments)| {
                delivery::add(&mut self.pages, &Delivery::new(*key, name, arguments, &plan.arrival.name))
            })
            .collect();
        let merge = self.merge(time, &conflicts, &settled, &violations);
        Ok(Entries { merge, conflicts, violations, outbox })
    }

    fn conflict(&mut self, conflict: &Conflict) -> Result<ObjectId, ImageError> {
        let object = conflict.place.object;
        let mut siblings = Vec::new();
        for sibling in &conflict.siblings {
            siblings.push(Datum::Object(self.sibling(object, sibling)?));
        }
        let siblings = self.pages.list(siblings);
        let (part, key) = part(&conflict.place.position);
        let status = if conflict.status == Status::Open { "open" } else { "settled" };
        let (base, shown) = (self.value(object, &conflict.base)?, self.value(object, &conflict.shown)?);
        let slots = [
            ("object", Datum::Object(object)),
            ("part", Datum::text(part)),
            ("key", key),
            ("base", base),
            ("siblings", Datum::Object(siblings)),
            ("policy", Datum::text(policy_name(self.policy(conflict)))),
            ("shown", shown),
            ("isShownAbsent", Datum::Boolean(conflict.shown.is_absent())),
            ("status", Datum::text(status)),
            ("dream", Datum::text(&self.plan.arrival.name)),
        ];
        let proto = self.pages.proto("Conflict");
        Ok(self.pages.make(proto, slots))
    }

    /// The one under which the dream wrote there.
    fn policy(&self, conflict: &Conflict) -> Policy {
        let arrival = &self.plan.arrival;
        let own = conflict.siblings.iter().find(|sibling| sibling.change.actor == arrival.actor);
        own.and_then(|sibling| sibling.policy).unwrap_or(arrival.policy)
    }

    fn sibling(&mut self, object: ObjectId, sibling: &Sibling) -> Result<ObjectId, ImageError> {
        let slots = [
            ("value", self.value(object, &sibling.value)?),
            ("isAbsent", Datum::Boolean(sibling.value.is_absent())),
            ("change", Datum::text(&sibling.change.to_string())),
            ("time", date(sibling.time)),
            ("who", Datum::text(&self.who(sibling.change.actor))),
            ("policy", sibling.policy.map_or(Datum::Nil, |policy| Datum::text(policy_name(policy)))),
        ];
        let proto = self.pages.proto("Sibling");
        Ok(self.pages.make(proto, slots))
    }

    fn who(&self, actor: ActorId) -> String {
        if actor == self.pages.store.actor() {
            return "live".into();
        }
        let named = self.plan.names.iter().find(|(each, _)| *each == actor);
        named.map_or_else(|| format!("d{}", actor.0), |(_, name)| name.clone())
    }

    /// What only the object's language understands is held by an object of the same kind.
    fn value(&mut self, object: ObjectId, value: &Datum) -> Result<Datum, ImageError> {
        Ok(match value {
            Datum::Absent => Datum::Nil,
            Datum::Bytes(_) | Datum::Record(_) => {
                let like = self.pages.store.read(object)?.unwrap_or_default();
                let Creation { kind, flags, protos, .. } = like;
                let body = Body::Data(value.clone());
                Datum::Object(self.pages.create(Creation { kind, flags, protos, body, ..Creation::default() }))
            }
            value => value.clone(),
        })
    }

    fn violation(&mut self, Violation::ProtoCycle { object, proto, change }: &Violation) -> ObjectId {
        let slots = [
            ("object", Datum::Object(*object)),
            ("part", Datum::text("protos")),
            ("key", Datum::text("protos")),
            ("rule", Datum::text("no prototype leads back to itself")),
            ("suppressed", Datum::Object(*proto)),
            ("change", Datum::text(&change.to_string())),
            ("who", Datum::text(&self.who(change.actor))),
            ("policy", Datum::text(policy_name(self.plan.arrival.policy))),
            ("status", Datum::text("open")),
            ("dream", Datum::text(&self.plan.arrival.name)),
        ];
        let proto = self.pages.proto("Violation");
        self.pages.make(proto, slots)
    }

    fn merge(&mut self, time: Time, conflicts: &[ObjectId], settled: &[ObjectId], violations: &[ObjectId]) -> ObjectId {
        let plan = self.plan;
        let arrival = &plan.arrival;
        let mut listed = |records: &[ObjectId]| {
            let list = self.pages.list(records.iter().map(|record| Datum::Object(*record)));
            Datum::Object(list)
        };
        let (conflicts, settled, violations) = (listed(conflicts), listed(settled), listed(violations));
        let told = |Left { object, place }: &Left| Datum::text(&format!("{object} {place}"));
        let left_out = self.pages.list(plan.left_out.iter().map(told));
        let verdict = self.pages.describe(&plan.verdict);
        let slots = [
            ("dream", Datum::text(&arrival.name)),
            ("mandate", Datum::text(&arrival.mandate)),
            ("agent", Datum::text(&arrival.agent)),
            ("forkCommit", Datum::number(arrival.fork_commit as f64)),
            ("policy", Datum::text(policy_name(arrival.policy))),
            ("time", date(time)),
            ("changes", Datum::number(arrival.changes.len() as f64)),
            ("effects", Datum::number(plan.effects.len() as f64)),
            ("reconciled", Datum::number(plan.reconciled.len() as f64)),
            ("conflicts", conflicts),
            ("settled", settled),
            ("violations", violations),
            ("leftOut", Datum::Object(left_out)),
            ("isPartial", Datum::Boolean(arrival.only.is_some())),
            ("verdict", verdict),
            ("status", Datum::text("merged")),
        ];
        let proto = self.pages.proto("Merge");
        self.pages.make(proto, slots)
    }
}

/// Milliseconds since 1970.
fn date(time: Time) -> Datum {
    Datum::number(time.ms() as f64)
}
