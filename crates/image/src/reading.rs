//! What a program read of the image, and whether changes made since concern it: if none does, it would do the same again.
//! Owns the way from the machine's notes, which name what is in memory, to names that last, as a value and as bytes.
//!
//! Long because what was read, how it is written down and what it sees of later changes have to agree in every field.

use crate::error::ImageError;
use crate::form::symbol_text;
use crate::image::{Image, Memory};
use crate::landmarks::Landmarks;
use crate::merging::MergePlan;
use crate::past::{Impossible, Past};
use merge::Rest;
use object::change::{Change, Datum, Field, ObjectId, Operation, Text};
use object::{Heap, Looks, Symbol, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use store::{Commit, Store};

/// In bytes: of a number of things, and of an object's id.
const COUNT_BYTES: usize = 4;
const OBJECT_BYTES: usize = 16;

/// What was read. Of an object that is in it at all, everything but the slots counts as read, unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSet {
    /// In their order. Programs mostly read the same of the same objects: what that is they share.
    objects: Arc<Vec<(ObjectId, Arc<SlotReads>)>>,
    asked_host: bool,
    asked_machine: bool,
    /// Nobody knows what was read.
    is_unknown: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct SlotReads {
    /// Looked up, whether a slot was there or not. In their order.
    names: Vec<Text>,
    /// It was asked which slots there are.
    lists_names: bool,
    /// It was asked which objects are in slots.
    lists_objects: bool,
    is_whole: bool,
    /// Nothing else was asked than what kind of object it is.
    is_kind_only: bool,
}

/// What became of a field that was written, maybe more than once.
struct Written<'c> {
    last: &'c Datum,
    /// It was taken out on the way: if it is back, it is in another place.
    has_moved: bool,
}

impl ReadSet {
    /// That of a program of which nothing is known.
    pub fn unknown() -> ReadSet {
        ReadSet { is_unknown: true, ..ReadSet::default() }
    }

    /// What either of two programs read.
    pub fn with(self, other: &ReadSet) -> ReadSet {
        let objects = match (self.objects.is_empty(), other.objects.is_empty()) {
            (_, true) => self.objects,
            (true, _) => other.objects.clone(),
            _ => Arc::new(both(&self.objects, &other.objects)),
        };
        ReadSet {
            objects,
            asked_host: self.asked_host | other.asked_host,
            asked_machine: self.asked_machine | other.asked_machine,
            is_unknown: self.is_unknown | other.is_unknown,
        }
    }

    fn of_object(&self, object: ObjectId) -> Option<&SlotReads> {
        let place = self.objects.binary_search_by_key(&object, |(object, _)| *object).ok()?;
        Some(&self.objects[place].1)
    }

    /// Whether the program asked for something that no object of the image decides: clock, randomness, files, environment,
    /// processes, calls to the world outside, or where objects lie in memory. Then the same reads promise nothing.
    pub fn asked_host(&self) -> bool {
        self.asked_host || self.is_unknown
    }

    /// Whether it asked what is in memory, or about the process. That is another thing while reads are noted, so what it found out
    /// holds nowhere else.
    pub fn asked_machine(&self) -> bool {
        self.asked_machine
    }

    pub fn objects(&self) -> impl Iterator<Item = ObjectId> {
        self.objects.iter().map(|(object, _)| *object)
    }

