//! `Sequence parseJson`: JSON text to Maps, Lists, Sequences and Numbers. Owns the grammar, with comments allowed as
//! upstream does. Nesting costs heap, never native stack. The way back is in the library, apart from `Sequence asJson`.
//!
//! Each value is put into its container as soon as it is made, and the outermost container is retained: whatever the
//! collector sees in between is reachable.

mod scan;

use super::{Args, NONE, Row};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::sequence::Sequence;
use object::{Handle, Symbol, Value};
use scan::Scanner;

pub const TABLE: &[Row] = &[("parseJson", NONE, parse_json), ("asJson", NONE, as_json)];

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
    let mut parser =
        Parser { scan: Scanner::new(&text), text_bytes: text.len(), open: Vec::new(), root: Value::NIL, made: 0 };
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
                    let place = parser.scan.place();
                    vm.raise(format!("Can't parse JSON: {what} at {place}"))
                }
            })
        }
    }
}

/// The text in quotes, with what JSON wants escaped. Slashes are too, so that the text can stand inside of a script.
fn as_json(vm: &mut Vm, args: Args) -> Outcome {
    let handle = args.receiver(vm, object::Kind::Sequence)?;
    let bytes = vm.heap.sequence(handle).map_or(0, Sequence::size_in_bytes);
    vm.charge(bytes / BYTES_PER_FUEL)?;
    vm.reserve(bytes.saturating_mul(2))?;
    let text = vm.text_of(args.target).unwrap_or_default();
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' | '/' => json.extend(['\\', character]),
            '\n' => json.push_str("\\n"),
            '\t' => json.push_str("\\t"),
            '\r' => json.push_str("\\r"),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '\0'..' ' => json.push_str(&format!("\\u{:04x}", character as u32)),
            _ => json.push(character),
        }
    }
    json.push('"');
    Ok(vm.symbol(&json))
}

/// Why parsing stopped: the text is wrong, or the machine said so.
enum Fault {
    Text(&'static str),
    Signal(Signal),
}

impl From<&'static str> for Fault {
    fn from(what: &'static str) -> Fault {
        Fault::Text(what)
    }
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
    scan: Scanner<'t>,
    /// What the text weighs, which is a copy that the heap does not know of.
    text_bytes: usize,
    open: Vec<Open>,
    /// The outermost container, retained.
    root: Value,
    made: usize,
}

impl Parser<'_> {
    fn run(&mut self, vm: &mut Vm) -> Result<Value, Fault> {
        loop {
            // Here a value is due, or the end of a container that was just opened.
            self.scan.skip_space()?;
            let value = match self.begin(vm)? {
                Some(value) => value,
                None => continue,
            };
            if let Some(done) = self.after_value(vm, value)? {
                self.scan.skip_space()?;
                return if self.scan.is_at_end() { Ok(done) } else { Err(Fault::Text("text after the value")) };
            }
        }
    }

    /// Reads a plain value or a whole empty container; none if a container with something in it was opened.
    fn begin(&mut self, vm: &mut Vm) -> Result<Option<Value>, Fault> {
        let value = match self.scan.peek() {
            Some(b'{') => return self.open_object(vm),
            Some(b'[') => return self.open_array(vm),
            Some(b'"') => {
                let text = self.string(vm)?;
                vm.buffer(fixed_size(text))
            }
            Some(b'-' | b'0'..=b'9') => Value::number(self.scan.number()?),
            Some(b't') => self.scan.word("true").map(|()| Value::TRUE)?,
            Some(b'f') => self.scan.word("false").map(|()| Value::FALSE)?,
            Some(b'n') => self.scan.word("null").map(|()| Value::NIL)?,
            Some(_) => return Err(Fault::Text("a value was expected")),
            None => return Err(Fault::Text("the text ends where a value was expected")),
        };
        self.attach(vm, value)?;
        Ok(Some(value))
    }

    fn open_array(&mut self, vm: &mut Vm) -> Result<Option<Value>, Fault> {
        self.scan.at += 1;
        let list = vm.list([]);
        self.attach(vm, list)?;
        self.scan.skip_space()?;
        if self.scan.peek() == Some(b']') {
            self.scan.at += 1;
            return Ok(Some(list));
        }
        self.open.push(Open::Array(vm.handle_of(list)));
        Ok(None)
    }

    fn open_object(&mut self, vm: &mut Vm) -> Result<Option<Value>, Fault> {
        self.scan.at += 1;
        let map = vm.map();
        self.attach(vm, map)?;
        self.scan.skip_space()?;
        if self.scan.peek() == Some(b'}') {
            self.scan.at += 1;
            return Ok(Some(map));
        }
        self.open.push(Open::Object(vm.handle_of(map), None));
        self.key(vm)?;
        Ok(None)
    }

    /// Reads a key and its colon.
    fn key(&mut self, vm: &mut Vm) -> Result<(), Fault> {
        self.scan.skip_space()?;
        if self.scan.peek() != Some(b'"') {
            return Err(Fault::Text("a key in quotes was expected"));
        }
        let text = self.string(vm)?;
        let symbol = vm.heap.intern(&text);
        if let Some(Open::Object(_, key)) = self.open.last_mut() {
            *key = Some(symbol);
        }
        self.scan.skip_space()?;
        if self.scan.peek() != Some(b':') {
            return Err(Fault::Text("':' was expected"));
        }
        self.scan.at += 1;
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
            vm.reserve_beside(self.text_bytes, CHECK_BYTES)?;
        }
        Ok(())
    }

    /// Reads text in quotes. Room is asked for first if it is long; what short ones take is looked at together.
    fn string(&mut self, vm: &mut Vm) -> Result<String, Fault> {
        let bytes = self.scan.string_bytes();
        if bytes > CHECK_BYTES {
            vm.reserve_beside(self.text_bytes, bytes)?;
        }
        Ok(self.scan.string()?)
    }

    /// Reads commas and closing brackets after a value; the outermost value if it is complete.
    fn after_value(&mut self, vm: &mut Vm, value: Value) -> Result<Option<Value>, Fault> {
        let mut value = value;
        loop {
            let Some(&open) = self.open.last() else { return Ok(Some(value)) };
            self.scan.skip_space()?;
            match (self.scan.peek(), open) {
                (Some(b','), Open::Array(_)) => {
                    self.scan.at += 1;
                    return Ok(None);
                }
                (Some(b','), Open::Object(..)) => {
                    self.scan.at += 1;
                    self.key(vm)?;
                    return Ok(None);
                }
                (Some(b']'), Open::Array(list)) => value = Value::object(list),
                (Some(b'}'), Open::Object(map, _)) => value = Value::object(map),
                (_, Open::Array(_)) => return Err(Fault::Text("',' or ']' was expected")),
                (_, Open::Object(..)) => return Err(Fault::Text("',' or '}' was expected")),
            }
            self.scan.at += 1;
            self.open.pop();
        }
    }
}

/// Text as literals have it: one item for each character.
fn fixed_size(text: String) -> Sequence {
    match text.is_ascii() {
        true => Sequence::from(text),
        false => Sequence::from(text).as_fixed_size_type(),
    }
}
