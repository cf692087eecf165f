//! What every sequence answers, and text made from it. Expected texts are what the reference implementation answers, apart from its
//! prefix "Io Assertion" and where it is plainly wrong.

mod evaluate;

use evaluate::check;

#[test]
fn answers_as_text() {
    check(&[
        (r#""abc" size"#, "3"),
        (r#""abc" at(1)"#, "98"),
        (r#""abc" at(5)"#, "nil"),
        (r#""abc" at(nil)"#, "! argument 1 of 'Sequence at' must be a Number, not nil"),
        (r#""abc" .. "def""#, "abcdef"),
        (r#""abc" .. 1.5"#, "abc1.5"),
        (
            r#""a" cloneAppendSeq(nil)"#,
            "! argument 1 of 'Sequence cloneAppendSeq' must be a Sequence or Number, not nil",
        ),
        (r#""abc" asUppercase"#, "ABC"),
        (r#""ABC" asLowercase"#, "abc"),
        (r#""abc" asCapitalized"#, "Abc"),
        (r#""abc" appendSeq("d")"#, "! 'appendSeq' cannot be called on an immutable Sequence"),
        (r#""abcabc" replaceSeq("b", 1)"#, "! argument 2 of 'Sequence replaceSeq' must be a Sequence, not a Number"),
        (r#""abcabc" replaceSeq("b", "1")"#, "! 'replaceSeq' cannot be called on an immutable Sequence"),
        (r#""abc" atPut("x", 1)"#, "! argument 1 of 'Sequence atPut' must be a Number, not a Sequence"),
        (r#""abc" strip"#, "! 'strip' cannot be called on an immutable Sequence"),
        (r#""/a/" cloneAppendPath("/b")"#, "/a/b"),
        (r#""/a/b/c.io" pathComponent"#, "/a/b"),
        (r#""/a/b/c.io" lastPathComponent"#, "c.io"),
        (r#""/a/b/c.io" pathExtension"#, "io"),
        (r#""abc" pathComponent"#, ""),
        (r#""abcabc" reverseFindSeq("c")"#, "5"),
        (r#""abcabc" reverseFindSeq("c", 3)"#, "2"),
        (r#""abcabc" reverseFindSeq("c", -1)"#, "nil"),
        (r#""abc" isEqualAnyCase("ABC")"#, "true"),
        (r#""ff" fromBase(16)"#, "255"),
        (r#""zz" fromBase(10)"#, r#"! conversion of "zz" to base 10 failed"#),
        (r#""" fromBase(10)"#, r#"! conversion of "" to base 10 failed"#),
        (r#""255" toBase(16)"#, "ff"),
        (r#""255" toBase(99)"#, "! conversion to base 99 not supported"),
        (r#""12.5abc" asNumber"#, "12.5"),
        (r#""0x1f" asNumber"#, "31"),
        (r#""" asNumber isNan"#, "true"),
        (r#""abc" < "abd""#, "true"),
        (r#""abc" < 1"#, "! argument 1 of 'Sequence <' must be a Sequence, not a Number"),
        (r#""abc" <= "abc""#, "true"),
        (r#""abc" > "ab""#, "true"),
        (r#""abc" == "abc""#, "true"),
        (r#""abc" == 1"#, "false"),
        (r#""abc" != "abd""#, "true"),
        (r#""héllo" size"#, "5"),
        (r#""abc" isSymbol"#, "true"),
        (r#""abc" asList size"#, "3"),
        (r#""abc" asList at(0)"#, "a"),
        ("Sequence whiteSpaceStrings size", "4"),
        (r#""abc" + 1"#, "! operation not valid on non-number encodings"),
        (r#""abc" += 1"#, "! '+=' cannot be called on an immutable Sequence"),
        (r#""abc" interpolate"#, "abc"),
        (r#""a#{1+1}b" interpolate"#, "a2b"),
        (r#""a#{}b" interpolate"#, "ab"),
        (r#""a#{b" interpolate"#, "a#{b"),
        (r#"Sequence with("a", "b")"#, "ab"),
        (r#"Sequence with("a", 1)"#, "! argument 2 of 'Sequence with' must be a Sequence, not a Number"),
        (r#""abc" with("d") isSymbol"#, "true"),
        (r#""abc" repeated(3)"#, "abcabcabc"),
        (r#""abc" repeated(0)"#, ""),
        (r#""abc" alignLeft(6, "-")"#, "abc---"),
        (r#""abc" alignRight(6, "-")"#, "---abc"),
        (r#""abc" alignCenter(6, "-")"#, "-abc--"),
        (r#""abc" alignLeft(6) size"#, "6"),
        (r#""abc" copy("xyz")"#, "! 'copy' cannot be called on an immutable Sequence"),
        (r#""abc" isZero"#, "false"),
        (r#""" isEmpty"#, "true"),
        (r#""a/b.c" fileName"#, "b"),
        (r#""é" .. "a""#, "éa"),
        (r#"("é" .. "a") size"#, "2"),
        (r#""日本" size"#, "2"),
        (r#""é" at(0)"#, "233"),
        (r#""é" == "é""#, "true"),
        (r#""abc" isLowercase"#, "true"),
        (r#""abc" isUppercase"#, "false"),
        (r#""abc" asSymbol"#, "abc"),
    ]);
}

/// Equal text is one symbol however it was made; other items with the same bytes are another.
#[test]
fn symbols_are_identical_when_equal() {
    check(&[
        (r#"("a" .. "é") isIdenticalTo("aé")"#, "true"),
        (r#""é" asMutable asSymbol isIdenticalTo("é")"#, "true"),
        (r#""abc" asUTF8 asSymbol isIdenticalTo("abc")"#, "true"),
        (r#""ab" asMutable setEncoding("number") asSymbol isIdenticalTo("ab")"#, "false"),
        (r#""ab" asMutable setItemType("uint16") asSymbol isIdenticalTo("ab")"#, "false"),
        (r#"setSlot("é", 5); é"#, "5"),
    ]);
}

/// Code in text sees the locals of the method it is in, and may change the text it stands in.
#[test]
fn interpolates() {
    check(&[
        (r##"f := method(x, "#{x}+#{x + 1}" interpolate); f(2)"##, "2+3"),
        (r##"o := Object clone do(x := 9); "<#{x}>" interpolate(o)"##, "<9>"),
        (r##"s := "a#{s appendSeq(\"!\"); 1}b" asMutable; s interpolate"##, "a1b"),
        (r##"s := "a#{s empty; 1}b" asMutable; s interpolateInPlace; s"##, "a1b"),
        (r##""#{1" interpolate"##, "#{1"),
    ]);
}

/// Work on long text is paid for, and what would not fit is refused before it is made.
#[test]
fn long_work_costs_fuel_and_memory() {
    let memory = language::Limits { memory_bytes: Some(64 << 20), ..Default::default() };
    let fuel = language::Limits { fuel: Some(2_000_000), ..Default::default() };
    for (source, limits, wanted) in [
        (r#""a" repeated(100000000)"#, &memory, "out of memory"),
        (r#"s := "a" asMutable setSize(1000000000)"#, &memory, "out of memory"),
        (r#""a" alignLeft(100000000)"#, &memory, "out of memory"),
        (r#""a" asMutable appendSeq("b") atPut(900000000, 1)"#, &memory, "out of memory"),
        (r#"s := "ab" repeated(100000); loop(s findSeq("ba!"))"#, &fuel, "out of fuel"),
        (r#"s := "ab" repeated(100000); loop(s == (s asMutable))"#, &fuel, "out of fuel"),
    ] {
        let mut vm = language::Vm::new(language::Host::default());
        vm.set_limits(limits.clone());
        let answer = evaluate::evaluate_on(&mut vm, source);
        assert!(answer.contains(wanted), "{source}: {answer}");
    }
}
