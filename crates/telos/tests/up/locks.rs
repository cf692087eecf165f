//! Locks through the command line: what is locked changes with a person's token, and by no other way.

use crate::launch::person::Guarded;
use crate::launch::telos;
use crate::launch::up::wait_for;

#[test]
fn a_locked_object_changes_only_with_the_token() {
    let mut guarded = Guarded::start();
    let locked = guarded.json(&["lock", "--json", "--cause", "it is money", "Account"]);
    assert_eq!((&locked["kind"], &locked["name"]), (&"object".into(), &"Account".into()), "{locked}");
    assert!(locked["commit"].is_u64() && locked["covers"].as_u64().is_some_and(|covers| covers > 5), "{locked}");
    guarded.refused(&["send", "Account rate = 2; Lobby other := 1"]);
    let ran = guarded.run(&["send", "Account rate = 2"]);
    assert!(ran.errors.contains("Account is locked") && ran.errors.contains("--token-file"), "{ran:?}");
    let told = guarded.json(&["send", "--json", "Account rate = 2"]);
    assert_eq!(told["error"]["type"], "locked", "{told}");
    assert_eq!(
        guarded.live("list(Account rate, Lobby hasSlot(\"other\"))"),
        "list(1, false)",
        "all of it was taken back"
    );
    guarded.up.send("Lobby other := 1").ok();
    guarded.run(&["send", "--token-file", guarded.token_path(), "Account rate = 2; Account fees := list(1)"]).ok();
    assert_eq!(guarded.live("Account rate"), "2");
    guarded.refused(&["send", "Account fees append(2)"]);
    assert!(guarded.run(&["why", "Account.rate"]).ok().contains("allowed by a person"));
    assert!(guarded.run(&["locks"]).ok().contains("it is money"));
    assert_eq!(guarded.live("Telos locks map(at(\"name\"))"), "list(\"Account\")");
    assert_eq!(guarded.live("Telos locks first at(\"object\") == Account"), "true");
    assert_eq!(guarded.json(&["status", "--json"])["image"]["locks"], 1);
    guarded.up.stop();
    guarded.up.start_again(&[]);
    guarded.refused(&["send", "Account rate = 3"]);
    guarded.refused(&["unlock", "Account"]);
    assert_eq!(guarded.allowed(&["unlock", "Account"]).ok(), "Account is unlocked\n");
    guarded.up.send("Account rate = 3").ok();
    assert_eq!(guarded.allowed(&["unlock", "Account"]).code, Some(1), "it is not locked");
    let none = guarded.run(&["locks"]);
    assert!(none.errors == "telos: nothing is locked\n" && none.ok().is_empty());
}

#[test]
fn a_lock_covers_what_belongs_to_an_object_and_its_name() {
    let guarded = Guarded::start();
    guarded.run(&["lock", "Account"]).ok();
    assert!(guarded.run(&["lock", "Account"]).ok().contains("locked already"));
    for source in [
        "Account newSlot(\"extra\", 1)",
        "Account removeSlot(\"rate\")",
        "Account appendProto(List clone)",
        "Account rates append(3)",
        "Account rates at(1) append(3)",
        "Account names atPut(\"b\", 2)",
        "Account note appendSeq(\"er\")",
        "Account tax = method(0)",
        "Account getSlot(\"tax\") message setName(\"rate\")",
        "Account getSlot(\"tax\") setArgumentNames(list(\"x\"))",
        "Lobby Account := Object clone",
        "Lobby removeSlot(\"Account\")",
        "Account become(Object clone)",
    ] {
        let ran = guarded.run(&["send", source]);
        assert_ne!(ran.code, Some(0), "{source}: {ran:?}");
    }
    assert_eq!(
        guarded.live("list(Account rates, Account names size, Account note, Account tax)"),
        "list(list(1, list(2)), 1, \"old\", 2)"
    );
    guarded.up.send("Account owner name = \"Eve\"; Mine := Account clone; Mine rate := 9; nil").ok();
    assert_eq!(guarded.live("list(Account owner name, Mine rate, Account rate)"), "list(\"Eve\", 9, 1)");
    guarded.run(&["lock", "Account.owner"]).ok();
    guarded.refused(&["send", "Account owner name = \"Mallory\""]);
    for (path, words) in [
        ("Nobody", "there is no Nobody"),
        ("Account.rate", "is no object"),
        ("Telos", "cannot be locked"),
        ("Scheduler", "cannot be locked"),
        ("", "no name"),
    ] {
        let ran = guarded.run(&["lock", path]);
        assert!(ran.code == Some(1) && ran.errors.contains(words), "{path}: {ran:?}");
    }
    guarded.run(&["lock", "List"]).ok();
    guarded.refused(&["send", "List sum = method(0)"]);
    assert_eq!(guarded.live("list(1, 2) sum"), "3");
}

