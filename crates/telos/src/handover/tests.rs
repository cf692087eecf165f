//! What a merged dream wrote is brought to its directory: only over what the dream saw, never outside, and as often as one likes.

use super::*;
use dream::{Limits, SeenDirectory, Status};
use merge::Policy;
use object::change::{ActorId, Time};
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::{TempDir, tempdir};

const STORE: [u8; 16] = [7; 16];

/// An image's directory with one kept dream, and a directory that it wrote to.
struct Scene {
    image: TempDir,
    host: TempDir,
}

impl Scene {
    /// `one` and `two/three` are there before.
    fn new() -> Scene {
        let (image, host) = (tempdir().unwrap(), tempdir().unwrap());
        fs::write(host.path().join("one"), "1").unwrap();
        fs::create_dir(host.path().join("two")).unwrap();
        fs::write(host.path().join("two/three"), "3").unwrap();
        Scene { image, host }
    }

    fn host(&self) -> PathBuf {
        self.host.path().canonicalize().unwrap()
    }

    fn header(&self) -> Header {
        Header {
            store: STORE,
            fork_commit: 1,
            forked: Time::from_ms(1_000),
            actor: ActorId(9),
            parent: None,
            mandate: String::new(),
            agent: String::new(),
            policy: Policy::ForkWins,
            limits: Limits::default(),
            directories: vec![SeenDirectory { host: self.host(), inside: "/in".into(), is_layered: true }],
            promises: None,
            bounds: dream::Bounds::default(),
            created_ms: 1,
            is_kept: true,
        }
    }

    fn change(&self, path: &str, written: ChangeKind) -> FileChange {
        let snapshot = Snapshot::of(Tree::open(&self.host()).unwrap(), [Path::new(path)]);
        let digest = match &written {
            ChangeKind::File { bytes, .. } => Some(digest::of(bytes).text()),
            ChangeKind::Link { target } => Some(digest::of(target.as_os_str().as_bytes()).text()),
            _ => None,
        };
        let original = found_at(&snapshot, Path::new(path));
        FileChange { directory: self.host(), path: path.into(), written, digest, original }
    }

    fn write(&self, path: &str, text: &str) -> FileChange {
        self.change(path, ChangeKind::File { bytes: text.into(), mode: 0o644 })
    }

    /// Keeps a dream with these changes; what tells them from others.
    fn keep(&self, changes: &[FileChange]) -> String {
        let dreams = Dreams::open(self.image.path(), STORE).unwrap();
        let mut recording = dreams.begin(&self.header()).unwrap();
        changes.iter().for_each(|change| recording.append_file(change).unwrap());
        recording.end(&dream::ended(Status::Ended, String::new())).unwrap();
        dream::digest_of(&dreams.told_files(DreamId(ActorId(9))).unwrap())
    }

    fn handover(&self) -> Handover<'_> {
        Handover { image: self.image.path(), store: STORE }
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.host.path().join(path)).ok()
    }
}

fn left(handed: &Handed) -> Vec<&str> {
    handed.left.iter().map(|left| left.place.path.to_str().unwrap()).collect()
}

#[test]
fn what_was_written_is_applied_once_and_again_to_no_effect() {
    let scene = Scene::new();
    let digest = scene.keep(&[
        scene.write("one", "one"),
        scene.change("new", ChangeKind::Directory { mode: 0o755, replaces: false }),
        scene.write("new/file", "new"),
        scene.change("two", ChangeKind::Removed),
        scene.change("two/three", ChangeKind::Removed),
    ]);
    let handed = scene.handover().apply("d9", &digest).unwrap();
    assert_eq!((handed.applied, handed.paths.len(), handed.left.len()), (5, 5, 0), "{handed:?}");
    assert_eq!((scene.read("one").unwrap(), scene.read("new/file").unwrap()), ("one".into(), "new".into()));
    assert!(!scene.host.path().join("two").exists());
    let again = scene.handover().apply("d9", &digest).unwrap();
    assert_eq!((again.applied, again.paths.len(), again.left.len()), (5, 0, 0), "{again:?}");
    let restored = scene.handover().restore("d9").unwrap();
    assert_eq!((restored.applied, restored.left.len()), (5, 0), "{restored:?}");
    assert_eq!((scene.read("one").unwrap(), scene.read("two/three").unwrap()), ("1".into(), "3".into()));
    assert!(!scene.host.path().join("new").exists());
}

