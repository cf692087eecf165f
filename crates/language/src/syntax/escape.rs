//! The escapes of string literals, both ways. `escape` followed by `unescape` gives every text back.

use std::borrow::Cow;

/// Writes text as it stands between the quotes of a string literal.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 2);
    escape_onto(&mut escaped, text);
    escaped
}

fn escape_onto(escaped: &mut String, text: &str) {
    for character in text.chars() {
        let letter = match character {
            '"' => '"',
            '\\' => '\\',
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\x0C' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '\x0B' => 'v',
            plain => {
                escaped.push(plain);
                continue;
            }
        };
        escaped.push('\\');
        escaped.push(letter);
    }
}

/// Writes text as a string literal, quotes included.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    escape_onto(&mut quoted, text);
    quoted.push('"');
    quoted
}

/// Resolves the escapes of a string literal's inside: `\a \b \f \n \r \t \v`, `\0` to `\9` for the characters 0 to 9,
/// and `\xN` or `\xNN` for the character U+00NN. Any other character after a backslash stands for itself, and a
/// backslash at the very end too.
pub fn unescape(escaped: &str) -> Cow<'_, str> {
    if !escaped.contains('\\') {
        return Cow::Borrowed(escaped);
    }
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        rest = &rest[backslash + 1..];
        let Some(letter) = rest.chars().next() else {
            text.push('\\');
            break;
        };
        rest = &rest[letter.len_utf8()..];
        text.push(match letter {
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0C',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0B',
            'x' => take_hexadecimal(&mut rest).unwrap_or('x'),
            '0'..='9' => char::from(letter as u8 - b'0'),
            other => other,
        });
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Takes one or two hexadecimal digits off the front.
fn take_hexadecimal(rest: &mut &str) -> Option<char> {
    let digits = rest.bytes().take(2).take_while(u8::is_ascii_hexdigit).count();
    let value = u8::from_str_radix(&rest[..digits], 16).ok()?;
    *rest = &rest[digits..];
    Some(char::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_every_escape() {
        assert_eq!(unescape(r#"a\n\t\"\\\0\7\q\x1B[\x9g\xzz"#), "a\n\t\"\\\0\u{7}q\u{1B}[\u{9}gxzz");
        assert_eq!(unescape("end\\"), "end\\");
        assert_eq!(unescape(r"\xe9\é"), "éé");
    }

    #[test]
    fn writes_what_it_reads() {
        for text in ["", "plain", "\"quoted\"\n", "\0\u{7}\u{8}\u{B}\u{C}\r\t\\", "é\\x41", "\\"] {
            assert_eq!(unescape(&escape(text)), text);
        }
        assert_eq!(quote("a\"b\n"), r#""a\"b\n""#);
    }
}
