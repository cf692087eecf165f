//! Kept dreams as files: what was written is there after a crash at any byte, foreign files are left alone, retention removes
//! what it may. If `a_dream_of_format_1_opens` must change, old dreams break.
//!
//! `TELOS_WRITE_FIXTURE=FILE cargo test -p dream --test kept` writes a dream of the current format there, and
//! `TELOS_WRITE_FIXTURE_WITH_FILES` one that changed files.

#![allow(clippy::disallowed_methods, reason = "the fixture's place comes from the environment")]

mod lab;

use dream::*;
use lab::{Dreamer, FORK, append, journal, live, own};
use object::change::{Change, Creation, Datum, Line, ObjectId, Operation, Run, Time};
use sandbox::outcome::ChangeKind;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use store::NewCommit;
use tempfile::TempDir;
use testkit::Random;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/1");

fn header(actor: u64) -> Header {
    Header {
        store: FORK.store,
        fork_commit: 41,
        forked: FORK.forked,
        actor: object::change::ActorId(actor),
        parent: Some((DreamId(object::change::ActorId(3)), 12)),
        mandate: "make totals right".into(),
        agent: "totals.io".into(),
        policy: merge::Policy::ForkWins,
        limits: Limits { time_ms: Some(60_000), fuel: Some(1_000_000), ..Limits::default() },
        directories: Vec::new(),
        bounds: Bounds::default(),
        promises: None,
        created_ms: 1_000_000,
        is_kept: false,
    }
}

fn end(ended_ms: u64) -> End {
    let usage = Usage { time_ms: 12, cpu_ms: 7, memory_bytes: 1 << 20, fuel: 99 };
    End { status: Status::Ended, reason: String::new(), ended_ms, usage, is_kept: false, output: String::new() }
}

fn file_change() -> FileChange {
    let digest = Some("sha256:ba7816bf".to_string());
    FileChange {
        directory: Path::new("/srv/notes").into(),
        path: OsStr::from_bytes(b"a\xFF").into(),
        written: ChangeKind::File { bytes: b"what it holds now".to_vec(), mode: 0o644 },
        digest: None,
        original: Some(Original { kind: FileKind::File, mode: 0o600, bytes: 3, digest }),
    }
}

struct Place {
    directory: TempDir,
    dreams: Dreams,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().expect("a directory");
        let dreams = Dreams::open(directory.path(), FORK.store).expect("a place for dreams");
        Place { directory, dreams }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join("dreams").join(name)
    }

    /// A dream that ended, and its journal.
    fn dream(&self, actor: u64, ended_ms: u64) -> DreamId {
        let recording = self.dreams.begin(&header(actor)).expect("it begins");
        let id = recording.id();
        recording.end(&end(ended_ms)).expect("it ends");
        id
    }
}

/// What the fixture holds. Never to be changed.
fn fixed_commits() -> Vec<NewCommit> {
    let change = |seq, object, operation| Change::new(own(seq), Time(FORK.forked.0 + seq), object, operation);
    let creation =
        Creation { protos: vec![live(4)], slots: vec![("balance".into(), 5.0.into())], ..Creation::default() };
    let made = ObjectId::minted(own(1));
    let call =
        Call::operation("http get", &[Datum::text("https://example.org")], Answered::Simulated, Datum::bytes(b"hi"));
    let first = vec![
        Change::create(own(1), FORK.forked, creation),
        change(2, live(9), Operation::set_slot("account", made)),
        change(3, live(9), Operation::remove_slot("old")),
    ];
    let inserted = Run::items([Datum::Nil, Datum::Boolean(true), Datum::text("größe")]);
    let second = vec![
        change(4, live(10), Operation::Insert { line: Line::Items, index: 2, run: inserted }),
        change(5, live(9), call),
    ];
    let commit = |cause: &str, changes| NewCommit {
        time: FORK.forked,
        author: "totals.io".into(),
        cause: cause.into(),
        changes,
        ..NewCommit::default()
    };
    vec![commit("begin", first), commit("größer", second)]
}

/// Of the dream 7, the only actor that the lab's journals are of.
fn some_commits() -> Vec<NewCommit> {
    Dreamer::new(&mut Random::new(5)).commits(9)
}

fn id() -> DreamId {
    DreamId(FORK.actor)
}

