//! Sequences against plain models: whatever the bytes, slicing behaves like slicing a `Vec`, what is encoded decodes to
//! itself, what is split joins again, and searches agree with the obvious slow ones.

use std::hash::{DefaultHasher, Hash, Hasher};

use object::number_text;
use object::sequence::{Encoding, ItemType, PackValue, Sequence};
use proptest::collection::vec;
use proptest::prelude::*;

const ITEM_TYPES: [ItemType; 10] = [
    ItemType::Uint8,
    ItemType::Uint16,
    ItemType::Uint32,
    ItemType::Uint64,
    ItemType::Int8,
    ItemType::Int16,
    ItemType::Int32,
    ItemType::Int64,
    ItemType::Float32,
    ItemType::Float64,
];

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

/// Few distinct letters, so that matches and overlaps are common.
fn any_letters(longest: usize) -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(b'a'), Just(b'b')], 0..=longest)
}

/// Any item type in any encoding, over any bytes.
fn any_sequence() -> impl Strategy<Value = Sequence> {
    let encodings = [Encoding::Ascii, Encoding::Utf8, Encoding::Ucs2, Encoding::Ucs4, Encoding::Number];
    (any_bytes(), 0..ITEM_TYPES.len(), 0..encodings.len()).prop_map(move |(bytes, item_type, encoding)| {
        let mut sequence = Sequence::from_bytes(&bytes);
        sequence.set_encoding(encodings[encoding]);
        sequence.set_item_type(ITEM_TYPES[item_type]);
        sequence
    })
}

/// An Io index into a model of this length.
fn position(len: usize, index: i64) -> usize {
    let len = len as i64;
    (if index < 0 { len + index } else { index }).clamp(0, len) as usize
}

fn slow_find(haystack: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    (from..haystack.len()).find(|start| haystack[*start..].starts_with(needle))
}

fn slow_reverse_find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    (0..=haystack.len()).rev().find(|start| haystack[*start..].starts_with(needle))
}

