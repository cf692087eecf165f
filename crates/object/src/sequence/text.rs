//! Text as text: letter case, stripping, escaping, quoting, character translation.
//! Case is that of ASCII letters only, so that UTF-8 bytes are never damaged; it works on items of any integer type.

use std::collections::{BTreeSet, HashMap};

use super::{Item, Scalar, Sequence, SequenceError, WHITE_SPACE, with_item};

impl Sequence {
    pub fn lowercase(&mut self) {
        self.map_characters(<[u8]>::make_ascii_lowercase);
    }

    pub fn uppercase(&mut self) {
        self.map_characters(<[u8]>::make_ascii_uppercase);
    }

    pub fn as_lowercase(&self) -> Sequence {
        let mut out = self.clone();
        out.lowercase();
        out
    }

    pub fn as_uppercase(&self) -> Sequence {
        let mut out = self.clone();
        out.uppercase();
        out
    }

    /// The first item made uppercase.
    pub fn capitalize(&mut self) {
        let mut first = self.range(0, 1);
        first.uppercase();
        let bytes = first.as_bytes();
        self.buffer.as_mut_slice()[..bytes.len()].copy_from_slice(bytes);
    }

    pub fn as_capitalized(&self) -> Sequence {
        let mut out = self.clone();
        out.capitalize();
        out
    }

    pub fn is_lowercase(&self) -> bool {
        !self.ascii_items().any(|character| character.is_ascii_uppercase())
    }

    pub fn is_uppercase(&self) -> bool {
        !self.ascii_items().any(|character| character.is_ascii_lowercase())
    }

    /// Removes from both ends the items that occur in `set` (white space, if none is given).
    pub fn strip(&mut self, set: Option<&Sequence>) {
        self.rstrip(set);
        self.lstrip(set);
    }

    pub fn lstrip(&mut self, set: Option<&Sequence>) {
        let set = StripSet::new(set);
        let stripped = self.numbers().take_while(|item| set.contains(*item)).count();
        self.remove_range(0, stripped);
    }

    pub fn rstrip(&mut self, set: Option<&Sequence>) {
        let set = StripSet::new(set);
        let stripped = self.numbers().rev().take_while(|item| set.contains(*item)).count();
        let len = self.len();
        self.remove_range(len - stripped, len);
    }

    /// Replaces quotes, backslashes and control characters by their escape codes.
    pub fn escape(&mut self) {
        let size = self.item_size();
        let mut out = self.like(&[]);
        out.buffer.reserve(self.size_in_bytes());
        let mut copied = 0;
        for (index, item) in self.as_bytes().chunks_exact(size).enumerate() {
            let is_narrow = !self.item_type.is_float() && item[1..].iter().all(|byte| *byte == 0);
            if let Some(code) = escape_code(item[0]).filter(|_| is_narrow) {
                out.buffer.extend(self.range_bytes(copied, index));
                out.push_bytes(&[b'\\', code]);
                copied = index + 1;
            }
        }
        out.buffer.extend(self.range_bytes(copied, self.len()));
        *self = out;
    }

    /// The reverse: also `\xNN` with one or two digits, and `\0` to `\9` for those values. A backslash before any other
    /// character is dropped, one at the end stays.
    pub fn unescape(&mut self) {
        if !self.as_bytes().contains(&b'\\') {
            return;
        }
        let items: Vec<Scalar> = self.scalars().collect();
        let mut out = Vec::with_capacity(items.len());
        let mut rest = items.as_slice();
        while let [first, tail @ ..] = rest {
            rest = tail;
            if ascii_of(*first) != Some(b'\\') {
                out.push(*first);
                continue;
            }
            let (value, used) = unescape_one(tail);
            out.push(value);
            rest = &tail[used.min(tail.len())..];
        }
        self.buffer.resize(out.len() * self.item_size());
        self.store_scalars(&out);
    }

    /// Double quotes around it.
    pub fn quote(&mut self) {
        let quote = Sequence::from("\"");
        self.prepend_seq(std::slice::from_ref(&quote));
        self.append_seq(&quote);
    }

    /// Removes one pair of surrounding double quotes, if there is one.
    pub fn unquote(&mut self) {
        let quote = Sequence::from("\"");
        if self.len() >= 2 && self.begins_with_seq(&quote) && self.ends_with_seq(&quote) {
            self.remove_last();
            self.remove_range(0, 1);
        }
    }

