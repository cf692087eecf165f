//! Colours for Io source, token by token. A glance at the text is enough here: what is no Io is coloured too.

use anstyle::{AnsiColor, Style};

/// What a piece of source is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece {
    Comment,
    Text,
    Number,
    /// A capitalised name: a prototype, most often.
    Prototype,
    /// A message that steers: `if`, `method`, `for` and their like.
    Control,
    Operator,
    Plain,
}

const CONTROL: &[&str] = &[
    "if", "then", "else", "elseif", "for", "while", "loop", "repeat", "foreach", "method", "block", "do", "return",
    "break", "continue", "try", "catch", "raise", "clone", "self", "call", "yield", "nil", "true", "false", "and",
    "or", "not", "super", "resend",
];

impl Piece {
    pub fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match self {
            Piece::Comment => color(AnsiColor::BrightBlack),
            Piece::Text => color(AnsiColor::Green),
            Piece::Number => color(AnsiColor::Cyan),
            Piece::Prototype => color(AnsiColor::Yellow),
            Piece::Control => color(AnsiColor::Magenta),
            Piece::Operator => color(AnsiColor::Blue),
            Piece::Plain => Style::new(),
        }
    }
}

/// Cuts source into pieces that together are the source.
pub fn pieces(source: &str) -> Vec<(Piece, &str)> {
    let mut pieces = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (piece, length) = next(rest, first);
        let (text, tail) = rest.split_at(length);
        pieces.push((piece, text));
        rest = tail;
    }
    pieces
}

fn next(rest: &str, first: char) -> (Piece, usize) {
    let run = |accepts: fn(char) -> bool| rest.find(|character| !accepts(character)).unwrap_or(rest.len());
    let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    match first {
        '#' => (Piece::Comment, run(|character| character != '\n')),
        '/' if rest.starts_with("//") => (Piece::Comment, run(|character| character != '\n')),
        '/' if rest.starts_with("/*") => (Piece::Comment, until("*/", 2)),
        '"' if rest.starts_with("\"\"\"") => (Piece::Text, until("\"\"\"", 3)),
        '"' => (Piece::Text, string_length(rest)),
        _ if first.is_ascii_digit() => {
            (Piece::Number, run(|character| character.is_alphanumeric() || character == '.'))
        }
        _ if is_name(first) => {
            let length = run(is_name);
            let name = &rest[..length];
            let piece = match first {
                _ if CONTROL.contains(&name) => Piece::Control,
                _ if first.is_uppercase() => Piece::Prototype,
                _ => Piece::Plain,
            };
            (piece, length)
        }
        _ if is_operator(first) => (Piece::Operator, run(is_operator)),
        _ => (Piece::Plain, first.len_utf8()),
    }
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_operator(character: char) -> bool {
    ":.'~!@$%^&*-+/=|\\<>?".contains(character)
}

fn string_length(rest: &str) -> usize {
    let mut is_escaped = false;
    for (offset, character) in rest.char_indices().skip(1) {
        match character {
            '"' if !is_escaped => return offset + 1,
            _ => is_escaped = character == '\\' && !is_escaped,
        }
    }
    rest.len()
}

/// The source with escape codes.
pub fn colored(source: &str) -> String {
    let mut text = String::with_capacity(source.len() * 2);
    for (piece, part) in pieces(source) {
        let style = piece.style();
        text.push_str(&format!("{style}{part}{style:#}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_the_source() {
        let source = "x := \"a\\\"b\" // é\nList map(i, i + 1.5) # end \"\"\"open";
        let pieces = pieces(source);
        assert_eq!(pieces.iter().map(|(_, text)| *text).collect::<String>(), source);
        assert!(pieces.contains(&(Piece::Text, "\"a\\\"b\"")));
        assert!(pieces.contains(&(Piece::Prototype, "List")));
        assert!(pieces.contains(&(Piece::Number, "1.5")));
    }
}