/// Everything that a file can hold, in the order in which a dream writes it.
fn write_whole(place: &Place, commits: &[NewCommit]) {
    let mut recording = place.dreams.begin(&header(7)).expect("it begins");
    append(&mut recording, commits, 0);
    recording.append_file(&file_change()).expect("it is appended");
    recording.end(&end(2_000_000)).expect("it ends");
}

#[test]
fn what_was_kept_is_read() {
    let (place, commits) = (Place::new(), some_commits());
    let journal = journal(&commits);
    assert!(journal.changes().count() > 5, "the journal says something");
    write_whole(&place, &commits);
    let kept = place.dreams.read(id()).expect("it is read");
    assert_eq!((&kept.header, kept.end.as_ref()), (&header(7), Some(&end(2_000_000))));
    assert_eq!((&kept.journal, kept.changed_files), (&journal, 1));
    let mut files = Vec::new();
    place.dreams.files(id(), &mut |file| files.push(file)).expect("they are read");
    assert_eq!(files, [file_change()]);
    let listed = place.dreams.list().expect("it is listed");
    assert_eq!((listed.dreams.len(), listed.problems.len()), (1, 0));
    assert_eq!(listed.dreams[0].end, kept.end);
}

#[test]
fn what_is_kept_is_its_owners_alone() {
    let place = Place::new();
    place.dream(7, 1);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&place.file("")), mode(&place.file("d7"))), (0o700, 0o600));
}

/// Cut anywhere behind its header: what was whole before is there, and the dream goes on from it.
#[test]
fn a_torn_tail_is_cut() {
    let (place, commits) = (Place::new(), some_commits());
    let journal = journal(&commits);
    let mut recording = place.dreams.begin(&header(7)).expect("it begins");
    let mut ends = vec![recording.bytes()];
    for number in 0..commits.len() {
        append(&mut recording, &commits[..=number], number);
        ends.push(recording.bytes());
    }
    drop(recording);
    let whole = fs::read(place.file("d7")).expect("it is there");
    for length in ends[0] as usize..whole.len() {
        let sound = ends.iter().filter(|end| **end <= length as u64).count() - 1;
        // Nothing, or something else than what was to be there.
        let garbage = if length % 2 == 0 { vec![] } else { [vec![!whole[length]], vec![0; 40]].concat() };
        fs::write(place.file("d7"), [&whole[..length], &garbage[..]].concat()).expect("it is written");
        let kept = place.dreams.read(id()).expect("a torn file is read");
        assert_eq!((kept.journal.entries(), kept.end), (&journal.entries()[..sound], None), "cut at {length}");
        assert_eq!(kept.journal.cut_bytes(), length + garbage.len() - ends[sound] as usize);
        let (mut recording, _) = place.dreams.resume(id()).expect("it goes on");
        append(&mut recording, &commits, sound);
        drop(recording);
        assert_eq!(fs::read(place.file("d7")).expect("it is there"), whole, "cut at {length}");
    }
}

