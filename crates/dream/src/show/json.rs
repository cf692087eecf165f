//! A journal for programs: one JSON object for each change, in the order of their numbers. Nothing is left out of a change but
//! what would make it larger than 64 MiB, which only a stranger's would be; then it says so.

use super::Names;
use super::title::Titles;
use super::view::{View, When};
use crate::journal::{Call, Journal};
use image::readable_text;
use object::change::{Body, Change, Creation, Datum, Field, ObjectId, Operation, Preds, Run, Text};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Hands out each change. Values are numbers, texts, `null` and booleans as themselves; an object is
/// `{"object_id": …}`, with its name and source where there are; bytes are `{"bytes": …}` in hex; a record is a list.
/// It ends when `take` says so.
pub fn changes(journal: &Journal, names: &dyn Names, take: &mut dyn FnMut(Value) -> ControlFlow<()>) {
    let view = View::new(journal, names);
    let titles = Titles::new(&view, journal);
    let mut teller = Teller { view: &view, titles: &titles, slots: HashSet::default(), removed: HashSet::default() };
    for (number, entry) in journal.entries().iter().enumerate() {
        for change in entry.changes() {
            let mut told = teller.change(change);
            told.insert("commit".into(), json!(number + 1));
            if take(Value::Object(told)).is_break() {
                return;
            }
            view.make_room();
        }
    }
}

struct Teller<'t> {
    view: &'t View<'t>,
    titles: &'t Titles<'t>,
    /// Slots that the journal added so far, and those that it removed.
    slots: HashSet<(ObjectId, Text)>,
    removed: HashSet<(ObjectId, Text)>,
}

