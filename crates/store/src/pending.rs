//! Commits that the image does not hold yet, and which of them touch an object. What is here and the snapshot that readers
//! use belong together: the checkpoint passes commits at the moment when readers move on to the image that has them. From then
//! on nobody is told of them; they are taken out later, a few at a time, because that takes a while.

use crate::fit::Outlines;
use object::change::{Change, ObjectId, Operation, Outline, Time};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Arc;

pub struct Committed {
    pub number: u64,
    pub time: Time,
    pub author: String,
    pub cause: String,
    pub changes: Vec<Change>,
    /// Where its frame ends.
    pub end: u64,
}

/// So many objects are remembered that the image has as they are; then all of them are forgotten.
const RESTED_MAX: usize = 32 << 10;

/// One change of one pending commit: the commit's number, and which of its changes.
type Place = (u64, u32);

/// So many changes to an object are looked through while nobody can commit.
const SOUGHT_MAX: usize = 4096;

/// What came of looking for something among changes.
pub enum Sought<A> {
    Found(A),
    Nowhere,
    /// There are too many to look through all of them.
    Far,
}

/// Changes to one object, each with the commit that it is of and its place there.
pub type Done = SmallVec<[(Arc<Committed>, usize); 2]>;

#[derive(Default)]
pub struct Pending {
    commits: VecDeque<Arc<Committed>>,
    /// The image has this commit and those before it, some of which may still be here.
    passed: u64,
    /// Objects to which something is still to be done,
    touched: FxHashMap<ObjectId, Touched>,
    /// and what others are to which nothing is any more: who was changed is often changed again, and asking the image is what
    /// costs most of a small commit.
    rested: FxHashMap<ObjectId, Outline>,
    changes: usize,
}

#[derive(Default)]
struct Touched {
    /// What is to be done, in order.
    places: SmallVec<[Place; 2]>,
    /// What the object is after that, if somebody has found out.
    outline: Option<Outline>,
}

impl Pending {
    /// `outlines` are of objects that the commit changes.
    pub fn push(&mut self, commit: Arc<Committed>, outlines: Outlines) {
        for (index, change) in commit.changes.iter().enumerate() {
            self.touched.entry(change.object).or_default().places.push((commit.number, index as u32));
        }
        for (object, outline) in outlines {
            self.touched.entry(object).or_default().outline = Some(outline);
        }
        self.changes += commit.changes.len();
        self.commits.push_back(commit);
    }

    /// The same for a commit that nobody compared with its objects.
    pub fn push_unknown(&mut self, commit: Arc<Committed>) {
        for change in &commit.changes {
            self.touched.entry(change.object).or_default().outline = None;
            self.rested.remove(&change.object);
        }
        self.push(commit, Outlines::default());
    }

    /// What an object is after all that is pending, if somebody has found out before.
    pub fn outline(&self, object: ObjectId) -> Option<&Outline> {
        let touched = self.touched.get(&object).and_then(|touched| touched.outline.as_ref());
        touched.or_else(|| self.rested.get(&object))
    }

    /// Whether anything is still to be done to an object.
    pub fn touches(&self, object: ObjectId) -> bool {
        let last = self.touched.get(&object).and_then(|touched| touched.places.last());
        last.is_some_and(|(number, _)| *number > self.passed)
    }

    /// What is still to be done to an object, in order.
    pub fn of_object(&self, object: ObjectId) -> Done {
        self.of_object_between(object, 0, u64::MAX)
    }

    /// The same, of the commits after one and up to another.
    pub fn of_object_between(&self, object: ObjectId, after: u64, last: u64) -> Done {
        let Some(Touched { places, .. }) = self.touched.get(&object) else { return SmallVec::new() };
        let first = places.partition_point(|(number, _)| *number <= after.max(self.passed));
        let find = |(number, index): &Place| Some((self.get(*number)?.clone(), *index as usize));
        places[first..].iter().take_while(|(number, _)| *number <= last).filter_map(find).collect()
    }

