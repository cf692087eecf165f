//! What an embedder can ask about objects and failures without running anything: for error reports and completion.

use crate::block::call;
use crate::embed::Exception;
use crate::message;
use crate::vm::Vm;
use object::{Handle, Kind, Value};

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

    fn own_symbols(&self, handle: Handle) -> Vec<Handle> {
        self.heap.shapes().get(self.heap.shape(handle)).names.clone()
    }

    /// Which message nobody answered, if that is what an exception is about.
    pub fn unknown_message(&mut self, exception: &Exception) -> Option<Unknown> {
        let name = self.get_slot(exception.value, "unknownMessage")?;
        let target = self.get_slot(exception.value, "unknownTarget")?;
        Some(Unknown { name: self.text_of(name)?, target })
    }

    /// The call that an exception was raised on behalf of.
    fn blamed_call(&mut self, exception: Value) -> Option<Handle> {
        let original = self.get_slot(exception, "originalCall")?.as_handle()?;
        (self.heap.kind(original) == Kind::Call).then_some(original)
    }

    /// The messages under way from the one that an exception blames outwards.
    pub(crate) fn blamed_messages(&mut self, exception: Value, messages: Vec<Value>) -> Vec<Value> {
        let Some(blamed) = self.blamed_call(exception) else { return messages };
        let blamed = self.heap.record(blamed)[call::MESSAGE];
        match messages.iter().position(|&each| each == blamed) {
            Some(first) => messages[first..].to_vec(),
            None if blamed.as_handle().is_some_and(|handle| message::line(&self.heap, handle) > 0) => {
                std::iter::once(blamed).chain(messages).collect()
            }
            None => messages,
        }
    }
}
