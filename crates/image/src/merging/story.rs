//! What happened to some objects since a moment of the past: the moment itself, and what was committed since, commit by
//! commit. It begins at the fork point; or earlier, if something was merged since that touches the same objects and was
//! forked before: then all of it is told from there.

use super::container::{Made, made};
use super::note::{Note, note_of};
use crate::error::ImageError;
use crate::landmarks::Landmarks;
use crate::past::{Impossible, Past};
use crate::retell::{line_of, nothing};
use language::Interrupt;
use object::change::{ActorId, Change, Creation, Datum, Field, Line, ObjectId, Operation};
use rustc_hash::{FxHashMap, FxHashSet};
use store::{Commit, Store};

/// Whose story it is.
pub struct Subject {
    pub actor: ActorId,
    pub fork_commit: u64,
    pub parents: Vec<ActorId>,
    pub objects: FxHashSet<ObjectId>,
    /// Whether it changes protos: then all changes of protos matter.
    pub relinks: bool,
}

pub struct Story<'s> {
    /// The beginning.
    pub past: Past<'s>,
    pub events: Vec<Event>,
    /// Objects that others made since the fork.
    pub newborn: FxHashSet<ObjectId>,
    /// Those that others changed since then.
    pub touched: FxHashSet<ObjectId>,
    pub names: Vec<(ActorId, String)>,
}

pub struct Event {
    pub number: u64,
    pub what: What,
    /// Containers of the dream that was merged, and of the image itself.
    pub made: Vec<Made>,
    pub made_by_live: Vec<Made>,
}

/// What a commit did to the objects of the story.
pub enum What {
    Live(Vec<Change>),
    /// A journal, under the ids that its author gave, and which of them are others in the image; what it did there; and what
    /// the image wrote down about it.
    Merge {
        note: Box<Note>,
        own: FxHashMap<ObjectId, ObjectId>,
        effects: Vec<Change>,
        books: Vec<Change>,
    },
}

pub enum Told<'s> {
    Story(Box<Story<'s>>),
    /// The dream was merged by this commit, with this note.
    Before(u64, Box<Note>),
}

impl<'s> Story<'s> {
    /// The objects as they were after this commit.
    pub fn after(&self, number: u64) -> Result<Past<'s>, ImageError> {
        let mut past = self.past.again();
        for event in self.events.iter().take_while(|event| event.number <= number) {
            for change in event.what.changes() {
                past.go_on(change).map_err(impossible)?;
            }
        }
        Ok(past)
    }

    /// What fields held, each after some commit, in the order in which they are asked for.
    pub fn look(&self, asked: Vec<(u64, ObjectId, Field)>) -> Result<Vec<Datum>, ImageError> {
        let mut order: Vec<usize> = (0..asked.len()).collect();
        order.sort_by_key(|at| asked[*at].0);
        let mut found = vec![Datum::Absent; asked.len()];
        let mut order = order.into_iter().peekable();
        let mut past = self.past.again();
        for event in &self.events {
            while let Some(at) = order.next_if(|at| asked[*at].0 < event.number) {
                found[at] = merge::Rest::field(&past, asked[at].1, &asked[at].2);
            }
            for change in event.what.changes() {
                past.go_on(change).map_err(impossible)?;
            }
        }
        for at in order {
            found[at] = merge::Rest::field(&past, asked[at].1, &asked[at].2);
        }
        Ok(found)
    }

    /// What the dreams that somebody was dreamt inside of had put into a place by then.
    pub fn put_by(&self, parents: &[(ActorId, u64)], object: ObjectId, place: &Field) -> Option<Datum> {
        let journal = |actor: ActorId| self.notes().find(|note| note.actor == actor).map(|note| &note.journal);
        let changes = parents.iter().filter_map(|(actor, seq)| journal(*actor).map(|journal| (journal, *seq)));
        let changes = changes.flat_map(|(journal, seq)| journal.iter().filter(move |change| change.id.seq <= seq));
        let mut put = changes.filter_map(|change| match &change.operation {
            Operation::Put { field, value } if change.object == object && field == place => Some(value),
            _ => None,
        });
        put.next_back().cloned()
    }

    /// Objects that merged dreams made, and those that they are in the image.
    pub fn owns(&self) -> impl Iterator<Item = (ObjectId, ObjectId)> {
        self.events.iter().flat_map(|event| {
            match &event.what {
                What::Live(_) => None,
                What::Merge { own, .. } => Some(own.iter().map(|(own, live)| (*own, *live))),
            }
            .into_iter()
            .flatten()
        })
    }

    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.events.iter().filter_map(|event| match &event.what {
            What::Live(_) => None,
            What::Merge { note, .. } => Some(&**note),
        })
    }
}