/// Whatever changes the judge in live decides what is merged next. No dream could, but a method that was merged could when live called
/// it: it emptied the rules, and nobody had to show a token.
#[test]
fn what_judges_changes_only_with_the_token() {
    let mut guarded = Guarded::start();
    let merged = guarded.dreamt("Account evil := method(Verification safetyRules empty; 7); nil");
    guarded.run(&["dream", "merge", &merged]).ok();
    guarded.refused(&["send", "Account evil"]);
    let attempts = [
        "Verification safetyRules empty",
        "Verification checks removeFirst",
        "Verification weights atPut(\"rel\", 0)",
        "Verification tolerance = 1",
        "Verification judgeOne = method(nil)",
        "Verification getSlot(\"judgeOne\") setMessage(message(nil))",
        "Verification Check judge = method(nil)",
        "Verification safetyRules first isBrokenBy := method(false)",
        "Verification safetyRules first allowed append(\"FORGET\")",
        "Verification appendProto(Object clone)",
        "Telos verification = Verification clone",
        "Telos verification := Verification clone do(checks := list())",
        "Lobby Telos := Telos clone do(verification := Verification clone do(checks := list()))",
        "Protos Core Verification := Object clone",
        "UnitTest assertEquals = method(nil)",
        "UnitTest getSlot(\"assertEquals\") setMessage(message(nil))",
        "Protos Core UnitTest := Object clone",
    ];
    for source in attempts {
        guarded.refused(&["send", source]);
    }
    let ran = guarded.run(&["send", "Verification safetyRules empty"]);
    assert!(ran.errors.contains("telos token new") && ran.errors.contains("--token-file"), "{ran:?}");
    // A clone is nobody's judge yet, and tests are written as ever.
    guarded.up.send("Lobby Mine := Verification clone; Mine checks empty; Mine weights atPut(\"rel\", 0); nil").ok();
    guarded.up.send("AccountTest testOther := method(assertTrue(true)); AccountTest run; nil").ok();
    let stricter = "Telos verification = Mine; Mine tolerance := 1; nil";
    guarded.allowed(&["send", stricter]).ok();
    for source in ["Mine tolerance = 2", "Mine checks append(1)", "Verification tolerance = 2"] {
        guarded.refused(&["send", source]);
    }
    guarded.up.stop();
    guarded.up.start_again(&[]);
    guarded.refused(&["send", "Mine tolerance = 2"]);
    guarded.refused(&["send", "Account evil"]);
    guarded.allowed(&["send", "Verification tolerance = 2; nil"]).ok();
}

/// Whoever could change the list of locks would need no token.
#[test]
fn nothing_but_the_commands_changes_the_locks() {
    let guarded = Guarded::start();
    for source in ["Telos locks append(1)", "Telos locks = list()", "Telos removeSlot(\"locks\")"] {
        guarded.refused(&["send", source]);
    }
    let locked = guarded.json(&["lock", "--json", "Account"]);
    for source in [
        "Telos locks removeFirst",
        "Telos locks first atPut(\"name\", \"x\")",
        "Telos locks = list()",
        "Telos setSlot(\"locks\", nil)",
        "Lobby Telos := Object clone",
        "Lobby removeSlot(\"Telos\")",
    ] {
        guarded.refused(&["send", source]);
    }
    guarded.refused(&["revert", &locked["commit"].to_string()]);
    for source in ["Telos locks removeFirst", "Telos locks = list()", "Lobby Telos := Object clone"] {
        let ran = guarded.run(&["dream", "run", "--merge", "-e", source]);
        assert_eq!(ran.code, Some(3), "{source}: {ran:?}");
    }
    assert_eq!(guarded.live("Telos locks size"), "1");
    guarded.refused(&["send", "Account rate = 2"]);
}

