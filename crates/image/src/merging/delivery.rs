//! What is to be done to the world outside when a merge is durable, as objects in `Telos outbox`: calls that the dream promised,
//! and the files that it changed. Each has a key, under which it is done at least once. What is done goes over to
//! `Telos delivered`; what failed for good stays, and says why.
//!
//! Nothing here reaches the world: whoever delivers asks what there is, and tells what became of it.

use super::pages::Pages;
use crate::error::ImageError;
use crate::form::readable_text;
use crate::image::{Cause, Image};
use crate::landmarks::{Landmarks, slot, slot_object};
use merge::Effect;
use object::change::{Body, Change, ChangeId, Datum, Field, ObjectId, Operation, Run, Text};
use std::collections::BTreeSet;
use store::{Store, Ticket};

/// The delivery that brings what a dream wrote in directories there.
pub const APPLY_FILES: &str = "Files.apply";
/// So many that are done are remembered.
const DELIVERED_MOST: u64 = 1_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeliveryStatus {
    Waiting,
    Delivered,
    /// It is not tried again by itself.
    Failed,
    /// Its merge was taken back before.
    Undone,
}

impl DeliveryStatus {
    const ALL: [DeliveryStatus; 4] =
        [DeliveryStatus::Waiting, DeliveryStatus::Delivered, DeliveryStatus::Failed, DeliveryStatus::Undone];

    pub const fn name(self) -> &'static str {
        match self {
            DeliveryStatus::Waiting => "waiting",
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::Failed => "failed",
            DeliveryStatus::Undone => "undone",
        }
    }

    fn is_over(self) -> bool {
        matches!(self, DeliveryStatus::Delivered | DeliveryStatus::Undone)
    }
}

/// One thing to be done.
#[derive(Clone, PartialEq, Debug)]
pub struct Delivery {
    /// Its object; none before it is written down.
    pub record: Option<ObjectId>,
    /// As whoever receives it sees it. Of one that is not written down only the change.
    pub key: String,
    pub name: String,
    /// Numbers, texts, bytes and nil.
    pub arguments: Vec<Datum>,
    pub dream: String,
    pub status: DeliveryStatus,
    pub attempts: u64,
    /// What came of the last attempt.
    pub answer: String,
    /// The conflict that it is to settle, if it is for one.
    pub conflict: Option<ObjectId>,
}

/// What became of an attempt.
#[derive(Clone, PartialEq, Debug)]
pub struct Settlement {
    pub status: DeliveryStatus,
    pub answer: String,
    /// Files that could not be brought to where they belong.
    pub conflicts: Vec<FileConflict>,
    /// What else is written to objects, in the same commit.
    pub marks: Vec<(ObjectId, Operation)>,
}

/// A file that somebody else changed since the dream saw it, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileConflict {
    /// The whole path.
    pub path: String,
    /// What only whoever applies it understands: which file it is, and how it was found.
    pub place: String,
    pub base: String,
    pub dreamt: String,
    pub found: String,
    pub why: String,
}

impl Delivery {
    pub fn new(key: ChangeId, name: &Text, arguments: &[Datum], dream: &str) -> Delivery {
        Delivery {
            record: None,
            key: key.to_string(),
            name: readable_text(name.as_bytes()),
            arguments: arguments.to_vec(),
            dream: dream.into(),
            status: DeliveryStatus::Waiting,
            attempts: 0,
            answer: String::new(),
            conflict: None,
        }
    }

    /// What is in `Telos outbox`, the oldest first, for who has no image but its files.
    pub fn waiting_in(store: &Store) -> Result<Vec<Delivery>, ImageError> {
        deliveries_in(store, "outbox")
    }

