//! The image as its users meet it: what a program did is there after the process is gone, or never was.

mod lab;

use image::{Cause, Embedder, Image, ImageError, Options};
use lab::{Plain, answer, create, open, send};
use language::{Error, Function, Host, Limits, NONE, Value, Vm};
use object::change::{Datum, Field, Operation};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tempfile::TempDir;

/// Each line in a transaction; after every one of them the image is opened anew.
fn with_restarts(lines: &[(&str, &str)]) {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    for (source, expected) in lines {
        image.close().expect("it closes");
        image = open(directory.path());
        assert_eq!(&answer(&mut image, source), expected, "{source}");
    }
}

#[test]
fn what_was_done_is_there_after_a_restart() {
    with_restarts(&[
        ("Account := Object clone do(balance := 0; deposit := method(n, balance = balance + n)); 1", "1"),
        ("mine := Account clone; mine deposit(10)", "10"),
        ("mine deposit(5); mine balance", "15"),
        ("mine balance .. \" \" .. Account balance .. \" \" .. mine type", "15 0 Account"),
        ("words := list(\"one\", \"two\", list(1, 2.5, nil, true)); words size", "3"),
        ("words append(words); words at(3) isIdenticalTo(words)", "true"),
        ("words at(2)", "list(1, 2.5, nil, true)"),
        ("phone := Map clone atPut(\"é\", 1) atPut(\"b\", Map clone); phone keys", "list(\"é\", \"b\")"),
        ("phone removeAt(\"é\"); phone keys", "list(\"b\")"),
        ("text := \"abc\" asMutable; text appendSeq(\"déf\")", "abcdéf"),
        ("text size", "6"),
        ("nil foo := 3; nil foo", "3"),
        ("nil foo", "3"),
    ]);
}

#[test]
fn code_is_kept_and_can_be_changed() {
    with_restarts(&[
        ("fib := method(n, if(n < 2, n, fib(n - 1) + fib(n - 2))); fib(15)", "610"),
        ("fib(15)", "610"),
        ("getSlot(\"fib\") message name", "if"),
        ("counter := method(n := 0; block(n = n + 1)); next := counter; next call", "1"),
        ("next call; next call", "3"),
        ("pair := method(list(1, 2, 3)); pair", "list(1, 2, 3)"),
        ("getSlot(\"pair\") message setArguments(list()); pair", "list()"),
        ("pair", "list()"),
        ("Number double := method(self * 2); 21 double", "42"),
        ("21 double", "42"),
        ("OperatorTable addOperator(\"=>\", 5); Number setSlot(\"=>\", method(n, self * 100 + n)); 1", "1"),
        ("4 => 2", "402"),
        ("Number setSlot(\"+\", method(n, 7)); 1 + 1", "7"),
        ("1 + 1", "7"),
    ]);
}

#[test]
fn what_waits_goes_on_after_a_restart() {
    with_restarts(&[
        (
            "steps := list(); worker := Object clone do(work := method(for(i, 1, 3, Lobby steps append(i); yield))); 1",
            "1",
        ),
        ("worker @@work; Scheduler yieldingCoros size", "1"),
        ("yield; steps", "list(1)"),
        ("yield; steps", "list(1, 2)"),
        ("yield; steps", "list(1, 2, 3)"),
        ("future := Object clone do(slow := method(yield; yield; 42)) @slow; 1", "1"),
        ("future + 1", "43"),
    ]);
}

#[test]
fn a_message_that_fails_leaves_no_trace() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    answer(&mut image, "items := list(1, 2, 3); f := method(1)");
    let failures = [
        "items append(4); x := 5; f = method(2); nonsense",
        "items removeAll; Exception raise(\"no\")",
        "getSlot(\"f\") message setName(\"nil\"); 1 zork",
    ];
    for source in failures {
        assert!(matches!(send(&mut image, source), Err(ImageError::Program(Error::Exception(_)))), "{source}");
        assert_eq!(answer(&mut image, "list(items, hasSlot(\"x\"), f)"), "list(list(1, 2, 3), false, 1)");
    }
    image.vm_mut().set_limits(Limits { fuel: Some(100_000), ..Limits::default() });
    let endless = send(&mut image, "loop(items append(1))");
    assert!(matches!(endless, Err(ImageError::Program(Error::Halted(_)))));
    image.vm_mut().set_limits(Limits::default());
    assert_eq!(answer(&mut image, "items"), "list(1, 2, 3)");
    image.close().expect("it closes");
    assert_eq!(answer(&mut open(directory.path()), "list(items, hasSlot(\"x\"), f)"), "list(list(1, 2, 3), false, 1)");
}

