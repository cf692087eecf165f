//! What one object was before a transaction wrote to it: enough to bring it back, and to say what changed.
//!
//! A small object is copied whole at its first write, and later writes of the transaction cost nothing. A long list or
//! a large map is not: each edit is noted with what it replaced, until that is more than the copy would have been.

use crate::object::{Data, INLINE_SLOTS, Kind, Map, Object};
use crate::shape::ShapeId;
use crate::value::{Symbol, Value};
use rustc_hash::FxHashSet;
use thin_vec::ThinVec;

/// Lists and maps with more than this are noted edit by edit.
const COPIED_MAX: usize = 64;

pub struct Before {
    pub(crate) shape: ShapeId,
    pub(crate) kind: Kind,
    pub(crate) flags: u8,
    pub(crate) stamp: u16,
    pub(crate) inline: [Value; INLINE_SLOTS],
    pub(crate) more: ThinVec<Value>,
    pub(crate) data: Replaced,
}

/// What became of the data.
pub enum Replaced {
    /// This is what it was.
    Whole(Data),
    /// A list, edited in this order.
    Items(Vec<Splice>),
    /// A map.
    Entries(Entries),
}

/// At this index these items were taken out, and so many put in.
#[derive(Clone, PartialEq, Debug)]
pub struct Splice {
    pub index: usize,
    pub removed: Vec<Value>,
    pub inserted: usize,
}

/// Edits of a map, in their order.
#[derive(Default)]
pub struct Entries {
    edits: Vec<Entry>,
    /// Keys whose first value is noted, and whose place has not changed since.
    settled: FxHashSet<Symbol>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Entry {
    Added(Symbol),
    Replaced(Symbol, Value),
    Removed { key: Symbol, index: usize, value: Value },
}

/// Which part of an object is about to change.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// Anything but the items of a list or the entries of a map.
    Rest,
    /// So many items are added to a list.
    Push(usize),
    /// So many items at this index give way to so many others.
    Splice { index: usize, removed: usize, inserted: usize },
    /// A key of a map, which is there afterwards.
    Key(Symbol),
    /// One that is not.
    KeyGone(Symbol),
    /// All of the data.
    Data,
}

impl Before {
    pub(crate) fn of(object: &Object) -> Before {
        let data = match &object.data {
            Data::List(values, start) if values.len() - *start as usize > COPIED_MAX => Replaced::Items(Vec::new()),
            Data::Map(map) if map.len() > COPIED_MAX => Replaced::Entries(Entries::default()),
            data => Replaced::Whole(data.copied_whole()),
        };
        Before {
            shape: object.shape,
            kind: object.kind,
            flags: object.flags,
            stamp: object.stamp,
            inline: object.inline,
            more: object.more.clone(),
            data,
        }
    }

    /// Whether it must hear of every edit.
    pub(crate) fn is_piecemeal(&self) -> bool {
        !matches!(self.data, Replaced::Whole(_))
    }

    /// Notes an edit of the data, which is about to happen.
    pub(crate) fn note(&mut self, object: &Object, part: Part) {
        let part = match (part, &object.data) {
            (Part::Rest, _) => return,
            (Part::Push(inserted), Data::List(values, start)) => {
                Part::Splice { index: values.len() - *start as usize, removed: 0, inserted }
            }
            _ => part,
        };
        match (&mut self.data, part, &object.data) {
            (Replaced::Whole(_), ..) => return,
            (Replaced::Items(splices), Part::Splice { index, removed, inserted }, Data::List(values, start)) => {
                let items = &values[*start as usize..];
                if splices.len() < items.len().max(COPIED_MAX) {
                    return note_splice(splices, index, &items[index..index + removed], inserted);
                }
            }
            (Replaced::Entries(entries), Part::Key(key), Data::Map(map)) if entries.edits.len() < map.len() * 2 => {
                return entries.note(key, map);
            }
            (Replaced::Entries(entries), Part::KeyGone(key), Data::Map(map)) if entries.edits.len() < map.len() * 2 => {
                return entries.note_removal(key, map);
            }
            _ => {}
        }
        self.data = Replaced::Whole(self.data_before(&object.data));
    }

    /// Goes on with what an inner level noted after this one, which knows the rest.
    pub(crate) fn absorb(&mut self, inner: Before) {
        match (&mut self.data, inner.data) {
            (Replaced::Whole(_), _) => {}
            (Replaced::Items(splices), Replaced::Items(more)) => splices.extend(more),
            (Replaced::Entries(entries), Replaced::Entries(more)) => {
                entries.edits.extend(more.edits);
                entries.settled = more.settled;
            }
            (_, Replaced::Whole(data)) => self.data = Replaced::Whole(self.data_before(&data)),
            _ => unreachable!("what becomes of another kind is noted whole"),
        }
    }

