//! The messages of several trees side by side, numbered so that equal code has equal numbers. Owns the numbers, and the
//! bound on the work of a merge.

use super::tree::{Chain, Head, Message, MessageId, Statement, Tree};
use rustc_hash::FxHashMap;

/// How much work one merge may be, in comparisons, about.
const WORK_MAX: usize = 4_000_000;

/// Chains, statements and messages of equal code have equal numbers, each kind its own.
pub type Class = u32;

#[derive(Default)]
struct Numbers {
    heads: FxHashMap<Head, Class>,
    messages: FxHashMap<(Class, Vec<Class>), Class>,
    statements: FxHashMap<Vec<Class>, Class>,
    chains: FxHashMap<Vec<Class>, Class>,
}

pub struct Forest {
    pub messages: Vec<Message>,
    /// Of the message's head, and of the message. Messages that the merge makes have none: nobody compares them.
    heads: Vec<Class>,
    classes: Vec<Class>,
    /// Of the message's first argument.
    subjects: Vec<Option<Class>>,
    numbers: Numbers,
    work: usize,
}

/// What is said, in an order that no tree's place decides.
pub type Words<'f> = Vec<(usize, &'f Head)>;

impl Forest {
    pub fn new() -> Forest {
        Forest {
            messages: Vec::new(),
            heads: Vec::new(),
            classes: Vec::new(),
            subjects: Vec::new(),
            numbers: Numbers::default(),
            work: WORK_MAX,
        }
    }

    /// Adds a tree, and returns its root.
    pub fn plant(&mut self, tree: &Tree) -> Chain {
        let first = self.messages.len();
        let moved = |chain: &Chain| -> Chain {
            chain.iter().map(|statement| statement.iter().map(|id| id + first).collect()).collect()
        };
        self.messages.extend(tree.messages().iter().map(|message| Message {
            head: message.head.clone(),
            origin: message.origin.clone(),
            arguments: message.arguments.iter().map(moved).collect(),
        }));
        self.heads.resize(self.messages.len(), 0);
        self.classes.resize(self.messages.len(), 0);
        self.subjects.resize(self.messages.len(), None);
        // What hangs on a message stands behind it.
        for id in (first..self.messages.len()).rev() {
            let arguments = self.argument_classes(id);
            let head = number(&mut self.numbers.heads, self.messages[id].head.clone());
            self.heads[id] = head;
            self.subjects[id] = arguments.first().copied();
            self.classes[id] = number(&mut self.numbers.messages, (head, arguments));
        }
        moved(tree.root())
    }

    pub fn head(&self, id: MessageId) -> Class {
        self.heads[id]
    }

    pub fn subject(&self, id: MessageId) -> Option<Class> {
        self.subjects[id]
    }

    pub fn message_classes(&self, statement: &Statement) -> Vec<Class> {
        statement.iter().map(|&id| self.classes[id]).collect()
    }

    pub fn statement_classes(&mut self, chain: &Chain) -> Vec<Class> {
        let classes = &self.classes;
        let statements = chain.iter().map(|statement| statement.iter().map(|&id| classes[id]).collect());
        statements.map(|statement| number(&mut self.numbers.statements, statement)).collect()
    }

    pub fn argument_classes(&mut self, id: MessageId) -> Vec<Class> {
        let arguments = std::mem::take(&mut self.messages[id].arguments);
        let classes = arguments.iter().map(|argument| self.chain_class(argument)).collect();
        self.messages[id].arguments = arguments;
        classes
    }

    fn chain_class(&mut self, chain: &Chain) -> Class {
        let statements = self.statement_classes(chain);
        number(&mut self.numbers.chains, statements)
    }

    /// None if that is more than the merge may take.
    pub fn work(&mut self, amount: usize) -> Option<()> {
        self.work = self.work.checked_sub(amount)?;
        Some(())
    }

    /// The messages of these statements and all that hangs on them, each before what hangs on it, with its depth.
    pub fn walk<'f>(&'f self, statements: &[Statement]) -> Vec<(usize, MessageId)> {
        let mut found = Vec::new();
        let mut pending: Vec<(usize, &'f [MessageId])> = Vec::new();
        for statement in statements {
            for &id in statement {
                found.push((0, id));
                self.descend(1, id, &mut pending);
                while let Some((depth, rest)) = pending.pop() {
                    let Some((&id, rest)) = rest.split_first() else { continue };
                    pending.push((depth, rest));
                    found.push((depth, id));
                    self.descend(depth + 1, id, &mut pending);
                }
            }
        }
        found
    }

    fn descend<'f>(&'f self, depth: usize, id: MessageId, pending: &mut Vec<(usize, &'f [MessageId])>) {
        let statements = self.messages[id].arguments.iter().flatten();
        let from = pending.len();
        pending.extend(statements.map(|statement| (depth, statement.as_slice())));
        pending[from..].reverse();
    }

    pub fn words(&self, statements: &[Statement]) -> Words<'_> {
        self.walk(statements).into_iter().map(|(depth, id)| (depth, &self.messages[id].head)).collect()
    }

    /// The heads of all messages in these statements, sorted: what two of them have in common makes them alike.
    pub fn bag(&mut self, statements: &[Statement]) -> Option<Vec<Class>> {
        let found = self.walk(statements);
        self.work(found.len())?;
        let mut bag: Vec<Class> = found.into_iter().map(|(_, id)| self.heads[id]).collect();
        bag.sort_unstable();
        Some(bag)
    }
}

fn number<K: std::hash::Hash + Eq>(numbers: &mut FxHashMap<K, Class>, key: K) -> Class {
    let next = numbers.len() as Class;
    *numbers.entry(key).or_insert(next)
}
