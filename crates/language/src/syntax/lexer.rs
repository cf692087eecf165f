//! Cuts source into tokens in one pass. Keeps comments and newlines, so that the formatter sees what a person wrote;
//! never builds text and never decides what tokens mean together.

use super::token::{Fault, FaultKind, Token, TokenKind, is_blank, is_symbol, is_word};

/// Keeps offsets and node numbers, of which there are fewer than two for a byte, within 32 bits.
const MAX_SOURCE_BYTES: usize = 1 << 30;

const BYTE_ORDER_MARK: &str = "\u{FEFF}";

pub(super) struct Lexer<'s> {
    bytes: &'s [u8],
    offset: usize,
}

impl<'s> Lexer<'s> {
    /// Fails when the source is too long.
    pub fn new(source: &'s str) -> Result<Self, Fault> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(Fault { kind: FaultKind::TooLong, start: 0, end: 0 });
        }
        let offset = if source.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Ok(Lexer { bytes: source.as_bytes(), offset })
    }

    /// Goes on at an offset where a token begins.
    pub fn resume(source: &'s str, offset: usize) -> Result<Self, Fault> {
        let lexer = Lexer::new(source)?;
        Ok(Lexer { offset: offset.max(lexer.offset), ..lexer })
    }

    /// The next token; after the last one, `End` for ever.
    pub fn next(&mut self) -> Result<Token, Fault> {
        self.skip_while(is_blank);
        let start = self.offset;
        let kind = match self.peek(0) {
            0 if start >= self.bytes.len() => TokenKind::End,
            b'\n' => self.single(TokenKind::Newline),
            b';' => self.single(TokenKind::Semicolon),
            b',' => self.single(TokenKind::Comma),
            b'(' | b'[' | b'{' => self.single(TokenKind::Open),
            b')' | b']' | b'}' => self.single(TokenKind::Close),
            b'"' => self.text()?,
            b'#' => self.line_comment(),
            b'/' if self.peek(1) == b'/' => self.line_comment(),
            b'/' if self.peek(1) == b'*' => self.block_comment()?,
            b'\\' if self.continues_line(start) => self.continuation(),
            b'0'..=b'9' => self.number()?,
            b'.' if self.peek(1).is_ascii_digit() => self.number()?,
            byte if is_symbol(byte) => self.symbol(),
            byte if is_word(byte) => self.word(),
            _ => return Err(self.fault(FaultKind::StrayCharacter, start, start + 1)),
        };
        Ok(Token { kind, start: start as u32, end: self.offset as u32 })
    }

    /// The byte `ahead` of here, or 0 beyond the end.
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.offset + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'s [u8] {
        &self.bytes[self.offset..]
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        self.skip_to(self.rest().iter().position(|&byte| !belongs(byte)));
    }

    /// To a place in the rest, or to its end.
    fn skip_to(&mut self, place: Option<usize>) {
        self.offset += place.unwrap_or(self.rest().len());
    }

    fn fault(&self, kind: FaultKind, start: usize, end: usize) -> Fault {
        Fault { kind, start: start as u32, end: end as u32 }
    }

    fn single(&mut self, kind: TokenKind) -> TokenKind {
        self.offset += 1;
        kind
    }

    fn line_comment(&mut self) -> TokenKind {
        self.skip_to(memchr::memchr(b'\n', self.rest()));
        TokenKind::LineComment
    }

    fn block_comment(&mut self) -> Result<TokenKind, Fault> {
        let start = self.offset;
        let mut nesting = 0_usize;
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    nesting += 1;
                    self.offset += 2;
                }
                (b'*', b'/') => {
                    nesting -= 1;
                    self.offset += 2;
                    if nesting == 0 {
                        return Ok(TokenKind::BlockComment);
                    }
                }
                _ if self.offset >= self.bytes.len() => {
                    return Err(self.fault(FaultKind::UnterminatedComment, start, start));
                }
                _ => self.offset += 1,
            }
        }
    }

    fn text(&mut self) -> Result<TokenKind, Fault> {
        let start = self.offset;
        if self.peek(1) == b'"' && self.peek(2) == b'"' {
            return self.triple_text();
        }
        self.offset += 1;
        loop {
            self.skip_to(memchr::memchr2(b'"', b'\\', self.rest()));
            match self.peek(0) {
                b'"' => return Ok(self.single(TokenKind::Text)),
                // Stepping over one byte is enough: the others of a longer character are neither quote nor backslash.
                b'\\' if self.offset + 1 < self.bytes.len() => self.offset += 2,
                _ => return Err(self.fault(FaultKind::UnterminatedString, start, start)),
            }
        }
    }

    fn triple_text(&mut self) -> Result<TokenKind, Fault> {
        let start = self.offset;
        self.offset += 3;
        loop {
            self.skip_to(memchr::memchr(b'"', self.rest()));
            if self.peek(1) == b'"' && self.peek(2) == b'"' {
                self.offset += 3;
                return Ok(TokenKind::TripleText);
            }
            if self.offset >= self.bytes.len() {
                return Err(self.fault(FaultKind::UnterminatedTripleString, start, start));
            }
            self.offset += 1;
        }
    }

    /// Whether the backslash at `offset` has only blanks between it and the end of its line.
    fn continues_line(&self, offset: usize) -> bool {
        self.bytes[offset + 1..].iter().find(|&&byte| !is_blank(byte)) == Some(&b'\n')
    }

    fn continuation(&mut self) -> TokenKind {
        self.skip_while(|byte| byte != b'\n');
        self.single(TokenKind::Continuation)
    }

    fn number(&mut self) -> Result<TokenKind, Fault> {
        let start = self.offset;
        let kind = if self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X') {
            self.hexadecimal()
        } else {
            self.decimal()
        };
        kind.ok_or_else(|| {
            self.offset = start;
            self.skip_while(is_word);
            self.fault(FaultKind::MalformedNumber, start, self.offset)
        })
    }

    fn hexadecimal(&mut self) -> Option<TokenKind> {
        self.offset += 2;
        let digits = self.offset;
        self.skip_while(|byte| byte.is_ascii_hexdigit());
        (self.offset > digits && !is_word(self.peek(0))).then_some(TokenKind::Hexadecimal)
    }

    fn decimal(&mut self) -> Option<TokenKind> {
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.peek(0) == b'.' {
            self.offset += 1;
            self.digits()?;
        }
        if matches!(self.peek(0), b'e' | b'E') {
            self.offset += if matches!(self.peek(1), b'-' | b'+') { 2 } else { 1 };
            self.digits()?;
        }
        Some(TokenKind::Decimal)
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.offset;
        self.skip_while(|byte| byte.is_ascii_digit());
        (self.offset > start).then_some(())
    }

    /// A run of operator characters, up to where a comment or a line continuation begins.
    fn symbol(&mut self) -> TokenKind {
        self.offset += 1;
        loop {
            match self.peek(0) {
                b'/' if matches!(self.peek(1), b'/' | b'*') => break,
                b'\\' if self.continues_line(self.offset) => break,
                byte if is_symbol(byte) => self.offset += 1,
                _ => break,
            }
        }
        TokenKind::Symbol
    }

    /// A name may hold colons, but the colon of `a:=1` and the colons of `a::=1` begin the operator.
    fn word(&mut self) -> TokenKind {
        loop {
            self.skip_while(|byte| byte != b':' && is_word(byte));
            let begins_operator = self.peek(1) == b'=' || (self.peek(1) == b':' && self.peek(2) == b'=');
            if self.peek(0) != b':' || begins_operator {
                return TokenKind::Word;
            }
            self.offset += 1;
        }
    }
}
