//! The files of an image in other hands: removed, linked, copied, moved, read-only. Nothing that was acknowledged is lost, and
//! whoever asks is told what is so.

use crate::launch::up::{Up, wait_for};
use crate::launch::{Ran, command, telos_in};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

fn telos(arguments: &[&str], input: &str) -> Ran {
    telos_in(Path::new("."), arguments, input)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// An image that was up once, and has something in it.
fn planted() -> Up {
    let mut up = Up::start(&[]);
    up.send("Imp := 1").ok();
    up.stop();
    up
}

fn beside(up: &Up, name: &str) -> PathBuf {
    up.directory.parent().unwrap().join(name)
}

/// A dialogue that has the image open, until its input is closed.
fn dialogue(directory: &Path) -> Child {
    let mut dialogue = command(Path::new("."), &["repl", "--image", text(directory)]);
    let dialogue = dialogue.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lock = directory.join("telos.lock");
    wait_for("the dialogue has the image", || {
        std::fs::read_to_string(&lock).is_ok_and(|pid| pid.trim() == dialogue.id().to_string())
    });
    dialogue
}

// ---- one writer

/// The story: a dialogue wrote beside the image process, and afterwards the log was damaged for ever.
#[test]
fn a_dialogue_does_not_write_beside_a_keeper_whose_lock_and_socket_were_removed() {
    let mut up = Up::start(&[]);
    up.send("Imp := 1").ok();
    for name in ["telos.lock", "telos.sock"] {
        std::fs::remove_file(up.directory.join(name)).unwrap();
    }
    let refused = telos(&["repl", "--image", text(&up.directory)], "R := 1\n");
    assert_eq!((refused.code, refused.output.as_str()), (Some(1), ""), "{refused:?}");
    assert!(refused.errors.contains(&format!("in use by process {}", up.image_pid)), "{refused:?}");
    assert!(!refused.errors.contains("is ending"), "{refused:?}");
    up.stop();
    up.start_again(&[]);
    assert_eq!(up.send("list(Imp, Lobby hasLocalSlot(\"R\"))").ok(), "list(1, false)\n");
}

/// The story: two keepers ran on the same files, and lost what the other had acknowledged. And it was said that the first
/// was ending.
#[test]
fn a_second_keeper_that_comes_through_links_is_refused() {
    let up = Up::start(&[]);
    let links = beside(&up, "links");
    std::fs::create_dir(&links).unwrap();
    for name in ["telos.img", "telos.wal"] {
        symlink(up.directory.join(name), links.join(name)).unwrap();
    }
    let refused = telos(&["up", text(&links)], "");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.errors.contains(&format!("in use by process {}", up.image_pid)), "{refused:?}");
    assert!(!refused.errors.contains("is ending"), "{refused:?}");
    assert_eq!(up.send("1 + 2").ok(), "3\n");
}

/// The story: what the name led to was overwritten with the number of a process.
#[test]
fn a_lock_that_is_a_link_is_refused_and_its_target_kept() {
    let up = planted();
    let letter = beside(&up, "letter");
    for name in ["telos.lock", "telos.img-lock"] {
        let path = up.directory.join(name);
        std::fs::write(&letter, "a letter that is kept").unwrap();
        std::fs::remove_file(&path).unwrap();
        symlink(&letter, &path).unwrap();
        let refused = telos(&["up", text(&up.directory)], "");
        assert!(refused.code == Some(1) && refused.errors.contains("symbolic link"), "{refused:?}");
        assert!(refused.errors.contains(name), "{refused:?}");
        assert_eq!(std::fs::read(&letter).unwrap(), b"a letter that is kept");
        std::fs::remove_file(&path).unwrap();
    }
    assert_eq!(Up::start_in(&up.directory, &[]).send("Imp").ok(), "1\n");
}

// ---- files that are missing or something else

