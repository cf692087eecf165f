//! The virtual machine: its heap, its well-known objects and its running stack. Owns set-up and the services that
//! primitives use; evaluation itself is in `machine`.

use crate::code::Units;
use crate::embed::Trace;
use crate::host::Host;
use crate::limits::{Interrupt, Limits, Tank};
use crate::machine::frame::{Stack, Suspended};
use crate::names::Names;
use crate::operator_table::{self, Operators};
use crate::place::PlaceKey;
use crate::primitives::{self, Primitive};
use crate::protos::Protos;
use crate::root::Root;
use crate::signal::Signal;
use crate::{library, message};
use object::sequence::Sequence;
use object::{Collected, Data, Handle, Heap, Kind, Symbol, Value, flag};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An Io machine. Everything it knows is in its heap; everything it can reach outside is in its `Host`.
pub struct Vm {
    pub(crate) heap: Heap,
    pub(crate) names: Names,
    pub(crate) protos: Protos,
    pub(crate) primitives: Vec<Primitive>,
    /// Where a primitive is in the table, by its name.
    pub(crate) primitive_places: FxHashMap<Rc<str>, u32>,
    pub(crate) root: Root,
    /// Transactions and worlds that frames of the running coroutine have open.
    pub(crate) open_levels: usize,
    pub(crate) stack: Stack,
    pub(crate) current: Handle,
    pub(crate) main: Handle,
    pub(crate) tank: Tank,
    pub(crate) limits: Limits,
    pub(crate) interrupt: Interrupt,
    pub(crate) operators: Operators,
    pub(crate) retained: Vec<Value>,
    pub(crate) host: Host,
    pub(crate) units: Units,
    pub(crate) regexes: primitives::RegexCache,
    /// On: stacks are saved and restored whenever they are suspended. For tests of just that.
    pub(crate) saves_stacks: bool,
    /// Where the last program was that did not come to its end.
    pub(crate) halted_at: Trace,
    pub(crate) place_key: Option<PlaceKey>,
}

impl Default for Vm {
    fn default() -> Vm {
        Vm::new(Host::default())
    }
}

/// A machine without its library has about so many objects.
const BARE_OBJECTS: usize = 2_500;

impl Vm {
    /// A machine with the whole standard library, that can touch just what `host` hands in.
    pub fn new(host: Host) -> Vm {
        let mut vm = Vm::bare(host);
        library::load(&mut vm);
        vm
    }

    /// A machine with the primitives only, to be put `onto` a heap that has the rest.
    pub fn bare(host: Host) -> Vm {
        let mut heap = Heap::new();
        heap.reserve(BARE_OBJECTS);
        let names = Names::new(&mut heap);
        let protos = Protos::new(&mut heap, &names);
        let main = heap.allocate_foreign(protos.coroutine, Kind::Coroutine, Suspended::default());
        let root = Root::new(&mut heap, protos.list);
        let mut vm = Vm {
            heap,
            names,
            protos,
            primitives: Vec::new(),
            primitive_places: FxHashMap::default(),
            root,
            open_levels: 0,
            stack: Stack::default(),
            current: main,
            main,
            tank: Tank::new(None),
            limits: Limits::default(),
            interrupt: Interrupt::default(),
            operators: Operators::default(),
            retained: Vec::new(),
            host,
            units: Units::default(),
            regexes: primitives::RegexCache::default(),
            saves_stacks: false,
            halted_at: Trace::default(),
            place_key: None,
        };
        primitives::catalog::register(&mut vm);
        primitives::install(&mut vm);
        operator_table::install(&mut vm);
        vm.fill_root();
        vm
    }

    // ---- limits

    /// Sets what programs may use from now on, and fills the tank.
    ///
    /// ```
    /// # use language::{Error, Halt, Limits, Value, Vm};
    /// let mut vm = Vm::default();
    /// vm.set_limits(Limits { fuel: Some(100_000), ..Limits::default() });
    /// let endless = vm.evaluate("try(loop(nil))", "example");
    /// assert!(matches!(endless, Err(Error::Halted(Halt::Fuel { limit: 100_000 }))), "no program can catch this");
    ///
    /// vm.set_limits(Limits::default());
    /// assert_eq!(vm.evaluate("1 + 1", "example")?, Value::number(2.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn set_limits(&mut self, limits: Limits) {
        self.tank = Tank { portion: self.tank.portion, ..Tank::new(limits.fuel) };
        self.limits = limits;
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Fuel left, if there is a limit.
    pub fn fuel_left(&self) -> Option<u64> {
        self.tank.limit.map(|_| self.tank.left())
    }

