//! Exceptions that ended a coroutine or an asynchronous message, and that nobody has caught or passed on since. They are
//! in the heap, in `Scheduler unhandledExceptions`; owns what comes in, what goes out, and how many there may be.

use crate::embed::Exception;
use crate::vm::Vm;
use object::{Handle, Value};

/// A program that goes wrong again and again must not fill the memory with it.
const UNHANDLED_MAX: usize = 64;

impl Vm {
    /// Nobody is there to catch this exception.
    pub(crate) fn leave_unhandled(&mut self, exception: Value) {
        self.handled(exception);
        if let Some(list) = self.unhandled_list()
            && self.heap.list(list).is_some_and(|items| items.len() < UNHANDLED_MAX)
        {
            self.heap.list_push(list, exception);
        }
    }

    /// Somebody has taken care of this exception, or is raising it again.
    pub(crate) fn handled(&mut self, exception: Value) {
        let Some(list) = self.unhandled_list() else { return };
        let at = self.heap.list(list).and_then(|items| items.iter().position(|&each| each == exception));
        if let Some(at) = at {
            self.heap.list_edit(list, |items| items.remove(at));
        }
    }

    /// The exceptions that ended coroutines and asynchronous messages since this was last asked, but for those that
    /// somebody caught or passed on: the first of them, if there are many. An embedder that runs programs to their end
    /// reports them, for nobody else will.
    ///
    /// ```
    /// # use language::Vm;
    /// let mut vm = Vm::default();
    /// vm.evaluate("coroDo(1 foo); coroDo(1 bar) exception catch(Exception, nil)", "example")?;
    /// let messages: Vec<String> = vm.take_unhandled().into_iter().map(|exception| exception.message).collect();
    /// assert_eq!(messages, ["Number does not respond to 'foo'"]);
    /// assert!(vm.take_unhandled().is_empty());
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn take_unhandled(&mut self) -> Vec<Exception> {
        let Some(list) = self.unhandled_list() else { return Vec::new() };
        let exceptions = self.heap.list(list).unwrap_or_default().to_vec();
        let described = exceptions.into_iter().map(|exception| self.describe_exception(exception)).collect();
        self.heap.list_edit(list, |items| items.clear());
        described
    }

    /// The list, if the program has left it there.
    fn unhandled_list(&mut self) -> Option<Handle> {
        let scheduler = self.heap.own_slot(self.protos.core, self.names.scheduler)?.as_handle()?;
        let list = self.heap.own_slot(scheduler, self.names.unhandled_exceptions)?.as_handle()?;
        self.heap.list(list).map(|_| list)
    }
}
