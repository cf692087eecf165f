//! Runs the tests of the standard library that are written in Io: every `test…` method of stdlib/tests/*Test.io, each
//! file on a machine of its own. Tests that need a host run with the command line's own.

#![allow(clippy::disallowed_methods, reason = "the library is files")]

use language::{Error, Host, Value, Vm};
use std::fs;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stdlib/tests");
    let entries = fs::read_dir(folder).expect("the library's tests are here").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with("Test.io")).collect();
    files.sort();
    files
}

/// The names of the test methods of the test case.
fn test_names(vm: &mut Vm, case: Value) -> Vec<String> {
    let names = vm.send(case, "testSlotNames", &[]).expect("a test case knows its tests");
    let names = names.as_handle().and_then(|names| vm.heap().list(names)).unwrap_or_default().to_vec();
    names.into_iter().filter_map(|name| vm.text_of(name)).collect()
}

/// Runs one test as the library's own runner does; why it failed, if it did.
fn run(vm: &mut Vm, case: Value, name: &str) -> Result<(), Error> {
    vm.send(case, "setUp", &[])?;
    vm.send(case, name, &[])?;
    vm.send(case, "tearDown", &[]).map(|_| ())
}

/// Whether a test failed for want of what this machine was not given: the command line's own tests run it again.
fn needs_host(error: &Error) -> bool {
    matches!(error, Error::Exception(exception) if exception.message.starts_with("this machine was given no "))
}

#[test]
fn the_library_passes_its_own_tests() {
    let (mut count, mut without_host, mut failures) = (0, 0, Vec::new());
    for file in files() {
        let label = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut vm = Vm::new(Host::default());
        let source = fs::read_to_string(&file).expect("a test file is text");
        if let Err(error) = vm.evaluate(&source, &label) {
            failures.push(format!("{label} does not load: {error}"));
            continue;
        }
        let lobby = vm.lobby();
        let case = vm.get_slot(lobby, label.trim_end_matches(".io")).expect("a test file defines what it is named for");
        for name in test_names(&mut vm, case) {
            count += 1;
            match run(&mut vm, case, &name) {
                Err(error) if needs_host(&error) => without_host += 1,
                Err(error) => failures.push(format!("{label} {name}: {error}")),
                Ok(()) => {}
            }
        }
    }
    assert!(count > 100, "only {count} tests were found");
    assert!(without_host < 10, "{without_host} tests need a host");
    assert!(failures.is_empty(), "{} of {count} library tests fail:\n{}", failures.len(), failures.join("\n"));
}