#[test]
fn a_dream_of_something_locked_is_merged_by_a_person_only() {
    let guarded = Guarded::start();
    guarded.run(&["lock", "Account"]).ok();
    let dream = guarded.dreamt("Account rate = 7; Account rates append(3); Lobby shop := 1");
    let ran = guarded.run(&["dream", "merge", &dream]);
    assert!(ran.code == Some(3) && ran.output.contains("person's token"), "{ran:?}");
    assert_eq!(guarded.live("Account rate"), "1");
    let merged = guarded.allowed(&["dream", "merge", &dream]).ok();
    assert!(merged.contains("a person allowed: Account rate"), "{merged}");
    assert_eq!(guarded.live("list(Account rate, Account rates size, shop)"), "list(7, 3, 1)");
    let why = guarded.run(&["why", "Account.rate"]).ok();
    assert!(why.contains("a person allowed: Account rate") && why.contains("(allowed by a person)"), "{why}");
    // A test of the image may write to what is locked: what it wrote is taken back.
    guarded
        .up
        .send("WriteTest := UnitTest clone do(testRate := method(Account rate = 1; assertEquals(1, Account rate)))")
        .ok();
    let other = guarded.dreamt("Lobby shop = 2");
    guarded.run(&["dream", "merge", &other]).ok();
    guarded.refused(&["undo", &dream]);
    let undone = guarded.allowed(&["undo", &dream]);
    assert!(undone.code == Some(4) && undone.output.contains("left alone: slot \"shop\" of Lobby"), "{undone:?}");
    assert_eq!(guarded.live("Account rate"), "1");
}

#[test]
fn what_the_image_was_born_with_changes_with_the_token_and_all_other_rules_hold() {
    let guarded = Guarded::start();
    let dream = guarded.dreamt("Verification findingsMax = 99; List second := method(at(1)); nil");
    assert_eq!(guarded.run(&["dream", "merge", &dream]).code, Some(3));
    let ran = guarded.allowed(&["dream", "merge", "--json", &dream]);
    let told: serde_json::Value = serde_json::from_str(&ran.output).expect("it is JSON");
    assert_eq!((ran.code, &told["status"]), (Some(0), &"merged".into()), "{told}");
    let allowed = told["verdict"]["allowed"].as_array().expect("it says what was allowed");
    assert!(allowed.contains(&"List second".into()), "{allowed:?}");
    assert_eq!(guarded.live("list(list(1, 2) second, Verification findingsMax)"), "list(2, 99)");
    let broken = guarded.dreamt("List third := method(at(2)); Account tax = method(7)");
    let ran = guarded.allowed(&["dream", "merge", &broken]);
    assert!(ran.code == Some(3) && ran.output.contains("AccountTest testTax"), "a broken test is refused: {ran:?}");
    let merged = guarded.allowed(&["dream", "run", "--merge", "-e", "List fourth := method(at(3)); nil"]);
    assert_eq!(merged.code, Some(0), "{merged:?}");
    let agent = guarded.run(&["dream", "run", "--merge", "--token-file", guarded.token_path(), "--command", "true"]);
    assert!(agent.code == Some(1) && agent.errors.contains("no agent is given the token"), "{agent:?}");
}

#[test]
fn a_locked_dream_is_not_merged_discarded_resumed_or_undone_without_the_token() {
    let guarded = Guarded::start();
    let dream = guarded.dreamt("Account rate = 7");
    guarded.run(&["lock", "--dream", &dream]).ok();
    guarded.refused(&["dream", "merge", &dream]);
    guarded.refused(&["dream", "discard", &dream]);
    guarded.refused(&["dream", "resume", &dream]);
    guarded.run(&["dream", "verify", &dream]).ok();
    let ran = guarded.up.send(&format!("Dream clone setId(\"{dream}\") discard"));
    assert!(ran.code == Some(1) && ran.errors.contains("is locked"), "{ran:?}");
    assert!(guarded.run(&["dream", "show", &dream]).ok().contains("until it is discarded"));
    guarded.allowed(&["dream", "merge", &dream]).ok();
    assert_eq!(guarded.live("Account rate"), "7");
    guarded.refused(&["undo", &dream]);
    let log = guarded.json(&["log", "--json", "-n", "1"]);
    guarded.refused(&["undo", &log[0]["number"].to_string()]);
    guarded.allowed(&["undo", &dream]).ok();
    guarded.allowed(&["dream", "discard", &dream]).ok();
    guarded.allowed(&["unlock", "--dream", &dream]).ok();
    assert_eq!(guarded.run(&["lock", "--dream", "d9999999"]).code, Some(1), "there is none");
}

