//! Images of released formats must open for ever, with all that Io makes of the store's records: kinds, flags, names of
//! primitives, suspended stacks. If this test must change, old images break.
//!
//! `TELOS_WRITE_FIXTURE=DIRECTORY cargo test -p image --test format` writes an image of the current format there.

mod lab;

use image::{Image, Options};
use lab::{Plain, answer, try_open};
use std::path::Path;
use store::{Checkpoints, IMAGE, LOCK, LOG};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format");

/// What the fixture holds: how it was made, and what it must answer when it is opened.
const CONTENT: &[(&str, &str, &str)] = &[
    (
        "animal := Object clone do(legs := 4; speak := method(n, n .. legs)); dog := animal clone",
        "dog speak(\"x\")",
        "x4",
    ),
    ("words := list(1, 2.5, nil, true, \"text\"); words append(words)", "words at(5) isIdenticalTo(words)", "true"),
    ("prices := Map with(\"a\", 1, \"b\", list(2))", "prices at(\"b\")", "list(2)"),
    ("draft := \"abc\" asMutable; draft appendSeq(\"déf\")", "draft appendSeq(\"!\"); draft", "abcdéf!"),
    (
        "floats := Sequence clone setItemType(\"float32\"); floats append(1.5)",
        "floats itemType .. floats at(0)",
        "float321.5",
    ),
    ("wide := \"日本\"", "wide size", "2"),
    ("counter := block(x, x + 1)", "counter call(41)", "42"),
    ("code := message(1 + 2 * 3)", "code .. \" is \" .. doMessage(code)", "1 +(2 *(3)) is 7"),
    ("five := 5 clone", "five + 1", "6"),
    ("weak := WeakLink clone setLink(animal)", "weak link legs", "4"),
    ("Number double := method(self * 2)", "21 double", "42"),
    (
        "steps := list(); worker := Object clone do(work := method(for(i, 1, 3, Lobby steps append(i); yield)))",
        "steps",
        "list(1)",
    ),
    ("worker @@work; yield", "yield; yield; steps", "list(1, 2, 3)"),
    ("answer := Object clone do(slow := method(yield; yield; 42)) @slow; 1", "answer + 0", "42"),
];

fn options() -> Options {
    let store = store::Options {
        log_bytes: 1 << 20,
        map_bytes: 1 << 28,
        checkpoints: Checkpoints::OnRequest,
        ..store::Options::default()
    };
    Options { store, ..Options::default() }
}

/// Half of it applied to the image, half in the log.
fn write_fixture(directory: &Path) {
    let mut image = Image::create(directory, &options(), Box::new(Plain)).expect("a new image");
    let (first, second) = CONTENT.split_at(CONTENT.len() / 2);
    first.iter().for_each(|(make, ..)| drop(answer(&mut image, make)));
    image.store().checkpoint().expect("a checkpoint");
    second.iter().for_each(|(make, ..)| drop(answer(&mut image, make)));
    image.close().expect("it closes");
    for lock in [LOCK, "telos.img-lock"] {
        std::fs::remove_file(directory.join(lock)).expect("it was there");
    }
}

#[test]
fn an_image_of_format_1_opens() {
    if let Some(directory) = std::env::var_os("TELOS_WRITE_FIXTURE") {
        write_fixture(Path::new(&directory));
    }
    let directory = tempfile::tempdir().expect("a directory");
    for name in [LOG, IMAGE] {
        std::fs::copy(Path::new(FIXTURES).join("1").join(name), directory.path().join(name)).expect("the fixture");
    }
    let mut image = try_open(directory.path(), &options()).expect("it opens");
    for (_, source, expected) in CONTENT {
        assert_eq!(&answer(&mut image, source), expected, "{source}");
    }
    image.close().expect("it closes");
}