impl What {
    /// What was done to the image.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        let (first, then): (&[Change], &[Change]) = match self {
            What::Live(changes) => (changes, &[]),
            What::Merge { effects, books, .. } => (effects, books),
        };
        first.iter().chain(then)
    }
}

fn impossible(Impossible(object): Impossible) -> ImageError {
    ImageError::Damaged(format!("object {object}: its history is not what happened to it"))
}

impl Subject {
    fn wants(&self, change: &Change) -> bool {
        self.objects.contains(&change.object) || (self.relinks && line_of(&change.operation) == Some(Line::Protos))
    }

    /// A change as the story tells it: of other objects just that they were made.
    fn told(&self, change: &Change) -> Option<Change> {
        match &change.operation {
            Operation::Call { .. } => None,
            _ if self.wants(change) => Some(change.clone()),
            Operation::Create(creation) => {
                let protos = if self.relinks { creation.protos.clone() } else { Vec::new() };
                let stub =
                    Creation { kind: creation.kind, protos, under: creation.under.clone(), ..Creation::default() };
                Some(Change { operation: Operation::Create(Box::new(stub)), ..change.clone() })
            }
            _ => None,
        }
    }

    /// Whether a journal has something to say to what it is about; `own` says what its objects are in the image.
    fn is_met_by(&self, note: &Note, own: &FxHashMap<ObjectId, ObjectId>) -> bool {
        let is_met = |change: &Change| self.holds(change.object, own) || self.wants(change);
        note.journal.iter().any(|change| !matches!(change.operation, Operation::Call { .. }) && is_met(change))
            || self.parents.contains(&note.actor)
    }

    fn holds(&self, object: ObjectId, own: &FxHashMap<ObjectId, ObjectId>) -> bool {
        self.objects.contains(own.get(&object).unwrap_or(&object))
    }
}

/// A commit, as far as the story goes.
struct Page {
    number: u64,
    changes: Vec<Change>,
    inverse: Vec<Change>,
    note: Option<(Note, FxHashMap<ObjectId, ObjectId>)>,
    made: Vec<Made>,
    made_by_live: Vec<Made>,
    made_by_all: Vec<Made>,
}

pub fn tell<'s>(
    store: &'s Store,
    landmarks: &Landmarks,
    subject: &Subject,
    interrupt: &Interrupt,
) -> Result<Told<'s>, ImageError> {
    let (mut pages, mut beginning) = (Vec::new(), subject.fork_commit);
    let mut history = store.history().taking_back(|change| subject.wants(change));
    while let Some(commit) = history.next_after(beginning) {
        let commit = commit?;
        if interrupt.take() {
            return Err(ImageError::Interrupted);
        }
        let note = note_of(&commit, store.actor())?.map(Note::in_own_ids);
        if let Some((note, own)) = &note {
            if note.actor == subject.actor {
                return Ok(Told::Before(commit.number, Box::new(note.clone())));
            }
            if subject.is_met_by(note, own) {
                beginning = beginning.min(note.fork_commit);
            }
        }
        pages.push(page(subject, commit, note));
    }
    let is_whole = pages.last().map_or(store.last_commit(), |page| page.number - 1) <= beginning;
    if !is_whole {
        return Err(ImageError::NotMerged(format!("the history does not go back to commit {beginning}")));
    }
    story(store, landmarks, subject, pages).map(|story| Told::Story(Box::new(story)))
}