    fn read(store: &Store, id: ObjectId) -> Result<Option<Delivery>, ImageError> {
        let Some(record) = store.read(id)? else { return Ok(None) };
        let word = |name: &str| match slot(&record, name) {
            Some(Datum::Text(text)) => Some(readable_text(text.as_bytes())),
            _ => None,
        };
        let status = word("status");
        let status = DeliveryStatus::ALL.into_iter().find(|each| Some(each.name()) == status.as_deref());
        // What a program put there by itself, in another form, is nobody's delivery.
        let (Some(key), Some(name), Some(dream), Some(status)) = (word("key"), word("name"), word("dream"), status)
        else {
            return Ok(None);
        };
        let attempts = if let Some(Datum::Number(count)) = slot(&record, "attempts") { *count as u64 } else { 0 };
        let answer = word("answer").unwrap_or_default();
        let conflict = slot_object(&record, "conflict");
        let arguments = arguments(store, slot_object(&record, "arguments"))?;
        Ok(Some(Delivery { record: Some(id), key, name, arguments, dream, status, attempts, answer, conflict }))
    }
}

/// Writes one down. Returns its object.
pub fn add(pages: &mut Pages<'_>, delivery: &Delivery) -> ObjectId {
    let plain = |argument: &Datum, pages: &mut Pages<'_>| match argument {
        Datum::Bytes(bytes) => Datum::Object(pages.sequence(bytes)),
        // Whatever form it came in: it must be one that a program can read.
        Datum::Text(text) => Datum::text(&readable_text(text.as_bytes())),
        Datum::Absent | Datum::Record(_) => Datum::Nil,
        argument => argument.clone(),
    };
    let arguments: Vec<Datum> = delivery.arguments.iter().map(|argument| plain(argument, pages)).collect();
    let arguments = pages.list(arguments);
    let key = format!("{:032x}-{}", u128::from_be_bytes(pages.store.id()), delivery.key);
    let mut slots = vec![
        ("key", Datum::text(&key)),
        ("name", Datum::text(&delivery.name)),
        ("arguments", Datum::Object(arguments)),
        ("dream", Datum::text(&delivery.dream)),
        ("status", Datum::text(delivery.status.name())),
        ("attempts", Datum::number(0.0)),
        ("answer", Datum::Nil),
    ];
    slots.extend(delivery.conflict.map(|conflict| ("conflict", Datum::Object(conflict))));
    let proto = pages.proto("Delivery");
    pages.make(proto, slots)
}

fn deliveries_in(store: &Store, list: &str) -> Result<Vec<Delivery>, ImageError> {
    let telos = slot_in(store, Landmarks::of(store)?.lobby, "Telos")?;
    let list = telos.map(|telos| slot_in(store, telos, list)).transpose()?.flatten();
    let objects = list.map(|list| held(store, list)).transpose()?.unwrap_or_default();
    objects.into_iter().filter_map(|object| Delivery::read(store, object).transpose()).collect()
}

/// The object in a slot of an object.
fn slot_in(store: &Store, object: ObjectId, name: &str) -> Result<Option<ObjectId>, ImageError> {
    Ok(store.read(object)?.and_then(|record| slot_object(&record, name)))
}

/// The objects in a list.
fn held(store: &Store, list: ObjectId) -> Result<Vec<ObjectId>, ImageError> {
    let Some(Body::Elements(Run::Items(items))) = store.read(list)?.map(|list| list.body) else {
        return Ok(Vec::new());
    };
    Ok(items.iter().filter_map(|item| if let Datum::Object(id) = item { Some(*id) } else { None }).collect())
}

/// As they were written down.
fn arguments(store: &Store, list: Option<ObjectId>) -> Result<Vec<Datum>, ImageError> {
    let record = list.map(|list| store.read(list)).transpose()?.flatten();
    let Some(Body::Elements(Run::Items(items))) = record.map(|record| record.body) else { return Ok(Vec::new()) };
    let mut arguments = Vec::new();
    for item in items.iter() {
        arguments.push(match item {
            Datum::Object(sequence) => match store.read(*sequence)?.map(|sequence| sequence.body) {
                Some(Body::Elements(Run::Units { width: 1, bytes })) => Datum::bytes(&bytes),
                _ => Datum::Nil,
            },
            item => item.clone(),
        });
    }
    Ok(arguments)
}