/// The story: an empty file called telos.wal.new was enough, and the image was replaced by an empty one.
#[test]
fn an_image_that_lost_its_log_is_kept() {
    let up = planted();
    std::fs::remove_file(up.directory.join("telos.wal")).unwrap();
    std::fs::write(up.directory.join("telos.wal.new"), "").unwrap();
    let image = std::fs::read(up.directory.join("telos.img")).unwrap();
    let refused = telos(&["up", text(&up.directory)], "");
    assert!(refused.code == Some(1) && refused.errors.contains("restore it from a backup"), "{refused:?}");
    assert!(std::fs::read(up.directory.join("telos.img")).unwrap() == image);
}

#[test]
fn whoever_meets_damage_is_told_to_restore() {
    let up = planted();
    let copy = beside(&up, "copy");
    let spoil = |name: &str, spoil: &dyn Fn(&Path)| {
        let _ = std::fs::remove_dir_all(&copy);
        telos(&["image", "backup", "--image", text(&up.directory), text(&copy)], "").ok();
        spoil(&copy.join(name));
        for arguments in [["up", text(&copy)].as_slice(), &["image", "check", "--image", text(&copy)]] {
            let refused = telos(arguments, "");
            let told = refused.errors.matches("restore it from a backup").count();
            assert_eq!((refused.code, told), (Some(1), 1), "{refused:?}");
        }
    };
    spoil("telos.img", &|path| std::fs::remove_file(path).unwrap());
    spoil("telos.wal", &|path| std::fs::remove_file(path).unwrap());
    spoil("telos.wal", &|path| std::fs::write(path, vec![7; 10_000]).unwrap());
    spoil("telos.img", &|path| std::fs::write(path, vec![7; 10_000]).unwrap());
}

/// The story: the file that was named was the one beside it, and what was wrong was said twice.
#[test]
fn the_file_that_is_in_the_way_is_named_and_the_reason_told_once() {
    let up = planted();
    let readers = up.directory.join("telos.img-lock");
    std::fs::remove_file(&readers).unwrap();
    std::fs::create_dir(&readers).unwrap();
    let refused = telos(&["up", text(&up.directory)], "");
    assert!(refused.errors.contains("telos.img-lock is no file"), "{refused:?}");
    let file = beside(&up, "file");
    std::fs::write(&file, "").unwrap();
    let refused = telos(&["up", text(&file)], "");
    assert_eq!((refused.code, refused.errors.matches("is no directory").count()), (Some(1), 1), "{refused:?}");
}

// ---- sockets

/// The story: the directory was moved and copied back, and the first keeper removed the second one's socket.
#[test]
fn a_keeper_whose_directory_was_moved_leaves_the_socket_of_another_alone() {
    let mut first = planted();
    let (moved, copy) = (beside(&first, "moved"), beside(&first, "copy"));
    telos(&["image", "backup", "--image", text(&first.directory), text(&copy)], "").ok();
    first.start_again(&[]);
    std::fs::rename(&first.directory, &moved).unwrap();
    std::fs::rename(&copy, &first.directory).unwrap();
    let second = Up::start_in(&first.directory, &[]);
    assert_eq!(first.stop().0, Some(0));
    assert_eq!(second.send("Imp").ok(), "1\n");
    assert!(!moved.join("telos.sock").exists());
}

#[test]
fn whoever_looks_for_a_keeper_without_a_socket_is_told_its_number() {
    let up = Up::start(&[]);
    std::fs::remove_file(up.directory.join("telos.sock")).unwrap();
    let number = format!("kill {}", up.pid());
    for ran in [telos(&["up", text(&up.directory)], ""), up.send("1"), up.run(&["status"], "")] {
        assert!(ran.code == Some(1) && ran.errors.contains(&number), "{ran:?}");
    }
}

/// The story: it was said that no image is up, and to start it, which could not be done.
#[test]
fn whoever_asks_is_told_that_a_dialogue_has_the_image() {
    let up = planted();
    let mut dialogue = dialogue(&up.directory);
    let told = format!("process {} (telos repl) has it open", dialogue.id());
    for ran in [up.send("1"), up.run(&["status"], "")] {
        assert!(ran.code == Some(1) && ran.errors.contains(&told), "{ran:?}");
    }
    drop(dialogue.stdin.take());
    assert!(dialogue.wait().unwrap().success());
    assert!(up.send("1").errors.contains("no image is up"));
}

