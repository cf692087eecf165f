//! What the log keeps: every line, in bounds, for its owner only.

use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

const NOVEMBER: &str = "2026-11-16T09:00:00Z";

#[test]
fn lines_of_many_writers_are_all_there() {
    let state = tempfile::tempdir().unwrap();
    let directory = state.path().join("runs");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let directory = &directory;
            scope.spawn(move || {
                for number in 0..200 {
                    let line = format!("{}\n", json!({ "writer": writer, "number": number, "more": "x".repeat(900) }));
                    append(directory, at(NOVEMBER), line.as_bytes()).unwrap();
                }
            });
        }
    });
    let all: Vec<Value> = files(&directory).iter().flat_map(|name| read(&directory.join(name)).unwrap()).collect();
    for writer in 0..8 {
        let of_one: Vec<u64> =
            all.iter().filter(|run| run["writer"] == writer).filter_map(|run| run["number"].as_u64()).collect();
        assert_eq!(of_one, (0..200).collect::<Vec<u64>>(), "writer {writer}");
    }
}

/// A name whose seventh byte is inside of a character ended every run that was to be recorded, and `telos runs`.
#[test]
fn files_of_others_are_passed_over_whatever_they_are_called() {
    let state = tempfile::tempdir().unwrap();
    append(state.path(), at(NOVEMBER), b"{}\n").unwrap();
    for name in ["abcdef\u{e9}.txt", "2026-1\u{20ac}.0001.jsonl", "x", "2026-11.jsonl", "2026-11.x.jsonl"] {
        fs::write(state.path().join(name), "").unwrap();
    }
    assert_eq!(files(state.path()), ["2026-11.0000.jsonl"]);
}

#[test]
fn only_its_owner_may_read_it() {
    let state = tempfile::tempdir().unwrap();
    let directory = state.path().join("runs");
    append(&directory, at(NOVEMBER), b"{}\n").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&directory), mode(&directory.join("2026-11.0000.jsonl"))), (0o700, 0o600));
}

#[test]
fn a_full_file_is_followed_by_another_and_the_oldest_go() {
    let state = tempfile::tempdir().unwrap();
    let full = vec![b'x'; FILE_BYTES as usize];
    for (month, number) in [("2026-07", 0), ("2026-08", 0), ("2026-10", 3), ("2026-11", 7)] {
        fs::write(state.path().join(name_of(month, number)), &full).unwrap();
    }
    fs::write(state.path().join("notes.txt"), "mine").unwrap();
    append(state.path(), at(NOVEMBER), b"{}\n").unwrap();
    let kept = ["2026-08.0000.jsonl", "2026-10.0003.jsonl", "2026-11.0007.jsonl", "2026-11.0008.jsonl"];
    assert_eq!(files(state.path()), kept);
    assert!(state.path().join("notes.txt").exists());
    for number in 9..60 {
        fs::write(state.path().join(name_of("2026-11", number)), if number == 59 { &full[..] } else { b"" }).unwrap();
    }
    append(state.path(), at(NOVEMBER), b"{}\n").unwrap();
    let names = files(state.path());
    assert_eq!((names.len(), names.last().unwrap().as_str()), (FILES_MAX, "2026-11.0060.jsonl"));
}

#[test]
fn half_a_line_swallows_no_other() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join("2026-11.0000.jsonl");
    fs::write(&path, "{\"a\":1}\n{\"half").unwrap();
    append(state.path(), at(NOVEMBER), b"{\"b\":2}\n").unwrap();
    assert_eq!(read(&path).unwrap(), [json!({ "a": 1 }), json!({ "b": 2 })]);
}

#[test]
fn what_was_run_is_named_and_not_kept() {
    let long = bounded(json!({ "program": vec!["x".repeat(5000); 100] }));
    assert_eq!(long["program"].as_array().unwrap().len(), LIST_LENGTH_MAX);
    assert_eq!(long["program"][0].as_str().unwrap().chars().count(), TEXT_CHARACTERS_MAX + 1);
    assert_eq!(month_of(at("2026-01-31T00:00:00Z"), 3), "2025-10");
}
