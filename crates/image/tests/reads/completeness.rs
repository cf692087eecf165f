//! Nothing is missing from what was read: a program does the same again when everything else in the image is ruined.

use super::{Bench, Heard};
use crate::lab::{cases, seed};
use image::{Cause, Image, Options, ReadSet};
use object::change::{ActorId, ChangeId, Creation, Datum, Field, Line, ObjectId, Operation};
use std::path::Path;
use store::{IMAGE, LOG};
use tempfile::TempDir;
use testkit::Random;

/// What the generated programs print with. An object is printed as its type: where it lies is nobody's business.
const TOOLS: &str = "
    trace := method(value,
        isPlain := getSlot(\"value\") isKindOf(Number) or getSlot(\"value\") isKindOf(Sequence)
        write(if(isPlain, value, getSlot(\"value\") type), \"\\n\")
        getSlot(\"value\"))
    gc := method(nil)";

/// Where what a generated program does begins, behind what it defines.
const BEGIN: &str = "\ne := try(";

fn opened(template: &Path, directory: &Path) -> Bench {
    for name in [LOG, IMAGE] {
        std::fs::copy(template.join(name), directory.join(name)).expect("it can be copied");
    }
    let heard = Heard::default();
    let image = Image::open(directory, &Options::default(), Box::new(heard.clone())).expect("it opens");
    Bench { image, heard }
}

/// Every object of the image.
fn objects(image: &Image) -> Vec<(ObjectId, Creation)> {
    let next = image.store().next_change();
    let id = |seq| ObjectId::minted(ChangeId::new(ActorId(next.actor.0), seq));
    let read = |seq| Some((id(seq), image.store().read(id(seq)).expect("it can be read")?));
    (1..next.seq).filter_map(read).collect()
}

/// Changes of everything that was not read, and of nothing else.
fn ruin(reads: &ReadSet, objects: &[(ObjectId, Creation)], random: &mut Random) -> Vec<(ObjectId, Operation)> {
    let names: Vec<&str> =
        vec!["x", "y", "s", "m", "forward", "init", "type", "if", "+", "call", "asString", "neverAsked"];
    let mut ruins = Vec::new();
    for (object, creation) in objects {
        let is_unread = |operation: &Operation| {
            let change = object::change::Change::new(
                ChangeId::new(ActorId(1), 1),
                Default::default(),
                *object,
                operation.clone(),
            );
            let was = |_, field: &Field| match field {
                Field::Slot(name) => {
                    let slot = creation.slots.iter().find(|(slot, _)| slot == name);
                    slot.map_or(Datum::Absent, |(_, value)| value.clone())
                }
                _ => Datum::Absent,
            };
            !reads.is_touched_by([&change], was)
        };
        let mut add = |operation: Operation| {
            if is_unread(&operation) {
                ruins.push((*object, operation));
            }
        };
        for (name, _) in &creation.slots {
            let value = if random.chance(30) { Datum::Absent } else { Datum::number(4711.0) };
            add(Operation::Put { field: Field::Slot(name.clone()), value });
        }
        for name in &names {
            if creation.slots.iter().all(|(slot, _)| slot.as_bytes() != name.as_bytes()) {
                add(Operation::set_slot(name, 4712.0));
            }
        }
        if !creation.protos.is_empty() {
            add(Operation::Delete { line: Line::Protos, index: 0, count: creation.protos.len() as u64 });
        }
    }
    ruins
}

/// A program runs, all that it did not read is ruined, and it runs again.
fn check(bench: &mut Bench, program: &str, random: &mut Random, when: &str) -> bool {
    let plain = bench.run(program);
    // What others loaded before it is behind the veil.
    bench.recorded("list(3, 1) sort map(n, n + 1) asString; Lobby slotNames sort");
    let (recorded, reads) = bench.recorded(program);
    if reads.asked_host() {
        return false;
    }
    assert_eq!(plain, recorded, "{when}: recording is not seen");
    let since = bench.image.store().last_commit();
    let ruins = ruin(&reads, &objects(&bench.image), random);
    assert!(ruins.len() > 1_000, "{when}: little is left unread");
    bench.image.adopt(&Cause::default(), ruins).expect("it can be committed");
    assert!(!bench.image.has_moved(&reads, since).expect("the history is there"), "{when}");
    let (again, reads_again) = bench.recorded(program);
    assert_eq!(again, recorded, "{when}, with the rest ruined");
    assert_eq!(reads_again, reads, "{when}");
    assert_eq!(bench.run(program), plain, "{when}, compiled");
    true
}

#[test]
fn a_program_does_the_same_again_whatever_it_did_not_read() {
    let seed = seed("reads");
    let template = TempDir::new().expect("a directory");
    let bench = Bench::new(template.path(), TOOLS);
    bench.image.store().checkpoint().expect("it can be applied");
    bench.image.close().expect("it closes");
    let (count, mut checked) = (cases(12, 5_000), 0);
    for case in 0..count as u64 {
        let number = seed.wrapping_mul(1_000_003).wrapping_add(case);
        let when = format!("TELOS_SEED={seed}, case {case}");
        let text = testkit::programs::program(number);
        let (definitions, program) = text.split_at(text.find(BEGIN).expect("it does something"));
        let directory = TempDir::new().expect("a directory");
        let mut bench = opened(template.path(), directory.path());
        crate::lab::answer(&mut bench.image, &format!("{definitions}\nnil"));
        checked += usize::from(check(&mut bench, program, &mut Random::new(number), &format!("{when}:\n{text}")));
    }
    assert!(checked * 2 > count, "most of them ask nothing of the host: {checked} of {count}");
}

/// Programs that reach far: loops, closures, coroutines, exceptions, worlds, texts, all through the library.
const PROGRAMS: &[&str] = &[
    "list(3, 1, 2) sort map(n, n * 2) select(n, n > 2) join(\",\")",
    "l := list(); for(i, 1, 5, l append(i asString)); l reverse",
    "Map clone atPut(\"a\", 1) atPut(\"b\", 2) keys sort",
    "\"hello world\" split(\" \") map(word, word asUppercase) join(\"-\")",
    "e := try(nil foo); e error",
    "Object clone do(x := 1; double := method(x * 2)) double",
    "f := method(n, if(n < 2, n, f(n - 1) + f(n - 2))); f(10)",
    "c := coroutineFor(yield; 1); 2",
    "w := World clone; w run(Lobby qq := 1); Lobby hasSlot(\"qq\")",
    "UnitTest clone do(testIt := method(assertEquals(1, 1); assertTrue(true))) slotNames sort",
    "writeln(\"a\", 1, nil, true); list(1, list(2)) asString",
    "b := block(x, x + 1); b call(2)",
    "1 foo",
];

#[test]
fn the_library_does_the_same_again_whatever_was_not_read() {
    let template = TempDir::new().expect("a directory");
    let bench = Bench::new(template.path(), TOOLS);
    bench.image.store().checkpoint().expect("it can be applied");
    bench.image.close().expect("it closes");
    for (number, program) in PROGRAMS.iter().enumerate() {
        let directory = TempDir::new().expect("a directory");
        let mut bench = opened(template.path(), directory.path());
        let is_checked = check(&mut bench, program, &mut Random::new(number as u64), program);
        assert!(is_checked, "{program} asks the host");
    }
}
