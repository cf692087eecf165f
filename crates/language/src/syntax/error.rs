//! The one error of this module: what is wrong with a source, and where.

use super::position::{Positions, offset_of};
use super::token::{Fault, FaultKind};

/// Source that is not Io.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct SyntaxError {
    pub message: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, counted in characters.
    pub column: u32,
    /// In bytes from the start of the source; 0 when a tree was shuffled that no source is known of.
    pub offset: usize,
    /// What would help, when we can guess it.
    pub hint: Option<String>,
    /// Whether more text at the end could make the source right.
    incomplete: bool,
    /// Whether an operator lacks something, in source that is otherwise well formed.
    of_operator: bool,
}

impl SyntaxError {
    pub(super) fn at(source: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = Positions::new(source).advance_to(offset);
        SyntaxError { message: message.into(), line, column, offset, hint: None, incomplete: false, of_operator: false }
    }

    /// For an operator of a tree, whose source is not at hand.
    pub(super) fn at_operator(line: u32, column: u32, message: impl Into<String>) -> Self {
        SyntaxError {
            message: message.into(),
            line,
            column,
            offset: 0,
            hint: None,
            incomplete: false,
            of_operator: true,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn incomplete(mut self) -> Self {
        self.incomplete = true;
        self
    }

    pub(super) fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// The text of the exception that a running program sees, as Io words it.
    pub fn exception_text(&self) -> String {
        if self.of_operator {
            format!("compile error: {}.", self.message)
        } else {
            format!("compile error: \"{}\" on line {} character {}", self.message, self.line, self.column)
        }
    }

    /// Fills in the offset, for an error that was found in the tree of `source`.
    pub(super) fn located_in(mut self, source: &str) -> Self {
        self.offset = offset_of(source, self.line, self.column);
        self
    }

    /// The error for text that is no token.
    pub(super) fn from_fault(source: &str, fault: Fault) -> Self {
        let offset = fault.start as usize;
        let text = &source[offset..fault.end as usize];
        match fault.kind {
            FaultKind::UnterminatedString => Self::at(source, offset, "unterminated string")
                .hint("the string begins here; close it with \"")
                .incomplete(),
            FaultKind::UnterminatedTripleString => Self::at(source, offset, "unterminated string")
                .hint("the string begins here; close it with \"\"\"")
                .incomplete(),
            FaultKind::UnterminatedComment => Self::at(source, offset, "unterminated comment")
                .hint("the comment begins here; close it, and each comment inside it, with */")
                .incomplete(),
            FaultKind::MalformedNumber => Self::at(source, offset, format!("malformed number \"{text}\""))
                .hint("a point or an exponent needs digits after it, 0x needs hexadecimal digits"),
            FaultKind::StrayCharacter => {
                Self::at(source, offset, format!("stray character \"{}\"", text.escape_debug()))
            }
            FaultKind::TooLong => Self::at(source, offset, "source is longer than 1 GiB"),
        }
    }
}
