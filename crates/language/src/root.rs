//! The root: one object from which a machine finds all that it knows of its heap, so that another machine can go on there,
//! in another process and years later. Owns what a machine does to a heap as a whole: transactions, loading, opening.
//!
//! The root's slots are the machine's prototypes by the names of their fields, and:
//! - `main`, the coroutine that the embedder's calls run in;
//! - `redefined`, a list of the names that got another meaning in an object whose methods code builds in;
//! - `constants`, whose protos are nil, true and false: where a value stands these are no objects.
//!
//! Nothing else that a machine holds is state: code, caches and the parser's table are made again from the heap.

use crate::code::Units;
use crate::machine::frame::Stack;
use crate::names::Names;
use crate::operator_table::Operators;
use crate::protos::Protos;
use crate::vm::Vm;
use object::{Data, Handle, Heap, Kind, Loader, Reads, Value};

/// What a machine knows beside its prototypes.
#[derive(Clone, Copy)]
pub(crate) struct Root {
    pub handle: Handle,
    /// A list of symbols.
    pub redefined: Handle,
}

const CONSTANTS: [Handle; 3] = [Handle(0), Handle(1), Handle(2)];

impl Root {
    /// A root without its prototypes.
    pub fn new(heap: &mut Heap, list_proto: Handle) -> Root {
        let handle = heap.allocate_bare();
        let redefined = heap.clone_of(list_proto, Kind::List, Data::list([]));
        Root { handle, redefined }
    }

    pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
        visit(Value::object(self.handle));
    }
}

fn find(heap: &mut Heap, root: Handle, name: &str) -> Option<Handle> {
    let name = heap.intern(name);
    // A symbol cannot be written to, so it is nothing that a machine stands on.
    heap.own_slot(root, name)?.as_handle().filter(|&handle| !heap.is_symbol(handle))
}

impl Vm {
    /// Writes down where everything is, once it is there.
    pub(crate) fn fill_root(&mut self) {
        let root = self.root.handle;
        let mut set = |name: &str, handle: Handle| {
            let name = self.heap.intern(name);
            self.heap.set_slot(root, name, Value::object(handle));
        };
        self.protos.named().for_each(|(name, handle)| set(name, handle));
        set("main", self.main);
        set("redefined", self.root.redefined);
        let constants = self.heap.allocate_bare();
        self.heap.set_protos(constants, CONSTANTS.to_vec());
        let name = self.heap.intern("constants");
        self.heap.set_slot(root, name, Value::object(constants));
    }

    /// The object that leads to everything else.
    pub fn root(&self) -> Handle {
        self.root.handle
    }

    /// This machine's primitives and capabilities on another heap, which another machine left behind. Loads the root and
    /// nothing else. None if that is no root.
    pub fn onto(mut self, heap: Heap, root: Handle) -> Option<Vm> {
        self.move_onto(heap, root).map(|_| self)
    }

    /// The same for a machine that goes on being lent to whoever has it now. Hands out the heap that it leaves; none, and
    /// nothing has changed, if that is no root. No program may be running.
    pub fn move_onto(&mut self, mut heap: Heap, root: Handle) -> Option<Heap> {
        let names = Names::new(&mut heap);
        let protos = Protos::found(&mut |name| find(&mut heap, root, name))?;
        let shape = heap.clone_shape(protos.sequence);
        heap.set_symbol_shape(shape);
        let main = find(&mut heap, root, "main")?;
        let root = Root { handle: root, redefined: find(&mut heap, root, "redefined")? };
        for primitive in &mut self.primitives {
            primitive.name = heap.intern(&self.heap.symbol_text(primitive.name));
        }
        let mut units = Units::default();
        units.disabled = self.units.disabled;
        let left = std::mem::replace(&mut self.heap, heap);
        (self.names, self.protos, self.root) = (names, protos, root);
        (self.main, self.current) = (main, main);
        (self.stack, self.operators, self.units) = (Stack::default(), Operators::default(), units);
        self.retained.clear();
        self.regexes.clear();
        self.code_may_have_changed();
        Some(left)
    }

    /// Objects that are not in memory come from here.
    pub fn set_loader(&mut self, loader: Box<dyn Loader>) {
        self.heap.set_loader(loader);
    }

    /// Forgets what these objects are until they are touched. They must be as the loader has them.
    pub fn hollow_out(&mut self, objects: impl IntoIterator<Item = Handle>) {
        objects.into_iter().for_each(|object| self.heap.hollow_out(object));
        self.heap.renew_epoch();
    }

    /// Where a handle is had for an object that the loader knows.
    pub fn nest(&mut self) -> &mut dyn object::Nest {
        &mut self.heap
    }

    /// Why an object could not be loaded since this was last asked. To be called when what was written since is taken
    /// back; whoever touches the object next is told again.
    pub fn take_load_failure(&mut self) -> Option<String> {
        let failure = self.heap.take_failure()?;
        self.code_may_have_changed();
        Some(failure)
    }

    // ---- reads

    /// From now on notes what programs read, until `take_reads`: see `object::Reads`. No program may be running.
    pub fn record_reads(&mut self) {
        // What code was made from before would not be looked at again.
        self.discard_all_units();
        self.regexes.clear();
        self.heap.record_reads();
        // What this machine stands on it knows without looking.
        self.heap.note_whole(self.root.handle);
    }

    /// What was read; none if that was not noted.
    pub fn take_reads(&mut self) -> Option<Reads> {
        self.heap.take_reads()
    }

    // ---- transactions

    /// From here on, what programs write can be taken back. Levels nest.
    pub fn open_level(&mut self) {
        self.heap.open_level();
    }

    /// Makes what was written since the innermost level was opened part of the one around it, or final.
    pub fn keep_level(&mut self) {
        self.heap.keep_level();
    }

    /// Takes back what was written since the innermost level was opened. No program may be running.
    pub fn roll_back_level(&mut self) {
        let restored = self.heap.roll_back_level();
        self.written_by_other_means(&restored);
    }

    /// To be called when objects that may be code were written by other means than a program.
    pub fn code_may_have_changed(&mut self) {
        self.discard_all_units();
        let redefined = self.heap.list(self.root.redefined).unwrap_or_default();
        let names: Vec<Handle> = redefined.iter().filter_map(|name| name.as_handle()).collect();
        self.units.redefined.extend(names);
        self.heap.renew_epoch();
    }
}
