//! Directories that a dream sees through a layer of its own: nothing of the host changes, and all that the dream wrote is kept,
//! shown, and there again when it goes on.

use crate::launch::up::{Up, signal, wait_for};
use crate::launch::{Ran, telos_in, write};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

/// An image that is up, and a directory of the host.
struct Desk {
    up: Up,
    host: TempDir,
}

impl Desk {
    fn new() -> Desk {
        let host = tempfile::tempdir().expect("there is a place for temporary files");
        for (name, text) in [("text", "one\ntwo\nthree\n"), ("gone", "g\n"), ("old", "moved\n"), ("same", "s\n")] {
            write(host.path(), name, text);
        }
        fs::create_dir_all(host.path().join("tree/deep")).unwrap();
        write(host.path(), "tree/deep/leaf", "leaf\n");
        Desk { up: Up::start(&[]), host }
    }

    fn dream(&self, verb: &str, arguments: &[&str]) -> Ran {
        let directory = self.up.directory.to_str().expect("temporary files have plain names");
        let all: Vec<&str> = ["dream", verb, "--image", directory].iter().chain(arguments).copied().collect();
        telos_in(Path::new("."), &all, "")
    }

    fn path(&self) -> &str {
        self.host.path().to_str().expect("temporary files have plain names")
    }

    /// Io in which `place` gives a path in the directory.
    fn source(&self, source: &str) -> String {
        format!(
            "place := method(name, \"{}/\" .. name); put := method(name, text, File with(place(name)) remove openForUpdating write(text) close); {source}",
            self.path()
        )
    }