    /// How many objects were looked at.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// Whether any of these changes, in the order in which they were made, concerns something that was read. `was` says what
    /// a field held before the first of them: what is again what it was has not changed.
    pub fn is_touched_by<'c>(
        &self,
        changes: impl IntoIterator<Item = &'c Change>,
        was: impl Fn(ObjectId, &Field) -> Datum,
    ) -> bool {
        let mut written: FxHashMap<(ObjectId, &Field), Written<'c>> = FxHashMap::default();
        for Change { object, operation, .. } in changes {
            match operation {
                operation if !self.may_see(*object, operation) => {}
                Operation::Put { field, value } if !self.is_unknown => {
                    let place = written.entry((*object, field)).or_insert(Written { last: value, has_moved: false });
                    place.last = value;
                    place.has_moved |= value.is_absent();
                }
                _ => return true,
            }
        }
        written.iter().any(|(&(object, field), written)| {
            self.of_object(object).is_some_and(|reads| reads.see(field, written, &was(object, field)))
        })
    }

    /// Whether it may make a difference to who read this that this was done to an object, whatever that was before.
    fn may_see(&self, object: ObjectId, operation: &Operation) -> bool {
        match (self.of_object(object), operation) {
            // A call changes no object.
            (_, Operation::Call { .. }) => false,
            _ if self.is_unknown => true,
            (None, _) => false,
            (Some(reads), Operation::Put { field, .. }) if reads.is_kind_only => *field == Field::Flags,
            (Some(reads), Operation::Put { field: Field::Slot(name), .. }) => reads.may_see_slot(name),
            (Some(reads), _) => !reads.is_kind_only,
        }
    }

    /// As bytes, for another process of the same build.
    pub fn encode(&self) -> Vec<u8> {
        ReadSet::encode_all(&[self])
    }

    /// What `encode` wrote; none for any other bytes.
    pub fn decode(bytes: &[u8]) -> Option<ReadSet> {
        let [read] = <[ReadSet; 1]>::try_from(ReadSet::decode_all(bytes)?).ok()?;
        Some(read)
    }

    /// The same for many: what several of them read of an object is written once.
    pub fn encode_all(all: &[&ReadSet]) -> Vec<u8> {
        let mut places: FxHashMap<(ObjectId, &SlotReads), u32> = FxHashMap::default();
        // Most of them are not only alike.
        let mut same: FxHashMap<(ObjectId, *const SlotReads), u32> = FxHashMap::default();
        let (mut shared, mut bytes) = (Vec::new(), Vec::new());
        put_count(&mut bytes, all.len());
        for reads in all {
            bytes.push(bits([reads.asked_host, reads.is_unknown]));
            bytes.push(bits([reads.asked_machine, false]));
            put_count(&mut bytes, reads.objects.len());
            for (object, reads) in reads.objects.iter() {
                let place = *same.entry((*object, Arc::as_ptr(reads))).or_insert_with(|| {
                    let next = places.len() as u32;
                    *places.entry((*object, reads)).or_insert_with(|| {
                        reads.encode(*object, &mut shared);
                        next
                    })
                });
                put_count(&mut bytes, place as usize);
            }
        }
        put_count(&mut shared, places.len());
        shared.extend((shared.len() as u64).to_le_bytes());
        bytes.extend(shared);
        bytes
    }

    /// Of what `encode_all` wrote what was read of some objects, by anybody: each a set of its own. None for any other bytes.
    fn decode_of(bytes: &[u8], is_wanted: impl Fn(ObjectId) -> bool) -> Option<Vec<ReadSet>> {
        let (mut bytes, shared) = split_shared(bytes)?;
        let (mut entries, count) = shared.split_last_chunk()?;
        let mut found = Vec::new();
        for _ in 0..u32::from_le_bytes(*count) {
            let object = SlotReads::peek_object(entries)?;
            if is_wanted(object) {
                let (object, reads) = SlotReads::decode(&mut entries)?;
                found.push(ReadSet { objects: Arc::new(vec![(object, reads)]), ..ReadSet::default() });
            } else {
                SlotReads::skip(&mut entries)?;
            }
        }
        for _ in 0..take_count(&mut bytes)? {
            let [_, is_unknown] = take_bits(&mut bytes)?;
            take(&mut bytes, 1)?;
            let count = take_count(&mut bytes)?;
            take(&mut bytes, count.checked_mul(COUNT_BYTES)?)?;
            if is_unknown {
                found.push(ReadSet::unknown());
            }
        }
        (bytes.is_empty() && entries.is_empty()).then_some(found)
    }

    /// What `encode_all` wrote; none for any other bytes.
    pub fn decode_all(bytes: &[u8]) -> Option<Vec<ReadSet>> {
        let (mut bytes, shared) = split_shared(bytes)?;
        let (mut entries, count) = shared.split_last_chunk()?;
        let shared: Vec<(ObjectId, Arc<SlotReads>)> =
            (0..u32::from_le_bytes(*count)).map(|_| SlotReads::decode(&mut entries)).collect::<Option<_>>()?;
        let mut all = Vec::new();
        for _ in 0..take_count(&mut bytes)? {
            let [asked_host, is_unknown] = take_bits(&mut bytes)?;
            let [asked_machine, false] = take_bits(&mut bytes)? else { return None };
            let count = take_count(&mut bytes)?;
            let mut read = || shared.get(take_count(&mut bytes)?).cloned();
            let objects = (0..count).map(|_| read()).collect::<Option<Vec<_>>>()?;
            if !objects.is_sorted_by(|one, next| one.0 < next.0) {
                return None;
            }
            let objects = Arc::new(objects);
            all.push(ReadSet { objects, asked_host, asked_machine, is_unknown });
        }
        (bytes.is_empty() && entries.is_empty()).then_some(all)
    }
}

