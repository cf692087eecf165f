//! Which containers are one: maps or lists of the same kind and protos that several sides made in one place, where nothing
//! was, and of which none had seen another's. The machine gives each its own id; to the kernel all are the container of that
//! place, and what comes out goes to the one that the image has. Two objects or methods under one name stay two: whoever
//! wrote them meant one thing.
//!
//! Whether a container is one with others follows from what its author had seen when it made it, and from nothing that came
//! later: else the order of merges would count. Those who had seen the same containers made in that place, and none of each
//! other's, made one.

use super::story::{Event, Story, What};
use crate::error::ImageError;
use object::change::{ActorId, Body, Change, Creation, Datum, Field, Form, ObjectId, Operation};
use rustc_hash::{FxHashMap, FxHashSet};

/// A container that somebody made, and the first place that it was put into.
#[derive(Clone, Debug)]
pub struct Made {
    pub object: ObjectId,
    /// The number of the change that put it there.
    seq: u64,
    parent: ObjectId,
    field: Field,
    kind: u32,
    protos: Vec<ObjectId>,
    form: Form,
    /// Its parent is a container of the same author.
    is_inner: bool,
}

/// The containers among these changes of one author that are in places of interest, parents first.
pub fn made(changes: &[Change], is_wanted: impl Fn(ObjectId) -> bool) -> Vec<Made> {
    let mut created: FxHashSet<ObjectId> = FxHashSet::default();
    let mut containers: FxHashMap<ObjectId, &Creation> = FxHashMap::default();
    for change in changes {
        if let Operation::Create(creation) = &change.operation {
            created.insert(change.object);
            if is_container(creation) {
                containers.insert(change.object, creation);
            }
        }
    }
    if containers.is_empty() {
        return Vec::new();
    }
    let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
    let mut put: Vec<Made> = Vec::new();
    let mut place = |change: &Change, field: Field, value: &Datum| {
        let Datum::Object(object) = value else { return };
        let is_inner = containers.contains_key(&change.object);
        if let Some(creation) = containers.get(object).filter(|_| is_inner || !created.contains(&change.object))
            && seen.insert(*object)
        {
            put.push(Made {
                object: *object,
                seq: change.id.seq,
                parent: change.object,
                field,
                kind: creation.kind,
                protos: creation.protos.clone(),
                form: creation.body.form(),
                is_inner,
            });
        }
    };
    for change in changes {
        match &change.operation {
            Operation::Create(creation) => {
                if let Body::Map(entries) = &creation.body {
                    entries.iter().for_each(|(key, value)| place(change, Field::Entry(key.clone()), value));
                }
            }
            Operation::Put { field: field @ (Field::Slot(_) | Field::Entry(_)), value } => {
                place(change, field.clone(), value);
            }
            _ => {}
        }
    }
    reachable(put, is_wanted)
}

/// Those in wanted places, or wanted themselves, and those inside of them.
fn reachable(put: Vec<Made>, is_wanted: impl Fn(ObjectId) -> bool) -> Vec<Made> {
    let (mut found, mut left): (Vec<Made>, Vec<Made>) =
        put.into_iter().partition(|made| !made.is_inner && (is_wanted(made.parent) || is_wanted(made.object)));
    let mut next = 0;
    loop {
        while next < found.len() {
            let parent = found[next].object;
            next += 1;
            let (inside, others): (Vec<Made>, Vec<Made>) = left.into_iter().partition(|made| made.parent == parent);
            found.extend(inside);
            left = others;
        }
        // Inside of what nobody asks for, after all that has its parent before it.
        let Some(wanted) = left.iter().position(|made| is_wanted(made.object)) else { return found };
        found.push(left.remove(wanted));
    }
}

fn is_container(creation: &Creation) -> bool {
    matches!(creation.body.form(), Form::Map | Form::Items) && creation.under.is_none()
}

/// Containers that are one.
pub struct Class {
    /// In the order in which they came into the image.
    pub members: Vec<ObjectId>,
    /// What its name is made of: the parent, or a container that was there before and that all authors had seen.
    pub around: ObjectId,
    pub field: Field,
    pub kind: u32,
    pub protos: Vec<ObjectId>,
}

#[derive(Default)]
pub struct Classes {
    all: Vec<Class>,
    of: FxHashMap<ObjectId, usize>,
    keys: FxHashMap<Key, usize>,
    /// What was made in each place, with who made it.
    places: FxHashMap<Place, Vec<(ObjectId, Origin)>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    parent: ObjectId,
    field: Field,
    kind: u32,
    protos: Vec<ObjectId>,
    form: Form,
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    place: Place,
    seen: Vec<ObjectId>,
}

