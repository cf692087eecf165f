//! The way from locals to what they stand for: their `self`, and on from there if that is locals too. Owns that it ends:
//! a program can make the `self` slots of two locals name each other.

use crate::vm::Vm;
use object::{Handle, Kind, Value};

/// A walk along `self` slots. A ring is noticed after at most three times its length, with nothing allocated: a mark is
/// left behind at steps 1, 2, 4, 8 and so on, and met again (Brent's method).
pub(crate) struct Scopes {
    pub here: Value,
    mark: Value,
    steps: u32,
    /// The mark moves when so many steps were made from it.
    stride: u32,
}

impl Scopes {
    #[inline(always)]
    pub fn from(target: Value) -> Scopes {
        Scopes { here: target, mark: target, steps: 0, stride: 1 }
    }

    /// Goes on to what `here` stands for. False at the end: it has no `self` of its own, or is on a ring.
    pub fn advance(&mut self, vm: &Vm) -> bool {
        let next = self.here.as_handle().and_then(|handle| vm.heap.own_slot(handle, vm.names.self_));
        let Some(next) = next.filter(|&next| next != self.mark) else { return false };
        self.here = next;
        self.steps += 1;
        if self.steps == self.stride {
            (self.mark, self.steps) = (next, 0);
            self.stride = self.stride.saturating_mul(2);
        }
        true
    }

    /// The same, from locals only.
    pub fn advance_from_locals(&mut self, vm: &Vm) -> bool {
        let is_locals = |handle: Handle| vm.heap.kind(handle) == Kind::Locals;
        self.here.as_handle().is_some_and(is_locals) && self.advance(vm)
    }
}
