//! Runs the golden scripts that need a host through the real binary: `language` itself has none to give them.

use crate::launch::telos_in;
use std::fs;
use std::path::Path;

#[test]
fn golden_scripts_of_the_host_print_what_they_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../language/tests/golden/host");
    let folder = folder.canonicalize().expect("the golden folder is here");
    let directory = tempfile::tempdir().unwrap();
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let script = entry.path();
        if script.extension().is_none_or(|kind| kind != "io") {
            continue;
        }
        let wanted = fs::read_to_string(script.with_extension("out")).expect("a script has its output beside it");
        let ran = telos_in(directory.path(), &["run", &script.to_string_lossy()], "");
        assert_eq!(ran.output, wanted, "{}: {}", script.display(), ran.errors);
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn the_library_passes_its_own_tests_with_a_host() {
    let runner = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stdlib/tests/run.io");
    let runner = runner.canonicalize().expect("the library's tests are here");
    let output = telos_in(Path::new("."), &["run", &runner.to_string_lossy()], "").ok();
    assert!(output.contains("OK") && !output.contains("FAIL"), "{output}");
}
