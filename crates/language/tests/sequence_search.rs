//! Finding and cutting. Expected texts are what the reference implementation answers, apart from its
//! prefix "Io Assertion" and where it is plainly wrong.

mod evaluate;

use evaluate::check;

#[test]
fn finds_and_cuts() {
    check(&[
        (r#""abcabc" findSeq("c")"#, "2"),
        (r#""abcabc" findSeq("c", 3)"#, "5"),
        (r#""abcabc" findSeq("c", -1)"#, "nil"),
        (r#""abcabc" findSeq("z")"#, "nil"),
        (r#""abcabc" findSeq(1)"#, "! argument 1 of 'Sequence findSeq' must be a Sequence, not a Number"),
        (r#""abcabc" findSeqs(list("c", "b")) index"#, "1"),
        (r#""abcabc" findSeqs(list("c", "b")) match"#, "b"),
        (r#""abcabc" findSeqs(list("c", 1))"#, "! requires Sequences as arguments, not Numbers"),
        (r#""abcabc" findSeqs(list("z"))"#, "nil"),
        (r#""abc" beginsWithSeq("ab")"#, "true"),
        (r#""abc" endsWithSeq("bc")"#, "true"),
        (r#""abc" beginsWithSeq("abcd")"#, "false"),
        (r#""abc" beginsWithSeq(nil)"#, "! argument 1 of 'Sequence beginsWithSeq' must be a Sequence, not nil"),
        (r#""abc" containsSeq("bc")"#, "true"),
        (r#""abc" contains(98)"#, "true"),
        (r#""ABC" containsAnyCaseSeq("bc")"#, "true"),
        (r#""abcabc" occurrencesOfSeq("bc")"#, "2"),
        (r#""abcabc" beforeSeq("c")"#, "ab"),
        (r#""abcabc" beforeSeq("z")"#, "abcabc"),
        (r#""abcabc" afterSeq("c")"#, "abc"),
        (r#""abcabc" afterSeq("z")"#, "nil"),
        (r#""abcabc" between("a", "c")"#, "b"),
        (r#""abcabc" between(nil, "c")"#, "ab"),
        (r#""abcabc" between("a")"#, "bcabc"),
        (r#""abcabc" between(1, 2)"#, "! Nil or Sequence argument required for arg 0, not a Number"),
        (r#""abcdef" exSlice(1, 3)"#, "bc"),
        (r#""abcdef" exSlice(-2)"#, "ef"),
        (r#""abcdef" exSlice(1, -1)"#, "bcde"),
        (r#""abcdef" inSlice(1, 3)"#, "bcd"),
        (r#""abcdef" inSlice(1, -1)"#, "bcdef"),
        (r#""abcdef" inSlice(1, -2)"#, "bcde"),
        (r#""abcdef" exSlice("a")"#, "! argument 1 of 'Sequence exSlice' must be a Number, not a Sequence"),
        (r#""a b c" split size"#, "3"),
        (r#""a,b,c" split(",") at(1)"#, "b"),
        (r#""a,b,c" split("")"#, "! empty string argument"),
        (r#""a,b,c" split(1)"#, "! requires Sequences as arguments, not Numbers"),
        (r#""abcdef" splitAt(2) at(1)"#, "cdef"),
        (r#""abcdef" splitAt(-2) at(0)"#, "abcd"),
    ]);
}
