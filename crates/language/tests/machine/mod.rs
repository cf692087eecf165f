//! Machines for tests, and short ways to ask them.

#![allow(dead_code, reason = "each test file uses what it needs")]

use language::{Error, Halt, Host, Limits, Vm};

pub fn vm() -> Vm {
    Vm::new(Host::default())
}

pub fn limited(limits: Limits) -> Vm {
    let mut vm = vm();
    vm.set_limits(limits);
    vm
}

pub fn number(vm: &mut Vm, source: &str) -> f64 {
    let value = vm.evaluate(source, "test").unwrap_or_else(|error| panic!("{source}: {error}"));
    vm.number_of(value).unwrap_or_else(|| panic!("{source} gives no number"))
}

pub fn text(vm: &mut Vm, source: &str) -> String {
    let value = vm.evaluate(source, "test").unwrap_or_else(|error| panic!("{source}: {error}"));
    vm.text_of(value).unwrap_or_else(|| panic!("{source} gives no text"))
}

/// The halt that ends a program; the machine must work afterwards.
pub fn halt(vm: &mut Vm, source: &str) -> Halt {
    let halt = match vm.evaluate(source, "test") {
        Err(Error::Halted(halt)) => halt,
        other => panic!("{source} was to be halted: {:?}", other.map(|_| ())),
    };
    vm.set_limits(Limits::default());
    assert_eq!(number(vm, "list(1, 2, 3) sum"), 6.0, "the machine works after {halt}");
    halt
}
