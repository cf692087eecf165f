//! Which primitives there are, each by a name that lasts: `List.append`. Owns the way between name and place in the
//! table: an object in the heap has the place, a file the name.
//!
//! A name that no function is bound to is a primitive all the same: it says what the machine lacks when it is activated.

use super::{
    Function, LAZY, Primitive, Role, Row, block, call, collector, control, coroutine, counter, date, distance,
    duration, encoded_list, exception, importer, iterate, list, map, message, number, object, regex, sequence, slots,
    sort, under_way, world,
};
use crate::primitives::Eagerness;
use crate::vm::Vm;
use ::object::{Data, Handle, Kind, Symbol, Value};
use std::rc::Rc;

/// The machine's own, by prototype. Locals answer these themselves and hand everything else on to their `self`.
const CATALOG: &[(&str, &[&[Row]])] = &[
    ("Object", &[object::TABLE, slots::TABLE, control::TABLE, under_way::TABLE, world::OBJECT_TABLE]),
    ("Locals", &[object::TABLE, slots::TABLE, control::TABLE, slots::LOCALS_TABLE, world::OBJECT_TABLE]),
    ("Number", &[number::TABLE, iterate::NUMBER_TABLE]),
    ("Sequence", sequence::TABLES),
    ("Regex", &[regex::TABLE]),
    ("List", &[list::TABLE, iterate::LIST_TABLE, sort::TABLE, encoded_list::TABLE]),
    ("Map", &[map::TABLE, iterate::MAP_TABLE]),
    ("Block", &[block::TABLE]),
    ("Call", &[call::TABLE]),
    ("Message", &[message::TABLE, distance::TABLE]),
    ("Coroutine", &[coroutine::TABLE]),
    ("EvalFrame", &[coroutine::FRAME_TABLE]),
    ("Exception", &[exception::TABLE]),
    ("WeakLink", &[collector::WEAK_LINK_TABLE]),
    ("CFunction", &[block::PRIMITIVE_TABLE]),
    ("Collector", &[collector::TABLE]),
    ("Counter", &[counter::TABLE]),
    ("Date", &[date::TABLE]),
    ("Duration", &[duration::TABLE]),
    ("Importer", &[importer::TABLE]),
    ("World", &[world::TABLE]),
];

/// Knows every primitive of the machine, in a heap that may be there already.
pub(crate) fn register(vm: &mut Vm) {
    for (owner, tables) in CATALOG {
        for &(name, eagerness, function) in tables.iter().copied().flatten() {
            vm.bind_own(&format!("{owner}.{name}"), eagerness, Function::Plain(function));
        }
    }
    crate::host::register(vm);
}

/// Gives prototypes the primitives from this place on: all in a new heap, in an older one those that it does not know.
pub(crate) fn install(vm: &mut Vm, first: usize) {
    for index in first..vm.primitives.len() {
        let (full_name, name) = (vm.primitives[index].full_name.clone(), vm.primitives[index].name);
        let holder = vm.prototype(split(&full_name).0);
        let holder = vm.handle_of(holder);
        if first == 0 || vm.heap.own_slot_index(holder, name).is_none() {
            let primitive = vm.new_primitive(index as u32);
            vm.heap.set_slot(holder, name, primitive);
        }
    }
}

/// The prototype that a primitive is for, and its slot there.
fn split(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or(("Object", name))
}

impl Primitive {
    /// The type it was made for.
    pub(crate) fn owner(&self) -> &str {
        split(&self.full_name).0
    }
}

fn unknown(name: &str) -> Function {
    let text = format!("this machine has no primitive \"{name}\"");
    Function::shared(move |vm, _| Err(vm.raise(&text)))
}

impl Vm {
    /// Binds a function to the name of a primitive, such as `File.open`. Nothing is written into the heap: whatever has
    /// the primitive in a slot, now or in an image that is opened later, calls this function.
    ///
    /// ```
    /// # use language::{Function, NONE, Value, Vm};
    /// let mut vm = Vm::default();
    /// assert!(vm.evaluate("Random systemValue", "example").is_err(), "this machine was given no randomness");
    /// vm.bind("Random.systemValue", NONE, Function::Plain(|_, _| Ok(Value::number(0.25))));
    /// assert_eq!(vm.evaluate("Random systemValue", "example")?, Value::number(0.25));
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn bind(&mut self, name: &str, eagerness: Eagerness, function: Function) {
        let noted = Function::shared(move |vm, args| {
            vm.heap.note_host();
            function.call(vm, args)
        });
        let primitive = self.bound(name, eagerness, || noted);
        primitive.is_bound = true;
        // Sites know how the one before was called.
        self.discard_all_units();
    }

