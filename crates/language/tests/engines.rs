//! The two engines agree: whatever runs as compiled code prints, answers, raises and costs what the tree does, also when
//! its frames go back to the tree every few messages, and stops at the same message when the fuel ends there.

#![allow(clippy::disallowed_methods, reason = "the scripts are files")]

mod compare;
mod engine_cases;

use compare::{BOUNDS, Bounds, Engine, Machine, compare_on, difference, run};
use std::fs;
use std::path::{Path, PathBuf};

const ENGINES: &[Engine] = &[Engine::Code, Engine::Leaving(1), Engine::Leaving(7), Engine::Leaving(97), Engine::Saving];

/// Plenty of everything.
const GENEROUS: Bounds = Bounds { fuel: 1 << 40, memory_bytes: 1 << 40, depth: 5_000 };

/// What prints or decides by where objects lie, or by when garbage was collected.
const NOT_COMPARABLE: &[&str] = &["uniqueId", "uniqueHexId", "Collector", "WeakLink", "memorySize"];

fn number_from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn check(cases: impl IntoIterator<Item = (String, String)>, bounds: Bounds) {
    let failures: Vec<String> = cases
        .into_iter()
        .filter_map(|(name, source)| {
            compare_on(ENGINES, &source, bounds).err().map(|why| format!("━━ {name}\n{why}\n"))
        })
        .collect();
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures.concat());
}

/// Io files in a folder, and in the folders in it.
fn io_files(folder: &str) -> Vec<PathBuf> {
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = pending.pop() {
        for path in fs::read_dir(folder).expect("the folder is here").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|kind| kind == "io") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn source_of(file: &Path) -> Option<(String, String)> {
    let source = fs::read_to_string(file).ok()?;
    let comparable = !NOT_COMPARABLE.iter().any(|each| source.contains(each));
    comparable.then(|| (file.file_name().unwrap_or_default().to_string_lossy().into_owned(), source))
}

#[test]
fn golden_scripts_are_the_same_on_every_engine() {
    check(io_files("tests/golden").iter().filter_map(|file| source_of(file)), GENEROUS);
}

#[test]
fn golden_scripts_are_the_same_inside_of_a_method() {
    let wrapped = |(name, source): (String, String)| (name, format!("main := method(\n{source}\n)\nmain"));
    // Some wait for ever for a slot of the Lobby that is a local now.
    let bounds = Bounds { fuel: 500_000, ..GENEROUS };
    check(io_files("tests/golden").iter().filter_map(|file| source_of(file)).map(wrapped), bounds);
}

#[test]
fn the_tests_of_the_library_are_the_same_on_every_engine() {
    let with_run = |(name, source): (String, String)| {
        let case = name.trim_end_matches(".io").to_string();
        let run = format!(
            "{case} testSlotNames sort foreach(n, trace(n); e := try({case} setUp; {case} perform(n); {case} tearDown); \
             if(e, trace(e error)))"
        );
        (name, format!("{source}\n{run}"))
    };
    let files = io_files("../../stdlib/tests");
    let files = files.iter().filter(|file| file.to_string_lossy().ends_with("Test.io"));
    check(files.filter_map(|file| source_of(file)).map(with_run), GENEROUS);
}

#[test]
fn snippets_are_the_same_on_every_engine() {
    let cases = engine_cases::SNIPPETS.iter().map(|source| (source.to_string(), source.to_string()));
    check(cases, BOUNDS);
}

#[test]
fn what_is_too_big_for_code_is_the_same_on_every_engine() {
    check(engine_cases::big(), GENEROUS);
}

#[test]
fn generated_programs_are_the_same_on_every_engine() {
    let (seed, count) = (number_from_environment("TELOS_SEED", 1), number_from_environment("TELOS_CASES", 200));
    let seeds = (0..count.min(20_000)).map(|index| seed.wrapping_mul(1_000_003).wrapping_add(index));
    check(seeds.map(|seed| (format!("seed {seed}"), testkit::programs::program(seed))), BOUNDS);
}

#[test]
fn fuel_ends_at_the_same_message() {
    let mut failures = Vec::new();
    for source in engine_cases::SNIPPETS {
        let used = run(Engine::Tree, source, BOUNDS).fuel;
        let (mut tree, mut code) = (Machine::new(Engine::Tree), Machine::new(Engine::Code));
        let used = used.min(300);
        // With less than code may owe everything runs as a tree; with a little more, code has to leave on the way.
        for fuel in (1..=used).chain(language::CREDIT..=language::CREDIT + used) {
            let bounds = Bounds { fuel, ..BOUNDS };
            if let Some(why) = difference(&tree.run(source, bounds), &code.run(source, bounds)) {
                failures.push(format!("━━ {source}\nwith {fuel} fuel: {why}\n"));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures.concat());
}

#[test]
fn memory_ends_for_who_keeps_and_not_for_who_forgets() {
    let bounds = Bounds { memory_bytes: 8 << 20, fuel: 1 << 30, ..BOUNDS };
    for &engine in [Engine::Tree].iter().chain(ENGINES) {
        let keeps = run(engine, "m := method(l := list(); loop(l append(Object clone))); m", bounds);
        assert_eq!(keeps.result, "out of memory", "{engine:?}");
        let forgets = run(engine, "m := method(for(i, 1, 100000, l := list(i, Object clone))); m; 7", bounds);
        assert_eq!(forgets.result, "7", "{engine:?}");
    }
}
