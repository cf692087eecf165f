//! The syntax of Io: from source text to a flat tree of messages, and back to text.
//!
//! The stages are files: `lexer` cuts text into tokens, `parser` builds message chains from them, `shuffle` moves the
//! operands of operators into their argument lists, `print` writes a tree as Io source again, `format` tidies source
//! that a person wrote, `complete` tells a prompt whether to ask for another line.
//!
//! Nothing here recurses on the native stack, whatever the nesting of the input, and nothing takes more than linear
//! time. Nothing here knows of objects, slots or evaluation, and nothing here touches the host.
//!
//! Source that Io's own implementation understands means the same here. Where that implementation loses track, this
//! one does what the author meant, or says what is wrong:
//! - `a:=1` assigns to `a`, not to `a:`; `a +// note` and `a +\` at the end of a line hold the operator `+`;
//! - `x[1] = a + b` assigns the whole of `a + b`, and `foo((a + b))` shuffles what is inside;
//! - parentheses that are an operator's whole operand never count twice: `1 + (2) - 3` is `1 +(2) -(3)`;
//! - an operand on the line after its operator is the same as on its line, without a `;` before it;
//! - brackets close only their own kind, `0x10+1` is a sum, and `1.`, `1..2`, `1e` and `0xZ` are malformed numbers;
//! - a message without arguments prints as `a()` before a group, so that `a() (b)` does not become `a(b)`.

mod complete;
mod error;
mod escape;
mod format;
mod lexer;
mod operators;
mod parser;
mod position;
mod print;
mod shuffle;
mod token;
mod tree;

pub use complete::{Completeness, Incoming, is_complete};
pub use error::SyntaxError;
pub use escape::{escape, quote, unescape};
pub use format::format;
pub use operators::OperatorTable;
pub use print::print;
pub use shuffle::shuffle;
pub use tree::{Arguments, Literal, Node, NodeId, Tree};

/// How many tokens a source has: what parsing it will take. Counts up to the first fault.
pub(crate) fn token_count(source: &str) -> usize {
    let Ok(mut lexer) = lexer::Lexer::new(source) else { return 0 };
    std::iter::from_fn(|| lexer.next().ok().filter(|token| token.kind != token::TokenKind::End)).count()
}

/// Parses source and shuffles its operators. A source without any message gives the single message `nil`.
pub fn parse<'s>(source: &'s str, table: &OperatorTable) -> Result<Tree<'s>, SyntaxError> {
    let mut tree = parser::parse_chains(source)?;
    let root = tree.root;
    shuffle(&mut tree, root, table).map_err(|fault| fault.located_in(source))?;
    Ok(tree)
}