    /// A switch that another thread can use to stop this machine.
    ///
    /// ```
    /// # use language::{Error, Halt, Vm};
    /// let mut vm = Vm::default();
    /// let interrupt = vm.interrupt();
    /// let other = std::thread::spawn(move || interrupt.set());
    /// let ended = vm.evaluate("loop(nil)", "example");
    /// assert!(matches!(ended, Err(Error::Halted(Halt::Interrupted))));
    /// # other.join().unwrap();
    /// ```
    pub fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Charges for work in proportion to its size: a primitive calls this before it does the work.
    #[inline]
    pub fn charge(&mut self, units: usize) -> Result<(), Signal> {
        if cfg!(feature = "no_fuel") {
            return Ok(());
        }
        let units = i64::try_from(units).unwrap_or(i64::MAX);
        if self.tank.slice < units {
            self.refuel_for(units)?;
        }
        self.tank.slice -= units;
        Ok(())
    }

    /// Asks for room before a primitive allocates much at once.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Signal> {
        self.reserve_beside(0, bytes)
    }

    /// Asks for more room beside what a primitive holds already and the heap does not know of yet.
    pub fn reserve_beside(&mut self, held_bytes: usize, more_bytes: usize) -> Result<(), Signal> {
        self.charge(more_bytes / 64)?;
        let bytes = held_bytes.saturating_add(more_bytes);
        match self.limits.memory_bytes {
            Some(limit) if self.used_bytes().saturating_add(bytes as u64) > limit => {
                self.collect();
                self.check_memory(bytes)
            }
            _ => Ok(()),
        }
    }

    // ---- collection

    /// Frees what no program can reach. Values held by the embedder must be retained.
    pub fn collect(&mut self) -> Collected {
        self.drop_idle_units();
        self.regexes.clear();
        self.stack.values.forget_rest();
        let Vm { heap, names, protos, primitives, stack, retained, operators, current, root, units, .. } = self;
        let roots = |visit: &mut dyn FnMut(Value)| {
            names.trace(visit);
            protos.trace(visit);
            primitives.iter().for_each(|primitive| visit(Value::object(primitive.name)));
            stack.trace(visit);
            retained.iter().for_each(|&value| visit(value));
            visit(Value::object(*current));
            root.trace(visit);
        };
        let caches = |visit: &mut dyn FnMut(Value)| {
            operators.trace(visit);
            units.trace(visit);
        };
        let collected = heap.collect_beside(roots, caches);
        if collected.shapes_freed {
            self.forget_shapes();
        }
        collected
    }

    /// Keeps a value alive until it is released, as often as it was retained.
    ///
    /// ```
    /// # use language::{Value, Vm};
    /// let mut vm = Vm::default();
    /// let list = vm.evaluate("list(1, 2, 3)", "example")?;
    /// vm.retain(list);
    /// vm.evaluate("Collector collect", "example")?;
    /// assert_eq!(vm.send(list, "sum", &[])?, Value::number(6.0));
    /// vm.release(list);
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn retain(&mut self, value: Value) -> Value {
        self.retained.push(value);
        value
    }

    pub fn release(&mut self, value: Value) {
        if let Some(index) = self.retained.iter().rposition(|&each| each == value) {
            self.retained.swap_remove(index);
        }
    }

    // ---- making values

    /// Text as a program's literals are: an immutable Sequence, the same object for equal text.
    #[doc(alias = "text")]
    pub fn symbol(&mut self, text: &str) -> Value {
        Value::object(self.heap.intern(text))
    }

    /// A new mutable sequence.
    pub fn buffer(&mut self, sequence: Sequence) -> Value {
        let data = Data::Sequence(Box::new(sequence));
        Value::object(self.heap.clone_of(self.protos.sequence, Kind::Sequence, data))
    }

    /// An immutable sequence: the symbol with these items.
    #[inline]
    pub fn immutable(&mut self, sequence: Sequence) -> Value {
        Value::object(self.heap.intern_sequence(sequence))
    }

    /// A new List.
    pub fn list(&mut self, values: impl IntoIterator<Item = Value>) -> Value {
        let data = Data::list(values);
        Value::object(self.heap.clone_of(self.protos.list, Kind::List, data))
    }

    /// A new Map, empty.
    pub fn map(&mut self) -> Value {
        Value::object(self.heap.clone_of(self.protos.map, Kind::Map, Data::Map(Box::default())))
    }

    // ---- looking at values

    /// The object that answers for a value: itself, or Number for a number.
    #[inline(always)]
    pub fn handle_of(&self, value: Value) -> Handle {
        value.as_handle().unwrap_or(self.protos.number)
    }

    #[inline(always)]
    pub fn kind_of(&self, value: Value) -> Kind {
        match value.as_handle() {
            Some(handle) => self.heap.kind(handle),
            None => Kind::Number,
        }
    }

    /// The number that a value is, whether plain or an object cloned from Number.
    #[inline(always)]
    pub fn number_of(&self, value: Value) -> Option<f64> {
        value.as_number().or_else(|| match self.heap.object(value.as_handle()?).data() {
            Data::Number(number) => Some(*number),
            _ => None,
        })
    }

    pub fn sequence_of(&self, value: Value) -> Option<&Sequence> {
        self.heap.sequence(value.as_handle()?)
    }

    /// The text of a sequence, bytes that are not UTF-8 replaced.
    pub fn text_of(&self, value: Value) -> Option<String> {
        self.sequence_of(value).map(Sequence::to_text)
    }

    /// The name of a value's type, for messages to people.
    pub fn type_name(&mut self, value: Value) -> String {
        let handle = self.handle_of(value);
        match self.heap.get_slot(handle, self.names.type_) {
            Some(name) if self.kind_of(name) == Kind::Sequence => self.text_of(name).unwrap_or_default(),
            _ => self.protos.kind_name(self.heap.kind(handle)).to_string(),
        }
    }

    /// What a value is, with its article: `a Number`, `an Object`, `nil`.
    #[cold]
    pub(crate) fn described(&mut self, value: Value) -> String {
        let name = self.type_name(value);
        if value.is_nil() || value == Value::TRUE || value == Value::FALSE {
            return name;
        }
        let is_vowel = name.chars().next().is_some_and(|first| "AEIOUaeiou".contains(first));
        format!("{} {name}", if is_vowel { "an" } else { "a" })
    }

    // ---- slots, by name

    /// What an object finds under a name, in itself or its protos. Nothing is activated: a method is read, not called.
    ///
    /// ```
    /// # use language::{Value, Vm};
    /// let mut vm = Vm::default();
    /// let account = vm.evaluate("Account := Object clone do(balance := 10)", "example")?;
    /// assert_eq!(vm.get_slot(account, "balance"), Some(Value::number(10.0)));
    /// vm.set_slot(account, "balance", Value::number(12.0));
    /// assert_eq!(vm.evaluate("Account clone balance", "example")?, Value::number(12.0));
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn get_slot(&mut self, object: Value, name: &str) -> Option<Value> {
        let name = self.heap.intern(name);
        let handle = self.handle_of(object);
        self.heap.get_slot(handle, name)
    }

    /// Gives an object a slot of its own. A plain number has none and is left alone.
    pub fn set_slot(&mut self, object: Value, name: &str, value: Value) {
        if let Some(handle) = object.as_handle() {
            let name = self.heap.intern(name);
            self.put_slot(handle, name, value);
        }
    }

    /// Writes a slot. Every slot that a program writes passes here or the machine's own fast path.
    #[inline]
    pub(crate) fn put_slot(&mut self, handle: Handle, name: Symbol, value: Value) {
        if self.has_meaning(handle, name) {
            self.meaning_changing(handle, name);
        }
        self.heap.set_slot(handle, name, value);
    }

    /// Where top-level code runs.
    pub fn lobby(&self) -> Value {
        Value::object(self.protos.lobby)
    }

    /// Where built-in objects live: the embedder's own go here too.
    pub fn core(&self) -> Value {
        Value::object(self.protos.core)
    }

    pub fn set_activatable(&mut self, handle: Handle, on: bool) {
        self.heap.set_flag(handle, flag::ACTIVATABLE, on);
    }

    // ---- exceptions

    /// An exception with this text, on its way to the nearest handler.
    #[cold]
    pub fn raise(&mut self, text: impl AsRef<str>) -> Signal {
        self.raise_with(text, &[])
    }

    /// The same, with slots that say what the text says, for programs and tools that want to know.
    #[cold]
    pub fn raise_with(&mut self, text: impl AsRef<str>, slots: &[(&str, Value)]) -> Signal {
        let error = self.symbol(text.as_ref());
        let exception = self.heap.clone_of(self.protos.exception, Kind::Object, Data::None);
        self.heap.set_slot(exception, self.names.error, error);
        for &(name, value) in slots {
            self.set_slot(Value::object(exception), name, value);
        }
        self.raise_object(exception)
    }

    /// Sends an exception object on its way, with where it happened written into it.
    #[cold]
    pub(crate) fn raise_object(&mut self, exception: Handle) -> Signal {
        let (messages, calls) = (self.stack_messages(), self.stack_calls());
        let first = messages.first().copied().unwrap_or(Value::NIL);
        let (messages, calls) = (self.list(messages), self.list(calls));
        let coroutine = Value::object(self.current);
        self.heap.set_slot(exception, self.names.coroutine, coroutine);
        self.heap.set_slot(exception, self.names.caught_message, first);
        self.heap.set_slot(exception, self.names.stack_messages, messages);
        self.heap.set_slot(exception, self.names.stack_calls, calls);
        Signal::Raise(Value::object(exception))
    }

    /// A message with no arguments, for a send that no source asked for.
    pub(crate) fn bare_message(&mut self, name: Symbol) -> Handle {
        message::with_name(&mut self.heap, self.protos.message, name, self.names.label_none)
    }

    /// What Io prints for a number or sequence without asking the object; none for others.
    pub fn simple_text(&self, value: Value) -> Option<String> {
        match self.number_of(value) {
            Some(number) => Some(object::number_text::format_number(number)),
            None => self.text_of(value),
        }
    }
}