impl SlotReads {
    fn of(heap: &Heap, looks: &Looks, texts: &mut FxHashMap<Symbol, Text>) -> SlotReads {
        if looks.is_whole {
            return SlotReads { is_whole: true, ..SlotReads::default() };
        }
        let mut text = |&name: &Symbol| match texts.get(&name) {
            Some(text) => Some(text.clone()),
            None => {
                let text = heap.sequence(name).map(symbol_text)?;
                texts.insert(name, text.clone());
                Some(text)
            }
        };
        let mut names: Vec<Text> = looks.names.iter().filter_map(&mut text).collect();
        names.sort_unstable();
        let Looks { lists_names, lists_objects, is_kind_only, .. } = *looks;
        SlotReads { names, lists_names, lists_objects, is_whole: false, is_kind_only }
    }

    fn add(&mut self, other: &SlotReads) {
        self.names.extend(other.names.iter().cloned());
        self.names.sort_unstable();
        self.names.dedup();
        self.lists_names |= other.lists_names;
        self.lists_objects |= other.lists_objects;
        self.is_whole |= other.is_whole;
        self.is_kind_only &= other.is_kind_only;
    }

    fn encode(&self, object: ObjectId, bytes: &mut Vec<u8>) {
        bytes.extend(object.to_bytes());
        bytes.push(bits([self.lists_names, self.lists_objects, self.is_whole, self.is_kind_only]));
        put_count(bytes, self.names.len());
        for name in &self.names {
            put_count(bytes, name.as_bytes().len());
            bytes.extend(name.as_bytes());
        }
    }

    fn decode(bytes: &mut &[u8]) -> Option<(ObjectId, Arc<SlotReads>)> {
        let object = ObjectId::from_bytes(take(bytes, OBJECT_BYTES)?.try_into().ok()?);
        let [lists_names, lists_objects, is_whole, is_kind_only] = take_bits(bytes)?;
        let mut names = Vec::new();
        for _ in 0..take_count(bytes)? {
            let length = take_count(bytes)?;
            names.push(Text::from(take(bytes, length)?));
        }
        Some((object, Arc::new(SlotReads { names, lists_names, lists_objects, is_whole, is_kind_only })))
    }

    fn peek_object(mut bytes: &[u8]) -> Option<ObjectId> {
        Some(ObjectId::from_bytes(take(&mut bytes, OBJECT_BYTES)?.try_into().ok()?))
    }

    fn skip(bytes: &mut &[u8]) -> Option<()> {
        take(bytes, OBJECT_BYTES + 1)?;
        for _ in 0..take_count(bytes)? {
            let length = take_count(bytes)?;
            take(bytes, length)?;
        }
        Some(())
    }

    fn may_see_slot(&self, name: &Text) -> bool {
        self.is_whole || self.lists_names || self.lists_objects || self.names.binary_search(name).is_ok()
    }

    /// Whether who read this sees that a field was written.
    fn see(&self, field: &Field, written: &Written<'_>, before: &Datum) -> bool {
        let is_other = written.last != before;
        match field {
            Field::Slot(_) if self.is_whole => is_other || written.has_moved,
            Field::Slot(name) => {
                let came_or_went = written.has_moved || before.is_absent();
                let of_object = [before, written.last].iter().any(|value| matches!(value, Datum::Object(_)));
                (self.names.binary_search(name).is_ok() && is_other)
                    || (self.lists_names && came_or_went)
                    || (self.lists_objects && of_object && (is_other || came_or_went))
            }
            _ => is_other || written.has_moved,
        }
    }
}

impl Image {
    /// From now on notes what programs read, until `take_reads`. Goes on with an empty memory, as if it had just been opened:
    /// all that a program looks at is loaded, and thereby noted. Takes the same time whatever is in the image. Between
    /// transactions only; whoever holds a value of the machine must forget it. The memory that it had is kept aside until the
    /// image is dropped: this is for copies of the process, which end soon and must not touch what they share. From the second
    /// time on it goes on with the memory that it has, as if that were empty.
    pub fn record_reads(&mut self) -> Result<(), ImageError> {
        if self.vm.heap().has_veil() {
            self.vm.record_reads();
            self.vm.code_may_have_changed();
            let name = self.vm.symbol("constants").as_handle();
            let heap = self.vm.heap();
            let constants = name.and_then(|name| heap.own_slot(self.vm.root(), name)).and_then(Value::as_handle);
            if let Some(constants) = constants {
                heap.protos(constants);
            }
            return self.check_loads();
        }
        let Memory { mut heap, root, identities } = self.empty_memory()?;
        heap.use_veil();
        heap.record_reads();
        // Who nil, true and false are was found without the heap.
        let constants = heap.intern("constants");
        if let Some(constants) = heap.own_slot(root, constants).and_then(|constants| constants.as_handle()) {
            heap.protos(constants);
        }
        let left = self.vm.move_onto(heap, root).ok_or(ImageError::Unborn)?;
        self.shelved.get_or_insert(left);
        self.identities = identities;
        self.vm.record_reads();
        self.vm.open_level();
        self.check_loads()
    }

