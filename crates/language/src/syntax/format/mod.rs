//! Tidies source that a person wrote: indentation, the spaces between tokens, blank lines and idle semicolons. Keeps
//! every line break, comment and literal, and leaves operators infix.
//!
//! Works on tokens, never on the tree, and only ever moves what the parser skips: so the tidied source is the same
//! code. Every choice depends on the tokens alone, or keeps what it finds: so tidying twice changes nothing.

mod spacing;

use super::error::SyntaxError;
use super::lexer::Lexer;
use super::operators::OperatorTable;
use super::parse;
use super::token::{Token, TokenKind};
use spacing::Spacing;

const INDENT: &str = "    ";

/// Deeper lines are not indented further: the output would grow with the square of the nesting.
const MAX_INDENT_LEVELS: usize = 24;

/// Tidies Io source. Fails on source that does not parse.
pub fn format(source: &str, table: &OperatorTable) -> Result<String, SyntaxError> {
    parse(source, table)?;
    let mut formatter = Formatter {
        source,
        tokens: tokens_of(source)?,
        output: String::with_capacity(source.len() + source.len() / 8),
        output_line: 0,
        brackets: Vec::new(),
        indent: 0,
        last: None,
        newlines: 0,
        is_continued: false,
        has_semicolon: false,
        is_statement_start: true,
        spacing: Spacing::new(table),
    };
    for index in 0..formatter.tokens.len() {
        formatter.token(index);
    }
    formatter.finish();
    Ok(formatter.output)
}

fn tokens_of(source: &str) -> Result<Vec<Token>, SyntaxError> {
    let fault = |fault| SyntaxError::from_fault(source, fault);
    let mut lexer = Lexer::new(source).map_err(fault)?;
    let mut tokens = Vec::with_capacity(source.len() / 4 + 1);
    loop {
        let token = lexer.next().map_err(fault)?;
        tokens.push(token);
        if token.kind == TokenKind::End {
            return Ok(tokens);
        }
    }
}

struct Bracket {
    /// Whether it is the first that is open of those on its line; the others indent no further.
    indents: bool,
    line: usize,
}

struct Formatter<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    output: String,
    output_line: usize,
    brackets: Vec<Bracket>,
    /// How many of the open brackets indent.
    indent: usize,
    /// The last token that was written.
    last: Option<Token>,
    /// How many newlines were read since then.
    newlines: usize,
    /// Whether the last thing written was a backslash that ends its line.
    is_continued: bool,
    /// Whether a semicolon was read since then, which is written only if something follows it on the line.
    has_semicolon: bool,
    /// Whether no message of the current statement has been read yet.
    is_statement_start: bool,
    spacing: Spacing<'s>,
}

impl Formatter<'_> {
    fn token(&mut self, index: usize) {
        let token = self.tokens[index];
        match token.kind {
            TokenKind::End => {}
            TokenKind::Newline => {
                self.newlines += 1;
                self.end_statement();
            }
            TokenKind::Semicolon => {
                self.has_semicolon |= !self.is_statement_start;
                self.end_statement();
            }
            TokenKind::Continuation => self.continuation(self.tokens[index + 1].kind),
            _ => self.write(index),
        }
    }

    fn end_statement(&mut self) {
        self.is_statement_start = true;
        self.spacing.end_statement();
    }

    /// Keeps a continued line only where the newline would end a statement.
    fn continuation(&mut self, following: TokenKind) {
        use TokenKind::{Close, Comma, Continuation, End, Newline, Semicolon};
        match following {
            Newline | Continuation | Semicolon | End => {}
            Comma | Close => self.newlines += 1,
            _ if self.is_statement_start => self.newlines += 1,
            _ => {
                self.output.push_str(" \\");
                self.is_continued = true;
            }
        }
    }

    fn write(&mut self, index: usize) {
        let token = self.tokens[index];
        if self.newlines > 0 || self.is_continued || self.last.is_none() {
            self.start_line(index);
        } else {
            self.separate(token);
        }
        (self.newlines, self.is_continued, self.has_semicolon) = (0, false, false);

        let text = token.text(self.source);
        self.output.push_str(if token.kind == TokenKind::LineComment { text.trim_end() } else { text });
        match token.kind {
            TokenKind::Open => self.open_bracket(),
            TokenKind::Close => self.close_bracket(),
            _ => {}
        }
        if !token.kind.is_comment() {
            self.is_statement_start = matches!(token.kind, TokenKind::Open | TokenKind::Comma);
        }
        self.spacing.wrote(token, text);
        self.last = Some(token);
    }

    /// Goes to a new line, with at most one blank line before it and none at the edges of brackets.
    fn start_line(&mut self, index: usize) {
        if let Some(last) = self.last {
            self.guard_backslash();
            let at_edge = last.kind == TokenKind::Open || self.tokens[index].kind == TokenKind::Close;
            self.output.push_str(if self.newlines > 1 && !at_edge { "\n\n" } else { "\n" });
            self.output_line += 1;
        }
        // Closing brackets that begin a line stand where the line that opened them stands.
        // Semicolons between them are idle, and not written.
        let following = self.tokens[index..].iter().map(|token| token.kind);
        let closing =
            following.filter(|kind| *kind != TokenKind::Semicolon).take_while(|kind| *kind == TokenKind::Close);
        let closing = closing.count();
        let closed = self.brackets.iter().rev().take(closing).filter(|bracket| bracket.indents).count();
        let levels = self.indent - closed + usize::from(self.is_continued);
        for _ in 0..levels.min(MAX_INDENT_LEVELS) {
            self.output.push_str(INDENT);
        }
    }

    /// An operator that ends in a backslash must not come to stand at the end of a line, which it would continue.
    fn guard_backslash(&mut self) {
        let is_operator = self.last.is_some_and(|last| last.kind == TokenKind::Symbol);
        if is_operator && !self.is_continued && self.output.ends_with('\\') {
            self.output.push(';');
        }
    }

    fn separate(&mut self, token: Token) {
        let ends_anyway = matches!(token.kind, TokenKind::Close | TokenKind::Comma | TokenKind::LineComment);
        let writes_semicolon = self.has_semicolon && !ends_anyway;
        if writes_semicolon {
            self.output.push(';');
        }
        let was_spaced = self.last.is_some_and(|last| last.end < token.start);
        if writes_semicolon || self.spacing.wants_space(token, token.text(self.source), was_spaced) {
            self.output.push(' ');
        }
    }

    fn open_bracket(&mut self) {
        let indents = self.brackets.last().is_none_or(|outer| outer.line != self.output_line);
        self.brackets.push(Bracket { indents, line: self.output_line });
        self.indent += usize::from(indents);
    }

    fn close_bracket(&mut self) {
        if let Some(bracket) = self.brackets.pop() {
            self.indent -= usize::from(bracket.indents);
        }
    }

    fn finish(&mut self) {
        if self.last.is_some() {
            self.guard_backslash();
            self.output.push('\n');
        }
    }
}
