//! What objects are called: as the image calls them, or by the path on which the journal puts a new one.

use super::lines::harmless;
use super::readable::can_be_assigned_to;
use super::value::start_of_text;
use super::view::View;
use crate::journal::Journal;
use image::readable_text;
use language::syntax::quote;
use object::change::{Datum, Field, ObjectId, Operation, Text};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub struct Titles<'t> {
    view: &'t View<'t>,
    /// Of new objects.
    paths: HashMap<ObjectId, String>,
}

impl<'t> Titles<'t> {
    pub fn new(view: &'t View<'t>, journal: &Journal) -> Titles<'t> {
        let mut titles = Titles { view, paths: HashMap::default() };
        // Which new objects lie in which slots, in the order in which the journal says so.
        let mut held: HashMap<ObjectId, Vec<(Text, ObjectId)>> = HashMap::default();
        let mut holders = Vec::new();
        for change in journal.changes() {
            let mut hold = |name: &Text, value: &Datum| {
                if let Datum::Object(object) = value
                    && view.is_made(*object)
                {
                    held.entry(change.object).or_default().push((name.clone(), *object));
                }
            };
            match &change.operation {
                Operation::Create(creation) => creation.slots.iter().for_each(|(name, value)| hold(name, value)),
                Operation::Put { field: Field::Slot(name), value } => hold(name, value),
                _ => continue,
            }
            if !view.is_made(change.object) {
                holders.push(change.object);
            }
        }
        // From what the image has outwards; the first path that is found is the object's.
        let mut at = 0;
        while let Some(holder) = holders.get(at).copied() {
            at += 1;
            let Some(title) = titles.name(holder) else { continue };
            for (name, object) in held.remove(&holder).unwrap_or_default() {
                if let Entry::Vacant(place) = titles.paths.entry(object) {
                    place.insert(path(&title, &name));
                    holders.push(object);
                }
            }
        }
        titles
    }

    pub fn name(&self, object: ObjectId) -> Option<String> {
        match self.view.is_made(object) {
            true => self.paths.get(&object).cloned(),
            false => self.view.names.name(object).map(|name| harmless(&name)),
        }
    }

    pub fn title(&self, object: ObjectId) -> String {
        self.name(object).unwrap_or_else(|| format!("object {object}"))
    }
}

/// A path longer than this tells nobody anything.
const PATH_BYTES: usize = 200;

fn path(holder: &str, name: &Text) -> String {
    let name = slot_name(name);
    if holder == "Lobby" || holder.len() > PATH_BYTES { name } else { format!("{holder} {name}") }
}

/// A slot's name as it is written before `:=`; the beginning of one that nobody would read.
pub fn slot_name(name: &Text) -> String {
    let (bytes, start) = (name.as_bytes().len(), start_of_text(name.as_bytes()));
    let text = readable_text(start);
    harmless(&match start.len() == bytes {
        true if can_be_assigned_to(&text) => text,
        true => quote(&text),
        false => format!("{}… ({bytes} bytes)", quote(&text)),
    })
}
