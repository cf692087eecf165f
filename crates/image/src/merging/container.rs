//! What both sides made under one key is one container: a map or a list, of the same kind and protos, where nothing was at
//! the fork point. The machine gives each its own id; to the kernel both are the container of that place, and what comes out
//! goes to the one that the image has. Two objects or methods under one name stay two: whoever wrote them meant one thing.

use super::note::Alias;
use super::story::{Event, Story, What};
use crate::past::Past;
use merge::Rest;
use object::change::{Body, Change, Creation, Datum, Draft, Field, Form, ObjectId, Operation, Run};
use rustc_hash::{FxHashMap, FxHashSet};
use store::{Store, StoreError};

/// A container of the journal, and what the image has in the same place now.
pub struct Candidate {
    pub parent: ObjectId,
    pub field: Field,
    pub own: ObjectId,
    pub live: ObjectId,
}

/// Parents come first.
pub fn candidates(store: &Store, journal: &[Change], story: &Story<'_>) -> Result<Vec<Candidate>, StoreError> {
    let (made, others) = (made(journal), put_by_others(story));
    let mut found: Vec<Candidate> = Vec::new();
    for change in journal.iter().filter(|change| !made.contains_key(&change.object)) {
        if let Operation::Put { field, value: Datum::Object(own) } = &change.operation
            && made.contains_key(own)
            && let Some(last) = others.get(&(change.object, field.clone()))
        {
            // What a policy hides is there too: else the order of merges would count.
            let now = store.read(change.object)?.map_or(Datum::Absent, |record| record.field(field));
            let is_new = matches!(&now, Datum::Object(id) if story.newborn.contains(id));
            push(&mut found, (change.object, field), *own, &if is_new { now } else { Datum::Object(*last) });
        }
    }
    let mut next = 0;
    while next < found.len() {
        let (own, live) = (found[next].own, found[next].live);
        next += 1;
        let (Some(ours), Some(theirs)) = (made.get(&own), store.read(live)?) else { continue };
        let Body::Map(entries) = &theirs.body else { continue };
        for (key, value) in entries {
            let field = Field::Entry(key.clone());
            if let Datum::Object(own) = ours.field(&field)
                && made.contains_key(&own)
            {
                push(&mut found, (live, &field), own, value);
            }
        }
    }
    Ok(found)
}

/// What others put into places since the fork that was new then, the last of each.
fn put_by_others(story: &Story<'_>) -> FxHashMap<(ObjectId, Field), ObjectId> {
    let told = story.events.iter().flat_map(|event| event.what.changes());
    let told = told.chain(story.notes().flat_map(|note| &note.journal));
    let put = told.filter_map(|change| match &change.operation {
        Operation::Put { field, value: Datum::Object(value) } if story.newborn.contains(value) => {
            Some(((change.object, field.clone()), *value))
        }
        _ => None,
    });
    put.collect()
}

fn push(found: &mut Vec<Candidate>, (parent, field): (ObjectId, &Field), own: ObjectId, now: &Datum) {
    if let Datum::Object(live) = now
        && *live != own
        && !found.iter().any(|other| other.own == own || other.live == *live)
    {
        found.push(Candidate { parent, field: field.clone(), own, live: *live });
    }
}

/// The containers that the journal makes, as it leaves them.
fn made(journal: &[Change]) -> FxHashMap<ObjectId, Draft> {
    let mut made: FxHashMap<ObjectId, Draft> = FxHashMap::default();
    for change in journal {
        match &change.operation {
            Operation::Create(creation) if is_container(creation) => {
                made.insert(change.object, Draft::from((**creation).clone()));
            }
            operation => {
                // What does not fit is the kernel's to refuse.
                let _ = made.get_mut(&change.object).map(|draft| draft.apply(operation));
            }
        }
    }
    made
}

fn is_container(creation: &Creation) -> bool {
    matches!(creation.body.form(), Form::Map | Form::Items) && creation.under.is_none()
}

/// What objects go by with the kernel.
#[derive(Default)]
pub struct Renaming {
    pub aliases: Vec<Alias>,
    names: FxHashMap<ObjectId, ObjectId>,
    places: FxHashMap<ObjectId, (ObjectId, Field)>,
    live: FxHashMap<ObjectId, ObjectId>,
}

impl Renaming {
    pub fn new(story: &Story<'_>, at_fork: &Past<'_>, journal: &[Change], candidates: &[Candidate]) -> Renaming {
        let mut renaming = Renaming::default();
        for alias in story.notes().flat_map(|note| &note.aliases).filter(|alias| story.past.holds(alias.live)) {
            renaming.add(alias.clone());
        }
        let theirs: Vec<&Change> = story.events.iter().flat_map(|event| event.what.changes()).collect();
        let (theirs, ours) = (creations(theirs.into_iter()), creations(journal.iter()));
        let mut unified: FxHashSet<ObjectId> = FxHashSet::default();
        for Candidate { parent, field, own, live } in candidates {
            let (Some(one), Some(other)) = (theirs.get(live), ours.get(own)) else { continue };
            let is_alike = is_container(one)
                && (one.kind, &one.protos, one.body.form()) == (other.kind, &other.protos, other.body.form());
            let was_empty = unified.contains(parent) || at_fork.field(*parent, field).is_absent();
            if !is_alike || !was_empty || !story.newborn.contains(live) {
                continue;
            }
            unified.insert(*live);
            let around = renaming.name(*parent);
            let shared = ObjectId::derived(around, field, one.kind, &one.protos);
            if !renaming.names.contains_key(live) {
                renaming.add(Alias { live: *live, parent: around, field: field.clone(), shared });
            }
            renaming.names.insert(*own, shared);
            renaming.places.insert(*own, (around, field.clone()));
        }
        renaming
    }

