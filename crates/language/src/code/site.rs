//! Sites: what one place in the code learnt about the objects it met.

use crate::primitives::quick::Quick;
use object::{Handle, ShapeId, Symbol, Value};
use std::cell::Cell;

/// What a name led to, for receivers of one shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// A slot of the receiver itself.
    Own,
    /// A slot of `holder`.
    Inherited,
    /// Writing adds a slot: the receiver's shape becomes `next`.
    Adds,
}

/// What the value last found does when it is looked up.
#[derive(Clone, Copy)]
pub enum Callee {
    Primitive,
    /// A block that runs as a tree.
    Block,
    /// `call`, sent to a block: the receiver itself is what is called.
    CallBlock,
    /// A primitive with a quick form.
    Quick(Quick),
    /// A unit, and the scope of its block; nil for a method.
    Code(u32, Value),
}

pub struct Site {
    pub name: Symbol,
    pub message: Handle,
    pub shape: Cell<ShapeId>,
    /// The same if the slot is the receiver's own.
    pub own_shape: Cell<ShapeId>,
    pub epoch: Cell<u64>,
    pub known: Cell<Known>,
    pub index: Cell<u32>,
    pub holder: Cell<Handle>,
    pub next: Cell<ShapeId>,
    /// The activatable value last found, and what it does.
    pub value: Cell<Value>,
    pub callee: Cell<Callee>,
}

/// No object has this shape.
const NO_SHAPE: ShapeId = ShapeId(u32::MAX);
/// No slot has this value.
const NO_VALUE: Value = Value::ABSENT;
const NOBODY: Handle = Handle(0);

impl Site {
    pub fn new(name: Symbol, message: Handle) -> Site {
        Site {
            name,
            message,
            shape: Cell::new(NO_SHAPE),
            own_shape: Cell::new(NO_SHAPE),
            epoch: Cell::new(0),
            known: Cell::new(Known::Own),
            index: Cell::new(0),
            holder: Cell::new(NOBODY),
            next: Cell::new(NO_SHAPE),
            value: Cell::new(NO_VALUE),
            callee: Cell::new(Callee::Primitive),
        }
    }

    /// Forgets shapes and units, whose ids may be used again.
    pub fn forget(&self) {
        self.shape.set(NO_SHAPE);
        self.own_shape.set(NO_SHAPE);
        self.value.set(NO_VALUE);
    }

    /// Remembers where receivers of this shape have the name.
    pub fn learn(&self, shape: ShapeId, epoch: u64, known: Known, index: u32, holder: Handle) {
        self.shape.set(shape);
        self.own_shape.set(if known == Known::Own { shape } else { NO_SHAPE });
        self.epoch.set(epoch);
        self.known.set(known);
        self.index.set(index);
        self.holder.set(holder);
        self.value.set(NO_VALUE);
    }
}