/// A file with an end was flushed before it got that: what does not match then is damage, and told.
#[test]
fn damage_is_told_and_never_read_as_data() {
    let (place, commits) = (Place::new(), some_commits());
    let journal = journal(&commits);
    write_whole(&place, &commits);
    let (kept, whole) =
        (place.dreams.read(id()).expect("it is read"), fs::read(place.file("d7")).expect("it is there"));
    let mut random = Random::new(9);
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << random.below(8);
        fs::write(place.file("d7"), &damaged).expect("it is written");
        match place.dreams.read(id()) {
            // The four bytes behind the version are for later.
            Ok(read) if (12..16).contains(&at) => assert_eq!(read, kept),
            // The end itself is gone: as after a crash, what is before it is there.
            Ok(read) => {
                assert_eq!((&read.header, read.end), (&kept.header, None), "bit of byte {at}");
                assert_eq!(read.journal.entries(), journal.entries(), "bit of byte {at}");
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        assert_eq!(place.dreams.list().map(|listed| listed.dreams.len() + listed.problems.len()).ok(), Some(1));
    }
}

#[test]
fn foreign_files_are_refused_with_a_reason_and_left_alone() {
    let place = Place::new();
    place.dream(7, 1);
    fs::write(place.file("notes.txt"), "mine").expect("it is written");
    fs::write(place.file("d8"), "not a dream at all, but long enough").expect("it is written");
    fs::write(place.file("d9"), "").expect("it is written");
    symlink(place.file("d7"), place.file("d10")).expect("a link");
    fs::create_dir(place.file("d11")).expect("a directory");
    fs::copy(place.file("d7"), place.file("d12")).expect("a copy");
    let mut newer = fs::read(place.file("d7")).expect("it is there");
    newer[8] = 2;
    fs::write(place.file("d13"), newer).expect("it is written");
    let reasons = [
        ("d8", "begins with something else"),
        ("d9", "too short"),
        ("d10", "is a link"),
        ("d11", "is no file"),
        ("d12", "of another name"),
        ("d13", "format 2, newer than the 1"),
        ("d14", "there is no dream d14"),
    ];
    for (name, reason) in reasons {
        let id: DreamId = name.parse().expect("a name");
        let error = place.dreams.read(id).expect_err("it is no dream").to_string();
        assert!(error.contains(reason), "{name}: {error}");
    }
    let listed = place.dreams.list().expect("it is listed");
    assert_eq!((listed.dreams.len(), listed.problems.len()), (1, 7));
    assert_eq!(
        place
            .dreams
            .expire(&Retention { age_ms: 0, count: 0, ..Retention::default() }, u64::MAX)
            .expect("it expires")
            .len(),
        1
    );
    for name in ["notes.txt", "d8", "d9", "d10", "d11", "d12", "d13"] {
        assert!(fs::symlink_metadata(place.file(name)).is_ok(), "{name} is left alone");
    }
    assert!(place.dreams.remove("d8".parse().expect("a name")).is_err());
    let other = Dreams::open(place.directory.path(), [9; 16]).expect("the same place");
    place.dream(20, 1);
    assert!(matches!(other.read("d20".parse().expect("a name")), Err(DreamError::OtherImage(_))));
    assert!(matches!(other.begin(&header(21)), Err(DreamError::OtherImage(_))));
}

#[test]
fn a_directory_that_is_a_link_is_not_followed() {
    let (directory, elsewhere) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("another"));
    symlink(elsewhere.path(), directory.path().join("dreams")).expect("a link");
    assert!(matches!(Dreams::open(directory.path(), FORK.store), Err(DreamError::Foreign { .. })));
}

#[test]
fn no_dream_takes_the_place_of_another() {
    let place = Place::new();
    place.dream(7, 1);
    let before = fs::read(place.file("d7")).expect("it is there");
    assert!(matches!(place.dreams.begin(&header(7)), Err(DreamError::Exists(_))));
    assert_eq!(fs::read(place.file("d7")).expect("it is there"), before);
}

#[test]
fn one_that_runs_is_neither_removed_nor_gone_on_with() {
    let place = Place::new();
    let recording = place.dreams.begin(&header(7)).expect("it begins");
    assert!(matches!(place.dreams.remove(id()), Err(DreamError::Running(_))));
    assert!(matches!(place.dreams.resume(id()), Err(DreamError::Running(_))));
    assert!(place.dreams.recover(5).expect("nothing is lost").is_empty());
    assert_eq!(place.dreams.read(id()).expect("it can be read").end, None);
    drop(recording);
    assert_eq!(place.dreams.recover(5).expect("it is found"), [id()]);
    let end = place.dreams.read(id()).expect("it is read").end.expect("it has an end now");
    assert_eq!((end.status, end.ended_ms), (Status::Killed, 5));
    assert!(place.dreams.recover(6).expect("nothing is lost").is_empty());
    place.dreams.remove(id()).expect("it is removed");
    assert!(matches!(place.dreams.read(id()), Err(DreamError::Missing(_))));
}

#[test]
fn what_was_begun_without_a_name_is_removed() {
    let place = Place::new();
    fs::write(place.file(".d7.new"), "half a header").expect("it is written");
    assert!(place.dreams.list().expect("it is listed").problems.is_empty());
    place.dreams.recover(1).expect("it is looked at");
    assert!(!place.file(".d7.new").exists());
}

