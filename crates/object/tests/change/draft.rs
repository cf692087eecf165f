//! Objects at rest: changes applied and taken back, and their bytes.

use crate::cases;
use crate::generate::{any_creation, any_object, any_operation};
use object::change::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// The same, whatever the order of slots, keys, counters and members.
fn without_order(creation: &Creation) -> Creation {
    let mut sorted = Creation::from(Draft::from(creation.clone()));
    sorted.slots.retain(|(_, value)| !value.is_absent());
    sorted.slots.sort();
    match &mut sorted.body {
        Body::Map(entries) => {
            entries.retain(|(_, value)| !value.is_absent());
            entries.sort();
        }
        Body::Counters(counters) => {
            counters.retain(|(_, count)| *count != 0);
            counters.sort();
        }
        Body::Members(members) => {
            members.retain(|(_, count)| *count != 0);
            members.sort();
        }
        Body::Data(Datum::Absent) => sorted.body = Body::Nothing,
        _ => {}
    }
    sorted
}

/// What a body holds, whether it came in parts or as one datum.
fn content(body: &Body) -> Vec<Datum> {
    let mut content: Vec<Datum> = match body {
        Body::Nothing | Body::Data(Datum::Absent) => Vec::new(),
        Body::Data(Datum::Record(fields)) => fields.to_vec(),
        // A width without units says nothing.
        Body::Data(Datum::Bytes(bytes)) if bytes.len() <= 1 => Vec::new(),
        Body::Data(datum) => vec![datum.clone()],
        Body::Elements(Run::Items(items)) => items.to_vec(),
        Body::Elements(Run::Units { bytes, .. }) if bytes.is_empty() => Vec::new(),
        Body::Elements(Run::Units { width, bytes }) => vec![Datum::bytes(&[&[*width], &bytes[..]].concat())],
        Body::Map(entries) => {
            let present = entries.iter().filter(|(_, value)| !value.is_absent());
            present.flat_map(|(key, value)| [key.clone(), value.clone()]).collect()
        }
        Body::Counters(counters) => counters.iter().map(|(key, _)| key.clone()).collect(),
        Body::Members(members) => members.iter().map(|(member, _)| member.clone()).collect(),
    };
    content.sort();
    content
}

proptest! {
    #![proptest_config(cases())]

    /// Whatever fits is taken back exactly; whatever does not is refused and changes nothing.
    #[test]
    fn taking_back_restores(creation in any_creation(), operations in vec(any_operation(), 0..20)) {
        let mut draft = Draft::from(creation.clone());
        let mut undo = Vec::new();
        for operation in &operations {
            let before = Creation::from(draft.clone());
            match draft.apply(operation) {
                Ok(inverse) => undo.extend(inverse),
                Err(_) => prop_assert_eq!(Creation::from(draft.clone()), before),
            }
        }
        for operation in undo.iter().rev() {
            draft.apply(operation).expect("an inverse fits");
        }
        let (mut found, mut expected) = (without_order(&draft.into()), without_order(&creation));
        prop_assert_eq!(content(&found.body), content(&expected.body));
        (found.body, expected.body) = (Body::Nothing, Body::Nothing);
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_stored_object_comes_back_under_its_own_id_only(creation in any_creation(), one in any_object(), other in any_object()) {
        let mut bytes = b"something older".to_vec();
        encode_stored(one, &creation, &mut bytes).expect("it can be encoded");
        prop_assert_eq!(decode_stored(one, &bytes), Ok(creation));
        if one != other {
            prop_assert_eq!(decode_stored(other, &bytes), Err(ChangeError::Checksum(other)));
        }
    }

    #[test]
    fn a_damaged_object_is_told(creation in any_creation(), object in any_object(), at in any::<usize>(), bit in 0..8u32) {
        let mut bytes = Vec::new();
        encode_stored(object, &creation, &mut bytes).expect("it can be encoded");
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        prop_assert!(decode_stored(object, &bytes).is_err());
        bytes.truncate(at);
        prop_assert!(decode_stored(object, &bytes).is_err());
    }
}

/// A list of 200,000 items and as many changes: quadratic work would take minutes.
#[test]
fn many_changes_to_a_large_container_take_no_walk_each() {
    let items = Run::items((0..200_000).map(|number| Datum::number(f64::from(number))));
    let mut list = Draft::from(Creation { body: Body::Elements(items), ..Creation::default() });
    let entries = (0..200_000).map(|number| (Datum::number(f64::from(number)), Datum::Nil)).collect();
    let mut map = Draft::from(Creation { body: Body::Map(entries), ..Creation::default() });
    for index in 0..200_000 {
        list.apply(&Operation::Set { index, value: Datum::Nil }).expect("it is there");
        let field = Field::Entry(Datum::number(index as f64));
        map.apply(&Operation::Put { field, value: Datum::Absent }).expect("it is there");
    }
    let end = Operation::Insert { line: Line::Items, index: 200_000, run: Run::items([Datum::Nil]) };
    let front = Operation::Delete { line: Line::Items, index: 0, count: 1 };
    for _ in 0..100_000 {
        list.apply(&end).expect("it fits");
        list.apply(&front).expect("it fits");
    }
    assert_eq!(Creation::from(list).run(Line::Items).len(), 200_000);
    assert_eq!(Creation::from(map).body, Body::Map(Vec::new()));
}
