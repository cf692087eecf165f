//! How far two messages are from each other, as trees: what is left of both when all that they have in common, in the same
//! order and at the same depth, is taken away. This is Selkow's tree edit distance, in which a renamed message is one that
//! went and one that came. Time and memory are bounded, and paid for; nothing here recurses.

use super::{Args, ONE, Row};
use crate::message as messages;
use crate::signal::Outcome;
use crate::vm::Vm;
use object::{Handle, Heap, Kind, Symbol, Value};
use std::ops::Range;

pub const TABLE: &[Row] = &[("distanceTo", ONE, distance)];

/// Of longer code only the beginning is compared, outermost messages first.
const MESSAGES_MAX: usize = 1024;

/// A pair of messages is compared in far less time than one is sent.
const PAIRS_PER_FUEL: usize = 32;

fn distance(vm: &mut Vm, args: Args) -> Outcome {
    let other = args.of_kind(vm, 0, Kind::Message)?;
    let message = args.receiver(vm, Kind::Message)?;
    vm.charge(MESSAGES_MAX / PAIRS_PER_FUEL)?;
    let [one, other] = [message, other].map(|root| Layers::new(vm, root));
    let pairs: usize = one.layers.iter().zip(&other.layers).map(|(one, other)| one.len() * other.len()).sum();
    vm.charge(pairs / PAIRS_PER_FUEL)?;
    let all = one.messages + other.messages;
    let apart = all - 2 * common(&one, &other);
    Ok(Value::number(if all == 0 { 0.0 } else { apart as f64 / all as f64 }))
}

/// A tree by depth. Layers of expressions, which have messages below them, and of messages, which have the expressions of
/// their arguments there, take turns.
struct Layers {
    layers: Vec<Vec<Place>>,
    messages: usize,
    /// What was looked at, the ends of expressions included: a message may be its own descendant.
    looked_at: usize,
}

struct Place {
    /// None for an expression.
    name: Option<Symbol>,
    /// Where in the next layer what is below it stands.
    below: Range<usize>,
}

impl Layers {
    fn new(vm: &Vm, root: Handle) -> Layers {
        let mut found = Layers { layers: Vec::new(), messages: 0, looked_at: 0 };
        let mut expressions = vec![root];
        while !expressions.is_empty() && found.has_room() {
            expressions = found.expressions(&vm.heap, vm.names.semicolon, &expressions);
        }
        found
    }

    fn has_room(&self) -> bool {
        self.messages < MESSAGES_MAX && self.looked_at < 2 * MESSAGES_MAX
    }

    /// Adds a layer of expressions and that of their messages, and returns the expressions below those.
    fn expressions(&mut self, heap: &Heap, end: Symbol, roots: &[Handle]) -> Vec<Handle> {
        let (mut expressions, mut below, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
        for &root in roots {
            let start = below.len();
            let mut next = Some(root);
            while let Some(message) = next
                && self.has_room()
            {
                next = messages::next(heap, message);
                self.looked_at += 1;
                let name = messages::name(heap, message);
                if name == end {
                    continue;
                }
                let first = arguments.len();
                // Places below are those of the next layer, so none is named that will not be there.
                let count = messages::argument_count(heap, message).min(MESSAGES_MAX - first);
                arguments.extend((0..count).filter_map(|index| messages::argument(heap, message, index)));
                below.push(Place { name: Some(name), below: first..arguments.len() });
                self.messages += 1;
            }
            expressions.push(Place { name: None, below: start..below.len() });
        }
        self.layers.extend([expressions, below]);
        arguments
    }
}

/// How many messages the trees have in common, from the deepest layer that both have upwards.
fn common(one: &Layers, other: &Layers) -> usize {
    let mut below: Vec<usize> = Vec::new();
    let mut width = 0;
    let mut best = Vec::new();
    for (upper, lower) in one.layers.iter().zip(&other.layers).rev() {
        let mut counts = Vec::with_capacity(upper.len() * lower.len());
        for left in upper {
            for right in lower {
                let same = left.name.is_some() && left.name == right.name;
                counts.push(same as usize + aligned(&below, width, &left.below, &right.below, &mut best));
            }
        }
        (below, width) = (counts, lower.len());
    }
    below.first().copied().unwrap_or_default()
}

/// The most that two rows of places have in common without crossing each other.
fn aligned(
    counts: &[usize],
    width: usize,
    rows: &Range<usize>,
    columns: &Range<usize>,
    best: &mut Vec<usize>,
) -> usize {
    // Below the last common layer nothing is in common.
    if counts.is_empty() || rows.is_empty() || columns.is_empty() {
        return 0;
    }
    best.clear();
    best.resize(columns.len() + 1, 0);
    for row in rows.clone() {
        let mut diagonal = 0;
        for (at, column) in columns.clone().enumerate() {
            let above = best[at + 1];
            best[at + 1] = above.max(best[at]).max(diagonal + counts[row * width + column]);
            diagonal = above;
        }
    }
    best[columns.len()]
}
