//! Fuzzes the machine: generated programs and golden scripts made worse, run as trees, as code, and as code that is left
//! again and again. All must print the same, answer the same and use the same fuel, and none may panic or hang.

#![allow(clippy::disallowed_methods, reason = "it starts from the scripts that are there")]

#[path = "../tests/compare/mod.rs"]
mod compare;

use compare::{BOUNDS, Bounds, Engine, Machine};
use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use testkit::{Random, mutate, programs};

/// What prints or decides by where objects lie, or by when garbage was collected.
const NOT_COMPARABLE: &[&str] = &["uniqueId", "Collector", "WeakLink", "memorySize", "uniqueHexId", "asOSXML"];

/// Between programs that run on one machine after another.
const SEPARATOR: &str = "// ---- next\n";

thread_local! {
    /// The seed of the case, which decides how it is run: the same way while it is shrunk.
    static CASE: Cell<u64> = const { Cell::new(0) };
}

fn golden_scripts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let topics = fs::read_dir(root).expect("the golden folder is here").flatten().map(|entry| entry.path());
    let files =
        topics.filter(|path| path.is_dir()).flat_map(|topic| fs::read_dir(topic).into_iter().flatten().flatten());
    let mut paths: Vec<_> =
        files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|kind| kind == "io")).collect();
    paths.sort();
    let sources = paths.iter().filter_map(|path| fs::read_to_string(path).ok());
    sources.filter(|source| !NOT_COMPARABLE.iter().any(|each| source.contains(each))).collect()
}

fn main() -> ExitCode {
    let scripts = golden_scripts();
    let generate = |seed: u64| {
        CASE.set(seed);
        let mut random = Random::new(seed);
        match random.below(5) {
            0 => {
                let script = &scripts[random.below(scripts.len())];
                // As a method, so that it is compiled.
                let script =
                    if random.chance(50) { format!("main := method(\n{script}\n)\nmain") } else { script.clone() };
                mutate::mutate(&mut random, &script)
            }
            1 => mutate::mutate(&mut random, &programs::program(seed)),
            // A machine takes longer to make than a program to run: several on each, until one that may spoil it.
            _ => {
                let calm: String =
                    (0..24).map(|index| programs::calm_program(seed.wrapping_add(index << 32)) + SEPARATOR).collect();
                calm + &programs::program(seed)
            }
        }
    };
    testkit::fuzz::run(generate, check)
}

/// How a case is run, beside as a tree.
struct Way {
    engine: Engine,
    /// Where each program's fuel ends: mostly behind its end, else at any message.
    fuels: Vec<u64>,
}

/// One way for each case: making machines takes most of the time.
fn way(seed: u64, programs: usize) -> Way {
    let random = &mut Random::new(!seed);
    let engine = match random.below(4) {
        0 => Engine::Code,
        1 => Engine::Saving,
        _ => Engine::Leaving([1, 2, 7, 97][random.below(4)]),
    };
    let ends_early = random.chance(30);
    let mut early = || {
        let most = 1 << (4 + random.below(9));
        1 + random.below(most) as u64
    };
    Way { engine, fuels: (0..programs).map(|_| if ends_early { early() } else { BOUNDS.fuel }).collect() }
}

fn check(source: &str) -> Result<(), String> {
    let programs: Vec<&str> = source.split(SEPARATOR).collect();
    let Way { engine, fuels } = way(CASE.get(), programs.len());
    let (mut tree, mut other) = (Machine::new(Engine::Tree), Machine::new(engine));
    for (program, fuel) in programs.into_iter().zip(fuels) {
        let bounds = Bounds { fuel, ..BOUNDS };
        let (wanted, found) = (tree.run(program, bounds), other.run(program, bounds));
        compare::difference(&wanted, &found).map_or(Ok(()), |why| Err(format!("{engine:?}: {why}")))?;
    }
    Ok(())
}
