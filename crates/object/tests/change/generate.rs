//! Any change that the format can hold.

use object::change::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn any_actor() -> impl Strategy<Value = ActorId> {
    prop_oneof![4 => (0..3u64).prop_map(ActorId), 1 => (0..=ActorId::MAX.0).prop_map(ActorId)]
}

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..300u64, 1 => any::<u64>()]
}

pub fn any_change_id() -> impl Strategy<Value = ChangeId> {
    (any_actor(), any_number()).prop_map(|(actor, seq)| ChangeId::new(actor, seq))
}

pub fn any_object() -> impl Strategy<Value = ObjectId> {
    prop_oneof![
        6 => any_change_id().prop_map(ObjectId::minted),
        1 => (any_change_id(), any_name()).prop_map(|(by, name)| {
            ObjectId::derived(ObjectId::minted(by), &Field::Slot(name), 3, &[])
        }),
    ]
}

fn any_name() -> impl Strategy<Value = Text> {
    prop_oneof![
        4 => prop_oneof![Just("x"), Just("y"), Just("size")].prop_map(Text::from),
        1 => vec(any::<u8>(), 0..9).prop_map(|bytes| Text::from(bytes.as_slice())),
    ]
}

fn any_scalar() -> impl Strategy<Value = Datum> {
    prop_oneof![
        Just(Datum::Absent),
        Just(Datum::Nil),
        any::<bool>().prop_map(Datum::Boolean),
        (-300..300i32).prop_map(|number| Datum::number(f64::from(number))),
        any::<i64>().prop_map(|number| Datum::number(number as f64)),
        any::<f32>().prop_map(|number| Datum::number(f64::from(number))),
        any::<u64>().prop_map(|bits| Datum::number(f64::from_bits(bits))),
        any_object().prop_map(Datum::Object),
        any_name().prop_map(Datum::Text),
        vec(any::<u8>(), 0..20).prop_map(|bytes| Datum::bytes(&bytes)),
    ]
}

pub fn any_datum() -> impl Strategy<Value = Datum> {
    prop_oneof![6 => any_scalar(), 1 => vec(any_scalar(), 0..4).prop_map(Datum::record)]
}

fn any_items() -> impl Strategy<Value = Run> {
    vec(any_datum(), 0..5).prop_map(Run::items)
}

fn any_units() -> impl Strategy<Value = Run> {
    (1..=16u8, vec(any::<u8>(), 0..40)).prop_map(|(width, mut bytes)| {
        bytes.truncate(bytes.len() / usize::from(width) * usize::from(width));
        Run::Units { width, bytes: bytes.into() }
    })
}

fn any_line_and_run() -> impl Strategy<Value = (Line, Run)> {
    prop_oneof![
        any_items().prop_map(|run| (Line::Items, run)),
        any_units().prop_map(|run| (Line::Units, run)),
        vec(any_object(), 0..4).prop_map(|protos| (Line::Protos, Run::items(protos.into_iter().map(Datum::Object)))),
    ]
}

fn any_line() -> impl Strategy<Value = Line> {
    prop_oneof![Just(Line::Protos), Just(Line::Items), Just(Line::Units)]
}

fn any_field() -> impl Strategy<Value = Field> {
    prop_oneof![
        3 => any_name().prop_map(Field::Slot),
        2 => any_datum().prop_map(Field::Entry),
        1 => Just(Field::Data),
        1 => Just(Field::Flags),
    ]
}

fn any_body() -> impl Strategy<Value = Body> {
    prop_oneof![
        Just(Body::Nothing),
        any_datum().prop_map(Body::Data),
        any_items().prop_map(Body::Elements),
        any_units().prop_map(Body::Elements),
        vec((any_datum(), any_datum()), 0..4).prop_map(Body::Map),
        vec((any_datum(), any::<i64>()), 0..3).prop_map(Body::Counters),
        vec((any_datum(), any_number()), 0..3).prop_map(Body::Members),
    ]
}

pub fn any_creation() -> impl Strategy<Value = Creation> {
    let under = prop_oneof![
        3 => Just(None),
        1 => (any_object(), any_name()).prop_map(|(parent, name)| Some((parent, Field::Slot(name)))),
        1 => (any_object(), any_datum()).prop_map(|(parent, key)| Some((parent, Field::Entry(key)))),
    ];
    let slots = vec((any_name(), any_datum()), 0..4);
    (0..20u32, any::<u32>(), vec(any_object(), 0..3), slots, any_body(), under).prop_map(
        |(kind, flags, protos, slots, body, under)| Creation { kind, flags: flags % 3, protos, slots, body, under },
    )
}

pub fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        2 => any_creation().prop_map(|creation| Operation::Create(Box::new(creation))),
        4 => (any_field(), any_datum()).prop_map(|(field, value)| Operation::Put { field, value }),
        2 => (any_number(), any_line_and_run()).prop_map(|(index, (line, run))| Operation::Insert { line, index, run }),
        1 => (any_line(), any_number(), any_number()).prop_map(|(line, index, count)| {
            Operation::Delete { line, index, count }
        }),
        1 => (any_line(), any_number(), any_number()).prop_map(|(line, from, to)| Operation::Move { line, from, to }),
        1 => (any_number(), any_datum()).prop_map(|(index, value)| Operation::Set { index, value }),
        1 => (any_datum(), any::<i64>()).prop_map(|(key, delta)| Operation::Count { key, delta }),
        1 => (any_datum(), any_number()).prop_map(|(member, count)| Operation::Add { member, count }),
        1 => (any_datum(), any_number()).prop_map(|(member, count)| Operation::Remove { member, count }),
        1 => (any_name(), any_datum()).prop_map(|(name, payload)| Operation::Call { name, payload }),
    ]
}

fn any_preds() -> impl Strategy<Value = Preds> {
    prop_oneof![
        4 => Just(Preds::Seen),
        1 => vec(any_change_id(), 0..3).prop_map(|preds| Preds::Named(preds.into())),
    ]
}

/// Changes of one actor, numbered without gaps.
pub fn any_batch() -> impl Strategy<Value = Vec<Change>> {
    let changes = vec((any_object(), any_operation(), any_preds(), any_number()), 1..12);
    (any_actor(), 1..1000u64, changes).prop_map(|(actor, first, changes)| {
        let numbered = changes.into_iter().enumerate();
        let change = |(index, (object, operation, preds, time)): (usize, (ObjectId, Operation, Preds, u64))| {
            let id = ChangeId::new(actor, first + index as u64);
            let object = match &operation {
                Operation::Create(creation) => creation.object(id),
                _ => object,
            };
            Change { id, time: Time(time), object, operation, preds }
        };
        numbered.map(change).collect()
    })
}
