//! What a program read of the objects that the loader keeps, so that somebody can say later whether it would do the same
//! again. Owns that nothing is missing; what is there too much costs only a second run.
//!
//! All of an object but its slots, its *rest*, counts as read as soon as anybody touches it: kind, flags, protos, items,
//! entries, units. Every object is hollow when the recording begins, or counts as read whole, so its first touch is the
//! moment at which it is loaded, and no reader has to know. Slots are noted by name, found or missing, where names are
//! looked up. Whoever remembers an answer does so by shape: while this goes on, what is loaded has a shape of its own, so
//! that an answer is remembered of that object alone and the first look at each is seen.
//!
//! A rollback takes no read back: what was read there decided where the program went.

use crate::heap::Heap;
use crate::object::Kind;
use crate::value::{Handle, Symbol, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// What was read since a recording began.
#[derive(Default)]
pub struct Reads {
    /// Objects whose rest was read, at least.
    objects: FxHashMap<Handle, Looks>,
    asked_host: bool,
    asked_machine: bool,
}

/// What was read of the slots of one object.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Looks {
    /// These names were looked up, whether a slot was there or not.
    pub names: FxHashSet<Symbol>,
    /// It was asked which slots there are, or how many.
    pub lists_names: bool,
    /// Anything may have been read.
    pub is_whole: bool,
}

impl Reads {
    /// Every object of the loader's that was looked at.
    pub fn objects(&self) -> impl Iterator<Item = (Handle, &Looks)> {
        self.objects.iter().map(|(&handle, looks)| (handle, looks))
    }

    /// Whether something was asked that no object decides: the host, or where objects lie in memory.
    pub fn asked_host(&self) -> bool {
        self.asked_host
    }

    /// Whether it was asked what is in memory, or about the process: that is another thing while reads are noted.
    pub fn asked_machine(&self) -> bool {
        self.asked_machine
    }

    /// They stay what they are, and names stay alive, until somebody has the reads.
    pub(crate) fn trace(&self, visit: &mut dyn FnMut(Value)) {
        for (&handle, looks) in &self.objects {
            visit(Value::object(handle));
            looks.names.iter().for_each(|&name| visit(Value::object(name)));
        }
    }
}

impl Heap {
    /// From now on reads are noted. Cheapest where nothing is loaded yet: what is counts as read whole. Begins no second
    /// time before `take_reads`.
    pub fn record_reads(&mut self) {
        if self.reads.is_some() {
            return;
        }
        self.settle();
        let mut reads = Reads::default();
        for index in 0..self.table_len() {
            let handle = Handle(index);
            if self.resident(handle).kind != Kind::Hollow && self.is_kept(Value::object(handle)) {
                reads.objects.insert(handle, Looks { is_whole: true, ..Looks::default() });
            }
        }
        self.reads = Some(Box::new(RefCell::new(reads)));
        self.renew_epoch();
    }

    /// Ends the recording; none if there was none. Handles are good until the next collection.
    pub fn take_reads(&mut self) -> Option<Reads> {
        self.reads.take().map(|reads| reads.into_inner())
    }

    fn note_read(&self, handle: Handle, note: impl FnOnce(&mut Looks)) {
        if let Some(reads) = &self.reads
            && self.is_kept(Value::object(handle))
        {
            note(reads.borrow_mut().objects.entry(handle).or_default());
        }
    }

    /// An object is being loaded.
    pub(crate) fn note_touch(&self, handle: Handle) {
        self.note_read(handle, |_| {});
    }

    /// A name was looked up in just this object.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_name(&self, handle: Handle, name: Symbol) {
        self.note_read(handle, |looks| _ = looks.names.insert(name));
    }

    /// Somebody knows without looking what a name gives in just this object: counts as if it had looked, and used it.
    pub fn note_known(&self, handle: Handle, name: Symbol) {
        if self.reads.is_some()
            && let Some(known) = self.own_slot(handle, name).and_then(Value::as_handle)
        {
            self.object(known);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_listing(&self, handle: Handle) {
        self.note_read(handle, |looks| looks.lists_names = true);
    }

    /// All of an object is about to be copied.
    pub(crate) fn note_whole(&self, handle: Handle) {
        self.note_read(handle, |looks| looks.is_whole = true);
    }

    /// Something was asked that no object decides.
    pub fn note_host(&self) {
        if let Some(reads) = &self.reads {
            reads.borrow_mut().asked_host = true;
        }
    }

    /// It was asked what is in memory, or about the process that has it.
    pub fn note_machine(&self) {
        self.note_host();
        if let Some(reads) = &self.reads {
            reads.borrow_mut().asked_machine = true;
        }
    }

    /// What was noted by `note_host` so far, and again later, by whoever knows that what it asked made no difference.
    pub fn asked_host(&self) -> bool {
        self.reads.as_ref().is_some_and(|reads| reads.borrow().asked_host)
    }

    pub fn set_asked_host(&self, asked: bool) {
        if let Some(reads) = &self.reads {
            reads.borrow_mut().asked_host = asked;
        }
    }

    /// The names of an object's own slots, in order.
    pub fn own_names(&self, handle: Handle) -> &[Symbol] {
        if self.reads.is_some() {
            self.note_listing(handle);
        }
        &self.shapes.get(self.shape(handle)).names
    }
}
