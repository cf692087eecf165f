//! Bytes to changes. What comes in may be anything: whatever is read is checked, nothing is set aside for more than the
//! input can hold, and no recursion follows it.

use super::creation::{BodyOf, Creation, CreationOf, Resting};
use super::datum::{Datum, DatumOf, Text};
use super::error::ChangeError;
use super::id::{ActorId, ChangeId, ObjectId};
use super::operation::{Field, FieldOf, Line, Operation, Run, RunOf};
use super::outline::{self, Outline};
use super::time::Time;
use super::wire::{self, Reader, bit, body, kind, tag, under};
use super::{Change, Preds};
use smallvec::SmallVec;

/// What texts are read into: `Text`, which is shared and stays, or the bytes themselves.
pub trait ReadText<'b>: Clone + Default + Ord + AsRef<[u8]> + From<&'b [u8]> {}

impl<'b, T: Clone + Default + Ord + AsRef<[u8]> + From<&'b [u8]>> ReadText<'b> for T {}

/// Reads a batch, change by change. After an error it is at its end.
pub struct Decoder<'b, T = Text> {
    reader: Reader<'b>,
    next: ChangeId,
    object: ObjectId,
    time: Time,
    names: SmallVec<[T; 4]>,
    objects: SmallVec<[ObjectId; 4]>,
    has_failed: bool,
}