impl Image {
    /// What is in `Telos outbox`, the oldest first.
    pub fn outbox(&self) -> Result<Vec<Delivery>, ImageError> {
        Delivery::waiting_in(&self.store)
    }

    /// The last that are done.
    pub fn delivered(&self) -> Result<Vec<Delivery>, ImageError> {
        deliveries_in(&self.store, "delivered")
    }

    /// Refuses changes of a dream to the outbox: what is in there is done to the world, and nobody asks again.
    pub fn check_outbox<'c>(&self, changes: impl IntoIterator<Item = &'c Change>) -> Result<(), ImageError> {
        let lobby = Landmarks::of(&self.store)?.lobby;
        let telos = slot_in(&self.store, lobby, "Telos")?;
        let list = telos.map(|telos| slot_in(&self.store, telos, "outbox")).transpose()?.flatten();
        let mut guarded: BTreeSet<ObjectId> = list.into_iter().collect();
        for record in list.map(|list| held(&self.store, list)).transpose()?.unwrap_or_default() {
            let arguments = slot_in(&self.store, record, "arguments")?;
            guarded.extend([record].into_iter().chain(arguments));
            guarded.extend(arguments.map(|arguments| held(&self.store, arguments)).transpose()?.unwrap_or_default());
        }
        let sets = |change: &Change, names: &[&str]| match &change.operation {
            Operation::Put { field: Field::Slot(slot), .. } => {
                names.iter().any(|name| slot.as_bytes() == name.as_bytes())
            }
            _ => false,
        };
        for change in changes {
            let is_way_there = Some(change.object) == telos && sets(change, &["outbox", "delivered"]);
            if is_way_there || guarded.contains(&change.object) {
                let why = format!("change {} is to Telos outbox, which no dream changes", change.id);
                return Err(ImageError::NotMerged(why));
            }
        }
        Ok(())
    }

    /// Writes down what became of an attempt, in a commit of its own.
    pub fn settle_delivery(
        &mut self,
        delivery: &Delivery,
        settlement: &Settlement,
        cause: &Cause,
    ) -> Result<Option<Ticket>, ImageError> {
        let Some(record) = delivery.record else { return Ok(None) };
        let mut pages = Pages::new(&self.store, &[], self.store.next_change())?;
        settle(&mut pages, record, delivery, settlement)?;
        let operations = pages.into_operations();
        self.adopt(cause, operations)
    }

    /// Writes down something more to be done for a dream that was merged, with what is written to objects beside it.
    pub fn add_delivery(
        &mut self,
        name: &str,
        arguments: &[Datum],
        dream: &str,
        conflict: Option<ObjectId>,
        marks: Vec<(ObjectId, Operation)>,
        cause: &Cause,
    ) -> Result<(ObjectId, Option<Ticket>), ImageError> {
        let mut pages = Pages::new(&self.store, &[], self.store.next_change())?;
        let delivery = Delivery { conflict, ..Delivery::new(pages.next(), &name.into(), arguments, dream) };
        let record = put_into_outbox(&mut pages, &delivery)?;
        for (object, operation) in marks {
            pages.push(object, operation);
        }
        let operations = pages.into_operations();
        Ok((record, self.adopt(cause, operations)?))
    }
}

/// What is done about a merge's deliveries in the commit that takes it back: whoever is killed behind that has nothing left to do
/// that nobody wants any more, and lacks nothing of what takes the rest back.
#[derive(Default)]
pub struct Withdrawal {
    /// Those that are not tried any more, each with what is said of it.
    pub cancelled: Vec<(Delivery, String)>,
    /// What is to be done to take back what was done, for this dream: a name.
    pub added: Option<(String, String)>,
    pub marks: Vec<(ObjectId, Operation)>,
}

/// Operations, and the object of what they add.
type Written = (Vec<(ObjectId, Operation)>, Option<ObjectId>);

