//! `telos image check`, `backup` and `restore`: care for the files, whether the image is up or not.

use crate::launch::up::{Up, is_alive, wait_for};
use crate::launch::{Ran, telos_in};
use std::os::unix::fs::FileExt;
use std::path::Path;

fn telos(arguments: &[&str]) -> Ran {
    telos_in(Path::new("."), arguments, "")
}

fn image(verb: &str, directory: &Path) -> Ran {
    telos(&["image", verb, "--image", directory.to_str().unwrap()])
}

fn backup(directory: &Path, into: &Path) -> Ran {
    telos(&["image", "backup", "--image", directory.to_str().unwrap(), into.to_str().unwrap()])
}

fn restore(backup: &Path, into: &Path) -> Ran {
    telos(&["image", "restore", "--json", backup.to_str().unwrap(), into.to_str().unwrap()])
}

/// An image with something in it, all of which is in `telos.img`.
fn planted() -> Up {
    let up = Up::start(&[]);
    up.send("Garden := list(); 2000 repeat(i, Garden append(Object clone do(size := i))); nil").ok();
    wait_for("the checkpoint has been there", || {
        let status: serde_json::Value = serde_json::from_str(&up.run(&["status", "--json"], "").ok()).unwrap();
        status["image"]["pending_commits"] == 0
    });
    up
}

fn truncate(directory: &Path) {
    let path = directory.join("telos.img");
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2 / 4096 * 4096 + 1000).unwrap();
}

// ---- check

#[test]
fn a_whole_image_is_found_whole_up_or_not() {
    let mut up = planted();
    assert_eq!(image("check", &up.directory).ok(), "nothing is wrong\n");
    let info = image("info", &up.directory).ok();
    assert!(info.contains("log used bytes ") && info.contains("log capacity bytes "), "{info}");
    // Also while somebody writes all the time.
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut client = up.client();
            for number in 0..2000 {
                let source = format!("Garden append(Object clone do(size := {number})); nil");
                client.send(&keeper::protocol::Request::evaluate(source)).unwrap();
            }
        });
        let mut checks = 0;
        while !writer.is_finished() || checks == 0 {
            assert_eq!(image("check", &up.directory).ok(), "nothing is wrong\n");
            checks += 1;
        }
    });
    up.stop();
    assert_eq!(image("check", &up.directory).ok(), "nothing is wrong\n");
    let nowhere = image("check", &up.directory.join("nowhere"));
    assert!(nowhere.code == Some(1) && nowhere.errors.contains("no image"), "{nowhere:?}");
}

#[test]
fn a_truncated_image_is_named_and_whoever_is_up_stays_up() {
    let mut up = planted();
    assert_eq!(up.send("Garden size").ok(), "2000\n");
    truncate(&up.directory);
    let checked = image("check", &up.directory);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert!((checked.output.clone() + &checked.errors).contains("telos.img"), "{checked:?}");
    assert!(is_alive(up.image_pid), "the image process looked at nothing");
    assert!(up.run(&["status"], "").ok().contains("is running"));
    up.signal("KILL");
    up.ended();
    wait_for("the image process ends", || !is_alive(up.image_pid));
    let checked = image("check", &up.directory);
    assert!(checked.code == Some(1) && checked.errors.contains("telos.img"), "{checked:?}");
}

/// LMDB trusts its pages: rubbish in them ends whoever follows it. Here that is the child.
#[test]
fn rubbish_in_the_pages_is_a_finding_and_no_crash() {
    let mut up = planted();
    up.stop();
    let path = up.directory.join("telos.img");
    let pages = std::fs::metadata(&path).unwrap().len() / 4096;
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    for page in 2..pages {
        // The number of the page stays, so that it is followed.
        file.write_all_at(&[0xa5; 4000], page * 4096 + 16).unwrap();
    }
    let checked = image("check", &up.directory);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert!((checked.output.clone() + &checked.errors).contains("telos.img"), "{checked:?}");
}

/// The image process was ended by a signal, and nobody said which file was to blame.
#[test]
fn an_image_file_that_is_cut_off_under_a_living_image_is_named() {
    let mut up = planted();
    up.stop();
    up.start_again(&[]);
    let path = up.directory.join("telos.img");
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(2 * 4096).unwrap();
    assert_ne!(up.send("Garden map(size) sum").code, Some(0));
    let (code, errors) = up.ended();
    assert!(code != Some(0) && errors.contains(path.to_str().unwrap()), "{errors}");
}

// ---- backup and restore

#[test]
fn what_was_backed_up_is_restored_and_lives() {
    let mut up = planted();
    let parent = up.directory.parent().unwrap().to_path_buf();
    up.send("late := \"in the log\"").ok();
    backup(&up.directory, &parent.join("monday")).ok();
    up.send("late := \"after the backup\"").ok();
    up.stop();
    backup(&up.directory, &parent.join("cold")).ok();
    for (name, late) in [("monday", "in the log\n"), ("cold", "after the backup\n")] {
        let again = parent.join(format!("again-{name}"));
        let told: serde_json::Value = serde_json::from_str(&restore(&parent.join(name), &again).ok()).unwrap();
        assert!(told["objects"].as_u64() > Some(2000) && told["commits"].as_u64() >= Some(4), "{told}");
        let restored = Up::start_in(&again, &[]);
        assert_eq!(restored.send("Garden size").ok(), "2000\n");
        assert_eq!(restored.send("late").ok(), late);
    }
    let hidden = std::fs::read_dir(&parent)
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains("restoring"));
    assert_eq!(hidden.count(), 0);
}

#[test]
fn nothing_is_restored_over_anything() {
    let mut up = planted();
    let parent = up.directory.parent().unwrap().to_path_buf();
    let monday = parent.join("monday");
    backup(&up.directory, &monday).ok();
    let over = restore(&monday, &up.directory);
    assert!(over.code == Some(1) && over.errors.contains("has an image already"), "{over:?}");
    assert_eq!(up.send("Garden size").ok(), "2000\n");
    up.stop();
    let over = restore(&monday, &up.directory);
    assert!(over.code == Some(1) && over.errors.contains("has an image already"), "{over:?}");
    std::fs::create_dir(parent.join("full")).unwrap();
    std::fs::write(parent.join("full/letter"), "x").unwrap();
    assert!(restore(&monday, &parent.join("full")).errors.contains("is not empty"));
    assert!(restore(&parent.join("full"), &parent.join("new")).errors.contains("is no backup"));
    std::fs::create_dir(parent.join("empty")).unwrap();
    restore(&monday, &parent.join("empty")).ok();
    // The image that is restored from must hold still.
    let live = Up::start_in(&parent.join("empty"), &[]);
    let refused = restore(&live.directory, &parent.join("new"));
    assert!(refused.code == Some(1) && refused.errors.contains("in use"), "{refused:?}");
    assert!(!parent.join("new").exists());
}

#[test]
fn a_damaged_backup_is_not_restored() {
    let up = planted();
    let parent = up.directory.parent().unwrap().to_path_buf();
    let monday = parent.join("monday");
    backup(&up.directory, &monday).ok();
    truncate(&monday);
    let refused = restore(&monday, &parent.join("new"));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!((refused.output.clone() + &refused.errors).contains("telos.img"), "{refused:?}");
    assert!(!parent.join("new").exists());
    assert!(
        std::fs::read_dir(&parent)
            .unwrap()
            .flatten()
            .all(|entry| { !entry.file_name().to_string_lossy().contains("restoring") })
    );
}