    /// What was read. Between transactions only.
    pub fn take_reads(&mut self) -> ReadSet {
        // Another machine went on after a panic.
        let Some(reads) = self.vm.take_reads() else { return ReadSet::unknown() };
        let mut texts = FxHashMap::default();
        let named = |(handle, looks)| {
            let reads = SlotReads::of(self.vm.heap(), looks, &mut texts);
            Some((self.identities.id(handle)?, Arc::new(reads)))
        };
        let mut objects: Vec<(ObjectId, Arc<SlotReads>)> = reads.objects().filter_map(named).collect();
        objects.sort_unstable_by_key(|(object, _)| *object);
        let objects = Arc::new(objects);
        let (asked_host, asked_machine) = (reads.asked_host(), reads.asked_machine());
        ReadSet { objects, asked_host, asked_machine, is_unknown: false }
    }

    /// Which of these programs would see something else after a merge that is planned, and not done yet.
    pub fn would_concern(&mut self, plan: &MergePlan, all: &[&ReadSet]) -> Result<Vec<bool>, ImageError> {
        let changes = self.planned(plan)?;
        let touched: BTreeSet<ObjectId> = changes.iter().map(|change| change.object).collect();
        let now = Past::of(&self.store, Landmarks::of(&self.store)?.ring(), touched.iter().copied())?;
        let concerned =
            all.iter().map(|reads| reads.is_touched_by(&changes, |object, field| now.field(object, field))).collect();
        now.take_failure()?;
        Ok(concerned)
    }

    /// Whether anything that was committed after this commit concerns something that was read.
    pub fn has_moved(&self, reads: &ReadSet, since: u64) -> Result<bool, ImageError> {
        Ok(self.have_moved(&[reads], since)?.contains(&true))
    }

    /// Whether `have_moved` would say so of any of those that `ReadSet::encode_all` wrote, or those cannot be read. Makes nothing of
    /// what was read of objects that nobody wrote to.
    pub fn has_any_moved(&self, told: &[u8], since: u64) -> Result<bool, ImageError> {
        if self.store.last_commit() <= since {
            return Ok(false);
        }
        let mut written: FxHashSet<ObjectId> = FxHashSet::default();
        self.store.visit_changes_since(since, |_, change| _ = written.insert(change.object))?;
        let Some(read) = ReadSet::decode_of(told, |object| written.contains(&object)) else { return Ok(true) };
        Ok(self.have_moved(&read.iter().collect::<Vec<_>>(), since)?.contains(&true))
    }

    /// The same for each of many.
    pub fn have_moved(&self, all: &[&ReadSet], since: u64) -> Result<Vec<bool>, ImageError> {
        let is_seen = |change: &Change| all.iter().any(|reads| reads.may_see(change.object, &change.operation));
        let seen = self.changes_since(since, is_seen)?;
        if seen.is_empty() {
            return Ok(vec![false; all.len()]);
        }
        if let Some(slots) = slots_after(&self.store, since, &seen)? {
            let was = |object: ObjectId, field: &Field| slots.get(&(object, field)).cloned().unwrap_or(Datum::Absent);
            return Ok(all.iter().map(|reads| reads.is_touched_by(&seen, was)).collect());
        }
        let later = self.commits_since(since, is_seen)?;
        let touched: BTreeSet<ObjectId> = in_order(&later).map(|change| change.object).collect();
        let mut past = Past::of(&self.store, Landmarks::of(&self.store)?.ring(), touched.into_iter())?;
        for commit in &later {
            past.go_back(&commit.changes, &commit.inverse).map_err(|Impossible(object)| {
                ImageError::Damaged(format!("object {object}: its history is not what happened to it"))
            })?;
        }
        let was = |object: ObjectId, field: &Field| past.field(object, field);
        let have_moved = all.iter().map(|reads| reads.is_touched_by(in_order(&later), was)).collect();
        past.take_failure()?;
        Ok(have_moved)
    }

