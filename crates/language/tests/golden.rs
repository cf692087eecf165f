//! Runs the golden scripts, each on a fresh machine, compiled and as trees, and compares what they print. Scripts that
//! need a host are run with the command line's own tests.

#![allow(clippy::disallowed_methods, reason = "the scripts are files")]

mod captured;

use captured::captured;
use language::Vm;
use std::fs;
use std::path::{Path, PathBuf};

/// The topic whose scripts need files, a clock and an environment.
const NEEDS_HOST: &str = "host";

fn run(script: &Path, compiling: bool) -> String {
    let source = fs::read_to_string(script).expect("a golden script is text");
    let (host, output) = captured();
    let mut vm = Vm::new(host);
    vm.set_compiling(compiling);
    let label = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let error = vm.evaluate(&source, &label).err();
    let mut text = String::from_utf8_lossy(&output.borrow()).into_owned();
    if let Some(error) = error {
        text.push_str(&format!("uncaught: {error}\n"));
    }
    text
}

fn scripts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folders = fs::read_dir(root).expect("the golden folder is here").flatten().map(|entry| entry.path());
    let topics = folders.filter(|path| path.is_dir() && path.file_name().is_some_and(|name| name != NEEDS_HOST));
    let files = topics.flat_map(|topic| fs::read_dir(topic).expect("a topic is a folder").flatten());
    let mut scripts: Vec<PathBuf> =
        files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|kind| kind == "io")).collect();
    scripts.sort();
    scripts
}

/// The first lines that differ, with what was wanted and what came.
fn difference(wanted: &str, found: &str) -> String {
    let (wanted, found): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), found.lines().collect());
    let lines = (0..wanted.len().max(found.len())).filter(|&line| wanted.get(line) != found.get(line));
    lines
        .take(5)
        .map(|line| {
            let show = |lines: &[&str]| lines.get(line).map_or("(nothing)".to_string(), |text| format!("{text:?}"));
            format!("    line {}: wanted {}, found {}\n", line + 1, show(&wanted), show(&found))
        })
        .collect()
}

#[test]
fn golden_scripts_print_what_they_should() {
    let only = std::env::var("GOLDEN").unwrap_or_default();
    let mut failures = Vec::new();
    let mut count = 0;
    for script in scripts() {
        if !script.to_string_lossy().contains(&only) {
            continue;
        }
        count += 1;
        let wanted = fs::read_to_string(script.with_extension("out")).expect("a golden script has an output");
        for compiling in [true, false] {
            let found = run(&script, compiling);
            if found == wanted {
                continue;
            }
            let topic = script.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
            let name = script.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let how = if compiling { "" } else { " (as a tree)" };
            failures.push(format!("{topic}/{name}{how}\n{}", difference(&wanted, &found)));
        }
    }
    assert!(count > 0, "no golden script was found");
    assert!(failures.is_empty(), "{} of {count} golden scripts fail:\n{}", failures.len(), failures.join(""));
}
