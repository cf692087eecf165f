//! What `--apply` keeps: all of a plan or nothing, never half a file, never outside, never over somebody else's work.

use super::*;
use sandbox::changes::Snapshot;
use sandbox::outcome::{ChangeKind, Changed};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::{TempDir, tempdir};

fn file(path: &str, text: &str) -> Changed {
    changed(path, ChangeKind::File { bytes: text.into(), mode: 0o644 })
}

fn changed(path: &str, kind: ChangeKind) -> Changed {
    Changed { grant: 0, path: path.into(), kind }
}

/// `one`, `two/three`, `two/four`, and a link to `one`.
fn garden() -> TempDir {
    let directory = tempdir().unwrap();
    fs::write(directory.path().join("one"), "1").unwrap();
    fs::create_dir(directory.path().join("two")).unwrap();
    fs::write(directory.path().join("two/three"), "3").unwrap();
    fs::write(directory.path().join("two/four"), "4").unwrap();
    symlink("one", directory.path().join("link")).unwrap();
    directory
}

fn applied(snapshot: &Snapshot, changes: &[Changed]) -> anyhow::Result<Vec<PathBuf>> {
    let plan = Plan::new(snapshot, changes.iter().cloned());
    check(&plan).and_then(|()| apply(&[plan]))
}

/// All files below, with what they hold.
fn contents(directory: &TempDir) -> Vec<(String, String)> {
    let snapshot = Snapshot::take(directory.path()).unwrap();
    let all = fs::read_dir(directory.path()).unwrap().flatten().map(|entry| PathBuf::from(entry.file_name()));
    let paths = all.flat_map(|top| snapshot.below(&top).map(|(path, _)| path.clone()).collect::<Vec<_>>());
    let read = |path: PathBuf| {
        let text = fs::read_to_string(directory.path().join(&path)).unwrap_or_else(|_| "/".into());
        (path.display().to_string(), text)
    };
    let mut contents: Vec<_> = paths.map(read).collect();
    contents.sort();
    contents
}

fn names(directory: &TempDir) -> Vec<String> {
    contents(directory).into_iter().map(|(name, text)| format!("{name}={text}")).collect()
}

#[test]
fn files_are_written_made_and_removed() {
    let directory = garden();
    let snapshot = Snapshot::take(directory.path()).unwrap();
    let changes = [
        file("one", "11"),
        changed("two/three", ChangeKind::Removed),
        changed("new", ChangeKind::Directory { mode: 0o750, replaces: false }),
        changed("new/run", ChangeKind::File { bytes: b"!".to_vec(), mode: 0o4755 }),
        changed("new/up", ChangeKind::Link { target: "../one".into() }),
    ];
    assert_eq!(applied(&snapshot, &changes).unwrap().len(), 5);
    assert_eq!(names(&directory), ["link=11", "new=/", "new/run=!", "new/up=11", "one=11", "two=/", "two/four=4"]);
    let mode = |path: &str| fs::metadata(directory.path().join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("new"), mode("new/run")), (0o750, 0o755), "nothing becomes setuid");
}

#[test]
fn what_was_changed_meanwhile_is_named_and_nothing_is_applied() {
    let directory = garden();
    let at = |name: &str| directory.path().join(name);
    let snapshot = Snapshot::take(directory.path()).unwrap();
    fs::write(at("one"), "x").unwrap();
    fs::write(at("fresh"), "y").unwrap();
    fs::write(at("two/five"), "5").unwrap();
    let before = names(&directory);
    for (change, name) in [
        (file("one", "11"), "\"one\""),
        (file("fresh", "mine"), "\"fresh\""),
        (changed("two", ChangeKind::Removed), "\"two/five\""),
        (changed("two", ChangeKind::Directory { mode: 0o755, replaces: true }), "\"two/five\""),
    ] {
        let message = applied(&snapshot, &[file("other", "o"), change]).unwrap_err().to_string();
        assert!(message.contains("changed there meanwhile") && message.contains(name), "{message}");
        assert_eq!(names(&directory), before);
    }
    // What nobody else touched is applied all the same.
    applied(&snapshot, &[file("two/three", "33")]).unwrap();
    assert_eq!(fs::read_to_string(at("two/three")).unwrap(), "33");
}