    /// Looks for something in what was done to an object up to a commit, the last of it first.
    pub fn find_back<A>(&self, object: ObjectId, commit: u64, find: impl Fn(&Operation) -> Option<A>) -> Sought<A> {
        let Some(Touched { places, .. }) = self.touched.get(&object) else { return Sought::Nowhere };
        let places = &places[..places.partition_point(|(number, _)| *number <= commit)];
        let places = &places[places.partition_point(|(number, _)| *number <= self.passed)..];
        let operation = |(number, index): &Place| Some(&self.get(*number)?.changes.get(*index as usize)?.operation);
        let found = places.iter().rev().take(SOUGHT_MAX).filter_map(operation).find_map(find);
        match found {
            Some(found) => Sought::Found(found),
            None if places.len() > SOUGHT_MAX => Sought::Far,
            None => Sought::Nowhere,
        }
    }

    pub fn get(&self, number: u64) -> Option<&Arc<Committed>> {
        self.commits.get(self.place_of(number)?)
    }

    /// This commit and those before it, at most so many, in order; none if it is not here.
    pub fn last_of(&self, number: u64, most: usize) -> Vec<Arc<Committed>> {
        let Some(last) = self.place_of(number) else { return Vec::new() };
        let first = (last + 1).saturating_sub(most).max(self.passed_count());
        self.commits.range(first..=last).cloned().collect()
    }

    /// Where a commit stands, if it is here and the image does not have it.
    fn place_of(&self, number: u64) -> Option<usize> {
        let first = self.commits.front()?.number;
        let place = usize::try_from(number.checked_sub(first)?).ok()?;
        (self.passed_count()..self.commits.len()).contains(&place).then_some(place)
    }

    /// How many are still here that the image has.
    fn passed_count(&self) -> usize {
        let first = self.commits.front().map_or(u64::MAX, |commit| commit.number);
        (self.passed + 1).saturating_sub(first) as usize
    }

    /// The oldest commits whose frames end at or before `durable`: at least one if there is any, then no more than so many
    /// changes together.
    pub fn oldest(&self, durable: u64, most_changes: usize) -> Vec<Arc<Committed>> {
        let mut changes = 0;
        let fits = |commit: &&Arc<Committed>| {
            let is_first = changes == 0;
            changes += commit.changes.len();
            commit.end <= durable && (is_first || changes <= most_changes)
        };
        self.commits().take_while(fits).cloned().collect()
    }

    /// The image has all commits up to this one, and readers look there.
    pub fn pass(&mut self, number: u64) {
        self.passed = number;
    }

    /// Takes out the oldest commit that was passed; the caller drops it where nobody waits.
    pub fn pop(&mut self) -> Option<Arc<Committed>> {
        self.commits.front().filter(|commit| commit.number <= self.passed)?;
        let commit = self.commits.pop_front()?;
        for change in &commit.changes {
            let Entry::Occupied(mut touched) = self.touched.entry(change.object) else { continue };
            let places = &mut touched.get_mut().places;
            let taken_out = places.iter().take_while(|(number, _)| *number <= commit.number).count();
            places.drain(..taken_out);
            if places.is_empty()
                && let Some(outline) = touched.remove().outline
            {
                self.rest(change.object, outline);
            }
        }
        self.changes -= commit.changes.len();
        Some(commit)
    }

    /// The image has all that was done to an object.
    fn rest(&mut self, object: ObjectId, outline: Outline) {
        if self.rested.len() >= RESTED_MAX {
            self.rested.clear();
        }
        // A long one takes no more to find out than to keep.
        if outline.is_short() {
            self.rested.insert(object, outline);
        } else {
            self.rested.remove(&object);
        }
    }

    pub fn oldest_number(&self) -> Option<u64> {
        self.commits().next().map(|commit| commit.number)
    }