/// A dream may end, go on and end again; what counts is the last end.
/// Nothing of one that is not to be kept is flushed, so its name may be all that is on the disk.
#[test]
fn what_a_failure_of_power_left_of_one_that_is_not_kept_is_removed() {
    let place = Place::new();
    write_whole(&place, &some_commits());
    let empty = place.file("d12345");
    std::fs::write(&empty, "").expect("a file");
    place.dreams.recover(1).expect("it recovers");
    assert!(!empty.exists() && place.file(&id().to_string()).exists());
}

#[test]
fn a_dream_goes_on_behind_its_end() {
    let (place, commits) = (Place::new(), some_commits());
    let journal = journal(&commits);
    let mut recording = place.dreams.begin(&header(7)).expect("it begins");
    append(&mut recording, &commits[..2], 0);
    recording.end(&end(1)).expect("it ends");
    let (mut recording, kept) = place.dreams.resume(id()).expect("it goes on");
    assert_eq!(kept.end, Some(end(1)));
    append(&mut recording, &commits, 2);
    recording.flush().expect("it is flushed");
    assert_eq!(place.dreams.read(id()).expect("it is read").end, None, "it runs again");
    recording.end(&end(2)).expect("it ends");
    let kept = place.dreams.read(id()).expect("it is read");
    assert_eq!((kept.journal.entries(), kept.end), (journal.entries(), Some(end(2))));
}

#[test]
fn retention_removes_the_old_and_the_many_but_nothing_that_is_kept() {
    let place = Place::new();
    for actor in 7..=12 {
        place.dream(actor, actor * 100);
    }
    let running = place.dreams.begin(&header(13)).expect("it begins");
    let name = |number: u64| DreamId(object::change::ActorId(number));
    place.dreams.set_kept(name(7), true).expect("it is kept");
    let older = Retention { age_ms: 450, count: 100, ..Retention::default() };
    assert_eq!(place.dreams.expire(&older, 1300).expect("it expires"), [name(8)]);
    let large = Retention { age_ms: u64::MAX, count: 100, bytes: 1 };
    let sizes = large.expired(&place.dreams.list().expect("they are listed").dreams, u64::MAX);
    assert!(!sizes.is_empty(), "the newest stays, however large it is, and no other");
    let many = Retention { age_ms: u64::MAX, count: 2, ..Retention::default() };
    let mut removed = place.dreams.expire(&many, 1300).expect("it expires");
    removed.sort_unstable();
    assert_eq!(removed, [name(9), name(10)]);
    place.dreams.set_kept(name(7), false).expect("it is kept no more");
    assert_eq!(place.dreams.expire(&older, 1300).expect("it expires"), [name(7)]);
    drop(running);
    let left: Vec<DreamId> =
        place.dreams.list().expect("it is listed").dreams.iter().map(|dream| dream.header.id()).collect();
    assert_eq!(left, [name(11), name(12), name(13)]);
}

/// Making a file took the longer the more were removed lately.
#[test]
fn files_of_dreams_that_went_are_used_again_and_hold_nothing_of_them() {
    let place = Place::new();
    let node = |name: &str| std::fs::metadata(place.file(name)).expect("it is there").ino();
    let first = place.dream(7, 1);
    let was = node("d7");
    place.dreams.put_aside(first).expect("it goes");
    assert!(matches!(place.dreams.read(first), Err(DreamError::Missing(_))));
    let listed = place.dreams.list().expect("they are listed");
    assert!(listed.dreams.is_empty() && listed.problems.is_empty(), "{listed:?}");
    let spare = std::fs::read_dir(place.file("")).expect("a directory").next().expect("one file").expect("a name");
    assert_eq!(spare.metadata().expect("it is there").len(), 0, "what was in it is not on the disk for another week");
    place.dreams.recover(2).expect("it wakes up");
    place.dream(7 + 512, 3);
    assert_eq!(node("d519"), was);
    place.dreams.read("d519".parse().expect("a name")).expect("it is a dream like any other");
    // Two that want to leave theirs at one place: one is enough.
    let [one, other] = [8, 8 + 512].map(|actor| place.dream(actor, 4));
    place.dreams.put_aside(one).expect("it goes");
    place.dreams.put_aside(other).expect("it goes");
    assert_eq!(std::fs::read_dir(place.file("")).expect("a directory").count(), 2);
    // What lies there and is none of ours is not written to.
    std::fs::write(place.file(".d9.spare"), "mine").expect("it is written");
    place.dream(9, 5);
    place.dreams.read("d9".parse().expect("a name")).expect("it is a dream like any other");
}

