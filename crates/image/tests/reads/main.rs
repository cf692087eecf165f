//! What a program read is known: whatever else changes in the image, the program does the same again; and what does not
//! concern it is told from what does.

#[path = "../lab/mod.rs"]
mod lab;

mod completeness;

use image::{Embedder, Image, ReadSet};
use lab::{answer, in_a_copy};
use language::{Error, Function, Host, Limits, NONE, Output, Value, Vm};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use tempfile::TempDir;

const FUEL: u64 = 1 << 20;

/// Machines with a clock, whose output is kept.
#[derive(Clone, Default)]
struct Heard(Rc<RefCell<Vec<u8>>>);

impl Output for Heard {
    fn write(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().extend_from_slice(bytes);
    }
}

impl Heard {
    fn on(&self, make: fn(Host) -> Vm) -> Vm {
        let mut vm = make(Host { output: Some(Box::new(self.clone())), ..Host::default() });
        vm.bind("Date.clock", NONE, Function::Plain(|_, _| Ok(Value::number(12.0))));
        vm
    }
}

impl Embedder for Heard {
    fn newborn(&self) -> Vm {
        self.on(Vm::new)
    }

    fn bare(&self) -> Vm {
        self.on(Vm::bare)
    }
}

/// What a run did, as far as anybody can notice.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Ran {
    output: String,
    result: String,
    fuel: u64,
}

struct Bench {
    image: Image,
    heard: Heard,
}

impl Bench {
    fn new(directory: &Path, state: &str) -> Bench {
        let heard = Heard::default();
        let image = Image::create(directory, &image::Options::default(), Box::new(heard.clone())).expect("a new image");
        let mut bench = Bench { image, heard };
        answer(&mut bench.image, &format!("{state}; nil"));
        bench
    }

    /// Runs something and leaves nothing of it.
    fn run(&mut self, source: &str) -> Ran {
        self.image.vm_mut().set_limits(Limits { fuel: Some(FUEL), depth: 200, ..Limits::default() });
        self.heard.0.borrow_mut().clear();
        let actor = self.image.store().mint_actor().expect("an actor");
        let ended = self.image.imagine(actor, |vm| {
            let value = vm.evaluate(source, "test")?;
            vm.to_text(value)
        });
        let result = match ended.expect("the image is sound") {
            Ok(imagined) => imagined.value,
            Err(Error::Exception(exception)) => format!("{exception} {:?}", exception.trace),
            Err(error) => error.to_string(),
        };
        let fuel = FUEL - self.image.vm().fuel_left().unwrap_or(0);
        Ran { output: String::from_utf8_lossy(&self.heard.0.borrow()).into_owned(), result, fuel }
    }

    fn recorded(&mut self, source: &str) -> (Ran, ReadSet) {
        self.image.record_reads().expect("it can be woken");
        let ran = self.run(source);
        (ran, self.image.take_reads())
    }

    /// Whether what a program read is concerned by what another one writes.
    fn concerns(&mut self, reads: &ReadSet, writes: &[&str]) -> bool {
        let since = self.image.store().last_commit();
        writes.iter().for_each(|source| drop(answer(&mut self.image, &format!("{source}; nil"))));
        assert!(self.image.store().last_commit() > since, "{writes:?} writes nothing");
        let has_moved = self.image.has_moved(reads, since).expect("the history is there");
        let told = ReadSet::encode_all(&[&ReadSet::default(), reads]);
        let has_any = self.image.has_any_moved(&told, since).expect("the history is there");
        assert_eq!(has_any, has_moved, "as it is told");
        // Wherever the commits are by then.
        self.image.store().checkpoint().expect("a checkpoint");
        assert_eq!(self.image.has_moved(reads, since).expect("the history is there"), has_moved, "{writes:?}, applied");
        has_moved
    }
}

