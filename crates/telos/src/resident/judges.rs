//! What judges dreams changes in live only with a person's token, as if it were locked. Else a method that was merged could take the
//! judge away when live calls it, and all that comes after it would be judged by nobody.
//!
//! **What is held**: the slots by which judges are found; live's `Verification` and the one that the image was born with, each with its
//! methods, lists and maps; the checks, rules and prototypes that it holds, with theirs, and what all of these inherit from; and
//! `UnitTest`. What else such a rule refers to is not held, as with any lock, nor is the rest of Core, which programs of the image may
//! extend: no dream may.

use super::Roots;
use super::locks::{COVERED_MAX, covered_with, roots_of};
use super::names::slot_of;
use super::protection::held_objects;
use crate::report;
use image::{Guard, Named};
use object::change::{Creation, ObjectId, Text};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;
use store::Store;

/// The number of the kind of plain objects, in records.
const PLAIN: u32 = 0;

/// Holds all of it: the slots at once, and objects when something might be one of them.
pub fn hold(guard: &mut Guard, store: &Store, roots: &Roots) -> Result<(), String> {
    let telos = slot_of(&read(store, roots.lobby)?, "Telos");
    let own: Rc<str> = Rc::from("what judges dreams (Telos verification)");
    let slots = [
        (roots.lobby, "Telos"),
        (telos, "verification"),
        (roots.core, "Verification"),
        (roots.core, "UnitTest"),
        // Code finds these before those of Core.
        (roots.lobby, "Verification"),
        (roots.lobby, "UnitTest"),
    ];
    for (object, slot) in slots {
        object.iter().for_each(|object| guard.hold_slot(*object, Text::from(slot), &own));
    }
    guard.seek(found, roots.lobby.into_iter().chain(telos).collect());
    Ok(())
}

fn found(store: &Store) -> Result<Named, String> {
    judges(store).map_err(|problem| format!("what judges dreams, which cannot be read ({problem}),"))
}

/// What judges, each object with what is said when somebody changes it.
fn judges(store: &Store) -> Result<Named, String> {
    let roots = roots_of(store).map_err(|error| error.to_string())?;
    let (lobby, core) = (read(store, roots.lobby)?, read(store, roots.core)?);
    let telos_id = slot_of(&lobby, "Telos");
    let telos = read(store, telos_id)?;
    let mut others: BTreeSet<ObjectId> = held_objects(&core).into_iter().collect();
    others.extend([roots.lobby, roots.core, telos_id].into_iter().flatten());
    let mut held = Named::default();
    for judge in [slot_of(&telos, "verification"), slot_of(&core, "Verification")].into_iter().flatten() {
        add_judge(&mut held, store, judge, &others, &Rc::from("Verification, which judges dreams,"))?;
    }
    if let Some(unit_test) = slot_of(&core, "UnitTest") {
        add_judge(&mut held, store, unit_test, &others, &Rc::from("UnitTest, by which dreams are judged,"))?;
    }
    Ok(held)
}

fn read(store: &Store, id: Option<ObjectId>) -> Result<Creation, String> {
    let record = id.map(|id| store.read(id)).transpose().map_err(|error| error.to_string())?;
    Ok(record.flatten().unwrap_or_default())
}

/// A judge, what it holds directly, and what those inherit from, but for `others`: prototypes that all programs have.
fn add_judge(
    held: &mut Named,
    store: &Store,
    judge: ObjectId,
    others: &BTreeSet<ObjectId>,
    name: &Rc<str>,
) -> Result<(), String> {
    let mut queue = VecDeque::from([(judge, true)]);
    let mut seen = BTreeSet::new();
    while let Some((object, is_judge)) = queue.pop_front() {
        let is_plain = |record: &Creation| record.kind == PLAIN;
        let Some(record) = store.read(object).map_err(|error| error.to_string())?.filter(is_plain) else { continue };
        if !seen.insert(object) || (object != judge && others.contains(&object)) {
            continue;
        }
        let mut met = Vec::new();
        let covered = covered_with(store, object, &mut |each| met.push(each))?;
        if covered.len() > COVERED_MAX {
            report::say(&format!(
                "warning: object {object}, of what judges dreams, is too large; not all of it is held"
            ));
        }
        held.extend(covered.into_iter().map(|each| (each, name.clone())));
        queue.extend(record.protos.iter().map(|proto| (*proto, is_judge)));
        queue.extend(met.into_iter().filter(|_| is_judge).map(|each| (each, false)));
    }
    Ok(())
}
