//! What the image writes down about a merge, as objects in the same commit, in lists of `Telos`: `merges`, `conflicts`,
//! `violations` and `outbox`. An image that was born without them gets them with its first merge.

use super::arrival::MergePlan;
use super::description::{Proto, RECORDS};
use crate::error::ImageError;
use crate::form::{Flags, kind_number};
use crate::landmarks::{Landmarks, slot_object};
use merge::Effect;
use object::Kind;
use object::change::{Body, ChangeId, Creation, Datum, Draft, Field, Form, Line, ObjectId, Operation, Run, Text, Time};
use std::collections::BTreeMap;
use store::Store;

pub struct Book<'b> {
    pub store: &'b Store,
    pub plan: &'b MergePlan,
    pub landmarks: Landmarks,
    core: Creation,
    dream: Option<Creation>,
    /// Those that were looked for.
    protos: BTreeMap<Proto, ObjectId>,
    next: u64,
    operations: Vec<(ObjectId, Operation)>,
}

impl<'b> Book<'b> {
    /// The first thing that it writes has the number `next`.
    pub fn new(store: &'b Store, landmarks: Landmarks, plan: &'b MergePlan, next: u64) -> Result<Book<'b>, ImageError> {
        let core = store.read(landmarks.core)?.ok_or(ImageError::Unborn)?;
        let dream = slot_object(&core, "Dream").map(|dream| store.read(dream)).transpose()?.flatten();
        Ok(Book { store, plan, landmarks, core, dream, protos: BTreeMap::new(), next, operations: Vec::new() })
    }

    pub fn into_operations(self) -> Vec<(ObjectId, Operation)> {
        self.operations
    }

    /// The record of the merge, and those of what it left open.
    pub fn write(&mut self, time: Time) -> Result<(ObjectId, Vec<ObjectId>), ImageError> {
        let entries = self.entries(time)?;
        let telos = self.telos()?;
        self.append(telos, "conflicts", &entries.conflicts)?;
        self.append(telos, "violations", &entries.violations)?;
        self.append(telos, "outbox", &entries.outbox)?;
        self.append(telos, "merges", &[entries.merge])?;
        self.archive(telos)?;
        Ok((entries.merge, [entries.conflicts, entries.violations].concat()))
    }

    /// A prototype of this name, if the image has one in `Dream`.
    pub fn proto(&self, name: &str) -> ObjectId {
        self.dream.as_ref().and_then(|dream| slot_object(dream, name)).unwrap_or(self.landmarks.object)
    }

    /// A list that belongs to records is known by its proto, too.
    fn proto_of_lists(&self) -> ObjectId {
        let records = self.dream.as_ref().and_then(|dream| slot_object(dream, RECORDS.1));
        records.unwrap_or(self.landmarks.list)
    }

    /// One of these, of any prototype of Core.
    pub(super) fn proto_in(&mut self, proto: Proto) -> ObjectId {
        let (core, store, object) = (&self.core, self.store, self.landmarks.object);
        *self.protos.entry(proto).or_insert_with(|| {
            let holder = slot_object(core, proto.0).and_then(|holder| store.read(holder).ok().flatten());
            holder.and_then(|holder| slot_object(&holder, proto.1)).unwrap_or(object)
        })
    }

    pub fn make<'n>(&mut self, proto: ObjectId, slots: impl IntoIterator<Item = (&'n str, Datum)>) -> ObjectId {
        let slots = slots.into_iter().map(|(name, value)| (Text::from(name), value)).collect();
        self.create(Creation { protos: vec![proto], slots, ..plain(Kind::Object) })
    }

    pub fn list(&mut self, items: impl IntoIterator<Item = Datum>) -> ObjectId {
        let body = Body::Elements(Run::items(items));
        self.create(Creation { protos: vec![self.proto_of_lists()], body, ..plain(Kind::List) })
    }

    pub fn create(&mut self, creation: Creation) -> ObjectId {
        let id = ChangeId::new(self.plan.arrival.actor, self.next);
        self.push(creation.object(id), Operation::Create(Box::new(creation)))
    }

    pub(super) fn push(&mut self, object: ObjectId, operation: Operation) -> ObjectId {
        self.operations.push((object, operation));
        self.next += 1;
        object
    }

    fn telos(&mut self) -> Result<ObjectId, ImageError> {
        let lobby = self.landmarks.lobby;
        let slot = Field::Slot("Telos".into());
        if let Some(Datum::Object(telos)) = self.now(lobby)?.map(|lobby| lobby.field(&slot)) {
            return Ok(telos);
        }
        let telos = self.make(self.landmarks.object, [("type", Datum::text("Telos"))]);
        self.push(lobby, Operation::Put { field: slot, value: Datum::Object(telos) });
        Ok(telos)
    }

    fn append(&mut self, telos: ObjectId, name: &str, records: &[ObjectId]) -> Result<(), ImageError> {
        let field = Field::Slot(name.into());
        let items = || records.iter().map(|record| Datum::Object(*record));
        let found = self.now(telos)?.map_or(Datum::Absent, |telos| telos.field(&field));
        if let Datum::Object(list) = found
            && let Some(draft) = self.now(list)?.filter(|draft| draft.form() == Form::Items)
        {
            if !records.is_empty() {
                let (line, index) = (Line::Items, draft.len(Line::Items));
                self.push(list, Operation::Insert { line, index, run: Run::items(items()) });
            }
            return Ok(());
        }
        let list = self.list(items());
        self.push(telos, Operation::Put { field, value: Datum::Object(list) });
        Ok(())
    }

    /// An object as it is when all is done that was planned and written down so far.
    pub(super) fn now(&self, object: ObjectId) -> Result<Option<Draft>, ImageError> {
        let mut draft = self.store.read(object)?.map(Draft::from);
        let effects = self.plan.effects.iter().map(|Effect { object, operation }| (object, operation));
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