#[test]
fn a_dream_that_asks_to_be_kept_is() {
    let place = Place::new();
    let mut recording = place.dreams.begin(&header(7)).expect("it begins");
    recording.keep();
    recording.end(&end(1)).expect("it ends");
    assert!(
        place
            .dreams
            .expire(&Retention { age_ms: 0, count: 0, ..Retention::default() }, u64::MAX)
            .expect("it is looked at")
            .is_empty()
    );
}

#[test]
fn a_dream_of_format_1_opens() {
    let (place, commits) = (Place::new(), fixed_commits());
    let journal = journal(&commits);
    if let Some(file) = std::env::var_os("TELOS_WRITE_FIXTURE") {
        write_whole(&place, &commits);
        fs::copy(place.file("d7"), file).expect("it is copied");
        fs::remove_file(place.file("d7")).expect("it was there");
    }
    fs::copy(FIXTURE, place.file("d7")).expect("the fixture");
    let kept = place.dreams.read(id()).expect("it opens");
    assert_eq!((&kept.header, kept.end), (&header(7), Some(end(2_000_000))));
    assert_eq!((&kept.journal, kept.changed_files), (&journal, 1));
}

/// Files of every kind, as a dream that went on leaves them.
fn fixed_files() -> (Vec<FileChange>, Vec<FileChange>) {
    let digest = |text: &str| Some(format!("sha256:{text}"));
    let original = |kind, digest| Some(Original { kind, mode: 0o644, bytes: 3, digest });
    let change = |path: &str, written, digest, original| FileChange {
        directory: Path::new("/srv/notes").into(),
        path: path.into(),
        written,
        digest,
        original,
    };
    let file = |text: &str| ChangeKind::File { bytes: text.into(), mode: 0o755 };
    let link = ChangeKind::Link { target: OsStr::from_bytes(b"../\xFF").into() };
    let directory = |replaces| ChangeKind::Directory { mode: 0o750, replaces };
    let unreadable = ChangeKind::Unreadable { why: "it is a pipe".into() };
    let first = vec![
        change("a", file("new"), digest("aa"), None),
        change("b", file("other"), digest("bb"), original(FileKind::File, digest("b0"))),
        change("c", link, digest("cc"), original(FileKind::Other, None)),
        change("d", directory(true), None, original(FileKind::Directory, None)),
        change("d/e", ChangeKind::Removed, None, original(FileKind::Link, digest("ee"))),
        change("f", directory(false), None, None),
        change("g", unreadable, None, None),
    ];
    let second = vec![
        FileChange::none(Path::new("/srv/notes"), Path::new("a")),
        change("b", file("last"), digest("b2"), original(FileKind::File, digest("b0"))),
    ];
    (first, second)
}

fn write_with_files(place: &Place) {
    let directories = vec![SeenDirectory { host: "/srv/notes".into(), inside: "/notes".into(), is_layered: true }];
    let (first, second) = fixed_files();
    let mut recording = place.dreams.begin(&Header { directories, ..header(7) }).expect("it begins");
    first.iter().for_each(|change| recording.append_file(change).expect("it is appended"));
    recording.end(&end(1_000_000)).expect("it ends");
    let (mut recording, _) = place.dreams.resume(id()).expect("it goes on");
    second.iter().for_each(|change| recording.append_file(change).expect("it is appended"));
    recording.end(&end(2_000_000)).expect("it ends");
}

#[test]
fn the_last_change_of_each_file_counts() {
    let place = Place::new();
    write_with_files(&place);
    if let Some(file) = std::env::var_os("TELOS_WRITE_FIXTURE_WITH_FILES") {
        fs::copy(place.file("d7"), file).expect("it is copied");
    }
    let kept = place.dreams.read(id()).expect("it opens");
    assert_eq!((kept.changed_files, kept.header.directories.len()), (6, 1));
    let (first, second) = fixed_files();
    let written: Vec<FileChange> = place.dreams.written(id()).expect("they are read").into_values().collect();
    assert_eq!(written, [&second[1..2], &first[2..]].concat());
    let words: Vec<&str> = written.iter().map(FileChange::word).collect();
    assert_eq!(words, ["changed", "changed", "changed", "removed", "created", "unreadable"]);
}
