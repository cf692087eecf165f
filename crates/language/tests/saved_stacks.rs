//! Suspended stacks as values: what is saved and restored goes on as if nothing had been, and values that no stack was
//! saved as are refused or raise, whatever they are. That programs notice nothing is tested in `engines.rs`, where every
//! stack that is suspended comes back from values.

#![allow(clippy::disallowed_methods, reason = "how long it tests is set from outside")]

mod machine;

use language::{Limits, Value, Vm};
use machine::{number, text, vm};
use object::Data;
use testkit::random::Random;

/// Coroutines that wait in the middle of everything that calls back into a program. Each adds to `log` as it goes on.
const WAITING: &str = r#"
    log := list()
    waiting := list()
    suspend := method(waiting append(Coroutine currentCoroutine); Coroutine currentCoroutine parentCoroutine resume)
    start := method(call evalArgAt(0) resume)
    Noisy := Object clone do(asString := method(suspend; "noisy"); init := method(suspend; self made := 1))
    pass := method(x, suspend; x)
    start(coroFor(for(i, 1, 3, suspend; log append("for " .. i))))
    start(coroFor(i := 0; while((suspend; i) < 3, i = i + 1; log append("while " .. i))))
    start(coroFor(i := 0; loop(suspend; i = i + 1; if(i > 2, break); log append("loop " .. i))))
    start(coroFor(3 repeat(i, suspend; log append("repeat " .. i))))
    start(coroFor(list(1, 2, 3) foreach(i, v, suspend; log append("foreach " .. v))))
    start(coroFor(list(1, 2, 3) reverseForeach(v, suspend; log append("back " .. v))))
    start(coroFor(Map with("a", 1, "b", 2) foreach(k, v, suspend; log append(k .. v))))
    start(coroFor(Object clone do(a := 1; b := 2) foreachSlot(k, v, suspend; log append("slot " .. k))))
    start(coroFor(e := try(suspend; Exception raise("oh")); log append(e error)))
    start(coroFor(log append("status " .. stopStatus(suspend; break) type)))
    start(coroFor(log append(list(3, 1, 2) sortBy(block(x, y, suspend; x < y)) join(" "))))
    start(coroFor(log append(doString("suspend; 1 + pass(2)"))))
    start(coroFor(log append("a #{suspend; 3} b #{Noisy} c" interpolate)))
    start(coroFor(log append(Noisy clone made)))
    start(coroFor(log append("text " .. Noisy)))
    start(coroFor(log append("all " asMutable appendSeq(1, Noisy, 2))))
    start(coroFor(write("")(Noisy); write(Noisy, "!"); log append("written")))
    start(coroFor(log append(Map clone atIfAbsentPut("k", suspend; "put"))))
    start(coroFor(log append(Object clone lexicalDo(suspend; x := 4) x)))
    start(coroFor(log append(message(f(suspend; 1, 2)) argsEvaluatedIn(Lobby) sum)))
    start(coroFor(log append(list(1, list(2)) asString .. list(1, list(Noisy)) asString)))
    start(coroFor(if(pass(true), log append("if " .. pass(5)), nil)))
    fib := method(n, if(n < 2, pass(n), fib(n - 1) + fib(n - 2)))
    start(coroFor(log append("fib " .. fib(5))))
    start(coroFor(b := block(x, suspend; x * 2); log append("block " .. b call(21))))
    start(coroFor(log append(list(1, 2, 3) map(x, suspend; x * x) select(x, suspend; x > 1) join(" "))))
"#;

/// Lets the coroutines take turns until all have ended.
const GO_ON: &str = r#"
    rounds := 0
    while(waiting isNotEmpty, rounds = rounds + 1; again := waiting; waiting = list(); again foreach(resume))
    log join(",") .. " in " .. rounds
"#;

fn saved(vm: &Vm, coroutine: Value) -> Vec<Value> {
    match vm.heap().object(coroutine.as_handle().expect("a coroutine is an object")).data() {
        Data::Foreign(foreign) => foreign.save().expect("a coroutine can be saved").1,
        _ => panic!("a coroutine has a stack"),
    }
}

fn waiting(vm: &mut Vm) -> Vec<Value> {
    let list = vm.evaluate("waiting", "test").expect("it is a list");
    vm.list_of(list).expect("it is a list").to_vec()
}

