//! Lines of a diff, and texts that do nothing to a terminal.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    Added,
    Removed,
    /// Neither: said about what is around it.
    Note,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    pub mark: Mark,
    /// Without a line break, and without control characters.
    pub text: String,
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.mark {
            Mark::Added => '+',
            Mark::Removed => '-',
            Mark::Note => ' ',
        };
        write!(formatter, "  {mark} {}", self.text)
    }
}

/// One line for each of the text's.
pub fn marked(mark: Mark, text: &str) -> impl Iterator<Item = Line> {
    text.split('\n').map(move |text| Line { mark, text: harmless(text) })
}

/// The text with everything made visible that a terminal would act on, or that changes the order of what is read.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => shown.push(letter),
            _ if letter.is_control() || is_unseen(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    shown
}

/// Letters that turn the direction of text, or take no room.
const fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_left_alone() {
        assert_eq!(harmless("größe\t日本"), "größe\t日本");
        assert_eq!(harmless("a\x1b[2Jb\rc"), "a\\u{1b}[2Jb\\u{d}c");
        assert_eq!(harmless("a\u{202e}b\u{200b}"), "a\\u{202e}b\\u{200b}");
    }
}
