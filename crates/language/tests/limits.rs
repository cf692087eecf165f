//! Limits that a program tries to escape: memory and fuel. They end it at the same message every time, nothing in it can
//! catch them, and the machine works afterwards.

#![allow(clippy::disallowed_methods, reason = "it times what must not be slow")]

mod machine;

use language::{Error, Halt, Limits};
use machine::{halt, limited, number, vm};

// ---- memory

#[test]
fn a_loop_that_clones_for_ever_stays_flat() {
    let mut vm = vm();
    vm.evaluate("Thing := Object clone do(init := method(self parts := list(1, 2, 3)))", "test").unwrap();
    vm.collect();
    let before = vm.heap().object_count();
    number(&mut vm, "for(i, 1, 400000, t := Thing clone; t me := t; \"text\" .. i); 1");
    vm.collect();
    let after = vm.heap().object_count();
    assert!(after < before + 1_000, "{before} objects grew to {after}");
}

#[test]
fn memory_limits_hold() {
    for source in [
        "l := List clone; loop(l append(Object clone))",
        "s := \"abcdefgh\" asMutable; loop(s appendSeq(s))",
        "s := \"abcdefgh\"; loop(s = s .. s)",
        "m := Map clone; i := 0; loop(m atPut(i asString, i); i = i + 1)",
        "o := Object clone; i := 0; loop(o setSlot(\"s\" .. i, i); i = i + 1)",
        "grow := method(n, grow(list(n, n))); grow(1)",
        "loop(coroDoLater(1))",
        "l := list(1); loop(l = list(l, l, l, l))",
        // Parsing used to take what it needed: messages are far bigger than their text.
        "doString(\"1 \" repeated(4000000))",
        "\"a(\" repeated(4000000) asMessage",
    ] {
        let mut vm = limited(Limits { memory_bytes: Some(24 << 20), fuel: Some(100_000_000), ..Limits::default() });
        assert!(matches!(halt(&mut vm, source), Halt::Memory { .. }), "{source}");
    }
}

#[test]
fn one_huge_wish_is_refused_at_once() {
    for source in [
        "List clone setSize(1e12)",
        "List clone setSize(4e9)",
        "\"x\" asMutable setSize(1e12)",
        "\"x\" repeated(1e12)",
        "\"x\" alignLeft(1e12)",
        "List clone preallocateToSize(1e12) setSize(1/0)",
        "Sequence clone setSize(1e9) setItemType(\"float64\") setSize(1e9)",
        "1e300 asString(1e9, 1e9)",
        "5 factorial repeat(nil); 1e18 asCharacter",
    ] {
        let mut vm = limited(Limits { memory_bytes: Some(64 << 20), fuel: Some(50_000_000), ..Limits::default() });
        let outcome = vm.evaluate(source, "test");
        assert!(outcome.is_err() || source.contains("asString"), "{source} gives {:?}", outcome.map(|_| ()));
        vm.set_limits(Limits::default());
        assert_eq!(number(&mut vm, "1 + 1"), 2.0, "after {source}");
    }
}

/// A text falls into as many parts as it has bytes, and each part weighs much more.
#[test]
fn taking_apart_is_paid_for_before_it_is_done() {
    for source in ["text split(\"x\")", "text asList", "text asMutable replaceSeq(\"x\", \"yz\")"] {
        let mut vm = limited(Limits { memory_bytes: Some(16 << 20), ..Limits::default() });
        number(&mut vm, "text := \"x\" repeated(4000000); text size");
        assert!(matches!(halt(&mut vm, source), Halt::Memory { .. }), "{source}");
        assert_eq!(number(&mut vm, "text occurrencesOfSeq(\"x\")"), 4e6);
    }
}

