//! `transaction` and World: writes that can be taken back, or set aside where nobody sees them. Each is a level of the
//! heap's transaction, open while a native frame waits; the frame closes it however it ends.
//!
//! Levels nest like frames, so nothing may run meanwhile that is on another stack: a coroutine that is inside of one
//! cannot be left.

use super::{Args, LAZY, NONE, Row};
use crate::machine::frame::Native;
use crate::signal::{Outcome, Signal, Stop};
use crate::vm::Vm;
use object::{Foreign, Handle, Kind, Overlay, Value};
use std::any::Any;
use std::rc::Rc;

pub const OBJECT_TABLE: &[Row] = &[("transaction", LAZY, |vm, args| begin(vm, &args, Native::Transaction))];

pub const TABLE: &[Row] = &[
    ("run", LAZY, |vm, args| {
        let overlay = overlay_of(vm, args.target);
        let outcome = begin(vm, &args, Native::World);
        lay_on(vm, &overlay);
        outcome
    }),
    ("commit", NONE, |vm, args| {
        let overlay = overlay_of(vm, args.target);
        lay_on(vm, &overlay);
        set_overlay(vm, args.target, Rc::default());
        Ok(args.target)
    }),
    ("discard", NONE, |vm, args| {
        set_overlay(vm, args.target, Rc::default());
        Ok(args.target)
    }),
    ("isEmpty", NONE, |vm, args| Ok(Value::boolean(overlay_of(vm, args.target).is_empty()))),
];

/// The writes of a world. They live as long as the process: a world is an experiment, not a place to keep things.
#[derive(Clone, Default)]
struct Aside(Rc<Overlay>);

impl Foreign for Aside {
    fn trace(&self, visit: &mut dyn FnMut(Value)) {
        self.0.trace(visit);
    }

    fn logical_bytes(&self) -> usize {
        self.0.logical_bytes()
    }

    fn copied(&self) -> Option<Box<dyn Foreign>> {
        Some(Box::new(self.clone()))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

fn overlay_of(vm: &Vm, world: Value) -> Rc<Overlay> {
    vm.foreign::<Aside>(world).map_or_else(Rc::default, |aside| aside.0.clone())
}

fn set_overlay(vm: &mut Vm, world: Value, overlay: Rc<Overlay>) {
    vm.set_foreign(world, Aside(overlay));
}

fn lay_on(vm: &mut Vm, overlay: &Overlay) {
    vm.heap.lay_on(overlay);
    let touched: Vec<Handle> = overlay.objects().collect();
    vm.written_by_other_means(&touched);
}

/// Evaluates the first argument with a level of its own beneath. All locals are objects then: those in registers could
/// not be taken back.
fn begin(vm: &mut Vm, args: &Args, native: Native) -> Outcome {
    let argument = args.argument(vm, 0)?;
    vm.leave_all();
    vm.open_levels += 1;
    vm.heap.open_level();
    vm.push_native(native, args);
    vm.push_chain(argument, args.locals, args.locals);
    Err(Signal::Entered)
}

/// The expression has its value, or ended by a stop, which is an end like any other.
pub(super) fn end(vm: &mut Vm, native: Native) {
    vm.open_levels -= 1;
    match native {
        Native::World => {
            let world = vm.top().target;
            let (overlay, restored) = vm.heap.lift_level();
            vm.written_by_other_means(&restored);
            set_overlay(vm, world, Rc::new(overlay));
        }
        _ => vm.heap.keep_level(),
    }
}

pub(super) fn end_by_stop(vm: &mut Vm, native: Native, stop: Stop, value: Value) -> Outcome {
    end(vm, native);
    vm.pop_frame();
    Err(Signal::Stop(stop, value))
}

/// An exception or a halt passes.
pub(crate) fn take_back(vm: &mut Vm) {
    vm.open_levels -= 1;
    let restored = vm.heap.roll_back_level();
    vm.written_by_other_means(&restored);
}

impl Vm {
    /// What code was made of may have changed in these objects.
    pub(crate) fn written_by_other_means(&mut self, objects: &[Handle]) {
        let is_code = |&object: &Handle| {
            self.has_built_ins(object) || matches!(self.heap.resident(object).kind(), Kind::Message | Kind::Block)
        };
        if objects.iter().any(is_code) {
            self.code_may_have_changed();
        }
    }
}
