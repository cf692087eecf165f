//! Files: the live image's as they are, a dream's below directories of the house and nowhere else.

mod shared;

use broker::{Answer, Broker, Caller, House, Value, Way};
use shared::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

const LIMIT: usize = 8 << 20;

/// `read/`, `write/` and `outside/` in a directory of their own; a house that allows the first two.
struct Scene {
    _directory: tempfile::TempDir,
    root: PathBuf,
    broker: Broker,
    dream: Caller,
}

impl Scene {
    fn new() -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for name in ["read/sub", "write/sub", "outside"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("outside/secret"), "outside").unwrap();
        fs::write(root.join("read/a.txt"), "inside").unwrap();
        let text = format!("[files]\nread = [{:?}]\nwrite = [{:?}]\n", root.join("read"), root.join("write"));
        Scene { _directory: directory, root, broker: Broker::new(house(&text), None), dream: redirected() }
    }

    fn ask(&self, name: &str, path: &str, more: &[Value]) -> Answer {
        let arguments = [&[text(self.root.join(path))], more].concat();
        ask(&self.broker, &self.dream, name, &arguments)
    }

    fn content(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }
}

#[test]
fn a_dream_reads_below_what_may_be_read_and_writes_below_what_may_be_written() {
    let scene = Scene::new();
    assert_eq!(scene.ask("File.read", "read/a.txt", &[]).values, [Value::Bytes(b"inside".to_vec())]);
    assert_eq!(scene.ask("File.exists", "read/a.txt", &[]).values, [Value::Number(1.0)]);
    assert_eq!(scene.ask("File.exists", "read/none/b", &[]).values, [Value::Number(0.0)]);
    assert_eq!(scene.ask("File.exists", "read", &[]).values, [Value::Number(1.0)]);
    assert_eq!(scene.ask("Directory.list", "read", &[]).values, [text("a.txt\nsub")]);
    assert_eq!(scene.ask("Directory.list", "read/sub", &[]).values, [text("")]);
    assert_eq!(scene.ask("File.write", "write/sub/b", &[text("long text")]).values, [Value::Nil]);
    assert_eq!(scene.ask("File.write", "write/sub/b", &[text("new")]).values, [Value::Nil]);
    assert_eq!(scene.ask("File.append", "write/sub/b", &[Value::Bytes(b"er".to_vec())]).values, [Value::Nil]);
    assert_eq!(scene.content("write/sub/b"), "newer");
    assert_eq!(scene.ask("File.remove", "write/sub/b", &[]).values, [Value::Nil]);
    assert!(!scene.root.join("write/sub/b").exists());
}

#[test]
fn reading_is_not_writing_and_writing_is_not_reading() {
    let scene = Scene::new();
    fs::write(scene.root.join("write/b"), "kept").unwrap();
    for (name, path) in [
        ("File.write", "read/a.txt"),
        ("File.append", "read/a.txt"),
        ("File.remove", "read/a.txt"),
        ("File.read", "write/b"),
        ("File.exists", "write/b"),
        ("Directory.list", "write"),
        ("File.read", "outside/secret"),
        ("File.exists", "outside/secret"),
        ("Directory.list", "outside"),
        ("Directory.list", ""),
        ("File.write", "readable"),
    ] {
        let answer = scene.ask(name, path, &[text("x")]);
        assert!(refusal(&answer, Way::Blocked).contains("[files] in broker.toml"), "{name} {path}: {answer:?}");
    }
    assert_eq!((scene.content("read/a.txt"), scene.content("write/b")), ("inside".into(), "kept".into()));
}

#[test]
fn no_path_leads_out() {
    let scene = Scene::new();
    symlink(scene.root.join("outside/secret"), scene.root.join("read/link")).unwrap();
    symlink("../outside", scene.root.join("read/way")).unwrap();
    symlink("a.txt", scene.root.join("read/within")).unwrap();
    symlink(scene.root.join("outside/new"), scene.root.join("write/link")).unwrap();
    symlink("../outside", scene.root.join("write/way")).unwrap();
    symlink("/proc/self/root", scene.root.join("read/magic")).unwrap();
    for path in ["read/../outside/secret", "read/link", "read/way/secret", "read/within", "read/magic/etc/passwd"] {
        for name in ["File.read", "Directory.list"] {
            let answer = scene.ask(name, path, &[]);
            assert!(matches!(answer.way, Way::Blocked | Way::Failed), "{name} {path}: {answer:?}");
            assert!(name == "Directory.list" || answer.way == Way::Blocked, "{name} {path}: {answer:?}");
        }
    }
    for path in ["write/../outside/secret", "write/link", "write/way/secret", "write/way/new"] {
        for name in ["File.write", "File.append", "File.remove"] {
            let answer = scene.ask(name, path, &[text("x")]);
            assert_eq!(answer.way, Way::Blocked, "{name} {path}: {answer:?}");
        }
    }
    for path in ["a.txt", "./a.txt", "../read/a.txt", "~/a"] {
        let answer = ask(&scene.broker, &scene.dream, "File.read", &[text(path)]);
        assert!(refusal(&answer, Way::Blocked).contains("begins with /"), "{path}: {answer:?}");
    }
    assert_eq!(scene.content("outside/secret"), "outside");
    assert!(!scene.root.join("outside/new").exists());
}

