//! The example of an embedder runs to its end.

use language::{Args, Function, ONE, Value, Vm};

#[path = "../examples/embed.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().expect("the example handles what it provokes");
}

/// Found by review: a primitive that takes the place of one that code has built in was not noticed by code that was
/// already compiled.
#[test]
fn a_primitive_redefined_by_the_embedder_is_used_by_code_that_ran_before() {
    let mut vm = Vm::default();
    let source = "sum := method(a, b, a + b); twice := method(n, r := 0; if(n > 0, r = 1); r); sum(1, 2) + twice(1)";
    assert_eq!(vm.evaluate(source, "test").unwrap(), Value::number(4.0));
    let number = vm.get_slot(vm.core(), "Number").unwrap();
    let minus = |vm: &mut Vm, args: Args| {
        let left = vm.number_of(args.target).unwrap_or_default();
        Ok(Value::number(left - args.number(vm, 0)?))
    };
    vm.define(number, "+", ONE, Function::Plain(minus));
    assert_eq!(vm.evaluate("sum(1, 2)", "test").unwrap(), Value::number(-1.0));
}
