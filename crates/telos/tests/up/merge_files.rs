//! What a dream wrote in directories, merged with it: applied after the commit, once in effect whoever is killed; never over what
//! somebody changed meanwhile, never outside of the directory; and taken back with the merge.

use crate::launch::up::{Up, is_alive, signal, wait_for};
use crate::launch::{Ran, write};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

/// An image that is up, and a directory of the host with files in it.
struct Desk {
    up: Up,
    host: TempDir,
}

impl Desk {
    fn new() -> Desk {
        let host = tempfile::tempdir().expect("there is a place for temporary files");
        for (name, text) in [("text", "one\n"), ("gone", "g\n"), ("same", "s\n")] {
            write(host.path(), name, text);
        }
        fs::create_dir_all(host.path().join("tree")).unwrap();
        write(host.path(), "tree/leaf", "leaf\n");
        let desk = Desk { up: Up::start(&[]), host };
        let place = desk.path();
        desk.up
            .send(&format!(
                "place := method(name, \"{place}/\" .. name); \
                 put := method(name, text, File with(place(name)) remove openForUpdating write(text) close); nil"
            ))
            .ok();
        desk
    }

    fn telos(&self, arguments: &[&str]) -> Ran {
        let ended = self.command(arguments).output().expect("the binary starts");
        ended.into()
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = crate::launch::command(".".as_ref(), arguments);
        command.env("TELOS_IMAGE", &self.up.directory);
        command
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.telos(arguments);
        serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
    }

    fn path(&self) -> &str {
        self.host.path().to_str().expect("temporary files have plain names")
    }

    /// A kept dream that may write there: its name. `put` writes a file of the directory.
    fn dreamt(&self, source: &str) -> String {
        let source = format!("{source}; nil");
        let told = self.json(&["dream", "run", "--keep", "--json", "--write", self.path(), "-e", &source]);
        told["dream"].as_str().unwrap_or_else(|| panic!("no dream: {told}")).to_string()
    }

    fn merged(&self, dream: &str) -> (Option<i32>, Value) {
        let ran = self.telos(&["dream", "merge", "--json", dream]);
        (ran.code, serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no report: {ran:?}")))
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.host.path().join(name)).ok()
    }

    fn is(&self, name: &str, text: &str) -> bool {
        self.read(name).as_deref() == Some(text)
    }

    fn live(&self, expression: &str) -> String {
        self.up.send(expression).ok().trim_end().to_string()
    }
}

const CHANGES: &str = "Garden := Object clone do(trees := 3); put(\"text\", \"two\\n\"); put(\"new\", \"n\\n\"); \
                       File with(place(\"gone\")) remove; Directory with(place(\"fresh\")) create; put(\"fresh/leaf\", \"f\\n\")";

#[test]
fn what_a_dream_wrote_is_there_when_its_merge_is_told() {
    let desk = Desk::new();
    let dream = desk.dreamt(CHANGES);
    assert!(desk.is("text", "one\n") && desk.read("new").is_none(), "nothing is applied before");
    let (code, report) = desk.merged(&dream);
    assert_eq!((code, report["status"].as_str()), (Some(0), Some("merged")), "{report}");
    assert_eq!((&report["files"]["status"], &report["files"]["applied"]), (&"delivered".into(), &5.into()), "{report}");
    assert!(
        desk.is("text", "two\n") && desk.is("new", "n\n") && desk.is("fresh/leaf", "f\n") && desk.is("same", "s\n")
    );
    assert!(desk.read("gone").is_none());
    assert_eq!(desk.live("Garden trees"), "3");
    assert_eq!(desk.live("list(Telos outbox size, Telos delivered first status)"), "list(0, \"delivered\")");
    write(desk.host.path(), "text", "three\n");
    let (code, again) = desk.merged(&dream);
    assert_eq!((code, again["status"].as_str()), (Some(0), Some("known")));
    assert!(desk.is("text", "three\n"), "the same dream twice does nothing twice");
    let names: Vec<_> = fs::read_dir(desk.host.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with(".telos")), "{names:?}");
}