fn hash_of(sequence: &Sequence) -> u64 {
    let mut hasher = DefaultHasher::new();
    sequence.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slices_like_a_vec(bytes in any_bytes(), start in -50i64..50, end in -50i64..50) {
        let sequence = Sequence::from_bytes(&bytes);
        let (from, to) = (position(bytes.len(), start), position(bytes.len(), end));
        let expected = Sequence::from_bytes(&bytes[from..to.max(from)]);
        prop_assert_eq!(sequence.exclusive_slice(start, Some(end)), expected);
        prop_assert_eq!(sequence.exclusive_slice(start, None), Sequence::from_bytes(&bytes[from..]));
        if end != -1 {
            let inclusive = sequence.inclusive_slice(start, Some(end));
            prop_assert_eq!(inclusive, sequence.exclusive_slice(start, Some(end + 1)));
        }
    }

    #[test]
    fn edits_like_a_vec(bytes in any_bytes(), other in any_bytes(), start in 0usize..50, end in 0usize..50) {
        let mut model = bytes.clone();
        let mut sequence = Sequence::from_bytes(&bytes);
        let (start, end) = (start.min(bytes.len()), end.min(bytes.len()));
        sequence.at_insert_seq(start, &Sequence::from_bytes(&other)).unwrap();
        model.splice(start..start, other.iter().copied());
        prop_assert_eq!(sequence.as_bytes(), &model);
        sequence.remove_range(start, end);
        if start < end {
            model.drain(start..end);
        }
        prop_assert_eq!(sequence.as_bytes(), &model);
        sequence.reverse_in_place();
        model.reverse();
        prop_assert_eq!(sequence.as_bytes(), &model);
        sequence.sort();
        model.sort_unstable();
        prop_assert_eq!(sequence.as_bytes(), &model);
    }

    #[test]
    fn searches_agree_with_the_slow_way(haystack in any_letters(60), needle in any_letters(14), from in 0usize..60) {
        let (sequence, other) = (Sequence::from_bytes(&haystack), Sequence::from_bytes(&needle));
        prop_assert_eq!(sequence.find_seq(&other, from), slow_find(&haystack, &needle, from));
        prop_assert_eq!(sequence.reverse_find_seq(&other, None), slow_reverse_find(&haystack, &needle));
        let wide = sequence.as_ucs4();
        prop_assert_eq!(wide.find_seq(&other, from), slow_find(&haystack, &needle, from));
        prop_assert_eq!(wide.reverse_find_seq(&other, None), slow_reverse_find(&haystack, &needle));
    }

    #[test]
    fn replaces_like_str(haystack in any_letters(60), from in any_letters(12), to in any_letters(3)) {
        prop_assume!(!from.is_empty());
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut sequence = Sequence::from_bytes(&haystack);
        let count = text(&haystack).matches(&text(&from)).count();
        prop_assert_eq!(sequence.occurrences_of_seq(&Sequence::from_bytes(&from)), count);
        sequence.replace_seq(&Sequence::from_bytes(&from), &Sequence::from_bytes(&to)).unwrap();
        prop_assert_eq!(sequence.to_text(), text(&haystack).replace(&text(&from), &text(&to)));
    }

    #[test]
    fn what_is_split_joins_again(haystack in any_letters(90), separator in any_letters(20)) {
        prop_assume!(!separator.is_empty());
        let (sequence, separator) = (Sequence::from_bytes(&haystack), Sequence::from_bytes(&separator));
        let parts = sequence.split(&[&separator]).unwrap();
        let mut joined = separator.join(&parts.iter().collect::<Vec<_>>()).unwrap();
        // A separator at the end leaves no empty part behind, so it is the one thing that a join cannot restore.
        if joined != sequence {
            joined.append_seq(&separator);
        }
        prop_assert_eq!(joined, sequence);
    }

    #[test]
    fn codings_round_trip(bytes in any_bytes(), line in 0usize..20) {
        let sequence = Sequence::from_bytes(&bytes);
        prop_assert_eq!(&sequence.as_base64(line).from_base64(), &sequence);
        prop_assert_eq!(&sequence.percent_encoded().percent_decoded(), &sequence);
        prop_assert_eq!(&sequence.url_encoded().url_decoded(), &sequence);
        let mut escaped = sequence.clone();
        escaped.escape();
        escaped.unescape();
        prop_assert_eq!(&escaped, &sequence);
    }

    #[test]
    fn text_round_trips(text in any::<String>()) {
        let sequence = Sequence::from(text.as_str());
        for wide in [sequence.as_ucs2(), sequence.as_ucs4(), sequence.as_fixed_size_type()] {
            prop_assert_eq!(&wide.as_utf8(), &sequence);
        }
        prop_assert_eq!(sequence.as_ucs4().len(), text.chars().count());
        prop_assert_eq!(sequence.characters().len(), text.chars().count());
    }

    #[test]
    fn packs_round_trip(numbers in vec(any::<i32>(), 1..9), big_endian in any::<bool>()) {
        let values: Vec<PackValue> = numbers.iter().map(|number| PackValue::Number(f64::from(*number))).collect();
        let format = format!("{}{}i", if big_endian { "*" } else { "" }, numbers.len());
        prop_assert_eq!(Sequence::pack(&format, &values).unwrap().unpack(0, &format).unwrap(), values);
    }

    #[test]
    fn order_is_that_of_bytes_and_agrees_with_equality(left in any_bytes(), right in any_bytes()) {
        let (one, other) = (Sequence::from_bytes(&left), Sequence::from_bytes(&right));
        prop_assert_eq!(one.compare(&other), left.cmp(&right));
        prop_assert_eq!(one.equals(&other), left == right);
        prop_assert_eq!(hash_of(&one), hash_of(&Sequence::from_bytes(&left)));
    }

    #[test]
    fn no_content_and_no_mixture_of_types_panics(one in any_sequence(), other in any_sequence(), index in -50i64..50) {
        let _ = (one.compare(&other), one.equals(&other), one.find_seq(&other, 0), one.reverse_find_seq(&other, None));
        let _ = (one.split(&[&other]), one.as_number(), one.to_text(), one.characters(), one.as_hex());
        let _ = (one.path_component(), one.file_name(), one.before_seq(&other), one.between_seq(Some(&other), None));
        let mut changed = one.clone();
        let _ = changed.at_put(index, -1.5);
        changed.append_seq(&other);
        changed.replace_seq(&other, &one).unwrap();
        changed.replace_range(1, 3, &other);
        changed.strip(Some(&other));
        changed.escape();
        changed.unescape();
        changed.translate(&one, &one).unwrap();
        changed.remove_slice(index, 3);
        changed.normalize();
        changed.sort();
        changed.convert_to_ucs2();
        changed.capitalize();
        prop_assert_eq!(changed.size_in_bytes(), changed.len() * changed.item_size());
    }

    #[test]
    fn small_numbers_print_and_parse_back(numerator in -1_000_000i32..1_000_000, shift in 0u32..12) {
        let number = f64::from(numerator) / f64::from(1u32 << shift);
        prop_assert_eq!(number_text::parse_number(&number_text::format_number(number)), Some(number));
    }
}
