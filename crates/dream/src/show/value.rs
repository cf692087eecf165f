//! One value, as a person reads it: numbers and texts as they are written, methods as source, small containers with what is in
//! them, everything else by its name.

use super::title::Titles;
use super::view::{View, When};
use image::readable_text;
use language::syntax::quote;
use object::Kind;
use object::change::{Body, Creation, Datum, ObjectId, Run};
use object::number_text::format_number;
use object::sequence::Sequence;
use std::cell::RefCell;
use std::collections::HashSet;

/// A container with more in it is shown by itself.
const INLINE_ITEMS: usize = 8;
/// Text beyond this is counted, not shown. A multiple of every size that an item can have.
const TEXT_BYTES: usize = 1024;
/// Elements that one edit shows.
const ELEMENTS_MOST: usize = 1_000;
/// Containers in containers.
const DEPTH_MOST: usize = 3;

pub struct Values<'v> {
    pub view: &'v View<'v>,
    pub titles: &'v Titles<'v>,
    /// New objects that were shown as part of something else.
    pub shown: RefCell<HashSet<ObjectId>>,
}

impl Values<'_> {
    pub fn text(&self, when: When, datum: &Datum) -> String {
        self.nested(when, datum, 0)
    }

    fn nested(&self, when: When, datum: &Datum, depth: usize) -> String {
        if !self.view.has_room(0) {
            return "…".into();
        }
        match datum {
            Datum::Absent => "nothing".into(),
            Datum::Nil => "nil".into(),
            Datum::Boolean(truth) => truth.to_string(),
            Datum::Number(number) => format_number(*number),
            Datum::Text(text) => self.quoted(&readable_text(start_of_text(text.as_bytes())), text.as_bytes().len()),
            Datum::Bytes(bytes) => self.bytes(bytes),
            Datum::Record(fields) => self.list("fields", when, fields, depth),
            Datum::Object(object) => self.object(when, *object, depth),
        }
    }

    fn object(&self, when: When, object: ObjectId, depth: usize) -> String {
        if let Some(code) = self.view.code(when, object) {
            self.shown.borrow_mut().extend(code.objects);
            let mut text = code.source.text;
            if self.view.kind(when, object) == Some(Kind::Message) {
                text = format!("message({text})");
            }
            if !code.source.is_exact {
                text.push_str(" // not what it looks like: read as source, it would be other code");
            }
            return text;
        }
        match self.view.made(object).filter(|made| when == When::After && is_inline(made) && depth < DEPTH_MOST) {
            Some(made) => {
                self.shown.borrow_mut().insert(object);
                self.content(object, &made, depth)
            }
            None => self.titles.title(object),
        }
    }

    /// A small container, or one value in an object of its own.
    fn content(&self, object: ObjectId, made: &Creation, depth: usize) -> String {
        match &made.body {
            Body::Elements(Run::Items(items)) => self.list("list", When::After, items, depth + 1),
            Body::Elements(run @ Run::Units { .. }) => self.units(object, run),
            Body::Map(entries) => {
                let pairs = entries.iter().flat_map(|(key, value)| [key, value]);
                let pairs: Vec<String> = pairs.map(|each| self.nested(When::After, each, depth + 1)).collect();
                format!("Map with({})", pairs.join(", "))
            }
            Body::Data(datum) => self.nested(When::After, datum, depth + 1),
            _ => self.titles.title(object),
        }
    }

    fn list(&self, word: &str, when: When, items: &[Datum], depth: usize) -> String {
        let shown = items.iter().take(INLINE_ITEMS).map(|item| self.nested(when, item, depth + 1));
        let mut shown: Vec<String> = if depth < DEPTH_MOST { shown.collect() } else { Vec::new() };
        if items.len() > shown.len() {
            shown.push(format!("and {} more", items.len() - shown.len()));
        }
        format!("{word}({})", shown.join(", "))
    }

    /// Some elements of an object's line, without what they are in.
    pub fn elements(&self, when: When, object: ObjectId, run: &Run) -> String {
        match run {
            Run::Items(items) => {
                let mut shown: Vec<String> = Vec::new();
                for item in items.iter().take(ELEMENTS_MOST) {
                    shown.push(self.text(when, item));
                }
                if items.len() > shown.len() {
                    shown.push(format!("and {} more", items.len() - shown.len()));
                }
                shown.join(", ")
            }
            Run::Units { .. } => self.units(object, run),
        }
    }

    /// Text where the object says that it holds text; else how many bytes.
    fn units(&self, object: ObjectId, run: &Run) -> String {
        let Run::Units { width, bytes } = run else { return String::new() };
        let flags = self.view.flags(When::After, object).or_else(|| self.view.flags(When::Before, object));
        match flags.filter(|flags| flags.encoding.is_text() && flags.item_type.size() == usize::from(*width)) {
            Some(flags) => {
                let start = Sequence::from_parts(flags.item_type, flags.encoding, start_of(bytes));
                self.quoted(&start.to_text(), bytes.len())
            }
            None => self.bytes(bytes),
        }
    }

    /// Bytes that are text are shown as such: answers of the world often are.
    fn bytes(&self, bytes: &[u8]) -> String {
        let start = start_of_text(bytes);
        match std::str::from_utf8(start) {
            Ok(text) if !text.contains('\0') => self.quoted(text, bytes.len()),
            _ => format!("{} bytes", bytes.len()),
        }
    }

    /// The beginning of a text of so many bytes.
    fn quoted(&self, start: &str, bytes: usize) -> String {
        let is_whole = bytes <= TEXT_BYTES;
        if !self.view.has_room(start.len()) {
            return format!("a text of {bytes} bytes");
        }
        if is_whole { quote(start) } else { format!("{}… ({bytes} bytes)", quote(start)) }
    }
}

/// As much as is shown, in whole items of any size.
fn start_of(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(TEXT_BYTES)]
}

/// The same in whole letters, if it is text in UTF-8: none of these has more than three bytes behind its first.
pub fn start_of_text(bytes: &[u8]) -> &[u8] {
    let mut end = bytes.len().min(TEXT_BYTES);
    for _ in 0..3 {
        if bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
    }
    &bytes[..end]
}

fn is_inline(made: &Creation) -> bool {
    let has_no_slots = made.slots.is_empty();
    match &made.body {
        Body::Elements(Run::Items(items)) => has_no_slots && items.len() <= INLINE_ITEMS,
        Body::Elements(Run::Units { .. }) => has_no_slots,
        Body::Map(entries) => has_no_slots && entries.len() <= INLINE_ITEMS,
        Body::Data(Datum::Record(_)) | Body::Nothing | Body::Counters(_) | Body::Members(_) => false,
        Body::Data(_) => has_no_slots,
    }
}