#[test]
fn a_merge_of_nothing_but_files_is_one() {
    let desk = Desk::new();
    let dream = desk.dreamt("put(\"text\", \"two\\n\")");
    let ran = desk.telos(&["dream", "merge", &dream]);
    assert!(ran.output.contains("is merged as commit") && ran.output.contains("1 changed file is applied"), "{ran:?}");
    assert_eq!((ran.code, desk.read("text").as_deref()), (Some(0), Some("two\n")));
    assert_eq!(desk.live("Telos merges last dream"), dream);
}

#[test]
fn a_rejected_dream_and_a_part_of_one_apply_nothing() {
    let desk = Desk::new();
    desk.up.send("Garden := Object clone do(trees := 3; bed := 1); GardenTest := UnitTest clone do(testTrees := method(assertEquals(3, Garden trees))); nil").ok();
    let dream = desk.dreamt("Garden trees = 4; put(\"text\", \"two\\n\")");
    let (code, report) = desk.merged(&dream);
    assert_eq!((code, report["status"].as_str()), (Some(3), Some("rejected")), "{report}");
    assert_eq!(desk.telos(&["dream", "verify", &desk.dreamt("put(\"text\", \"two\\n\")")]).code, Some(0));
    let part = desk.dreamt("Garden bed = 2; put(\"text\", \"two\\n\")");
    let ran = desk.telos(&["dream", "merge", "--only", "Garden bed", &part]);
    assert!(ran.code == Some(0) && ran.output.contains("left out"), "{ran:?}");
    assert_eq!((desk.live("Garden bed").as_str(), desk.live("Telos outbox size").as_str()), ("2", "0"));
    assert!(desk.is("text", "one\n"));
}

/// Each file that changed meanwhile is left as it is; somebody decides about it.
#[test]
fn a_file_that_was_changed_meanwhile_is_a_conflict_that_somebody_decides() {
    let desk = Desk::new();
    let dream = desk.dreamt(CHANGES);
    write(desk.host.path(), "text", "theirs\n");
    write(desk.host.path(), "new", "theirs too\n");
    let (code, report) = desk.merged(&dream);
    assert_eq!(
        (code, &report["open_conflicts"], &report["files"]["applied"]),
        (Some(4), &2.into(), &3.into()),
        "{report}"
    );
    assert!(desk.is("text", "theirs\n") && desk.is("new", "theirs too\n") && desk.read("gone").is_none());
    assert_eq!(
        desk.live("list(Telos conflicts size, Telos conflicts first part, Telos conflicts first status)"),
        "list(2, \"file\", \"open\")"
    );
    let conflicts = desk.json(&["conflicts", "--json"]);
    let numbers: Vec<(u64, String)> = conflicts
        .as_array()
        .unwrap()
        .iter()
        .map(|each| (each["conflict"].as_u64().unwrap(), each["key"].as_str().unwrap().to_string()))
        .collect();
    let number = |name: &str| {
        let found = numbers.iter().find(|(_, key)| key.trim_matches('"').ends_with(name));
        found.unwrap_or_else(|| panic!("{numbers:?}")).0.to_string()
    };
    let (text, new) = (number("/text"), number("/new"));
    let page = desk.telos(&["conflicts", "show", &text]).ok();
    assert!(page.contains("side 0") && page.contains(&dream) && page.contains("host"), "{page}");
    assert!(page.contains(&format!("telos dream show --files {dream}\n")) && !page.contains(", \n"), "{page}");
    assert!(desk.telos(&["conflicts", "resolve", &text, "--side", "0"]).ok().contains("is resolved"));
    assert!(desk.is("text", "two\n"));
    desk.telos(&["conflicts", "resolve", &new, "--keep"]).ok();
    assert!(desk.is("new", "theirs too\n"));
    assert_eq!(desk.telos(&["conflicts"]).ok(), "");
    assert_eq!(desk.telos(&["conflicts", "resolve", &text, "--keep"]).code, Some(1), "it is decided");
}

#[test]
fn what_is_taken_is_taken_over_what_was_shown_and_over_nothing_else() {
    let desk = Desk::new();
    let dream = desk.dreamt("put(\"text\", \"two\\n\")");
    write(desk.host.path(), "text", "theirs\n");
    assert_eq!(desk.merged(&dream).0, Some(4));
    write(desk.host.path(), "text", "theirs, later\n");
    let ran = desk.telos(&["conflicts", "resolve", "1", "--side", "0"]);
    assert!(ran.code == Some(4) && ran.output.contains("is not resolved"), "{ran:?}");
    assert!(desk.is("text", "theirs, later\n"));
    assert_eq!(desk.json(&["conflicts", "--json"])[0]["status"], "open");
    desk.telos(&["conflicts", "resolve", "1", "--side", "0"]).ok();
    assert!(desk.is("text", "two\n"));
}

