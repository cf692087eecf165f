//! Journals of which nothing can be believed: each is refused whole and without a trace, or the image can do what came of
//! it and still holds together.

use crate::lab::{Dream, Lab};
use crate::script::*;
use merge::*;
use object::change::*;
use proptest::collection::vec;
use proptest::prelude::*;
use testkit::Random;

/// Anything that the format can say about the objects of the cast, those of others, and some that never were.
fn any_operation(random: &mut Random, cast: &Cast, actor: ActorId) -> (ObjectId, Operation) {
    let object = any_object(random, cast, actor);
    let line = [Line::Protos, Line::Items, Line::Units][random.below(3)];
    let small = |random: &mut Random| [0, 1, 2, 5, u64::MAX][random.below(5)];
    let operation = match random.below(11) {
        0 | 1 => Operation::Put { field: any_field(random, cast, actor), value: any_datum(random, cast, actor) },
        2 | 3 => {
            let run = match line {
                Line::Protos => Run::items([Datum::Object(any_object(random, cast, actor))]),
                Line::Items => Run::items((0..random.below(3)).map(|_| any_datum(random, cast, actor))),
                Line::Units => Run::Units { width: 1 + random.below(2) as u8, bytes: [7; 4].into() },
            };
            Operation::Insert { line, index: random.below(4) as u64, run }
        }
        4 => Operation::Delete { line, index: random.below(3) as u64, count: small(random) },
        5 => Operation::Move { line, from: random.below(5) as u64, to: random.below(5) as u64 },
        6 => Operation::Set { index: random.below(5) as u64, value: any_datum(random, cast, actor) },
        7 => Operation::Count { key: Datum::Nil, delta: i64::MAX },
        8 => Operation::Add { member: Datum::Nil, count: small(random) },
        9 => Operation::Remove { member: Datum::Nil, count: small(random) },
        _ => {
            let value = any_datum(random, cast, actor);
            let body = match random.below(5) {
                0 => Body::Map(vec![(Datum::Nil, value.clone()), (Datum::Nil, value)]),
                1 => Body::Elements(Run::items([value])),
                2 => Body::Elements(Run::Units { width: 2, bytes: [7; 4].into() }),
                3 => Body::Members(vec![(Datum::Nil, small(random)), (Datum::Nil, 1)]),
                _ => Body::Data(value),
            };
            let under = (random.below(2) == 0).then(|| (cast.map, Field::Slot("s".into())));
            Operation::Create(Box::new(Creation { body, under, ..Creation::default() }))
        }
    };
    (object, operation)
}

fn any_object(random: &mut Random, cast: &Cast, actor: ActorId) -> ObjectId {
    match random.below(12) {
        0..=3 => cast.plain[random.below(4)],
        4 => cast.list,
        5 => cast.text,
        6 => cast.bag,
        7 => cast.map,
        8 => cast.counter,
        9 => ObjectId::minted(ChangeId::new(actor, random.below(6) as u64)),
        10 => ObjectId::derived(cast.map, &Field::Slot("s".into()), 0, &[]),
        _ => ObjectId::minted(ChangeId::new(ActorId(1), 9 + random.below(6) as u64)),
    }
}

fn any_datum(random: &mut Random, cast: &Cast, actor: ActorId) -> Datum {
    match random.below(4) {
        0 => Datum::Absent,
        1 => Datum::Object(any_object(random, cast, actor)),
        2 => Datum::record([Datum::Object(any_object(random, cast, actor)), Datum::Nil]),
        _ => Datum::number(random.below(3) as f64),
    }
}

fn any_field(random: &mut Random, cast: &Cast, actor: ActorId) -> Field {
    match random.below(5) {
        0 | 1 => Field::Slot("x".into()),
        2 => Field::Entry(any_datum(random, cast, actor)),
        3 => Field::Data,
        _ => Field::Flags,
    }
}

fn any_journal(random: &mut Random, cast: &Cast, actor: ActorId) -> Dream {
    // Some claim to be somebody else.
    let actor = if random.below(6) == 0 { ActorId(1 + random.below(6) as u64) } else { actor };
    let mut dream = Dream { actor, changes: Vec::new(), time: Time(random.next()) };
    for _ in 0..=random.below(4) {
        let (mut object, operation) = any_operation(random, cast, actor);
        let id = ChangeId::new(actor, dream.changes.len() as u64 + 1);
        if let Operation::Create(creation) = &operation {
            object = creation.object(id);
        }
        dream.does(object, operation);
        if random.below(6) == 0 {
            let named = ChangeId::new(ActorId(1 + random.below(4) as u64), random.below(20) as u64);
            dream.changes.last_mut().expect("it was just added").preds = Preds::Named([named].into());
        }
    }
    dream
}

/// Merges the bytes, if they are a journal at all.
fn receive(lab: &mut Lab, actor: ActorId, bytes: &[u8]) -> Option<Result<Outcome, Refusal>> {
    let journal = decode(bytes).ok()?;
    Some(lab.merge_with(actor, &journal, &NoReconciler))
}

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..random.below(3) {
        let at = random.below(bytes.len());
        match random.below(3) {
            0 => bytes[at] = random.next() as u8,
            1 => bytes.truncate(at.max(1)),
            _ => bytes.insert(at, random.next() as u8),
        }
    }
}

fn holds_together(lab: &Lab) -> bool {
    let is_there = |object: &Creation| {
        let mut is_there = true;
        object.references(&mut |other| is_there &= lab.image.presence(other) != Presence::Never);
        is_there
    };
    lab.image.objects().values().all(is_there)
}

proptest! {
    #![proptest_config(crate::cases())]

    #[test]
    fn lies_are_refused_without_a_trace(live in vec(any_step(), 0..8), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let mut lab = Lab::new();
        let cast = cast(&mut lab);
        // Each fork has seen more than the one before.
        for actor in 2..6 {
            lab.fork(actor, Policy::ALL[random.below(4)]);
            let steps = live.iter().skip(actor as usize - 2).step_by(4);
            steps.for_each(|step| live_does(&mut lab, *step, &cast));
        }
        // One image receives everything, the other only what the first admitted.
        let mut clean = lab.clone();
        for actor in (2..6).map(ActorId) {
            let dream = any_journal(&mut random, &cast, actor);
            let mut bytes = encode(&dream.changes).expect("the format can say it");
            damage(&mut bytes, &mut random);
            let Some(received) = receive(&mut lab, actor, &bytes) else { continue };
            if received.is_ok() {
                prop_assert_eq!(receive(&mut clean, actor, &bytes), Some(received));
            } else {
                clean.next_time();
            }
            prop_assert_eq!(lab.image.objects(), clean.image.objects());
            prop_assert_eq!(lab.ledger.conflicts(), clean.ledger.conflicts());
            prop_assert_eq!(lab.ledger.violations(), clean.ledger.violations());
            prop_assert_eq!((lab.ledger.len(), lab.ledger.weight()), (clean.ledger.len(), clean.ledger.weight()));
            prop_assert!(holds_together(&lab));
            prop_assert!(is_acyclic(&lab.image));
        }
        lab.ledger.compact();
    }
}
