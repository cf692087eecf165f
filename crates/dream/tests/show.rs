//! What a person and a program are shown of a dream that happened in a real image.

#[path = "lab/fork.rs"]
mod fork;
mod lab;

use dream::show::{Nameless, diff, to_json};
use dream::{Answered, Call, Journal};
use fork::Forked;
use lab::{Dreamer, FORK, live, own};
use object::change::*;
use serde_json::Value;
use std::ops::ControlFlow;
use store::NewCommit;
use testkit::Random;

const BEFORE: &[&str] = &[
    "Account := Object clone do(balance := 0; old := 1; total := method(x, x * 1.1))",
    "words := list(\"a\", \"b\", \"c\"); prices := Map with(\"tea\", 3); draft := \"abc\" asMutable",
];

fn shown(sources: &[&str]) -> String {
    let mut forked = Forked::new(BEFORE);
    let journal = forked.dream(sources);
    without_ids(&diff(&journal, &forked).to_string())
}

/// Ids of objects are those of the library, which grows.
fn without_ids(text: &str) -> String {
    let lines = text.lines().map(|line| match (line.starts_with(' '), line.find(" (")) {
        (false, Some(at)) => match line[at..].find(')') {
            Some(end) => format!("{}{}", &line[..at], &line[at + end + 1..]),
            None => line.to_string(),
        },
        _ => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_method_reads_as_a_person_would_write_it() {
    let text = shown(&["Account total = method(x, x * 1.2)"]);
    assert_eq!(text, "Account\n  - total := method(x, x * 1.1)\n  + total := method(x, x * 1.2)");
}

#[test]
fn a_long_method_has_a_line_for_each_statement() {
    let text = shown(&[
        "Account deposit := method(amount, note,\n  balance = balance + amount * (1 + 2)\n  if(amount > 100 and note != nil,\n  writeln(\"large: \", note)\n  audit := true\n)\n  -amount abs; self)",
    ]);
    let expected = "\
Account
  + deposit := method(amount, note,
  +     balance = balance + amount * (1 + 2)
  +     if(amount > 100 and note != nil,
  +         writeln(\"large: \", note)
  +         audit := true
  +     )
  +     -amount abs
  +     self
  + )";
    assert_eq!(text, expected);
}

#[test]
fn new_objects_have_a_path_and_what_is_in_them() {
    let text = shown(&[
        "Savings := Account clone do(rate := 0.05; tags := list(1, \"two\", nil); owner := Object clone do(name := \"Ada\"))",
    ]);
    assert!(text.contains("Lobby\n  + Savings := Savings"), "{text}");
    assert!(text.contains("new Savings, a clone of Account\n"), "{text}");
    assert!(text.contains("  + rate := 0.05\n"), "{text}");
    assert!(text.contains("  + tags := list(1, \"two\", nil)"), "{text}");
    assert!(text.contains("new Savings owner, a clone of Object\n"), "{text}");
    assert!(text.contains("  + name := \"Ada\""), "{text}");
}

#[test]
fn what_is_removed_or_edited_is_shown_with_what_was() {
    let text = shown(&[
        "Account removeSlot(\"old\"); Account balance = 7",
        "words append(\"d\"); words removeAt(0); words atPut(0, \"B\")",
        "prices atPut(\"tea\", 4) atPut(\"milk\", 1)",
        "draft appendSeq(\"def\")",
    ]);
    for part in [
        "  - old := 1",
        "  - balance := 0\n  + balance := 7",
        "  - at \"tea\": 3\n  + at \"tea\": 4",
        "  + at \"milk\": 1",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(text.contains("words\n") && text.contains("  - at 0: \"a\"") && text.contains("\"d\""), "{text}");
    assert!(text.contains("draft\n  + at 3: \"def\""), "{text}");
}

#[test]
fn what_is_again_as_it_was_is_not_shown() {
    assert_eq!(shown(&["Account balance = 5", "Account balance = 0"]), "");
}

#[test]
fn a_method_that_is_changed_in_its_place_is_shown_whole() {
    let text = shown(&["Account getSlot(\"total\") message setName(\"y\")"]);
    assert!(text.contains("+ message(y * 1.1)") && text.contains("- message(x * 1.1)"), "{text}");
}

fn journal_of(operations: Vec<(ObjectId, Operation)>) -> Journal {
    let change = |(index, (object, operation)): (usize, (ObjectId, Operation))| {
        let id = own(index as u64 + 1);
        match operation {
            Operation::Create(creation) => Change::create(id, FORK.forked, *creation),
            operation => Change::new(id, FORK.forked, object, operation),
        }
    };
    let changes = operations.into_iter().enumerate().map(change).collect();
    lab::journal(&[NewCommit { time: FORK.forked, changes, ..NewCommit::default() }])
}

const BLOCK_FLAGS: u32 = 5 << 1;
const MESSAGE_FLAGS: u32 = 6 << 1;

fn message(name: &str, literal: Datum, next: Datum) -> Operation {
    let fields = [Datum::text(name), next, literal, Datum::text("label"), 1.0.into(), 1.0.into()];
    let body = Body::Data(Datum::record(fields));
    Operation::Create(Box::new(Creation { kind: 6, flags: MESSAGE_FLAGS, body, ..Creation::default() }))
}

fn method(body: u64) -> Operation {
    let body =
        Body::Data(Datum::record([Datum::Object(ObjectId::minted(own(body))), Datum::Nil, Datum::Boolean(false)]));
    Operation::Create(Box::new(Creation { kind: 5, flags: BLOCK_FLAGS, body, ..Creation::default() }))
}

/// The machine takes a literal's value, whatever its name says.
#[test]
fn a_literal_that_lies_about_itself_is_shown_as_what_it_is() {
    let journal = journal_of(vec![
        (live(1), method(2)),
        (live(1), message("\"harmless\"", Datum::text("rm -rf"), Datum::Nil)),
        (live(1), Operation::set_slot("run", ObjectId::minted(own(1)))),
    ]);
    let text = diff(&journal, &Nameless).to_string();
    assert!(text.contains("+ run := method(\"rm -rf\")") && !text.contains("harmless"), "{text}");
}

#[test]
fn a_name_that_looks_like_code_is_marked() {
    let journal = journal_of(vec![
        (live(1), method(2)),
        (live(1), message("safe // ", Datum::Absent, Datum::Object(ObjectId::minted(own(3))))),
        (live(1), message("harm", Datum::Absent, Datum::Nil)),
        (live(1), Operation::set_slot("run", ObjectId::minted(own(1)))),
    ]);
    let text = diff(&journal, &Nameless).to_string();
    assert!(text.contains("not what it looks like"), "{text}");
}

/// A message that is its own argument, shared by thousands of slots, is no endless text.
#[test]
fn code_that_goes_in_circles_ends() {
    let itself = Datum::Object(ObjectId::minted(own(2)));
    let fields = [
        Datum::text("m"),
        itself.clone(),
        Datum::Absent,
        Datum::text("l"),
        1.0.into(),
        1.0.into(),
        itself.clone(),
        itself,
    ];
    let body = Body::Data(Datum::record(fields));
    let circle = Operation::Create(Box::new(Creation { kind: 6, flags: MESSAGE_FLAGS, body, ..Creation::default() }));
    let mut operations = vec![(live(1), method(2)), (live(1), circle)];
    let set = |number: usize| (live(1), Operation::set_slot(&format!("s{number}"), ObjectId::minted(own(1))));
    operations.extend((0..2_000).map(set));
    let text = diff(&journal_of(operations), &Nameless).to_string();
    assert!(text.contains("+ s1999 := method(m)"), "{}", &text[..200]);
}

#[test]
fn a_terminal_is_left_alone() {
    let operation = Operation::set_slot("a\x1b[2J", Datum::text("b\x1b]0;title\x07"));
    let call = Call::operation("get\r", &[Datum::text("\u{202e}")], Answered::Failed, Datum::text("no\n"));
    let text = diff(&journal_of(vec![(live(1), operation), (live(1), call)]), &Nameless).to_string();
    assert!(text.chars().all(|letter| letter == '\n' || !letter.is_control()), "{text:?}");
    assert!(!text.contains('\u{202e}') && text.contains("calls to the world outside"), "{text:?}");
}

#[test]
fn calls_are_shown_with_their_answers() {
    let call = Call::operation(
        "http get",
        &[Datum::text("https://example.org"), 3.0.into()],
        Answered::Simulated,
        Datum::bytes(b"hello"),
    );
    let text = diff(&journal_of(vec![(live(1), call)]), &Nameless).to_string();
    assert_eq!(text, "calls to the world outside\n    http get(\"https://example.org\", 3) → \"hello\" (simulated)\n");
}

/// Whatever a dreamer may send can be shown, by its ids alone.
#[test]
fn anything_can_be_shown() {
    for seed in 0..300 {
        let journal = lab::journal(&Dreamer::new(&mut Random::new(seed)).commits(6));
        let _ = diff(&journal, &Nameless).to_string();
        let mut count = 0;
        to_json(&journal, &Nameless, &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(count, journal.changes().count());
    }
}

fn json(journal: &Journal, names: &dyn dream::show::Names) -> Vec<Value> {
    let mut told = Vec::new();
    to_json(journal, names, &mut |change| {
        told.push(change);
        ControlFlow::Continue(())
    });
    told
}

#[test]
fn json_has_the_form_of_the_seed() {
    let mut forked = Forked::new(BEFORE);
    let journal = forked.dream(&[
        "Account balance = 7",
        "Account limit := 9",
        "Account limit = 10",
        "Account removeSlot(\"old\")",
    ]);
    let told = json(&journal, &forked);
    let lines: Vec<(&str, &str)> =
        told.iter().filter_map(|each| Some((each["operation"].as_str()?, each["slot_name"].as_str()?))).collect();
    assert_eq!(lines, [("SLOT_SET", "balance"), ("SLOT_ADD", "limit"), ("SLOT_SET", "limit"), ("SLOT_REMOVE", "old")]);
    let first = &told[0];
    assert_eq!(
        (&first["object_name"], &first["value"], &first["change_id"]),
        (&"Account".into(), &7.0.into(), &"1@7".into())
    );
    assert!(first["object_id"].is_string() && first["time"].is_u64() && first["commit"] == 1, "{first}");
}

#[test]
fn json_names_every_operation() {
    let mut forked = Forked::new(BEFORE);
    let journal = forked.dream(&[
        "Account twice := method(x, x * 2)",
        "words append(\"d\"); words removeAt(0)",
        "prices atPut(\"milk\", 1); prices removeAt(\"tea\")",
        "draft appendSeq(\"def\")",
        "Account appendProto(Object clone)",
    ]);
    let told = json(&journal, &forked);
    let has = |name: &str| told.iter().any(|each| each["operation"] == name);
    for name in [
        "SLOT_ADD",
        "PROTOTYPE_CLONE",
        "LIST_INSERT",
        "LIST_DELETE",
        "MAP_PUT",
        "MAP_REMOVE",
        "SEQUENCE_INSERT",
        "PROTOS_SET",
    ] {
        assert!(has(name), "{name}: {told:#?}");
    }
    let twice = told.iter().find(|each| each["slot_name"] == "twice").expect("the slot");
    assert_eq!(twice["value"]["source"], "method(x, x * 2)");
    let call = Call::operation("get", &[Datum::text("x")], Answered::Blocked, Datum::text("no"));
    let told = json(&journal_of(vec![(live(1), call)]), &Nameless);
    assert_eq!(
        (&told[0]["operation"], &told[0]["call"], &told[0]["answered"]),
        (&"FFI_CALL".into(), &"get".into(), &"blocked".into())
    );
    assert_eq!((&told[0]["arguments"][0], &told[0]["value"]), (&"x".into(), &"no".into()));
}

/// Two bytes stand for a long text once it has been said: what is shown of a small journal is not gigabytes.
#[test]
fn there_is_an_end_to_what_is_shown() {
    // One text, which all of them share.
    let long = Datum::text(&"x".repeat(60_000));
    let items = Run::items(std::iter::repeat_n(long, 100_000));
    let insert = |_| (live(1), Operation::Insert { line: Line::Items, index: 0, run: items.clone() });
    let mut operations: Vec<(ObjectId, Operation)> = (0..2).map(insert).collect();
    let body = Body::Elements(items.clone());
    operations
        .push((live(1), Operation::Create(Box::new(Creation { kind: 3, flags: 3 << 1, body, ..Creation::default() }))));
    let journal = journal_of(operations);
    let text = diff(&journal, &Nameless).to_string();
    assert!(text.len() < 128 << 20 && text.contains("lines more"), "{} bytes", text.len());
    let mut first = String::new();
    to_json(&journal, &Nameless, &mut |change| {
        first = change.to_string();
        ControlFlow::Break(())
    });
    assert!(first.len() < 128 << 20 && first.contains("left_out"), "{} bytes", first.len());
}
