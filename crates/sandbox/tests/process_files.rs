//! What a run of the process backend sees of the host's files, and what becomes of what it writes.

use sandbox::outcome::{ChangeKind, Changed};
use sandbox::process::Process;
use sandbox::{Access, Backend, FileIn, Grant, Order, Outcome, SandboxError, Stdin, Stream, Streams, Verdict, View};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};

fn run(script: &str, grants: Vec<Grant>, files: Vec<FileIn>) -> Result<(Outcome, String), SandboxError> {
    run_in(script, View { grants, files, ..View::default() })
}

fn run_in(script: &str, view: View) -> Result<(Outcome, String), SandboxError> {
    let order = Order { program: ["sh", "-c", script].map(Into::into).to_vec(), view, ..Order::default() };
    let written: Arc<Mutex<Vec<u8>>> = Arc::default();
    let place = written.clone();
    let output = Box::new(move |_: Stream, bytes: &[u8]| place.lock().unwrap().extend(bytes));
    let outcome = Process::new().start(&order, Streams { stdin: Stdin::Empty, output })?.wait()?;
    let text = String::from_utf8_lossy(&written.lock().unwrap()).into_owned();
    Ok((outcome, text))
}

fn grant(host: &Path, inside: &str, access: Access) -> Vec<Grant> {
    vec![Grant { host: host.into(), inside: inside.into(), access }]
}

fn find<'a>(changes: &'a [Changed], path: &str) -> &'a ChangeKind {
    let found = changes.iter().find(|change| change.path == Path::new(path));
    &found.unwrap_or_else(|| panic!("{path} is not among {changes:?}")).kind
}

#[test]
fn a_directory_to_read_is_seen_and_cannot_be_written() {
    let host = tempfile::tempdir().unwrap();
    fs::write(host.path().join("secret"), "for the owner").unwrap();
    fs::set_permissions(host.path().join("secret"), PermissionsExt::from_mode(0o600)).unwrap();
    let script = "cat /data/secret; touch /data/new; rm -f /data/secret; true";
    let (outcome, output) = run(script, grant(host.path(), "/data", Access::Read), Vec::new()).unwrap();
    assert!(output.starts_with("for the owner"), "{output}");
    assert!(outcome.changes.is_empty());
    assert_eq!(fs::read_dir(host.path()).unwrap().count(), 1);
}

#[test]
fn what_is_written_over_a_directory_is_told_and_stays_in_memory() {
    let host = tempfile::tempdir().unwrap();
    let root = host.path();
    fs::write(root.join("kept"), "kept").unwrap();
    fs::write(root.join("changed"), "before").unwrap();
    fs::write(root.join("removed"), "gone").unwrap();
    fs::create_dir_all(root.join("replaced/deep")).unwrap();
    let script = "cd /work && echo after > changed && rm removed && mkdir new && echo hi > new/file && chmod 755 new/file \
                  && ln -s file new/link && rm -r replaced && mkdir replaced && echo x > replaced/y && mkfifo pipe \
                  && echo hidden > locked && chmod 000 locked && cat kept";
    let (outcome, output) = run(script, grant(root, "/work", Access::Layered), Vec::new()).unwrap();
    assert_eq!((outcome.verdict, output.as_str()), (Verdict::Exited(0), "kept"));
    let changes = &outcome.changes;
    assert!(matches!(find(changes, "changed"), ChangeKind::File { bytes, .. } if bytes == b"after\n"));
    assert!(matches!(find(changes, "removed"), ChangeKind::Removed));
    assert!(matches!(find(changes, "new"), ChangeKind::Directory { .. }));
    assert!(matches!(find(changes, "new/file"), ChangeKind::File { bytes, mode: 0o755 } if bytes == b"hi\n"));
    assert!(matches!(find(changes, "new/link"), ChangeKind::Link { target } if target == Path::new("file")));
    assert!(matches!(find(changes, "replaced"), ChangeKind::Directory { replaces: true, .. }));
    assert!(matches!(find(changes, "pipe"), ChangeKind::Unreadable { .. }));
    assert!(matches!(find(changes, "locked"), ChangeKind::File { bytes, mode: 0 } if bytes == b"hidden\n"));
    assert!(!changes.iter().any(|change| change.path == Path::new("kept")));
    assert_eq!(fs::read_to_string(root.join("changed")).unwrap(), "before");
    assert!(root.join("removed").exists() && root.join("replaced/deep").exists() && !root.join("new").exists());
}

#[test]
fn grants_can_lie_inside_each_other() {
    let host = tempfile::tempdir().unwrap();
    fs::create_dir(host.path().join("out")).unwrap();
    let mut grants = grant(&host.path().join("out"), "/data/out", Access::Layered);
    grants.extend(grant(host.path(), "/data", Access::Read));
    let (outcome, _) = run("echo 1 > /data/out/one; touch /data/two", grants, Vec::new()).unwrap();
    assert!(matches!(find(&outcome.changes, "one"), ChangeKind::File { .. }));
    assert!(outcome.changes.iter().all(|change| change.grant == 0));
}

