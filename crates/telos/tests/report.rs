//! What a user reads when something went wrong.

mod common;

use common::{eval, telos, telos_in, write};
use tempfile::tempdir;

#[test]
fn an_exception_shows_source_stack_and_hint() {
    let directory = tempdir().unwrap();
    let program = "// A shop.\nbuy := method(things,\n    things appendd(\"tea\")\n)\nbuy(list())\n";
    write(directory.path(), "shop.io", program);
    let ran = telos_in(directory.path(), &["run", "shop.io"], "");
    assert_eq!(ran.code, Some(1));
    assert_eq!(
        ran.errors,
        "\
error: Exception: List does not respond to 'appendd'
 --> shop.io:3:12
  |
3 |     things appendd(\"tea\")
  |            ^^^^^^^
  |
  = help: did you mean 'append'?
stack:
    appendd  shop.io:3:12
    buy      shop.io:5:1
"
    );
}

#[test]
fn a_syntax_error_shows_where_and_what_would_help() {
    let ran = eval("list(1, 2");
    assert_eq!(ran.code, Some(1));
    assert!(ran.errors.starts_with("error: syntax error: "), "{ran:?}");
    assert!(ran.errors.contains(" --> eval:1:5"), "{ran:?}");
    assert!(ran.errors.contains("1 | list(1, 2\n  |     ^"), "{ran:?}");
}

#[test]
fn a_slot_that_is_not_there_is_not_updated() {
    let ran = eval("count = 1");
    assert!(ran.errors.contains("help: \"count := …\" makes the slot"), "{ran:?}");
}

#[test]
fn names_are_guessed_from_the_object_itself() {
    let ran = eval("Account := Object clone do(balance := 1); Account blance");
    assert!(ran.errors.contains("did you mean 'balance'?"), "{ran:?}");
    let ran = eval("1 frobnicateAll");
    assert!(!ran.errors.contains("did you mean"), "{ran:?}");
}

#[test]
fn colours_are_for_terminals_or_on_demand() {
    assert!(!eval("1 foo").errors.contains('\x1b'));
    assert!(telos(&["--color", "always", "eval", "1 foo"]).errors.contains('\x1b'));
    assert!(!telos(&["--color", "never", "eval", "1 foo"]).errors.contains('\x1b'));
}

#[test]
fn output_comes_before_the_error_that_follows_it() {
    let ran = eval("\"before\" println; 1 foo");
    assert_eq!(ran.output, "before\n");
    assert_eq!(ran.code, Some(1));
}

/// A name of a hundred kilobytes was compared with every other, and then printed three times.
#[test]
fn what_is_huge_is_cut_in_errors() {
    let name = "n".repeat(100_000);
    let directory = tempfile::tempdir().unwrap();
    for program in [
        name.clone(),
        format!("Lobby {name}"),
        format!("N{name}"),
        format!("{name} := method(1 foo); {name}"),
        "Exception raise(\"x\" repeated(1000000))".to_string(),
        "Regex with(\"(\" repeated(1000000)) matchesIn(\"\") all".to_string(),
    ] {
        let began = std::time::Instant::now();
        let ran = common::telos_in(directory.path(), &["run", "-"], &program);
        assert_eq!(ran.code, Some(1));
        assert!(ran.errors.len() < 20_000, "{} bytes for {}", ran.errors.len(), &program[..20]);
        assert!(began.elapsed().as_secs() < 3, "{:?} for {}", began.elapsed(), &program[..20]);
    }
}
