//! What the embedder hands in: the only way from a program to the world. A machine without any of it still runs every
//! program that needs none, and says what it lacks when a program needs some.

use crate::primitives::{Args, Function, LAZY};
use crate::signal::{Halt, Outcome};
use crate::vm::Vm;
use object::{Data, Kind, Value};
use std::any::Any;
use std::ops::RangeInclusive;

/// Where a program's output goes.
pub trait Output {
    fn write(&mut self, bytes: &[u8]);
}

/// The local time zone. Without one, dates are in UTC.
pub trait Zone {
    /// What holds at an instant, in seconds since 1970.
    fn at(&self, seconds: f64) -> ZoneAt;
}

/// A time zone at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneAt {
    /// East of Greenwich.
    pub offset_seconds: i32,
    pub name: String,
    pub is_daylight_saving: bool,
}

/// Capabilities, each absent unless handed in.
#[derive(Default)]
pub struct Host {
    pub output: Option<Box<dyn Output>>,
    pub zone: Option<Box<dyn Zone>>,
    /// What the embedder's own primitives share.
    pub extra: Option<Box<dyn Any>>,
}

impl Host {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if let Some(output) = &mut self.output {
            output.write(bytes);
        }
    }
}

/// Prototypes that only the embedder can bring to life, each with what it stands for.
const WITHHELD: &[(&str, &str)] =
    &[("File", "files"), ("Directory", "files"), ("System", "system"), ("Random", "randomness")];

impl Vm {
    /// What the embedder's primitives share, if it is a `T`.
    pub fn extra<T: 'static>(&mut self) -> Option<&mut T> {
        self.host.extra.as_mut().and_then(|extra| extra.downcast_mut())
    }

    /// The prototype of this name in Core, made if there is none.
    pub fn prototype(&mut self, name: &str) -> Value {
        let (core, symbol) = (self.protos.core, self.heap.intern(name));
        if let Some(prototype) = self.heap.own_slot(core, symbol) {
            return prototype;
        }
        let prototype = self.heap.clone_of(self.protos.object, Kind::Object, Data::None);
        self.heap.set_slot(core, symbol, Value::object(prototype));
        self.heap.set_slot(prototype, self.names.type_, Value::object(symbol));
        Value::object(prototype)
    }

    /// Ends the refusals of a prototype, which the caller is about to give its primitives.
    pub fn hand_in(&mut self, name: &str) -> Value {
        let prototype = self.prototype(name);
        if let Some(handle) = prototype.as_handle() {
            self.heap.remove_slot(handle, self.names.forward);
        }
        self.set_slot(prototype, "isAvailable", Value::TRUE);
        prototype
    }

    /// Gives an object a method that says which capability the machine lacks.
    pub fn withhold(&mut self, object: Value, name: &str, what: &'static str) {
        let refuse = move |vm: &mut Vm, _| {
            let slots = [("withheldCapability", vm.symbol(what))];
            Err(vm.raise_with(format!("this machine was given no {what}"), &slots))
        };
        self.define(object, name, LAZY, Function::Shared(std::rc::Rc::new(refuse)));
    }
}

/// Makes the prototypes of the embedder's facilities, which refuse everything until they are handed in.
pub(crate) fn install(vm: &mut Vm) {
    for &(name, what) in WITHHELD {
        let prototype = vm.prototype(name);
        vm.set_slot(prototype, "isAvailable", Value::FALSE);
        vm.withhold(prototype, "forward", what);
    }
    // Ending the program touches nothing, so it needs no permission.
    let system = vm.prototype("System");
    vm.define(system, "exit", crate::ONE, Function::Plain(exit));
}

/// What the host's processes can end with. Negative codes are the same from the other end, as shells show them: -1 is 255.
const EXIT_CODES: RangeInclusive<f64> = -255.0..=255.0;

/// A code beyond those a process can end with would lose its higher bits, and 256 would look like success.
fn exit(vm: &mut Vm, args: Args) -> Outcome {
    let code = args.optional_number(vm, 0)?.unwrap_or(0.0);
    if code.fract() != 0.0 || !EXIT_CODES.contains(&code) {
        let given = object::number_text::format_number(code);
        return Err(vm.raise(format!("an exit code is a whole number from 0 to 255, or from -255 to -1, not {given}")));
    }
    Err(Halt::Exit { code: (code as i16).rem_euclid(256) as u8 }.into())
}
