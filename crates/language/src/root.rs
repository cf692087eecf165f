//! The root record: everything that a machine must find again in a heap that is there already. Owns its names.
//!
//! It is a Map from names to objects. Names are only ever added, at the end; a machine that opens an older heap makes what
//! is missing. All else that a machine has is derived from the heap, or belongs to who opens it:
//!
//! - `version`: of this record; `main`: the main coroutine; `primitiveNames`: a Sequence, the name of each primitive that
//!   the heap has by its place, one a line
//! - the fields of `Protos`, each under its own name: the prototypes that the machine itself clones or watches
//!
//! Derived: symbols that the machine knows (`Names`), the parser's operators, the roles of primitives and what is redefined
//! of them, compiled code, lookups, patterns. The embedder's: functions of primitives, `Host`, limits, retained values.

use crate::machine::frame::Suspended;
use crate::protos::Protos;
use crate::vm::Vm;
use object::sequence::Sequence;
use object::{Data, Handle, Heap, Kind, Value};

/// Of the record.
const VERSION: f64 = 1.0;

/// What the heap of a machine is found by.
pub(crate) struct Root {
    pub record: Handle,
    pub main: Handle,
    /// The names of primitives by place, as text.
    pub primitive_names: Handle,
}

impl Root {
    pub fn new(heap: &mut Heap, protos: &Protos) -> Root {
        let main = heap.allocate_foreign(protos.coroutine, Kind::Coroutine, Suspended::default());
        let names = Data::Sequence(Box::new(Sequence::from("")));
        let primitive_names = heap.clone_of(protos.sequence, Kind::Sequence, names);
        let record = heap.clone_of(protos.map, Kind::Map, Data::Map(Box::default()));
        let root = Root { record, main, primitive_names };
        root.write(heap, protos);
        root
    }

    /// Writes down what is new.
    pub fn write(&self, heap: &mut Heap, protos: &Protos) {
        let version = Value::number(VERSION);
        let own = [("main", self.main), ("primitiveNames", self.primitive_names)];
        let handles = own.into_iter().chain(protos.named()).map(|(name, handle)| (name, Value::object(handle)));
        for (name, value) in [("version", version)].into_iter().chain(handles) {
            let name = heap.intern(name);
            if heap.map(self.record).and_then(|map| map.get(&name)) != Some(&value) {
                heap.map_put(self.record, name, value);
            }
        }
    }
}

impl Vm {
    /// The name of a primitive that is new, for who opens the heap later.
    pub(crate) fn note_primitive(&mut self, name: &str) {
        let line = format!("{name}\n");
        self.heap.sequence_edit(self.root.primitive_names, |names| names.push_bytes(line.as_bytes()));
    }
}
