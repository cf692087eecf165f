//! Writes that are set aside: what a level of a transaction did, taken out of the heap so that nobody sees it, and laid on
//! again later. Owns how a write meets what happened to its object meanwhile: slot by slot and key by key; a list, a text
//! or any other content is one thing, and what is laid on wins.

use crate::before::{Before, Entry, Replaced};
use crate::heap::Heap;
use crate::object::{Data, Kind, Object, flag};
use crate::shape::Shapes;
use crate::value::{Handle, Symbol, Value};

/// The writes of one level.
#[derive(Default)]
pub struct Overlay {
    deltas: Vec<(Handle, Delta)>,
}

/// What was done to one object.
#[derive(Default)]
struct Delta {
    /// In their order; none for one that was removed.
    slots: Vec<(Symbol, Option<Value>)>,
    protos: Option<Vec<Handle>>,
    is_activatable: Option<bool>,
    content: Option<Content>,
}

enum Content {
    Whole(Kind, Data),
    Entries(Vec<(Symbol, Option<Value>)>),
}

impl Overlay {
    /// The objects that were written to.
    pub fn objects(&self) -> impl Iterator<Item = Handle> {
        self.deltas.iter().map(|(handle, _)| *handle)
    }

    pub fn is_empty(&self) -> bool {
        self.deltas.is_empty()
    }

    /// Names every value that laying it on would bring back.
    pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
        for (handle, delta) in &self.deltas {
            visit(Value::object(*handle));
            delta.trace(visit);
        }
    }

    /// What it counts for against the memory limit.
    pub fn logical_bytes(&self) -> usize {
        self.deltas.iter().map(|(_, delta)| 64 + delta.logical_bytes()).sum()
    }
}

impl Delta {
    fn trace(&self, visit: &mut dyn FnMut(Value)) {
        let mut pair = |(name, value): &(Symbol, Option<Value>)| {
            visit(Value::object(*name));
            value.iter().for_each(|&value| visit(value));
        };
        self.slots.iter().for_each(&mut pair);
        if let Some(Content::Entries(entries)) = &self.content {
            entries.iter().for_each(&mut pair);
        }
        self.protos.iter().flatten().for_each(|&proto| visit(Value::object(proto)));
        match &self.content {
            Some(Content::Whole(_, Data::Weak(target))) => visit(*target),
            Some(Content::Whole(_, data)) => data.trace(visit),
            _ => {}
        }
    }

    fn logical_bytes(&self) -> usize {
        let content = match &self.content {
            Some(Content::Whole(_, data)) => data.logical_bytes(),
            Some(Content::Entries(entries)) => entries.len() * 16,
            None => 0,
        };
        self.slots.len() * 16 + content
    }

    fn between(before: &Before, now: &Object, shapes: &Shapes) -> Delta {
        let (old, new) = (shapes.get(before.shape), shapes.get(now.shape));
        let removed = old.names.iter().filter(|&&name| new.find(name).is_none()).map(|&name| (name, None));
        let changed = new.names.iter().enumerate().filter_map(|(index, &name)| {
            let was = old.find(name).map(|place| before.slot(place));
            (was != Some(now.slot(index))).then(|| (name, Some(now.slot(index))))
        });
        let is_activatable = now.has(flag::ACTIVATABLE);
        Delta {
            slots: removed.chain(changed).collect(),
            protos: (old.protos != new.protos).then(|| new.protos.clone()),
            is_activatable: (before.has(flag::ACTIVATABLE) != is_activatable).then_some(is_activatable),
            content: Content::between(before, now),
        }
    }
}

impl Content {
    fn between(before: &Before, now: &Object) -> Option<Content> {
        let is_same = match (&before.data, &now.data) {
            _ if before.kind != now.kind => false,
            (Replaced::Entries(entries), Data::Map(map)) => {
                let key = |edit: &Entry| match *edit {
                    Entry::Added(key) | Entry::Replaced(key, _) | Entry::Removed { key, .. } => key,
                };
                let touched = entries.edits().iter().map(key).map(|key| (key, map.get(&key).copied()));
                return Some(Content::Entries(touched.collect()));
            }
            (Replaced::Whole(Data::Map(old)), Data::Map(new)) => {
                let removed = old.keys().filter(|key| !new.contains_key(*key)).map(|&key| (key, None));
                let changed = new.iter().filter(|(key, value)| old.get(*key) != Some(*value));
                let entries: Vec<_> = removed.chain(changed.map(|(&key, &value)| (key, Some(value)))).collect();
                return (!entries.is_empty()).then_some(Content::Entries(entries));
            }
            (Replaced::Items(splices), _) => splices.is_empty(),
            (Replaced::Whole(Data::None), Data::None | Data::Foreign(_)) => true,
            (Replaced::Whole(Data::Number(old)), Data::Number(new)) => old.to_bits() == new.to_bits(),
            (Replaced::Whole(Data::Record(old)), Data::Record(new)) => old == new,
            (Replaced::Whole(Data::Primitive(old)), Data::Primitive(new)) => old == new,
            (Replaced::Whole(Data::Weak(old)), Data::Weak(new)) => old == new,
            _ => false,
        };
        (!is_same).then(|| Content::Whole(now.kind, now.data.copied_whole()))
    }
}

impl Heap {
    /// Takes back all that was written since the innermost level was opened, and hands it out. Says also which objects
    /// that were.
    pub fn lift_level(&mut self) -> (Overlay, Vec<Handle>) {
        let Some(level) = self.levels.last() else { return Default::default() };
        let delta =
            |(handle, before): (Handle, &Before)| (handle, Delta::between(before, self.resident(handle), &self.shapes));
        let overlay = Overlay { deltas: level.befores().map(delta).collect() };
        (overlay, self.roll_back_level())
    }

    /// Does the writes again, on what the objects are now.
    pub fn lay_on(&mut self, overlay: &Overlay) {
        for (handle, delta) in &overlay.deltas {
            self.lay_on_object(*handle, delta);
        }
    }

    fn lay_on_object(&mut self, handle: Handle, delta: &Delta) {
        for &(name, value) in &delta.slots {
            match value {
                Some(value) => self.set_slot(handle, name, value),
                None => drop(self.remove_slot(handle, name)),
            }
        }
        if let Some(protos) = &delta.protos {
            self.set_protos(handle, protos.clone());
        }
        if let Some(is_activatable) = delta.is_activatable {
            self.set_flag(handle, flag::ACTIVATABLE, is_activatable);
        }
        match &delta.content {
            None => {}
            Some(Content::Whole(kind, data)) => self.set_data(handle, *kind, data.copied_whole()),
            Some(Content::Entries(entries)) => {
                for &(key, value) in entries {
                    match value {
                        Some(value) => self.map_put(handle, key, value),
                        None => drop(self.map_remove(handle, key)),
                    }
                }
            }
        }
    }
}
