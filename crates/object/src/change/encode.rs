//! Changes to bytes. Names and foreign ids are written once a batch; objects and times as differences to the change
//! before. The layout is told by `wire` and, byte by byte, by `docs/change-format.md`.

use super::creation::{Body, Creation};
use super::datum::{Datum, Text};
use super::error::ChangeError;
use super::id::{ActorId, ChangeId, ObjectId};
use super::operation::{Field, Line, Operation, Run};
use super::places::Places;
use super::time::Time;
use super::wire::{self, bit, body, kind, put, put_bytes, put_signed, tag, under};
use super::{Change, Preds};

/// Writes the changes of one actor, in the order of their numbers, behind whatever the buffer holds already.
pub struct Encoder {
    bytes: Vec<u8>,
    next: ChangeId,
    object: ObjectId,
    time: Time,
    names: Places<Text>,
    objects: Places<ObjectId>,
}

impl Encoder {
    /// `first` is the id of the first change to come.
    pub fn new(first: ChangeId, buffer: Vec<u8>) -> Encoder {
        let mut bytes = buffer;
        bytes.push(wire::VERSION);
        put(&mut bytes, first.actor.0);
        put(&mut bytes, first.seq);
        Encoder {
            bytes,
            next: first,
            object: ObjectId::minted(first),
            time: Time(0),
            names: Places::default(),
            objects: Places::default(),
        }
    }

