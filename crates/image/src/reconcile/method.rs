//! A method or block: its body, and what stands around it. Owns the merge of that: each part is a register of its own,
//! and what both sides changed differently is a contradiction.
//!
//! A name that one side gave to an argument, or took from it, means something else there than the other side counted on.
//! So the other side must not have brought in a use of it.

use super::three_way::three_way;
use super::tree::{Shell, Tree};
use object::change::{Datum, Text};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Method {
    pub shell: Shell,
    /// Where a block was made; nil in a method.
    pub scope: Datum,
    pub passes_stops: Datum,
    pub names: Vec<Text>,
    pub body: Tree,
}

impl Method {
    /// Whether both are the same code, wherever that was written.
    pub fn same_code(&self, other: &Method) -> bool {
        let around = |method: &Method| (method.scope.clone(), method.passes_stops.clone());
        self.shell == other.shell
            && around(self) == around(other)
            && self.names == other.names
            && self.body.same_code(&other.body)
    }

    /// What both sides made of the base, as one; none if they contradict each other. It does not matter which is which.
    pub fn merged(base: &Method, one: &Method, other: &Method) -> Option<Method> {
        let body = three_way(&base.body, &one.body, &other.body)?;
        let merged = Method {
            shell: shell(&base.shell, &one.shell, &other.shell)?,
            scope: register(&base.scope, &one.scope, &other.scope)?,
            passes_stops: register(&base.passes_stops, &one.passes_stops, &other.passes_stops)?,
            names: register(&base.names, &one.names, &other.names)?,
            body,
        };
        let is_known = one.names == other.names;
        let is_understood = is_known || [one, other].into_iter().all(|side| !brings_in(base, side, &merged));
        is_understood.then_some(merged)
    }
}

/// Whether something uses a name of which only this side knows that it is an argument, or is none any more.
fn brings_in(base: &Method, side: &Method, merged: &Method) -> bool {
    if side.names == base.names {
        return false;
    }
    let of_one_only = |name: &&Text| side.names.contains(name) != base.names.contains(name);
    let mut renamed = side.names.iter().chain(&base.names).filter(of_one_only);
    renamed.any(|name| uses(&merged.body, name) > uses(&side.body, name))
}

fn uses(tree: &Tree, name: &Text) -> usize {
    let is_use = |text: &Text, value: &Datum| text == name || matches!(value, Datum::Text(text) if text == name);
    tree.messages().iter().filter(|message| is_use(&message.head.name, &message.head.value)).count()
}

fn shell(base: &Shell, one: &Shell, other: &Shell) -> Option<Shell> {
    Some(Shell {
        flags: register(&base.flags, &one.flags, &other.flags)?,
        protos: register(&base.protos, &one.protos, &other.protos)?,
        slots: slots(base, one, other)?,
    })
}

/// Slot by slot, in the order of their names where they are not as one side has them.
fn slots(base: &Shell, one: &Shell, other: &Shell) -> Option<Vec<(Text, Datum)>> {
    if let Some(slots) = register(&base.slots, &one.slots, &other.slots) {
        return Some(slots);
    }
    let by_name = |shell: &Shell| shell.slots.iter().cloned().collect::<BTreeMap<Text, Datum>>();
    let (base, one, other) = (by_name(base), by_name(one), by_name(other));
    let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(name)));
    let mut slots = Vec::new();
    for name in names {
        let value = register(&base.get(name), &one.get(name), &other.get(name))?;
        slots.extend(value.map(|value| (name.clone(), value.clone())));
    }
    slots.sort();
    Some(slots)
}

fn register<T: Clone + PartialEq>(base: &T, one: &T, other: &T) -> Option<T> {
    if one == base || one == other {
        Some(other.clone())
    } else if other == base {
        Some(one.clone())
    } else {
        None
    }
}
