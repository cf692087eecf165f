//! The words of JSON: white space and comments, names, numbers and text in quotes. Owns the position in the text; what
//! is wrong is said in words that are followed by the place.

pub struct Scanner<'t> {
    text: &'t str,
    pub at: usize,
}

impl<'t> Scanner<'t> {
    pub fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, at: 0 }
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// The position for people.
    pub fn place(&self) -> String {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |index| index + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        format!("line {line}, column {column}")
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Skips white space and comments.
    pub fn skip_space(&mut self) -> Result<(), &'static str> {
        loop {
            let rest = self.rest();
            let space = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
            self.at += space;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").ok_or("a comment that does not end was opened")? + 2;
            } else {
                return Ok(());
            }
        }
    }

    pub fn word(&mut self, word: &str) -> Result<(), &'static str> {
        if !self.rest().starts_with(word) {
            return Err("a value was expected");
        }
        self.at += word.len();
        Ok(())
    }

    pub fn number(&mut self) -> Result<f64, &'static str> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = usize::from(bytes[0] == b'-');
        let whole = digits(end);
        let has_extra_zero = whole > 1 && bytes[end] == b'0';
        end += whole;
        if bytes.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            end = if fraction == 0 { bytes.len() + 1 } else { end + 1 + fraction };
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = bytes.get(end + 1 + sign..).map_or(0, |_| digits(end + 1 + sign));
            end = if exponent == 0 { bytes.len() + 1 } else { end + 1 + sign + exponent };
        }
        let parsed = self.rest().get(..end).filter(|_| whole > 0 && !has_extra_zero).and_then(|text| text.parse().ok());
        let number = parsed.ok_or("a number that JSON does not allow stands")?;
        self.at += end;
        Ok(number)
    }

    /// How many bytes the text in quotes takes here; it has no more once it is read.
    pub fn string_bytes(&self) -> usize {
        let mut is_escaped = false;
        let is_inside = |&byte: &u8| {
            let escapes = byte == b'\\' && !is_escaped;
            byte != b'"' || std::mem::replace(&mut is_escaped, escapes)
        };
        self.rest().bytes().skip(1).take_while(is_inside).count()
    }

    /// Reads text in quotes.
    pub fn string(&mut self) -> Result<String, &'static str> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.bytes().take_while(|&byte| byte != b'"' && byte != b'\\' && byte >= b' ').count();
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err("a control character in text stands"),
                None => return Err("the text ends inside of quotes"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, &'static str> {
        let code = self.text.as_bytes().get(self.at + 1).copied();
        let character = match code {
            Some(b'"' | b'\\' | b'/') => code.map_or(' ', char::from),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err("an escape that JSON does not have stands"),
        };
        self.at += 2;
        Ok(character)
    }

    /// `\uXXXX`, two of them for a surrogate pair. Half a pair is no character, and is replaced.
    fn unicode_escape(&mut self) -> Result<char, &'static str> {
        let first = self.hexadecimal(self.at)?;
        self.at += 6;
        if let 0xd800..0xdc00 = first
            && self.rest().starts_with("\\u")
            && let second @ 0xdc00..0xe000 = self.hexadecimal(self.at)?
        {
            self.at += 6;
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hexadecimal(&self, at: usize) -> Result<u32, &'static str> {
        let digits = self.text.get(at + 2..at + 6).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or("an escape without four hexadecimal digits stands")
    }
}
