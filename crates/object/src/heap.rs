//! The heap: every object of one image. Owns allocation and the count of logical bytes; what changes an object is in
//! `write`, collection in `collect`, lookup in `lookup`.

use crate::count::Count;
use crate::fault::Late;
use crate::handle_set::HandleSet;
use crate::lookup::LookupCache;
use crate::object::{Data, INLINE_SLOTS, Kind, Map, Object};
use crate::reads::Reads;
use crate::sequence::Sequence;
use crate::shape::{ShapeId, Shapes};
use crate::symbol::SymbolTable;
use crate::transaction::Level;
use crate::value::{Handle, Value};
use crate::veil::Veil;
use std::cell::RefCell;
use thin_vec::ThinVec;

/// Every object of one image, and the only way to change one.
pub struct Heap {
    pub(crate) objects: Vec<Object>,
    pub(crate) free: Vec<u32>,
    pub(crate) shapes: Shapes,
    pub(crate) symbols: SymbolTable,
    pub(crate) lookups: LookupCache,
    pub(crate) epoch: u64,
    pub(crate) usage: Usage,
    /// Objects that some shape names as proto: changing their slots' names changes what others find.
    pub(crate) cloned: HandleSet,
    /// Levels of the transaction under way, the innermost last. See `transaction`.
    pub(crate) levels: Vec<Level>,
    /// What objects carry that may be written at once.
    pub(crate) stamp: u16,
    pub(crate) last_stamp: u16,
    pub(crate) late: Late,
    pub(crate) count: Count,
    /// What an object looks like that is not loaded.
    pub(crate) hollow: Object,
    /// What was read, while that is noted. See `reads`.
    pub(crate) reads: Option<Box<RefCell<Reads>>>,
    /// What is here and counts as not loaded. See `veil`.
    pub(crate) veil: Option<Box<Veil>>,
}

/// Logical bytes: what objects count for, whatever the allocator does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// In use, garbage included until it is collected.
    pub bytes: usize,
    /// Allocated since the last collection.
    pub fresh_bytes: usize,
    /// `fresh_bytes` at which the next collection is due.
    pub collect_at_bytes: usize,
    pub collections: usize,
    /// Of `bytes`, what is not the doing of the transaction under way: see `count`. Nought in a plain heap.
    pub uncounted_bytes: usize,
}

impl Usage {
    /// What counts against a limit.
    #[inline(always)]
    pub fn counted_bytes(&self) -> usize {
        self.bytes.saturating_sub(self.uncounted_bytes)
    }
}

/// Less garbage than this is not worth a collection.
pub(crate) const COLLECT_MIN_BYTES: usize = 16 << 20;

impl Default for Heap {
    fn default() -> Heap {
        Heap::new()
    }
}

impl Heap {
    pub fn new() -> Heap {
        let mut shapes = Shapes::default();
        let (bare, hollow) = (shapes.root(Vec::new()), shapes.hollow());
        let mut heap = Heap {
            objects: Vec::new(),
            free: Vec::new(),
            shapes,
            symbols: SymbolTable::default(),
            lookups: LookupCache::default(),
            epoch: 1,
            usage: Usage { collect_at_bytes: COLLECT_MIN_BYTES, ..Usage::default() },
            cloned: HandleSet::default(),
            levels: Vec::new(),
            stamp: 0,
            last_stamp: 0,
            late: Late::default(),
            count: Count::default(),
            hollow: Object::hollow(hollow),
            reads: None,
            veil: None,
        };
        for _ in [Value::NIL, Value::TRUE, Value::FALSE] {
            heap.allocate(bare, Kind::Object, Data::None);
        }
        heap
    }

    /// Makes room for so many objects at once.
    pub fn reserve(&mut self, objects: usize) {
        self.objects.reserve(objects);
    }

    // ---- allocation

