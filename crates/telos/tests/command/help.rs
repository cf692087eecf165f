//! `help` knows the whole library, and what `--help` shows can be typed.

use crate::launch::up::Up;
use crate::launch::{shell, telos, telos_in, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::tempdir;

fn repl(input: &str) -> String {
    telos_in(".".as_ref(), &["repl"], input).ok()
}

/// `Prototype slot` for each primitive of the library. Locals have those of Object, and are nobody's prototype.
fn primitives() -> Vec<String> {
    let program = "Protos Core foreachSlot(name, prototype,
        if(name == \"Locals\", continue)
        getSlot(\"prototype\") slotNames foreach(slot,
            value := getSlot(\"prototype\") getLocalSlot(slot)
            if(getSlot(\"value\") type == \"CFunction\", writeln(name, \" \", slot))
        )
    )";
    telos_in(".".as_ref(), &["run", "-"], program).ok().lines().map(String::from).collect()
}

/// A new user asked for `help List append` and was told that nothing is written about it.
#[test]
fn every_primitive_is_documented() {
    // The slot without a name is what brackets mean: it cannot be asked for.
    let asked: Vec<String> = primitives().into_iter().filter(|name| !name.ends_with(' ')).collect();
    assert!(asked.len() > 500, "{}", asked.len());
    let input: String = asked.iter().map(|name| format!("help {name}\n\"next\"\n")).collect();
    let output = repl(&input);
    let answers: Vec<&str> = output.split("==> \"next\"\n").collect();
    assert_eq!(answers.len(), asked.len() + 1);
    let unknown: Vec<&String> = asked
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.contains("Nothing is written") || answer.contains("There is no"))
        .map(|(name, _)| name)
        .collect();
    assert!(unknown.is_empty(), "add a line to stdlib/doc/ for each of {unknown:?}");
    for (name, answer) in asked.iter().zip(&answers) {
        let words = answer.split_once("\n    ").map_or("", |(_, words)| words.trim());
        assert!(words.ends_with('.') && words.len() > 8, "{name}: {answer}");
    }
}

/// What is documented is there: a renamed slot takes its documentation along.
#[test]
fn nothing_is_documented_that_does_not_exist() {
    // A slot that nil has is found in nil, which means that nothing was found.
    let program: String = language::documentation()
        .filter(|(prototype, _)| *prototype != "nil")
        .map(|(prototype, text)| (prototype, text.split([' ', '(']).next().unwrap_or_default()))
        .map(|(prototype, slot)| {
            format!("e := try(if({prototype} hasSlot(\"{slot}\") not, writeln(\"{prototype} {slot}\")))\n")
        })
        .collect();
    assert_eq!(telos_in(".".as_ref(), &["run", "-"], &program).ok(), "");
}

#[test]
fn help_tells_prototypes_slots_and_objects_of_the_program() {
    let list = repl("help List\n");
    assert!(list.contains("append(values, ...)") && list.contains("Adds the values at the end."), "{list}");
    assert!(list.contains("select(") && list.lines().all(|line| line.chars().count() <= 80), "{list}");
    assert_eq!(repl("help List append\n"), "List append(values, ...)\n    Adds the values at the end. Returns self.\n");
    assert!(repl("help List println\n").starts_with("Object println\n"), "what it inherits");
    let late = "Verification judge(case)\n    Returns the Verdict of all checks.\n";
    assert_eq!(repl("help Verification judge\n"), late, "what is loaded when it is first named");
    assert!(repl("help size\n").contains("List size") && repl("help size\n").contains("Map size"));
    assert!(repl("help if\n").starts_with("Object if(condition, thenExpression, elseExpression)\n"));
    let own = "Account := Object clone do(deposit := method(amount, amount))\nx := 1\n";
    assert!(repl(&format!("{own}help Account\n")).contains("  deposit(amount)\n"));
    assert!(repl(&format!("{own}help Account deposit\n")).contains("Account deposit(amount)\n"));
    assert!(repl(&format!("{own}help x\n")).contains("help Number lists"));
}

/// The object that an image begins with was the one about which nothing was written.
#[test]
fn every_slot_of_telos_is_documented() {
    let up = Up::start(&[]);
    let own = "Telos slotNames remove(\"type\", \"noteRejection\") sort join(\"\\n\")";
    let slots = up.send(own).ok();
    assert!(slots.lines().count() > 10, "{slots}");
    let input: String = slots.lines().map(|slot| format!("help Telos {slot}\n")).collect();
    let told = up.run(&["repl"], &input).ok();
    assert!(!told.contains("Nothing is written"), "add a line to genesis.io: {told}");
    for slot in slots.lines() {
        assert!(told.contains(&format!("Telos {slot}")), "{slot} in {told}");
    }
    let about = up.run(&["repl"], "help Telos\n").ok();
    assert!(about.starts_with("The root object of an image") && about.contains("dream(mandate, block)"), "{about}");
    assert!(about.lines().all(|line| line.chars().count() <= 80), "{about}");
}

/// The commands among the examples of a help text, without what is said beside them.
fn examples(command: &[&str]) -> Vec<String> {
    let help = telos(&[command, &["--help"]].concat()).ok();
    let (_, examples) = help.split_once("Examples:\n").expect("it has examples");
    let whole = examples.split("\n\n").next().unwrap_or_default().replace("\\\n      ", "");
    let commands = whole.lines().map(str::trim_start).filter(|line| line.starts_with("telos "));
    commands.map(|line| line.split("  ").next().unwrap_or_default().to_string()).collect()
}

fn runs_as_printed(directory: &Path, command: &[&str], is_for_us: impl Fn(&str) -> bool) {
    let lines = examples(command);
    assert!(lines.len() >= 3, "{command:?} has lost its examples: {lines:?}");
    for line in lines.iter().filter(|line| is_for_us(line)) {
        let ran = shell(directory, &format!("export TELOS_IMAGE=garden; {line}"));
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    }
}

/// A new user typed what `--help` shows, line by line, and was told of objects that nobody had made.
#[test]
fn the_examples_of_help_run_as_they_are_printed() {
    for command in [&["send"][..], &["dream", "run"]] {
        let directory = tempdir().unwrap();
        write(directory.path(), "script.io", "1 + 1");
        write(directory.path(), "mend.io", "Garden := Object clone do(gate := method(\"open\")); nil");
        write(directory.path(), "mend.py", "print('{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"done\"}', flush=True)");
        let _up = Up::start_in(&directory.path().join("garden"), &[]);
        runs_as_printed(directory.path(), command, |_| true);
    }
}

/// `./tool` of the example was not seen by the sandbox.
#[test]
fn the_examples_of_exec_run_as_they_are_printed() {
    let directory = tempdir().unwrap();
    for (name, text) in [
        ("sum.py", "import sys; print(sum(map(int, sys.argv[1:])))"),
        ("job.py", "print(open('/data/number').read())"),
        ("block.toml", "policy = \"block\""),
        ("Makefile", "all:\n\ttouch made\n"),
        ("tool", "#!/bin/sh\necho done\n"),
    ] {
        write(directory.path(), name, text);
    }
    std::fs::create_dir(directory.path().join("data")).unwrap();
    write(directory.path(), "data/number", "7");
    let tool = directory.path().join("tool");
    std::fs::set_permissions(tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    // No test calls the world outside; that of --image is about an image beside all this.
    runs_as_printed(directory.path(), &["exec"], |line| !line.contains("--net") && !line.contains("--image"));
}

#[test]
fn what_is_not_there_has_a_neighbour_or_none() {
    assert!(repl("help List appendd\n").contains("Did you mean: help List append\n"));
    assert!(repl("help Lisst append\n").contains("Did you mean: help List\n"));
    assert!(repl("help frobnicate\n").contains("There is no \"frobnicate\". Try: help"));
}
