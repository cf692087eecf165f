//! Builds message chains from tokens: names, arguments, and who is sent to whose result. Knows nothing of operators,
//! which at this stage are messages like any other.

use std::borrow::Cow;

use super::error::SyntaxError;
use super::escape::unescape;
use super::lexer::Lexer;
use super::position::Positions;
use super::token::{Token, TokenKind};
use super::tree::{END_OF_LINE, Literal, Node, NodeId, Tree};

/// Parses source into a tree whose operators are not shuffled yet.
pub(super) fn parse_chains(source: &str) -> Result<Tree<'_>, SyntaxError> {
    Parser::new(source).run()
}

/// An argument list that is being read.
struct OpenList {
    owner: NodeId,
    /// Where its bracket stands.
    offset: u32,
    /// Where its last comma stands, or its bracket as long as it has none.
    last_comma: u32,
}

struct Parser<'s> {
    source: &'s str,
    positions: Positions<'s>,
    tree: Tree<'s>,
    open_lists: Vec<OpenList>,
    /// The last message of the chain that is being read; none at the chain's start.
    tail: Option<NodeId>,
    /// Where a statement ended; becomes a message once another statement follows in the same chain.
    ended_at: Option<u32>,
    /// Whether a `(` would open the arguments of `tail`.
    tail_takes_args: bool,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str) -> Self {
        // A message takes about five bytes of source; a wrong guess costs a reallocation, nothing else.
        let tree = Tree { nodes: Vec::with_capacity(source.len() / 5 + 1), root: NodeId(0) };
        Parser {
            source,
            positions: Positions::new(source),
            tree,
            open_lists: Vec::new(),
            tail: None,
            ended_at: None,
            tail_takes_args: false,
        }
    }

    fn run(mut self) -> Result<Tree<'s>, SyntaxError> {
        let source = self.source;
        let fault = |fault| SyntaxError::from_fault(source, fault);
        let mut lexer = Lexer::new(source).map_err(fault)?;
        loop {
            let token = lexer.next().map_err(fault)?;
            match token.kind {
                TokenKind::End => return self.finish(),
                TokenKind::Newline | TokenKind::Semicolon => self.end_statement(token),
                TokenKind::Open => self.open_list(token),
                TokenKind::Close => self.close_list(token)?,
                TokenKind::Comma => self.end_argument(token)?,
                TokenKind::LineComment | TokenKind::BlockComment | TokenKind::Continuation => {}
                _ => self.message(token),
            }
        }
    }

    fn error(&self, offset: u32, message: impl Into<String>) -> SyntaxError {
        SyntaxError::at(self.source, offset as usize, message)
    }

    /// Adds a message at the end of the chain that is being read.
    fn append(&mut self, offset: u32, name: impl Into<Cow<'s, str>>, literal: Literal<'s>) -> NodeId {
        if let Some(ended_at) = self.ended_at.take() {
            self.link(ended_at, END_OF_LINE, Literal::None);
        }
        self.link(offset, name, literal)
    }

    fn link(&mut self, offset: u32, name: impl Into<Cow<'s, str>>, literal: Literal<'s>) -> NodeId {
        let (line, column) = self.positions.advance_to(offset as usize);
        let id = self.tree.add(Node { literal, ..Node::new(name, line, column) });
        match (self.tail, self.open_lists.last()) {
            (Some(tail), _) => self.tree.node_mut(tail).next = Some(id),
            (None, Some(list)) => self.tree.node_mut(list.owner).args.push(id),
            (None, None) => self.tree.root = id,
        }
        self.tail = Some(id);
        id
    }

    fn message(&mut self, token: Token) {
        let text = token.text(self.source);
        let literal = match token.kind {
            TokenKind::Decimal => Literal::Number(text.parse().expect("the lexer's decimals are Rust's")),
            TokenKind::Hexadecimal => Literal::Number(hexadecimal(&text[2..])),
            TokenKind::Text => Literal::Text(unescape(&text[1..text.len() - 1])),
            TokenKind::TripleText => Literal::Text(text[3..text.len() - 3].into()),
            _ => Literal::None,
        };
        self.append(token.start, text, literal);
        self.tail_takes_args = true;
    }

    fn end_statement(&mut self, token: Token) {
        if self.tail.is_some() && self.ended_at.is_none() {
            self.ended_at = Some(token.start);
        }
        self.tail_takes_args = false;
    }

    fn open_list(&mut self, token: Token) {
        let owner = match (self.source.as_bytes()[token.start as usize], self.tail) {
            (b'(', Some(tail)) if self.tail_takes_args => tail,
            (b'(', _) => self.append(token.start, "", Literal::None),
            (b'[', _) => self.append(token.start, "squareBrackets", Literal::None),
            _ => self.append(token.start, "curlyBrackets", Literal::None),
        };
        self.open_lists.push(OpenList { owner, offset: token.start, last_comma: token.start });
        self.tail = None;
        self.tail_takes_args = false;
    }

    fn close_list(&mut self, token: Token) -> Result<(), SyntaxError> {
        let closer = token.text(self.source);
        let Some(list) = self.open_lists.pop() else {
            return Err(self.error(token.start, format!("unmatched {closer}")).hint("nothing is open here"));
        };
        let opener = self.opener(&list);
        if closer != closer_of(opener) {
            let (line, column) = Positions::new(self.source).advance_to(list.offset as usize);
            let message = format!("unmatched {closer}, {opener} was opened at line {line}, column {column}");
            return Err(self.error(token.start, message).hint(format!("expected {}", closer_of(opener))));
        }
        if self.tail.is_none() && !self.tree.node(list.owner).args.is_empty() {
            return Err(self.error(list.last_comma, "missing argument in argument list"));
        }
        self.tail = Some(list.owner);
        self.ended_at = None;
        self.tail_takes_args = false;
        Ok(())
    }

    fn end_argument(&mut self, token: Token) -> Result<(), SyntaxError> {
        let Some(list) = self.open_lists.last_mut() else {
            let hint = "a comma separates arguments inside brackets";
            return Err(self.error(token.start, "unexpected comma").hint(hint));
        };
        list.last_comma = token.start;
        if self.tail.take().is_none() {
            return Err(self.error(token.start, "missing argument in argument list"));
        }
        self.ended_at = None;
        self.tail_takes_args = false;
        Ok(())
    }

    fn finish(mut self) -> Result<Tree<'s>, SyntaxError> {
        if let Some(list) = self.open_lists.last() {
            let opener = self.opener(list);
            let error = self.error(list.offset, format!("unmatched {opener}{}s", closer_of(opener)));
            return Err(error.hint(format!("the {opener} here is never closed")).incomplete());
        }
        if self.tree.nodes.is_empty() {
            self.link(0, "nil", Literal::None);
        }
        Ok(self.tree)
    }

    fn opener(&self, list: &OpenList) -> &'s str {
        &self.source[list.offset as usize..=list.offset as usize]
    }
}

fn closer_of(opener: &str) -> &'static str {
    match opener {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

/// The value of hexadecimal digits; beyond 64 bits the nearest that repeated rounding gives.
fn hexadecimal(digits: &str) -> f64 {
    match u64::from_str_radix(digits, 16) {
        Ok(value) => value as f64,
        Err(_) => digits.bytes().fold(0.0, |value, digit| {
            let digit = char::from(digit).to_digit(16).expect("the lexer lets only hexadecimal digits pass");
            value * 16.0 + f64::from(digit)
        }),
    }
}
