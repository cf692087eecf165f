//! Limits count what a message makes, whatever happens to be in memory: the same message with the same limits uses the same
//! fuel and ends at the same place, just after opening and when everything is loaded.

mod lab;

use image::{Cause, Image, ImageError, Options};
use lab::{Plain, answer, cases, seed, try_open};
use language::Limits;
use std::path::Path;
use store::{IMAGE, LOG};
use tempfile::TempDir;
use testkit::Random;

const STATE: &str = "
    all := list()
    2000 repeat(i, all append(Object clone do(n := i; t := \"text number \" .. i; m := Map clone atPut(\"k\" .. i, list(i)))))
    total := method(all map(n) sum)
    texts := method(all map(t) join(\",\") size)
    deep := method(n, if(n == 0, 0, 1 + deep(n - 1)))
    nil";

fn template() -> TempDir {
    let directory = TempDir::new().expect("a directory");
    let mut image = Image::create(directory.path(), &Options::default(), Box::new(Plain)).expect("a new image");
    answer(&mut image, STATE);
    image.store().checkpoint().expect("it can be applied");
    image.close().expect("it closes");
    directory
}

fn copy(template: &Path) -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for name in [LOG, IMAGE] {
        std::fs::copy(template.join(name), directory.path().join(name)).expect("it can be copied");
    }
    directory
}

/// What came of it, how much fuel was left, and why it ended. Nothing stays of it.
fn outcome(image: &mut Image, source: &str, memory_bytes: Option<u64>) -> (String, Option<u64>) {
    image.vm_mut().set_limits(Limits { fuel: Some(3_000_000), memory_bytes, ..Limits::default() });
    let mut told = String::new();
    let ended = image.attempt::<(), language::Error>(&Cause::default(), |vm| {
        told = match vm.evaluate(source, "test") {
            Ok(value) => vm.to_text(value).unwrap_or_else(|error| error.to_string()),
            Err(error) => error.to_string(),
        };
        // Taken back, so that the next one finds what this one found.
        Err(language::Error::Halted(language::Halt::Interrupted))
    });
    assert!(matches!(ended, Ok(Err(_)) | Err(ImageError::Program(_))), "the image is whole");
    (told, image.vm().fuel_left())
}

/// The same in a cold image, in a warm one, in one that was warmed by other work, and in one that keeps nothing.
fn is_the_same_everywhere(template: &Path, source: &str, memory_bytes: Option<u64>) -> (String, Option<u64>) {
    let directory = copy(template);
    let mut image = try_open(directory.path(), &Options::default()).expect("it opens");
    let cold = outcome(&mut image, source, memory_bytes);
    let when = format!("{source} with {memory_bytes:?}");
    assert_eq!(outcome(&mut image, source, memory_bytes), cold, "{when}, again");
    outcome(&mut image, "all foreach(each, each m; each t .. each n); total; texts; deep(100); nil", None);
    assert_eq!(outcome(&mut image, source, memory_bytes), cold, "{when}, with everything loaded");
    image.vm_mut().collect();
    assert_eq!(outcome(&mut image, source, memory_bytes), cold, "{when}, after a collection");
    image.close().expect("it closes");
    let options = Options { cache_bytes: 64 << 10, ..Options::default() };
    let mut image = try_open(directory.path(), &options).expect("it opens");
    answer(&mut image, "all append(1); all removeAt(2000); nil");
    assert_eq!(outcome(&mut image, source, memory_bytes), cold, "{when}, with a small cache");
    cold
}

#[test]
fn fuel_is_the_same_cold_and_warm() {
    let template = template();
    for source in
        ["total", "texts", "deep(1000)", "all map(m) map(keys) flatten size", "try(nonsense) error", "all at(7) t"]
    {
        let (told, left) = is_the_same_everywhere(template.path(), source, None);
        assert!(left.is_some_and(|left| left > 0), "{source}: {told}");
    }
    let (told, left) = is_the_same_everywhere(template.path(), "loop(all foreach(n))", None);
    assert!(told.contains("fuel") && left == Some(0), "{told}");
}

#[test]
fn what_is_loaded_does_not_count_against_the_memory_limit() {
    let template = template();
    // All objects together are far more than this.
    let (told, _) =
        is_the_same_everywhere(template.path(), "all foreach(each, each m at(\"k1\")); total", Some(200 << 10));
    assert_eq!(told, "1999000");
    for source in [
        "kept := list(); loop(kept append(Object clone))",
        "kept := list(); i := 0; loop(i = i + 1; kept append(\"text number \" .. i))",
        "loop(all append(1))",
        "kept := \"x\" asMutable; loop(all foreach(each, kept appendSeq(each t)))",
        "m := Map clone; i := 0; loop(m atPut(\"k\" .. i, i); i = i + 1)",
        "deep(100000)",
        "i := 0; loop(i = i + 1; (\"text number \" .. i) size; if(i % 5 == 0, all last setSlot(\"s\" .. i, i)))",
    ] {
        let (told, left) = is_the_same_everywhere(template.path(), source, Some(200 << 10));
        assert!(told.contains("memory"), "{source}: {told}");
        assert!(left.is_some_and(|left| left > 0), "{source}: {told}");
    }
}

/// Garbage does not count, be it as much as it likes.
#[test]
fn what_is_made_and_dropped_does_not_count() {
    let template = template();
    let source = "i := 0; 30000 repeat(i = i + 1; (\"text number \" .. i) size; Object clone); i";
    assert_eq!(is_the_same_everywhere(template.path(), source, Some(200 << 10)).0, "30000");
}

const PARTS: &[&str] = &[
    "all at(N) t = \"other\" .. N",
    "kept append(all at(N) t .. \"!\")",
    "kept append(\"text number N\")",
    "kept append(all at(N) clone)",
    "N repeat(i, kept append(i asString))",
    "all at(N) m atPut(\"fresh\" .. N, kept size)",
    "kept removeAll",
    "all at(N) newSlot(\"s\" .. N, list(N))",
    "texts",
    "deep(N)",
    "all select(n > N) size",
    "N repeat(i, all append(i))",
    "try(transaction(all removeAt(0); kept append(N asString); Exception raise(\"no\")))",
    "long := \"abc\" repeated(N)",
];

#[test]
fn random_programs_end_alike_cold_and_warm() {
    let seed = seed("limits");
    let template = template();
    for number in 0..cases(12, 1000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let mut source = String::from("kept := list(); ");
        for _ in 0..1 + random.below(12) {
            let part = PARTS[random.below(PARTS.len())].replace('N', &random.below(2000).to_string());
            source.push_str(&part);
            source.push_str("; ");
        }
        source.push_str("kept size");
        let limit = (20 << 10) + random.below(400 << 10) as u64;
        println!("TELOS_SEED={seed}, case {number}");
        is_the_same_everywhere(template.path(), &source, Some(limit));
    }
}
