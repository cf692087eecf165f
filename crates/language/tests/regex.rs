//! The matcher behind Regex, without the library's half of it.

mod evaluate;

use evaluate::evaluate_on;
use language::{Host, Vm};

fn matched(pattern: &str, text: &str, start: usize) -> String {
    let mut vm = Vm::new(Host::default());
    let (pattern, text) = (vm.symbol(pattern), vm.symbol(text));
    let lobby = vm.lobby();
    vm.set_slot(lobby, "text", text);
    vm.set_slot(lobby, "it", pattern);
    evaluate_on(&mut vm, &format!("r := Regex clone; r setSlot(\"source\", it); r rawMatchAt(text, {start})"))
}

#[test]
fn matches() {
    assert_eq!(matched("a(b+)(c)?", "xabbz", 0), "list(list(1, 4), list(2, 4), nil)");
    assert_eq!(matched("a", "xabbz", 2), "nil");
    assert_eq!(matched("^a", "aa", 1), "nil");
    assert_eq!(matched("$", "aa", 2), "list(list(2, 2))");
    assert_eq!(matched("a", "aa", 3), "nil");
    assert_eq!(matched("(?i)A", "xa", 0), "list(list(1, 2))");
}

/// Positions count items: a character that is one item counts once however long its UTF-8 is.
#[test]
fn counts_items_of_wide_text() {
    assert_eq!(matched("é(b+)", "xébbé", 0), "list(list(1, 4), list(2, 4))");
    assert_eq!(matched("é", "xébbé", 2), "list(list(4, 5))");
    assert_eq!(matched("é+", "日𝄞éé", 0), "list(list(2, 4))");
}

#[test]
fn names_captures() {
    let mut vm = Vm::new(Host::default());
    let source = r#"r := Regex clone; r setSlot("source", "(?<year>[0-9]+)-([0-9]+)"); r captureNames"#;
    assert_eq!(evaluate_on(&mut vm, source), r#"list(nil, "year", nil)"#);
}

#[test]
fn refuses_bad_and_huge_patterns() {
    assert!(matched("a(", "a", 0).starts_with("! the pattern \"a(\" is not valid: "));
    assert!(matched("(?:(?:a{1000}){1000}){1000}", "a", 0).starts_with("! the pattern "));
    assert!(matched(r"(a)\1", "aa", 0).starts_with("! the pattern "));
}

/// A pattern that makes a backtracking matcher hang.
#[test]
fn takes_linear_time() {
    assert_eq!(matched("(a*)*b", &"a".repeat(100_000), 0), "nil");
}
