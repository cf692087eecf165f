//! Messages as heap records: their fields, and the way from a parsed tree to the heap and back.
//! Owns the record's layout; everybody else asks here. What is no message, as may come out of a file where one should be,
//! has no name, no value and nothing behind it.

use crate::syntax::{self, Literal, Node, NodeId, Tree};
use object::{Data, Handle, Heap, Kind, Symbol, ThinVec, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Fields of a message record; the arguments follow.
pub mod field {
    pub const NAME: usize = 0;
    pub const NEXT: usize = 1;
    pub const LITERAL: usize = 2;
    pub const LABEL: usize = 3;
    pub const LINE: usize = 4;
    pub const COLUMN: usize = 5;
    pub const ARGUMENTS: usize = 6;
}

#[inline(always)]
pub fn name(heap: &Heap, message: Handle) -> Symbol {
    heap.record(message).get(field::NAME).and_then(|name| name.as_handle()).unwrap_or(Handle(0))
}

#[inline(always)]
pub fn next(heap: &Heap, message: Handle) -> Option<Handle> {
    heap.record(message).get(field::NEXT).filter(|next| !next.is_nil())?.as_handle()
}

/// The value that the message has without being sent, if it is a literal.
#[inline(always)]
pub fn literal(heap: &Heap, message: Handle) -> Option<Value> {
    heap.record(message).get(field::LITERAL).copied().filter(|literal| !literal.is_absent())
}

#[inline(always)]
pub fn argument_count(heap: &Heap, message: Handle) -> usize {
    heap.record(message).len().saturating_sub(field::ARGUMENTS)
}

#[inline(always)]
pub fn argument(heap: &Heap, message: Handle, index: usize) -> Option<Handle> {
    heap.record(message).get(field::ARGUMENTS + index).and_then(|argument| argument.as_handle())
}

pub fn arguments(heap: &Heap, message: Handle) -> Vec<Handle> {
    heap.record(message).iter().skip(field::ARGUMENTS).filter_map(|argument| argument.as_handle()).collect()
}

pub fn line(heap: &Heap, message: Handle) -> u32 {
    heap.record(message).get(field::LINE).and_then(|line| line.as_number()).unwrap_or(0.0) as u32
}

pub fn column(heap: &Heap, message: Handle) -> u32 {
    heap.record(message).get(field::COLUMN).and_then(|column| column.as_number()).unwrap_or(0.0) as u32
}

/// What a new message is made of.
pub struct Parts {
    pub name: Symbol,
    pub literal: Value,
    pub label: Value,
    pub line: u32,
    pub column: u32,
}

pub fn allocate(heap: &mut Heap, proto: Handle, parts: Parts, arguments: &[Handle], next: Value) -> Handle {
    let mut fields = ThinVec::with_capacity(field::ARGUMENTS + arguments.len());
    fields.extend([
        Value::object(parts.name),
        next,
        parts.literal,
        parts.label,
        Value::number(parts.line as f64),
        Value::number(parts.column as f64),
    ]);
    fields.extend(arguments.iter().map(|&argument| Value::object(argument)));
    heap.clone_of(proto, Kind::Message, Data::Record(fields))
}

/// A message that just has a name.
pub fn with_name(heap: &mut Heap, proto: Handle, name: Symbol, label: Symbol) -> Handle {
    let parts = Parts { name, literal: Value::ABSENT, label: Value::object(label), line: 0, column: 0 };
    allocate(heap, proto, parts, &[], Value::NIL)
}

/// Puts a parsed tree into the heap and returns its root.
pub fn from_tree(heap: &mut Heap, proto: Handle, tree: &Tree<'_>, label: Symbol) -> Handle {
    let label = Value::object(label);
    let mut handles = vec![Handle(0); tree.nodes.len()];
    let mut arguments = Vec::new();
    // A message is made after those it refers to, so that it is made once and whole.
    for id in parents_first(tree).into_iter().rev() {
        let node = tree.node(id);
        let literal = match &node.literal {
            Literal::None => constant(&node.name).unwrap_or(Value::ABSENT),
            Literal::Number(number) => Value::number(*number),
            Literal::Text(text) => Value::object(heap.intern(text)),
        };
        let name = heap.intern(&node.name);
        let next = node.next.map_or(Value::NIL, |next| Value::object(handles[next.0 as usize]));
        arguments.clear();
        arguments.extend(node.args.iter().map(|argument| handles[argument.0 as usize]));
        let parts = Parts { name, literal, label, line: node.line, column: node.column };
        handles[id.0 as usize] = allocate(heap, proto, parts, &arguments, next);
    }
    handles[tree.root.0 as usize]
}

/// The nodes that the root reaches, each after the one that refers to it.
fn parents_first(tree: &Tree<'_>) -> Vec<NodeId> {
    let mut order = Vec::with_capacity(tree.nodes.len());
    let mut pending = vec![tree.root];
    while let Some(id) = pending.pop() {
        order.push(id);
        let node = tree.node(id);
        pending.extend(node.args.iter().copied());
        pending.extend(node.next);
    }
    order
}

/// The names that are values wherever they stand.
fn constant(name: &str) -> Option<Value> {
    match name {
        "nil" => Some(Value::NIL),
        "true" => Some(Value::TRUE),
        "false" => Some(Value::FALSE),
        _ => None,
    }
}

/// A tree may hold the same messages more than once, but copies no more of them than this: sharing can make a tree of
/// any size out of a few messages.
pub const REPEATS_MAX: usize = 100_000;

/// Copies a message and what hangs on it out of the heap, for printing and shuffling. A message that is its own
/// descendant is cut where it would repeat; one that is there more than once is copied each time. None if that is
/// too often.
pub fn to_tree(heap: &Heap, root: Handle) -> Option<Tree<'static>> {
    let mut nodes: Vec<Node<'static>> = Vec::new();
    let (mut seen, mut repeats) = (FxHashSet::default(), 0);
    // The messages between the root and the present one.
    let mut path = FxHashSet::default();
    let mut pending = vec![Visit::Enter(root, None)];
    while let Some(visit) = pending.pop() {
        let (message, link) = match visit {
            Visit::Enter(message, link) => (message, link),
            Visit::Leave(message) => {
                path.remove(&message);
                continue;
            }
        };
        if !path.insert(message) {
            continue;
        }
        repeats += !seen.insert(message) as usize;
        if repeats > REPEATS_MAX {
            return None;
        }
        let at = nodes.len();
        let id = NodeId(at as u32);
        nodes.push(node_of(heap, message));
        match link {
            Some(Link::Next(parent)) => nodes[parent].next = Some(id),
            Some(Link::Argument(parent)) => nodes[parent].args.push(id),
            None => {}
        }
        pending.push(Visit::Leave(message));
        pending.extend(
            arguments(heap, message).iter().rev().map(|&argument| Visit::Enter(argument, Some(Link::Argument(at)))),
        );
        pending.extend(next(heap, message).map(|next| Visit::Enter(next, Some(Link::Next(at)))));
    }
    Some(Tree { nodes, root: NodeId(0) })
}

