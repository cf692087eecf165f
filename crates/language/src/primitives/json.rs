//! `Sequence parseJson`: JSON text to Maps, Lists, Sequences and Numbers. Owns the grammar, with comments allowed as
//! upstream does. Nesting costs heap, never native stack.
//!
//! Each value is put into its container as soon as it is made, and the outermost container is retained: whatever the
//! collector sees in between is reachable.

use super::{Args, NONE, Row};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::Sequence;
use object::{Handle, Symbol, Value};

pub const TABLE: &[Row] = &[("parseJson", NONE, parse_json)];

/// Bytes of text that cost as much as one message.
const BYTES_PER_FUEL: usize = 4;

/// How many values are made between looks at the memory limit, and what they may weigh.
const VALUES_PER_CHECK: usize = 256;
const CHECK_BYTES: usize = VALUES_PER_CHECK * 256;

fn parse_json(vm: &mut Vm, args: Args) -> Outcome {
    let Some(sequence) = vm.sequence_of(args.target) else {
        return Err(args.wrong_receiver(vm, object::Kind::Sequence));
    };
    let bytes = sequence.size_in_bytes();
    if bytes == 0 {
        return Err(vm.raise("Can't parse empty string."));
    }
    vm.charge(bytes / BYTES_PER_FUEL)?;
    vm.reserve(bytes)?;
    let text = vm.text_of(args.target).unwrap_or_default();
    let mut parser = Parser { text: &text, at: 0, open: Vec::new(), root: Value::NIL, made: 0 };
    match parser.run(vm) {
        Ok(value) => {
            vm.release(parser.root);
            Ok(value)
        }
        Err(fault) => {
            vm.release(parser.root);
            Err(match fault {
                Fault::Signal(signal) => signal,
                Fault::Text(what) => {
                    let place = place(&text, parser.at);
                    vm.raise(format!("Can't parse JSON: {what} at {place}"))
                }
            })
        }
    }
}

fn place(text: &str, at: usize) -> String {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |index| index + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    format!("line {line}, column {column}")
}

/// Why parsing stopped: the text is wrong, or the machine said so.
enum Fault {
    Text(&'static str),
    Signal(Signal),
}

impl From<Signal> for Fault {
    fn from(signal: Signal) -> Fault {
        Fault::Signal(signal)
    }
}

/// A container that is not closed yet.
#[derive(Clone, Copy)]
enum Open {
    Array(Handle),
    /// With the key that the next value is for.
    Object(Handle, Option<Symbol>),
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    open: Vec<Open>,
    /// The outermost container, retained.
    root: Value,
    made: usize,
}

impl Parser<'_> {
    fn run(&mut self, vm: &mut Vm) -> Result<Value, Fault> {
        loop {
            // Here a value is due, or the end of a container that was just opened.
            self.skip_space()?;
            let value = match self.begin(vm)? {
                Some(value) => value,
                None => continue,
            };
            if let Some(done) = self.after_value(vm, value)? {
                self.skip_space()?;
                return if self.at == self.text.len() { Ok(done) } else { Err(Fault::Text("text after the value")) };
            }
        }
    }

    /// Reads a plain value or a whole empty container; none if a container with something in it was opened.
    fn begin(&mut self, vm: &mut Vm) -> Result<Option<Value>, Fault> {
        let value = match self.peek() {
            Some(b'{') => return self.open_object(vm),
            Some(b'[') => return self.open_array(vm),
            Some(b'"') => {
                let text = self.string()?;
                vm.buffer(fixed_size(text))
            }
            Some(b'-' | b'0'..=b'9') => Value::number(self.number()?),
            Some(b't') => self.word("true", Value::TRUE)?,
            Some(b'f') => self.word("false", Value::FALSE)?,
            Some(b'n') => self.word("null", Value::NIL)?,
            Some(_) => return Err(Fault::Text("a value was expected")),
            None => return Err(Fault::Text("the text ends where a value was expected")),
        };
        self.attach(vm, value)?;
        Ok(Some(value))
    }