#[test]
fn what_somebody_changed_meanwhile_stays_and_the_rest_is_applied() {
    let scene = Scene::new();
    let digest = scene.keep(&[
        scene.write("one", "one"),
        scene.write("fresh", "dreamt"),
        scene.write("two/three", "three"),
        scene.write("two/four", "four"),
    ]);
    fs::write(scene.host.path().join("one"), "theirs").unwrap();
    fs::write(scene.host.path().join("fresh"), "theirs").unwrap();
    let handed = scene.handover().apply("d9", &digest).unwrap();
    assert_eq!(left(&handed), ["fresh", "one"]);
    assert_eq!((scene.read("one").unwrap(), scene.read("fresh").unwrap()), ("theirs".into(), "theirs".into()));
    assert_eq!((scene.read("two/three").unwrap(), scene.read("two/four").unwrap()), ("three".into(), "four".into()));
    let taken = scene.handover().take("d9", &digest, &handed.left[1].place).unwrap();
    assert_eq!((taken.applied, scene.read("one").unwrap()), (1, "one".into()));
    fs::write(scene.host.path().join("fresh"), "theirs again").unwrap();
    let late = scene.handover().take("d9", &digest, &handed.left[0].place).unwrap();
    assert_eq!((left(&late), scene.read("fresh").unwrap()), (vec!["fresh"], "theirs again".into()));
    scene.handover().restore("d9").unwrap();
    assert_eq!(scene.read("one").unwrap(), "theirs", "what was taken over comes back, not what was before that");
}

/// A directory that goes takes nothing with it that the dream did not see.
#[test]
fn a_directory_with_something_new_in_it_stays() {
    let scene = Scene::new();
    let digest =
        scene.keep(&[scene.change("two", ChangeKind::Removed), scene.change("two/three", ChangeKind::Removed)]);
    fs::write(scene.host.path().join("two/theirs"), "t").unwrap();
    let handed = scene.handover().apply("d9", &digest).unwrap();
    assert_eq!(left(&handed), ["two"]);
    assert_eq!((scene.read("two/theirs").unwrap(), scene.read("two/three")), ("t".into(), None));
}

#[test]
fn nothing_leads_out_of_the_directory() {
    let scene = Scene::new();
    let outside = tempdir().unwrap();
    let change = |path: &str, kind: ChangeKind| FileChange { original: None, ..scene.change(path, kind) };
    let file = || ChangeKind::File { bytes: b"x".to_vec(), mode: 0o644 };
    let absolute = outside.path().join("absolute").to_str().unwrap().to_string();
    let elsewhere = FileChange { directory: outside.path().canonicalize().unwrap(), ..change("elsewhere", file()) };
    let digest = scene.keep(&[
        change("../escaped", file()),
        change(&absolute, file()),
        change("two/../../escaped", file()),
        change("link", ChangeKind::Link { target: outside.path().into() }),
        scene.write("two/three", "three"),
        elsewhere,
    ]);
    // What the dream saw as a directory is a link by now.
    fs::rename(scene.host.path().join("two"), outside.path().join("two")).unwrap();
    symlink(outside.path().join("two"), scene.host.path().join("two")).unwrap();
    let handed = scene.handover().apply("d9", &digest).unwrap();
    assert_eq!((handed.applied, handed.left.len()), (0, 6), "{handed:?}");
    assert_eq!(fs::read_to_string(outside.path().join("two/three")).unwrap(), "3");
    assert!(!outside.path().join("absolute").exists() && !outside.path().join("elsewhere").exists());
    assert!(!scene.host.path().parent().unwrap().join("escaped").exists());
    assert!(fs::symlink_metadata(scene.host.path().join("link")).is_err());
}

#[test]
fn a_directory_that_became_a_link_is_not_followed() {
    let scene = Scene::new();
    let digest = scene.keep(&[scene.write("one", "one")]);
    let other = tempdir().unwrap();
    fs::write(other.path().join("one"), "1").unwrap();
    let place = scene.host();
    fs::rename(&place, place.with_extension("moved")).unwrap();
    symlink(other.path(), &place).unwrap();
    let handed = scene.handover().apply("d9", &digest).unwrap();
    fs::remove_file(&place).unwrap();
    fs::rename(place.with_extension("moved"), &place).unwrap();
    assert!(handed.left[0].why.contains("link"), "{handed:?}");
    assert_eq!(fs::read_to_string(other.path().join("one")).unwrap(), "1");
}