#[test]
fn only_plain_files_are_files() {
    let scene = Scene::new();
    for place in ["read", "write"] {
        let fifo = scene.root.join(place).join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _listener = UnixListener::bind(scene.root.join(place).join("socket")).unwrap();
    }
    for path in ["read/fifo", "read/socket", "read/sub", "read"] {
        let answer = scene.ask("File.read", path, &[]);
        assert!(refusal(&answer, Way::Blocked).contains("plain files"), "{path}: {answer:?}");
    }
    for path in ["write/fifo", "write/socket", "write/sub", "write"] {
        for name in ["File.write", "File.append", "File.remove"] {
            let answer = scene.ask(name, path, &[text("x")]);
            assert!(refusal(&answer, Way::Blocked).contains("plain files"), "{name} {path}: {answer:?}");
        }
    }
    assert_eq!(scene.ask("Directory.list", "read/a.txt", &[]).way, Way::Failed);
    assert_eq!(scene.ask("File.read", "read/none", &[]).way, Way::Failed);
    assert_eq!(scene.ask("File.write", "write/none/x", &[text("x")]).way, Way::Failed);
}

#[test]
fn what_a_dream_reads_and_writes_is_bounded() {
    let scene = Scene::new();
    fs::File::create(scene.root.join("read/just")).unwrap().set_len(LIMIT as u64).unwrap();
    fs::File::create(scene.root.join("read/more")).unwrap().set_len(LIMIT as u64 + 1).unwrap();
    assert_eq!(scene.ask("File.read", "read/just", &[]).values[0].as_bytes().unwrap().len(), LIMIT);
    assert!(refusal(&scene.ask("File.read", "read/more", &[]), Way::Failed).contains("8 MiB"));
    let most = Value::Bytes(vec![0; LIMIT]);
    assert_eq!(scene.ask("File.write", "write/most", &[most]).way, Way::Redirected);
    let more = scene.ask("File.append", "write/most", &[text("x")]);
    assert!(refusal(&more, Way::Failed).contains("8 MiB"), "{more:?}");
    assert_eq!(scene.ask("File.write", "write/new", &[Value::Bytes(vec![0; LIMIT + 1])]).way, Way::Failed);
    assert!(!scene.root.join("write/new").exists());
    assert_eq!(scene.ask("File.write", "write/new", &[]).way, Way::Failed);
}

#[test]
fn a_name_that_is_no_line_does_not_become_two() {
    let scene = Scene::new();
    fs::write(scene.root.join("read/sub/one\ntwo"), "").unwrap();
    assert_eq!(scene.ask("Directory.list", "read/sub", &[]).values, [text("one\u{fffd}two")]);
}

#[test]
fn the_live_image_has_files_as_they_are_and_waits_for_no_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| text(directory.path().join(name));
    let broker = Broker::new(House::default(), None);
    let ask = |name: &str, arguments: &[Value]| ask(&broker, &Caller::live(), name, arguments);
    assert_eq!(ask("File.write", &[path("a"), text("long text")]).values, [Value::Nil]);
    assert_eq!(ask("File.write", &[path("a"), text("one")]).values, [Value::Nil]);
    assert_eq!(ask("File.append", &[path("a"), text(" two")]).values, [Value::Nil]);
    assert_eq!(ask("File.read", &[path("a")]).values, [Value::Bytes(b"one two".to_vec())]);
    symlink("a", directory.path().join("link")).unwrap();
    assert_eq!(ask("File.read", &[path("sub/../link")]).way, Way::Failed, "there is no sub");
    assert_eq!(ask("File.read", &[path("link")]).values, [Value::Bytes(b"one two".to_vec())]);
    assert_eq!(ask("Directory.list", &[path("")]).values, [text("a\nlink")]);
    assert_eq!(ask("File.exists", &[path("a")]).values, [Value::Number(1.0)]);
    assert_eq!(ask("File.remove", &[path("a")]).values, [Value::Nil]);
    assert_eq!(ask("File.exists", &[path("a")]).values, [Value::Number(0.0)]);
    assert!(refusal(&ask("File.read", &[path("a")]), Way::Failed).contains("File.read"));
    assert!(Command::new("mkfifo").arg(directory.path().join("fifo")).status().unwrap().success());
    assert_eq!(ask("File.read", &[path("fifo")]).values, [Value::Bytes(vec![])]);
    assert_eq!(ask("File.write", &[path("fifo"), text("x")]).way, Way::Failed);
    assert!(refusal(&ask("File.read", &[text("/dev/zero")]), Way::Failed).contains("64 MiB"));
}
