//! Sequences as vectors of numbers. Written without the library's `vector`.

mod evaluate;

use evaluate::{evaluate, evaluate_on};

fn check(cases: &[(&str, &str)]) {
    let define = r#"v := method(a, b, c, Sequence clone setItemType("float32") setEncoding("number") append(a, b, c))"#;
    for (source, wanted) in cases {
        let mut vm = language::Vm::new(language::Host::default());
        evaluate_on(&mut vm, define);
        assert_eq!(evaluate_on(&mut vm, source), *wanted, "{source}");
    }
}

#[test]
fn computes() {
    check(&[
        ("v(1, 2, 3) + v(1, 2, 3)", "2.000000, 4.000000, 6.000000"),
        ("v(1, 2, 3) * 2", "2.000000, 4.000000, 6.000000"),
        (r#"v(1, 2, 3) += "a""#, "98.000000, 2.000000, 3.000000"),
        ("x := v(1, 2, 3); x += x; x", "2.000000, 4.000000, 6.000000"),
        ("v(1, 2, 3) += nil", "! argument 1 of 'Sequence +=' must be a Sequence or Number, not nil"),
        ("v(1, 2, 3) sum", "6"),
        ("v(1, 2, 3) product", "6"),
        ("v(1, 2, 3) max", "3"),
        ("v(1, 2, 3) mean", "2"),
        ("v(1, 2, 3) dotProduct(v(1, 2, 3))", "14"),
        ("v(1, 2, 3) distanceTo(v(1, 2, 4))", "1"),
        ("v(1, 4, 9) sqrt", "1.000000, 2.000000, 3.000000"),
        ("v(3, 4, 0) normalize", "0.600000, 0.800000, 0.000000"),
        ("v(1, 2, 3) negate", "-1.000000, -2.000000, -3.000000"),
        ("v(1, 2, 3) rangeFill", "0.000000, 1.000000, 2.000000"),
        ("v(1, 2, 3) removeOddIndexes", "1.000000, 3.000000"),
        ("v(1, 2, 3) setItemsToDouble(7)", "7.000000, 7.000000, 7.000000"),
        ("v(1, 2, 3) Max(v(0, 5, 2))", "1.000000, 5.000000, 3.000000"),
        ("v(1, 2, 3) < v(2, 3, 4)", "true"),
        ("v(1, 2, 3) == v(1, 2, 3)", "true"),
        ("v(1, 2, 3) asList", "list(1, 2, 3)"),
    ]);
}

#[test]
fn text_is_no_vector() {
    assert_eq!(evaluate(r#""abc" asMutable += 1"#), "! operation not valid on non-number encodings");
}
