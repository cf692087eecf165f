//! Policies by name, and those that an object declares for its own slots: a slot `mergePolicy` with a map or an object, in which
//! the name of a slot has the name of a policy. They count as the fork point had them, or the order of merges would count.

use crate::past::Past;
use merge::{Policy, Rest};
use object::change::{Change, Datum, Field, Form, ObjectId, Operation};
use std::collections::BTreeMap;

const NAMES: [(Policy, &str); 4] = [
    (Policy::LiveWins, "live-wins"),
    (Policy::LastWriterWins, "last-writer-wins"),
    (Policy::ForkWins, "fork-wins"),
    (Policy::KeepBoth, "keep-both"),
];

const DECLARED: &str = "mergePolicy";

pub fn policy_name(policy: Policy) -> &'static str {
    NAMES.iter().find(|(each, _)| *each == policy).map_or("", |(_, name)| name)
}

pub fn policy_of(name: &[u8]) -> Option<Policy> {
    NAMES.iter().find(|(_, each)| each.as_bytes() == name).map(|(policy, _)| *policy)
}

/// Places that the journal writes to and that have a policy of their own at this moment of the past.
pub fn declared(past: &Past<'_>, journal: &[Change]) -> Vec<((ObjectId, Field), Policy)> {
    let mut found = BTreeMap::new();
    for change in journal.iter().filter(|change| past.holds(change.object)) {
        if let Operation::Put { field: field @ (Field::Slot(_) | Field::Entry(Datum::Text(_))), .. } = &change.operation
            && let Some(policy) = declaring(past, change.object).and_then(|declaring| said(past, declaring, field))
        {
            found.insert((change.object, field.clone()), policy);
        }
    }
    found.into_iter().collect()
}

/// The object that says it for this one.
pub fn declaring(past: &Past<'_>, object: ObjectId) -> Option<ObjectId> {
    match past.field(object, &Field::Slot(DECLARED.into())) {
        Datum::Object(declaring) => Some(declaring),
        _ => None,
    }
}

fn said(past: &Past<'_>, declaring: ObjectId, field: &Field) -> Option<Policy> {
    let (Field::Slot(name) | Field::Entry(Datum::Text(name))) = field else { return None };
    let place = match past.form(declaring) {
        Form::Map => Field::Entry(Datum::Text(name.clone())),
        _ => Field::Slot(name.clone()),
    };
    let Datum::Text(policy) = past.field(declaring, &place) else { return None };
    policy_of(policy.as_bytes())
}
