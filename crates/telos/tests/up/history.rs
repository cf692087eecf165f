//! `telos log`, `show` and `revert`, from end to end.

use crate::launch::up::Up;
use serde_json::Value;

/// The number of the commit that an expression makes.
fn commit(up: &Up, expression: &str) -> String {
    let told: Value = serde_json::from_str(&up.run(&["send", "--json", expression], "").ok()).unwrap();
    told["commit"].as_u64().expect("it changes something").to_string()
}

/// Where everything was written since, `revert` said that nothing was left to take back.
#[test]
fn a_revert_says_what_it_left_alone() {
    let up = Up::start(&[]);
    up.send("Garden := Object clone do(trees := 1; roses := 1)").ok();
    let first = commit(&up, "Garden trees = 2; Garden roses = 2");
    commit(&up, "Garden trees = 3");
    let ran = up.run(&["revert", &first], "");
    let (code, told) = (ran.code, ran.output);
    assert!(code == Some(4) && told.contains(&format!("takes back commit {first}\n")), "{told}");
    assert!(told.contains("  left alone: slot \"trees\" of Garden\n"), "{told}");
    assert_eq!(up.send("list(Garden trees, Garden roses)").ok(), "list(3, 1)\n");
    let second = commit(&up, "Garden trees = 4");
    commit(&up, "Garden trees = 5");
    let ran = up.run(&["revert", &second], "");
    let (code, told) = (ran.code, ran.output);
    assert!(told.starts_with(&format!("nothing of commit {second} was taken back")), "{told}");
    assert_eq!(code, Some(1), "whoever counts on it must notice");
    assert_eq!(told.matches("left alone: slot \"trees\"").count(), 1, "{told}");
    let told: Value = serde_json::from_str(&up.run(&["revert", "--json", &second], "").output).unwrap();
    assert!(told["commit"].is_null() && told["left_alone"].as_array().is_some_and(|left| left.len() == 1), "{told}");
    let third = commit(&up, "Garden trees = 6");
    up.run(&["revert", &third], "").ok();
    assert_eq!(up.send("Garden trees").ok(), "5\n");
    let nothing = up.run(&["revert", "4711"], "");
    assert!(nothing.code == Some(1) && nothing.errors.contains("4711 is not in the history"), "{nothing:?}");
}

/// A machine is born with a ring of protos. Whoever broke it could not take that back, and was told of later commits that
/// there were none of.
#[test]
fn a_revert_restores_the_ring_that_the_image_was_born_with() {
    let up = Up::start(&[]);
    for breaking in ["Lobby removeAllProtos; nil", "Object setProtos(list(nil)); nil"] {
        let broken = commit(&up, breaking);
        let told = up.run(&["revert", &broken], "").ok();
        assert!(told.contains(&format!("takes back commit {broken}\n")) && !told.contains("left alone"), "{told}");
        assert_eq!(up.send("list(1, 2) map(+ 1) sum").ok(), "5\n");
        assert_eq!(up.send("Lobby getSlot(\"Object\") type").ok(), "Object\n");
    }
    let genesis = up.run(&["revert", "1"], "");
    assert!(genesis.code == Some(1) && genesis.output.contains("objects that it made stay"), "{genesis:?}");
}

/// Numbers of one and of two digits stood out of line.
#[test]
fn a_history_is_a_table() {
    let up = Up::start(&[]);
    up.send("Garden := Object clone do(trees := 1)").ok();
    (2..12).for_each(|trees| drop(commit(&up, &format!("Garden trees = {trees}"))));
    let told = up.run(&["history", "Garden.trees"], "").ok();
    let columns: std::collections::BTreeSet<_> = told.lines().map(|line| line.find('-')).collect();
    assert!(told.lines().count() == 11 && columns.len() == 1, "{told}");
}

