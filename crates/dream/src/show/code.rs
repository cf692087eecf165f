//! Methods and messages from their records, as the journal or the image has them: no machine is needed, and none is fooled.
//!
//! A message that is a literal has a value, and a name that says how it was written. The machine takes the value; so the source
//! is that of the value where the two differ.

use super::readable::{Source, source};
use super::view::{View, When};
use image::readable_text;
use language::syntax::{Arguments, Literal, Node, NodeId, Tree, quote};
use object::Kind;
use object::change::{Datum, Field, ObjectId, Text};
use object::number_text::format_number;
use std::borrow::Cow;
use std::collections::HashSet;

/// Fields of the records, which `language` lays out: a message's arguments and a block's argument names come last.
mod field {
    pub const MESSAGE_FIXED: usize = 6;
    pub const BLOCK_FIXED: usize = 3;
}

/// What could be read of some code.
pub struct Code {
    pub source: Source,
    /// Every message and block in it.
    pub objects: HashSet<ObjectId>,
}

impl View<'_> {
    /// The source of a block or message; none if it is neither, or more of it than can be shown.
    pub fn code(&self, when: When, object: ObjectId) -> Option<Code> {
        let mut reader = Reader { view: self, when, nodes: Vec::new(), objects: HashSet::default() };
        let root = match self.kind(when, object)? {
            Kind::Message => reader.messages(object)?,
            Kind::Block => reader.block(object)?,
            _ => return None,
        };
        reader.objects.insert(object);
        let tree = Tree { nodes: reader.nodes, root };
        Some(Code { source: source(&tree), objects: reader.objects })
    }
}

struct Reader<'r> {
    view: &'r View<'r>,
    when: When,
    nodes: Vec<Node<'static>>,
    objects: HashSet<ObjectId>,
}

enum Visit {
    Enter(ObjectId, Option<Link>),
    /// All that hangs on it was visited.
    Leave(ObjectId),
}

#[derive(Clone, Copy)]
enum Link {
    Next(usize),
    Argument(usize),
}

impl Reader<'_> {
    /// `method(a, b, body)`, as a message.
    fn block(&mut self, object: ObjectId) -> Option<NodeId> {
        let Some(Datum::Record(fields)) = self.view.field(self.when, object, &Field::Data) else { return None };
        let (fixed, names) = fields.split_at_checked(field::BLOCK_FIXED)?;
        let [body, scope, _] = fixed else { return None };
        let word = if matches!(scope, Datum::Nil) { "method" } else { "block" };
        let root = self.add(Node::new(word, 1, 1));
        for name in names {
            let Datum::Text(name) = name else { return None };
            let argument = self.add(Node::new(readable_text(name.as_bytes()), 1, 1));
            self.node(root).args.push(argument);
        }
        if let Datum::Object(body) = body
            && self.view.kind(self.when, *body) == Some(Kind::Message)
        {
            let body = self.messages(*body)?;
            self.node(root).args.push(body);
        }
        Some(root)
    }

    /// A message and all that hangs on it. One that is its own descendant is cut where it would repeat.
    fn messages(&mut self, root: ObjectId) -> Option<NodeId> {
        let first = self.nodes.len();
        let mut path = HashSet::new();
        let mut pending = vec![Visit::Enter(root, None)];
        while let Some(visit) = pending.pop() {
            let (object, link) = match visit {
                Visit::Enter(object, link) => (object, link),
                Visit::Leave(object) => {
                    path.remove(&object);
                    continue;
                }
            };
            if !path.insert(object) {
                continue;
            }
            self.view.code_nodes.set(self.view.code_nodes.get().checked_sub(1)?);
            let at = self.nodes.len();
            let (next, arguments) = self.message(object)?;
            match link {
                Some(Link::Next(parent)) => self.nodes[parent].next = Some(NodeId(at as u32)),
                Some(Link::Argument(parent)) => self.nodes[parent].args.push(NodeId(at as u32)),
                None => {}
            }
            pending.push(Visit::Leave(object));
            let enter = |link: Link| move |each: ObjectId| Visit::Enter(each, Some(link));
            pending.extend(arguments.into_iter().rev().map(enter(Link::Argument(at))));
            pending.extend(next.map(enter(Link::Next(at))));
        }
        Some(NodeId(first as u32))
    }

    /// Adds the node of one message; what follows it, and its arguments.
    fn message(&mut self, object: ObjectId) -> Option<(Option<ObjectId>, Vec<ObjectId>)> {
        let Some(Datum::Record(fields)) = self.view.field(self.when, object, &Field::Data) else { return None };
        let (fixed, arguments) = fields.split_at_checked(field::MESSAGE_FIXED)?;
        let [Datum::Text(name), next, literal, ..] = fixed else { return None };
        let literal_bytes = if let Datum::Text(text) = literal { text.as_bytes().len() } else { 0 };
        if !self.view.has_room(name.as_bytes().len() + literal_bytes) {
            return None;
        }
        let (name, literal) = named(name, literal);
        self.add(Node { name: Cow::Owned(name), literal, args: Arguments::new(), next: None, line: 1, column: 1 });
        self.objects.insert(object);
        let object_of = |datum: &Datum| if let Datum::Object(object) = datum { Some(*object) } else { None };
        Some((object_of(next), arguments.iter().filter_map(object_of).collect()))
    }

    fn add(&mut self, node: Node<'static>) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn node(&mut self, id: NodeId) -> &mut Node<'static> {
        &mut self.nodes[id.0 as usize]
    }
}

/// How a message is written, so that its source says what it does.
fn named(name: &Text, literal: &Datum) -> (String, Literal<'static>) {
    let name = readable_text(name.as_bytes());
    match literal {
        Datum::Absent => (name, Literal::None),
        Datum::Nil => ("nil".into(), Literal::None),
        Datum::Boolean(truth) => (truth.to_string(), Literal::None),
        Datum::Number(number) => {
            let is_said =
                matches!(literal_of(&name), Some(Literal::Number(said)) if said.to_bits() == number.to_bits());
            (if is_said { name } else { format_number(*number) }, Literal::Number(*number))
        }
        Datum::Text(text) => {
            let text = readable_text(text.as_bytes());
            let is_said = matches!(literal_of(&name), Some(Literal::Text(said)) if said == text);
            (if is_said { name } else { quote(&text) }, Literal::Text(text.into()))
        }
        // A value that no source has: the name alone would hide it.
        Datum::Object(object) => (format!("{name}<object {object}>"), Literal::None),
        Datum::Bytes(_) | Datum::Record(_) => (format!("{name}<a value of no kind>"), Literal::None),
    }
}

/// What the text is as the only message of a source.
fn literal_of(text: &str) -> Option<Literal<'_>> {
    let tree = language::syntax::parse(text, &language::syntax::OperatorTable::empty()).ok()?;
    let node = tree.node(tree.root);
    (node.next.is_none() && node.args.is_empty()).then(|| node.literal.clone())
}
