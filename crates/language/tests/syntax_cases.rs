//! What Io source means as a tree, case by case: the source, and the same code printed with its operators shuffled.

use language::syntax::{Literal, OperatorTable, Tree, parse, print, shuffle};

fn code(source: &str) -> String {
    let tree = parse(source, &OperatorTable::default()).unwrap_or_else(|error| panic!("{source}: {error}"));
    print(&tree, tree.root)
}

fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(code(source), *expected, "source: {source}");
        assert_eq!(code(expected), *expected, "printed: {expected}");
    }
}

fn error(source: &str) -> (String, u32, u32) {
    let error = parse(source, &OperatorTable::default()).expect_err(source);
    (error.message, error.line, error.column)
}

fn literals<'s>(tree: &Tree<'s>) -> Vec<Literal<'s>> {
    tree.nodes.iter().map(|node| node.literal.clone()).filter(|literal| *literal != Literal::None).collect()
}

#[test]
fn messages_and_arguments() {
    check(&[
        ("", "nil"),
        ("// only a comment", "nil"),
        ("a b  c", "a b c"),
        ("a(b, c) d", "a(b, c) d"),
        ("a (b)", "a(b)"),
        ("a /* c */ (b)", "a(b)"),
        ("a \\\n  (b)", "a(b)"),
        ("a\n(b)", "a ;\n(b)"),
        ("a()", "a"),
        ("a() (b)", "a() (b)"),
        ("a(1)(2)", "a(1) (2)"),
        ("()", "()"),
        ("() b", "() b"),
        ("(a) b", "(a) b"),
        ("((a))", "((a))"),
        ("foo((1 + 2))", "foo((1 +(2)))"),
        ("[1, 2]", "squareBrackets(1, 2)"),
        ("a[1]", "a squareBrackets(1)"),
        ("{a}[]", "curlyBrackets(a) squareBrackets"),
        ("a(\n b\n c\n,\n d\n)", "a(b ;\nc, d)"),
    ]);
}

#[test]
fn statements() {
    check(&[
        ("a; b", "a ;\nb"),
        ("a\n\n;\n// c\n;b", "a ;\nb"),
        (";a;", "a"),
        ("a(;b;)", "a(b)"),
        ("a(;)", "a"),
        ("a // c\nb # c\nc /* x \n y */ d", "a ;\nb ;\nc d"),
        ("a /* outer /* inner */ still */ b", "a b"),
        ("a \\\nb", "a b"),
        ("a\r\nb\r\n", "a ;\nb"),
    ]);
}

#[test]
fn names() {
    check(&[
        ("a.b _c d2 é:x", "a.b _c d2 é:x"),
        ("foo: 1", "foo: 1"),
        ("2x", "2 x"),
        ("1.5.5", "1.5 .5"),
        ("\"a\"..b", "\"a\" ..b"),
        ("a <=> b", "a <=> b"),
        ("a +// c\nb", "a +(b)"),
        ("'a'", "' a '"),
    ]);
}

#[test]
fn operators() {
    check(&[
        ("1 + 2 * 3", "1 +(2 *(3))"),
        ("1 * 2 + 3", "1 *(2) +(3)"),
        ("a+b", "a +(b)"),
        ("1 + (2) - 3", "1 +(2) -(3)"),
        ("1 +(2) * 3", "1 +((2) *(3))"),
        ("1 + (2, 3)", "1 +((2, 3))"),
        ("1 + (2) foo", "1 +((2) foo)"),
        ("1 + ((2))", "1 +((2))"),
        ("1 +\n2\n3", "1 +(2) ;\n3"),
        ("-3 abs", "-(3 abs)"),
        ("a(-1) - -2", "a(-(1)) -(-(2))"),
        ("2 ** -3 ** 4 + 5", "2 **(-(3 **(4))) +(5)"),
        ("!x", "! x"),
        ("a ?b c + d", "a ?(b c) +(d)"),
        ("a @b; c @@d", "a @(b) ;\nc @@(d)"),
        ("a and b or c", "a and(b) or(c)"),
        ("return a + b", "return(a +(b))"),
        ("return", "return"),
        ("a +", "a +"),
        ("a(+, -)", "a(+, -)"),
    ]);
}

#[test]
fn assignments() {
    check(&[
        ("a := 1", "setSlot(\"a\", 1)"),
        ("a:=1", "setSlot(\"a\", 1)"),
        ("a::=1", "newSlot(\"a\", 1)"),
        ("a = b c; d", "updateSlot(\"a\", b c) ;\nd"),
        ("A := B := 2", "setSlotWithType(\"A\", setSlotWithType(\"B\", 2))"),
        ("A = 1", "updateSlot(\"A\", 1)"),
        ("o a := b + c\nd", "o setSlot(\"a\", b +(c)) ;\nd"),
        ("a := (b) + c", "setSlot(\"a\", (b) +(c))"),
        ("a := (b; c)", "setSlot(\"a\", b ;\nc)"),
        ("+ := method(a)", "setSlot(\"+\", method(a))"),
        ("a * b + := c", "a *(b setSlot(\"+\", c))"),
        ("1 + a := b", "1 +(setSlot(\"a\", b))"),
        ("x[1] = 5 + 6; y", "x updateSlot(squareBrackets(1), 5 +(6)) ;\ny"),
        ("a(b + c) := d", "setSlot(a(b +(c)), d)"),
        ("\"a\" = 1", "updateSlot(\"\\\"a\\\"\", 1)"),
        ("a += 1 + 2", "a +=(1 +(2))"),
    ]);
}