    /// The data as it was, from what it is now.
    pub fn data_before(&self, now: &Data) -> Data {
        match (&self.data, now) {
            (Replaced::Whole(data), _) => data.copied(),
            (Replaced::Items(splices), Data::List(values, start)) => {
                let mut items = values[*start as usize..].iter().copied().collect();
                undo_splices(splices, &mut items);
                Data::List(items, 0)
            }
            (Replaced::Entries(entries), Data::Map(map)) => {
                let mut map = map.clone();
                entries.undo(&mut map);
                Data::Map(map)
            }
            _ => unreachable!("edits are noted for what has them, and what replaces all of it is noted whole"),
        }
    }

    /// Makes the object again what it was. The data that it had meanwhile is used up.
    pub(crate) fn restore(self, object: &mut Object) {
        match self.data {
            // Nobody knows how to copy it, so it was never undone: it belongs to the host.
            Replaced::Whole(Data::None) if matches!(object.data, Data::Foreign(_)) => {}
            Replaced::Whole(data) => object.data = data,
            Replaced::Items(splices) => {
                if let Data::List(values, start) = &mut object.data {
                    values.drain(..*start as usize);
                    *start = 0;
                    undo_splices(&splices, values);
                }
            }
            Replaced::Entries(entries) => {
                if let Data::Map(map) = &mut object.data {
                    entries.undo(map);
                }
            }
        }
        (object.shape, object.kind, object.flags) = (self.shape, self.kind, self.flags);
        (object.inline, object.more, object.stamp) = (self.inline, self.more, self.stamp);
    }

    /// Names every value that may come back, and nothing else may hold any more.
    pub(crate) fn trace(&self, visit: &mut dyn FnMut(Value)) {
        self.inline.iter().chain(&self.more).for_each(|&value| visit(value));
        match &self.data {
            Replaced::Whole(Data::Weak(target)) => visit(*target),
            Replaced::Whole(data) => data.trace(visit),
            Replaced::Items(splices) => splices.iter().flat_map(|splice| &splice.removed).for_each(|&it| visit(it)),
            Replaced::Entries(entries) => entries.edits.iter().for_each(|edit| match *edit {
                Entry::Added(key) => visit(Value::object(key)),
                Entry::Replaced(key, value) | Entry::Removed { key, value, .. } => {
                    visit(Value::object(key));
                    visit(value);
                }
            }),
        }
    }

    // ---- what a commit asks

    pub fn shape(&self) -> ShapeId {
        self.shape
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn slot(&self, index: usize) -> Value {
        if index < INLINE_SLOTS { self.inline[index] } else { self.more[index - INLINE_SLOTS] }
    }

    pub fn data(&self) -> &Replaced {
        &self.data
    }
}

/// An edit of what the last one put in, or of what follows it, is part of it.
fn note_splice(splices: &mut Vec<Splice>, index: usize, removed: &[Value], inserted: usize) {
    if let Some(last) = splices.last_mut() {
        let end = last.index + last.inserted;
        if index >= last.index && index + removed.len() <= end {
            last.inserted = last.inserted - removed.len() + inserted;
            return;
        }
        if index == end {
            last.removed.extend(removed);
            last.inserted += inserted;
            return;
        }
    }
    splices.push(Splice { index, removed: removed.to_vec(), inserted });
}

fn undo_splices(splices: &[Splice], items: &mut ThinVec<Value>) {
    for splice in splices.iter().rev() {
        let end = splice.index + splice.inserted;
        items.splice(splice.index..end, splice.removed.iter().copied());
    }
}

impl Entries {
    pub fn edits(&self) -> &[Entry] {
        &self.edits
    }

    fn note(&mut self, key: Symbol, map: &Map) {
        match map.get_full(&key) {
            None => {
                self.settled.insert(key);
                self.edits.push(Entry::Added(key));
            }
            Some((_, _, &value)) if self.settled.insert(key) => self.edits.push(Entry::Replaced(key, value)),
            Some(_) => {}
        }
    }

    fn note_removal(&mut self, key: Symbol, map: &Map) {
        if let Some((index, _, &value)) = map.get_full(&key) {
            self.settled.remove(&key);
            self.edits.push(Entry::Removed { key, index, value });
        }
    }

    fn undo(&self, map: &mut Map) {
        for edit in self.edits.iter().rev() {
            match *edit {
                Entry::Added(key) => drop(map.shift_remove(&key)),
                Entry::Replaced(key, value) => drop(map.insert(key, value)),
                Entry::Removed { key, index, value } => drop(map.shift_insert(index, key, value)),
            }
        }
    }
}