enum Visit {
    Enter(Handle, Option<Link>),
    /// All that hangs on it was visited.
    Leave(Handle),
}

enum Link {
    Next(usize),
    Argument(usize),
}

fn node_of(heap: &Heap, message: Handle) -> Node<'static> {
    let literal = match literal(heap, message) {
        None => Literal::None,
        Some(value) => literal_of(heap, value),
    };
    Node {
        name: Cow::Owned(heap.symbol_text(name(heap, message)).into_owned()),
        literal,
        args: syntax::Arguments::new(),
        next: None,
        line: line(heap, message),
        column: column(heap, message),
    }
}

/// Whether each message from this one on has the value that its name stands for, and none where that stands for none: whoever reads it
/// as source reads what it does.
pub fn is_as_written(heap: &Heap, root: Handle) -> bool {
    let (mut seen, mut pending) = (FxHashSet::default(), vec![root]);
    while let Some(message) = pending.pop() {
        if !seen.insert(message) {
            continue;
        }
        if !has_value_of_name(heap, message) {
            return false;
        }
        pending.extend(arguments(heap, message));
        pending.extend(next(heap, message));
    }
    true
}

fn has_value_of_name(heap: &Heap, message: Handle) -> bool {
    let name = heap.symbol_text(name(heap, message));
    let value = literal(heap, message);
    if let Some(constant) = constant(&name) {
        return value == Some(constant);
    }
    let parsed = syntax::parse(&name, &syntax::OperatorTable::empty());
    let written = parsed.map_or(Literal::None, |tree| tree.node(tree.root).literal.clone());
    match value {
        None => written == Literal::None,
        // A value that no literal stands for is never what was written.
        Some(value) => written != Literal::None && literal_of(heap, value) == written,
    }
}

fn literal_of(heap: &Heap, value: Value) -> Literal<'static> {
    if let Some(number) = value.as_number() {
        return Literal::Number(number);
    }
    match value.as_handle().and_then(|handle| heap.sequence(handle)) {
        Some(sequence) => Literal::Text(String::from_utf8_lossy(sequence.as_bytes()).into_owned().into()),
        None => Literal::None,
    }
}

/// A copy of the message and of all that hangs on it.
pub fn deep_copy(heap: &mut Heap, proto: Handle, root: Handle) -> Handle {
    let mut copies: FxHashMap<Handle, Handle> = FxHashMap::default();
    let mut order = Vec::new();
    let mut pending = vec![root];
    while let Some(message) = pending.pop() {
        if copies.contains_key(&message) || heap.kind(message) != Kind::Message {
            continue;
        }
        let fields: ThinVec<Value> = heap.record(message).iter().copied().collect();
        let copy = heap.clone_of(proto, Kind::Message, Data::Record(fields));
        copies.insert(message, copy);
        order.push(copy);
        pending.extend(arguments(heap, message));
        pending.extend(next(heap, message));
    }
    for copy in order {
        let count = heap.record(copy).len();
        for index in std::iter::once(field::NEXT).chain(field::ARGUMENTS..count) {
            let linked = heap.record(copy)[index].as_handle().and_then(|old| copies.get(&old));
            if let Some(&linked) = linked {
                heap.record_set(copy, index, Value::object(linked));
            }
        }
    }
    copies.get(&root).copied().unwrap_or(root)
}