#[test]
fn a_restored_stack_goes_on_as_if_nothing_had_been() {
    let mut untouched = vm();
    untouched.evaluate(WAITING, "test").expect("it waits");
    let expected = text(&mut untouched, GO_ON);
    assert!(expected.contains("fib 5") && expected.contains("1 2 3") && !expected.ends_with(" in 1"), "{expected}");
    for compiling in [true, false] {
        let mut vm = vm();
        vm.set_compiling(compiling);
        vm.evaluate(WAITING, "test").expect("it waits");
        // Before each turn, every stack becomes one that comes from a file.
        let mut round = 0;
        while !waiting(&mut vm).is_empty() {
            for coroutine in waiting(&mut vm) {
                let values = saved(&vm, coroutine);
                vm.set_stack(coroutine, &values).expect("what was saved can be restored");
                assert_eq!(saved(&vm, coroutine), values, "and is saved as the same");
            }
            round += 1;
            vm.evaluate("again := waiting; waiting = list(); again foreach(resume)", "test").expect("all go on");
        }
        let output = text(&mut vm, "log join(\",\")");
        assert_eq!(format!("{output} in {round}"), expected);
    }
}

#[test]
fn a_restored_stack_can_be_looked_at() {
    let mut vm = vm();
    vm.evaluate(WAITING, "test").expect("it waits");
    let look = "waiting map(c, c ioStack map(activated code) join(\" \") .. c currentFrame depth .. c currentFrame description)
                asString";
    let before = text(&mut vm, look);
    for coroutine in waiting(&mut vm) {
        let values = saved(&vm, coroutine);
        vm.set_stack(coroutine, &values).expect("what was saved can be restored");
    }
    assert_eq!(text(&mut vm, look), before);
}

/// Nobody waits any more for what an embedder asked of the process that ended.
#[test]
fn the_stack_that_an_embedder_waits_for_is_not_saved() {
    let mut vm = vm();
    number(&mut vm, "seen := nil; c := coroFor(seen = Coroutine currentCoroutine parentCoroutine; hook); 1");
    let main = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let (lobby, kept) = (vm.lobby(), main.clone());
    let hook = language::Function::shared(move |vm, _| {
        let lobby = vm.lobby();
        let main = vm.get_slot(lobby, "seen").expect("it was set");
        *kept.borrow_mut() = saved(vm, main);
        Ok(Value::NIL)
    });
    vm.define(lobby, "hook", language::NONE, hook);
    number(&mut vm, "c resume; 1");
    assert_eq!(*main.borrow(), [Value::number(1.0), Value::number(0.0)], "as one that has not begun");
}

#[test]
fn values_that_are_no_stack_are_refused_or_raise() {
    let mut vm = vm();
    vm.set_limits(Limits { fuel: Some(20_000_000), ..Limits::default() });
    vm.evaluate(WAITING, "test").expect("it waits");
    let coroutines = waiting(&mut vm);
    let stacks: Vec<Vec<Value>> = coroutines.iter().map(|&coroutine| saved(&vm, coroutine)).collect();
    let others = vm.evaluate("list(nil, true, Lobby, 7, \"text\", list(1), message(a), block(1), Map clone)", "test");
    let others = vm.list_of(others.expect("it is a list")).expect("it is a list").to_vec();
    for &value in others.iter().chain(stacks.iter().flatten()).chain(&coroutines) {
        vm.retain(value);
    }
    let cases = std::env::var("TELOS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(3_000);
    let seed = std::env::var("TELOS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random::new(seed);
    let mut refused = 0;
    for case in 0..cases {
        let at = random.below(stacks.len());
        let mut values = stacks[at].clone();
        for _ in 0..1 + random.below(3) {
            let place = random.below(values.len());
            match random.below(4) {
                0 => values.truncate(place.max(1)),
                1 => values[place] = Value::number([0.0, 1.0, 2.0, 3.0, -1.0, 1e9, f64::NAN, 0.5][random.below(8)]),
                2 => values[place] = others[random.below(others.len())],
                _ => values[place] = values[random.below(values.len())],
            }
        }
        vm.set_limits(Limits { fuel: Some(100_000), ..Limits::default() });
        match vm.set_stack(coroutines[at], &values) {
            // Whatever it does, it is a program's doing: a value, an exception or a limit.
            Ok(()) => {
                let _ = vm.send(coroutines[at], "resume", &[]);
            }
            Err(_) => refused += 1,
        }
        assert_eq!(vm.evaluate("1 + 1", "test").ok(), Some(Value::number(2.0)), "seed {seed}, case {case}");
    }
    assert!(refused > cases / 4, "{refused} of {cases}");
}