fn page(subject: &Subject, commit: Commit, note: Option<(Note, FxHashMap<ObjectId, ObjectId>)>) -> Page {
    let changes = commit.changes.iter().filter_map(|change| subject.told(change)).collect();
    let inverse = commit.inverse.into_iter().filter(|change| subject.wants(change)).collect();
    let is_wanted = |object: ObjectId| subject.objects.contains(&object);
    let (mut mine, mut by_live) = (Vec::new(), Vec::new());
    if let Some((note, own)) = &note {
        mine = made(&note.journal, |object| subject.holds(object, own));
        let books = commit.changes.partition_point(|change| change.id.seq < note.books);
        by_live = made(&commit.changes[books..], is_wanted);
    }
    let made_by_all = made(&commit.changes, is_wanted);
    Page { number: commit.number, changes, inverse, note, made: mine, made_by_live: by_live, made_by_all }
}

/// `pages` come newest first.
fn story<'s>(
    store: &'s Store,
    landmarks: &Landmarks,
    subject: &Subject,
    pages: Vec<Page>,
) -> Result<Story<'s>, ImageError> {
    let relinked = pages.iter().flat_map(|page| &page.changes).filter(|change| subject.wants(change));
    let objects = subject.objects.iter().copied().chain(relinked.map(|change| change.object));
    let mut past = Past::of(store, landmarks.ring(), objects)?;
    let (mut newborn, mut touched) = (FxHashSet::default(), FxHashSet::default());
    for page in &pages {
        past.go_back(&page.changes, &page.inverse).map_err(impossible)?;
        if page.number > subject.fork_commit {
            let made = page.changes.iter().filter(|change| matches!(change.operation, Operation::Create(_)));
            newborn.extend(made.map(|change| change.object));
            touched.extend(page.changes.iter().map(|change| change.object));
        }
    }
    let names =
        pages.iter().filter_map(|page| page.note.as_ref()).map(|(note, _)| (note.actor, note.name.clone())).collect();
    let needed = needed(subject, &pages);
    let events = pages.into_iter().rev().map(|page| event(subject, page, &needed)).collect();
    Ok(Story { past, events, newborn, touched, names })
}

/// Merges that must be told as such: those that meet the subject, and those that they were dreamt inside of.
fn needed(subject: &Subject, pages: &[Page]) -> FxHashSet<ActorId> {
    let mut needed: FxHashSet<ActorId> = FxHashSet::default();
    // Newest first: who was dreamt inside of another was merged after it.
    for (note, own) in pages.iter().filter_map(|page| page.note.as_ref()) {
        if needed.contains(&note.actor) || subject.is_met_by(note, own) {
            needed.insert(note.actor);
            needed.extend(note.parents.iter().map(|(parent, _)| *parent));
        }
    }
    needed
}

fn event(subject: &Subject, page: Page, needed: &FxHashSet<ActorId>) -> Event {
    let Page { number, mut changes, note, made, made_by_live, made_by_all, .. } = page;
    let Some((mut note, own)) = note.filter(|(note, _)| needed.contains(&note.actor)) else {
        return Event { number, what: What::Live(changes), made: Vec::new(), made_by_live: made_by_all };
    };
    for change in &mut note.journal {
        if !subject.wants(change) && !subject.holds(change.object, &own) {
            *change = nothing(change);
        }
    }
    let books = changes.iter().position(|change| change.id.seq >= note.books).unwrap_or(changes.len());
    let books = changes.split_off(books);
    Event { number, what: What::Merge { note: Box::new(note), own, effects: changes, books }, made, made_by_live }
}