#[test]
fn one_commit_can_be_taken_back() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    answer(&mut image, "a := 1; b := 1; items := list(1, 2); greet := method(\"hello\")");
    answer(&mut image, "a = 2; b = 2; items append(3); greet = method(\"goodbye\"); c := 5");
    let number = image.store().last_commit();
    answer(&mut image, "b = 3");
    let reverted = image.revert(number, &Cause::default()).expect("it can be reverted");
    let contended: Vec<&str> = reverted.contended.iter().map(|(_, place)| place.as_str()).collect();
    assert_eq!(contended, ["slot \"b\""]);
    let expected = "list(1, 3, list(1, 2), \"hello\", false)";
    assert_eq!(answer(&mut image, "list(a, b, items, greet, hasSlot(\"c\"))"), expected);
    image.close().expect("it closes");
    let mut image = open(directory.path());
    assert_eq!(answer(&mut image, "list(a, b, items, greet, hasSlot(\"c\"))"), expected);
    assert!(matches!(image.revert(9999, &Cause::default()), Err(ImageError::NoCommit(9999))));
}

/// A capability of one embedder that another does not have: the method stays, and says so.
#[test]
fn a_primitive_that_nobody_knows_raises() {
    struct Rich;
    impl Embedder for Rich {
        fn newborn(&self) -> Vm {
            let mut vm = Vm::new(Host::default());
            let shop = vm.prototype("Shop");
            vm.define(shop, "price", NONE, Function::Plain(|_, _| Ok(Value::number(7.0))));
            vm
        }

        fn bare(&self) -> Vm {
            Vm::bare(Host::default())
        }
    }
    let directory = TempDir::new().expect("a directory");
    let mut image = Image::create(directory.path(), &Options::default(), Box::new(Rich)).expect("a new image");
    assert_eq!(answer(&mut image, "Shop price"), "7");
    image.close().expect("it closes");
    let mut image = open(directory.path());
    let error = send(&mut image, "Shop price").expect_err("nobody has it");
    assert!(error.to_string().contains("this machine has no primitive"), "{error}");
    assert_eq!(answer(&mut image, "list(3, 1, 2) sort"), "list(1, 2, 3)");
}

#[test]
fn a_panic_in_a_primitive_is_taken_back() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    answer(&mut image, "x := 1");
    let ended = image.transact(&Cause::default(), |vm| {
        vm.evaluate("x = 2", "test")?;
        if vm.fuel_left().is_none() {
            panic!("a primitive that is wrong");
        }
        Ok(())
    });
    assert!(matches!(ended, Err(ImageError::Panicked(text)) if text.contains("a primitive that is wrong")));
    assert_eq!(answer(&mut image, "x"), "1");
}

/// The machine that ran may have been lent away when it panicked: going on with what is there instead would write the
/// objects of another machine into the image.
#[test]
fn a_panic_after_which_no_machine_can_be_made_is_passed_on() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    let root = image.id_of(Value::object(image.vm().root())).expect("the root is persistent");
    let constants = Operation::Put { field: Field::Slot("constants".into()), value: Datum::Absent };
    image.adopt(&Cause::default(), vec![(root, constants)]).expect("it is a commit like any other");
    let ended = catch_unwind(AssertUnwindSafe(|| {
        image.transact(&Cause::default(), |vm| {
            if vm.fuel_left().is_none() {
                panic!("a primitive that is wrong");
            }
            Ok(())
        })
    }));
    let panic = ended.expect_err("nothing goes on");
    let text = panic.downcast_ref::<String>().expect("it says why");
    assert!(text.contains("a primitive that is wrong") && text.contains("no root"), "{text}");
}

/// A thread that makes a backup holds the store too: closing said that all was well, and had flushed nothing.
#[test]
fn an_image_whose_store_is_in_use_is_durable_when_it_is_closed() {
    let directory = TempDir::new().expect("a directory");
    let mut image = create(directory.path());
    let (_, ticket) = image.transact(&Cause::default(), |vm| vm.evaluate("x := 1", "test")).expect("it is committed");
    let reader = image.store().clone();
    image.close().expect("it closes");
    assert!(ticket.is_some(), "nobody waited for it");
    assert_eq!(reader.status().expect("it can be asked").unflushed_bytes, 0);
}

#[test]
fn memory_is_bounded_by_the_cache() {
    let directory = TempDir::new().expect("a directory");
    create(directory.path()).close().expect("it closes");
    let options = Options { cache_bytes: 4 << 20, ..Options::default() };
    let mut image = Image::open(directory.path(), &options, Box::new(Plain)).expect("it opens");
    answer(&mut image, "all := list()");
    for round in 0..40 {
        answer(
            &mut image,
            &format!(
                "1000 repeat(i, all append(Object clone do(n := {round} * 1000 + i; t := \"abc\" repeated(9)))); 1"
            ),
        );
        let used = image.vm().heap().usage().bytes;
        assert!(used < 12 << 20, "round {round}: {used} bytes");
    }
    assert_eq!(answer(&mut image, "all size"), "40000");
    assert_eq!(answer(&mut image, "all at(12345) n"), "12345");
    assert_eq!(answer(&mut image, "list(all at(0) n, all at(39999) n, all at(777) t size)"), "list(0, 39999, 27)");
}
