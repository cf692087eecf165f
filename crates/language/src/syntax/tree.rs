//! The message tree: a flat arena of nodes that refer to each other by index.
//! Nodes own no other nodes, so dropping a tree of any depth is a loop, never a recursion.

use smallvec::SmallVec;
use std::borrow::Cow;

/// The name of the message that ends a statement; a newline and `;` both make one.
pub(super) const END_OF_LINE: &str = ";";

/// The index of a node in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// The value that a literal message stands for.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Literal<'s> {
    /// The message is no literal. `nil`, `true` and `false` are ordinary names.
    #[default]
    None,
    Number(f64),
    /// The characters that the string literal stands for, its escapes resolved: those of the source, if it has none.
    Text(Cow<'s, str>),
}

/// The arguments of a message; most have few, which need no memory of their own.
pub type Arguments = SmallVec<[NodeId; 4]>;

/// One message: a name, its arguments, and the message that is sent to its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'s> {
    /// The name; for a literal its source text as written, quotes included. A bare `(` has the empty name.
    pub name: Cow<'s, str>,
    pub literal: Literal<'s>,
    pub args: Arguments,
    pub next: Option<NodeId>,
    /// 1-based.
    pub line: u32,
    /// 1-based, counted in characters.
    pub column: u32,
}

impl<'s> Node<'s> {
    /// A message without value, arguments or successor.
    pub fn new(name: impl Into<Cow<'s, str>>, line: u32, column: u32) -> Self {
        Node { name: name.into(), literal: Literal::None, args: Arguments::new(), next: None, line, column }
    }

    /// Whether this message ends a statement.
    pub fn is_end_of_line(&self) -> bool {
        self.name == END_OF_LINE
    }
}

/// A flat arena of messages. After shuffling it also holds nodes that nothing refers to: walk it from `root`.
#[derive(Clone, Debug)]
pub struct Tree<'s> {
    pub nodes: Vec<Node<'s>>,
    pub root: NodeId,
}

impl<'s> Tree<'s> {
    pub fn node(&self, id: NodeId) -> &Node<'s> {
        &self.nodes[id.0 as usize]
    }

    pub fn node_mut(&mut self, id: NodeId) -> &mut Node<'s> {
        &mut self.nodes[id.0 as usize]
    }

    /// Adds a node and returns its id.
    pub fn add(&mut self, node: Node<'s>) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("a tree has fewer nodes than 2^32"));
        self.nodes.push(node);
        id
    }

    /// Whether both trees are the same code: names, values and shape, but not positions.
    pub fn same_code(&self, other: &Tree<'_>) -> bool {
        let mut pairs = vec![(self.root, other.root)];
        while let Some((mine, theirs)) = pairs.pop() {
            let (mine, theirs) = (self.node(mine), other.node(theirs));
            let same_shape = mine.args.len() == theirs.args.len() && mine.next.is_some() == theirs.next.is_some();
            if mine.name != theirs.name || !same_literal(&mine.literal, &theirs.literal) || !same_shape {
                return false;
            }
            pairs.extend(mine.args.iter().copied().zip(theirs.args.iter().copied()));
            pairs.extend(mine.next.zip(theirs.next));
        }
        true
    }
}

fn same_literal(mine: &Literal<'_>, theirs: &Literal<'_>) -> bool {
    match (mine, theirs) {
        (Literal::Number(mine), Literal::Number(theirs)) => mine.to_bits() == theirs.to_bits(),
        _ => mine == theirs,
    }
}