    /// Io's `asSimpleString`: escaped, in double quotes.
    pub fn as_simple_string(&self) -> Sequence {
        let mut out = self.clone();
        out.escape();
        out.quote();
        out
    }

    /// Replaces each item found in `from` by the one at the same place in `to`; others stay. Where `from` names an item
    /// twice, the last counts.
    pub fn translate(&mut self, from: &Sequence, to: &Sequence) -> Result<(), SequenceError> {
        if from.len() != to.len() {
            return Err(SequenceError::TranslationLengths { from: from.len(), to: to.len() });
        }
        let key = |item: Scalar| item.to_number().to_bits();
        let table: HashMap<u64, Scalar> = from.scalars().map(key).zip(to.scalars()).collect();
        let item_type = self.item_type;
        for slot in self.buffer.as_mut_slice().chunks_exact_mut(item_type.size()) {
            let item = with_item!(item_type, T => T::read(slot).to_scalar());
            if let Some(&translated) = table.get(&key(item)) {
                with_item!(item_type, T => T::from_scalar(translated).write(slot));
            }
        }
        Ok(())
    }

    pub fn remove_prefix(&mut self, prefix: &Sequence) {
        if self.begins_with_seq(prefix) {
            let len = self.prefix_len(prefix);
            self.remove_range(0, len);
        }
    }

    pub fn remove_suffix(&mut self, suffix: &Sequence) {
        if self.ends_with_seq(suffix) {
            let len = self.len();
            self.remove_range(len - self.prefix_len(suffix), len);
        }
    }

    /// How many of the receiver's items the other takes up.
    pub(super) fn prefix_len(&self, other: &Sequence) -> usize {
        other.items_for(self).len() >> self.item_type.size_shift()
    }

    fn map_characters(&mut self, change: fn(&mut [u8])) {
        let size = self.item_size();
        let bytes = self.buffer.as_mut_slice();
        if size == 1 {
            change(bytes);
        } else if !self.item_type.is_float() {
            // Little-endian: an ASCII character is its low byte followed by zeros.
            let items = bytes.chunks_exact_mut(size);
            items.filter(|item| item[1..].iter().all(|byte| *byte == 0)).for_each(|item| change(&mut item[..1]));
        }
    }

    fn ascii_items(&self) -> impl Iterator<Item = u8> + '_ {
        self.scalars().filter_map(ascii_of)
    }
}

/// The values to strip: a mark per byte value, and the others by their representation as a Number.
struct StripSet {
    bytes: [bool; 256],
    others: BTreeSet<u64>,
}

impl StripSet {
    fn new(set: Option<&Sequence>) -> Self {
        let white_space = Sequence::from(WHITE_SPACE);
        let mut out = StripSet { bytes: [false; 256], others: BTreeSet::new() };
        for number in set.unwrap_or(&white_space).numbers() {
            match byte_value(number) {
                Some(byte) => out.bytes[usize::from(byte)] = true,
                None => _ = out.others.insert(number.to_bits()),
            }
        }
        out
    }

    fn contains(&self, number: f64) -> bool {
        match byte_value(number) {
            Some(byte) => self.bytes[usize::from(byte)],
            None => self.others.contains(&number.to_bits()),
        }
    }
}

fn byte_value(number: f64) -> Option<u8> {
    let byte = number as u8;
    (f64::from(byte) == number).then_some(byte)
}

pub(super) fn ascii_of(item: Scalar) -> Option<u8> {
    match item {
        Scalar::Integer(value @ 0..=127) => Some(value as u8),
        _ => None,
    }
}

fn escape_code(character: u8) -> Option<u8> {
    Some(match character {
        b'"' => b'"',
        0x07 => b'a',
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x0b => b'v',
        0 => b'0',
        b'\\' => b'\\',
        _ => return None,
    })
}

