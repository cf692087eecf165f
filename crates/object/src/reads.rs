//! What a program read of the objects that the loader keeps, so that somebody can say later whether it would do the same
//! again. Owns that nothing is missing; what is there too much costs only a second run.
//!
//! All of an object but its slots, its *rest*, counts as read as soon as anybody touches it: kind, flags, protos, items,
//! entries, units. Every object is hollow when the recording begins, or counts as read whole, so its first touch is the
//! moment at which it is loaded, or comes from behind the `veil`, and no reader has to know. Slots are noted by name, found or missing, where names are
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
    /// It was asked which slots hold objects, and which: what is no object makes no difference.
    pub lists_objects: bool,
    /// Anything may have been read.
    pub is_whole: bool,
    /// Nothing was, and of the rest the kind alone.
    pub is_kind_only: bool,
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
        if self.has_veil() {
            self.reads = Some(Box::default());
            self.lower_veil();
            self.renew_epoch();
            return;
        }
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

    pub fn notes_reads(&self) -> bool {
        self.reads.is_some()
    }

    fn note_read(&self, handle: Handle, note: impl FnOnce(&mut Looks)) {
        if let Some(reads) = &self.reads
            && self.is_kept(Value::object(handle))
        {
            let mut reads = reads.borrow_mut();
            let looks = reads.objects.entry(handle).or_default();
            looks.is_kind_only = false;
            note(looks);
        }
    }

    /// What kind an object is; nothing else of it counts as read.
    pub fn kind_alone(&self, handle: Handle) -> Kind {
        if !self.is_hollow(handle) {
            return self.kind(handle);
        }
        let veiled = self.veil.as_ref().and_then(|veil| veil.with(handle, |object| object.kind));
        let kind = veiled.or_else(|| self.late.loader.as_ref()?.kind(handle));
        let Some(kind) = kind else { return self.kind(handle) };
        if let Some(reads) = &self.reads {
            let alone = || Looks { is_kind_only: true, ..Looks::default() };
            reads.borrow_mut().objects.entry(handle).or_insert_with(alone);
        }
        kind
    }

    /// The own slots that hold plain objects: no values, lists, maps, texts or code.
    pub fn slots_with_objects(&self, handle: Handle) -> Vec<(Symbol, Handle)> {
        let object = self.object(handle);
        self.note_read(handle, |looks| looks.lists_objects = true);
        let names = self.shapes.get(object.shape).names.iter().enumerate();
        let held = names.filter_map(|(index, &name)| Some((name, object.slot(index).as_handle()?)));
        held.filter(|&(_, held)| !self.is_symbol(held) && self.kind_alone(held) == Kind::Object).collect()
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

    /// All of an object is about to be copied, or is known to somebody who does not look again.
    pub fn note_whole(&self, handle: Handle) {
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