#[test]
fn a_link_on_the_host_is_not_followed_out_of_a_grant() {
    let (host, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(other.path().join("file"), "not granted").unwrap();
    symlink(other.path(), host.path().join("link")).unwrap();
    let (_, output) = run("cat /data/link/file", grant(host.path(), "/data", Access::Read), Vec::new()).unwrap();
    assert!(!output.contains("not granted"));
}

#[test]
fn files_are_handed_in() {
    let file = |inside: &str, is_executable| FileIn {
        inside: inside.into(),
        bytes: b"#!/bin/sh\necho here\n".into(),
        is_executable,
    };
    let files = vec![file("/home/user/run", true), file("/srv/deep/er/run", true), file("/var/tmp/run", false)];
    let script = "~/run 2>/dev/null; /home/user/run; /srv/deep/er/run; cat /tmp/run | tail -n 1; echo x >> /home/user/run && echo wrote";
    let (_, output) = run(script, Vec::new(), files).unwrap();
    assert_eq!(output, "here\nhere\necho here\nwrote\n");
}

#[test]
fn a_file_that_would_not_be_seen_is_refused() {
    let files = vec![FileIn { inside: "/usr/bin/new".into(), bytes: Vec::new(), is_executable: true }];
    let error = run("true", Vec::new(), files).err().unwrap();
    assert!(matches!(&error, SandboxError::Grant { path, .. } if path == Path::new("/usr/bin/new")), "{error}");
}

#[test]
fn what_is_not_there_cannot_be_granted() {
    let error = run("true", grant(Path::new("/no/such"), "/data", Access::Read), Vec::new()).err().unwrap();
    assert!(matches!(error, SandboxError::Grant { .. }));
    let error = run("true", grant(Path::new("/usr"), "/data/../..", Access::Read), Vec::new()).err().unwrap();
    assert!(matches!(error, SandboxError::Grant { .. }));
}

#[test]
fn a_hole_in_a_file_takes_no_memory_here() {
    let host = tempfile::tempdir().unwrap();
    let script = "cd /work; for i in 1 2 3 4 5 6 7 8; do truncate -s 1000M $i; done";
    let (outcome, _) = run(script, grant(host.path(), "/work", Access::Layered), Vec::new()).unwrap();
    assert_eq!(outcome.changes.len(), 8);
    assert!(
        outcome
            .changes
            .iter()
            .all(|change| matches!(&change.kind, ChangeKind::Unreadable { why } if why.contains("larger")))
    );
}

#[test]
fn the_disk_is_as_large_as_said() {
    let mut order = Order {
        program: ["sh", "-c", "cat /dev/zero > /tmp/a; stat -c %s /tmp/a"].map(Into::into).to_vec(),
        ..Order::default()
    };
    order.limits.disk_bytes = Some(1 << 20);
    let written: Arc<Mutex<Vec<u8>>> = Arc::default();
    let place = written.clone();
    let output = Box::new(move |stream, bytes: &[u8]| {
        if stream == Stream::Output {
            place.lock().unwrap().extend(bytes)
        }
    });
    Process::new().start(&order, Streams { stdin: Stdin::Empty, output }).unwrap().wait().unwrap();
    let size: u64 = String::from_utf8_lossy(&written.lock().unwrap()).trim().parse().unwrap();
    assert!(size <= 1 << 20);
}

/// A dream that goes on is to see what it left.
#[test]
fn what_one_run_left_in_a_layer_another_finds_there() {
    let host = tempfile::tempdir().unwrap();
    let root = host.path();
    for directory in ["replaced/deep", "cleared", "way", "file"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for name in ["kept", "changed", "removed", "replaced/lost", "replaced/deep/lost", "cleared/lost", "way/kept"] {
        fs::write(root.join(name), name).unwrap();
    }
    const LOOK: &str = "cd /work; find . 2>/dev/null | LC_ALL=C sort; cat changed new/file replaced/lost way/new file";
    let script = "set -e; cd /work; echo after > changed; rm removed; mkdir new; echo hi > new/file; chmod 755 new/file
        ln -s /etc/passwd new/out; rm -r replaced; mkdir replaced; echo again > replaced/lost; rm -r cleared; mkdir empty
        echo n > way/new; chmod 700 way; rmdir file; echo f > file; mkdir shut; echo x > shut/in; chmod 000 shut; ";
    let grants = || grant(root, "/work", Access::Layered);
    let told = |changes: &[Changed]| {
        let mut told: Vec<String> = changes.iter().map(|change| format!("{change:?}")).collect();
        told.sort();
        told
    };
    let (first, seen) = run(&format!("{script}{LOOK}"), grants(), Vec::new()).unwrap();
    assert_eq!(first.verdict, Verdict::Exited(0));
    let mut written = first.changes.clone();
    written.sort_by(|one, other| one.path.cmp(&other.path));
    let view = View { grants: grants(), written: written.clone(), ..View::default() };
    let (second, seen_again) = run_in(LOOK, view).unwrap();
    assert_eq!(seen_again, seen);
    assert_eq!(told(&second.changes), told(&first.changes));
    let view = View { grants: grants(), written, ..View::default() };
    let (third, _) =
        run_in("cd /work && rm -r new empty && echo back > removed && rm file && mkdir file", view).unwrap();
    assert!(!third.changes.iter().any(|change| change.path.starts_with("new") || change.path == Path::new("empty")));
    assert!(matches!(find(&third.changes, "removed"), ChangeKind::File { bytes, .. } if bytes == b"back\n"));
    assert!(matches!(find(&third.changes, "file"), ChangeKind::Directory { .. }));
}

/// Names come from what was kept, which somebody may have written.
#[test]
fn nothing_is_laid_outside_of_a_layer() {
    let host = tempfile::tempdir().unwrap();
    let file = || ChangeKind::File { bytes: b"x".to_vec(), mode: 0o644 };
    let link = || Changed { grant: 0, path: "way".into(), kind: ChangeKind::Link { target: "/tmp".into() } };
    for (path, access) in [
        ("../x", Access::Layered),
        ("/tmp/x", Access::Layered),
        ("", Access::Layered),
        ("way/x", Access::Layered),
        ("x", Access::Read),
    ] {
        let written = vec![link(), Changed { grant: 0, path: path.into(), kind: file() }];
        let view = View { grants: grant(host.path(), "/work", access), written, ..View::default() };
        assert!(run_in("true", view).is_err(), "{path} {access:?}");
    }
}
