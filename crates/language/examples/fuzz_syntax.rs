//! Fuzzes the syntax: noise, and golden scripts made worse. Nothing may panic; what parses prints as the same code, and
//! formatting keeps the code and settles at once.

#![allow(clippy::disallowed_methods, reason = "it starts from the scripts that are there")]

use language::syntax::{Completeness, OperatorTable, format, is_complete, parse, print, shuffle};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use testkit::{Random, mutate};

/// Every Io file that comes with the language: golden scripts and the library.
fn sources() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pending = vec![here.join("tests/golden"), here.join("../../stdlib")];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = pending.pop() {
        for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            match path.is_dir() {
                true => pending.push(path),
                false if path.extension().is_some_and(|kind| kind == "io") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

fn main() -> ExitCode {
    let sources = sources();
    let generate = |seed: u64| {
        let mut random = Random::new(seed);
        match random.below(4) {
            0 => mutate::noise(&mut random),
            1 => {
                // A few lines, where a change matters more.
                let source = &sources[random.below(sources.len())];
                let lines: Vec<&str> = source.lines().collect();
                let from = random.below(lines.len());
                let piece = lines[from..(from + 5).min(lines.len())].join("\n");
                mutate::mutate(&mut random, &piece)
            }
            _ => {
                let source = sources[random.below(sources.len())].clone();
                mutate::mutate(&mut random, &source)
            }
        }
    };
    testkit::fuzz::run(generate, check)
}

fn check(source: &str) -> Result<(), String> {
    let table = OperatorTable::default();
    let completeness = is_complete(source);
    let Ok(mut tree) = parse(source, &table) else {
        return match format(source, &table) {
            Ok(_) => Err("formats, but does not parse".into()),
            Err(_) => Ok(()),
        };
    };
    if matches!(completeness, Completeness::Wrong(_)) {
        return Err("parses, but is said to be wrong".into());
    }
    let printed = print(&tree, tree.root);
    let again = parse(&printed, &table).map_err(|error| format!("printed as\n{printed}\n{error}"))?;
    if !tree.same_code(&again) {
        return Err(format!("printing changed it to\n{printed}"));
    }
    let tidy = format(source, &table).map_err(|error| format!("parses, but does not format: {error}"))?;
    let tidy_tree = parse(&tidy, &table).map_err(|error| format!("formatted as\n{tidy}\n{error}"))?;
    if !tree.same_code(&tidy_tree) {
        return Err(format!("formatting changed it to\n{tidy}"));
    }
    match format(&tidy, &table) {
        Ok(twice) if twice == tidy => {}
        other => return Err(format!("formatting twice gives\n{other:?}\nonce\n{tidy}")),
    }
    let root = tree.root;
    shuffle(&mut tree, root, &table).map_err(|error| format!("shuffled trees shuffle: {error:?}"))?;
    if print(&tree, root) == printed { Ok(()) } else { Err("shuffling twice differs".into()) }
}