    pub fn commits(&self) -> impl DoubleEndedIterator<Item = &Arc<Committed>> {
        self.commits.range(self.passed_count()..)
    }

    /// Those that were passed and not taken out among them.
    pub fn changes(&self) -> usize {
        self.changes
    }

    pub fn len(&self) -> usize {
        self.commits.len() - self.passed_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::change::{ActorId, ChangeId, Creation, Operation};

    fn commit(number: u64, objects: &[u64]) -> Arc<Committed> {
        let id = |seq| ObjectId::minted(ChangeId::new(ActorId(1), seq));
        let change = |(index, object): (usize, &u64)| {
            let change = ChangeId::new(ActorId(1), number * 100 + index as u64);
            Change::new(change, Time(0), id(*object), Operation::set_slot("x", 1.0))
        };
        let changes = objects.iter().enumerate().map(change).collect();
        let (author, cause) = (String::new(), String::new());
        Arc::new(Committed { number, time: Time(0), author, cause, changes, end: number * 10 })
    }

    #[test]
    fn an_object_knows_its_changes_until_they_are_taken_out() {
        let mut pending = Pending::default();
        pending.push(commit(5, &[1, 2, 1]), Outlines::default());
        pending.push(commit(6, &[2]), Outlines::default());
        let object = |seq| ObjectId::minted(ChangeId::new(ActorId(1), seq));
        let numbers = |pending: &Pending, seq| -> Vec<(u64, usize)> {
            pending.of_object(object(seq)).iter().map(|(commit, index)| (commit.number, *index)).collect()
        };
        assert_eq!(numbers(&pending, 1), [(5, 0), (5, 2)]);
        assert_eq!(numbers(&pending, 2), [(5, 1), (6, 0)]);
        assert_eq!(pending.oldest(55, 100).len(), 1, "only what is flushed");
        assert_eq!(pending.oldest(100, 3).len(), 1, "no more than asked for");
        assert_eq!(pending.oldest(100, 4).len(), 2);
        assert_eq!(pending.oldest(100, 1).len(), 1, "one commit is never divided");
        assert!(pending.pop().is_none(), "the image does not have it");
        pending.pass(5);
        assert_eq!((pending.len(), pending.oldest_number(), pending.touches(object(1))), (1, Some(6), false));
        assert!(pending.get(5).is_none() && pending.last_of(5, 9).is_empty());
        assert_eq!(pending.last_of(6, 9).len(), 1);
        assert_eq!(pending.oldest(100, 4).len(), 1, "what was passed is not applied again");
        let any = |_: &Operation| Some(());
        assert!(matches!(pending.find_back(object(1), 6, any), Sought::Nowhere));
        assert!(matches!(pending.find_back(object(2), 6, any), Sought::Found(())));
        assert!(matches!(pending.find_back(object(2), 5, any), Sought::Nowhere));
        assert_eq!((numbers(&pending, 1), numbers(&pending, 2)), (vec![], vec![(6, 0)]));
        assert_eq!(pending.pop().map(|commit| commit.number), Some(5));
        assert!(pending.pop().is_none());
        assert_eq!((numbers(&pending, 1), numbers(&pending, 2)), (vec![], vec![(6, 0)]));
        assert_eq!((pending.changes(), pending.len(), pending.oldest_number()), (1, 1, Some(6)));
    }

    #[test]
    fn what_an_object_is_stays_known_until_somebody_changes_it_unseen() {
        let mut pending = Pending::default();
        let object = ObjectId::minted(ChangeId::new(ActorId(1), 1));
        pending.push(commit(5, &[1]), vec![(object, Outline::from(&Creation::default()))]);
        pending.pass(5);
        pending.pop();
        assert!(!pending.touches(object) && pending.outline(object).is_some());
        pending.push_unknown(commit(6, &[1]));
        assert!(pending.outline(object).is_none());
        pending.pass(6);
        pending.pop();
        assert!(pending.outline(object).is_none());
    }
}
