//! Gives operators their operands: `a + b * c` becomes `a +(b *(c))`, and `a := b` becomes `setSlot("a", b)`.
//!
//! One walk over every chain, with a stack of the operators whose right side is still open. Arguments and assigned
//! values are chains of their own, and wait in a worklist. Changes a tree in place; the root never changes its id.

use std::borrow::Cow;

use super::error::SyntaxError;
use super::escape::quote;
use super::operators::OperatorTable;
use super::tree::{Literal, Node, NodeId, Tree};

/// Shuffles the operators of the message `root`, its arguments and everything after it in its chain. Shuffling what is
/// shuffled already changes nothing.
pub fn shuffle(tree: &mut Tree<'_>, root: NodeId, table: &OperatorTable) -> Result<(), SyntaxError> {
    let mut shuffler = Shuffler { tree, table, levels: Vec::new(), waiting: Vec::new(), groups: Vec::new() };
    shuffler.waiting.push(Chain { root, is_statement: false });
    while let Some(chain) = shuffler.waiting.pop() {
        shuffler.chain(chain)?;
    }
    shuffler.unwrap_groups();
    Ok(())
}

/// A chain of messages that is still to be shuffled.
struct Chain {
    root: NodeId,
    /// Whether it is known to hold no end of line. Saves looking for one, which would take quadratic time in
    /// `a := b := c := …`.
    is_statement: bool,
}

/// Where the next message of the walk goes, seen from a level's last message.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// It is the first of the chain.
    First,
    /// It becomes the operand of the operator that the level was opened for.
    Operand,
    /// It is sent to the last message's result.
    Next,
}

/// The right side of an operator, or the chain as a whole.
struct Level {
    last: Option<NodeId>,
    place: Place,
    /// Of the operator; none for the chain as a whole.
    precedence: Option<u8>,
}

/// The parentheses after an operator, `+ (b, c) d`: they group, as they do after an operator in C.
struct Group {
    operator: NodeId,
    parentheses: NodeId,
}

struct Shuffler<'t, 's> {
    tree: &'t mut Tree<'s>,
    table: &'t OperatorTable,
    levels: Vec<Level>,
    waiting: Vec<Chain>,
    groups: Vec<Group>,
}

