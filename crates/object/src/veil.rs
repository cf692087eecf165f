//! Objects that are here and count as if they were not: what each of many programs reads, one after the other, is noted as if it had
//! found an empty heap (see `reads`), and only the first that needs an object has it loaded.
//!
//! A *veiled* object is hollow for whoever looks at it, and its content lies aside until somebody touches it. For a heap that only such
//! programs use, between transactions: then what is here is as the loader has it.

use crate::heap::Heap;
use crate::object::{Data, Object};
use crate::value::Handle;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

#[derive(Default)]
pub(crate) struct Veil {
    contents: RefCell<FxHashMap<Handle, Object>>,
    /// Objects that were touched since they were last veiled.
    bare: Vec<Handle>,
}

impl Veil {
    /// What is behind it, for the collector.
    pub fn with<A>(&self, handle: Handle, look: impl FnOnce(&Object) -> A) -> Option<A> {
        self.contents.borrow().get(&handle).map(look)
    }

    pub fn forget(&mut self, handle: Handle) {
        self.contents.get_mut().remove(&handle);
    }

    fn take(&self, handle: Handle) -> Option<Object> {
        self.contents.borrow_mut().remove(&handle)
    }
}

impl Heap {
    /// From now on recordings of reads veil what is here. Nothing may be loaded yet.
    pub fn use_veil(&mut self) {
        self.veil.get_or_insert_default();
    }

    pub fn has_veil(&self) -> bool {
        self.veil.is_some()
    }

    /// Veils all that was touched. Whoever calls this must call `renew_epoch` before any program goes on.
    pub(crate) fn lower_veil(&mut self) {
        self.settle();
        let Some(mut veil) = self.veil.take() else { return };
        for handle in std::mem::take(&mut veil.bare) {
            // It may have been collected since, and its place be another's.
            if self.is_hollow(handle) || self.is_symbol(handle) || !self.is_kept(handle.into()) {
                continue;
            }
            let mut object = self.hollowed(handle);
            object.stamp = 0;
            // What only the machine understands is made again from what is kept of it.
            if !matches!(object.data, Data::Foreign(_)) {
                veil.contents.get_mut().insert(handle, object);
            }
        }
        self.veil = Some(veil);
    }

    /// The content of an object that is touched, if it lies behind the veil.
    pub(crate) fn unveiled(&self, handle: Handle) -> Option<Object> {
        let object = self.veil.as_ref()?.take(handle)?;
        self.note_touch(handle);
        Some(object)
    }

    /// Somebody touched it: to be veiled the next time.
    pub(crate) fn note_bare(&mut self, handle: Handle) {
        if let Some(veil) = &mut self.veil {
            veil.bare.push(handle);
        }
    }
}