impl Withdrawal {
    /// As operations behind others of the same commit, and the object of what was added.
    pub(crate) fn written(&self, store: &Store, before: &[(ObjectId, Operation)]) -> Result<Written, ImageError> {
        if self.cancelled.is_empty() && self.added.is_none() && self.marks.is_empty() {
            return Ok((Vec::new(), None));
        }
        let effect = |(object, operation): &(ObjectId, Operation)| {
            let operation = operation.clone();
            Effect { object: *object, operation }
        };
        let effects: Vec<Effect> = before.iter().map(effect).collect();
        let next = store.next_change();
        let next = ChangeId::new(next.actor, next.seq + before.len() as u64);
        let mut pages = Pages::new(store, &effects, next)?;
        for (delivery, answer) in &self.cancelled {
            let (conflicts, marks) = (Vec::new(), Vec::new());
            let settlement = Settlement { status: DeliveryStatus::Undone, answer: answer.clone(), conflicts, marks };
            if let Some(record) = delivery.record {
                settle(&mut pages, record, delivery, &settlement)?;
            }
        }
        let mut added = None;
        if let Some((name, dream)) = &self.added {
            let delivery = Delivery::new(pages.next(), &name.as_str().into(), &[Datum::text(dream)], dream);
            added = Some(put_into_outbox(&mut pages, &delivery)?);
        }
        for (object, operation) in &self.marks {
            pages.push(*object, operation.clone());
        }
        Ok((pages.into_operations(), added))
    }
}

/// Writes down what became of an attempt.
fn settle(
    pages: &mut Pages<'_>,
    record: ObjectId,
    delivery: &Delivery,
    settlement: &Settlement,
) -> Result<(), ImageError> {
    let attempted = u64::from(settlement.status != DeliveryStatus::Undone);
    for (name, value) in [
        ("status", Datum::text(settlement.status.name())),
        ("attempts", Datum::number((delivery.attempts + attempted) as f64)),
        ("answer", Datum::text(&settlement.answer)),
    ] {
        pages.push(record, Operation::set_slot(name, value));
    }
    let telos = pages.telos()?;
    if settlement.status.is_over() {
        pages.take_out(telos, "outbox", record)?;
        pages.append(telos, "delivered", &[record])?;
        pages.shorten(telos, "delivered", DELIVERED_MOST)?;
    }
    let conflicts: Vec<ObjectId> =
        settlement.conflicts.iter().map(|conflict| conflict_record(pages, conflict, delivery)).collect();
    if !conflicts.is_empty() {
        pages.append(telos, "conflicts", &conflicts)?;
    }
    for (object, operation) in &settlement.marks {
        pages.push(*object, operation.clone());
    }
    Ok(())
}

fn put_into_outbox(pages: &mut Pages<'_>, delivery: &Delivery) -> Result<ObjectId, ImageError> {
    let record = add(pages, delivery);
    let telos = pages.telos()?;
    pages.append(telos, "outbox", &[record])?;
    Ok(record)
}

/// In the form of all conflicts: what the dream wrote is side 0, what was found there is side 1, and shown.
fn conflict_record(pages: &mut Pages<'_>, conflict: &FileConflict, delivery: &Delivery) -> ObjectId {
    let proto = pages.proto("Sibling");
    let text = |text: &str| Datum::text(text);
    let mut side = |who: &str, value: &str| {
        let slots = [("value", text(value)), ("isAbsent", Datum::Boolean(false)), ("who", text(who))];
        Datum::Object(pages.make(proto, slots))
    };
    let sides = [side(&delivery.dream, &conflict.dreamt), side("host", &conflict.found)];
    let siblings = pages.list(sides);
    let slots = [
        ("object", Datum::Nil),
        ("part", text("file")),
        ("key", text(&conflict.path)),
        ("place", text(&conflict.place)),
        ("base", text(&conflict.base)),
        ("siblings", Datum::Object(siblings)),
        ("shown", text(&conflict.found)),
        ("isShownAbsent", Datum::Boolean(false)),
        ("why", text(&conflict.why)),
        ("status", text("open")),
        ("dream", text(&delivery.dream)),
    ];
    let proto = pages.proto("Conflict");
    pages.make(proto, slots)
}
