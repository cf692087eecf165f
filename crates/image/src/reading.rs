//! What a program read of the image, and whether changes made since concern it: if none does, it would do the same again.
//! Owns the way from the machine's notes, which name what is in memory, to names that last, as a value and as bytes.

use crate::error::ImageError;
use crate::form::symbol_text;
use crate::image::{Image, Memory};
use crate::landmarks::Landmarks;
use crate::past::{Impossible, Past};
use merge::Rest;
use object::change::{Change, Datum, Field, ObjectId, Operation, Text};
use object::{Heap, Looks};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// What was read. Of an object that is in it at all, everything but the slots counts as read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadSet {
    objects: BTreeMap<ObjectId, SlotReads>,
    asked_host: bool,
    asked_machine: bool,
    /// Nobody knows what was read.
    is_unknown: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SlotReads {
    /// Looked up, whether a slot was there or not.
    names: BTreeSet<Text>,
    /// It was asked which slots there are.
    lists_names: bool,
    is_whole: bool,
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
    pub fn with(mut self, other: &ReadSet) -> ReadSet {
        for (object, reads) in &other.objects {
            let own = self.objects.entry(*object).or_default();
            own.names.extend(reads.names.iter().cloned());
            own.lists_names |= reads.lists_names;
            own.is_whole |= reads.is_whole;
        }
        self.asked_host |= other.asked_host;
        self.asked_machine |= other.asked_machine;
        self.is_unknown |= other.is_unknown;
        self
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
        self.objects.keys().copied()
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
            match (self.objects.get(object), operation) {
                // A call changes no object.
                (_, Operation::Call { .. }) => {}
                _ if self.is_unknown => return true,
                (None, _) => {}
                (Some(_), Operation::Put { field, value }) => {
                    let place = written.entry((*object, field)).or_insert(Written { last: value, has_moved: false });
                    place.last = value;
                    place.has_moved |= value.is_absent();
                }
                (Some(_), _) => return true,
            }
        }
        written.iter().any(|(&(object, field), written)| {
            self.objects.get(&object).is_some_and(|reads| reads.see(field, written, &was(object, field)))
        })
    }

    /// As bytes, for another process of the same build.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![bits([self.asked_host, self.is_unknown]), bits([self.asked_machine, false])];
        put_count(&mut bytes, self.objects.len());
        for (object, reads) in &self.objects {
            bytes.extend(object.to_bytes());
            bytes.push(bits([reads.lists_names, reads.is_whole]));
            put_count(&mut bytes, reads.names.len());
            for name in &reads.names {
                put_count(&mut bytes, name.as_bytes().len());
                bytes.extend(name.as_bytes());
            }
        }
        bytes
    }

    /// What `encode` wrote; none for any other bytes.
    pub fn decode(mut bytes: &[u8]) -> Option<ReadSet> {
        let [asked_host, is_unknown] = take_bits(&mut bytes)?;
        let [asked_machine, false] = take_bits(&mut bytes)? else { return None };
        let mut objects = BTreeMap::new();
        for _ in 0..take_count(&mut bytes)? {
            let object = ObjectId::from_bytes(take(&mut bytes, 16)?.try_into().ok()?);
            let [lists_names, is_whole] = take_bits(&mut bytes)?;
            let mut names = BTreeSet::new();
            for _ in 0..take_count(&mut bytes)? {
                let length = take_count(&mut bytes)?;
                names.insert(Text::from(take(&mut bytes, length)?));
            }
            objects.insert(object, SlotReads { names, lists_names, is_whole });
        }
        bytes.is_empty().then_some(ReadSet { objects, asked_host, asked_machine, is_unknown })
    }
}

impl SlotReads {
    fn of(heap: &Heap, looks: &Looks) -> SlotReads {
        let text = |&name| heap.sequence(name).map(symbol_text);
        let names = looks.names.iter().filter_map(text).collect();
        SlotReads { names, lists_names: looks.lists_names, is_whole: looks.is_whole }
    }

    /// Whether who read this sees that a field was written.
    fn see(&self, field: &Field, written: &Written<'_>, before: &Datum) -> bool {
        let is_other = written.last != before;
        match field {
            Field::Slot(_) if self.is_whole => is_other || written.has_moved,
            Field::Slot(name) => {
                let came_or_went = written.has_moved || before.is_absent();
                (self.names.contains(name) && is_other) || (self.lists_names && came_or_went)
            }
            _ => is_other || written.has_moved,
        }
    }
}

impl Image {
    /// From now on notes what programs read, until `take_reads`. Goes on with an empty memory, as if it had just been opened:
    /// all that a program looks at is loaded, and thereby noted. Takes the same time whatever is in the image. Between
    /// transactions only; whoever holds a value of the machine must forget it. The memory that it had is kept aside until the
    /// image is dropped: this is for copies of the process, which end soon and must not touch what they share.
    pub fn record_reads(&mut self) -> Result<(), ImageError> {
        let Memory { mut heap, root, identities } = self.empty_memory()?;
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
        let named = |(handle, looks)| Some((self.identities.id(handle)?, SlotReads::of(self.vm.heap(), looks)));
        let objects = reads.objects().filter_map(named).collect();
        let (asked_host, asked_machine) = (reads.asked_host(), reads.asked_machine());
        ReadSet { objects, asked_host, asked_machine, is_unknown: false }
    }

    /// Whether anything that was committed after this commit concerns something that was read.
    pub fn has_moved(&self, reads: &ReadSet, since: u64) -> Result<bool, ImageError> {
        let (mut later, mut touched) = (Vec::new(), BTreeSet::new());
        for commit in self.store.history() {
            let mut commit = commit?;
            if commit.number <= since {
                break;
            }
            commit.changes.retain(|change| reads.is_unknown || reads.objects.contains_key(&change.object));
            touched.extend(commit.changes.iter().map(|change| change.object));
            later.push(commit);
        }
        let mut past = Past::of(&self.store, Landmarks::of(&self.store)?.ring(), touched.iter().copied())?;
        for commit in &later {
            past.go_back(&commit.changes, &commit.inverse).map_err(|Impossible(object)| {
                ImageError::Damaged(format!("object {object}: its history is not what happened to it"))
            })?;
        }
        let changes = later.iter().rev().flat_map(|commit| &commit.changes);
        let has_moved = reads.is_touched_by(changes, |object, field| past.field(object, field));
        past.take_failure()?;
        Ok(has_moved)
    }
}

fn bits(bits: [bool; 2]) -> u8 {
    u8::from(bits[0]) | u8::from(bits[1]) << 1
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u32).to_le_bytes());
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn take_bits(bytes: &mut &[u8]) -> Option<[bool; 2]> {
    let &[byte @ 0..=3] = take(bytes, 1)? else { return None };
    Some([byte & 1 != 0, byte & 2 != 0])
}

fn take_count(bytes: &mut &[u8]) -> Option<usize> {
    let count = take(bytes, 4)?;
    Some(u32::from_le_bytes(count.try_into().ok()?) as usize)
}
