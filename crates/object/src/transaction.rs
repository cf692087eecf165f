//! Transactions: levels that nest, each of which can be taken back exactly. Owns the stamps that tell the barrier which
//! objects a level knows already.
//!
//! Opening a level takes a new stamp, and thereby makes every object one that must be noted at its first write, whatever
//! the number of objects: nothing is walked. Objects made inside a level are born with its stamp and never noted. A heap
//! that never opened a level has one stamp for all.
//!
//! Stamps have 16 bits. When they are used up, all objects are stamped anew: once in 65,535 levels.

use crate::before::{Before, Part};
use crate::heap::Heap;
use crate::object::Object;
use crate::value::Handle;
use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::FxBuildHasher;

/// What was written to since the level was opened.
#[derive(Default)]
pub struct Level {
    pub(crate) stamp: u16,
    /// In the order of the first writes.
    befores: IndexMap<Handle, Before, FxBuildHasher>,
}

impl Level {
    /// Every object that was there when the level was opened and was written to since, as it was.
    pub fn befores(&self) -> impl Iterator<Item = (Handle, &Before)> {
        self.befores.iter().map(|(handle, before)| (*handle, before))
    }
}

impl Heap {
    /// How many levels are open.
    pub fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// The innermost level.
    pub fn level(&self) -> Option<&Level> {
        self.levels.last()
    }

    /// From here on writes can be taken back.
    pub fn open_level(&mut self) {
        self.renew_stamp();
        if self.levels.is_empty() {
            self.begin_count();
        }
        self.levels.push(Level { stamp: self.stamp, ..Level::default() });
    }

    /// Makes the writes of the innermost level part of the one around it, or, if it is the outermost, final.
    pub fn keep_level(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        if let Some(outer) = self.levels.last_mut() {
            for (handle, before) in level.befores {
                match outer.befores.entry(handle) {
                    Entry::Occupied(mut known) => known.get_mut().absorb(before),
                    Entry::Vacant(place) => drop(place.insert(before)),
                }
            }
        }
        // What was made is kept from now on, and was never behind it.
        if self.levels.is_empty() {
            self.veil = None;
        }
        self.return_to_outer();
    }

    /// Takes back all that was written since the innermost level was opened. Says which objects that were.
    pub fn roll_back_level(&mut self) -> Vec<Handle> {
        let Some(level) = self.levels.pop() else { return Vec::new() };
        self.return_to_outer();
        let mut restored = Vec::with_capacity(level.befores.len());
        for (handle, before) in level.befores {
            let object = &mut self.objects[handle.0 as usize];
            let now = object.logical_bytes();
            before.restore(object);
            let then = object.logical_bytes();
            self.recharge(now, then);
            restored.push(handle);
        }
        self.epoch += 1;
        restored
    }

    /// Objects that were made final are noted again when they are next written to, so the stamp of a level is spent
    /// with it.
    fn return_to_outer(&mut self) {
        match self.levels.last() {
            Some(level) => self.stamp = level.stamp,
            None => self.renew_stamp(),
        }
    }

    /// Every object must be noted at its next write.
    pub(crate) fn renew_stamp(&mut self) {
        if self.last_stamp == u16::MAX {
            self.stamp_anew();
        }
        self.last_stamp += 1;
        self.stamp = self.last_stamp;
    }

    /// The barrier's way for an object that the present level does not know, or of which it must hear everything.
    #[cold]
    #[inline(never)]
    pub(crate) fn note(&mut self, handle: Handle, part: Part) {
        self.fill(handle);
        let object = &mut self.objects[handle.0 as usize];
        let Some(level) = self.levels.last_mut() else {
            object.stamp = self.stamp;
            return;
        };
        let before = match level.befores.entry(handle) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                self.shapes.pin(object.shape);
                entry.insert(Before::of(object))
            }
        };
        before.note(object, part);
        if !before.is_piecemeal() {
            object.stamp = self.stamp;
        }
    }

    /// Counts stamps from the beginning. What no open level knows gets none of theirs.
    #[cold]
    fn stamp_anew(&mut self) {
        let old: Vec<u16> = self.levels.iter().map(|level| level.stamp).collect();
        let anew = |stamp: u16| old.iter().position(|&each| each == stamp).map_or(0, |index| index as u16 + 1);
        self.objects.iter_mut().for_each(|object: &mut Object| object.stamp = anew(object.stamp));
        for level in &mut self.levels {
            level.stamp = anew(level.stamp);
            level.befores.values_mut().for_each(|before| before.stamp = anew(before.stamp));
        }
        self.last_stamp = self.levels.len() as u16;
        self.stamp = self.last_stamp;
    }
}
