//! `telos runs` and `telos doctor`: every run is written down, and what this host offers can be asked.

use crate::launch::exec::Bench;
use std::os::unix::fs::PermissionsExt;

#[test]
fn every_run_is_recorded_with_what_it_was_and_how_it_ended() {
    let bench = Bench::new();
    let code = "echo secret words; exit 4";
    let options = ["--env", "TOKEN=hidden", "--memory", "100M", "--write", "."];
    assert_eq!(bench.exec(&[&options[..], &["--lang", "sh", "-e", code]].concat()).code, Some(4));
    let run = bench.last_run();
    assert_eq!((&run["verdict"], &run["exit_code"], &run["language"]), (&"exited".into(), &4.into(), &"sh".into()));
    assert_eq!(run["limits"]["memory_bytes"], 100 << 20);
    assert_eq!(run["code"]["bytes"], code.len());
    assert!(run["code"]["digest"].as_str().unwrap().starts_with("sha256:"), "{run}");
    assert!(run["digest"]["stdout"].as_str().unwrap().starts_with("sha256:"), "{run}");
    assert!(run["usage"]["time_ms"].is_number() && run["at"].is_string() && run["user"].is_number(), "{run}");
    let text = run.to_string();
    assert!(text.contains("TOKEN") && !text.contains("hidden") && !text.contains("secret words"), "{text}");
}

#[test]
fn runs_that_were_refused_or_limited_are_recorded_too() {
    let bench = Bench::new();
    bench.exec(&["--", "no-such-program"]);
    assert_eq!(bench.last_run()["verdict"], "refused");
    bench.bash(&["--timeout", "0.2"], "sleep 100");
    assert_eq!((&bench.last_run()["verdict"], &bench.last_run()["limit"]), (&"limited".into(), &"time".into()));
    bench.bash(&[], "kill -9 $$");
    let shown = bench.telos(&["runs"]).ok();
    let ends: Vec<bool> = ["refused", "out of time", "signal 9"].iter().map(|end| shown.contains(end)).collect();
    assert_eq!((ends, shown.lines().count()), (vec![true; 3], 3), "{shown}");
    assert_eq!(bench.telos(&["runs", "-n", "1"]).ok().lines().count(), 1);
}

#[test]
fn the_log_is_for_its_owner_only() {
    let bench = Bench::new();
    bench.exec(&["--", "true"]);
    let directory = bench.state.path().join("telos/runs");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files: Vec<_> = std::fs::read_dir(&directory).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!((mode(&directory), files.len(), mode(&files[0])), (0o700, 1, 0o600));
}

#[test]
fn a_run_that_cannot_be_recorded_warns_and_ends_as_it_ended() {
    let bench = Bench::new();
    let ran =
        bench.command(&["exec", "--", "sh", "-c", "echo hi; exit 3"]).env("XDG_STATE_HOME", "/dev/null/x").output();
    let ran = ran.unwrap();
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(3), &b"hi\n"[..]));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("warning: this run was not recorded"));
}

#[test]
fn runs_at_the_same_time_are_all_recorded() {
    let bench = Bench::new();
    let children: Vec<_> = (0..20).map(|_| bench.command(&["exec", "--", "true"]).spawn().unwrap()).collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!(bench.telos(&["runs", "-n", "100"]).ok().lines().count(), 20);
}

#[test]
fn the_doctor_names_every_wall_and_its_code_says_whether_all_stand() {
    let bench = Bench::new();
    let ran = bench.telos(&["doctor", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    let walls = json["walls"].as_array().unwrap();
    let missing: Vec<_> = walls.iter().filter(|wall| wall["strength"] == "missing").collect();
    println!("MISSING HERE: {missing:?}");
    assert!(walls.len() >= 10 && walls.iter().any(|wall| wall["wall"] == "user namespace"), "{json}");
    assert_eq!(ran.code, Some(if missing.is_empty() { 0 } else { 1 }));
    assert_eq!(json["whole"], missing.is_empty());
    for wall in missing {
        assert!(["why", "remedy"].iter().all(|field| wall[*field].as_str().is_some_and(|text| !text.is_empty())));
    }
    let text = bench.telos(&["doctor"]).output;
    assert!(walls.iter().all(|wall| text.contains(wall["wall"].as_str().unwrap())), "{text}");
}