    /// One object as it is now, behind whatever the buffer holds.
    pub(super) fn alone(object: ObjectId, creation: &Creation, buffer: Vec<u8>) -> Result<Vec<u8>, &'static str> {
        let mut encoder = Encoder {
            bytes: buffer,
            next: ChangeId::new(ActorId(0), 0),
            object,
            time: Time(0),
            names: Places::default(),
            objects: Places::default(),
        };
        encoder.creation(creation)?;
        Ok(encoder.bytes)
    }

    /// Adds one change. After an error the batch is of no use.
    pub fn push(&mut self, change: &Change) -> Result<(), ChangeError> {
        if change.id != self.next {
            return Err(ChangeError::Order { expected: self.next, found: change.id });
        }
        let mut head = kind_of(&change.operation);
        let is_new = head == kind::CREATE;
        if is_new {
            self.check_identity(change)?;
        } else if change.object == self.object {
            head |= bit::SAME_OBJECT;
        } else if self.distance(change.object).is_none() {
            self.context(change.object);
            head |= bit::SAME_OBJECT;
        }
        if matches!(change.preds, Preds::Named(_)) {
            head |= bit::NAMED;
        }
        if change.time != self.time {
            head |= bit::TIME;
        }
        self.bytes.push(head);
        if change.time != self.time {
            put_signed(&mut self.bytes, change.time.0.wrapping_sub(self.time.0) as i64);
        }
        if !is_new && let Some(distance) = self.distance(change.object).filter(|_| head & bit::SAME_OBJECT == 0) {
            put_signed(&mut self.bytes, distance);
        }
        self.time = change.time;
        self.object = change.object;
        if let Preds::Named(preds) = &change.preds {
            self.preds(change.id, preds);
        }
        self.operation(&change.operation).map_err(|what| ChangeError::Unencodable(change.id, what))?;
        self.next.seq += 1;
        Ok(())
    }

    /// How many bytes there are so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn check_identity(&self, change: &Change) -> Result<(), ChangeError> {
        match &change.operation {
            Operation::Create(creation) if creation.object(change.id) != change.object => {
                Err(ChangeError::Identity(change.id))
            }
            _ => Ok(()),
        }
    }

    /// From the object before to this one, where both are of one actor.
    fn distance(&self, object: ObjectId) -> Option<i64> {
        let (from, to) = (self.object.minted_by()?, object.minted_by()?);
        (from.actor == to.actor).then(|| to.seq.wrapping_sub(from.seq) as i64)
    }

    fn context(&mut self, object: ObjectId) {
        match object.minted_by() {
            Some(change) => {
                self.bytes.push(kind::CONTEXT);
                put(&mut self.bytes, change.actor.0);
                put(&mut self.bytes, change.seq);
            }
            None => {
                self.bytes.push(kind::CONTEXT | bit::DERIVED);
                self.bytes.extend(object.to_bytes());
            }
        }
        self.object = object;
    }

    /// Own changes by how far back they are, twice; others, marked by the lowest bit, in full.
    fn preds(&mut self, id: ChangeId, preds: &[ChangeId]) {
        put(&mut self.bytes, preds.len() as u64);
        for pred in preds {
            let back = id.seq.wrapping_sub(pred.seq);
            if pred.actor == id.actor && back < 1 << 62 {
                put(&mut self.bytes, back << 1);
            } else {
                put(&mut self.bytes, 1);
                put(&mut self.bytes, pred.actor.0);
                put(&mut self.bytes, pred.seq);
            }
        }
    }

    fn operation(&mut self, operation: &Operation) -> Result<(), &'static str> {
        match operation {
            Operation::Create(creation) => return self.creation(creation),
            Operation::Put { field, value } => {
                match field {
                    Field::Slot(name) => self.name(name),
                    Field::Entry(key) => self.datum(key)?,
                    Field::Data | Field::Flags => {}
                }
                if !is_removal(field, value) {
                    self.datum(value)?;
                }
            }
            Operation::Insert { line, index, run } => {
                put(&mut self.bytes, *index);
                self.line_run(*line, run)?;
            }
            Operation::Delete { index, count, .. } => {
                put(&mut self.bytes, *index);
                put(&mut self.bytes, *count);
            }
            Operation::Move { from, to, .. } => {
                put(&mut self.bytes, *from);
                put(&mut self.bytes, *to);
            }
            Operation::Set { index, value } => {
                put(&mut self.bytes, *index);
                self.datum(value)?;
            }
            Operation::Count { key, delta } => {
                self.datum(key)?;
                put_signed(&mut self.bytes, *delta);
            }
            Operation::Add { member, count } | Operation::Remove { member, count } => {
                self.datum(member)?;
                put(&mut self.bytes, *count);
            }
            Operation::Call { name, payload } => {
                self.name(name);
                self.datum(payload)?;
            }
        }
        Ok(())
    }

    fn creation(&mut self, creation: &Creation) -> Result<(), &'static str> {
        let form = match &creation.body {
            Body::Nothing => body::NOTHING,
            Body::Data(_) => body::DATA,
            Body::Elements(Run::Items(_)) => body::ITEMS,
            Body::Elements(Run::Units { .. }) => body::UNITS,
            Body::Map(_) => body::MAP,
            Body::Counters(_) => body::COUNTERS,
            Body::Members(_) => body::MEMBERS,
        };
        let flags = if creation.flags == 0 { 0 } else { body::HAS_FLAGS };
        let under = if creation.under.is_none() { 0 } else { body::IS_UNDER };
        self.bytes.push(form | flags | under);
        put(&mut self.bytes, u64::from(creation.kind));
        if let Some((parent, field)) = &creation.under {
            self.far(*parent);
            match field {
                Field::Slot(name) => {
                    self.bytes.push(under::SLOT);
                    self.name(name);
                }
                Field::Entry(key) => {
                    self.bytes.push(under::ENTRY);
                    self.datum(key)?;
                }
                Field::Data | Field::Flags => return Err("a container under neither slot nor key"),
            }
        }
        if creation.flags != 0 {
            put(&mut self.bytes, u64::from(creation.flags));
        }
        put(&mut self.bytes, creation.protos.len() as u64);
        creation.protos.iter().for_each(|proto| self.far(*proto));
        put(&mut self.bytes, creation.slots.len() as u64);
        for (name, value) in &creation.slots {
            self.name(name);
            self.datum(value)?;
        }
        self.body(&creation.body)
    }

    fn body(&mut self, content: &Body) -> Result<(), &'static str> {
        match content {
            Body::Nothing => {}
            Body::Data(data) => self.datum(data)?,
            Body::Elements(run) => self.run(run)?,
            Body::Map(entries) => {
                put(&mut self.bytes, entries.len() as u64);
                for (key, value) in entries {
                    self.datum(key)?;
                    self.datum(value)?;
                }
            }
            Body::Counters(counters) => {
                put(&mut self.bytes, counters.len() as u64);
                for (key, count) in counters {
                    self.datum(key)?;
                    put_signed(&mut self.bytes, *count);
                }
            }
            Body::Members(members) => {
                put(&mut self.bytes, members.len() as u64);
                for (member, count) in members {
                    self.datum(member)?;
                    put(&mut self.bytes, *count);
                }
            }
        }
        Ok(())
    }

    fn line_run(&mut self, line: Line, run: &Run) -> Result<(), &'static str> {
        match (line, run) {
            (Line::Protos, Run::Items(protos)) => {
                put(&mut self.bytes, protos.len() as u64);
                for proto in protos.iter() {
                    let Datum::Object(proto) = proto else { return Err("a proto that is no object") };
                    self.far(*proto);
                }
                Ok(())
            }
            (Line::Items, Run::Items(_)) | (Line::Units, Run::Units { .. }) => self.run(run),
            _ => Err("elements of another kind than their line"),
        }
    }

    fn run(&mut self, run: &Run) -> Result<(), &'static str> {
        match run {
            Run::Items(items) => {
                put(&mut self.bytes, items.len() as u64);
                items.iter().try_for_each(|item| self.datum(item))
            }
            Run::Units { width, bytes } => {
                if !(1..=wire::WIDTH_MOST).contains(width) || bytes.len() % usize::from(*width) != 0 {
                    return Err("units that do not fill their bytes");
                }
                self.bytes.push(*width);
                put_bytes(&mut self.bytes, bytes);
                Ok(())
            }
        }
    }

    /// By its place in the table of the batch; the first time, its bytes follow.
    fn name(&mut self, name: &Text) {
        let (index, is_new) = self.names.of(name);
        put(&mut self.bytes, index as u64);
        if is_new {
            put_bytes(&mut self.bytes, name.as_bytes());
        }
    }

    /// By its place in the table of the batch; the first time, actor and number follow, or the mark that no actor is
    /// and the fingerprint.
    fn far(&mut self, object: ObjectId) {
        let (index, is_new) = self.objects.of(&object);
        put(&mut self.bytes, index as u64);
        if !is_new {
            return;
        }
        match object.minted_by() {
            Some(change) => {
                put(&mut self.bytes, change.actor.0 + 1);
                put(&mut self.bytes, change.seq);
            }
            None => {
                put(&mut self.bytes, 0);
                self.bytes.extend(object.to_bytes());
            }
        }
    }

    fn datum(&mut self, datum: &Datum) -> Result<(), &'static str> {
        if let Datum::Record(fields) = datum {
            self.bytes.push(tag::RECORD);
            put(&mut self.bytes, fields.len() as u64);
            return fields.iter().try_for_each(|field| match field {
                Datum::Record(_) => Err("a record within a record"),
                _ => {
                    self.scalar(field);
                    Ok(())
                }
            });
        }
        self.scalar(datum);
        Ok(())
    }

    fn scalar(&mut self, datum: &Datum) {
        match datum {
            Datum::Absent => self.bytes.push(tag::ABSENT),
            Datum::Nil => self.bytes.push(tag::NIL),
            Datum::Boolean(truth) => self.bytes.push(if *truth { tag::TRUE } else { tag::FALSE }),
            Datum::Number(number) => self.number(*number),
            Datum::Text(text) => {
                self.bytes.push(tag::TEXT);
                self.name(text);
            }
            Datum::Bytes(bytes) => {
                self.bytes.push(tag::BYTES);
                put_bytes(&mut self.bytes, bytes);
            }
            Datum::Object(object) => match self.distance(*object) {
                Some(distance) => {
                    self.bytes.push(tag::NEAR);
                    put_signed(&mut self.bytes, distance);
                }
                None => {
                    self.bytes.push(tag::FAR);
                    self.far(*object);
                }
            },
            Datum::Record(_) => unreachable!("records are written by their own function"),
        }
    }

    fn number(&mut self, number: f64) {
        let whole = number as i64;
        let is_whole = (whole as f64).to_bits() == number.to_bits() && whole.unsigned_abs() < 1 << 53;
        if is_whole && (wire::SMALL_LEAST..wire::SMALL_LEAST + 224).contains(&whole) {
            self.bytes.push((whole - wire::SMALL_LEAST) as u8 + tag::SMALL);
        } else if is_whole {
            self.bytes.push(tag::INTEGER);
            put_signed(&mut self.bytes, whole);
        } else if f64::from(number as f32).to_bits() == number.to_bits() {
            self.bytes.push(tag::SINGLE);
            self.bytes.extend((number as f32).to_le_bytes());
        } else {
            self.bytes.push(tag::DOUBLE);
            self.bytes.extend(number.to_le_bytes());
        }
    }
}