#[test]
fn undo_brings_back_what_was_there_and_leaves_alone_what_changed_since() {
    let desk = Desk::new();
    fs::set_permissions(desk.host.path().join("gone"), fs::Permissions::from_mode(0o600)).unwrap();
    let dream = desk.dreamt(CHANGES);
    assert_eq!(desk.merged(&dream).0, Some(0));
    write(desk.host.path(), "text", "since\n");
    let ran = desk.telos(&["undo", &dream]);
    assert!(ran.code == Some(4) && ran.output.contains("not undone") && ran.output.contains("/text"), "{ran:?}");
    assert!(desk.is("text", "since\n") && desk.is("gone", "g\n") && desk.read("new").is_none());
    assert!(!desk.host.path().join("fresh").exists());
    let mode = fs::metadata(desk.host.path().join("gone")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(desk.live("Lobby hasSlot(\"Garden\")") == "false");
    let only_files = desk.dreamt("put(\"same\", \"other\\n\")");
    assert_eq!(desk.merged(&only_files).0, Some(0));
    let told = desk.json(&["undo", "--json", &only_files]);
    assert_eq!((&told["files"]["applied"], desk.is("same", "s\n")), (&1.into(), true), "{told}");
}

/// With the dream went what was there before, and the undo brought nothing back and said nothing.
#[test]
fn what_was_there_comes_back_also_when_the_dream_is_discarded() {
    let desk = Desk::new();
    let dream = desk.dreamt(CHANGES);
    assert_eq!(desk.merged(&dream).0, Some(0));
    desk.telos(&["dream", "discard", &dream]).ok();
    let told = desk.json(&["undo", "--json", &dream]);
    assert_eq!((&told["files"]["applied"], &told["files"]["status"]), (&5.into(), &"delivered".into()), "{told}");
    assert!(desk.is("text", "one\n") && desk.is("gone", "g\n") && desk.read("new").is_none());
    let kept = fs::read_dir(desk.up.directory.join("originals")).unwrap().count();
    assert_eq!(kept, 0, "nobody needs it any more");
}

/// Four are applied at once, by somebody who stands still; the fifth waits for its turn, and is taken back before it has it.
#[test]
fn who_waits_for_files_is_answered_when_their_merge_is_taken_back() {
    let desk = Desk::new();
    let dreams: Vec<String> = (0..5).map(|number| desk.dreamt(&format!("put(\"f{number}\", \"x\")"))).collect();
    desk.up.send("System system(\"true\")").ok();
    let broker = desk.json(&["status", "--json"])["broker_pid"].as_u64().expect("it has made a call") as u32;
    signal(broker, "STOP");
    let quiet = |arguments: &[&str]| {
        let mut command = desk.command(arguments);
        command.stdout(std::process::Stdio::null()).spawn().expect("the binary starts")
    };
    let mut merging: Vec<_> = dreams.iter().map(|dream| quiet(&["dream", "merge", dream])).collect();
    wait_for("all are merged", || desk.live("Telos outbox size") == "5");
    let outbox = desk.json(&["outbox", "--json"]);
    let waiting = outbox.as_array().unwrap().iter().find(|each| each["is_under_way"] == false);
    let waiting = waiting.and_then(|each| each["dream"].as_str()).unwrap_or_else(|| panic!("all are: {outbox}"));
    let at = dreams.iter().position(|dream| dream == waiting).expect("it is one of them");
    let mut undoing = quiet(&["undo", waiting]);
    wait_for("the merge is answered", || merging[at].try_wait().expect("it is our child").is_some());
    signal(broker, "CONT");
    wait_for("all are answered", || {
        let are_merged = merging.iter_mut().all(|child| child.try_wait().expect("it is our child").is_some());
        are_merged && undoing.try_wait().expect("it is our child").is_some()
    });
    let files: Vec<usize> = (0..5).filter(|number| desk.read(&format!("f{number}")).is_some()).collect();
    assert_eq!(files, (0..5).filter(|number| *number != at).collect::<Vec<_>>());
}

/// Somebody decided for the dream's file, which could not be had at that moment; then the merge is taken back.
#[test]
fn a_file_that_waits_to_be_taken_is_not_taken_after_an_undo() {
    let desk = Desk::new();
    let dream = desk.dreamt("Garden := 1; put(\"text\", \"two\\n\")");
    write(desk.host.path(), "text", "three\n");
    assert_eq!(desk.merged(&dream).0, Some(4));
    let (kept, away) = (desk.up.directory.join("dreams").join(&dream), desk.up.directory.join("away"));
    fs::rename(&kept, &away).unwrap();
    let ran = desk.telos(&["conflicts", "resolve", "1", "--side", "0"]);
    assert!(ran.code == Some(4) && ran.output.contains("is not resolved"), "{ran:?}");
    desk.telos(&["undo", &dream]).ok();
    fs::rename(&away, &kept).unwrap();
    desk.telos(&["outbox", "resend"]).ok();
    let outbox = desk.json(&["outbox", "--all", "--json"]);
    let taking = outbox.as_array().unwrap().iter().find(|each| each["call"] == "Files.take");
    assert_eq!(taking.map(|taking| &taking["status"]), Some(&"undone".into()), "{outbox}");
    assert_eq!(desk.live("list(Telos outbox size, Telos conflicts first status)"), "list(0, \"undone\")");
    assert!(desk.is("text", "three\n"));
}

/// Somebody swaps a directory for a link that leads elsewhere, after the dream looked at it.
#[test]
fn a_link_that_was_put_in_the_way_is_not_followed() {
    let desk = Desk::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let dream = desk.dreamt("put(\"tree/leaf\", \"dreamt\\n\"); put(\"tree/bud\", \"b\\n\")");
    fs::rename(desk.host.path().join("tree"), elsewhere.path().join("tree")).unwrap();
    symlink(elsewhere.path().join("tree"), desk.host.path().join("tree")).unwrap();
    let (code, report) = desk.merged(&dream);
    assert_eq!((code, &report["files"]["applied"]), (Some(4), &0.into()), "{report}");
    assert_eq!(fs::read_to_string(elsewhere.path().join("tree/leaf")).unwrap(), "leaf\n");
    assert!(!elsewhere.path().join("tree/bud").exists());
}

/// The process that applies files stands still, so that the merge is committed and nothing is applied; then all of them are killed.
#[test]
fn what_was_not_applied_when_all_were_killed_is_applied_at_the_next_start() {
    let mut desk = Desk::new();
    let dream = desk.dreamt(CHANGES);
    desk.up.send("System system(\"true\")").ok();
    let status = desk.json(&["status", "--json"]);
    let broker = status["broker_pid"].as_u64().expect("it has made a call") as u32;
    signal(broker, "STOP");
    let mut merging = desk.command(&["dream", "merge", &dream]).spawn().expect("the binary starts");
    wait_for("the merge is committed", || desk.live("Telos outbox size") == "1");
    assert!(desk.is("text", "one\n") && desk.read("new").is_none());
    assert_eq!(desk.json(&["status", "--json"])["image"]["outbox"]["waiting"], 1);
    let refused = desk.telos(&["dream", "discard", &dream]);
    assert!(refused.errors.contains("still to be applied"), "{refused:?}");
    // So is it to programs of the image.
    let refused = desk.up.send(&format!("Dream clone setId(\"{dream}\") discard"));
    assert!(refused.code == Some(1) && refused.errors.contains("still to be applied"), "{refused:?}");
    // The kernel wakes who stands still when nobody is left above it, so the keeper must not go first, nor start another broker.
    desk.up.signal("STOP");
    signal(broker, "KILL");
    desk.up.signal("KILL");
    let image = desk.up.image_pid;
    desk.up.ended();
    wait_for("nobody is left", || !is_alive(image) && !is_alive(broker));
    let _ = merging.wait();
    assert!(desk.is("text", "one\n"));
    desk.up.start_again(&[]);
    wait_for("it is applied", || desk.live("Telos outbox size") == "0");
    assert!(desk.is("text", "two\n") && desk.is("new", "n\n") && desk.read("gone").is_none());
    assert_eq!(desk.live("list(Telos delivered size, Telos conflicts size, Garden trees)"), "list(1, 0, 3)");
    write(desk.host.path(), "text", "since\n");
    desk.up.stop();
    desk.up.start_again(&[]);
    assert_eq!(desk.live("Telos outbox size"), "0");
    assert!(desk.is("text", "since\n"), "once in effect");
    desk.telos(&["dream", "discard", &dream]).ok();
}

/// One that asleep wakes up without doing anything does not apply what is left either; a merge that it is asked for it does.
#[test]
fn an_image_that_is_asleep_applies_what_it_is_asked_for() {
    let desk = Desk::new();
    let first = desk.dreamt("put(\"text\", \"two\\n\")");
    let directory = desk.up.directory.clone();
    let mut desk = desk;
    desk.up.stop();
    desk.up.start_again(&["--asleep"]);
    assert_eq!(directory, desk.up.directory);
    assert_eq!(desk.merged(&first).0, Some(0));
    assert!(desk.is("text", "two\n"));
    assert!(Path::new(&desk.up.directory).join("originals").is_dir());
}

/// `telos up garden`, then `--write .`: what the dream wrote to telos.img, broker.toml or telos.token was applied after its merge,
/// so that a dream destroyed the image, or was a person from then on. Nothing of an image is a dream's to write, nor to read.
#[test]
fn a_dream_is_given_no_directory_that_has_its_image_in_it() {
    let desk = Desk::new();
    let image = desk.up.directory.canonicalize().unwrap();
    let token = image.join("telos.token");
    fs::write(&token, "a person's").unwrap();
    let link = desk.host.path().join("link");
    symlink(&image, &link).unwrap();
    let forge = format!("File with(\"{}\") setContents(\"forged\"); nil", token.display());
    let contains = "give a directory that does not contain it";
    let inside = "lies in the directory of an image";
    for (place, words) in [
        (image.as_path(), contains),
        (image.parent().unwrap(), contains),
        (&link, contains),
        (&image.join("inner"), inside),
    ] {
        fs::create_dir_all(place).unwrap();
        for option in ["--write", "--read"] {
            let place = place.to_str().unwrap();
            let ran = desk.telos(&["dream", "run", "--merge", option, place, "-e", &forge]);
            assert!(ran.code == Some(1) && ran.errors.contains(words), "{option} {place}: {ran:?}");
            let ran = desk.telos(&["dream", "new", option, place]);
            assert!(ran.code == Some(1) && ran.errors.contains(words), "{option} {place}: {ran:?}");
        }
    }
    let token_path = token.to_str().unwrap();
    let agent = ["dream", "run", "--read", token_path, "--command", "cat", token_path];
    let ran = desk.telos(&agent);
    assert!(ran.code == Some(1) && ran.errors.contains(inside) && !ran.output.contains("a person's"), "{ran:?}");
    assert_eq!(fs::read_to_string(&token).unwrap(), "a person's");
    assert_eq!(desk.json(&["dream", "list", "--json"]), Value::Array(Vec::new()), "none of them has begun");
}

/// The second wall, for an image that came there after the dream had begun: it is told as a conflict, and taking the dream's side
/// does not lead over it.
#[test]
fn what_a_dream_wrote_is_not_applied_where_an_image_is() {
    let desk = Desk::new();
    let dream = desk.dreamt("put(\"telos.token\", \"forged\"); put(\"text\", \"two\\n\")");
    write(desk.host.path(), "telos.wal", "a log");
    let (code, report) = desk.merged(&dream);
    assert_eq!((code, report["files"]["applied"].as_u64()), (Some(4), Some(0)), "{report}");
    let why = report["files"]["left"][0]["reason"].as_str().unwrap_or_default();
    assert!(why.contains("an image lies in"), "{report}");
    assert_eq!(desk.telos(&["conflicts", "resolve", "1", "--side", "0"]).code, Some(4));
    assert!(desk.read("telos.token").is_none() && desk.is("text", "one\n") && desk.is("telos.wal", "a log"));
}

/// "file name contained an unexpected nul byte": a literal with other letters than ASCII has wider items.
#[test]
fn a_dream_writes_to_a_file_of_any_name() {
    let desk = Desk::new();
    let dream = desk.dreamt("put(\"größe 🌳\", \"n\\n\")");
    assert_eq!(desk.merged(&dream).0, Some(0));
    assert!(desk.is("größe 🌳", "n\n"));
}