    #[inline]
    pub fn allocate(&mut self, shape: ShapeId, kind: Kind, data: Data) -> Handle {
        let bytes = size_of::<Object>() + data.logical_bytes();
        self.charge(bytes);
        let inline = [Value::ABSENT; INLINE_SLOTS];
        let object = Object { shape, kind, flags: 0, stamp: self.stamp, inline, more: ThinVec::new(), data };
        match self.free.pop() {
            Some(index) => {
                self.objects[index as usize] = object;
                Handle(index)
            }
            None => {
                self.settle();
                self.objects.push(object);
                Handle(self.objects.len() as u32 - 1)
            }
        }
    }

    /// A new object without protos.
    pub fn allocate_bare(&mut self) -> Handle {
        let shape = self.shapes.root(Vec::new());
        self.allocate(shape, Kind::Object, Data::None)
    }

    /// A new object with `proto` as its one proto.
    #[inline]
    pub fn clone_of(&mut self, proto: Handle, kind: Kind, data: Data) -> Handle {
        let shape = self.clone_shape(proto);
        self.allocate(shape, kind, data)
    }

    /// The shape of a fresh clone of `proto`.
    #[inline]
    pub fn clone_shape(&mut self, proto: Handle) -> ShapeId {
        match self.shapes.known_clone_of(proto) {
            Some(shape) => shape,
            None => {
                self.cloned.insert(proto);
                self.shapes.clone_of(proto)
            }
        }
    }

    #[inline(always)]
    pub(crate) fn charge(&mut self, bytes: usize) {
        self.usage.bytes += bytes;
        self.usage.fresh_bytes += bytes;
    }

    pub(crate) fn recharge(&mut self, before: usize, after: usize) {
        if after >= before {
            self.charge(after - before);
        } else {
            self.usage.bytes -= before - after;
        }
    }

    #[inline(always)]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    // ---- reading

    #[inline(always)]
    pub fn object(&self, handle: Handle) -> &Object {
        match self.objects.get(handle.0 as usize) {
            Some(object) if object.kind != Kind::Hollow => object,
            _ => self.absent(handle),
        }
    }

    /// The object as far as it is here: a hollow one has a shape that nobody remembers, no slot and no flag. For whoever
    /// looks at the shape first, and asks again if it does not know it.
    #[inline(always)]
    pub fn resident(&self, handle: Handle) -> &Object {
        self.objects.get(handle.0 as usize).unwrap_or(&self.hollow)
    }

    #[inline(always)]
    pub fn kind(&self, handle: Handle) -> Kind {
        self.object(handle).kind
    }

    #[inline(always)]
    pub fn shape(&self, handle: Handle) -> ShapeId {
        self.object(handle).shape
    }

    /// For who writes objects down, or knows them by shape. A program that looks at names is noted: see `own_names`.
    #[inline(always)]
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Changes whenever some proto's slots or protos did: what was found through protos must be looked up again.
    #[inline(always)]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Makes everybody look again who remembers the epoch.
    pub fn renew_epoch(&mut self) {
        self.epoch += 1;
    }

    pub fn sequence(&self, handle: Handle) -> Option<&Sequence> {
        match &self.object(handle).data {
            Data::Sequence(sequence) => Some(sequence),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn list(&self, handle: Handle) -> Option<&[Value]> {
        match &self.object(handle).data {
            Data::List(values, start) => Some(&values[*start as usize..]),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn record(&self, handle: Handle) -> &[Value] {
        match &self.object(handle).data {
            Data::Record(values) => values,
            _ => &[],
        }
    }

    #[inline(always)]
    pub fn map(&self, handle: Handle) -> Option<&Map> {
        match &self.object(handle).data {
            Data::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn foreign<T: 'static>(&self, handle: Handle) -> Option<&T> {
        match &self.object(handle).data {
            Data::Foreign(foreign) => foreign.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// Handles below this have been used.
    pub fn table_len(&self) -> u32 {
        self.objects.len() as u32
    }

    /// How many objects are alive or not yet collected.
    pub fn object_count(&self) -> usize {
        self.objects.len() - self.free.len()
    }
}
