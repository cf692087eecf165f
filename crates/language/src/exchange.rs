//! Values in and out: how an embedder makes Io values, reads them, and changes objects without running anything.
//!
//! The heap itself is open for reading only ([`Vm::heap`]). Its writes all pass the barrier, but the machine has to
//! notice some of them too, such as a new `+` for Number, so they are offered here instead.

use crate::embed::Error;
use crate::machine::frame::Suspended;
use crate::machine::saved::{self, Damage};
use crate::vm::Vm;
use object::sequence::Sequence;
use object::{Data, Foreign, Handle, Heap, Items, Kind, Value, flag};

impl Vm {
    /// Every object of this machine, to be read.
    #[inline(always)]
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// What a value says of itself: its `asString`, which may run a program.
    ///
    /// ```
    /// # use language::Vm;
    /// let mut vm = Vm::default();
    /// let list = vm.evaluate("list(1, 2, \"three\")", "example")?;
    /// assert_eq!(vm.to_text(list)?, "list(1, 2, \"three\")");
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn to_text(&mut self, value: Value) -> Result<String, Error> {
        let text = self.send(value, "asString", &[])?;
        Ok(self.simple_text(text).unwrap_or_default())
    }

    /// The items of a List.
    ///
    /// ```
    /// # use language::{Value, Vm};
    /// let mut vm = Vm::default();
    /// let list = vm.evaluate("list(1, nil)", "example")?;
    /// assert_eq!(vm.list_of(list), Some([Value::number(1.0), Value::NIL].as_slice()));
    /// assert_eq!(vm.list_of(Value::TRUE), None);
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn list_of(&self, value: Value) -> Option<&[Value]> {
        self.heap.list(value.as_handle()?)
    }

    /// The keys and values of a Map, in order.
    ///
    /// ```
    /// # use language::{Value, Vm};
    /// let mut vm = Vm::default();
    /// let map = vm.map();
    /// vm.map_put(map, "port", Value::number(80.0));
    /// let again = vm.send(map, "atPut", &[map, Value::NIL]);
    /// assert!(again.is_err(), "a key is a Sequence");
    /// assert_eq!(vm.map_of(map), Some(vec![("port".to_string(), Value::number(80.0))]));
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn map_of(&self, value: Value) -> Option<Vec<(String, Value)>> {
        let map = self.heap.map(value.as_handle()?)?;
        Some(map.iter().map(|(&key, &value)| (self.heap.symbol_text(key).into_owned(), value)).collect())
    }

    /// Puts a value into a Map; anything else is left as it is.
    pub fn map_put(&mut self, map: Value, key: &str, value: Value) {
        if let Some(handle) = map.as_handle() {
            let key = self.heap.intern(key);
            self.heap.map_put(handle, key, value);
        }
    }

    /// Appends to a List; anything else is left as it is.
    pub fn list_push(&mut self, list: Value, value: Value) {
        if let Some(handle) = list.as_handle() {
            self.heap.list_push(handle, value);
        }
    }

    /// Empties a List; anything else is left as it is.
    pub fn list_clear(&mut self, list: Value) {
        if let Some(handle) = list.as_handle() {
            self.heap.list_edit(handle, Items::clear);
        }
    }

    /// Changes a mutable Sequence. None for a symbol and for anything else.
    pub fn sequence_edit<R>(&mut self, value: Value, edit: impl FnOnce(&mut Sequence) -> R) -> Option<R> {
        let handle = value.as_handle().filter(|&handle| !self.heap.object(handle).has(flag::SYMBOL))?;
        self.heap.sequence_edit(handle, edit)
    }

    /// A new plain object with this proto, to which no `init` is sent.
    pub fn object(&mut self, proto: Value) -> Value {
        Value::object(self.heap.clone_of(self.handle_of(proto), Kind::Object, Data::None))
    }

    /// A new List with this proto, which should be List or one of its clones.
    pub fn list_of_proto(&mut self, proto: Value, values: impl IntoIterator<Item = Value>) -> Value {
        Value::object(self.heap.clone_of(self.handle_of(proto), Kind::List, Data::list(values)))
    }

    /// Lets a plain object carry Rust data, in place of any that it had. False if it is of a built-in kind.
    ///
    /// ```
    /// # use language::{Args, Function, Foreign, NONE, Value, Vm};
    /// struct Tally(f64);
    ///
    /// impl Foreign for Tally {
    ///     fn as_any(&self) -> &dyn std::any::Any {
    ///         self
    ///     }
    ///
    ///     fn as_any_mut(&mut self) -> &mut dyn std::any::Any {
    ///         self
    ///     }
    /// }
    ///
    /// let mut vm = Vm::default();
    /// let tally = vm.prototype("Tally");
    /// vm.set_foreign(tally, Tally(0.0));
    /// let next = |vm: &mut Vm, args: Args| {
    ///     let next = vm.foreign_edit(args.target, |tally: &mut Tally| {
    ///         tally.0 += 1.0;
    ///         tally.0
    ///     });
    ///     next.map(Value::number).ok_or_else(|| vm.raise("this is no Tally"))
    /// };
    /// vm.define(tally, "next", NONE, Function::Plain(next));
    /// let value = vm.evaluate("Tally next; Tally next", "example")?;
    /// assert_eq!(value, Value::number(2.0));
    /// assert!(vm.evaluate("Tally clone next", "example").is_err(), "a clone carries nothing");
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn set_foreign(&mut self, object: Value, foreign: impl Foreign) -> bool {
        self.replace_foreign(object, Data::Foreign(Box::new(Box::new(foreign))))
    }

    /// Takes the Rust data of an object away.
    pub fn clear_foreign(&mut self, object: Value) {
        self.replace_foreign(object, Data::None);
    }

    fn replace_foreign(&mut self, object: Value, data: Data) -> bool {
        let plain = |&handle: &Handle| self.heap.kind(handle) == Kind::Object;
        let Some(handle) = object.as_handle().filter(plain) else { return false };
        self.heap.set_data(handle, Kind::Object, data);
        true
    }

    /// What `Foreign::save` made of the data of the language's own objects, as data again. What is wrong with the values
    /// themselves is refused here; what is wrong with the objects that they name, when a program uses it.
    pub fn restore_foreign(name: &str, values: &[Value]) -> Result<Data, Damage> {
        match name {
            saved::NAME => Ok(Data::Foreign(Box::new(Box::new(Suspended::restore(values)?)))),
            _ => Err(Damage("it is of no known kind")),
        }
    }

    /// The Rust data that an object itself carries, if it is a `T`.
    pub fn foreign<T: 'static>(&self, object: Value) -> Option<&T> {
        self.heap.foreign(object.as_handle()?)
    }

    /// Changes the Rust data that an object itself carries, if it is a `T`.
    pub fn foreign_edit<T: 'static, R>(&mut self, object: Value, edit: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.heap.foreign_edit(object.as_handle()?, edit)
    }
}