#[test]
fn a_commit_shows_what_was_before() {
    let mut up = Up::start(&[]);
    up.send("Garden := Object clone do(trees := 1; names := list(\"oak\", \"elm\"))").ok();
    let changed = commit(&up, "Garden trees = 2; Garden roses := 7; Garden removeSlot(\"names\")");
    let item = commit(&up, "Garden words := list(\"a\", \"b\")");
    // In the log, and in the image.
    for _ in 0..2 {
        let shown = up.run(&["show", &changed], "").ok();
        for words in ["trees: 1 \u{2192} 2\n", "roses: 7\n", "names: it was object ", "  set    Garden ("] {
            assert!(shown.contains(words), "{words:?} in {shown}");
        }
        assert!(up.run(&["show", &item], "").ok().contains("words: object "));
        up.stop();
        up.start_again(&[]);
    }
    let told: Value = serde_json::from_str(&up.run(&["show", "--json", &changed], "").ok()).unwrap();
    let changes = told["changes"].as_array().unwrap();
    assert!(changes.iter().any(|change| change["before"] == "1" && change["after"] == "2"), "{told}");
}

/// A dot or a space in a name was taken for what stands between names.
#[test]
fn a_name_with_a_space_or_a_dot_is_written_in_quotes() {
    let up = Up::start(&[]);
    up.send("Garden := Object clone; Garden setSlot(\"north gate\", 1); Garden setSlot(\"a.b\", Object clone); nil")
        .ok();
    let ran = up.telos(&["dream", "run", "--keep", "--json", "-e", "Garden setSlot(\"north gate\", 2); Garden x := 1"]);
    let told: serde_json::Value = serde_json::from_str(&ran.ok()).expect("it is JSON");
    let dream = told["dream"].as_str().expect("it has a name");
    up.telos(&["send", "Garden setSlot(\"north gate\", 3)"]).ok();
    let merged = up.telos(&["dream", "merge", "--policy", "keep-both", "--only", "Garden \"north gate\"", dream]);
    assert_eq!(merged.code, Some(4), "{merged:?}");
    assert_eq!(up.send("Garden hasSlot(\"x\")").ok(), "false\n");
    let conflicts = up.telos(&["conflicts"]).ok();
    assert!(conflicts.contains("Garden \"north gate\""), "{conflicts}");
    for path in ["Garden.\"north gate\"", "Garden \"north gate\"", "Lobby.Garden.\"a.b\""] {
        let why = up.telos(&["why", path]);
        assert!(why.code == Some(0) && up.telos(&["history", path]).code == Some(0), "{path}: {why:?}");
    }
    let wrong = up.telos(&["why", "Garden.\"north gate"]);
    assert!(wrong.code == Some(1) && wrong.errors.contains("stands in quotes"), "{wrong:?}");
    up.telos(&["rejections", "--of", "Garden \"a.b\""]).ok();
}

#[test]
fn conflicts_are_listed_as_many_as_were_asked_for() {
    let up = Up::start(&[]);
    up.send("Garden := Object clone; 5 repeat(i, Garden setSlot(\"s\" .. i, 0)); nil").ok();
    let ran = up.telos(&["dream", "run", "--keep", "--json", "-e", "5 repeat(i, Garden setSlot(\"s\" .. i, 1)); nil"]);
    let told: serde_json::Value = serde_json::from_str(&ran.ok()).expect("it is JSON");
    up.send("5 repeat(i, Garden setSlot(\"s\" .. i, 2)); nil").ok();
    let dream = told["dream"].as_str().expect("it has a name");
    assert_eq!(up.telos(&["dream", "merge", "--policy", "keep-both", dream]).code, Some(4));
    up.telos(&["conflicts", "resolve", "2", "--keep"]).ok();
    let numbers = |arguments: &[&str]| -> Vec<u64> {
        let told = up.telos(&[&["conflicts", "--json"], arguments].concat()).ok();
        let told: serde_json::Value = serde_json::from_str(&told).expect("it is JSON");
        told.as_array().unwrap().iter().map(|each| each["conflict"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&[]), [1, 3, 4, 5]);
    assert_eq!(numbers(&["--count", "3"]), [1, 3, 4]);
    assert_eq!(numbers(&["--all", "-n", "2"]), [1, 2]);
    let few = up.telos(&["conflicts", "-n", "1"]);
    assert!(few.output.lines().count() == 1 && few.errors.contains("--count N lists more"), "{few:?}");
    assert!(up.telos(&["conflicts", "show", "5"]).ok().contains("conflict 5 is open"));
    let unsaid = up.telos(&["conflicts", "resolve", "1"]);
    assert!(unsaid.code == Some(2) && unsaid.errors.contains("telos conflicts show 1"), "{unsaid:?}");
}
