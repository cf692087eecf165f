//! What the machine knows of a few primitives beside how to call them. Owns the one table that says so.

use super::quick::{self, Quick};
use crate::machine::evaluate::is_long_way;
use crate::vm::Vm;
use object::{Data, Handle, Symbol, Value};

#[derive(Clone, Copy)]
pub(crate) enum Role {
    /// Nothing: it is called like any other.
    Ordinary,
    /// The usual case needs nothing but the heap.
    Quick(Quick),
    /// `Block call`, which compiled code does itself.
    CallsBlock,
    /// Compiled code does it itself, where its name means it.
    BuiltIn,
    /// The same, and a stop on its way out still lets it assign its last argument.
    Assigns,
    /// `Locals forward`, which only hands on to the `self` slot.
    HandsOn,
}

impl Role {
    /// The role of the primitive of a name.
    pub(super) fn of(owner: &str, name: &str) -> Role {
        match (owner, name) {
            ("Object" | "Locals", "" | "if" | "while" | "loop" | "for" | "break" | "continue") => Role::BuiltIn,
            ("Object" | "Locals", "setSlot" | "updateSlot" | "setSlotWithType") => Role::Assigns,
            ("Locals", "forward") => Role::HandsOn,
            ("Block", "call") => Role::CallsBlock,
            _ => Role::quick(owner, name).map_or(Role::Ordinary, Role::Quick),
        }
    }

    fn quick(owner: &str, name: &str) -> Option<Quick> {
        Some(match (owner, name) {
            ("Object", "clone") => quick::clone,
            ("List", "append" | "push") => quick::list_append,
            ("List", "at") => quick::list_at,
            ("List", "atPut") => quick::list_at_put,
            ("List", "size") => quick::list_size,
            ("Map", "at") => quick::map_at,
            ("Map", "atPut") => quick::map_at_put,
            ("Sequence", "appendSeq") => quick::append_seq,
            ("Sequence", "..") => quick::join,
            ("Sequence", "size") => quick::sequence_size,
            _ => return None,
        })
    }
}

/// Finds the primitives that code takes assignments for.
pub(super) fn install(vm: &mut Vm) {
    let object = vm.protos.object;
    vm.protos.set_slot = primitive(vm, object, "setSlot");
    vm.protos.update_slot = primitive(vm, object, "updateSlot");
}

fn primitive(vm: &mut Vm, holder: Handle, name: &str) -> Handle {
    let name = vm.heap.intern(name);
    vm.heap.own_slot(holder, name).and_then(|value| value.as_handle()).expect("a primitive of this name was defined")
}

impl Vm {
    /// The role of a primitive; of anything else, that of an ordinary one.
    pub(crate) fn role_of(&self, callee: Handle) -> Role {
        match self.heap.object(callee).data() {
            Data::Primitive(index) => self.primitives[*index as usize].role,
            _ => Role::Ordinary,
        }
    }

    /// Whether a value itself answers a name with the primitive that Object or Locals had for it at first. Locals that
    /// have to ask what they stand for do not: that would be the receiver then. Nor does what is found along a way so
    /// long that it costs fuel, for code does not pay.
    pub(crate) fn means_built_in(&mut self, target: Value, name: Symbol) -> bool {
        let (found, steps) = self.look_up_counted(target, name);
        let found = found.filter(|found| found.target == target && !is_long_way(steps));
        found.and_then(|found| found.value.as_handle()).is_some_and(|callee| self.is_built_in(callee, name))
    }

    /// Whether a callee is the primitive that Object or Locals had for a name at first.
    pub(crate) fn is_built_in(&self, callee: Handle, name: Symbol) -> bool {
        match self.heap.object(callee).data() {
            Data::Primitive(index) => {
                let primitive = &self.primitives[*index as usize];
                primitive.name == name && matches!(primitive.role, Role::BuiltIn | Role::Assigns)
            }
            _ => false,
        }
    }
}
