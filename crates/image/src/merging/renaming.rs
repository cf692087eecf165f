//! What objects go by with the kernel: containers that are one have one name, that of their place.

use super::container::{Class, Classes};
use super::note::Alias;
use super::story::{Event, Story, What};
use object::change::{Body, Change, Datum, Field, ObjectId, Operation, Run};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub struct Renaming {
    pub aliases: Vec<Alias>,
    names: FxHashMap<ObjectId, ObjectId>,
    places: FxHashMap<ObjectId, (ObjectId, Field)>,
    live: FxHashMap<ObjectId, ObjectId>,
}

impl Renaming {
    pub fn new(story: &Story<'_>, classes: &Classes) -> Renaming {
        let mut renaming = Renaming::default();
        for (own, live) in story.owns() {
            renaming.names.insert(own, live);
        }
        let mut taken = FxHashSet::default();
        for class in classes.of_several() {
            renaming.unite(class, story, &mut taken);
        }
        renaming
    }

    /// Gives the members of a class one name, if the kernel is told of what they hold.
    fn unite(&mut self, class: &Class, story: &Story<'_>, taken: &mut FxHashSet<ObjectId>) {
        let held = class.members.iter().map(|member| self.name(*member)).find(|live| story.past.holds(*live));
        let Some(live) = held else { return };
        let protos: Vec<ObjectId> = class.protos.iter().map(|proto| self.name(*proto)).collect();
        let around = self.name(class.around);
        let shared = ObjectId::derived(around, &class.field, class.kind, &protos);
        if !taken.insert(shared) {
            return;
        }
        // What is in the image under an id of its own, beside the one that all others became, stays so.
        let is_other = |member: ObjectId, name: ObjectId| member == name && name != live && story.past.holds(name);
        for member in &class.members {
            if !is_other(*member, self.name(*member)) {
                self.names.insert(*member, shared);
                self.places.insert(*member, (around, class.field.clone()));
            }
        }
        self.live.insert(shared, live);
        self.aliases.push(Alias { live, parent: around, field: class.field.clone(), shared });
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
                What::Merge { note, effects, books, .. } => {
                    all(&mut note.journal);
                    all(effects);
                    all(books);
                }
            }
        }
    }
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