impl<'b> Decoder<'b> {
    pub fn new(bytes: &'b [u8]) -> Result<Decoder<'b>, ChangeError> {
        let mut reader = Reader::new(bytes);
        let version = reader.byte()?;
        if version != wire::VERSION {
            return Err(ChangeError::Version(version));
        }
        let next = change_id(&mut reader)?;
        Ok(Decoder {
            reader,
            next,
            object: ObjectId::minted(next),
            time: Time(0),
            names: SmallVec::new(),
            objects: SmallVec::new(),
            has_failed: false,
        })
    }

    /// The id of the change that comes next.
    pub const fn next_id(&self) -> ChangeId {
        self.next
    }

    fn change(&mut self) -> Result<Change, ChangeError> {
        let mut head = self.reader.byte()?;
        if head & kind::MASK == kind::CONTEXT {
            self.object = self.context(head)?;
            head = self.reader.byte()?;
        }
        if head & bit::TIME != 0 {
            self.time = Time(self.time.0.wrapping_add(self.reader.signed()? as u64));
        }
        let id = self.next;
        let is_new = head & kind::MASK == kind::CREATE;
        if !is_new && head & bit::SAME_OBJECT == 0 {
            self.object = self.near()?;
        }
        let preds = if head & bit::NAMED == 0 { Preds::Seen } else { Preds::Named(self.preds(id)?) };
        let operation = self.operation(head & kind::MASK)?;
        let at = self.reader.at();
        self.next.seq = id.seq.checked_add(1).ok_or(ChangeError::Range { what: "number of a change", at })?;
        Ok(Change { id, time: self.time, object: self.object, operation, preds })
    }

    /// One object that was written by itself, without its elements.
    pub(super) fn outline(object: ObjectId, bytes: &'b [u8]) -> Result<Outline, ChangeError> {
        let mut decoder = Decoder::of_one(object, bytes);
        let (form, creation) = decoder.front(Some(object))?;
        let content = match form {
            body::ITEMS => outline::Content::Items(decoder.reader.number()?),
            body::UNITS => {
                let width = decoder.reader.byte()?;
                outline::Content::Units { width, bytes: decoder.reader.number()? }
            }
            body::MAP => outline::Content::Map,
            body::COUNTERS => outline::Content::Counters,
            _ => return Ok(Outline::from(&Creation { body: decoder.body(form)?, ..creation })),
        };
        Ok(Outline::new(creation.protos.len(), content))
    }

    fn context(&mut self, head: u8) -> Result<ObjectId, ChangeError> {
        if head & bit::DERIVED == 0 { Ok(ObjectId::minted(change_id(&mut self.reader)?)) } else { self.fingerprint() }
    }

    fn preds(&mut self, id: ChangeId) -> Result<Box<[ChangeId]>, ChangeError> {
        let count = self.reader.count()?;
        let each = (0..count).map(|_| {
            let at = self.reader.at();
            let number = self.reader.number()?;
            match number {
                1 => change_id(&mut self.reader),
                _ if number & 1 == 0 => Ok(ChangeId::new(id.actor, id.seq.wrapping_sub(number >> 1))),
                _ => Err(ChangeError::Unknown { what: "form of a replaced change", at }),
            }
        });
        each.collect()
    }

    fn operation(&mut self, form: u8) -> Result<Operation, ChangeError> {
        Ok(match form {
            kind::SLOT_SET => Operation::Put { field: Field::Slot(self.name()?), value: self.datum()? },
            kind::SLOT_REMOVE => Operation::Put { field: Field::Slot(self.name()?), value: Datum::Absent },
            kind::MAP_PUT => Operation::Put { field: Field::Entry(self.datum()?), value: self.datum()? },
            kind::MAP_REMOVE => Operation::Put { field: Field::Entry(self.datum()?), value: Datum::Absent },
            kind::DATA => Operation::Put { field: Field::Data, value: self.datum()? },
            kind::FLAGS => Operation::Put { field: Field::Flags, value: self.datum()? },
            kind::CREATE => Operation::Create(Box::new(self.creation(None)?)),
            kind::LINES..kind::LIST_SET => self.line_operation(form - kind::LINES)?,
            kind::LIST_SET => Operation::Set { index: self.reader.number()?, value: self.datum()? },
            kind::COUNTER_ADD => Operation::Count { key: self.datum()?, delta: self.reader.signed()? },
            kind::MEMBER_ADD => Operation::Add { member: self.datum()?, count: self.reader.number()? },
            kind::MEMBER_REMOVE => Operation::Remove { member: self.datum()?, count: self.reader.number()? },
            kind::FFI_CALL => Operation::Call { name: self.name()?, payload: self.datum()? },
            _ => return Err(ChangeError::Unknown { what: "kind of change", at: self.reader.at() }),
        })
    }

    fn line_operation(&mut self, form: u8) -> Result<Operation, ChangeError> {
        let line = [Line::Protos, Line::Items, Line::Units][usize::from(form / 3)];
        let first = self.reader.number()?;
        Ok(match form % 3 {
            0 => Operation::Insert { line, index: first, run: self.line_run(line)? },
            1 => Operation::Delete { line, index: first, count: self.reader.number()? },
            _ => Operation::Move { line, from: first, to: self.reader.number()? },
        })
    }

    fn line_run(&mut self, line: Line) -> Result<Run, ChangeError> {
        match line {
            Line::Protos => {
                let count = self.reader.count()?;
                (0..count).map(|_| Ok(Datum::Object(self.far()?))).collect::<Result<_, _>>().map(Run::Items)
            }
            Line::Items => self.items(),
            Line::Units => self.units(),
        }
    }
}

impl<'b> Decoder<'b, &'b [u8]> {
    /// One object that was written by itself, for whoever takes it in at once; nothing may follow it.
    pub(super) fn resting(object: ObjectId, bytes: &'b [u8]) -> Result<Resting<'b>, ChangeError> {
        let mut decoder = Decoder::of_one(object, bytes);
        let head = decoder.reader.byte()?;
        decoder.reader.small::<u32>("kind of object")?;
        decoder.place(head)?;
        let mut resting = Resting { flags: decoder.flags(head)?, ..Resting::default() };
        for _ in 0..decoder.reader.count()? {
            resting.protos.push(decoder.far()?);
        }
        for _ in 0..decoder.reader.count()? {
            resting.slots.push((decoder.name()?, decoder.datum()?));
        }
        resting.body = decoder.body(head & body::MASK)?;
        match decoder.reader.rest() {
            0 => Ok(resting),
            rest => Err(ChangeError::Surplus(rest)),
        }
    }
}

impl<'b, T: ReadText<'b>> Decoder<'b, T> {
    /// One object that was written by itself; nothing may follow it.
    pub(super) fn alone(object: ObjectId, bytes: &'b [u8]) -> Result<CreationOf<T>, ChangeError> {
        let mut decoder = Decoder::of_one(object, bytes);
        let creation = decoder.creation(Some(object))?;
        match decoder.reader.rest() {
            0 => Ok(creation),
            rest => Err(ChangeError::Surplus(rest)),
        }
    }

