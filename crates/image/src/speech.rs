//! What the image asks of Io: names of primitives, and how foreign data is saved. A copy of what the machine knows, so that
//! objects can be loaded while the machine runs.

use crate::capture::Language;
use language::{Vm, check_content};
use object::{Data, Heap, Kind, Value};
use rustc_hash::FxHashMap;

/// What a primitive becomes whose name the machine does not know: no function is bound to it, so it raises.
const UNKNOWN: &str = "Image.unknown";

pub struct Io {
    names: Vec<String>,
    indexes: FxHashMap<String, u32>,
    unknown: u32,
}

impl Io {
    pub fn of(vm: &mut Vm) -> Io {
        let unknown = prepare(vm);
        let names: Vec<String> = vm.primitive_names();
        let indexes = names.iter().enumerate().map(|(index, name)| (name.clone(), index as u32)).collect();
        Io { names, indexes, unknown }
    }
}

/// Every machine of one image has the same table.
pub fn prepare(vm: &mut Vm) -> u32 {
    vm.primitive_index(UNKNOWN)
}

impl Language for Io {
    fn primitive_name(&self, index: u32) -> Option<&str> {
        self.names.get(index as usize).map(String::as_str)
    }

    fn primitive_index(&self, name: &str) -> u32 {
        self.indexes.get(name).copied().unwrap_or(self.unknown)
    }

    fn restore(&self, name: &str, values: &[Value]) -> Result<Data, String> {
        Vm::restore_foreign(name, values).map_err(|damage| damage.to_string())
    }

    fn check(&self, heap: &Heap, kind: Kind, data: &Data) -> Result<(), String> {
        check_content(heap, kind, data).map_err(String::from)
    }
}
