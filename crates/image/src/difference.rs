//! What a transaction did to one object, as operations: what was before against what is now. Owns that nothing is said
//! twice: however often a slot was written, it is one change, and none if it is again what it was.

use crate::capture::Capture;
use crate::form::Flags;
use crate::matching::{self, Gap};
use object::change::{Datum, Field, Line, Operation, Run};
use object::sequence::Sequence;
use object::{Before, Data, Entry, Kind, Map, Object, Replaced, Splice, Symbol, Value, flag};

/// Adds what makes the object at rest what it is now.
pub fn operations(capture: &mut Capture<'_>, before: &Before, now: &Object, operations: &mut Vec<Operation>) {
    let mut difference = Difference { capture, before, now, operations };
    difference.slots();
    difference.protos();
    difference.flags();
    difference.data();
}

struct Difference<'d, 'h> {
    capture: &'d mut Capture<'h>,
    before: &'d Before,
    now: &'d Object,
    operations: &'d mut Vec<Operation>,
}

impl Difference<'_, '_> {
    fn put(&mut self, field: Field, value: Datum) {
        self.operations.push(Operation::Put { field, value });
    }

    fn set_slot(&mut self, name: Symbol, value: Value) {
        let (name, value) = (self.capture.text(name), self.capture.datum(value));
        self.put(Field::Slot(name), value);
    }

    fn remove_slot(&mut self, name: Symbol) {
        let name = self.capture.text(name);
        self.put(Field::Slot(name), Datum::Absent);
    }

    fn slots(&mut self) {
        if self.before.shape() == self.now.shape() {
            return self.values_of_slots();
        }
        let shapes = self.capture.heap.shapes();
        let (old, new) = (shapes.get(self.before.shape()), shapes.get(self.now.shape()));
        // Slots that are in both, in their old order, then the new ones: unless this is the order now, whatever stands
        // behind the first difference is taken out and put in again.
        let stay = || old.names.iter().filter(|&&name| new.find(name).is_some());
        let added = new.names.iter().filter(|&&name| old.find(name).is_none());
        let is_in_order = stay().chain(added).eq(&new.names);
        let same = if is_in_order { old.names.len() } else { common_prefix(&old.names, &new.names) };
        for &name in &old.names {
            if new.find(name).is_none() {
                self.remove_slot(name);
            }
        }
        for (index, &name) in new.names.iter().enumerate() {
            match old.find(name) {
                Some(place) if place < same => {
                    if self.before.slot(place) != self.now.slot(index) {
                        self.set_slot(name, self.now.slot(index));
                    }
                }
                Some(_) => {
                    self.remove_slot(name);
                    self.set_slot(name, self.now.slot(index));
                }
                None => self.set_slot(name, self.now.slot(index)),
            }
        }
    }

    /// The slots are the same ones, as they nearly always are.
    fn values_of_slots(&mut self) {
        for (index, &name) in self.capture.heap.shapes().get(self.now.shape()).names.iter().enumerate() {
            if self.before.slot(index) != self.now.slot(index) {
                self.set_slot(name, self.now.slot(index));
            }
        }
    }

    fn protos(&mut self) {
        if self.before.shape() == self.now.shape() {
            return;
        }
        let shapes = self.capture.heap.shapes();
        let (old, new) = (&shapes.get(self.before.shape()).protos, &shapes.get(self.now.shape()).protos);
        if old != new {
            let (prefix, suffix) = common_ends(old, new);
            let inserted = &new[prefix..new.len() - suffix];
            let inserted: Vec<Datum> =
                inserted.iter().map(|&proto| Datum::Object(self.capture.identity(proto))).collect();
            self.splice(Line::Protos, prefix, old.len() - prefix - suffix, Run::items(inserted));
        }
    }

    fn splice(&mut self, line: Line, index: usize, removed: usize, run: Run) {
        let index = index as u64;
        if removed > 0 {
            self.operations.push(Operation::Delete { line, index, count: removed as u64 });
        }
        if !run.is_empty() {
            self.operations.push(Operation::Insert { line, index, run });
        }
    }