// ---- backups

/// The story: half a backup kept its name, and `telos up` made an empty image of it.
#[test]
fn a_backup_or_restore_that_was_killed_is_in_nobodys_way() {
    let up = planted();
    let (monday, again) = (beside(&up, "monday"), beside(&up, "again"));
    for target in [&monday, &again] {
        // As they are left: what is not whole has no name yet.
        let half = system::file::Unnamed::place_for(target).unwrap();
        std::fs::create_dir(&half).unwrap();
        std::fs::write(half.join("telos.img"), vec![0; 5000]).unwrap();
    }
    telos(&["image", "backup", "--image", text(&up.directory), text(&monday)], "").ok();
    telos(&["image", "restore", text(&monday), text(&again)], "").ok();
    assert_eq!(Up::start_in(&again, &[]).send("Imp").ok(), "1\n");
    let entries = std::fs::read_dir(up.directory.parent().unwrap()).unwrap();
    let left = entries.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("unfinished"));
    assert_eq!(left.count(), 0);
}

/// A limit on the size of files stands for a full disk.
#[test]
fn a_backup_without_room_leaves_nothing_behind() {
    let up = planted();
    let monday = beside(&up, "monday");
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" image backup --image \"$1\" \"$2\"";
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", script, env!("CARGO_BIN_EXE_telos"), text(&up.directory), text(&monday)]);
    let ended = bash.output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let names: Vec<_> =
        std::fs::read_dir(up.directory.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["image"]);
    telos(&["image", "backup", "--image", text(&up.directory), text(&monday)], "").ok();
}

/// Root may write everywhere, so that root plays it as somebody else.
#[test]
fn an_image_in_a_directory_that_is_read_only_is_checked_and_copied() {
    const NOBODY: u32 = 65534;
    let up = planted();
    let parent = up.directory.parent().unwrap();
    let (frozen, program) = (beside(&up, "frozen"), beside(&up, "telos-for-others"));
    telos(&["image", "backup", "--image", text(&up.directory), text(&frozen)], "").ok();
    std::fs::copy(env!("CARGO_BIN_EXE_telos"), &program).unwrap();
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let theirs = ["frozen/telos.img", "frozen/telos.wal", "frozen", "."].map(|name| parent.join(name));
    theirs.iter().filter(|_| is_root).for_each(|path| chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
    std::fs::set_permissions(&frozen, std::fs::Permissions::from_mode(0o500)).unwrap();
    let telos = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command.args(arguments).current_dir("/").env_remove("TELOS_IMAGE");
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let ended = command.output().unwrap();
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    };
    telos(&["image", "check", "--image", text(&frozen)]);
    telos(&["image", "backup", "--image", text(&frozen), text(&beside(&up, "copy"))]);
    telos(&["image", "restore", text(&frozen), text(&beside(&up, "again"))]);
    let mut names: Vec<_> = std::fs::read_dir(&frozen).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["telos.img", "telos.wal"]);
    std::fs::set_permissions(&frozen, std::fs::Permissions::from_mode(0o700)).unwrap();
}

// ---- words

#[test]
fn names_do_nothing_to_a_terminal_and_commands_can_be_typed() {
    let temporary = tempfile::tempdir().unwrap();
    let directory = temporary.path().join("my \u{1b}[31mgarden");
    let refused = telos(&["send", "--image", text(&directory), "1"], "");
    assert!(refused.errors.contains("^[[31mgarden; start it with"), "{refused:?}");
    assert!(refused.errors.contains("my \\x1b[31mgarden'`") && !refused.errors.contains('\u{1b}'), "{refused:?}");
    let spaced = temporary.path().join("my garden");
    let refused = telos(&["status", "--image", text(&spaced)], "");
    assert!(refused.errors.contains(&format!("`telos up '{}'`", spaced.display())), "{refused:?}");
    let up = Up::start_in(&directory, &[]);
    assert!(!up.run(&["status"], "").ok().contains('\u{1b}'));
}