/// By which commit something came, and as which change of a dream.
#[derive(Clone, Copy)]
struct Origin {
    commit: u64,
    author: Option<ActorId>,
    seq: u64,
}

/// What an author has seen.
#[derive(Clone, Copy)]
pub struct Sight<'s> {
    /// None for the live image.
    pub author: Option<ActorId>,
    pub upto: u64,
    pub parents: &'s [(ActorId, u64)],
}

impl Sight<'_> {
    fn sees(&self, origin: Origin) -> bool {
        let is_inherited = |(parent, seq): &(ActorId, u64)| origin.author == Some(*parent) && origin.seq <= *seq;
        let is_own = origin.author.is_some() && origin.author == self.author;
        origin.commit <= self.upto || is_own || self.parents.iter().any(is_inherited)
    }
}

impl Classes {
    /// Of what the story tells, and of what a dream made that is not merged yet.
    pub fn new(story: &Story<'_>, own: &[Made], sight: Sight<'_>) -> Result<Classes, ImageError> {
        let mut authors: Vec<(u64, Sight<'_>, &[Made])> = Vec::new();
        for Event { number, what, made, made_by_live } in &story.events {
            if let What::Merge { note, .. } = what {
                let sight = Sight { author: Some(note.actor), upto: note.fork_commit, parents: &note.parents };
                authors.push((*number, sight, made));
            }
            authors.push((*number, Sight { author: None, upto: *number - 1, parents: &[] }, made_by_live));
        }
        authors.push((u64::MAX, sight, own));
        let real: FxHashMap<ObjectId, ObjectId> = story.owns().collect();
        let looks = authors.iter().flat_map(|(_, sight, made)| made.iter().map(|made| (sight.upto, made)));
        let looks = looks.map(|(upto, made)| (upto, made.parent, made.field.clone()));
        let found = story.look(looks.collect())?;
        let mut found = found.into_iter();
        let mut classes = Classes::default();
        for (commit, sight, all) in authors {
            for made in all {
                let held = found.next().unwrap_or_default();
                let held = story.put_by(sight.parents, made.parent, &made.field).unwrap_or(held);
                let origin = Origin { commit, author: sight.author, seq: made.seq };
                match real.get(&made.object).and_then(|live| classes.of.get(live)).copied() {
                    Some(class) => classes.join(made.object, class),
                    None if made.is_inner && classes.of.contains_key(&made.parent) => classes.add(made, sight, origin),
                    None if !made.is_inner && story.past.holds(made.parent) && held.is_absent() => {
                        classes.add(made, sight, origin);
                    }
                    None => classes.add_apart(made),
                }
            }
        }
        Ok(classes)
    }

    pub fn of_several(&self) -> impl Iterator<Item = &Class> {
        self.all.iter().filter(|class| class.members.len() > 1)
    }

    /// The others of a class.
    pub fn beside(&self, object: ObjectId) -> &[ObjectId] {
        self.of.get(&object).map_or(&[], |class| &self.all[*class].members)
    }

    fn join(&mut self, object: ObjectId, class: usize) {
        self.all[class].members.push(object);
        self.of.insert(object, class);
    }

    /// One that is none with any that nobody said so of.
    fn add_apart(&mut self, made: &Made) {
        let Made { object, parent, field, kind, protos, .. } = made.clone();
        self.of.insert(object, self.all.len());
        self.all.push(Class { members: vec![object], around: parent, field, kind, protos });
    }

    fn add(&mut self, made: &Made, sight: Sight<'_>, origin: Origin) {
        let first = |object: &ObjectId| self.of.get(object).map_or(*object, |class| self.all[*class].members[0]);
        let place = Place {
            parent: first(&made.parent),
            field: made.field.clone(),
            kind: made.kind,
            protos: made.protos.iter().map(first).collect(),
            form: made.form,
        };
        let before = self.places.entry(place.clone()).or_default();
        let seen = before.iter().filter(|(_, origin)| sight.sees(*origin)).map(|(object, _)| *object);
        let mut seen: Vec<ObjectId> = seen.collect();
        seen.sort_unstable();
        before.push((made.object, origin));
        let around = seen.last().copied();
        let key = Key { place, seen };
        match self.keys.get(&key).copied() {
            Some(class) => self.join(made.object, class),
            None => {
                self.keys.insert(key, self.all.len());
                self.add_apart(made);
                if let (Some(class), Some(around)) = (self.all.last_mut(), around) {
                    class.around = around;
                }
            }
        }
    }
}
