//! The format of changes: what is written comes back, whatever comes in is either changes or an error, and small
//! changes take few bytes. Case counts come from `TELOS_CASES`.

#![allow(clippy::disallowed_methods, reason = "the number of cases comes from the environment")]

mod draft;
mod generate;

use generate::{any_batch, any_change_id, any_creation, any_operation};
use object::change::*;
use proptest::prelude::*;
use testkit::Random;

fn cases() -> ProptestConfig {
    let cases = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_is_written_comes_back(changes in any_batch()) {
        let bytes = encode(&changes).expect("the generator makes only what the format holds");
        prop_assert_eq!(decode(&bytes), Ok(changes));
    }

    /// A frame is written behind its header without copying; what stands before it does not matter.
    #[test]
    fn a_batch_may_stand_behind_other_bytes(changes in any_batch()) {
        let mut encoder = Encoder::new(changes[0].id, b"header".to_vec());
        changes.iter().try_for_each(|change| encoder.push(change)).expect("it can be encoded");
        let bytes = encoder.finish();
        prop_assert_eq!(&bytes[..6], b"header");
        prop_assert_eq!(decode(&bytes[6..]), Ok(changes));
    }

    /// Cut anywhere, flipped anywhere: changes or an error, and what it becomes can be written again.
    #[test]
    fn damaged_bytes_never_panic(changes in any_batch(), seed in any::<u64>()) {
        let mut bytes = encode(&changes).expect("the generator makes only what the format holds");
        let mut random = Random::new(seed);
        for _ in 0..8 {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes.insert(at, random.next() as u8),
                _ if bytes.len() > 1 => bytes.truncate(at.max(1)),
                _ => {}
            }
            if let Ok(decoded) = decode(&bytes) {
                let again = encode(&decoded).expect("what was decoded can be encoded");
                prop_assert_eq!(decode(&again), Ok(decoded));
            }
        }
    }

    /// An object at rest says the same of itself taken apart and whole.
    #[test]
    fn a_draft_holds_what_its_creation_does(changes in any_batch(), index in 0..4u64, count in 0..4u64) {
        for change in changes {
            let Operation::Create(creation) = change.operation else { continue };
            let draft = Draft::from((*creation).clone());
            prop_assert_eq!(draft.form(), creation.body.form());
            let slots = creation.slots.iter().map(|(name, _)| Field::Slot(name.clone()));
            let keys = if let Body::Map(entries) = &creation.body { &entries[..] } else { &[] };
            let entries = keys.iter().map(|(key, _)| Field::Entry(key.clone()));
            for field in slots.chain(entries).chain([Field::Data, Field::Flags, Field::Slot("none".into())]) {
                prop_assert_eq!(draft.field(&field), creation.field(&field), "{:?}", field);
            }
            for line in [Line::Protos, Line::Items, Line::Units] {
                let run = creation.run(line);
                prop_assert_eq!(draft.len(line), run.len() as u64);
                prop_assert_eq!(draft.elements(line, 0, u64::MAX), run.clone());
                let (start, end) = (index.min(run.len() as u64), (index + count).min(run.len() as u64));
                if let Run::Items(items) = &run {
                    let part = Run::items(items[start as usize..end as usize].iter().cloned());
                    prop_assert_eq!(draft.elements(line, index, count), part);
                }
            }
        }
    }

    /// What a commit may do is decided by outlines; what it does, by drafts.
    #[test]
    fn an_outline_takes_what_a_draft_takes(creation in any_creation(), operations in proptest::collection::vec(any_operation(), 0..12)) {
        let object = ObjectId::minted(live(1));
        let mut stored = Vec::new();
        encode_stored(object, &creation, &mut stored).expect("the generator makes only what the format holds");
        let mut outlines = [Outline::from(&creation), outline_stored(object, &stored).expect("it was written so")];
        let mut draft = Draft::from(creation);
        for operation in operations {
            // Near enough to what is there to fit now and then.
            let operation = nearer(operation, &draft);
            let fits = draft.apply(&operation).is_ok();
            for outline in &mut outlines {
                prop_assert_eq!(outline.apply(&operation).is_ok(), fits, "{:?}", operation);
            }
        }
    }

    #[test]
    fn noise_never_panics(noise in proptest::collection::vec(any::<u8>(), 0..200), first in any_change_id()) {
        let mut bytes = Encoder::new(first, Vec::new()).finish();
        bytes.extend(&noise);
        let _ = decode(&bytes);
        let _ = decode(&noise);
    }
}

/// The same operation with its indexes within, or just beyond, what the object has.
fn nearer(operation: Operation, draft: &Draft) -> Operation {
    let near = |line, index: u64| index % (draft.len(line) + 2);
    match operation {
        Operation::Insert { line, index, run } => Operation::Insert { line, index: near(line, index), run },
        Operation::Delete { line, index, count } => {
            Operation::Delete { line, index: near(line, index), count: count % 3 }
        }
        Operation::Move { line, from, to } => Operation::Move { line, from: near(line, from), to: near(line, to) },
        Operation::Set { index, value } => Operation::Set { index: near(Line::Items, index), value },
        other => other,
    }
}

fn live(seq: u64) -> ChangeId {
    ChangeId::new(ActorId(1), seq)
}

