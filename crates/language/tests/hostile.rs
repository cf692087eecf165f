//! Programs that nobody should write: depth, cycles, odd numbers, code that changes under its own feet. Each must end
//! with a value or a clear error, and leave the machine usable.

mod machine;

use language::{Error, Halt, Limits, Value};
use machine::{halt, limited, number, text, vm};

// ---- depth

#[test]
fn source_nested_a_hundred_thousand_deep_runs() {
    let mut vm = vm();
    let depth = 100_000;
    let parentheses = format!("{}7{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(number(&mut vm, &parentheses), 7.0);
    let operators = format!("0{}", " + 1".repeat(depth));
    assert_eq!(number(&mut vm, &operators), depth as f64);
    let right = format!("{}1{}", "1 - (".repeat(depth), ")".repeat(depth));
    assert_eq!(number(&mut vm, &right), 1.0);
    number(&mut vm, "same := method(x, x); 1");
    let calls = format!("{}7{}", "same(".repeat(depth), ")".repeat(depth));
    assert_eq!(number(&mut vm, &calls), 7.0);
    let in_method = format!("deep := method(x, {}x{}); deep(3)", "same(".repeat(1000), ")".repeat(1000));
    assert_eq!(number(&mut vm, &in_method), 3.0);
}

#[test]
fn deep_messages_print_and_copy() {
    let mut vm = vm();
    let depth = 100_000;
    let source = format!("m := message({}x{}); m asString size", "f(".repeat(depth), ")".repeat(depth));
    assert_eq!(number(&mut vm, &source), depth as f64 * 3.0 + 1.0);
    assert_eq!(number(&mut vm, "m clone asString size"), depth as f64 * 3.0 + 1.0);
}

#[test]
fn recursion_a_million_deep_works() {
    let mut vm = vm();
    let source = "down := method(n, if(n == 0, 0, 1 + down(n - 1))); down(1000000)";
    assert_eq!(number(&mut vm, source), 1e6);
    // Again, with what the compiler cannot do.
    let source = "up := method(n, call sender; if(n == 0, 0, 1 + up(n - 1))); up(100000)";
    assert_eq!(number(&mut vm, source), 1e5);
}

#[test]
fn a_depth_limit_raises_what_a_program_can_catch() {
    let mut vm = limited(Limits { depth: 1000, ..Limits::default() });
    let source = "down := method(n, 1 + down(n + 1)); try(down(0)) error";
    assert_eq!(text(&mut vm, source), "calls nested too deeply: the depth limit is 1000");
    assert_eq!(number(&mut vm, "1 + 1"), 2.0);
}

/// The story: each object in the circle was a call of the machine's own, until its stack was used up.
#[test]
fn objects_that_activate_each_other_use_up_the_fuel_and_not_the_stack() {
    let mut vm = limited(Limits { fuel: Some(2_000_000), ..Limits::default() });
    let source = "
        a := Object clone; b := Object clone
        getSlot(\"a\") setSlot(\"activate\", getSlot(\"b\")) setIsActivatable(true)
        getSlot(\"b\") setSlot(\"activate\", getSlot(\"a\")) setIsActivatable(true)
        a";
    assert!(matches!(halt(&mut vm, source), Halt::Fuel { .. }));
}

// ---- coroutines

#[test]
fn a_hundred_thousand_coroutines_live_at_once() {
    let mut vm = vm();
    let source = "
        count := 0
        100000 repeat(coroDoLater(count = count + 1; yield; count = count + 1))
        waiting := Scheduler yieldingCoros size
        yield
        while(Scheduler yieldingCoros size > 0, yield)
        count + waiting";
    assert_eq!(number(&mut vm, source), 300_000.0);
}

#[test]
fn a_hundred_thousand_paused_coroutines_wake() {
    let mut vm = vm();
    let source = "
        count := 0
        sleepers := List clone
        100000 repeat(c := coroFor(Coroutine currentCoroutine parentCoroutine resume; count = count + 1)
            sleepers append(c)
            c resume)
        sleepers foreach(resume)
        count";
    assert_eq!(number(&mut vm, source), 100_000.0);
}

#[test]
fn coroutines_that_are_each_others_parents_end_in_main() {
    let mut vm = vm();
    let source = "
        a := coroFor(1); b := coroFor(2); c := coroFor(3)
        a run; b run
        a setParentCoroutine(b); b setParentCoroutine(a)
        c setParentCoroutine(a)
        c run
        5";
    assert_eq!(number(&mut vm, source), 5.0);
}

/// The limit was one for each coroutine, and each had another one to go on in.
#[test]
fn coroutines_that_start_each_other_are_a_recursion() {
    let source = "f := method(Coroutine clone setRunTarget(Lobby) setRunMessage(message(f)) run); f";
    let mut vm = limited(Limits { depth: 10_000, ..Limits::default() });
    let error = text(&mut vm, &format!("try({source}) error"));
    assert_eq!(error, "calls nested too deeply: the depth limit is 10000");
    let mut vm = limited(Limits { memory_bytes: Some(24 << 20), ..Limits::default() });
    assert!(matches!(halt(&mut vm, source), Halt::Memory { .. }));
}

// ---- a library taken apart

/// The library's answer to an unknown name was itself made of names, and asked itself for them without end.
#[test]
fn an_unknown_name_is_an_error_whatever_is_left_of_the_library() {
    for source in [
        "Object slotNames foreach(name, Object removeSlot(name))",
        "Object removeAllSlots",
        "Lobby removeAllSlots",
        "Lobby removeAllProtos",
        "Core removeAllSlots",
        "Object removeSlot(\"type\")",
        "Object type := method(zork)",
        "Importer removeAllSlots",
        "Importer removeSlot(\"import\")",
        "Exception removeSlot(\"raiseFrom\")",
        "Exception removeAllSlots; Exception removeAllProtos",
        "Sequence removeAllSlots",
        "Sequence setSlot(\"..\", method(zork))",
        "Call removeAllSlots",
        "Message removeAllSlots",
        "List removeAllSlots",
        "Path removeAllSlots",
    ] {
        for name in ["foo", "Foo"] {
            let mut vm = limited(Limits { fuel: Some(1_000_000), ..Limits::default() });
            match vm.evaluate(&format!("{source}; {name}"), "test") {
                Err(Error::Exception(exception)) => {
                    assert!(exception.message.contains("does not respond to"), "{source}: {}", exception.message);
                }
                other => panic!("{source}; {name} gives {other:?}"),
            }
        }
    }
}

// ---- cycles

#[test]
fn lists_that_contain_themselves_do_not_hang() {
    let mut vm = limited(Limits { depth: 5_000, fuel: Some(20_000_000), memory_bytes: Some(256 << 20) });
    number(&mut vm, "a := list(1); a append(a); b := list(1); b append(b); a size");
    for source in ["a == b", "a compare(b)", "a contains(b)", "list(a, b) sort", "a indexOf(b)", "list(a, b) unique"] {
        vm.evaluate(source, "test").unwrap_or_else(|error| panic!("{source}: {error}"));
    }
    for source in ["a asString", "a asSimpleString", "a asSimpleString", "list(a, 2) at(0) asString"] {
        assert_eq!(text(&mut vm, source), "list(1, ...)", "{source}");
    }
    assert_eq!(text(&mut vm, "a join(\",\") .. list(a, a)"), "1,list(1, ...)list(list(1, ...), list(1, ...))");
    for source in ["a asJson", "a serialized", "a flatten"] {
        let error = text(&mut vm, &format!("try({source}) error"));
        assert!(error.contains("contains itself"), "{source}: {error}");
    }
    assert_eq!(number(&mut vm, "a size + b size"), 4.0);
}

/// What is shared is no cycle, whoever was interrupted while writing it before.
#[test]
fn what_is_shared_is_written_each_time() {
    let mut vm = vm();
    number(&mut vm, "s := list(1, 2); l := list(s, s, Map with(\"s\", s)); l size");
    assert_eq!(text(&mut vm, "l asJson"), "[[1,2],[1,2],{\"s\":[1,2]}]");
    assert_eq!(text(&mut vm, "l slice(0, 2) asString"), "list(list(1, 2), list(1, 2))");
    assert_eq!(text(&mut vm, "l slice(0, 2) serialized"), "list(list(1, 2);, list(1, 2););");
    assert_eq!(number(&mut vm, "list(s, s, list(s)) flatten size"), 6.0);
    // A stop, an exception and a coroutine that never goes on leave nothing behind.
    let interrupted = "
        Odd := Object clone do(asSimpleString := method(act); asJson := method(act))
        o := Odd clone
        l := list(1, o)
        o act := method(Exception raise(\"no\"))
        try(l asString); try(l asJson)
        o act := method(Coroutine currentCoroutine parentCoroutine resume)
        coroFor(l asString) resume; coroFor(l asJson) resume
        o act := method(\"o\")
        l asString .. l asJson";
    assert_eq!(text(&mut vm, interrupted), "list(1, o)[1,o]");
}

/// A text was made for each level out of that of the next: a hundred thousand levels took half a minute.
#[test]
fn what_is_nested_deeply_is_written_in_linear_time() {
    let mut vm = limited(Limits { fuel: Some(50_000_000), memory_bytes: Some(512 << 20), ..Limits::default() });
    number(&mut vm, "a := list(1); 100000 repeat(a = list(a)); a size");
    assert_eq!(number(&mut vm, "a asJson size"), 200_003.0);
    assert_eq!(number(&mut vm, "a serialized size"), 700_008.0);
    assert_eq!(number(&mut vm, "a flatten at(0)"), 1.0);
    assert_eq!(text(&mut vm, "a asString"), "list(list(list(list(list(list(list(list(li...)");
    // Each level has two ways to the next: there are more ways than anybody can go.
    number(&mut vm, "b := list(1); 200 repeat(b = list(b, b)); b size");
    assert_eq!(number(&mut vm, "b asString size"), 88.0);
}

/// A program's own asJson counts inside of lists and maps, too.
#[test]
fn an_object_s_own_json_is_used_inside_of_others() {
    let mut vm = vm();
    let source = "
        Own := List clone do(asJson := method(\"\\\"own\\\"\"))
        list(Own clone append(1), Map with(\"a\", Own clone), Object clone do(b := 2; c := list()), Map clone, nil) asJson";
    assert_eq!(text(&mut vm, source), "[\"own\",{\"a\":\"own\"},{\"b\":2,\"c\":[]},{},null]");
}

#[test]
fn objects_and_maps_that_contain_themselves_do_not_hang() {
    let mut vm = limited(Limits { depth: 5_000, fuel: Some(20_000_000), memory_bytes: Some(256 << 20) });
    number(&mut vm, "o := Object clone; o me := o; m := Map clone; m atPut(\"me\", m); m size");
    for source in ["o asJson", "o serialized", "m asJson", "m serialized"] {
        let error = text(&mut vm, &format!("try({source}) error"));
        assert!(error.contains("contains itself"), "{source}: {error}");
    }
    for source in ["o asString", "m asString", "m == m clone"] {
        if let Err(Error::Halted(halt)) = vm.evaluate(source, "test") {
            panic!("{source}: {halt}");
        }
    }
}

#[test]
fn protos_in_a_ring_find_and_fail_alike() {
    let mut vm = vm();
    number(&mut vm, "a := Object clone; b := a clone; c := b clone; a appendProto(c); a prependProto(c); c x := 5; 1");
    assert_eq!(number(&mut vm, "a x + b x"), 10.0);
    assert!(vm.evaluate("a nothing", "test").is_err());
    assert!(vm.evaluate("b isKindOf(a); a ancestors size; a ancestorWithSlot(\"zz\")", "test").is_ok());
    let lonely = "l := Object clone; l removeAllProtos; l setProto(l); l anything";
    assert!(vm.evaluate(lonely, "test").is_err());
}

/// Found by review: two locals whose `self` slots name each other made lookup spin, which no limit could end, and a
/// message handed on from one to the other recursed.
#[test]
fn locals_that_stand_for_each_other_find_and_fail_alike() {
    let rings = [
        "context := method(thisLocalContext); a := context; b := context; a self := b; b self := a; 1",
        "context := method(thisLocalContext); a := context; b := context; c := context
         a self := b; b self := c; c self := b; 1",
        "a := Locals clone; b := Locals clone; a self := b; b self := a; 1",
        "a := Object clone; b := Object clone; a self := b; b self := a
         list(a, b) foreach(each, each setSlot(\"forward\", Locals getSlot(\"forward\"))); 1",
    ];
    for ring in rings {
        for compiling in [true, false] {
            let mut vm = limited(Limits { fuel: Some(1_000_000), ..Limits::default() });
            vm.set_compiling(compiling);
            number(&mut vm, ring);
            number(&mut vm, "write := method(o, o x = 1); b setSlot(\"y\", 5)");
            for source in ["a nothing", "a x = 1", "write(a)", "a forward", "a doMessage(message(nothing))"] {
                assert!(matches!(vm.evaluate(source, "test"), Err(Error::Exception(_))), "{ring}: {source}");
            }
            assert_eq!(number(&mut vm, "a y"), 5.0, "{ring}");
            assert!(vm.evaluate("a getSlot(\"nothing\")", "test").unwrap().is_nil());
        }
    }
}

#[test]
fn messages_that_follow_themselves_print_and_pay() {
    let mut vm = limited(Limits { fuel: Some(1_000_000), ..Limits::default() });
    number(&mut vm, "m := message(foo(1) bar); m next setNext(m); n := message(f(x)); n setArguments(list(n)); 1");
    for source in ["m asString", "m code", "n asString", "m clone name", "n clone name", "method(x) setMessage(m) code"]
    {
        vm.evaluate(source, "test").unwrap_or_else(|error| panic!("{source}: {error}"));
    }
    number(&mut vm, "ring := message(ticks = ticks + 1; Lobby); ring last setNext(ring); ticks := 0");
    assert!(matches!(halt(&mut vm, "Lobby doMessage(ring)"), Halt::Fuel { .. }));
    assert!(number(&mut vm, "ticks") > 1000.0);
    vm.set_limits(Limits { fuel: Some(1_000_000), ..Limits::default() });
    assert!(matches!(halt(&mut vm, "m last"), Halt::Fuel { .. }));
}

// ---- code that changes itself

#[test]
fn code_may_rewrite_itself_while_it_runs() {
    let mut vm = vm();
    let source = "
        grow := method(n,
            code := getSlot(\"grow\") message
            Lobby getSlot(\"grow\") setMessage(message(n + 1))
            n * 10)
        list(grow(1), grow(1)) sum";
    assert_eq!(number(&mut vm, source), 12.0);
    let source = "
        body := message(count = count + 1; if(count == 3, body setName(\"done\")))
        done := method(5)
        count := 0
        5 repeat(Lobby doMessage(body))
        count";
    assert!(number(&mut vm, source) >= 3.0);
    let source = "
        twist := method(x, Lobby twist := method(x, x + 100); Number setSlot(\"times\", method(y, self * y)); x times(2))
        twist(1) + twist(1)";
    assert_eq!(number(&mut vm, source), 103.0);
}

// ---- numbers and text

#[test]
fn odd_numbers_are_no_danger() {
    let mut vm = limited(Limits { fuel: Some(5_000_000), memory_bytes: Some(64 << 20), ..Limits::default() });
    for source in [
        "1e308 * 10",
        "-(1/0) asString",
        "0/0",
        "(0/0) asString",
        "2 ** 1e9",
        "1e300 factorial",
        "1e18 isEven",
        "(1/0) asCharacter",
        "list(1) at(1e300)",
        "list(1) at(0/0)",
        "list(1, 2) slice(-1e300, 1e300)",
        "\"abc\" at(1e18)",
        "\"abc\" exSlice(-1e18, 1e18)",
        "1 << 1e18",
        "1 >> -1e18",
        "(1/0) % 3",
        "1e300 toBase(7)",
        "list(1) removeAt(-1e300)",
        "5 between(0/0, 1)",
        "(0/0) == (0/0)",
        "list(0/0, 1, 0/0, 2) sort",
        "1 clip(2, 0/0)",
    ] {
        if let Err(Error::Halted(halt)) = vm.evaluate(source, "test") {
            panic!("{source}: {halt}");
        }
    }
    assert!(matches!(vm.evaluate("for(i, 0, 1/0, nil)", "test"), Err(Error::Halted(Halt::Fuel { .. }))));
    let huge = "9".repeat(100_000);
    vm.set_limits(Limits::default());
    assert_eq!(number(&mut vm, &huge), f64::INFINITY);
}

/// The order of nan contradicts itself, and the sort of the standard library panicked over it.
#[test]
fn whatever_can_be_compared_can_be_sorted() {
    let mut vm = vm();
    let lists = "
        numbers := List clone; nested := List clone; mixed := List clone; texts := List clone
        for(i, 1, 5000,
            n := if(i % 3 == 0, 0/0, (i * 7919) % 1000)
            numbers append(n); nested append(list(n, i)); texts append(\"t\" .. ((i * 7919) % 1000))
            mixed append(if(i % 2 == 0, n, if(i % 5 == 0, \"t\" .. i, vector(n, 1)))))
        ordered := List clone; for(i, 1, 300000, ordered append((i * 7919) % 300007))
        list(numbers, nested, mixed, texts) map(sort size) sum";
    assert_eq!(number(&mut vm, lists), 20_000.0);
    let is_sorted = "
        wrong := 0
        list(ordered, texts) foreach(unsorted,
            previous := nil
            unsorted sort foreach(item, if(previous and(previous > item), wrong = wrong + 1); previous = item))
        wrong";
    assert_eq!(number(&mut vm, is_sorted), 0.0);
}

#[test]
fn a_number_says_why_it_is_no_actor() {
    let mut vm = vm();
    let error = text(&mut vm, "try(5 @@foo) error");
    assert_eq!(error, "a plain Number cannot be an actor, for it has no slots; clone Number first");
    assert_eq!(number(&mut vm, "Number actorValue := method(7); n := Number clone; (n @actorValue) + 0"), 7.0);
}

#[test]
fn more_arguments_than_a_byte_can_count_are_all_there() {
    let mut vm = vm();
    let items: Vec<String> = (0..1_000).map(|each| each.to_string()).collect();
    assert_eq!(number(&mut vm, &format!("list({}) size", items.join(", "))), 1000.0);
    assert_eq!(number(&mut vm, &format!("f := method(list({}) size); f", items.join(", "))), 1000.0);
}

#[test]
fn a_value_is_what_the_embedder_keeps() {
    let mut vm = vm();
    let kept: Value = vm.evaluate("list(1, 2, 3)", "test").unwrap();
    vm.retain(kept);
    vm.collect();
    assert_eq!(vm.heap().list(kept.as_handle().unwrap()).map(<[Value]>::len), Some(3));
}

/// Found by attack: primitives under another name, without data, or on receivers that they are not made for.
#[test]
fn primitives_out_of_place_raise() {
    for source in [
        "o := Object clone; o f := Number getSlot(\"repeat\"); try(o f(1))",
        "try(CFunction performOn(1))",
        "try(EvalFrame clone description)",
        "try(EvalFrame description)",
    ] {
        let mut vm = vm();
        vm.evaluate(source, "test").expect("what goes wrong is caught");
    }
}

/// A loop under another name is that loop still.
#[test]
fn a_loop_may_have_another_name() {
    let mut vm = vm();
    let source = "Number times := Number getSlot(\"repeat\"); n := 0; 3 times(i, n = n + i); 2 times(n = n + 10); n";
    assert_eq!(vm.evaluate(source, "test").expect("it counts"), Value::number(23.0));
}
