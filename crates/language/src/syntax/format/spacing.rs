//! Whether a space stands between two tokens of a line. May widen any gap, and closes gaps only beside brackets and
//! commas: everywhere else a space may be what keeps two tokens apart.

use super::super::operators::OperatorTable;
use super::super::token::{Token, TokenKind};

/// What the last written token means for the space after it.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Open,
    Close,
    Comma,
    Comment,
    /// A name or a literal.
    Operand,
    /// An operator between two operands.
    Infix,
    /// An operator that is a word.
    WordOperator,
    /// A symbol before its operand, as in `-1` or `!done`.
    Prefix,
}

pub(super) struct Spacing<'t> {
    table: &'t OperatorTable,
    last: Role,
    /// Whether an operator here would have something on its left.
    follows_operand: bool,
}

impl<'t> Spacing<'t> {
    pub fn new(table: &'t OperatorTable) -> Self {
        Spacing { table, last: Role::Open, follows_operand: false }
    }

    pub fn end_statement(&mut self) {
        self.follows_operand = false;
    }

    /// Notes that a token was written.
    pub fn wrote(&mut self, token: Token, text: &str) {
        self.last = self.role(token, text);
        if self.last != Role::Comment {
            self.follows_operand = matches!(self.last, Role::Operand | Role::Close);
        }
    }

    /// Whether a space belongs between the last token and this one; `was_spaced` tells what the author wrote.
    pub fn wants_space(&self, token: Token, text: &str, was_spaced: bool) -> bool {
        let role = self.role(token, text);
        match (self.last, role) {
            (_, Role::Close | Role::Comma) | (Role::Open, _) => false,
            (Role::Comma | Role::Comment | Role::Infix, _) | (_, Role::Comment | Role::Infix) => true,
            (Role::Operand, Role::Open) if text == "(" => false,
            (_, Role::Open) | (Role::Prefix, _) => was_spaced,
            // `a ?b` and `a @b` are operators of the table; `a !b` may mean anything.
            (_, Role::Prefix) => was_spaced || self.table.precedence(text).is_some(),
            (Role::Operand | Role::Close | Role::WordOperator, Role::Operand | Role::WordOperator) => true,
        }
    }

    fn role(&self, token: Token, text: &str) -> Role {
        match token.kind {
            TokenKind::Open => Role::Open,
            TokenKind::Close => Role::Close,
            TokenKind::Comma => Role::Comma,
            TokenKind::LineComment | TokenKind::BlockComment => Role::Comment,
            TokenKind::Symbol => self.symbol_role(text),
            TokenKind::Word if self.table.precedence(text).is_some() => Role::WordOperator,
            _ => Role::Operand,
        }
    }

    fn symbol_role(&self, text: &str) -> Role {
        if self.table.assignment(text).is_some() {
            return Role::Infix;
        }
        match self.table.precedence(text) {
            // The tightest level belongs to operators that read as prefixes: `?`, `@` and `@@`.
            Some(precedence) if precedence > 0 && self.follows_operand => Role::Infix,
            _ => Role::Prefix,
        }
    }
}
