//! `Sequence parseJson` and `Sequence asJson`.

mod evaluate;

use evaluate::{check, evaluate_on};
use language::{Host, Vm};

fn parse(json: &str) -> String {
    let mut vm = Vm::new(Host::default());
    let text = vm.symbol(json);
    let lobby = vm.lobby();
    vm.set_slot(lobby, "json", text);
    evaluate_on(&mut vm, "json parseJson")
}

#[test]
fn parses() {
    assert_eq!(parse(r#"{"a": [1, -2.5e3, "x", null, true, false], "b": {}}"#), {
        r#"map(a: list(1, -2500, "x", nil, true, false), b: map())"#
    });
    assert_eq!(parse(" 12 "), "12");
    assert_eq!(parse("[]"), "list()");
    assert_eq!(parse("[[],[{}]]"), "list(list(), list(map()))");
    assert_eq!(parse(r#""a\n\"\u00e9\ud834\udd1e\/""#), "a\n\"é𝄞/");
    assert_eq!(parse(r#""\ud834x""#), "\u{fffd}x");
    assert_eq!(parse("[1, // one\n 2 /* two */]"), "list(1, 2)");
    assert_eq!(parse(r#"{"k": 1, "k": 2}"#), "map(k: 2)");
}

#[test]
fn says_what_is_wrong_and_where() {
    assert_eq!(parse(""), "! Can't parse empty string.");
    for (json, wanted) in [
        ("[1,\n 2,\n x]", "a value was expected at line 3, column 2"),
        ("[1 2]", "',' or ']' was expected at line 1, column 4"),
        (r#"{"a" 1}"#, "':' was expected at line 1, column 6"),
        ("{a: 1}", "a key in quotes was expected at line 1, column 2"),
        ("[1", "',' or ']' was expected at line 1, column 3"),
        ("[", "the text ends where a value was expected at line 1, column 2"),
        ("[01]", "a number that JSON does not allow stands at line 1, column 2"),
        ("[1.]", "a number that JSON does not allow stands at line 1, column 2"),
        ("[1e]", "a number that JSON does not allow stands at line 1, column 2"),
        ("-", "a number that JSON does not allow stands at line 1, column 1"),
        ("1 2", "text after the value at line 1, column 3"),
        (r#""\q""#, "an escape that JSON does not have stands at line 1, column 2"),
        ("nul", "a value was expected at line 1, column 1"),
        ("\"é", "the text ends inside of quotes at line 1, column 3"),
        ("[1,]", "a value was expected at line 1, column 4"),
    ] {
        assert_eq!(parse(json), format!("! Can't parse JSON: {wanted}"), "{json}");
    }
}

/// Nesting must not use the native stack: a parser that called itself would die here.
#[test]
fn nests_deep() {
    let depth = 100_000;
    let mut vm = Vm::new(Host::default());
    let text = vm.symbol(&format!("{}7{}", "[".repeat(depth), "]".repeat(depth)));
    let lobby = vm.lobby();
    vm.set_slot(lobby, "json", text);
    let walk = "n := 0; x := json parseJson; while(x isIdenticalTo(7) == false, x = x at(0); n = n + 1); n";
    assert_eq!(evaluate_on(&mut vm, walk), depth.to_string());
    let text = vm.symbol(&r#"{"a":"#.repeat(depth));
    vm.set_slot(lobby, "json", text);
    assert!(evaluate_on(&mut vm, "json parseJson").starts_with("! Can't parse JSON: the text ends"));
}

/// A document may not take more memory than the machine has, however short its text.
#[test]
fn stays_within_limits() {
    let mut vm = Vm::new(Host::default());
    let text = vm.symbol(&format!("[{}[]]", "[],".repeat(200_000)));
    let lobby = vm.lobby();
    vm.set_slot(lobby, "json", text);
    vm.set_limits(language::Limits { memory_bytes: Some(8 << 20), ..Default::default() });
    assert!(evaluate_on(&mut vm, "json parseJson").contains("out of memory"));
}

#[test]
fn writes_text() {
    check(&[
        (r#""a\"b\\c/d\n\t" asJson"#, r#""a\"b\\c\/d\n\t""#),
        (r#"1 asCharacter asJson"#, r#""\u0001""#),
        (r#""é𝄞" asJson parseJson"#, "é𝄞"),
    ]);
}
