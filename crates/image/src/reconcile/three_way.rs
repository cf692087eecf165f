//! One tree out of two that were made from the same. Owns the walk down: from the statements of a body to those that both
//! sides changed, to their messages, to the arguments of those, and so on, with a list of what is left to do in the place
//! of recursion.
//!
//! **It does not matter which side is which**: the two are put into an order of their own before anything else.
//!
//! A message that both sides changed must have the same name and value on both sides, or it means something else on one of
//! them than the other counted on; then their arguments are merged.

use super::align::{align, in_place};
use super::alike::Alike;
use super::forest::{Class, Forest};
use super::list::{Piece, Rule, Side, merge};
use super::order::order;
use super::tree::{Chain, Message, MessageId, Statement, Tree};

/// What both sides made of the base, as one; none if they contradict each other, or if it would take too long to say.
pub fn three_way(base: &Tree, one: &Tree, other: &Tree) -> Option<Tree> {
    let (one, other) = if one <= other { (one, other) } else { (other, one) };
    if other.same_code(base) || one.same_code(other) {
        return Some(one.clone());
    }
    if one.same_code(base) {
        return Some(other.clone());
    }
    let mut forest = Forest::new();
    let root = Trio { base: forest.plant(base), one: forest.plant(one), other: forest.plant(other) };
    let mut merging = Merging { forest, waiting: Vec::new() };
    let root = merging.chain(&root)?;
    while let Some((owner, argument, chains)) = merging.waiting.pop() {
        let merged = merging.chain(&chains)?;
        merging.forest.messages[owner].arguments[argument] = merged;
    }
    Tree::extract(&root, &merging.forest.messages)
}

/// The same thing as it was, and as each side has it.
struct Trio<T> {
    base: T,
    one: T,
    other: T,
}

impl<T> Trio<T> {
    fn map<'t, U>(&'t self, mut make: impl FnMut(&'t T) -> U) -> Trio<U> {
        Trio { base: make(&self.base), one: make(&self.one), other: make(&self.other) }
    }
}

/// An element of a merged list: as somebody has it, or still to be merged.
enum Chosen<T> {
    Whole(T),
    Merged(Trio<T>),
}

impl<T: Clone> Trio<Vec<T>> {
    fn chosen(&self, piece: Piece) -> Chosen<T> {
        let Trio { base, one, other } = self;
        match piece {
            Piece::Base(at) => Chosen::Whole(base[at].clone()),
            Piece::One(at) => Chosen::Whole(one[at].clone()),
            Piece::Other(at) => Chosen::Whole(other[at].clone()),
            Piece::Merged(was, left, right) => {
                Chosen::Merged(Trio { base: base[was].clone(), one: one[left].clone(), other: other[right].clone() })
            }
        }
    }
}

struct Merging {
    forest: Forest,
    /// Arguments of new messages that are still to be merged.
    waiting: Vec<(MessageId, usize, Trio<Chain>)>,
}

impl Merging {
    fn chain(&mut self, chains: &Trio<Chain>) -> Option<Chain> {
        let classes = chains.map(|chain| self.forest.statement_classes(chain));
        let (base, one, other) =
            self.sides(Rule::Statements, classes, |side| Alike::statements(&chains.base, side), chains)?;
        let forest = &self.forest;
        let pieces = merge(Rule::Statements, &base, &one, &other, &mut |mine, theirs| {
            order(forest, &chains.one[mine], &chains.other[theirs])
        })?;
        pieces.into_iter().map(|piece| self.statement(chains, piece)).collect()
    }

    fn statement(&mut self, chains: &Trio<Chain>, piece: Piece) -> Option<Statement> {
        let statements = match chains.chosen(piece) {
            Chosen::Whole(statement) => return Some(statement),
            Chosen::Merged(statements) => statements,
        };
        let classes = statements.map(|statement| self.forest.message_classes(statement));
        let alike = |side: &Statement| Alike::messages(&statements.base, side);
        let (base, one, other) = self.sides(Rule::Messages, classes, alike, &statements)?;
        let pieces = merge(Rule::Messages, &base, &one, &other, &mut |_, _| None)?;
        pieces.into_iter().map(|piece| self.message(&statements, piece)).collect()
    }

    fn message(&mut self, statements: &Trio<Statement>, piece: Piece) -> Option<MessageId> {
        let messages = match statements.chosen(piece) {
            Chosen::Whole(message) => return Some(message),
            Chosen::Merged(messages) => messages,
        };
        if self.forest.head(messages.one) != self.forest.head(messages.other) {
            return None;
        }
        let arguments = messages.map(|&id| self.forest.messages[id].arguments.clone());
        let classes = messages.map(|&id| self.forest.argument_classes(id));
        let alike = |side: &Vec<Chain>| Alike::arguments(&arguments.base, side);
        let (base, one, other) = self.sides(Rule::Arguments, classes, alike, &arguments)?;
        let pieces = merge(Rule::Arguments, &base, &one, &other, &mut |_, _| None)?;
        Some(self.made(messages.one, &arguments, pieces))
    }

    /// A new message like this one, whose arguments may still wait to be merged.
    fn made(&mut self, like: MessageId, arguments: &Trio<Vec<Chain>>, pieces: Vec<Piece>) -> MessageId {
        let id = self.forest.messages.len();
        let mut merged = Vec::with_capacity(pieces.len());
        for (index, piece) in pieces.into_iter().enumerate() {
            merged.push(match arguments.chosen(piece) {
                Chosen::Whole(chain) => chain,
                Chosen::Merged(chains) => {
                    self.waiting.push((id, index, chains));
                    Chain::new()
                }
            });
        }
        let Message { head, origin, .. } = &self.forest.messages[like];
        let (head, origin) = (head.clone(), origin.clone());
        self.forest.messages.push(Message { head, origin, arguments: merged });
        id
    }

    /// The base, and how both sides came of it.
    fn sides<T>(
        &mut self,
        rule: Rule,
        classes: Trio<Vec<Class>>,
        alike: impl Fn(&T) -> Alike,
        lists: &Trio<T>,
    ) -> Option<(Vec<Class>, Side, Side)> {
        let mut side = |list: &T, classes_of_side: Vec<Class>| {
            let is_in_place = rule == Rule::Arguments && classes_of_side.len() == classes.base.len();
            let alignment = if is_in_place {
                in_place(&classes.base, &classes_of_side)
            } else {
                align(&mut self.forest, &classes.base, &classes_of_side, &mut alike(list))?
            };
            Some(Side { classes: classes_of_side, alignment })
        };
        let (one, other) = (side(&lists.one, classes.one)?, side(&lists.other, classes.other)?);
        Some((classes.base, one, other))
    }
}