    fn of_one(object: ObjectId, bytes: &'b [u8]) -> Decoder<'b, T> {
        Decoder {
            reader: Reader::new(bytes),
            next: ChangeId::new(ActorId(0), 0),
            object,
            time: Time(0),
            names: SmallVec::new(),
            objects: SmallVec::new(),
            has_failed: false,
        }
    }

    fn fingerprint(&mut self) -> Result<ObjectId, ChangeError> {
        let at = self.reader.at();
        let object = ObjectId::from_bytes(self.reader.array()?);
        if object.is_derived() { Ok(object) } else { Err(ChangeError::Range { what: "fingerprint", at }) }
    }

    /// The object at the distance that follows.
    fn near(&mut self) -> Result<ObjectId, ChangeError> {
        let at = self.reader.at();
        let distance = self.reader.signed()? as u64;
        let from = self.object.minted_by().ok_or(ChangeError::Range { what: "distance to an object", at })?;
        Ok(ObjectId::minted(ChangeId::new(from.actor, from.seq.wrapping_add(distance))))
    }

    fn items(&mut self) -> Result<RunOf<T>, ChangeError> {
        let count = self.reader.count()?;
        (0..count).map(|_| self.datum()).collect::<Result<_, _>>().map(RunOf::Items)
    }

    fn units(&mut self) -> Result<RunOf<T>, ChangeError> {
        let at = self.reader.at();
        let width = self.reader.byte()?;
        let bytes = self.reader.prefixed()?;
        if !(1..=wire::WIDTH_MOST).contains(&width) || bytes.len() % usize::from(width) != 0 {
            return Err(ChangeError::Range { what: "width of units", at });
        }
        Ok(RunOf::Units { width, bytes: bytes.into() })
    }

    /// `known` is the object where it does not follow from the change: at rest its protos may be others than at first.
    fn creation(&mut self, known: Option<ObjectId>) -> Result<CreationOf<T>, ChangeError> {
        let (form, creation) = self.front(known)?;
        Ok(CreationOf { body: self.body(form)?, ..creation })
    }

    /// All of a creation that stands before its body, and what form that has.
    fn front(&mut self, known: Option<ObjectId>) -> Result<(u8, CreationOf<T>), ChangeError> {
        let (head, kind) = (self.reader.byte()?, self.reader.small("kind of object")?);
        let mut creation = CreationOf { kind, under: self.place(head)?, ..CreationOf::default() };
        creation.flags = self.flags(head)?;
        for _ in 0..self.reader.count()? {
            creation.protos.push(self.far()?);
        }
        self.object = known.unwrap_or_else(|| creation.object(self.next));
        for _ in 0..self.reader.count()? {
            creation.slots.push((self.name()?, self.datum()?));
        }
        Ok((head & body::MASK, creation))
    }

    fn place(&mut self, head: u8) -> Result<Option<(ObjectId, FieldOf<T>)>, ChangeError> {
        if head & body::IS_UNDER == 0 { Ok(None) } else { Ok(Some((self.far()?, self.under()?))) }
    }

    fn flags(&mut self, head: u8) -> Result<u32, ChangeError> {
        if head & body::HAS_FLAGS == 0 { Ok(0) } else { self.reader.small("flags") }
    }

    fn under(&mut self) -> Result<FieldOf<T>, ChangeError> {
        let at = self.reader.at();
        match self.reader.byte()? {
            under::SLOT => self.name().map(FieldOf::Slot),
            under::ENTRY => self.datum().map(FieldOf::Entry),
            _ => Err(ChangeError::Unknown { what: "place of a container", at }),
        }
    }

    fn body(&mut self, form: u8) -> Result<BodyOf<T>, ChangeError> {
        Ok(match form {
            body::NOTHING => BodyOf::Nothing,
            body::DATA => BodyOf::Data(self.datum()?),
            body::ITEMS => BodyOf::Elements(self.items()?),
            body::UNITS => BodyOf::Elements(self.units()?),
            body::MAP => BodyOf::Map(self.pairs(Self::datum)?),
            body::COUNTERS => BodyOf::Counters(self.pairs(|decoder| decoder.reader.signed())?),
            body::MEMBERS => BodyOf::Members(self.pairs(|decoder| decoder.reader.number())?),
            _ => return Err(ChangeError::Unknown { what: "body of an object", at: self.reader.at() }),
        })
    }

    fn pairs<V>(
        &mut self,
        value: impl Fn(&mut Self) -> Result<V, ChangeError>,
    ) -> Result<Vec<(DatumOf<T>, V)>, ChangeError> {
        let count = self.reader.count()?;
        (0..count).map(|_| Ok((self.datum()?, value(self)?))).collect()
    }

    fn name(&mut self) -> Result<T, ChangeError> {
        let at = self.reader.at();
        let index: usize = self.reader.small("name")?;
        if let Some(name) = self.names.get(index) {
            return Ok(name.clone());
        }
        if index > self.names.len() {
            return Err(ChangeError::Unknown { what: "name", at });
        }
        let name = T::from(self.reader.prefixed()?);
        self.names.push(name.clone());
        Ok(name)
    }

    fn far(&mut self) -> Result<ObjectId, ChangeError> {
        let at = self.reader.at();
        let index: usize = self.reader.small("object")?;
        if let Some(object) = self.objects.get(index) {
            return Ok(*object);
        }
        if index > self.objects.len() {
            return Err(ChangeError::Unknown { what: "object", at });
        }
        let object = match self.reader.number()? {
            0 => self.fingerprint()?,
            actor => ObjectId::minted(ChangeId::new(checked_actor(actor - 1, at)?, self.reader.number()?)),
        };
        self.objects.push(object);
        Ok(object)
    }

    fn datum(&mut self) -> Result<DatumOf<T>, ChangeError> {
        let first = self.reader.byte()?;
        if first != tag::RECORD {
            return self.scalar(first);
        }
        let count = self.reader.count()?;
        let fields = (0..count).map(|_| {
            let first = self.reader.byte()?;
            self.scalar(first)
        });
        fields.collect::<Result<_, _>>().map(DatumOf::Record)
    }

    fn scalar(&mut self, first: u8) -> Result<DatumOf<T>, ChangeError> {
        Ok(match first {
            tag::SMALL.. => DatumOf::Number((i64::from(first - tag::SMALL) + wire::SMALL_LEAST) as f64),
            tag::INTEGER => DatumOf::Number(self.reader.signed()? as f64),
            tag::TEXT => DatumOf::Text(self.name()?),
            tag::NEAR => DatumOf::Object(self.near()?),
            tag::FAR => DatumOf::Object(self.far()?),
            tag::ABSENT => DatumOf::Absent,
            tag::NIL => DatumOf::Nil,
            tag::FALSE => DatumOf::Boolean(false),
            tag::TRUE => DatumOf::Boolean(true),
            tag::SINGLE => DatumOf::number(f64::from(f32::from_le_bytes(self.reader.array()?))),
            tag::DOUBLE => DatumOf::number(f64::from_le_bytes(self.reader.array()?)),
            tag::BYTES => DatumOf::Bytes(self.reader.prefixed()?.into()),
            _ => return Err(ChangeError::Unknown { what: "form of a value", at: self.reader.at() - 1 }),
        })
    }
}

impl Iterator for Decoder<'_> {
    type Item = Result<Change, ChangeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed || self.reader.rest() == 0 {
            return None;
        }
        let change = self.change();
        self.has_failed = change.is_err();
        Some(change)
    }
}

fn checked_actor(number: u64, at: usize) -> Result<ActorId, ChangeError> {
    let actor = ActorId(number);
    if actor <= ActorId::MAX { Ok(actor) } else { Err(ChangeError::Range { what: "actor", at }) }
}

fn change_id(reader: &mut Reader<'_>) -> Result<ChangeId, ChangeError> {
    let at = reader.at();
    let actor = checked_actor(reader.number()?, at)?;
    Ok(ChangeId::new(actor, reader.number()?))
}