    /// A dream that may write there, kept: its name.
    fn run(&self, source: &str) -> String {
        let ran = self.dream("run", &["--keep", "--json", "--write", self.path(), "-e", &self.source(source)]);
        let told: Value = serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("{ran:?}"));
        assert_eq!(ran.code, Some(0), "{told}");
        told["dream"].as_str().unwrap().to_string()
    }

    fn new_dream(&self) -> String {
        self.dream("new", &["--keep", "--write", self.path()]).ok().trim().to_string()
    }

    fn eval(&self, dream: &str, source: &str) -> String {
        self.dream("eval", &[dream, &self.source(source)]).ok().trim().to_string()
    }

    /// Ends a dream and says how that went.
    fn end(&self, dream: &str) -> Value {
        let mut client = self.up.client();
        let wake = keeper::protocol::Request::new(keeper::protocol::Command::Wake);
        let _ = client.send(&keeper::protocol::Request { dream: Some(dream.into()), ..wake });
        self.page(dream)
    }

    fn page(&self, dream: &str) -> Value {
        serde_json::from_str(&self.dream("show", &["--json", dream]).ok()).unwrap()
    }

    fn files(&self, dream: &str) -> Vec<Value> {
        let told: Value = serde_json::from_str(&self.dream("show", &["--files", "--json", dream]).ok()).unwrap();
        told.as_array().unwrap().clone()
    }

    /// What became of each, such as `removed gone`.
    fn words(&self, dream: &str) -> Vec<String> {
        let word = |file: &Value, name: &str| file[name].as_str().unwrap().to_string();
        self.files(dream).iter().map(|file| format!("{} {}", word(file, "kind"), word(file, "path"))).collect()
    }

    fn patch(&self, dream: &str) -> String {
        self.dream("show", &["--files", dream]).ok()
    }

    /// Every name and content below the directory.
    fn contents(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut open = vec![self.host.path().to_path_buf()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let text = fs::read_to_string(&path).unwrap_or_default();
                found.push((path.display().to_string(), text));
                if path.is_dir() && !path.is_symlink() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

/// As `sha256sum` has it.
fn digest(text: &str) -> String {
    let mut child = std::process::Command::new("sha256sum")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let told = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    format!("sha256:{}", told.split_whitespace().next().unwrap())
}

#[test]
fn what_a_dream_writes_is_shown_and_the_host_keeps_its_own() {
    let desk = Desk::new();
    let before = desk.contents();
    let dream = desk.run(
        "put(\"text\", \"one\nTWO\nthree\n\"); put(\"new\", \"n\n\"); put(\"binary\", \"a\" .. 0 asCharacter); \
         put(\"same\", \"s\n\"); File with(place(\"gone\")) remove; File with(place(\"old\")) moveTo(place(\"renamed\")); \
         Directory with(place(\"made\")) create; put(\"made/x\", \"x\"); File with(place(\"text\")) contents",
    );
    assert_eq!(desk.contents(), before);
    assert_eq!(
        desk.words(&dream),
        [
            "created binary",
            "removed gone",
            "created made",
            "created made/x",
            "created new",
            "removed old",
            "created renamed",
            "changed text"
        ]
    );
    let patch = desk.patch(&dream);
    for part in [
        "--- a/text\n+++ b/text\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
        "deleted file mode 100644\n--- a/gone\n+++ /dev/null\n",
        "new file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n",
        "Binary files /dev/null and b/binary differ\n",
        "# directory \"made\": created, mode 755\n",
    ] {
        assert!(patch.contains(part), "{part}\nis not in\n{patch}");
    }
    let files = desk.files(&dream);
    let text = files.iter().find(|file| file["path"] == "text").unwrap();
    assert_eq!(text["digest"], digest("one\nTWO\nthree\n"));
    assert_eq!(
        text["original"],
        json!({ "type": "file", "mode": "644", "bytes": 14, "digest": digest("one\ntwo\nthree\n") })
    );
    assert_eq!((&text["directory"], &text["bytes"]), (&json!(desk.path()), &json!(14)));
    assert_eq!(desk.page(&dream)["changed_files"], 8);
    let shown = desk.dream("show", &[&dream]).ok();
    assert!(shown.contains(&format!("8 files changed: telos dream show --files {dream}")), "{shown}");
}

#[test]
fn a_dream_that_writes_nothing_has_no_files_and_one_that_may_only_read_cannot() {
    let desk = Desk::new();
    let dream = desk.run("File with(place(\"text\")) contents; File with(place(\"tree/deep/leaf\")) contents");
    assert_eq!((desk.files(&dream), desk.patch(&dream)), (vec![], String::new()));
    let refused = desk.dream("run", &["--read", desk.path(), "-e", &desk.source("put(\"new\", \"n\")")]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let world = desk.dream("run", &["--rung", "world", "--write", desk.path(), "-e", "1"]);
    assert!(world.errors.contains("higher rung"), "{world:?}");
}

#[test]
fn what_was_written_is_there_after_a_restart() {
    let mut desk = Desk::new();
    let dream = desk.run("put(\"text\", \"other\n\")");
    let patch = desk.patch(&dream);
    desk.up.stop();
    desk.up.start_again(&[]);
    assert_eq!(desk.patch(&dream), patch);
    assert_eq!(desk.words(&dream), ["changed text"]);
}

/// The layer outlives the dreamer; whatever ended that, what it wrote is read.
#[test]
fn what_a_dream_wrote_is_kept_when_it_is_killed_or_its_time_is_up() {
    let desk = Desk::new();
    let dream = desk.new_dream();
    desk.eval(&dream, "put(\"new\", \"n\"); nil");
    let below = |pid: u32| {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()).collect::<Vec<u32>>()
    };
    let dreamer = below(below(desk.up.image_pid)[0])[0];
    signal(dreamer, "KILL");
    wait_for("it is over", || desk.page(&dream)["status"] != "running");
    assert_eq!(desk.page(&dream)["status"], "killed");
    assert_eq!(desk.words(&dream), ["created new"]);
    let late = desk.dream("new", &["--lifetime", "1s", "--keep", "--write", desk.path()]).ok().trim().to_string();
    desk.eval(&late, "put(\"late\", \"n\"); nil");
    wait_for("its time is up", || desk.page(&late)["status"] != "running");
    assert_eq!(desk.page(&late)["reason"], "it had no time left");
    assert_eq!(desk.words(&late), ["created late"]);
}

#[test]
fn a_dream_that_goes_on_sees_what_it_wrote_and_can_take_it_back() {
    let mut desk = Desk::new();
    symlink("/etc/passwd", desk.host.path().join("way")).unwrap();
    fs::set_permissions(desk.host.path().join("tree/deep"), PermissionsExt::from_mode(0o750)).unwrap();
    let dream = desk.run(
        "put(\"text\", \"mine\n\"); put(\"new\", \"n\n\"); put(\"tree/deep/other\", \"o\"); File with(place(\"gone\")) remove; \
         File with(place(\"way\")) moveTo(place(\"out\"))",
    );
    let first =
        ["removed gone", "created new", "created out", "changed text", "created tree/deep/other", "removed way"];
    assert_eq!(desk.words(&dream), first);
    let original = |desk: &Desk| {
        let files = desk.files(&dream);
        files.iter().find(|file| file["path"] == "text").unwrap()["original"]["digest"].clone()
    };
    assert_eq!(original(&desk), digest("one\ntwo\nthree\n"));
    desk.up.stop();
    desk.up.start_again(&[]);
    // Somebody goes on with the originals meanwhile.
    write(desk.host.path(), "text", "theirs\n");
    assert_eq!(desk.dream("resume", &[&dream]).ok().trim(), dream);
    let seen = "list(File with(place(\"text\")) contents, File with(place(\"new\")) contents, File with(place(\"gone\")) exists, \
                File with(place(\"tree/deep/other\")) contents, File with(place(\"tree/deep/leaf\")) contents)";
    assert_eq!(desk.eval(&dream, seen), r#"list("mine\n", "n\n", false, "o", "leaf\n")"#);
    assert_eq!(desk.end(&dream)["status"], "ended");
    assert_eq!(desk.words(&dream), first, "nothing new was written");
    assert_eq!(original(&desk), digest("one\ntwo\nthree\n"), "what it saw first");
    assert_eq!(desk.dream("resume", &[&dream]).ok().trim(), dream);
    desk.eval(&dream, "File with(place(\"new\")) remove; put(\"more\", \"m\"); nil");
    desk.end(&dream);
    let second =
        ["removed gone", "created more", "created out", "changed text", "created tree/deep/other", "removed way"];
    assert_eq!(desk.words(&dream), second);
    assert!(desk.patch(&dream).contains("what was in a/text is not there any more"), "{}", desk.patch(&dream));
    assert_eq!(fs::read_to_string(desk.host.path().join("text")).unwrap(), "theirs\n");
}

/// Nobody knows then what the dream saw, so nobody is told a digest.
#[test]
fn an_original_that_somebody_changes_meanwhile_has_no_digest_of_the_new() {
    let desk = Desk::new();
    // Older than a tick of the clock that files are stamped with.
    wait_for("the clock has gone on", || {
        fs::metadata(desk.host.path().join("text")).unwrap().modified().unwrap().elapsed().unwrap().as_millis() > 100
    });
    let dream = desk.new_dream();
    desk.eval(&dream, "put(\"text\", \"mine\n\"); nil");
    write(desk.host.path(), "text", "theirs\n");
    desk.end(&dream);
    assert_eq!(desk.words(&dream), ["changed text"]);
    assert_eq!(desk.files(&dream)[0]["original"]["digest"], Value::Null);
}

#[test]
fn what_is_too_large_is_not_kept_and_the_end_says_so() {
    let desk = Desk::new();
    let full = desk.new_dream();
    let source = desk.source("big := File with(place(\"big\")) openForUpdating; text := \"0123456789abcdef\" repeated(65536); 80 repeat(big write(text)); big close");
    let refused = desk.dream("eval", &[&full, &source]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(desk.end(&full)["status"], "ended");
    let sparse = desk.new_dream();
    desk.eval(
        &sparse,
        "File with(place(\"hole\")) openForUpdating truncateToSize(500000000) close; put(\"new\", \"n\"); nil",
    );
    let reason = desk.end(&sparse)["reason"].as_str().unwrap().to_string();
    assert!(reason.contains("1 of the files that it wrote could not be kept") && reason.contains("hole"), "{reason}");
    assert_eq!(desk.words(&sparse), ["unreadable hole", "created new"]);
    assert!(desk.patch(&sparse).contains("# \"hole\" is not shown"));
}

#[test]
fn thousands_of_files_are_kept_and_told() {
    let desk = Desk::new();
    let dream = desk.run("3000 repeat(i, put(\"f\" .. i, i asString)); nil");
    assert_eq!(desk.page(&dream)["changed_files"], 3000);
    let files = desk.files(&dream);
    assert_eq!(files.len(), 3000);
    assert!(files.iter().any(|file| file["path"] == "f2999" && file["digest"] == digest("2999")));
    assert_eq!(desk.dream("resume", &[&dream]).ok().trim(), dream);
    assert_eq!(desk.eval(&dream, "File with(place(\"f2999\")) contents"), "2999");
}

/// Whoever applies it must be able to look whether somebody changed what was in there.
#[test]
fn of_a_directory_that_went_or_was_replaced_all_that_was_in_it_is_told() {
    let desk = Desk::new();
    let dream = desk.run(
        "File with(place(\"tree/deep/leaf\")) remove; File with(place(\"tree/deep\")) remove; \
         Directory with(place(\"tree/deep\")) create; put(\"tree/deep/new\", \"n\")",
    );
    assert_eq!(desk.words(&dream), ["changed tree/deep", "removed tree/deep/leaf", "created tree/deep/new"]);
    assert_eq!(desk.files(&dream)[1]["original"]["digest"], digest("leaf\n"));
    assert_eq!(desk.dream("resume", &[&dream]).ok().trim(), dream);
    let names = "Directory with(place(\"tree/deep\")) items map(name) sort join(\" \")";
    assert_eq!(desk.eval(&dream, names), ". .. new");
    desk.eval(&dream, "File with(place(\"tree/deep/new\")) remove; File with(place(\"tree/deep\")) remove; nil");
    desk.end(&dream);
    assert_eq!(desk.words(&dream), ["removed tree/deep", "removed tree/deep/leaf"]);
}