/// After a program each of these is inside of what it read, and none of those.
fn check(state: &str, program: &str, inside: &[&str], outside: &[&str]) {
    let directory = TempDir::new().expect("a directory");
    let mut bench = Bench::new(directory.path(), state);
    let (plain, (recorded, reads)) = (bench.run(program), bench.recorded(program));
    assert_eq!(plain, recorded, "{program}");
    assert!(!reads.asked_host(), "{program}");
    // In a memory that others have used it is the same.
    for other in ["nil", "Lobby slotNames map(asUppercase) sort", program] {
        bench.recorded(other);
        assert_eq!(bench.recorded(program), (recorded.clone(), reads.clone()), "{program} after {other}");
    }
    for source in outside {
        assert!(!bench.concerns(&reads, &[source]), "{program} does not read {source}");
        assert_eq!(bench.run(program), plain, "{source}");
    }
    for source in inside {
        assert!(bench.concerns(&reads, &[source]), "{program} reads {source}");
    }
}

const ACCOUNT: &str =
    "Account := Object clone do(balance := 10; rate := 2; tax := method(balance * rate); idle := method(1))";
const LINEAGE: &str =
    "Base := Object clone do(x := 1; y := 2); Middle := Base clone; Leaf := Middle clone; Other := Base clone";

#[test]
fn a_slot_that_was_read_is_inside_and_its_neighbours_are_not() {
    let outside =
        ["Account rate = 3", "Account fresh := 1", "Account idle = method(2)", "Account removeSlot(\"rate\")"];
    check(ACCOUNT, "Account balance", &["Account balance = 11"], &outside);
    check(ACCOUNT, "Account balance", &["Account removeSlot(\"balance\")"], &outside);
}

#[test]
fn other_slots_of_the_lobby_are_outside() {
    let outside = ["unread = 3", "fresh := 1", "Lobby another := Object clone", "Lobby removeSlot(\"unread\")"];
    check("seen := 1; unread := 2", "seen + 1", &["seen = 4"], &outside);
}

#[test]
fn a_slot_that_comes_before_the_one_that_was_found_is_inside() {
    let outside = ["Base y = 3", "Middle y := 4", "Other x := 5", "Object zz := 1"];
    check(LINEAGE, "Leaf x", &["Middle x := 2"], &outside);
    check(LINEAGE, "Leaf x", &["Leaf x := 2"], &outside);
    check(LINEAGE, "Leaf x", &["Base x = 2"], &outside);
}

/// What one of them answered is remembered by shape, and the other must be seen all the same.
#[test]
fn objects_of_one_shape_are_told_apart() {
    let state = "A := Object clone do(x := 1); p := A clone; q := A clone; \
                 v := A clone do(x := 2); w := A clone do(x := 3); u := v";
    for program in ["p x; q x", "q x; p x", "list(p, q) map(x)", "2 repeat(p x; q x)"] {
        check(state, program, &["p x := 5"], &["v x = 5"]);
        check(state, program, &["q x := 5"], &["w x = 5"]);
    }
    for program in ["v x; w x", "w x; v x", "list(v, w) map(x)", "u x; w x"] {
        check(state, program, &["v x = 5"], &["p x := 5"]);
        check(state, program, &["w x = 5"], &["q x := 5"]);
    }
    // A clone that the program made, and the image's object beside it.
    check(state, "A clone x; A clone do(x := 7) x; p x", &["p x := 5"], &["q x := 5"]);
}

#[test]
fn a_name_that_nobody_had_is_inside_wherever_it_appears() {
    for holder in ["Leaf", "Middle", "Base", "Object", "Lobby", "Core", "Protos"] {
        check(
            LINEAGE,
            "Leaf hasSlot(\"nope\")",
            &[&format!("{holder} nope := 1")],
            &["Other nope := 1", "Base z := 1"],
        );
    }
}

#[test]
fn other_protos_on_the_way_are_inside() {
    for relinked in ["Leaf setProtos(list(Other))", "Middle appendProto(Other)", "Base prependProto(Object clone)"] {
        check(LINEAGE, "Leaf x", &[relinked], &["Other setProtos(list(Object))"]);
        check(LINEAGE, "Leaf isKindOf(Object)", &[relinked], &["Base x = 2", "Other setProtos(list(Object))"]);
    }
}

#[test]
fn contents_are_read_whole() {
    let state = "l := list(1, 2); m := Map clone atPut(\"k\", 1); s := \"ab\" asMutable; n := Number clone; other := list(1); \
                 p := Object clone do(deep := list(1, 2))";
    let outside = ["other append(2)", "p deep append(3)", "l note := 1"];
    for inside in ["l append(3)", "l atPut(0, 5)", "l removeFirst"] {
        check(state, "l first", &[inside], &outside);
    }
    for inside in ["m atPut(\"k\", 2)", "m atPut(\"j\", 1)", "m removeAt(\"k\")"] {
        check(state, "m at(\"k\")", &[inside], &outside);
    }
    check(state, "s size", &["s appendSeq(\"c\")"], &outside);
    check(state, "l foreach(i, i)", &["l sortInPlaceBy(block(a, b, a > b))"], &outside);
}