impl<'s> Shuffler<'_, 's> {
    fn chain(&mut self, chain: Chain) -> Result<(), SyntaxError> {
        self.levels.push(Level { last: None, place: Place::First, precedence: None });
        let mut current = Some(chain.root);
        while let Some(id) = current {
            current = self.message(id, chain.is_statement)?;
        }
        while let Some(level) = self.levels.pop() {
            self.finish(&level);
        }
        Ok(())
    }

    /// Puts one message in its place and returns the one to look at next.
    fn message(&mut self, id: NodeId, is_statement: bool) -> Result<Option<NodeId>, SyntaxError> {
        let name = &*self.tree.node(id).name;
        if let Some(message) = self.table.assignment(name) {
            return self.assign(id, message, is_statement);
        }
        let precedence = self.table.precedence(name);
        if let Some(precedence) = precedence.filter(|_| !self.is_assigned_to(id)) {
            self.operator(id, precedence);
        } else if self.tree.node(id).is_end_of_line() {
            self.end_of_line(id);
        } else {
            self.attach(id);
            self.queue_arguments(id);
        }
        Ok(self.tree.node(id).next)
    }

    /// Whether an operator is not meant as one, but as the name of a slot: `Number + := method(…)`.
    fn is_assigned_to(&self, id: NodeId) -> bool {
        let node = self.tree.node(id);
        let is_followed = node.next.is_some_and(|next| self.table.assignment(&self.tree.node(next).name).is_some());
        is_followed && node.args.is_empty()
    }

    fn queue_arguments(&mut self, id: NodeId) {
        for index in 0..self.tree.node(id).args.len() {
            let root = self.tree.node(id).args[index];
            let argument = self.tree.node(root);
            let is_trivial =
                argument.next.is_none() && argument.args.is_empty() && self.table.assignment(&argument.name).is_none();
            if !is_trivial {
                self.waiting.push(Chain { root, is_statement: false });
            }
        }
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the chain's own level stays until the chain ends")
    }

    fn attach(&mut self, id: NodeId) {
        let level = self.level();
        let (last, place) = (level.last, level.place);
        (level.last, level.place) = (Some(id), Place::Next);
        match (last, place) {
            (Some(last), Place::Operand) => self.tree.node_mut(last).args.push(id),
            (Some(last), Place::Next) => self.tree.node_mut(last).next = Some(id),
            _ => {}
        }
    }

    /// Cuts the right side off from what followed it in the unshuffled chain.
    fn finish(&mut self, level: &Level) {
        if let Some(last) = level.last {
            self.tree.node_mut(last).next = None;
        }
    }

    /// Closes the right sides that bind tighter than `precedence`, but none that still lacks its operand.
    fn close_levels(&mut self, precedence: u8) {
        while let Some(level) = self.levels.last() {
            let is_closed_by = level.precedence.is_some_and(|own| own <= precedence) && level.place != Place::Operand;
            if !is_closed_by {
                break;
            }
            if let Some(level) = self.levels.pop() {
                self.finish(&level);
            }
        }
    }

    /// A line may end after an operator: the operand is then on the next line, and the end of line is dropped.
    fn end_of_line(&mut self, id: NodeId) {
        self.close_levels(u8::MAX);
        if self.level().place != Place::Operand {
            self.attach(id);
        }
    }

    fn operator(&mut self, id: NodeId, precedence: u8) {
        let operator = self.tree.node_mut(id);
        if !operator.args.is_empty() {
            let (line, column, next) = (operator.line, operator.column, operator.next);
            let args = std::mem::take(&mut operator.args);
            let parentheses = self.tree.add(Node { args, next, ..Node::new("", line, column) });
            self.tree.node_mut(id).next = Some(parentheses);
            self.groups.push(Group { operator: id, parentheses });
        }
        self.close_levels(precedence);
        self.attach(id);
        self.levels.push(Level { last: Some(id), place: Place::Operand, precedence: Some(precedence) });
    }

    /// Removes parentheses that turned out to be the whole operand: `a + (b)` is `a +(b)`.
    fn unwrap_groups(&mut self) {
        for Group { operator, parentheses } in std::mem::take(&mut self.groups) {
            let node = self.tree.node(parentheses);
            let is_bare = node.name.is_empty() && node.args.len() == 1 && node.next.is_none();
            if is_bare && *self.tree.node(operator).args == [parentheses] {
                self.tree.node_mut(operator).args = std::mem::take(&mut self.tree.node_mut(parentheses).args);
            }
        }
    }

    /// Rewrites `a := b` and returns what follows it. The target's own node becomes the assignment, because what
    /// precedes it refers to it.
    fn assign(&mut self, id: NodeId, message: &str, is_statement: bool) -> Result<Option<NodeId>, SyntaxError> {
        let level = self.level();
        let (last, place) = (level.last, level.place);
        let is_target = |&last: &NodeId| place != Place::Operand && !self.tree.node(last).is_end_of_line();
        let Some(target) = last.filter(is_target) else {
            return Err(self.error(id, "requires an expression to its left"));
        };
        let value = self.value_of(id)?;
        let rest = if is_statement { None } else { self.cut_statement(id) };

        let operator_is_define = self.tree.node(id).name == ":=";
        let (name, slot) = self.slot_of(target, message, operator_is_define);
        let slot = self.tree.add(slot);
        let node = self.tree.node_mut(target);
        node.name = name;
        node.literal = Literal::None;
        node.args = [slot, value].into_iter().collect();
        node.next = rest;
        Ok(rest)
    }

    fn error(&self, operator: NodeId, problem: &str) -> SyntaxError {
        let node = self.tree.node(operator);
        SyntaxError::at_operator(node.line, node.column, format!("{} {problem}", node.name))
    }

    /// The value that is assigned, queued for its own shuffling.
    fn value_of(&mut self, id: NodeId) -> Result<NodeId, SyntaxError> {
        let operator = self.tree.node_mut(id);
        let (line, column, next) = (operator.line, operator.column, operator.next);
        let args = std::mem::take(&mut operator.args);
        let next = next.filter(|&next| !self.tree.node(next).is_end_of_line());
        let (root, is_statement) = match (args.as_slice(), next) {
            ([], Some(next)) => (next, true),
            ([], None) => return Err(self.error(id, "must be followed by a value")),
            (&[argument], None) => (argument, false),
            ([_], Some(_)) => (self.tree.add(Node { args, next, ..Node::new("", line, column) }), true),
            _ => return Err(self.error(id, "takes one value, not several")),
        };
        self.waiting.push(Chain { root, is_statement });
        Ok(root)
    }

    /// Ends the chain before the next end of line, and returns that.
    fn cut_statement(&mut self, id: NodeId) -> Option<NodeId> {
        let mut last = id;
        while let Some(next) = self.tree.node(last).next {
            if self.tree.node(next).is_end_of_line() {
                self.tree.node_mut(last).next = None;
                return Some(next);
            }
            last = next;
        }
        None
    }

    /// The name of the assignment, and its first argument: the target's name as text or, if the target has arguments,
    /// the target itself.
    fn slot_of(&self, target: NodeId, message: &str, is_define: bool) -> (Cow<'s, str>, Node<'s>) {
        let target = self.tree.node(target);
        if !target.args.is_empty() {
            return (assignment_name(message), Node { next: None, ..target.clone() });
        }
        let is_type = is_define && target.name.starts_with(|first: char| first.is_ascii_uppercase());
        let name = if is_type { Cow::Borrowed("setSlotWithType") } else { assignment_name(message) };
        let literal = Literal::Text(target.name.clone());
        (name, Node { literal, ..Node::new(quote(&target.name), target.line, target.column) })
    }
}

/// Spares an allocation for the names that nearly every assignment becomes.
fn assignment_name<'s>(message: &str) -> Cow<'s, str> {
    match message {
        "setSlot" => Cow::Borrowed("setSlot"),
        "updateSlot" => Cow::Borrowed("updateSlot"),
        "newSlot" => Cow::Borrowed("newSlot"),
        other => Cow::Owned(other.to_owned()),
    }
}
