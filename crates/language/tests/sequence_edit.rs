//! Changing sequences in place. Expected texts are what the reference implementation answers, apart from its
//! prefix "Io Assertion" and where it is plainly wrong.

mod evaluate;

use evaluate::check;

#[test]
fn changes_a_mutable_sequence() {
    check(&[
        (r#""abc" asMutable appendSeq("d", 1, 2.5)"#, "abcd12.5"),
        (r#""abc" asMutable append(65, 66)"#, "abcAB"),
        (r#""abc" asMutable append("a")"#, "! argument 1 of 'Sequence append' must be a Number, not a Sequence"),
        (r#""abc" asMutable atInsertSeq(1, "xx")"#, "axxbc"),
        (r#""abc" asMutable atInsertSeq(9, "xx")"#, "! insert index out of sequence bounds"),
        (r#""abc" asMutable atInsertSeq(1, 42)"#, "a42bc"),
        (r#""abcdef" asMutable insertSeqEvery("-", 2)"#, "ab-cd-ef-"),
        (r#""abcdef" asMutable insertSeqEvery("-", 0)"#, "! aNumberOfItems must be > 0"),
        (r#""abcdef" asMutable insertSeqEvery("-", 9)"#, "! aNumberOfItems out of sequence bounds"),
        (r#""abcdef" asMutable removeAt(1)"#, "98"),
        (r#""abcdef" asMutable removeAt(-1)"#, "102"),
        (r#""abcdef" asMutable removeAt(77)"#, "nil"),
        (r#""abcdef" asMutable removeSlice(1, 2)"#, "adef"),
        (r#""abcdef" asMutable removeSlice(-3, -2)"#, "abcf"),
        (r#""abcdef" asMutable removeLast"#, "abcde"),
        (r#""abcdef" asMutable leaveThenRemove(1, 1)"#, "ace"),
        (r#""abcdef" asMutable leaveThenRemove(0, 0)"#, "! either aNumberToLeave or aNumberToRemove must be > 0"),
        (r#""abc" asMutable setSize(2)"#, "ab"),
        (r#""abc" asMutable setSize(5) size"#, "5"),
        (r#""abcabc" asMutable replaceSeq("b", "xyz")"#, "axyzcaxyzc"),
        (
            r#""abcabc" asMutable replaceSeq("b", 1)"#,
            "! argument 2 of 'Sequence replaceSeq' must be a Sequence, not a Number",
        ),
        (r#""abcabc" asMutable replaceFirstSeq("b", "xyz")"#, "axyzcabc"),
        (r#""abcabc" asMutable replaceFirstSeq("b", "xyz", 2)"#, "abcaxyzc"),
        (r#""abcabc" asMutable removeSeq("bc")"#, "aa"),
        (r#""abc" asMutable atPut(1, 66)"#, "aBc"),
        (r#""abc" asMutable atPut(10, 66) size"#, "11"),
        (r#""abc" asMutable lowercase"#, "abc"),
        (r#""ABC" asMutable lowercase"#, "abc"),
        (r#""hello" asMutable translate("el", "ip")"#, "hippo"),
        (r#""hello" asMutable translate("el", "i")"#, "! translation strings must be of the same length"),
        (r#""abcdef" asMutable clipBeforeSeq("cd")"#, "cdef"),
        (r#""abcdef" asMutable clipAfterSeq("cd")"#, "abcd"),
        (r#""abcdef" asMutable clipBeforeEndOfSeq("cd")"#, "ef"),
        (r#""abcdef" asMutable clipAfterStartOfSeq("cd")"#, "ab"),
        (r#""cab" asMutable sort"#, "abc"),
        (r#""abc" asMutable reverseInPlace"#, "cba"),
        (r#""  abc " asMutable strip"#, "abc"),
        (r#""xxabcxx" asMutable strip("x")"#, "abc"),
        (r#""xxabcxx" asMutable lstrip("x")"#, "abcxx"),
        (r#""xxabcxx" asMutable rstrip("x")"#, "xxabc"),
        (r#""a\nb\"c" asMutable escape"#, r#"a\nb\"c"#),
        (r#""a\\nb" asMutable unescape"#, "a\nb"),
        (r#""abcdef" asMutable removePrefix("ab")"#, "cdef"),
        (r#""abcdef" asMutable removeSuffix("ef")"#, "abcd"),
        (r#""abcdef" asMutable capitalize"#, "Abcdef"),
        (r#""/a" asMutable appendPathSeq("b")"#, "/a/b"),
        (r#""abc" asMutable == "abc""#, "true"),
        (r#""abc" asMutable isMutable"#, "true"),
        (r#""abc" asMutable += 1"#, "! operation not valid on non-number encodings"),
        (r#""a #{1" asMutable interpolateInPlace"#, "a #{1"),
        (r#""abc" hash == "abc" asMutable hash"#, "true"),
        (r#""abc" asMutable copy("xyz")"#, "xyz"),
        (r#""abc" asMutable copy(1)"#, "! argument 1 of 'Sequence copy' must be a Sequence, not a Number"),
        (r#""abc" asMutable empty size"#, "0"),
        (r#""abc" asMutable zero at(0)"#, "0"),
        (r#""abc" asMutable preallocateToSize(100) size"#, "3"),
        (r#"("é" asMutable appendSeq("日")) size"#, "2"),
        (r#""é" asMutable asSymbol isIdenticalTo("é")"#, "true"),
        (r#""ab" asMutable set(1, 2) at(1)"#, "2"),
        (r#""abc" asMutable appendSeq"#, "! 'Sequence appendSeq' needs at least 1 argument, got 0"),
        (r#""abc" asMutable append"#, "! 'Sequence append' needs at least 1 argument, got 0"),
    ]);
}

/// A sequence may be its own argument: it is read before it is changed.
#[test]
fn takes_itself_as_argument() {
    check(&[
        (r#"s := "ab" asMutable; s appendSeq(s)"#, "abab"),
        (r#"s := "ab" asMutable; s atInsertSeq(1, s)"#, "aabb"),
        (r#"s := "ab" asMutable; s replaceSeq(s, "x")"#, "x"),
        (r#"s := "ab" asMutable; s removeSeq(s) size"#, "0"),
        (r#"s := "ab" asMutable; s copy(s)"#, "ab"),
        (r#"s := "ab" asMutable; s strip(s) size"#, "0"),
    ]);
}

/// Objects are asked for their text before anything is changed, and one without a text changes nothing.
#[test]
fn asks_objects_for_their_text() {
    check(&[
        (r#"o := Object clone do(asString := method("me")); "a" .. o"#, "ame"),
        (r#"o := Object clone do(asString := method("me")); "a" asMutable appendSeq(1, o, "z")"#, "a1mez"),
        (r#"o := Object clone do(asString := method("me")); "ab" asMutable atInsertSeq(1, o)"#, "ameb"),
        (r#"o := Object clone do(asString := method("me")); "ab" asMutable insertSeqEvery(o, 1)"#, "amebme"),
        (
            r#"o := Object clone do(asString := method(self)); s := "a" asMutable; s appendSeq("b", o)"#,
            "! argument 2 of 'Sequence appendSeq' must be a Sequence, not an Object",
        ),
    ]);
}
