//! Which object of the heap is which object of the store. Owns both directions of that.
//!
//! Only what persists has an id. A handle that is free again loses it; the object goes on existing in the store.

use object::change::{ActorId, ChangeId, ObjectId};
use object::{Handle, Nest};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// No change has the number nought.
const NOBODY: ObjectId = ObjectId::minted(ChangeId::new(ActorId(0), 0));

/// Shared by whoever loads and whoever commits; borrowed only for the moment of a look.
#[derive(Default)]
pub struct Identities {
    /// By the number of the handle.
    ids: RefCell<Vec<ObjectId>>,
    handles: RefCell<FxHashMap<ObjectId, Handle>>,
}

impl Identities {
    pub fn id(&self, handle: Handle) -> Option<ObjectId> {
        self.ids.borrow().get(handle.0 as usize).copied().filter(|id| *id != NOBODY)
    }

    /// The object in memory, if it is there or somebody there refers to it.
    pub fn handle(&self, id: ObjectId) -> Option<Handle> {
        self.handles.borrow().get(&id).copied()
    }

    /// The object in memory; hollow if nobody referred to it yet.
    pub fn handle_or_mint(&self, id: ObjectId, nest: &mut dyn Nest) -> Handle {
        if let Some(handle) = self.handle(id) {
            return handle;
        }
        let handle = nest.mint(id);
        self.bind(handle, id);
        handle
    }

    pub fn bind(&self, handle: Handle, id: ObjectId) {
        let mut ids = self.ids.borrow_mut();
        let index = handle.0 as usize;
        if index >= ids.len() {
            ids.resize(index + 1, NOBODY);
        }
        ids[index] = id;
        self.handles.borrow_mut().insert(id, handle);
    }

    pub fn release(&self, handle: Handle) {
        if let Some(id) = self.ids.borrow_mut().get_mut(handle.0 as usize)
            && *id != NOBODY
        {
            self.handles.borrow_mut().remove(id);
            *id = NOBODY;
        }
    }

    /// How many objects have an id, hollow ones included.
    pub fn count(&self) -> usize {
        self.handles.borrow().len()
    }
}