/// Killed in the middle, it left new files and old ones aside. What is known of them goes; what somebody else wrote does not.
#[test]
fn what_a_kill_left_aside_is_sifted() {
    let scene = Scene::new();
    let digest = scene.keep(&[scene.write("one", "one"), scene.write("two/three", "three")]);
    let aside = scene.host.path().join(".telos-apply-d9-07070707");
    fs::create_dir(&aside).unwrap();
    for (name, text) in [("steps", "0 write"), ("0", "one"), ("1", "3")] {
        fs::write(aside.join(name), text).unwrap();
    }
    scene.handover().apply("d9", &digest).unwrap();
    assert_eq!(fs::read_dir(scene.host.path()).unwrap().count(), 2, "nothing is left aside");
    fs::write(scene.host.path().join("one"), "1").unwrap();
    fs::create_dir(&aside).unwrap();
    fs::write(aside.join("0"), "somebody's").unwrap();
    scene.handover().apply("d9", &digest).unwrap();
    let kept = fs::read_dir(scene.host.path()).unwrap().flatten().map(|entry| entry.path());
    let kept: Vec<PathBuf> = kept.filter(|path| path.join("0").exists()).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(kept[0].join("0")).unwrap(), "somebody's");
    assert_eq!(scene.read("one").unwrap(), "one");
}

#[test]
fn files_other_than_those_that_were_merged_are_refused() {
    let scene = Scene::new();
    scene.keep(&[scene.write("one", "one")]);
    let refused = scene.handover().apply("d9", "sha256:0").unwrap_err().to_string();
    assert!(refused.contains("gone on since"), "{refused}");
    assert_eq!(scene.read("one").unwrap(), "1");
}

/// Wherever in the tree an image is, or around it: neither its files nor what lies beside them is touched, nor it as a whole.
#[test]
fn nothing_is_applied_where_an_image_is() {
    for (mark, path) in [
        ("telos.img", "one"),
        ("telos.wal", "two/new"),
        ("two/telos.lock", "two/three"),
        ("two/telos.img", "two/telos.img"),
        ("two/deep/telos.img", "two"),
    ] {
        let scene = Scene::new();
        fs::create_dir(scene.host.path().join("two/deep")).unwrap();
        fs::write(scene.host.path().join(mark), "an image").unwrap();
        let digest = match path {
            "two" => scene.keep(
                &["two", "two/three", "two/deep", "two/deep/telos.img"]
                    .map(|path| scene.change(path, ChangeKind::Removed)),
            ),
            _ => scene.keep(&[scene.write(path, "dreamt")]),
        };
        let handed = scene.handover().apply("d9", &digest).unwrap();
        assert_eq!(handed.applied, 0, "{mark}, {path}: {handed:?}");
        assert!(handed.left.iter().all(|left| left.why.contains("an image lies in")), "{handed:?}");
        assert_eq!(scene.read(mark).as_deref(), Some("an image"));
        assert_eq!((scene.read("one").as_deref(), scene.read("two/three").as_deref()), (Some("1"), Some("3")));
    }
}

/// One that is elsewhere below the directory is in nobody's way.
#[test]
fn an_image_beside_what_is_applied_is_left_alone() {
    let scene = Scene::new();
    fs::write(scene.host.path().join("two/telos.img"), "an image").unwrap();
    let digest = scene.keep(&[scene.write("one", "one")]);
    let handed = scene.handover().apply("d9", &digest).unwrap();
    assert_eq!((handed.applied, handed.left.len(), scene.read("one").as_deref()), (1, 0, Some("one")), "{handed:?}");
}

/// Killed when all was moved, and before what was replaced was removed: the next attempt had nothing to do, did not know what lay
/// there, and left it for good.
#[test]
fn what_a_killed_attempt_left_aside_goes_with_the_next_one() {
    let scene = Scene::new();
    let digest = scene.keep(&[scene.write("one", "one")]);
    let aside = scene.host.path().join(".telos-apply-d9-07070707");
    let leave = |text: &str| {
        fs::create_dir(&aside).unwrap();
        fs::write(aside.join("steps"), "0 write \"one\"\n").unwrap();
        fs::write(aside.join("0"), text).unwrap();
    };
    let names =
        || -> Vec<_> { fs::read_dir(scene.host.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect() };
    scene.handover().apply("d9", &digest).unwrap();
    leave("1");
    assert_eq!(scene.handover().apply("d9", &digest).unwrap().left.len(), 0);
    assert_eq!((names().len(), scene.read("one").unwrap()), (2, "one".into()), "{:?}", names());
    scene.handover().restore("d9").unwrap();
    leave("one");
    assert_eq!(scene.handover().restore("d9").unwrap().left.len(), 0);
    assert_eq!((names().len(), scene.read("one").unwrap()), (2, "1".into()), "{:?}", names());
}