/// What stands after a backslash: the item it means and how many items it takes.
fn unescape_one(tail: &[Scalar]) -> (Scalar, usize) {
    let integer = |value: u8| Scalar::Integer(i128::from(value));
    let digit = |index: usize| tail.get(index).and_then(|item| hexadecimal_digit(ascii_of(*item)?));
    let Some(next) = tail.first() else { return (integer(b'\\'), 0) };
    let value = match ascii_of(*next) {
        Some(b'x') => match (digit(1), digit(2)) {
            (Some(high), Some(low)) => return (integer(high << 4 | low), 3),
            (Some(only), None) => return (integer(only), 2),
            _ => *next,
        },
        Some(b'a') => integer(0x07),
        Some(b'b') => integer(0x08),
        Some(b'f') => integer(0x0c),
        Some(b'n') => integer(b'\n'),
        Some(b'r') => integer(b'\r'),
        Some(b't') => integer(b'\t'),
        Some(b'v') => integer(0x0b),
        Some(0) => integer(b'\\'),
        Some(digit @ b'0'..=b'9') => integer(digit - b'0'),
        _ => *next,
    };
    (value, 1)
}

pub(super) fn hexadecimal_digit(character: u8) -> Option<u8> {
    char::from(character).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Sequence {
        Sequence::from(source)
    }

    fn changed(source: &str, change: impl Fn(&mut Sequence)) -> String {
        let mut sequence = text(source);
        change(&mut sequence);
        sequence.to_text()
    }

    #[test]
    fn changes_case_of_ascii_only() {
        assert_eq!(text(" AbC12 é").as_lowercase(), text(" abc12 é"));
        assert_eq!(text(" aBc12 é").as_uppercase(), text(" ABC12 é"));
        assert_eq!(text("aBc12 ").as_capitalized(), text("ABc12 "));
        assert_eq!(text(" a b c").as_capitalized(), text(" a b c"));
        assert_eq!(text("").as_capitalized(), text(""));
        assert_eq!(text("Łódź").as_ucs4().as_lowercase().to_text(), "Łódź");
        assert!(text("a123b ").is_lowercase() && text("").is_lowercase() && !text("aBc").is_lowercase());
        assert!(text("A123B ").is_uppercase() && !text("AbC").is_uppercase());
    }

    #[test]
    fn strips_as_the_io_suite_says() {
        let strip = |source, set: Option<&str>| changed(source, |it| it.strip(set.map(text).as_ref()));
        assert_eq!(strip(" abc ", None), "abc");
        assert_eq!(strip("   abc", Some("a ")), "bc");
        assert_eq!(strip("   abc", Some("c ")), "ab");
        assert_eq!(strip("  \r\t\n  ", None), "");
        assert_eq!(changed("   abc ", |it| it.lstrip(None)), "abc ");
        assert_eq!(changed("abc   ", |it| it.rstrip(Some(&text("c ")))), "ab");
        assert_eq!(changed("", |it| it.rstrip(None)), "");
    }

    #[test]
    fn escapes_and_unescapes() {
        let raw = "\" \x07 \x08 \x0c \n \r \t \x0b \0 \\";
        let escaped = r#"\" \a \b \f \n \r \t \v \0 \\"#;
        assert_eq!(changed(raw, Sequence::escape), escaped);
        assert_eq!(changed(escaped, Sequence::unescape), raw);
        assert_eq!(changed(r"\x1B[2J", Sequence::unescape), "\x1b[2J");
        assert_eq!(changed(r"\x41\x42\x4a", Sequence::unescape), "ABJ");
        assert_eq!(changed(r"\x9", Sequence::unescape), "\t");
        assert_eq!(changed(r"\xz", Sequence::unescape), "xz");
        assert_eq!(changed(r"a\", Sequence::unescape), r"a\");
        assert_eq!(text("a\"").as_simple_string(), text(r#""a\"""#));
    }

    #[test]
    fn unquotes_pairs_only() {
        assert_eq!(changed("\"a\"", Sequence::unquote), "a");
        assert_eq!(changed("\"", Sequence::unquote), "\"");
    }

    #[test]
    fn translates() {
        assert_eq!(changed("abca", |it| it.translate(&text("ac"), &text("xz")).unwrap()), "xbzx");
        assert!(text("a").translate(&text("a"), &text("")).is_err());
    }

    #[test]
    fn removes_prefix_and_suffix() {
        assert_eq!(changed("abc", |it| it.remove_prefix(&text("a"))), "bc");
        assert_eq!(changed("abc", |it| it.remove_prefix(&text("b"))), "abc");
        assert_eq!(changed("abc", |it| it.remove_suffix(&text("abc"))), "");
        assert_eq!(changed("abc", |it| it.remove_suffix(&text("b"))), "abc");
    }
}
