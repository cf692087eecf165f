//! Tells a prompt whether what was typed so far is whole. Decides by the parser's own errors, never by rules of its own.

use super::error::SyntaxError;
use super::lexer::Lexer;
use super::parser::parse_chains;
use super::token::{FaultKind, TokenKind};

/// Whether source can be run as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    Complete,
    /// A bracket, a string or a comment is still open, or the last line says that it continues.
    NeedsMore,
    /// No text after it can make it right.
    Wrong(SyntaxError),
}

/// Whether source can be run as it stands, leaving aside what operators demand.
pub fn is_complete(source: &str) -> Completeness {
    match parse_chains(source) {
        Ok(_) if ends_with_continuation(source) => Completeness::NeedsMore,
        Ok(_) => Completeness::Complete,
        Err(error) if error.is_incomplete() => Completeness::NeedsMore,
        Err(error) => Completeness::Wrong(error),
    }
}

fn ends_with_continuation(source: &str) -> bool {
    let Ok(mut lexer) = Lexer::new(source) else { return false };
    let mut last = TokenKind::End;
    while let Ok(token) = lexer.next() {
        if token.kind == TokenKind::End {
            // As long as its newline has not been typed, the backslash is an operator.
            let ends_with_backslash = last == TokenKind::Symbol && source.trim_end().ends_with('\\');
            return last == TokenKind::Continuation || ends_with_backslash;
        }
        last = token.kind;
    }
    false
}

/// Source that comes in line by line. Each line is looked at once; the parser is asked about all of it when no bracket,
/// string or comment is open any more, or when something looks wrong.
#[derive(Default)]
pub struct Incoming {
    source: String,
    /// Up to here it is cut into tokens.
    lexed: usize,
    /// The brackets that are open.
    open: Vec<u8>,
    last: Option<TokenKind>,
    /// What ends the string or comment that is open.
    awaited: Option<&'static str>,
}

impl Incoming {
    /// Adds a line with its end, and says whether more must follow.
    pub fn push(&mut self, line: &str) -> bool {
        self.source.push_str(line);
        if self.awaited.is_some_and(|closer| !line.contains(closer)) {
            return true;
        }
        self.is_open() || is_complete(&self.source) == Completeness::NeedsMore
    }

    /// All that came, for a new beginning.
    pub fn take(&mut self) -> String {
        std::mem::take(self).source
    }

    /// Whether brackets, a string or a comment are open, and nothing looks wrong.
    fn is_open(&mut self) -> bool {
        let Ok(mut lexer) = Lexer::resume(&self.source, self.lexed) else { return false };
        self.awaited = None;
        loop {
            let token = match lexer.next() {
                Ok(token) => token,
                Err(fault) => {
                    self.lexed = fault.start as usize;
                    self.awaited = match fault.kind {
                        FaultKind::UnterminatedString => Some("\""),
                        FaultKind::UnterminatedTripleString => Some("\"\"\""),
                        FaultKind::UnterminatedComment => Some("*/"),
                        FaultKind::MalformedNumber | FaultKind::StrayCharacter | FaultKind::TooLong => None,
                    };
                    return self.awaited.is_some();
                }
            };
            self.lexed = token.end as usize;
            let byte = self.source.as_bytes().get(token.start as usize).copied();
            match (token.kind, self.last) {
                (TokenKind::End, _) => return !self.open.is_empty(),
                (TokenKind::Newline | TokenKind::Semicolon | TokenKind::Continuation, _) => continue,
                (kind, _) if kind.is_comment() => continue,
                (TokenKind::Comma, Some(TokenKind::Open | TokenKind::Comma)) => return false,
                (TokenKind::Close, Some(TokenKind::Comma)) => return false,
                (TokenKind::Open, _) => self.open.extend(byte),
                (TokenKind::Close, _) if self.open.pop().map(closer_of) != byte => return false,
                _ => {}
            }
            self.last = Some(token.kind);
        }
    }
}

fn closer_of(opener: u8) -> u8 {
    match opener {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line by line it is whole, open or wrong just where it is as a whole.
    #[test]
    fn lines_are_as_whole_as_all_of_them() {
        let sources = [
            "list(1,\n2,\n3)\n4\n",
            "a := \"x\ny \\\" z\nw\"\n",
            "x \"\"\"a\n\"\n\"\" b\n\"\"\"\n",
            "/* a\n/* b */\n( */\nc(\n// )\n)\n",
            "f(\n]\n",
            "f(a,\n\n,\n",
            "f(a,\n)\n",
            "a \\\nb\n",
            "f([{\n1.x\n",
            "f(\n;\n,\n",
            "f(\n`\n",
            ",\n",
            "(\n(\n)\n)\n)\n",
            "\u{FEFF}f(\n)\n",
        ];
        for source in sources {
            let mut incoming = Incoming::default();
            let mut whole = String::new();
            for line in source.split_inclusive('\n') {
                whole.push_str(line);
                let needs_more = incoming.push(line);
                assert_eq!(needs_more, is_complete(&whole) == Completeness::NeedsMore, "{whole:?}");
                if !needs_more {
                    assert_eq!(incoming.take(), std::mem::take(&mut whole));
                }
            }
        }
    }

    #[test]
    fn tells_whole_from_open_from_wrong() {
        for source in ["", "a", "a(b)\n", "\"(\"", "// (", "a := 1; b", "\"\"\"\"\"\"", "// \\"] {
            assert_eq!(is_complete(source), Completeness::Complete, "{source}");
        }
        for source in ["a(", "a(b,", "(\n[", "\"abc", "\"abc\\", "\"\"\"a\"\"", "/* /* */", "a \\", "a \\\n", "a( \"x"]
        {
            assert_eq!(is_complete(source), Completeness::NeedsMore, "{source}");
        }
        for source in [")", "(]", "a,", "a(,", "1.x", "`"] {
            assert!(matches!(is_complete(source), Completeness::Wrong(_)), "{source}");
        }
    }
}
