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
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// A container with more in it is shown by itself.
const INLINE_ITEMS: usize = 8;
/// Text beyond this is counted, not shown.
const TEXT_CHARACTERS: usize = 1_000;
/// Containers in containers.
const DEPTH_MOST: usize = 3;

pub struct Values<'v> {
    pub view: &'v View<'v>,
    pub titles: &'v Titles<'v>,
    /// New objects that were shown as part of something else.
    pub shown: RefCell<FxHashSet<ObjectId>>,
}

impl Values<'_> {
    pub fn text(&self, when: When, datum: &Datum) -> String {
        self.nested(when, datum, 0)
    }

    fn nested(&self, when: When, datum: &Datum, depth: usize) -> String {
        match datum {
            Datum::Absent => "nothing".into(),
            Datum::Nil => "nil".into(),
            Datum::Boolean(truth) => truth.to_string(),
            Datum::Number(number) => format_number(*number),
            Datum::Text(text) => quoted(&readable_text(text.as_bytes())),
            Datum::Bytes(bytes) => shown_bytes(bytes),
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
                let shown: Vec<String> = items.iter().map(|item| self.text(when, item)).collect();
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
            Some(flags) => quoted(&Sequence::from_parts(flags.item_type, flags.encoding, bytes).to_text()),
            None => shown_bytes(bytes),
        }
    }
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

fn quoted(text: &str) -> String {
    let shown: String = text.chars().take(TEXT_CHARACTERS).collect();
    match text[shown.len()..].chars().count() {
        0 => quote(&shown),
        more => format!("{} and {more} characters more", quote(&shown)),
    }
}

/// Bytes that are text are shown as such: answers of the world often are.
fn shown_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => quoted(text),
        _ => format!("{} bytes", bytes.len()),
    }
}