#[test]
fn what_leads_out_of_the_directory_is_refused() {
    let (directory, outside) = (garden(), tempdir().unwrap());
    let snapshot = Snapshot::take(directory.path()).unwrap();
    let target = outside.path().to_path_buf();
    for change in [
        file("../escaped", "x"),
        file("/escaped", "x"),
        file("two/../../escaped", "x"),
        changed("way", ChangeKind::Link { target: target.clone() }),
        changed("two/way", ChangeKind::Link { target: "../../x".into() }),
    ] {
        let message = applied(&snapshot, &[file("other", "o"), change]).unwrap_err().to_string();
        assert!(message.starts_with("nothing was applied"), "{message}");
    }
    assert!(!directory.path().join("other").exists());
}

/// A directory that somebody swaps for a link after the snapshot would carry the write elsewhere.
#[test]
fn a_link_that_appears_on_the_way_is_not_followed() {
    let (directory, outside) = (garden(), tempdir().unwrap());
    let snapshot = Snapshot::take(directory.path()).unwrap();
    fs::rename(directory.path().join("two"), directory.path().join("moved")).unwrap();
    symlink(outside.path(), directory.path().join("two")).unwrap();
    assert!(applied(&snapshot, &[file("two/new", "x")]).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_link_is_replaced_and_what_it_leads_to_is_left_alone() {
    let directory = garden();
    let snapshot = Snapshot::take(directory.path()).unwrap();
    applied(&snapshot, &[file("link", "new")]).unwrap();
    assert_eq!(names(&directory)[..2], ["link=new", "one=1"]);
    assert!(fs::symlink_metadata(directory.path().join("link")).unwrap().is_file());
}

#[test]
fn directories_are_replaced_by_directories_files_and_links() {
    let replaced = |kind| {
        let directory = garden();
        let snapshot = Snapshot::take(directory.path()).unwrap();
        let is_directory = matches!(kind, ChangeKind::Directory { .. });
        let mut changes = vec![changed("two", kind)];
        changes.extend(is_directory.then(|| file("two/four", "44")));
        applied(&snapshot, &changes).unwrap();
        names(&directory)
    };
    let opaque = ChangeKind::Directory { mode: 0o755, replaces: true };
    assert_eq!(replaced(opaque)[2..], ["two=/", "two/four=44"]);
    assert_eq!(replaced(ChangeKind::File { bytes: b"f".to_vec(), mode: 0o644 })[2..], ["two=f"]);
    assert_eq!(replaced(ChangeKind::Link { target: "one".into() })[2..], ["two=1"]);
}

#[test]
fn what_was_only_touched_is_left_alone() {
    let directory = garden();
    let mode = fs::metadata(directory.path().join("one")).unwrap().permissions().mode();
    let snapshot = Snapshot::take(directory.path()).unwrap();
    let touched = changed("one", ChangeKind::File { bytes: b"1".to_vec(), mode });
    let passed = changed("two", ChangeKind::Directory { mode: 0o755, replaces: false });
    fs::set_permissions(directory.path().join("two"), fs::Permissions::from_mode(0o755)).unwrap();
    let plan = Plan::new(&snapshot, [touched, passed].into_iter());
    assert_eq!(plan.steps, []);
}

/// The third step cannot be done; the two before it are taken back.
#[test]
fn a_step_that_fails_takes_all_of_them_back() {
    let directory = garden();
    let before = names(&directory);
    let snapshot = Snapshot::take(directory.path()).unwrap();
    let changes =
        [file("link", "x"), changed("one", ChangeKind::Removed), file("two/three", "x"), file("zoo/missing/x", "x")];
    let message = format!("{:#}", applied(&snapshot, &changes).unwrap_err());
    assert!(message.contains("nothing was applied") && message.contains("zoo/missing"), "{message}");
    assert_eq!(names(&directory), before);
    assert!(fs::symlink_metadata(directory.path().join("link")).unwrap().is_symlink());
}

/// The first directory stayed as the program had made it, and all words said that nothing had been applied.
#[test]
fn a_directory_that_fails_takes_those_before_it_back() {
    let (first, second) = (garden(), garden());
    let before = (names(&first), names(&second));
    let snapshots = [&first, &second].map(|directory| Snapshot::take(directory.path()).unwrap());
    let good = [file("one", "11"), changed("two/three", ChangeKind::Removed), file("new", "n")];
    let bad = [file("one", "22"), file("zoo/missing/x", "x")];
    let plans = [Plan::new(&snapshots[0], good.into_iter()), Plan::new(&snapshots[1], bad.into_iter())];
    let message = format!("{:#}", apply(&plans).unwrap_err());
    assert!(message.starts_with("nothing was applied") && message.contains("zoo/missing"), "{message}");
    assert_eq!((names(&first), names(&second)), before);
}

#[test]
fn without_exchange_files_are_replaced_and_taken_back_as_well() {
    let directory = garden();
    let before = names(&directory);
    let snapshot = Snapshot::take(directory.path()).unwrap();
    let mut changes = vec![file("one", "11"), file("link", "x"), file("zoo/missing/x", "x")];
    let plan = |changes: &[Changed]| [Plan::new(&snapshot, changes.iter().cloned())];
    let message = format!("{:#}", apply_with(&plan(&changes), Exchange::Never, None).unwrap_err());
    assert!(message.starts_with("nothing was applied"), "{message}");
    assert_eq!(names(&directory), before);
    assert!(fs::symlink_metadata(directory.path().join("link")).unwrap().is_symlink());
    let snapshot = Snapshot::take(directory.path()).unwrap();
    changes.pop();
    let plans = [Plan::new(&snapshot, changes.into_iter())];
    assert_eq!(apply_with(&plans, Exchange::Never, None).unwrap().len(), 2);
    assert_eq!(names(&directory)[..2], ["link=x", "one=11"]);
}

/// Two things cannot be put back, since somebody took their places meanwhile: both are kept, and where is known.
#[test]
fn what_cannot_be_put_back_is_kept_whole() {
    let directory = garden();
    let snapshot = Snapshot::take(directory.path()).unwrap();
    let changes = ["one", "two/three"].map(|path| changed(path, ChangeKind::Removed));
    let plan = Plan::new(&snapshot, changes.into_iter());
    let mut stage = Stage::new(&plan, Exchange::IfThere, None).unwrap();
    stage.move_in().unwrap();
    fs::write(directory.path().join("one"), "mine").unwrap();
    fs::write(directory.path().join("two/three"), "mine").unwrap();
    stage.move_back();
    let aside = directory.path().join(&stage.aside_name);
    assert!(stage.is_kept);
    drop(stage);
    let mut kept: Vec<String> =
        fs::read_dir(aside).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    kept.sort();
    assert_eq!(kept, ["1", "3"]);
}

/// Somebody wrote in a directory while the files of a program that had removed it were flushed, and the work was gone.
#[test]
fn work_in_a_directory_that_the_program_removed_is_not_lost() {
    let works: [fn(&Path); 3] = [
        |two| fs::write(two.join("three"), "hours of work").unwrap(),
        |two| fs::write(two.join("new"), "new work").unwrap(),
        |two| fs::create_dir(two.join("deep")).unwrap(),
    ];
    for work in works {
        let directory = garden();
        let snapshot = Snapshot::take(directory.path()).unwrap();
        let changes = [file("a", "a"), changed("two", ChangeKind::Removed)];
        let plan = Plan::new(&snapshot, changes.into_iter());
        check(&plan).unwrap();
        work(&directory.path().join("two"));
        let before = names(&directory);
        let message = format!("{:#}", apply(&[plan]).unwrap_err());
        assert!(message.starts_with("nothing was applied") && message.contains("changed meanwhile"), "{message}");
        assert_eq!(names(&directory), before);
    }
}

/// Nobody found what an `--apply` had left that was killed, nor could tell what was what in there.
#[test]
fn what_an_apply_leaves_that_was_killed_is_found_and_says_what_it_is() {
    let directory = garden();
    let snapshot = Snapshot::take(directory.path()).unwrap();
    let changes = [file("one", "11"), changed("two", ChangeKind::Removed)];
    let plan = Plan::new(&snapshot, changes.into_iter());
    let mut stage = Stage::new(&plan, Exchange::IfThere, None).unwrap();
    stage.write_aside().unwrap();
    stage.move_in().unwrap();
    assert!(left_in(directory.path()).is_empty(), "somebody is at work there");
    // A killed process closes its descriptors, and removes nothing.
    stage.is_kept = true;
    drop(stage);
    let left = left_in(directory.path());
    assert_eq!(left.len(), 1);
    assert_eq!(fs::read_to_string(left[0].join("steps")).unwrap(), "0 write \"one\"\n1 remove \"two\"\n");
    assert_eq!(fs::read_to_string(left[0].join("0")).unwrap(), "1", "what was there before");
    assert_eq!(fs::read_to_string(left[0].join("1/three")).unwrap(), "3");
}
