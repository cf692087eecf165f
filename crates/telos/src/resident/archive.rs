//! The archive of methods: which sources a dream brings, and which the image had before. What is written there, and when, is the
//! merge's and `Telos noteRejection`'s.

use super::Roots;
use super::names::slot_of;
use object::change::{Body, Datum, ObjectId, Run};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use store::Store;

/// A longer method is not kept: more of it than is compared.
const SOURCE_BYTES_MAX: usize = 16 << 10;
/// Of one dream so many methods are kept,
const SOURCES_MAX: usize = 256;
/// and of the archive so much is told to the checks, the newest of it.
const TOLD_BYTES_MAX: usize = 512 << 10;

/// Sources of the methods that these changes leave in objects that are looked at, in the order of objects and slots.
pub fn sources(told: &[Value], touched: &BTreeMap<String, ObjectId>) -> Vec<String> {
    let touched: BTreeSet<String> = touched.values().map(ToString::to_string).collect();
    let mut methods: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for change in told {
        let Some(object) = change["object_id"].as_str().filter(|object| touched.contains(*object)) else { continue };
        let slots = match change["slot_name"].as_str() {
            Some(slot) => vec![(slot, &change["value"])],
            None => made_slots(change),
        };
        for (slot, value) in slots {
            match value["source"].as_str() {
                Some(source) => methods.insert((object, slot), source),
                None => methods.remove(&(object, slot)),
            };
        }
    }
    let sources: BTreeSet<&str> = methods.into_values().filter(|source| source.len() <= SOURCE_BYTES_MAX).collect();
    sources.into_iter().take(SOURCES_MAX).map(String::from).collect()
}

/// The slots that a new object was made with.
fn made_slots(change: &Value) -> Vec<(&str, &Value)> {
    let pairs = change["value"]["slots"].as_array().into_iter().flatten();
    pairs.filter_map(|pair| Some((pair[0].as_str()?, pair.get(1)?))).collect()
}

/// What the image has in its archive, the newest last.
pub fn archived(store: &Store, roots: &Roots) -> Vec<String> {
    let read = |id: Option<ObjectId>| store.read(id?).ok().flatten();
    let telos = read(roots.lobby).and_then(|lobby| slot_of(&lobby, "Telos"));
    let list = read(telos).and_then(|telos| slot_of(&telos, "archive"));
    let Some(Body::Elements(Run::Items(items))) = read(list).map(|list| list.body) else { return Vec::new() };
    let mut bytes = 0;
    let texts = items.iter().rev().filter_map(|item| match item {
        Datum::Text(text) => Some(image::readable_text(text.as_bytes())),
        _ => None,
    });
    let mut newest: Vec<String> = texts
        .take_while(|text| {
            bytes += text.len();
            bytes <= TOLD_BYTES_MAX
        })
        .collect();
    newest.reverse();
    newest
}
