//! Whether it matters which of two runs of statements comes first. Owns the judgement, which sees names only: it is for
//! the verification to find what it cannot see.
//!
//! It matters if one of them may leave before its end, if one assigns a name that the other mentions, or if both work on
//! the same thing: send it something that is not known to only look, or call the same setter.

use super::forest::Forest;
use super::tree::{Message, Statement};
use object::change::{Datum, Text};
use rustc_hash::FxHashSet;

/// Messages after which it is not sure that the next statement is reached, or when.
const LEAVING: &[&str] = &[
    "return",
    "returnIfNonNil",
    "returnIfError",
    "break",
    "continue",
    "raise",
    "pass",
    "signal",
    "yield",
    "pause",
    "resume",
    "wait",
    "stop",
    "exit",
];
/// Messages whose first argument is the name of a slot that is changed.
const ASSIGNING: &[&str] = &["setSlot", "updateSlot", "newSlot", "setSlotWithType", "removeSlot"];
/// Messages that only look at what they are sent to.
const LOOKING: &[&str] = &[
    "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "**", "..", "and", "or", "&&", "||", "not", "isNil",
    "size", "asString", "isEmpty", "at", "type", "println", "print",
];

#[derive(Default)]
struct Effects<'f> {
    may_leave: bool,
    assigned: FxHashSet<&'f [u8]>,
    mentioned: FxHashSet<&'f [u8]>,
    worked_on: FxHashSet<&'f [u8]>,
}

/// Whether the first run goes first, by what they say and not by whose they are; none if it matters.
pub fn order(forest: &Forest, one: &[Statement], other: &[Statement]) -> Option<bool> {
    let (left, right) = (effects(forest, one)?, effects(forest, other)?);
    let is_free = !left.may_leave
        && !right.may_leave
        && left.assigned.is_disjoint(&right.mentioned)
        && right.assigned.is_disjoint(&left.mentioned)
        && left.worked_on.is_disjoint(&right.worked_on);
    if is_free { Some(forest.words(one) <= forest.words(other)) } else { None }
}

/// None if it cannot be said what is assigned.
fn effects<'f>(forest: &'f Forest, run: &'f [Statement]) -> Option<Effects<'f>> {
    let mut effects = Effects::default();
    run.iter().for_each(|statement| effects.note_receiver(forest, statement));
    for (_, id) in forest.walk(run) {
        let message = &forest.messages[id];
        let name = message.head.name.as_bytes();
        effects.may_leave |= is_one_of(name, LEAVING);
        effects.mentioned.insert(name);
        if let Datum::Text(text) = &message.head.value {
            effects.mentioned.insert(text.as_bytes());
        }
        if is_one_of(name, ASSIGNING) {
            effects.assigned.insert(assigned(forest, message)?.as_bytes());
        }
        if name.starts_with(b"set") {
            effects.worked_on.insert(name);
        }
        let statements = message.arguments.iter().flatten();
        statements.for_each(|statement| effects.note_receiver(forest, statement));
    }
    // That of an assignment is judged by what is assigned.
    effects.worked_on.retain(|name| !is_one_of(name, ASSIGNING));
    Some(effects)
}

impl<'f> Effects<'f> {
    fn note_receiver(&mut self, forest: &'f Forest, statement: &[usize]) {
        let name = |id: &usize| forest.messages[*id].head.name.as_bytes();
        let from = usize::from(statement.first().is_some_and(|first| name(first) == b"self"));
        if let [receiver, sent, ..] = &statement[from..]
            && forest.messages[*receiver].head.value.is_absent()
            && !is_one_of(name(sent), LOOKING)
        {
            self.worked_on.insert(name(receiver));
        }
    }
}

fn assigned<'f>(forest: &'f Forest, message: &'f Message) -> Option<&'f Text> {
    let [statement] = message.arguments.first()?.as_slice() else { return None };
    let [slot] = statement.as_slice() else { return None };
    match &forest.messages[*slot].head.value {
        Datum::Text(text) => Some(text),
        _ => None,
    }
}

fn is_one_of(name: &[u8], names: &[&str]) -> bool {
    names.iter().any(|each| each.as_bytes() == name)
}
