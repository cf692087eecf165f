//! The symbols that the machine itself looks up by name, interned once.

use object::{Heap, Symbol, Value};

macro_rules! names {
    ($($field:ident = $text:literal),* $(,)?) => {
        /// One field for each name the machine knows.
        #[derive(Clone, Copy)]
        pub struct Names { $(pub $field: Symbol,)* }

        impl Names {
            pub fn new(heap: &mut Heap) -> Names {
                Names { $($field: heap.intern($text),)* }
            }

            pub fn trace(&self, visit: &mut dyn FnMut(Value)) {
                $(visit(Value::object(self.$field));)*
            }
        }
    };
}

names! {
    empty = "",
    semicolon = ";",
    self_ = "self",
    call = "call",
    type_ = "type",
    init = "init",
    forward = "forward",
    activate = "activate",
    clone = "clone",
    set_slot = "setSlot",
    update_slot = "updateSlot",
    as_string = "asString",
    error = "error",
    coroutine = "coroutine",
    caught_message = "caughtMessage",
    exception = "exception",
    result = "result",
    stack_messages = "stackMessages",
    stack_calls = "stackCalls",
    exception_label = "library:Exception.io",
    parent_coroutine = "parentCoroutine",
    run_target = "runTarget",
    run_locals = "runLocals",
    run_message = "runMessage",
    scheduler = "Scheduler",
    yielding_coros = "yieldingCoros",
    unhandled_exceptions = "unhandledExceptions",
    unnamed = "[unnamed]",
    operators = "operators",
    assign_operators = "assignOperators",
    nil = "nil",
    label_none = "[unlabeled]",
}
