//! A body of code as plain data: chains of statements of messages. Owns the shape, and that it is one: a message stands
//! before those in its arguments and those that follow it, so that walks over a tree of any depth are loops.
//!
//! Ends of line are no messages here, but what divides statements. A chain that begins or ends with one, or has two in a
//! row, is not what a parser makes, and means something else; it is refused.

use object::change::{Datum, ObjectId, Text};
use std::collections::VecDeque;

/// The name of the message that ends a statement.
pub const END_OF_LINE: &[u8] = b";";
/// A body of more messages is not merged. Also ends what leads back to itself.
pub const MESSAGES_MAX: usize = 20_000;

/// The index of a message in its tree.
pub type MessageId = usize;
pub type Statement = Vec<MessageId>;
/// What a method does, or an argument says: never without statements, none of them empty.
pub type Chain = Vec<Statement>;

/// What an object has beside its fields.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Shell {
    pub flags: u32,
    pub protos: Vec<ObjectId>,
    pub slots: Vec<(Text, Datum)>,
}

/// A message but for its arguments, and for where it was written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Head {
    pub name: Text,
    /// What it stands for without being sent; absent if it is no literal.
    pub value: Datum,
    pub shell: Shell,
}

/// Where a message was written. Two messages that differ only here are the same code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Origin {
    pub label: Datum,
    pub line: Datum,
    pub column: Datum,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Message {
    pub head: Head,
    pub origin: Origin,
    pub arguments: Vec<Chain>,
}

/// A body of code. Owns its messages side by side, so that dropping one of any depth is a loop.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Tree {
    messages: Vec<Message>,
    root: Chain,
}

/// One message as it is found elsewhere, and what hangs on it.
pub struct Found<K> {
    pub head: Head,
    pub origin: Origin,
    pub arguments: Vec<K>,
    pub next: Option<K>,
}

impl<K> Found<K> {
    fn is_end_of_line(&self) -> bool {
        self.head.name.as_bytes() == END_OF_LINE
    }

    /// Whether it only ends a line, and says nothing else that would be lost.
    fn is_plain(&self) -> bool {
        self.head.value.is_absent() && self.head.shell.slots.is_empty() && self.arguments.is_empty()
    }
}

impl Tree {
    /// The tree of what `look` finds from `root` on; none if that is no tree of code, or too large.
    pub fn grow<K>(root: K, mut look: impl FnMut(K) -> Option<Found<K>>) -> Option<Tree> {
        let mut tree = Tree { messages: Vec::new(), root: Chain::new() };
        let mut pending = VecDeque::from([(None, root)]);
        while let Some((owner, first)) = pending.pop_front() {
            let mut chain = vec![Statement::new()];
            let (mut next, mut count) = (Some(first), 0);
            while let Some(key) = next {
                let found = look(key)?;
                count += 1;
                if count > MESSAGES_MAX || tree.messages.len() == MESSAGES_MAX {
                    return None;
                }
                let is_empty = chain.last().is_none_or(Vec::is_empty);
                if found.is_end_of_line() {
                    if is_empty || !found.is_plain() {
                        return None;
                    }
                    chain.push(Statement::new());
                    next = found.next;
                    continue;
                }
                let id = tree.messages.len();
                chain.last_mut()?.push(id);
                let arguments = vec![Chain::new(); found.arguments.len()];
                pending.extend(found.arguments.into_iter().enumerate().map(|(at, key)| (Some((id, at)), key)));
                tree.messages.push(Message { head: found.head, origin: found.origin, arguments });
                next = found.next;
            }
            if chain.last().is_none_or(Vec::is_empty) {
                return None;
            }
            tree.put(owner, chain);
        }
        Some(tree)
    }

    /// The part of other messages that hangs on this chain.
    pub(super) fn extract(root: &Chain, messages: &[Message]) -> Option<Tree> {
        let mut tree = Tree { messages: Vec::new(), root: Chain::new() };
        let mut pending = VecDeque::from([(None, root)]);
        while let Some((owner, chain)) = pending.pop_front() {
            let mut copied = Chain::with_capacity(chain.len());
            for statement in chain {
                let first = tree.messages.len();
                for &id in statement {
                    let Message { head, origin, arguments } = &messages[id];
                    let at = tree.messages.len();
                    if at == MESSAGES_MAX {
                        return None;
                    }
                    pending.extend(arguments.iter().enumerate().map(|(index, chain)| (Some((at, index)), chain)));
                    let empty = vec![Chain::new(); arguments.len()];
                    tree.messages.push(Message { head: head.clone(), origin: origin.clone(), arguments: empty });
                }
                copied.push((first..tree.messages.len()).collect());
            }
            tree.put(owner, copied);
        }
        Some(tree)
    }

    fn put(&mut self, owner: Option<(MessageId, usize)>, chain: Chain) {
        match owner {
            Some((message, argument)) => self.messages[message].arguments[argument] = chain,
            None => self.root = chain,
        }
    }

    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    pub fn root(&self) -> &Chain {
        &self.root
    }

    /// Whether both are the same code, wherever that was written.
    pub fn same_code(&self, other: &Tree) -> bool {
        let shape = |chain: &Chain| chain.iter().map(Vec::len).collect::<Vec<usize>>();
        let mut pending = vec![(&self.root, &other.root)];
        while let Some((mine, theirs)) = pending.pop() {
            if shape(mine) != shape(theirs) {
                return false;
            }
            for (&mine, &theirs) in mine.iter().flatten().zip(theirs.iter().flatten()) {
                let (mine, theirs) = (&self.messages[mine], &other.messages[theirs]);
                if mine.head != theirs.head || mine.arguments.len() != theirs.arguments.len() {
                    return false;
                }
                pending.extend(mine.arguments.iter().zip(&theirs.arguments));
            }
        }
        true
    }
}