#[test]
fn a_small_change_takes_few_bytes() {
    let mut random = Random::new(7);
    let names: Vec<String> = (0..10).map(|slot| format!("slot{slot}")).collect();
    let changes: Vec<Change> = (1..=100_000)
        .map(|seq| {
            let object = ObjectId::minted(live(random.below(10_000) as u64));
            let operation = Operation::set_slot(&names[random.below(10)], random.below(1000) as f64);
            Change::new(ChangeId::new(ActorId(9), seq), Time::from_ms(1_700_000_000_000), object, operation)
        })
        .collect();
    let bytes = encode(&changes).expect("it can be encoded");
    let each = bytes.len() as f64 / changes.len() as f64;
    assert!(each <= 8.0, "{each} bytes a change");
}

#[test]
fn the_sizes_of_single_changes_are_known() {
    let object = ObjectId::minted(live(1));
    let size = |operations: &[Operation]| {
        let changes: Vec<Change> = operations
            .iter()
            .zip(1..)
            .map(|(operation, seq)| Change::new(live(seq), Time(0), object, operation.clone()))
            .collect();
        encode(&changes).expect("it can be encoded").len()
    };
    let header = 3;
    assert_eq!(size(&[Operation::set_slot("x", 5.0)]), header + 5);
    assert_eq!(size(&[Operation::set_slot("x", 5.0), Operation::set_slot("x", 6.0)]), header + 5 + 3);
    assert_eq!(size(&[Operation::Count { key: Datum::Nil, delta: -1 }]), header + 3);
    assert_eq!(size(&[Operation::Delete { line: Line::Items, index: 3, count: 100 }]), header + 3);
    let insert = Operation::Insert { line: Line::Items, index: 0, run: Run::items([Datum::Nil, Datum::number(0.5)]) };
    assert_eq!(size(&[insert]), header + 1 + 1 + 1 + 1 + 5);
}

#[test]
fn a_length_beyond_the_input_is_refused_at_once() {
    let mut bytes = Encoder::new(live(1), Vec::new()).finish();
    // A list insertion at 0 of 2⁶² items.
    bytes.extend([11 | 32, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40]);
    assert!(matches!(decode(&bytes), Err(ChangeError::Truncated(_))));
}

#[test]
fn what_breaks_the_rules_is_not_written() {
    let set = |seq| Change::new(live(seq), Time(0), ObjectId::minted(live(1)), Operation::set_slot("x", 1.0));
    assert!(matches!(encode(&[set(1), set(3)]), Err(ChangeError::Order { .. })));
    let mut stolen = Change::create(live(4), Time(0), Creation::default());
    stolen.object = ObjectId::minted(live(3));
    assert_eq!(encode(&[stolen]), Err(ChangeError::Identity(live(4))));
    let nested = Datum::record([Datum::record([])]);
    let put = Operation::Put { field: Field::Data, value: nested };
    let change = Change::new(live(1), Time(0), ObjectId::minted(live(1)), put);
    assert!(matches!(encode(&[change]), Err(ChangeError::Unencodable(..))));
}

#[test]
fn a_newer_format_is_refused_by_name() {
    assert_eq!(decode(&[2, 0, 0]), Err(ChangeError::Version(2)));
}

/// Bytes written by version 1. If this test must change, old logs and images break.
#[test]
fn version_1_reads_as_it_always_did() {
    let bytes = FIXTURE;
    let changes = decode(bytes).expect("version 1 is understood for ever");
    assert_eq!(changes, fixture());
    assert_eq!(encode(&changes).as_deref(), Ok(bytes));
}

fn fixture() -> Vec<Change> {
    let time = Time::from_ms(3);
    let point = Creation {
        kind: 4,
        flags: 1,
        protos: vec![ObjectId::minted(ChangeId::new(ActorId(0), 9))],
        slots: vec![("x".into(), Datum::number(1.0)), ("y".into(), Datum::text("x"))],
        body: Body::Map(vec![(Datum::text("k"), Datum::number(0.1))]),
        under: None,
    };
    let object = ObjectId::minted(live(5));
    let undo = Preds::Named([live(5), ChangeId::new(ActorId(7), 2)].into());
    vec![
        Change::create(live(5), time, point),
        Change { preds: undo, ..Change::new(live(6), time, object, Operation::set_slot("x", 300.0)) },
        Change::new(live(7), Time(time.0 + 1), ObjectId::minted(live(4)), Operation::remove_slot("y")),
    ]
}

#[rustfmt::skip]
const FIXTURE: &[u8] = &[
    1, 1, 5,                                                    // version, actor, number of the first change
    135, 128, 128, 24,                                          // create, at another time
    68, 4, 1, 1, 0, 1, 9,                                       // a map with flags; kind, flags, one proto
    2, 0, 1, b'x', 65, 1, 1, b'y', 7, 0,                        // two slots
    1, 7, 2, 1, b'k', 6, 154, 153, 153, 153, 153, 153, 185, 63, // one entry
    97, 2, 2, 1, 7, 2, 0, 4, 216, 4,                            // set slot x of the same, naming what it replaces
    130, 2, 1, 1,                                               // remove slot y of the object before
];