    fn flags(&mut self) {
        let before = Flags::plain(self.before.kind(), self.before.has(flag::ACTIVATABLE));
        let before = match self.before.data() {
            Replaced::Whole(Data::Sequence(sequence)) => before.with(sequence),
            _ => before,
        };
        let now = Flags::of(self.now);
        if before != now {
            let flags = now.number();
            self.put(Field::Flags, if flags == 0 { Datum::Absent } else { Datum::number(f64::from(flags)) });
        }
    }

    fn data(&mut self) {
        match (self.before.data(), self.now.data()) {
            (Replaced::Items(splices), Data::List(values, start)) => {
                self.edited_items(splices, &values[*start as usize..]);
            }
            (Replaced::Whole(Data::List(old, old_start)), Data::List(new, new_start)) => {
                self.items(&old[*old_start as usize..], &new[*new_start as usize..]);
            }
            (Replaced::Entries(entries), Data::Map(map)) => self.edited_entries(entries.edits(), map),
            (Replaced::Whole(Data::Map(old)), Data::Map(new)) => self.entries(old, new),
            (Replaced::Whole(Data::Sequence(old)), Data::Sequence(new)) => self.units(old, new),
            (Replaced::Whole(Data::Number(old)), Data::Number(new)) if self.is_counter() => self.count(*old, *new),
            (Replaced::Whole(old), new) => self.whole(old, new),
            _ => unreachable!("what becomes of another kind is noted whole"),
        }
    }

    fn is_counter(&self) -> bool {
        (self.before.kind(), self.now.kind()) == (Kind::Counter, Kind::Counter)
    }

    fn count(&mut self, old: f64, new: f64) {
        let delta = new as i64 - old as i64;
        if delta != 0 {
            self.operations.push(Operation::Count { key: Datum::Nil, delta });
        }
    }

    fn whole(&mut self, old: &Data, new: &Data) {
        let is_same = match (old, new) {
            (Data::None, Data::None) => true,
            (Data::Number(old), Data::Number(new)) => old.to_bits() == new.to_bits(),
            (Data::Record(old), Data::Record(new)) => old == new,
            (Data::Primitive(old), Data::Primitive(new)) => old == new,
            (Data::Weak(old), Data::Weak(new)) => old == new,
            _ => false,
        };
        if !is_same {
            let datum = self.capture.data(new);
            self.put(Field::Data, datum);
        }
    }

    /// What stays is left where it is, as far as that is cheap to find; else one deletion and one insertion, or one by one
    /// where items were only replaced.
    fn items(&mut self, old: &[Value], new: &[Value]) {
        let (prefix, suffix) = common_ends(old, new);
        let (old, new) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
        if !old.is_empty() && !new.is_empty() && old.len() * new.len() <= matching::COMPARISONS_MAX {
            for Gap { index, removed, inserted } in matching::gaps(old, new) {
                self.replace(prefix + index, removed, inserted);
            }
        } else if old.len() == new.len() {
            for (index, (old, &new)) in old.iter().zip(new).enumerate() {
                if *old != new {
                    let value = self.capture.datum(new);
                    self.operations.push(Operation::Set { index: (prefix + index) as u64, value });
                }
            }
        } else {
            let run = Run::Items(self.capture.items(new));
            self.splice(Line::Items, prefix, old.len(), run);
        }
    }

    /// Other items in the place of so many: one by one as far as both go.
    fn replace(&mut self, index: usize, removed: usize, inserted: &[Value]) {
        let (replaced, more) = inserted.split_at(removed.min(inserted.len()));
        for (offset, &value) in replaced.iter().enumerate() {
            let value = self.capture.datum(value);
            self.operations.push(Operation::Set { index: (index + offset) as u64, value });
        }
        let run = Run::Items(self.capture.items(more));
        self.splice(Line::Items, index + replaced.len(), removed - replaced.len(), run);
    }

    /// What an edit put in may have moved since, or be gone: its place now follows from the edits after it.
    fn edited_items(&mut self, splices: &[Splice], now: &[Value]) {
        let inserted: usize = splices.iter().map(|splice| splice.inserted).sum();
        if splices.len() > 1 && inserted.saturating_mul(splices.len()) > now.len() {
            let Data::List(old, start) = self.before.data_before(self.now.data()) else { return };
            return self.items(&old[start as usize..], now);
        }
        for (number, splice) in splices.iter().enumerate() {
            let later = &splices[number + 1..];
            let places = (splice.index..splice.index + splice.inserted).map(|place| place_after(place, later));
            // What a later edit takes out again is no more than a place until then.
            let values: Vec<Value> = places.map(|place| place.map_or(Value::NIL, |place| now[place])).collect();
            if let ([value], 1) = (values.as_slice(), splice.removed.len()) {
                let value = self.capture.datum(*value);
                self.operations.push(Operation::Set { index: splice.index as u64, value });
            } else {
                let run = Run::Items(self.capture.items(&values));
                self.splice(Line::Items, splice.index, splice.removed.len(), run);
            }
        }
    }

