//! What `format` makes of source, case by case.

use language::syntax::{OperatorTable, format, parse};

fn check(source: &str, expected: &str) {
    let table = OperatorTable::default();
    let tidy = format(source, &table).unwrap_or_else(|error| panic!("{source}: {error}"));
    assert_eq!(tidy, expected, "source: {source}");
    assert_eq!(format(&tidy, &table).as_deref(), Ok(expected), "tidying twice: {source}");
    let (before, after) = (parse(source, &table).expect("parses"), parse(&tidy, &table).expect("parses"));
    assert!(before.same_code(&after), "source: {source}");
}

#[test]
fn spaces() {
    check("", "");
    check("  // c  \n", "// c\n");
    check("a:=1+2*  3", "a := 1 + 2 * 3\n");
    check("f ( a ,b , [ 1,2 ] )g", "f(a, b, [1, 2]) g\n");
    check("-1; - 1; a(-1, !b)", "-1; - 1; a(-1, !b)\n");
    check("a -1; a== -1", "a - 1; a == -1\n");
    check("a ?b; a?b; @c; @@ d", "a ?b; a ?b; @c; @@ d\n");
    check("1 +(2); 1+ (2); return (a); return(a); if (x)", "1 + (2); 1 + (2); return (a); return(a); if(x)\n");
    check("Number + := method(a)", "Number + := method(a)\n");
    check("a/* x */b# y ", "a /* x */ b # y\n");
    check("a[1] {b}", "a[1] {b}\n");
}

#[test]
fn lines() {
    check("\n\na\n\n\n\nb;\n;c; ;d;", "a\n\nb\nc; d\n");
    check("f(\n\na,\nb\n\n)\n", "f(\n    a,\n    b\n)\n");
    check("f(g(\na\n))", "f(g(\n    a\n))\n");
    check("a := method(x,\nif(x,\nb\n,\nc\n)\n// end\n)", METHOD);
    check("a \\\nb", "a \\\n    b\n");
    check("a \\\n\\\n\nb(\\\nc \\\n)", "a\nb(\n    c\n)\n");
    check("a; // c\nb; /* d */ c", "a // c\nb; /* d */ c\n");
    check("a\r\n\tb\r\n", "a\nb\n");
    check("x \"a\n  b\" \"\"\"c\n d\"\"\"", "x \"a\n  b\" \"\"\"c\n d\"\"\"\n");
}

const METHOD: &str = "\
a := method(x,
    if(x,
        b
        ,
        c
    )
    // end
)
";

/// An operator may end in a backslash, which at the end of a line would join it with the next.
#[test]
fn a_backslash_never_comes_to_end_a_line() {
    check("a \\ ;\nb", "a \\;\nb\n");
    check("a \\", "a \\;\n");
    check("a +\\ // c\nb", "a +\\ // c\nb\n");
    check("a \\ /* c */\nb", "a \\ /* c */\nb\n");
}

#[test]
fn wrong_source_is_refused() {
    for source in ["(", "a :=", "\"", "a)", "f(,)"] {
        assert!(format(source, &OperatorTable::default()).is_err(), "{source}");
    }
}

/// Found by fuzzing: a semicolon that is left out kept the second bracket from being seen, so that tidying once more moved the line.
#[test]
fn idle_semicolons_between_closing_brackets_indent_nothing() {
    check("((\n);)", "((\n))\n");
}