#[test]
fn literal_values() {
    let source = r##"1 2.5 .5 1e3 1E-2 0xFF 0X1f 1e999 "a\n\"" """b\n"c" """ """""" "##.trim_end();
    let tree = parse(source, &OperatorTable::default()).expect("literals");
    let numbers = [1.0, 2.5, 0.5, 1000.0, 0.01, 255.0, 31.0, f64::INFINITY].map(Literal::Number);
    let texts = ["a\n\"", "b\\n\"c\" ", ""].map(|text| Literal::Text(text.into()));
    assert_eq!(literals(&tree), numbers.into_iter().chain(texts).collect::<Vec<_>>());
    assert_eq!(print(&tree, tree.root), source);
}

#[test]
fn positions_are_those_of_the_source() {
    let tree = parse("é := 1\n  b(c)", &OperatorTable::default()).expect("parses");
    let place = |name: &str| {
        let node = tree.nodes.iter().find(|node| node.name == name).expect(name);
        (node.line, node.column)
    };
    assert_eq!(place("setSlot"), (1, 1));
    assert_eq!(place("1"), (1, 6));
    assert_eq!(place(";"), (1, 7));
    assert_eq!(place("b"), (2, 3));
    assert_eq!(place("c"), (2, 5));
}

#[test]
fn errors_say_what_and_where() {
    let cases = [
        ("a(b", "unmatched ()s", 1, 2),
        ("a(b\n[c)", "unmatched ), [ was opened at line 2, column 1", 2, 3),
        ("a)", "unmatched )", 1, 2),
        ("a, b", "unexpected comma", 1, 2),
        ("a(b,)", "missing argument in argument list", 1, 4),
        ("a(,b)", "missing argument in argument list", 1, 3),
        ("a\n \"b", "unterminated string", 2, 2),
        ("\"\"\"a\"", "unterminated string", 1, 1),
        ("a /* /* */", "unterminated comment", 1, 3),
        (":= 1", ":= requires an expression to its left", 1, 1),
        ("a; = 1", "= requires an expression to its left", 1, 4),
        ("a +\n:= 1", ":= requires an expression to its left", 2, 1),
        ("f(:=)", ":= requires an expression to its left", 1, 3),
        ("a :=", ":= must be followed by a value", 1, 3),
        ("a :=\nb", ":= must be followed by a value", 1, 3),
        ("a := (b, c)", ":= takes one value, not several", 1, 3),
        ("a \0", "stray character \"\\0\"", 1, 3),
        ("é `", "stray character \"`\"", 1, 3),
        ("1..2", "malformed number \"1..2\"", 1, 1),
        ("0xZ", "malformed number \"0xZ\"", 1, 1),
        ("1e", "malformed number \"1e\"", 1, 1),
    ];
    for (source, message, line, column) in cases {
        assert_eq!(error(source), (message.to_owned(), line, column), "source: {source}");
    }
    let error = parse("x\né :=", &OperatorTable::default()).expect_err("no value");
    assert_eq!((error.offset, error.to_string().as_str()), (5, ":= must be followed by a value (line 2, column 3)"));
}

#[test]
fn exceptions_read_as_in_io() {
    let text = |source| parse(source, &OperatorTable::default()).expect_err(source).exception_text();
    assert_eq!(text("("), "compile error: \"unmatched ()s\" on line 1 character 1");
    assert_eq!(text("f(a,)"), "compile error: \"missing argument in argument list\" on line 1 character 4");
    assert_eq!(text(":= 3"), "compile error: := requires an expression to its left.");
    assert_eq!(text("a := ; 3"), "compile error: := must be followed by a value.");
}

#[test]
fn a_program_may_change_its_operators() {
    let mut table = OperatorTable::default();
    table.add_assign_operator(":", "atPutNumber");
    table.add_operator("xor", 8);
    let mut tree = parse("{ \"a\" : 1 xor 2, \"b\": 3 }", &table).expect("parses");
    let printed = "curlyBrackets(atPutNumber(\"\\\"a\\\"\", 1 xor(2)), atPutNumber(\"\\\"b\\\"\", 3))";
    assert_eq!(print(&tree, tree.root), printed);
    assert!(literals(&tree).contains(&Literal::Text("\"a\"".into())));
    let root = tree.root;
    shuffle(&mut tree, root, &table).expect("shuffles again");
    assert_eq!(print(&tree, tree.root), printed);
}