    fn open_array(&mut self, vm: &mut Vm) -> Result<Option<Value>, Fault> {
        self.at += 1;
        let list = vm.list([]);
        self.attach(vm, list)?;
        self.skip_space()?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Some(list));
        }
        self.open.push(Open::Array(vm.handle_of(list)));
        Ok(None)
    }

    fn open_object(&mut self, vm: &mut Vm) -> Result<Option<Value>, Fault> {
        self.at += 1;
        let map = vm.map();
        self.attach(vm, map)?;
        self.skip_space()?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Some(map));
        }
        self.open.push(Open::Object(vm.handle_of(map), None));
        self.key(vm)?;
        Ok(None)
    }

    /// Reads a key and its colon.
    fn key(&mut self, vm: &mut Vm) -> Result<(), Fault> {
        self.skip_space()?;
        if self.peek() != Some(b'"') {
            return Err(Fault::Text("a key in quotes was expected"));
        }
        let text = self.string()?;
        let symbol = vm.heap.intern(&text);
        if let Some(Open::Object(_, key)) = self.open.last_mut() {
            *key = Some(symbol);
        }
        self.skip_space()?;
        if self.peek() != Some(b':') {
            return Err(Fault::Text("':' was expected"));
        }
        self.at += 1;
        Ok(())
    }

    /// Puts a value where it belongs.
    fn attach(&mut self, vm: &mut Vm, value: Value) -> Result<(), Fault> {
        match self.open.last_mut() {
            Some(Open::Array(list)) => vm.heap.list_push(*list, value),
            Some(Open::Object(map, key)) => {
                if let Some(key) = key.take() {
                    vm.heap.map_put(*map, key, value);
                }
            }
            None => self.root = vm.retain(value),
        }
        self.made += 1;
        if self.made.is_multiple_of(VALUES_PER_CHECK) {
            vm.reserve(CHECK_BYTES)?;
        }
        Ok(())
    }

    /// Reads commas and closing brackets after a value; the outermost value if it is complete.
    fn after_value(&mut self, vm: &mut Vm, value: Value) -> Result<Option<Value>, Fault> {
        let mut value = value;
        loop {
            let Some(&open) = self.open.last() else { return Ok(Some(value)) };
            self.skip_space()?;
            match (self.peek(), open) {
                (Some(b','), Open::Array(_)) => {
                    self.at += 1;
                    return Ok(None);
                }
                (Some(b','), Open::Object(..)) => {
                    self.at += 1;
                    self.key(vm)?;
                    return Ok(None);
                }
                (Some(b']'), Open::Array(list)) => value = Value::object(list),
                (Some(b'}'), Open::Object(map, _)) => value = Value::object(map),
                (_, Open::Array(_)) => return Err(Fault::Text("',' or ']' was expected")),
                (_, Open::Object(..)) => return Err(Fault::Text("',' or '}' was expected")),
            }
            self.at += 1;
            self.open.pop();
        }
    }

    // ---- lexical

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let space = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
            self.at += space;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += rest.find("*/").ok_or(Fault::Text("a comment that does not end was opened"))? + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Fault> {
        if !self.rest().starts_with(word) {
            return Err(Fault::Text("a value was expected"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<f64, Fault> {
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
        let number = parsed.ok_or(Fault::Text("a number that JSON does not allow stands"))?;
        self.at += end;
        Ok(number)
    }

    /// Reads text in quotes.
    fn string(&mut self) -> Result<String, Fault> {
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
                Some(_) => return Err(Fault::Text("a control character in text stands")),
                None => return Err(Fault::Text("the text ends inside of quotes")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let code = self.text.as_bytes().get(self.at + 1).copied();
        let character = match code {
            Some(b'"' | b'\\' | b'/') => code.map_or(' ', char::from),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(Fault::Text("an escape that JSON does not have stands")),
        };
        self.at += 2;
        Ok(character)
    }

    /// `\uXXXX`, two of them for a surrogate pair. Half a pair is no character, and is replaced.
    fn unicode_escape(&mut self) -> Result<char, Fault> {
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

    fn hexadecimal(&self, at: usize) -> Result<u32, Fault> {
        let digits = self.text.get(at + 2..at + 6).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        digits
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or(Fault::Text("an escape without four hexadecimal digits stands"))
    }
}

/// Text as literals have it: one item for each character.
fn fixed_size(text: String) -> Sequence {
    match text.is_ascii() {
        true => Sequence::from(text),
        false => Sequence::from(text).as_fixed_size_type(),
    }
}
