//! What the image writes down by itself, as objects in lists of `Telos`, told as operations of one commit: the numbers of their
//! changes, and so the ids of new objects, are known beforehand.

use super::description::{Proto, RECORDS};
use crate::error::ImageError;
use crate::form::{Flags, kind_number};
use crate::landmarks::{Landmarks, slot_object};
use merge::Effect;
use object::Kind;
use object::change::{Body, ChangeId, Creation, Datum, Draft, Field, Form, Line, ObjectId, Operation, Run, Text};
use std::collections::BTreeMap;
use store::Store;

pub struct Pages<'p> {
    pub store: &'p Store,
    pub landmarks: Landmarks,
    /// What the same commit does before this.
    effects: &'p [Effect],
    core: Creation,
    dream: Option<Creation>,
    /// Those that were looked for.
    protos: BTreeMap<Proto, ObjectId>,
    next: ChangeId,
    operations: Vec<(ObjectId, Operation)>,
}

impl<'p> Pages<'p> {
    /// The first thing that is written has the number `next`.
    pub fn new(store: &'p Store, effects: &'p [Effect], next: ChangeId) -> Result<Pages<'p>, ImageError> {
        let landmarks = Landmarks::of(store)?;
        let core = store.read(landmarks.core)?.ok_or(ImageError::Unborn)?;
        let dream = slot_object(&core, "Dream").map(|dream| store.read(dream)).transpose()?.flatten();
        Ok(Pages { store, landmarks, effects, core, dream, protos: BTreeMap::new(), next, operations: Vec::new() })
    }

    /// The number of what is written next.
    pub const fn next(&self) -> ChangeId {
        self.next
    }

    pub fn into_operations(self) -> Vec<(ObjectId, Operation)> {
        self.operations
    }

    /// A prototype of this name, if the image has one in `Dream`.
    pub fn proto(&self, name: &str) -> ObjectId {
        self.dream.as_ref().and_then(|dream| slot_object(dream, name)).unwrap_or(self.landmarks.object)
    }

    /// One of these, of any prototype of Core.
    pub(super) fn proto_in(&mut self, proto: Proto) -> ObjectId {
        let (core, store, object) = (&self.core, self.store, self.landmarks.object);
        *self.protos.entry(proto).or_insert_with(|| {
            let holder = slot_object(core, proto.0).and_then(|holder| store.read(holder).ok().flatten());
            holder.and_then(|holder| slot_object(&holder, proto.1)).unwrap_or(object)
        })
    }

    /// A list that belongs to records is known by its proto, too.
    fn proto_of_lists(&self) -> ObjectId {
        let records = self.dream.as_ref().and_then(|dream| slot_object(dream, RECORDS.1));
        records.unwrap_or(self.landmarks.list)
    }

    pub fn make<'n>(&mut self, proto: ObjectId, slots: impl IntoIterator<Item = (&'n str, Datum)>) -> ObjectId {
        let slots = slots.into_iter().map(|(name, value)| (Text::from(name), value)).collect();
        self.create(Creation { protos: vec![proto], slots, ..plain(Kind::Object) })
    }

    pub fn list(&mut self, items: impl IntoIterator<Item = Datum>) -> ObjectId {
        let body = Body::Elements(Run::items(items));
        self.create(Creation { protos: vec![self.proto_of_lists()], body, ..plain(Kind::List) })
    }

    /// Bytes as a program has them.
    pub fn sequence(&mut self, bytes: &[u8]) -> ObjectId {
        let proto = slot_object(&self.core, "Sequence").unwrap_or(self.landmarks.object);
        let body = Body::Elements(Run::bytes(bytes));
        self.create(Creation { protos: vec![proto], body, ..plain(Kind::Sequence) })
    }

    pub fn create(&mut self, creation: Creation) -> ObjectId {
        self.push(creation.object(self.next), Operation::Create(Box::new(creation)))
    }

    pub fn push(&mut self, object: ObjectId, operation: Operation) -> ObjectId {
        self.operations.push((object, operation));
        self.next.seq += 1;
        object
    }

    pub fn telos(&mut self) -> Result<ObjectId, ImageError> {
        let lobby = self.landmarks.lobby;
        let slot = Field::Slot("Telos".into());
        if let Some(Datum::Object(telos)) = self.now(lobby)?.map(|lobby| lobby.field(&slot)) {
            return Ok(telos);
        }
        let telos = self.make(self.landmarks.object, [("type", Datum::text("Telos"))]);
        self.push(lobby, Operation::Put { field: slot, value: Datum::Object(telos) });
        Ok(telos)
    }

    /// Puts records behind those that a list of `Telos` has; makes the list where there is none.
    pub fn append(&mut self, telos: ObjectId, name: &str, records: &[ObjectId]) -> Result<(), ImageError> {
        let items = || records.iter().map(|record| Datum::Object(*record));
        if let Some((list, draft)) = self.list_of(telos, name)? {
            if !records.is_empty() {
                let (line, index) = (Line::Items, draft.len(Line::Items));
                self.push(list, Operation::Insert { line, index, run: Run::items(items()) });
            }
            return Ok(());
        }
        let list = self.list(items());
        self.push(telos, Operation::Put { field: Field::Slot(name.into()), value: Datum::Object(list) });
        Ok(())
    }

    /// Takes a record out of a list of `Telos`, if it is in there.
    pub fn take_out(&mut self, telos: ObjectId, name: &str, record: ObjectId) -> Result<(), ImageError> {
        let Some((list, draft)) = self.list_of(telos, name)? else { return Ok(()) };
        let Body::Elements(Run::Items(items)) = Creation::from(draft).body else { return Ok(()) };
        if let Some(index) = items.iter().position(|item| *item == Datum::Object(record)) {
            self.push(list, Operation::Delete { line: Line::Items, index: index as u64, count: 1 });
        }
        Ok(())
    }

    /// Drops the oldest records of a list of `Telos` beyond so many.
    pub fn shorten(&mut self, telos: ObjectId, name: &str, most: u64) -> Result<(), ImageError> {
        let Some((list, draft)) = self.list_of(telos, name)? else { return Ok(()) };
        let count = draft.len(Line::Items).saturating_sub(most);
        if count > 0 {
            self.push(list, Operation::Delete { line: Line::Items, index: 0, count });
        }
        Ok(())
    }

    pub(super) fn list_of(&self, telos: ObjectId, name: &str) -> Result<Option<(ObjectId, Draft)>, ImageError> {
        let field = Field::Slot(name.into());
        let Some(Datum::Object(list)) = self.now(telos)?.map(|telos| telos.field(&field)) else { return Ok(None) };
        Ok(self.now(list)?.filter(|draft| draft.form() == Form::Items).map(|draft| (list, draft)))
    }

    /// An object as it is when all is done that was planned and written down so far.
    pub(super) fn now(&self, object: ObjectId) -> Result<Option<Draft>, ImageError> {
        let mut draft = self.store.read(object)?.map(Draft::from);
        let effects = self.effects.iter().map(|Effect { object, operation }| (object, operation));
        let written = self.operations.iter().map(|(object, operation)| (object, operation));
        for (_, operation) in effects.chain(written).filter(|(each, _)| **each == object) {
            match (&mut draft, operation) {
                (None, Operation::Create(creation)) => draft = Some(Draft::from((**creation).clone())),
                // What does not fit is refused by the store.
                (Some(draft), operation) => drop(draft.apply(operation)),
                (None, _) => {}
            }
        }
        Ok(draft)
    }
}

fn plain(kind: Kind) -> Creation {
    Creation { kind: kind_number(kind), flags: Flags::plain(kind, false).number(), ..Creation::default() }
}
