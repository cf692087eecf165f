//! What Io's own tests of Sequence and Vector expect of the data, where the tests beside the code do not yet say it.

use object::sequence::{Encoding, ItemType, Operand, Operator, Sequence, SequenceError};

fn text(source: &str) -> Sequence {
    Sequence::from(source)
}

/// The text after a change that must succeed.
fn changed(source: &str, change: impl FnOnce(&mut Sequence) -> Result<(), SequenceError>) -> String {
    let mut sequence = text(source);
    change(&mut sequence).expect("the suite expects this change to succeed");
    sequence.to_text()
}

#[test]
fn a_fresh_sequence_is_empty_utf8() {
    let sequence = Sequence::default();
    assert_eq!((sequence.len(), sequence.item_type().name(), sequence.encoding().name()), (0, "uint8", "utf8"));
}

#[test]
fn reads_items_and_nothing_past_the_end() {
    assert_eq!(text("abc").at(0), Some(97.0));
    assert_eq!(text("abc").at(3), None);
}

#[test]
fn lists_floats_as_numbers() {
    let mut vector = Sequence::with_type(ItemType::Float32, Encoding::Number);
    vector.set_numbers(&[-0.5, 0.0, 0.5]).expect("three items fit");
    assert_eq!(vector.numbers().collect::<Vec<_>>(), [-0.5, 0.0, 0.5]);
}

#[test]
fn prepends_several_in_order() {
    for (source, others, expected) in
        [("", vec![""], ""), ("a", vec!["1"], "1a"), ("a", vec!["1", "2", "3"], "123a"), ("", vec!["123"], "123")]
    {
        let others: Vec<Sequence> = others.into_iter().map(text).collect();
        let mut sequence = text(source);
        sequence.prepend_seq(&others);
        assert_eq!(sequence, text(expected));
    }
}

#[test]
fn replaces_by_map() {
    let pairs = [(text("a"), text("BB")), (text("c"), text("CC"))];
    assert_eq!(changed("abc", |it| it.replace_map(pairs.iter().map(|(from, to)| (from, to)))), "BBbCC");
}

#[test]
fn leaves_and_inserts_periodically() {
    assert_eq!(changed("abc", |it| it.insert_seq_every(&text(".."), 1)), "a..b..c..");
    assert_eq!(changed("abc", |it| it.leave_then_remove(1, 0)), "abc");
    assert_eq!(changed("abcd", |it| it.leave_then_remove(1, 2)), "ad");
}

#[test]
fn copies_and_concatenates() {
    let mut sequence = text("abc");
    sequence.copy(&text("123"));
    assert_eq!(sequence, text("123"));
    assert_eq!(text("abc").clone_append_seq(&text("def")), text("abcdef"));
}

#[test]
fn vectors_lose_items_like_text() {
    let removed = |start, end| {
        let mut vector = Sequence::vector(&[0.0, 1.0, 2.0]);
        vector.remove_slice(start, end);
        vector.numbers().collect::<Vec<_>>()
    };
    assert_eq!(removed(1, 1), [0.0, 2.0]);
    assert_eq!(removed(2, 1), [0.0, 1.0, 2.0]);
    assert_eq!(removed(0, 2), [0.0; 0]);
    assert_eq!(removed(1, 8), [0.0]);
    assert_eq!(removed(-8, 1), [2.0]);
    let mut vector = Sequence::vector(&[0.0, 1.0, 2.0]);
    assert_eq!((vector.remove_at(1), vector.remove_at(5)), (Some(1.0), None));
}

#[test]
fn operators_leave_the_receiver_alone() {
    let vector = Sequence::vector(&[1.0, 2.0]);
    let sum = vector.applied(Operator::Add, Operand::Sequence(&vector)).expect("both are vectors");
    assert_eq!((vector.sum(), sum.sum()), (3.0, 6.0));
}

#[test]
fn unicode_text_is_the_same_however_it_was_made() {
    let whole = text("Hello, world!\nЗдравствуй, мир!\nこの世界お。今日は！\n");
    let parts = text("Hello, world!\nЗдравствуй, мир!\n").clone_append_seq(&text("この世界お。今日は！\n"));
    assert!(whole.as_utf8().equals(&parts.as_utf8()));
    assert!(whole.as_ucs4().equals(&parts.as_ucs4()));
}
