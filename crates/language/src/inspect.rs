//! What an embedder can ask about objects and failures without running anything: for error reports and completion.

use crate::block::{call, field};
use crate::embed::Exception;
use crate::message;
use crate::vm::Vm;
use object::{Handle, Kind, Value, flag};

/// A message that nobody answered.
#[derive(Debug, Clone)]
pub struct Unknown {
    pub name: String,
    /// Who was asked.
    pub target: Value,
}

impl Vm {
    /// The names of the slots that an object finds, its own first and each once.
    pub fn visible_names(&self, value: Value) -> Vec<String> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut names = Vec::new();
        for holder in self.heap.lineage(self.handle_of(value)) {
            names.extend(self.own_symbols(holder).into_iter().filter(|name| seen.insert(*name)));
        }
        names.into_iter().map(|name| self.heap.symbol_text(name).into_owned()).collect()
    }

    /// The names of an object's own slots, in order.
    pub fn own_names(&self, value: Value) -> Vec<String> {
        let names = self.own_symbols(self.handle_of(value));
        names.into_iter().map(|name| self.heap.symbol_text(name).into_owned()).collect()
    }

    /// The names of the types of an object and its protos, in lookup order and each once.
    pub fn ancestor_types(&mut self, value: Value) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for holder in self.heap.lineage(self.handle_of(value)) {
            let name = self.type_name(Value::object(holder));
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The names of the arguments of a method or block; none for other values.
    pub fn argument_names(&self, value: Value) -> Option<Vec<String>> {
        let block = value.as_handle().filter(|&handle| self.heap.kind(handle) == Kind::Block)?;
        let names = self.heap.record(block).get(field::ARGUMENT_NAMES..).unwrap_or_default();
        Some(names.iter().filter_map(|&name| self.text_of(name)).collect())
    }

    /// Whether finding this value in a slot runs it, as it does a method.
    pub fn is_activatable(&self, value: Value) -> bool {
        value.as_handle().is_some_and(|handle| self.heap.object(handle).has(flag::ACTIVATABLE))
    }

    fn own_symbols(&self, handle: Handle) -> Vec<Handle> {
        self.heap.own_names(handle).to_vec()
    }

    /// Which message nobody answered, if that is what an exception is about.
    pub fn unknown_message(&mut self, exception: &Exception) -> Option<Unknown> {
        let name = self.get_slot(exception.value, "unknownMessage")?;
        let target = self.get_slot(exception.value, "unknownTarget")?;
        Some(Unknown { name: self.text_of(name)?, target })
    }

    /// The method that an exception came out of and the names of those of its arguments that it was called without, if
    /// there are any.
    pub fn missing_arguments(&mut self, exception: &Exception) -> Option<(String, Vec<String>)> {
        let calls = self.get_slot(exception.value, "stackCalls")?.as_handle()?;
        let &[message, receiver, ..] = self.heap.list(calls)? else { return None };
        let message = message.as_handle().filter(|&handle| self.heap.kind(handle) == Kind::Message)?;
        let name = message::name(&self.heap, message);
        let method = self.heap.get_slot(self.handle_of(receiver), name)?;
        let given = message::argument_count(&self.heap, message);
        let missing: Vec<String> = self.argument_names(method)?.into_iter().skip(given).collect();
        (!missing.is_empty()).then(|| (self.heap.symbol_text(name).into_owned(), missing))
    }

    /// The call that an exception was raised on behalf of.
    fn blamed_call(&mut self, exception: Value) -> Option<Handle> {
        let original = self.get_slot(exception, "originalCall")?.as_handle()?;
        (self.heap.kind(original) == Kind::Call).then_some(original)
    }

    /// The innermost messages that were under way when an exception was raised first.
    pub(crate) fn noted_messages(&mut self, exception: Value) -> Vec<Handle> {
        let noted = self.get_slot(exception, "stackMessages").and_then(|messages| messages.as_handle());
        let noted = noted.and_then(|list| self.heap.list(list)).unwrap_or_default();
        let is_message = |handle: &Handle| self.heap.kind(*handle) == Kind::Message;
        noted.iter().filter_map(|value| value.as_handle()).filter(is_message).collect()
    }

    /// Where the trace of an exception begins: at the message that it blames, if that is among those noted or at least
    /// has a place. A message to begin with, and how many of those noted to skip.
    pub(crate) fn blame(&mut self, exception: Value, noted: &[Handle]) -> (Option<Handle>, usize) {
        let Some(blamed) = self.blamed_call(exception) else { return (None, 0) };
        let Some(blamed) = self.heap.record(blamed).get(call::MESSAGE).and_then(|message| message.as_handle()) else {
            return (None, 0);
        };
        match noted.iter().position(|&each| each == blamed) {
            Some(first) => (None, first),
            None if message::line(&self.heap, blamed) > 0 => (Some(blamed), 0),
            None => (None, 0),
        }
    }
}
