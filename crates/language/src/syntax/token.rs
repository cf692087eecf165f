//! Tokens, and the classes of bytes that they are made of. No token owns text: it is a range of the source.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name made of letters, digits, `.`, `_`, `:` and characters beyond ASCII.
    Word,
    /// A name made of operator characters.
    Symbol,
    Decimal,
    Hexadecimal,
    /// `"..."`, with escapes.
    Text,
    /// `"""..."""`, without escapes.
    TripleText,
    Open,
    Close,
    Comma,
    Semicolon,
    Newline,
    /// From `//` or `#` up to, not including, the end of the line.
    LineComment,
    /// `/* ... */`, which nests.
    BlockComment,
    /// A backslash at the end of a line: the newline after it ends nothing.
    Continuation,
    End,
}

impl TokenKind {
    pub fn is_comment(self) -> bool {
        matches!(self, TokenKind::LineComment | TokenKind::BlockComment)
    }
}

/// A range of the source, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
}

impl Token {
    pub fn text<'s>(&self, source: &'s str) -> &'s str {
        &source[self.start as usize..self.end as usize]
    }
}

/// Why a range of the source is no token. Small, because every token is returned beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultKind {
    UnterminatedString,
    UnterminatedTripleString,
    UnterminatedComment,
    MalformedNumber,
    StrayCharacter,
    TooLong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub kind: FaultKind,
    pub start: u32,
    pub end: u32,
}

const BLANK: u8 = 1;
const WORD: u8 = 2;
const SYMBOL: u8 = 4;

/// The classes of every byte; `:` belongs to two.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let is_word = matches!(byte as u8, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b':' | 0x80..=0xFF);
        table[byte] = if is_word { WORD } else { 0 };
        byte += 1;
    }
    let symbols = b":'~!@$%^&*-+=|\\<>?/";
    let mut index = 0;
    while index < symbols.len() {
        table[symbols[index] as usize] |= SYMBOL;
        index += 1;
    }
    let blanks = b" \x0C\r\t\x0B";
    index = 0;
    while index < blanks.len() {
        table[blanks[index] as usize] |= BLANK;
        index += 1;
    }
    table
}

pub(super) fn is_blank(byte: u8) -> bool {
    CLASSES[byte as usize] & BLANK != 0
}

pub(super) fn is_word(byte: u8) -> bool {
    CLASSES[byte as usize] & WORD != 0
}

pub(super) fn is_symbol(byte: u8) -> bool {
    CLASSES[byte as usize] & SYMBOL != 0
}