/// Without any limit the wish alone must be enough: these took minutes, or the process with them.
#[test]
fn what_no_sequence_or_list_can_hold_is_refused_without_limits() {
    let mut vm = vm();
    number(&mut vm, "half := \"x\" repeated(600000000); 1");
    let began = std::time::Instant::now();
    for source in [
        "\"x\" repeated(1e15)",
        "\"x\" alignLeft(1e15)",
        "\"x\" alignRight(1e15)",
        "\"x\" alignCenter(1e15)",
        "\"x\" asMutable alignLeftInPlace(1e15)",
        "\"x\" asMutable setSize(1e15)",
        "\"x\" asMutable preallocateToSize(1e15)",
        "\"x\" asMutable atPut(1e15, 1)",
        "List clone setSize(1e15)",
        "List clone setSize(4e9)",
        "List clone setSize(2e8)",
        "List clone preallocateToSize(1e15)",
        "List clone atPut(1e15, 1)",
        "1 asString(1e9, 1e9)",
        "Sequence pack(\"99999999999s\", \"a\")",
        "half .. half",
        "half with(half)",
        "list(half, half) join",
        "half repeated(2)",
        "Date clone asString(\"%c\" repeated(1000000))",
        "Duration clone asString(\"%Y\" repeated(1000000))",
    ] {
        let error = vm.evaluate(source, "test").expect_err(source).to_string();
        assert!(error.starts_with("Exception"), "{source}: {error}");
    }
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

// ---- fuel

fn count_until_empty(fuel: u64, source: &str, compiling: bool) -> (f64, f64) {
    let mut vm = vm();
    vm.set_compiling(compiling);
    number(&mut vm, "count := 0; other := 0");
    vm.set_limits(Limits { fuel: Some(fuel), ..Limits::default() });
    assert_eq!(halt(&mut vm, source), Halt::Fuel { limit: fuel }, "{source}");
    (number(&mut vm, "count"), number(&mut vm, "other"))
}

#[test]
fn the_same_fuel_ends_at_the_same_message() {
    let programs = [
        "loop(count = count + 1)",
        "step := method(n, Lobby count = count + n; Lobby other = other - 1); loop(step(2))",
        "for(i, 1, 1e9, count = i; list(3, 1, 2) sort foreach(x, other = other + x))",
        "loop(try(count = count + 1; Exception raise(\"no\")); other = other + 1)",
        "coroDoLater(loop(count = count + 1; yield)); loop(other = other + 1; yield)",
    ];
    for source in programs {
        for fuel in [1_000, 9_999, 10_000, 10_001, 23_456] {
            let first = count_until_empty(fuel, source, true);
            assert_eq!(first, count_until_empty(fuel, source, true), "{source} with {fuel}");
            assert_eq!(first, count_until_empty(fuel, source, false), "{source} with {fuel}, as a tree");
        }
    }
}

#[test]
fn a_program_cannot_catch_its_limits() {
    for source in [
        "loop(try(loop(nil)))",
        "try(loop(nil)); 5",
        "f := method(try(loop(1 + 1)); f); f",
        "coroDo(try(loop(nil))); 5",
        "o := Object clone do(run := method(loop(nil))); (o @run) println; 5",
        "withHandler(Exception, block(e, r, 5), loop(nil))",
        "f := method(call relayStopStatus(loop(nil)); 5); stopStatus(f); f",
    ] {
        let mut vm = limited(Limits { fuel: Some(300_000), ..Limits::default() });
        assert!(matches!(halt(&mut vm, source), Halt::Fuel { .. }), "{source}");
    }
}

#[test]
fn work_of_primitives_is_paid_for() {
    let mut vm = vm();
    number(&mut vm, "l := List clone; for(i, 1, 100000, l append(i)); s := \"ab\" repeated(100000); l size");
    // Found by review: keys, comparisons and refused patterns were free, however long.
    number(
        &mut vm,
        "m := Map clone; long := \"ab\" repeated(3000000) asMutable; other := long clone appendSeq(\"c\"); 1",
    );
    number(&mut vm, "texts := List clone; for(i, 1, 100, texts append(s asMutable appendSeq(i asString))); texts size");
    for source in [
        "loop(l sort)",
        "loop(l contains(0))",
        "loop(s findSeq(\"zz\"))",
        "loop(l clone)",
        "loop(s asUppercase)",
        "loop(m at(long))",
        "loop(list(long) contains(other))",
        "loop(list(list(long)) == list(list(other)))",
        "loop(texts sort)",
        "loop(m hasValue(1); texts indexOf(long))",
        "loop(try(Regex with(\"(?:\\\\w{100}){100}\")))",
    ] {
        vm.set_limits(Limits { fuel: Some(3_000_000), ..Limits::default() });
        let began = std::time::Instant::now();
        assert!(matches!(vm.evaluate(source, "test"), Err(Error::Halted(Halt::Fuel { .. }))), "{source}");
        assert!(began.elapsed().as_secs() < 5, "{source} took {:?}", began.elapsed());
    }
}

/// Found by review: `first` and `last` copied the list, and `capacity` too.
/// One fuel was enough to walk any number of protos: a program of a million fuel kept a processor busy for 17 s.
#[test]
fn a_lookup_along_a_long_lineage_is_paid_for() {
    let grows = "o := Object clone; 20000 repeat(o = o clone); 1";
    for source in [
        grows,
        "o := Object clone; 20000 repeat(o = o cloneWithoutInit; o foo := 1; o getSlot(\"bar\")); 1",
        "l := list(); 20000 repeat(l = l clone; l foreach(x, x))",
        // A lineage that grew long behind the back of its heirs.
        "all := list(); 5000 repeat(all append(Object clone)); all foreach(i, o, if(i > 0, all at(i - 1) setProto(o)))
         first := all first; for(i, 1, 1000, all last setSlot(\"s\" .. i, i); first asString)",
        "all := list(); 5000 repeat(all append(Object clone)); all foreach(i, o, if(i > 0, all at(i - 1) setProto(o)))
         first := all first; 10000 repeat(first isKindOf(Map)); 10000 repeat(first hasSlot(\"foo\"))",
        "o := Object clone; 20000 repeat(o appendProto(Object clone)); 1",
        "o := Object clone; 20000 repeat(i, o setSlot(\"s\" .. i, i)); 20000 repeat(i, o removeSlot(\"s\" .. i)); 1",
    ] {
        let mut vm = limited(Limits { fuel: Some(1_000_000), ..Limits::default() });
        let start = std::time::Instant::now();
        let ended = halt(&mut vm, source);
        let seconds = start.elapsed().as_secs_f64();
        assert!(matches!(ended, Halt::Fuel { .. }), "{source}: {ended:?}");
        assert!(seconds < 5.0, "{source}: {seconds} s");
    }
    // A lineage of ordinary length costs what it always did.
    let used = |source: &str| {
        let mut vm = limited(Limits { fuel: Some(1_000_000), ..Limits::default() });
        number(&mut vm, source);
        1_000_000 - vm.fuel_left().expect("there is a limit")
    };
    let make = "o := Object clone; 20 repeat(o = o clone); for(i, 1, 1000,";
    assert_eq!(used(&format!("{make} o isNil); 1")), used(&format!("{make} Object isNil); 1")));
}

/// Removing all slots made a table of all that were left anew for each.
#[test]
fn removing_many_slots_at_once_takes_linear_time() {
    let mut vm = vm();
    number(
        &mut vm,
        "o := Object clone; 100000 repeat(i, o setSlot(\"s\" .. i, i)); o removeAllSlots; o slotNames size",
    );
}

#[test]
fn asking_for_one_item_costs_the_same_however_long_the_list() {
    let fuel_of = |count: usize, source: &str| {
        let mut vm = vm();
        number(&mut vm, &format!("l := List clone setSize({count}); l size"));
        vm.set_limits(Limits { fuel: Some(1_000_000), ..Limits::default() });
        vm.evaluate(source, "test").unwrap();
        1_000_000 - vm.fuel_left().unwrap()
    };
    for source in ["l first", "l last", "l capacity", "l first(2)", "l last(2)"] {
        assert_eq!(fuel_of(10, source), fuel_of(1_000_000, source), "{source}");
    }
}

/// Found by review: a pattern was paid for by whoever came first, and what was kept of patterns counted for nothing.
#[test]
fn a_pattern_costs_the_same_whether_or_not_it_was_compiled_before() {
    let source = "r := Regex with(\"a(b+)c*\"); \"xabbc\" matchesOfRegex(r) all size";
    let mut vm = vm();
    let fuel_of = |vm: &mut language::Vm| {
        vm.set_limits(Limits { fuel: Some(10_000_000), ..Limits::default() });
        assert_eq!(number(vm, source), 1.0);
        10_000_000 - vm.fuel_left().unwrap()
    };
    let first = fuel_of(&mut vm);
    assert_eq!(first, fuel_of(&mut vm));
    vm.collect();
    assert_eq!(first, fuel_of(&mut vm));
}

#[test]
fn patterns_count_as_memory() {
    let mut vm = limited(Limits { memory_bytes: Some(24 << 20), ..Limits::default() });
    let source = "l := List clone; i := 0; loop(l append(Regex with(\"[a-z]{300}\" .. i)); i = i + 1)";
    assert!(matches!(halt(&mut vm, source), Halt::Memory { .. }));
    assert!(number(&mut vm, "i") < 200.0);
    vm.set_limits(Limits { memory_bytes: Some(24 << 20), ..Limits::default() });
    number(&mut vm, "l := nil; for(i, 1, 300, Regex with(\"[a-z]{300}\" .. i)); 1");
}
