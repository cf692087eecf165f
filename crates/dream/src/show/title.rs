//! What objects are called: as the image calls them, or by the path on which the journal puts a new one.

use super::view::View;
use super::{lines::harmless, readable::is_name};
use crate::journal::Journal;
use image::readable_text;
use language::syntax::quote;
use object::change::{Datum, Field, ObjectId, Operation, Text};
use rustc_hash::FxHashMap;

pub struct Titles<'t> {
    view: &'t View<'t>,
    /// Of new objects.
    paths: FxHashMap<ObjectId, String>,
}

impl<'t> Titles<'t> {
    pub fn new(view: &'t View<'t>, journal: &Journal) -> Titles<'t> {
        let mut titles = Titles { view, paths: FxHashMap::default() };
        // Which new objects lie in which slots, in the order in which the journal says so.
        let mut held: FxHashMap<ObjectId, Vec<(Text, ObjectId)>> = FxHashMap::default();
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
                if !titles.paths.contains_key(&object) {
                    titles.paths.insert(object, path(&title, &name));
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

/// A slot's name as it is written before `:=`.
pub fn slot_name(name: &Text) -> String {
    let text = readable_text(name.as_bytes());
    harmless(&if is_name(&text) || is_operator(&text) { text } else { quote(&text) })
}

fn is_operator(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| "+-*/%^&|<>=!?@.:~".contains(letter))
}
