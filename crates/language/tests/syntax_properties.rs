//! What holds for all source: printing and formatting keep the code, no input panics, and cost grows with length only.

#![allow(clippy::disallowed_methods, reason = "it times the parser")]

use std::time::{Duration, Instant};

use language::syntax::{
    Completeness, OperatorTable, SyntaxError, escape, format, is_complete, parse, print, shuffle, unescape,
};
use proptest::prelude::*;

/// Checks everything that must hold for source that parses, and hands the error of the rest back.
fn check_source(source: &str) -> Result<(), SyntaxError> {
    let table = OperatorTable::default();
    let completeness = is_complete(source);
    let mut tree = parse(source, &table)?;
    assert!(!matches!(completeness, Completeness::Wrong(_)), "parses, so it is not wrong: {source:?}");

    let printed = print(&tree, tree.root);
    let reparsed = parse(&printed, &table).unwrap_or_else(|error| panic!("{source:?} as {printed:?}: {error}"));
    assert!(tree.same_code(&reparsed), "printing changed {source:?} to {printed:?}");

    let tidy = format(source, &table).unwrap_or_else(|error| panic!("{source:?}: {error}"));
    let tidy_tree = parse(&tidy, &table).unwrap_or_else(|error| panic!("{source:?} as {tidy:?}: {error}"));
    assert!(tree.same_code(&tidy_tree), "formatting changed {source:?} to {tidy:?}");
    assert_eq!(format(&tidy, &table).as_deref(), Ok(tidy.as_str()), "formatting twice differs: {source:?}");

    let root = tree.root;
    shuffle(&mut tree, root, &table).expect("shuffled trees shuffle");
    assert_eq!(print(&tree, root), printed, "shuffling twice differs: {source:?}");
    Ok(())
}

/// Source that is often wrong, but made of what matters.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "a",
        "B",
        "foo:",
        "x.y",
        "é",
        "1",
        "2.5",
        "0xF",
        ".5",
        "1e3",
        "\"s\\n\"",
        "\"\"\"t\"\"\"",
        "\"\"",
        "(",
        "(",
        ")",
        ")",
        "[",
        "]",
        "{",
        "}",
        "()",
        ",",
        ",",
        ";",
        "\n",
        "\n",
        "\r\n",
        " ",
        " ",
        "\t",
        "+",
        "-",
        "*",
        "**",
        "and",
        "return",
        "?",
        "@",
        "!",
        "'",
        ":",
        ":=",
        "=",
        "::=",
        "+=",
        "..",
        "\\",
        "\\\n",
        "\\ ;",
        "//c\n",
        "# c\n",
        "/*c*/",
        "/* a\nb */",
        "/",
        "<=",
        "nil",
        "`",
        "\0",
    ]);
    prop::collection::vec(fragment, 0..24).prop_map(|fragments| fragments.concat())
}

/// Source that is right, with operators, assignments and comments at any depth.
fn program() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "B", "12", "0x1f", "\"s\"", "\"\"\"t\"\"\"", "self x", "()", "[]"]);
    let leaf = leaf.prop_map(str::to_owned);
    let operator = prop::sample::select(vec!["+", "-", "*", "and", "..", "==", "?", "|", "+=", "+\n", "- -", "<=>"]);
    let assignment = prop::sample::select(vec![":=", "=", "::="]);
    let separator = prop::sample::select(vec!["; ", "\n", "\n\n", " // c\n", ";;", " \\\n ", " /* c */ "]);
    leaf.prop_recursive(6, 48, 4, move |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (inner.clone(), operator.clone(), inner.clone()).prop_map(|(l, o, r)| format!("{l} {o} {r}")),
            (operator.clone(), inner.clone()).prop_map(|(o, r)| format!("{o} ({r})")),
            (assignment.clone(), inner.clone()).prop_map(|(o, r)| format!("o slot {o} v {r}")),
            (assignment.clone(), inner.clone()).prop_map(|(o, r)| format!("Slot{o}({r})")),
            (assignment.clone(), list.clone(), inner.clone())
                .prop_map(|(o, l, r)| format!("at({}) {o} v {r}", l.join(","))),
            list.clone().prop_map(|list| format!("call({})", list.join(" ,\n"))),
            list.clone().prop_map(|list| format!("({})", list.join(", "))),
            list.prop_map(|list| format!("x[{}]", list.join(", "))),
            (inner.clone(), separator.clone(), inner).prop_map(|(l, s, r)| format!("{l}{s}{r}")),
        ]
    })
}

/// At least 2,000 cases; PROPTEST_CASES asks for more.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.max(2000), failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn programs_keep_their_code(source in program()) {
        prop_assert!(check_source(&source).is_ok(), "{:?}: {:?}", source, check_source(&source));
    }

    #[test]
    fn fragments_keep_their_code_or_are_refused(source in fragments()) {
        if let Err(error) = check_source(&source) {
            prop_assert!(error.offset <= source.len() && source.is_char_boundary(error.offset));
            prop_assert!(error.line >= 1 && error.column >= 1);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(source in any::<String>()) {
        let _ = check_source(&source);
        let _ = check_source(&format!("\"{}\"", escape(&source)));
    }

    #[test]
    fn escapes_are_undone(text in any::<String>()) {
        let escaped = escape(&text);
        prop_assert_eq!(unescape(&escaped), text);
    }
}

fn timed(what: &str, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    // A few milliseconds when linear, minutes when not.
    assert!(start.elapsed() < Duration::from_secs(20), "{what} took {:?}", start.elapsed());
}

/// Anything that recursed on the native stack would overflow a test thread's 2 MiB here.
#[test]
fn depth_is_no_limit() {
    const DEPTH: usize = 100_000;
    let nested = |open: &str, inner: &str, close: &str| open.repeat(DEPTH) + inner + &close.repeat(DEPTH);
    let sources = [
        nested("(", "a", ")"),
        nested("a(1 + [", "b", "])"),
        nested("a(\n", "b", "\n)"),
        nested("- ", "a", ""),
        nested("1 + (2 * (", "b", "))"),
        nested("a := ", "b", ""),
        nested("a(b) = ", "c", ""),
        nested("a := b(c = (", "d", "))"),
        nested("a ** b * c + d; ", "e", ""),
        nested("/* ", "a", " */ "),
    ];
    for source in &sources {
        let start = &source[..20];
        timed(start, || check_source(source).unwrap_or_else(|error| panic!("{start}: {error}")));
    }
    for source in ["(".repeat(DEPTH), "a(b, ".repeat(DEPTH), "/*".repeat(DEPTH), "\\ ".repeat(DEPTH), ")".repeat(DEPTH)]
    {
        timed(&source[..5], || drop(check_source(&source)));
    }
}

#[test]
fn length_is_no_limit() {
    let line = "counter := counter + list(1, 2, \"three\") size * 4 // and so on\n";
    let file = format!("go := method(\n{}\n)\n", line.repeat(10_000));
    timed("a long file", || check_source(&file).expect("parses"));
    timed("a long line", || check_source(&"a b(c) + d ".repeat(100_000)).expect("parses"));
    timed("many arguments", || check_source(&format!("a({}1)", "b, ".repeat(100_000))).expect("parses"));
    timed("a long string", || check_source(&format!("\"{}\"", "\\n\\\"é".repeat(100_000))).expect("parses"));
}