    fn add(&mut self, alias: Alias) {
        self.names.insert(alias.live, alias.shared);
        self.places.insert(alias.live, (alias.parent, alias.field.clone()));
        self.live.insert(alias.shared, alias.live);
        self.aliases.push(alias);
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    fn name(&self, object: ObjectId) -> ObjectId {
        self.names.get(&object).copied().unwrap_or(object)
    }

    /// The object that the image has.
    pub fn real(&self, object: ObjectId) -> ObjectId {
        self.live.get(&object).copied().unwrap_or(object)
    }

    /// What the kernel is told.
    pub fn told(&self, change: &Change) -> Change {
        let mut operation = renamed(&change.operation, &|object| self.name(object));
        if let (Operation::Create(creation), Some((parent, field))) = (&mut operation, self.places.get(&change.object))
        {
            creation.under = Some((*parent, field.clone()));
        }
        Change { object: self.name(change.object), operation, ..change.clone() }
    }

    pub fn retitle(&self, story: &mut Story<'_>) {
        for alias in &self.aliases {
            story.past.rename(alias.live, alias.shared);
        }
        let all = |changes: &mut Vec<Change>| changes.iter_mut().for_each(|change| *change = self.told(change));
        for Event { what, .. } in &mut story.events {
            match what {
                What::Live(changes) => all(changes),
                What::Merge { note, effects, books } => {
                    all(&mut note.journal);
                    all(effects);
                    all(books);
                }
            }
        }
    }
}

fn creations<'c>(changes: impl Iterator<Item = &'c Change>) -> FxHashMap<ObjectId, &'c Creation> {
    let made = changes.filter_map(|change| match &change.operation {
        Operation::Create(creation) => Some((change.object, &**creation)),
        _ => None,
    });
    made.collect()
}

/// The operation with every object that it refers to under another name.
pub fn renamed(operation: &Operation, name: &dyn Fn(ObjectId) -> ObjectId) -> Operation {
    let datum = |datum: &Datum| renamed_datum(datum, name);
    let field = |field: &Field| if let Field::Entry(key) = field { Field::Entry(datum(key)) } else { field.clone() };
    match operation {
        Operation::Create(creation) => {
            let mut creation = creation.clone();
            creation.protos.iter_mut().for_each(|proto| *proto = name(*proto));
            creation.slots.iter_mut().for_each(|(_, value)| *value = datum(value));
            creation.body = renamed_body(&creation.body, name);
            creation.under = creation.under.as_ref().map(|(parent, place)| (name(*parent), field(place)));
            Operation::Create(creation)
        }
        Operation::Put { field: place, value } => Operation::Put { field: field(place), value: datum(value) },
        Operation::Insert { line, index, run } => {
            Operation::Insert { line: *line, index: *index, run: renamed_run(run, name) }
        }
        Operation::Set { index, value } => Operation::Set { index: *index, value: datum(value) },
        Operation::Count { key, delta } => Operation::Count { key: datum(key), delta: *delta },
        Operation::Add { member, count } => Operation::Add { member: datum(member), count: *count },
        Operation::Remove { member, count } => Operation::Remove { member: datum(member), count: *count },
        Operation::Delete { .. } | Operation::Move { .. } | Operation::Call { .. } => operation.clone(),
    }
}

pub fn renamed_datum(datum: &Datum, name: &dyn Fn(ObjectId) -> ObjectId) -> Datum {
    match datum {
        Datum::Object(object) => Datum::Object(name(*object)),
        Datum::Record(fields) => Datum::record(fields.iter().map(|field| match field {
            Datum::Object(object) => Datum::Object(name(*object)),
            field => field.clone(),
        })),
        datum => datum.clone(),
    }
}

fn renamed_run(run: &Run, name: &dyn Fn(ObjectId) -> ObjectId) -> Run {
    match run {
        Run::Items(items) => Run::items(items.iter().map(|item| renamed_datum(item, name))),
        units => units.clone(),
    }
}

fn renamed_body(body: &Body, name: &dyn Fn(ObjectId) -> ObjectId) -> Body {
    let datum = |datum: &Datum| renamed_datum(datum, name);
    match body {
        Body::Nothing => Body::Nothing,
        Body::Data(data) => Body::Data(datum(data)),
        Body::Elements(run) => Body::Elements(renamed_run(run, name)),
        Body::Map(entries) => Body::Map(entries.iter().map(|(key, value)| (datum(key), datum(value))).collect()),
        Body::Counters(all) => Body::Counters(all.iter().map(|(key, count)| (datum(key), *count)).collect()),
        Body::Members(all) => Body::Members(all.iter().map(|(member, count)| (datum(member), *count)).collect()),
    }
}