    fn set_entry(&mut self, key: Symbol, value: Value) {
        let (key, value) = (self.capture.text(key), self.capture.datum(value));
        self.put(Field::Entry(Datum::Text(key)), value);
    }

    fn remove_entry(&mut self, key: Symbol) {
        let key = self.capture.text(key);
        self.put(Field::Entry(Datum::Text(key)), Datum::Absent);
    }

    fn entries(&mut self, old: &Map, new: &Map) {
        let stay = || old.keys().filter(|key| new.contains_key(*key));
        let added = new.keys().filter(|key| !old.contains_key(*key));
        let is_in_order = stay().chain(added).eq(new.keys());
        let same = if is_in_order { old.len() } else { old.keys().zip(new.keys()).take_while(|(a, b)| a == b).count() };
        for &key in old.keys() {
            if !new.contains_key(&key) {
                self.remove_entry(key);
            }
        }
        for (&key, &value) in new {
            match old.get_full(&key) {
                Some((place, _, before)) if place < same => {
                    if *before != value {
                        self.set_entry(key, value);
                    }
                }
                Some(_) => {
                    self.remove_entry(key);
                    self.set_entry(key, value);
                }
                None => self.set_entry(key, value),
            }
        }
    }

    /// Keys that were touched, each once, where it got its place; those that were taken out before are taken out.
    fn edited_entries(&mut self, edits: &[Entry], now: &Map) {
        let mut last = rustc_hash::FxHashMap::default();
        for (number, edit) in edits.iter().enumerate() {
            match *edit {
                Entry::Added(key) | Entry::Removed { key, .. } => drop(last.insert(key, number)),
                Entry::Replaced(key, _) => drop(last.entry(key).or_insert(number)),
            }
        }
        for (number, edit) in edits.iter().enumerate() {
            let (Entry::Added(key) | Entry::Replaced(key, _) | Entry::Removed { key, .. }) = *edit;
            if matches!(edit, Entry::Removed { .. }) {
                self.remove_entry(key);
            }
            if last[&key] == number
                && let Some(&value) = now.get(&key)
            {
                self.set_entry(key, value);
            }
        }
    }

    fn units(&mut self, old: &Sequence, new: &Sequence) {
        let (old_bytes, new_bytes) = (old.as_bytes(), new.as_bytes());
        let (old_width, width) = (old.item_size(), new.item_size());
        let (mut prefix, mut suffix) = common_ends(old_bytes, new_bytes);
        if old_width != width {
            (prefix, suffix) = (0, 0);
        }
        // Whole units only.
        (prefix, suffix) = (prefix - prefix % width, suffix - suffix % width);
        let bytes = &new_bytes[prefix..new_bytes.len() - suffix];
        let removed = (old_bytes.len() - prefix - suffix) / old_width;
        if removed > 0 || !bytes.is_empty() {
            let run = Run::Units { width: width as u8, bytes: bytes.into() };
            self.splice(Line::Units, prefix / width, removed, run);
        }
    }
}

/// Where an item has moved to; none if it was taken out.
fn place_after(place: usize, splices: &[Splice]) -> Option<usize> {
    splices.iter().try_fold(place, |place, splice| match place.checked_sub(splice.index) {
        None => Some(place),
        Some(behind) if behind < splice.removed.len() => None,
        Some(behind) => Some(splice.index + splice.inserted + behind - splice.removed.len()),
    })
}

fn common_prefix<T: PartialEq>(left: &[T], right: &[T]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// How much is equal at the beginning, and at the end of what remains.
fn common_ends<T: PartialEq>(left: &[T], right: &[T]) -> (usize, usize) {
    let prefix = common_prefix(left, right);
    let rest = left[prefix..].iter().rev().zip(right[prefix..].iter().rev());
    (prefix, rest.take_while(|(left, right)| left == right).count())
}