impl Teller<'_> {
    fn change(&mut self, change: &Change) -> Map<String, Value> {
        let mut told = Map::new();
        told.insert("operation".into(), self.operation(change).into());
        told.insert("object_id".into(), change.object.to_string().into());
        if let Some(name) = self.titles.name(change.object) {
            told.insert("object_name".into(), name.into());
        }
        let parts = self.parts(change);
        told.extend(parts.into_iter().map(|(name, value)| (name.to_string(), value)));
        told.insert("time".into(), change.time.ms().into());
        told.insert("change_id".into(), change.id.to_string().into());
        if let Preds::Named(preds) = &change.preds {
            told.insert("replaces".into(), preds.iter().map(ToString::to_string).collect::<Vec<_>>().into());
        }
        told
    }

    fn operation(&mut self, change: &Change) -> &'static str {
        match &change.operation {
            Operation::Create(creation) => {
                self.slots.extend(creation.slots.iter().map(|(name, _)| (change.object, name.clone())));
                "PROTOTYPE_CLONE"
            }
            Operation::Put { field: Field::Slot(name), value } => self.slot(change.object, name, value),
            Operation::Put { field: Field::Entry(_), value } if value.is_absent() => "MAP_REMOVE",
            Operation::Put { field: Field::Entry(_), .. } => "MAP_PUT",
            Operation::Put { field: Field::Data, .. } => "DATA_SET",
            Operation::Put { field: Field::Flags, .. } => "FLAGS_SET",
            operation => line_operation(operation),
        }
    }

    /// Whether the slot was there when it was set.
    fn slot(&mut self, object: ObjectId, name: &Text, value: &Datum) -> &'static str {
        let key = (object, name.clone());
        if value.is_absent() {
            self.slots.remove(&key);
            self.removed.insert(key);
            return "SLOT_REMOVE";
        }
        let before = self.view.field(When::Before, object, &Field::Slot(name.clone()));
        let was_there = before.is_some_and(|before| !before.is_absent()) && !self.removed.contains(&key);
        let is_known = self.slots.contains(&key) || was_there;
        self.slots.insert(key);
        if is_known { "SLOT_SET" } else { "SLOT_ADD" }
    }

    fn parts(&self, change: &Change) -> Vec<(&'static str, Value)> {
        match &change.operation {
            Operation::Create(creation) => vec![("value", self.creation(creation))],
            Operation::Put { field, value } => {
                let place = match field {
                    Field::Slot(name) => Some(("slot_name", self.text(name.as_bytes()))),
                    Field::Entry(key) => Some(("key", self.value(key))),
                    Field::Data | Field::Flags => None,
                };
                let value = (!value.is_absent()).then(|| ("value", self.value(value)));
                place.into_iter().chain(value).collect()
            }
            Operation::Insert { index, run, .. } => {
                vec![("edit", "insert".into()), ("index", json!(index)), ("value", self.run(run))]
            }
            Operation::Delete { index, count, .. } => {
                vec![("edit", "delete".into()), ("index", json!(index)), ("count", json!(count))]
            }
            Operation::Move { from, to, .. } => vec![("edit", "move".into()), ("from", json!(from)), ("to", json!(to))],
            Operation::Set { index, value } => vec![("index", json!(index)), ("value", self.value(value))],
            Operation::Count { key, delta } => vec![("key", self.value(key)), ("value", json!(delta))],
            Operation::Add { member, count } | Operation::Remove { member, count } => {
                vec![("value", self.value(member)), ("count", json!(count))]
            }
            Operation::Call { name, payload } => self.call(change, name, payload),
        }
    }

    fn call(&self, change: &Change, name: &Text, payload: &Datum) -> Vec<(&'static str, Value)> {
        let Some(call) = Call::read(change, name, payload) else { return vec![("value", self.value(payload))] };
        vec![
            ("call", self.text(name.as_bytes())),
            ("arguments", call.arguments.iter().map(|each| self.value(each)).collect()),
            ("answered", call.answered.name().into()),
            ("value", self.value(call.answer)),
        ]
    }

    fn creation(&self, creation: &Creation) -> Value {
        let mut told = Map::new();
        let kind =
            image::Flags::from_number(creation.flags).map_or("unknown".into(), |flags| format!("{:?}", flags.kind));
        told.insert("kind".into(), kind.into());
        told.insert("protos".into(), creation.protos.iter().map(|proto| self.object(*proto)).collect());
        // Pairs, not a JSON object: of a stranger's object two slots may have one name.
        let slots = creation.slots.iter().map(|(name, value)| json!([self.text(name.as_bytes()), self.value(value)]));
        told.insert("slots".into(), slots.collect());
        let pair = |key: &Datum, value: Value| json!([self.value(key), value]);
        let content: Option<Value> = match &creation.body {
            Body::Nothing => None,
            Body::Data(data) => Some(self.value(data)),
            Body::Elements(run) => Some(self.run(run)),
            Body::Map(entries) => Some(entries.iter().map(|(key, value)| pair(key, self.value(value))).collect()),
            Body::Counters(counters) => Some(counters.iter().map(|(key, sum)| pair(key, json!(sum))).collect()),
            Body::Members(members) => Some(members.iter().map(|(member, times)| pair(member, json!(times))).collect()),
        };
        told.extend(content.map(|content| ("content".to_string(), content)));
        Value::Object(told)
    }

    fn run(&self, run: &Run) -> Value {
        match run {
            Run::Items(items) => items.iter().map(|item| self.value(item)).collect(),
            Run::Units { width, bytes } => json!({ "bytes": self.hex(bytes), "width": width }),
        }
    }

    fn value(&self, datum: &Datum) -> Value {
        if !self.view.has_room(0) {
            return json!({ "left_out": true });
        }
        match datum {
            Datum::Absent => json!({ "absent": true }),
            Datum::Nil => Value::Null,
            Datum::Boolean(truth) => (*truth).into(),
            Datum::Number(number) => match serde_json::Number::from_f64(*number) {
                Some(number) => Value::Number(number),
                // JSON has no infinities.
                None => json!({ "number": number.to_string() }),
            },
            Datum::Text(text) => self.text(text.as_bytes()),
            Datum::Bytes(bytes) => json!({ "bytes": self.hex(bytes) }),
            Datum::Record(fields) => fields.iter().map(|field| self.value(field)).collect(),
            Datum::Object(object) => self.object(*object),
        }
    }

    fn text(&self, text: &[u8]) -> Value {
        match self.view.has_room(text.len()) {
            true => readable_text(text).into(),
            false => json!({ "left_out": true, "text_bytes": text.len() }),
        }
    }

    fn hex(&self, bytes: &[u8]) -> Value {
        match self.view.has_room(bytes.len() * 2) {
            true => bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into(),
            false => json!({ "left_out": true, "bytes": bytes.len() }),
        }
    }

    fn object(&self, object: ObjectId) -> Value {
        let mut told = Map::new();
        told.insert("object_id".into(), object.to_string().into());
        told.extend(self.titles.name(object).map(|name| ("object_name".to_string(), name.into())));
        let is_block = self.view.kind(When::After, object) == Some(object::Kind::Block);
        let code = self.view.code(When::After, object).filter(|_| is_block);
        told.extend(code.map(|code| ("source".to_string(), code.source.text.into())));
        Value::Object(told)
    }
}

fn line_operation(operation: &Operation) -> &'static str {
    match operation {
        Operation::Insert { line, .. } => ["PROTOS_SET", "LIST_INSERT", "SEQUENCE_INSERT"][*line as usize],
        Operation::Delete { line, .. } => ["PROTOS_SET", "LIST_DELETE", "SEQUENCE_DELETE"][*line as usize],
        Operation::Move { line, .. } => ["PROTOS_SET", "LIST_MOVE", "SEQUENCE_MOVE"][*line as usize],
        Operation::Set { .. } => "LIST_SET",
        Operation::Count { .. } => "COUNTER_ADD",
        Operation::Add { .. } => "MEMBER_ADD",
        Operation::Remove { .. } => "MEMBER_REMOVE",
        Operation::Call { .. } => "FFI_CALL",
        Operation::Create(_) | Operation::Put { .. } => "SLOT_SET",
    }
}