#[test]
fn a_coroutine_that_writes_to_what_is_locked_loses_its_turn_and_the_image_goes_on() {
    let guarded = Guarded::start();
    guarded.run(&["lock", "Account"]).ok();
    guarded.up.send("W := Object clone do(work := method(yield; Account rate = 9)); W @@work; nil").ok();
    wait_for("it is kept why", || guarded.live("Telos failures size") == "1");
    assert!(guarded.live("Telos failures last").contains("Account is locked"));
    assert_eq!(guarded.live("Account rate"), "1");
}

#[test]
fn conflicts_and_reverts_of_what_is_locked_need_the_token() {
    let guarded = Guarded::start();
    let dream = guarded.dreamt("Account rate = 5");
    guarded.up.send("Account rate = 3").ok();
    assert_eq!(guarded.run(&["dream", "merge", "--policy", "keep-both", &dream]).code, Some(4));
    let sent = guarded.json(&["send", "--json", "Account balance = 11"]);
    guarded.run(&["lock", "Account"]).ok();
    guarded.refused(&["conflicts", "resolve", "1", "--side", "1"]);
    let commit = sent["commit"].to_string();
    guarded.refused(&["revert", &commit]);
    guarded.allowed(&["revert", &commit]).ok();
    assert_eq!(guarded.live("Account balance"), "10");
    guarded.allowed(&["conflicts", "resolve", "1", "--side", "1"]).ok();
    assert_eq!(guarded.live("Account rate"), "5");
}

#[test]
fn nothing_of_a_locked_image_changes_and_its_backup_is_restored_by_a_person_only() {
    let mut guarded = Guarded::start();
    guarded.up.send("Telos awake = method(Lobby woken := 1)").ok();
    let dream = guarded.dreamt("Account rate = 5");
    guarded.run(&["lock", "--whole"]).ok();
    guarded.refused(&["send", "Lobby other := 1"]);
    guarded.refused(&["lock", "Account"]);
    guarded.refused(&["dream", "merge", &dream]);
    guarded.refused(&["dream", "run", "--merge", "-e", "Account rate = 6"]);
    guarded.refused(&["revert", "2"]);
    assert_eq!(guarded.live("Account rate"), "1", "whoever reads is answered");
    let judged = guarded.run(&["dream", "verify", &dream]);
    assert!(judged.code == Some(3) && judged.output.contains("person's token"), "{judged:?}");
    guarded.allowed(&["dream", "verify", &dream]).ok();
    guarded.up.stop();
    guarded.up.start_again(&[]);
    assert_eq!(guarded.live("Lobby hasSlot(\"woken\")"), "false", "it was not woken up");
    let (copy, again) = (guarded.aside("copy"), guarded.aside("again"));
    let (copy, again) = (copy.to_str().expect("plain"), again.to_str().expect("plain"));
    guarded.run(&["image", "backup", copy]).ok();
    guarded.refused(&["image", "restore", copy, again]);
    assert!(!std::path::Path::new(again).exists());
    guarded.allowed(&["image", "restore", copy, again]).ok();
    assert!(telos(&["token", "show", "--image", again]).ok().contains("has a token"));
    guarded.allowed(&["send", "Lobby other := 1"]).ok();
    guarded.allowed(&["dream", "merge", &dream]).ok();
    guarded.allowed(&["unlock", "--whole"]).ok();
    guarded.up.send("Account rate = 6").ok();
}

/// An image that is not up has no keeper: whoever opens it looks at the token.
#[test]
fn a_dialogue_with_an_image_that_is_not_up_holds_the_locks_too() {
    let mut guarded = Guarded::start();
    guarded.run(&["lock", "Account"]).ok();
    guarded.up.stop();
    let image = guarded.up.directory.to_str().expect("plain").to_string();
    let talk = |options: &[&str], input: &str| {
        let words = [&["repl", "--image", image.as_str()], options].concat();
        crate::launch::telos_in(".".as_ref(), &words, input)
    };
    let ran = talk(&[], "Account rate = 4\nAccount rate\n");
    assert!(ran.code == Some(3) && ran.output.contains("==> 1"), "{ran:?}");
    let ran = talk(&["--token-file", guarded.token_path()], "Account rate = 4\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(talk(&[], "Account rate\n").output.contains("==> 4"));
    guarded.up.start_again(&[]);
    assert_eq!(guarded.live("Account rate"), "4");
}