#[test]
fn a_method_is_read_with_all_of_its_messages() {
    let outside = ["Account idle = method(2)", "Account getSlot(\"idle\") setMessage(message(3))"];
    for inside in [
        "Account tax = method(0)",
        "Account getSlot(\"tax\") setMessage(message(balance))",
        "Account getSlot(\"tax\") message next setName(\"-\")",
        "Account getSlot(\"tax\") message next argAt(0) setName(\"balance\")",
        "Account rate = 5",
        "Number do(setSlot(\"*\", method(n, 1)))",
    ] {
        check(ACCOUNT, "Account tax", &[inside], &outside);
    }
}

#[test]
fn who_asks_which_slots_there_are_sees_them_come_and_go() {
    let state = "o := Object clone do(a := 1; b := 2); p := o clone";
    for program in ["o slotNames", "o ownsSlots", "o foreachSlot(name, value, name)", "o slotValues", "o shallowCopy a"]
    {
        for inside in ["o c := 1", "o removeSlot(\"b\")"] {
            check(state, program, &[inside], &["p a := 1", "o clone d := 1; Lobby q := 1"]);
        }
    }
    check(state, "o slotNames", &[], &["o a = 5"]);
    for program in ["o slotValues", "o foreachSlot(name, value, name)", "o shallowCopy a"] {
        check(state, program, &["o a = 5"], &[]);
    }
    check(state, "o hasLocalSlot(\"c\")", &["o c := 1"], &["o d := 1", "o a = 2"]);
}

#[test]
fn who_asks_for_objects_of_a_kind_sees_nothing_of_others() {
    let state = "A := Object clone; o := Object clone do(a := A clone; b := Object clone; n := 1; l := list(1); m := Map clone)";
    let program = "o slotNamesOfKind(A) sort";
    let outside = ["o n = 2", "o l append(2)", "o m atPut(\"k\", 1)", "o a x := 1", "o s := 5", "o l x := 1"];
    for inside in
        ["o n = A clone", "o removeSlot(\"a\")", "o c := A clone", "o b setProto(A)", "o a = 1", "o l = A clone"]
    {
        check(state, program, &[inside], &outside);
    }
}

#[test]
fn what_is_again_what_it_was_has_not_changed() {
    let directory = TempDir::new().expect("a directory");
    let mut bench =
        Bench::new(directory.path(), "x := 1; o := Object clone do(a := 1; b := 2); m := Map clone atPut(\"k\", 1)");
    let (_, reads) = bench.recorded("x; o a; m at(\"k\")");
    assert!(!bench.concerns(&reads, &["x = 2", "x = 1"]));
    assert!(!bench.concerns(&reads, &["o removeSlot(\"a\")", "o a := 1"]), "its place among the slots was not read");
    assert!(!bench.concerns(&reads, &["m atPut(\"k\", 2)", "m atPut(\"k\", 1)"]));
    assert!(bench.concerns(&reads, &["m removeAt(\"k\")", "m atPut(\"k\", 1)"]), "it may be in another place");
    let (_, listed) = bench.recorded("o slotNames");
    assert!(bench.concerns(&listed, &["o removeSlot(\"a\")", "o a := 1"]));
}

#[test]
fn a_rollback_takes_no_read_back() {
    let state = "x := 1; y := 2; z := 3; o := Object clone do(a := 1; b := 2)";
    for program in [
        "World clone run(x; o a = 5); y",
        "try(transaction(x; o a = 5; Exception raise(\"no\"))); y",
        "w := World clone; w run(o a = x); w run(o a); y",
    ] {
        check(state, program, &["x = 5"], &["z = 5", "o b = 5", "new := 1"]);
    }
}

