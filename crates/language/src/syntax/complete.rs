//! Tells a prompt whether what was typed so far is whole. Decides by the parser's own errors, never by rules of its own.

use super::error::SyntaxError;
use super::lexer::Lexer;
use super::parser::parse_chains;
use super::token::TokenKind;

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

#[cfg(test)]
mod tests {
    use super::*;

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