    /// The same for what the machine brings along.
    pub(crate) fn bind_own(&mut self, name: &str, eagerness: Eagerness, function: Function) {
        let primitive = self.bound(name, eagerness, || function);
        (primitive.is_bound, primitive.is_own) = (true, true);
    }

    /// Makes a name known whose function only an embedder can bind.
    pub(crate) fn withhold(&mut self, name: &str, refusal: &Function) {
        self.bound(name, LAZY, || refusal.clone()).is_own = true;
    }

    /// The place of a primitive in this machine's table, by its name. One that is not known raises when it is activated.
    pub fn primitive_index(&mut self, name: &str) -> u32 {
        match self.primitive_places.get(name) {
            Some(&index) => index,
            None => self.add_primitive(name, LAZY, unknown(name)),
        }
    }

    /// What each primitive is called in a file, in the order of their places.
    pub fn primitive_names(&self) -> Vec<String> {
        self.primitives.iter().map(|primitive| primitive.full_name.to_string()).collect()
    }

    /// Whether a function is bound to a name.
    pub(crate) fn is_bound(&self, name: &str) -> bool {
        self.primitive_places.get(name).is_some_and(|&index| self.primitives[index as usize].is_bound)
    }

    /// The primitive of a name, with this function.
    fn bound(&mut self, name: &str, eagerness: Eagerness, function: impl FnOnce() -> Function) -> &mut Primitive {
        let index = match self.primitive_places.get(name) {
            Some(&index) => {
                let primitive = &mut self.primitives[index as usize];
                (primitive.eagerness, primitive.function) = (eagerness, function());
                index
            }
            None => self.add_primitive(name, eagerness, function()),
        };
        &mut self.primitives[index as usize]
    }

    fn add_primitive(&mut self, name: &str, eagerness: Eagerness, function: Function) -> u32 {
        let full_name: Rc<str> = name.into();
        let (owner, short) = split(name);
        let (name, role) = (self.heap.intern(short), Role::of(owner, short));
        let index = self.primitives.len() as u32;
        self.primitive_places.insert(full_name.clone(), index);
        self.primitives.push(Primitive { full_name, name, eagerness, function, role, is_bound: false, is_own: false });
        index
    }

    /// Gives an object a primitive method of its own. `eagerness` says how many arguments are evaluated for it. It is
    /// known by the object's type and its name; where that is taken, as for `List.append`, a star is added. An object of
    /// an opened image that has it already keeps it, and the function is bound to it.
    pub fn define(&mut self, object: Value, name: &str, eagerness: Eagerness, function: Function) {
        let Some(holder) = object.as_handle() else { return };
        let symbol = self.heap.intern(name);
        let mut full = format!("{}.{}", self.owner_name(holder), name.replace('\n', " "));
        while self.is_anothers(&full, holder, symbol) {
            full.push('*');
        }
        self.bind(&full, eagerness, function);
        let index = self.primitive_index(&full);
        if !self.has_primitive(holder, symbol, index) {
            let primitive = self.new_primitive(index);
            // It may take the place of something that code has built in.
            self.put_slot(holder, symbol, primitive);
        }
    }

    fn owner_name(&mut self, holder: Handle) -> String {
        let roots = [(self.protos.lobby, "Lobby"), (self.protos.protos, "Protos"), (self.protos.core, "Core")];
        match roots.iter().find(|(root, _)| *root == holder) {
            Some((_, name)) => (*name).to_string(),
            None => self.type_name(Value::object(holder)).replace(['.', '\n'], "_"),
        }
    }

    fn is_anothers(&self, full: &str, holder: Handle, name: Symbol) -> bool {
        let Some(&index) = self.primitive_places.get(full) else { return false };
        let primitive = &self.primitives[index as usize];
        primitive.is_own || (primitive.is_bound && !self.has_primitive(holder, name, index))
    }

    fn has_primitive(&self, holder: Handle, name: Symbol, index: u32) -> bool {
        let value = self.heap.own_slot(holder, name).and_then(Value::as_handle);
        value.is_some_and(|value| matches!(self.heap.object(value).data(), Data::Primitive(own) if *own == index))
    }

    pub(crate) fn new_primitive(&mut self, index: u32) -> Value {
        let primitive = self.heap.clone_of(self.protos.primitive, Kind::Primitive, Data::Primitive(index));
        self.set_activatable(primitive, true);
        Value::object(primitive)
    }
}