#[test]
fn a_collection_loses_no_read() {
    let directory = TempDir::new().expect("a directory");
    let mut bench = Bench::new(directory.path(), "holder := Object clone do(held := Object clone do(a := 1))");
    bench.image.record_reads().expect("it can be woken");
    // Nothing reaches what was read any more, and its place is used again.
    let ran = bench
        .run("holder held a; holder held = nil; Collector collect; 10000 repeat(Object clone); Collector collect; 1");
    assert_eq!(ran.result, "1");
    let reads = bench.image.take_reads();
    assert!(!bench.concerns(&reads, &["holder held b := 1"]));
    assert!(bench.concerns(&reads, &["holder held a = 2"]));
}

#[test]
fn what_no_object_decides_is_told() {
    let directory = TempDir::new().expect("a directory");
    let mut bench = Bench::new(directory.path(), "o := Object clone; p := Object clone");
    for source in [
        "Date clock",
        "Random systemValue",
        "o uniqueId",
        "o < p",
        "list(o, p) sort",
        "Collector collect",
        "System symbols",
    ] {
        assert!(bench.recorded(source).1.asked_host(), "{source}");
    }
    for source in ["Collector collect", "Collector objectCount", "System symbols"] {
        assert!(bench.recorded(source).1.asked_machine(), "{source}");
    }
    for source in ["UnitTest assertSame(o, o)", "UnitTest assertNotSame(o, p)", "o isIdenticalTo(p)"] {
        assert!(!bench.recorded(source).1.asked_host(), "{source}");
    }
    for source in ["o == p", "list(o, p) contains(3)", "list(o) == list(p)", "1 < 2", "o != nil", "Date clone year"] {
        assert!(!bench.recorded(source).1.asked_host(), "{source}");
    }
}

#[test]
fn a_machine_goes_on_as_before_when_nobody_records() {
    let directory = TempDir::new().expect("a directory");
    let mut bench = Bench::new(directory.path(), ACCOUNT);
    let before = bench.run("Account tax");
    let (_, reads) = bench.recorded("Account tax");
    assert_eq!(bench.run("Account tax"), before);
    assert_eq!(answer(&mut bench.image, "Account balance = 7; Account tax"), "14");
    assert!(bench.image.take_reads().asked_host(), "of what nobody recorded nothing is known");
    assert!(bench.image.has_moved(&ReadSet::unknown(), 1).expect("the history is there"));
    assert_eq!(ReadSet::decode(&reads.encode()), Some(reads.clone()));
    let bytes = reads.encode();
    assert!((0..bytes.len()).all(|end| ReadSet::decode(&bytes[..end]).is_none()));
    assert_eq!(ReadSet::decode(&[&bytes[..], &[0]].concat()), None);
}

/// As a verifier does it: a copy of the image reads, live goes on, and asks whether that matters.
#[test]
fn what_a_copy_read_is_understood_by_live() {
    for (write, is_inside) in [("Account balance = 11", true), ("Account idle = method(2)", false)] {
        let directory = TempDir::new().expect("a directory");
        let mut bench = Bench::new(directory.path(), ACCOUNT);
        let read = |image: &mut Image| {
            answer(image, "Account rate = 3; Lobby dreamt := 1");
            image.record_reads().expect("it can be woken");
            assert_eq!(answer(image, "Account tax + dreamt"), "31");
            let bytes = image.take_reads().encode();
            bytes.iter().map(|byte| format!("{byte:02x}")).collect()
        };
        let (said, point) = in_a_copy(&mut bench.image, read, |image| drop(answer(image, write)));
        let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ascii"), 16).expect(&said);
        let bytes: Vec<u8> = said.as_bytes().chunks(2).map(digits).collect();
        let reads = ReadSet::decode(&bytes).expect("it was written so");
        assert_eq!(bench.image.has_moved(&reads, point.commit).expect("the history is there"), is_inside, "{write}");
    }
}

#[test]
fn a_call_to_the_world_outside_changes_nothing() {
    let directory = TempDir::new().expect("a directory");
    let mut bench = Bench::new(directory.path(), "x := 1");
    let (_, reads) = bench.recorded("x");
    let since = bench.image.store().last_commit();
    let call = object::change::Operation::Call { name: "http".into(), payload: object::change::Datum::Nil };
    bench.image.note_calls(vec![call]).expect("it can be noted");
    assert!(!bench.image.has_moved(&reads, since).expect("the history is there"));
}
