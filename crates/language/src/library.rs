//! The standard library that is written in Io, and the order in which it is loaded.

use crate::vm::Vm;

/// Each file with its name, in load order.
const FILES: &[(&str, &str)] = &[];

/// The files of the library, each with the label that its messages have.
pub fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.iter().copied()
}

/// Evaluates the library in Core. The library is part of this crate, so an error in it is ours.
pub fn load(vm: &mut Vm) {
    for (name, source) in FILES {
        let core = vm.core();
        if let Err(error) = vm.evaluate_in(core, source, name) {
            panic!("the standard library does not load: {error}");
        }
    }
}