    /// Changes after this commit, in order, as far as somebody sees them. What is nobody's concern is found out once for each slot,
    /// however often that was written to.
    fn changes_since(&self, since: u64, is_seen: impl Fn(&Change) -> bool) -> Result<Vec<Change>, ImageError> {
        if self.store.last_commit() <= since {
            return Ok(Vec::new());
        }
        let mut unseen: FxHashSet<(ObjectId, Text)> = FxHashSet::default();
        let mut seen: Vec<(u64, Change)> = Vec::new();
        self.store.visit_changes_since(since, |number, change| {
            let slot = match &change.operation {
                Operation::Put { field: Field::Slot(name), .. } => Some((change.object, name.clone())),
                _ => None,
            };
            if slot.as_ref().is_some_and(|slot| unseen.contains(slot)) {
                return;
            }
            match is_seen(change) {
                true => seen.push((number, change.clone())),
                false => unseen.extend(slot),
            }
        })?;
        seen.sort_by_key(|(number, _)| *number);
        Ok(seen.into_iter().map(|(_, change)| change).collect())
    }

    /// Commits after this one, the newest first, as far as somebody sees them.
    fn commits_since(&self, since: u64, is_seen: impl Fn(&Change) -> bool) -> Result<Vec<Commit>, ImageError> {
        let mut later = Vec::new();
        let mut history = self.store.history().taking_back(&is_seen);
        while let Some(commit) = history.next_after(since) {
            let mut commit = commit?;
            commit.changes.retain(&is_seen);
            commit.inverse.retain(&is_seen);
            if !commit.changes.is_empty() {
                later.push(commit);
            }
        }
        Ok(later)
    }
}

/// What these commits, the newest first, did.
fn in_order(later: &[Commit]) -> impl Iterator<Item = &Change> {
    later.iter().rev().flat_map(|commit| &commit.changes)
}

type SlotsBefore<'c> = FxHashMap<(ObjectId, &'c Field), Datum>;

/// What the slots that these changes wrote to held after an earlier commit. None if they did something else too, or if it is not to be
/// found in a short way.
fn slots_after<'c>(store: &Store, commit: u64, later: &'c [Change]) -> Result<Option<SlotsBefore<'c>>, ImageError> {
    let mut slots = FxHashMap::default();
    for change in later {
        let Operation::Put { field: field @ Field::Slot(name), .. } = &change.operation else { return Ok(None) };
        if let Entry::Vacant(place) = slots.entry((change.object, field)) {
            let Some(before) = store.slot_after(commit, change.object, name)? else { return Ok(None) };
            place.insert(before);
        }
    }
    Ok(Some(slots))
}

/// What is in either of two that are in their order; of what is in both, what either says.
fn both(one: &[(ObjectId, Arc<SlotReads>)], other: &[(ObjectId, Arc<SlotReads>)]) -> Vec<(ObjectId, Arc<SlotReads>)> {
    let mut found = Vec::with_capacity(one.len().max(other.len()));
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        match left.0.cmp(&right.0) {
            Ordering::Less => found.extend(one.next().cloned()),
            Ordering::Greater => found.extend(other.next().cloned()),
            Ordering::Equal => {
                let mut reads = left.1.clone();
                if !Arc::ptr_eq(&reads, &right.1) && reads != right.1 {
                    Arc::make_mut(&mut reads).add(&right.1);
                }
                found.push((left.0, reads));
                one.next();
                other.next();
            }
        }
    }
    found.extend(one.chain(other).cloned());
    found
}

/// What sets say, and what they share.
fn split_shared(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, length) = bytes.split_last_chunk()?;
    let at = rest.len().checked_sub(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    Some(rest.split_at(at))
}

fn bits<const COUNT: usize>(bits: [bool; COUNT]) -> u8 {
    bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit))
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u32).to_le_bytes());
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_bits<const COUNT: usize>(bytes: &mut &[u8]) -> Option<[bool; COUNT]> {
    let &[byte] = take(bytes, 1)? else { return None };
    (byte >> COUNT == 0).then(|| std::array::from_fn(|bit| byte >> bit & 1 != 0))
}

fn take_count(bytes: &mut &[u8]) -> Option<usize> {
    let count = take(bytes, COUNT_BYTES)?;
    Some(u32::from_le_bytes(count.try_into().ok()?) as usize)
}
