//! What `become` may change, and what copies of weak links do.

use language::{Limits, Value, Vm};

/// `"abc" become(…)` used to leave the table of symbols pointing at something that was no symbol, and a method that
/// became an Object while it ran made the machine read fields that were not there.
#[test]
fn become_refuses_what_the_machine_relies_on() {
    let mut vm = Vm::default();
    for source in [
        "\"abc\" become(list(1))",
        "nil become(3)",
        "true become(false)",
        "List become(Object clone)",
        "Number become(Object clone)",
        "m := method(getSlot(\"m\") become(Object clone)); m",
        "m := method(call become(Object clone)); m",
        "m := method(x := 1; thisLocalContext become(Object clone); x); m",
        "m := method(call message become(Object clone)); m",
        "Coroutine currentCoroutine become(Object clone)",
    ] {
        let raised = vm.evaluate(&format!("try({source}) type"), "test").expect(source);
        assert_eq!(vm.text_of(raised).as_deref(), Some("Exception"), "{source}");
    }
    let value = vm.evaluate("a := Object clone; b := a; a become(list(1, 2)); b sum", "test");
    assert_eq!(value.expect("an object may become another"), Value::number(3.0));
}

#[test]
fn a_copied_weak_link_is_cleared_too() {
    let mut vm = Vm::default();
    vm.evaluate("link := WeakLink clone; link setLink(Object clone); copy := link shallowCopy; link = nil", "test")
        .expect("links can be copied");
    vm.collect();
    assert_eq!(vm.evaluate("copy link", "test").expect("a link answers"), Value::NIL);
}

/// Suspended stacks count: a program cannot hide what it holds in them.
#[test]
fn deep_stacks_count_against_the_memory_limit() {
    let mut vm = Vm::default();
    vm.set_limits(Limits { memory_bytes: Some(64 << 20), ..Limits::default() });
    let source = "down := method(n, if(n == 0, 0, 1 + down(n - 1))); down(3000000)";
    let ended = vm.evaluate(source, "test");
    assert!(matches!(ended, Err(language::Error::Halted(language::Halt::Memory { .. }))), "{ended:?}");
}