fn is_removal(field: &Field, value: &Datum) -> bool {
    value.is_absent() && matches!(field, Field::Slot(_) | Field::Entry(_))
}

fn kind_of(operation: &Operation) -> u8 {
    match operation {
        Operation::Create(_) => kind::CREATE,
        Operation::Put { field: Field::Slot(_), value: Datum::Absent } => kind::SLOT_REMOVE,
        Operation::Put { field: Field::Slot(_), .. } => kind::SLOT_SET,
        Operation::Put { field: Field::Entry(_), value: Datum::Absent } => kind::MAP_REMOVE,
        Operation::Put { field: Field::Entry(_), .. } => kind::MAP_PUT,
        Operation::Put { field: Field::Data, .. } => kind::DATA,
        Operation::Put { field: Field::Flags, .. } => kind::FLAGS,
        Operation::Insert { line, .. } => kind::LINES + line_number(*line) * 3,
        Operation::Delete { line, .. } => kind::LINES + line_number(*line) * 3 + 1,
        Operation::Move { line, .. } => kind::LINES + line_number(*line) * 3 + 2,
        Operation::Set { .. } => kind::LIST_SET,
        Operation::Count { .. } => kind::COUNTER_ADD,
        Operation::Add { .. } => kind::MEMBER_ADD,
        Operation::Remove { .. } => kind::MEMBER_REMOVE,
        Operation::Call { .. } => kind::FFI_CALL,
    }
}

fn line_number(line: Line) -> u8 {
    match line {
        Line::Protos => 0,
        Line::Items => 1,
        Line::Units => 2,
    }
}
