//! Words for what went wrong, in the slot `problem` of exceptions: what programs and tools would otherwise have to read
//! out of the text. Beside it, `problemMethod` names whose problem it was, such as `List at`, and `problemValue` is what was
//! wrong.

use crate::signal::Signal;
use crate::vm::Vm;
use object::Value;

/// An argument is missing or wrong.
pub const ARGUMENT: &str = "argument";
/// Calls nest too deeply.
pub const DEPTH: &str = "depth";
/// A Sequence that cannot be changed.
pub const IMMUTABLE: &str = "immutable";
/// Text where a Sequence of numbers must be.
pub const NOT_NUMBERS: &str = "notNumbers";
/// A plain Number, which has no slots of its own.
pub const NO_SLOTS: &str = "noSlots";

impl Vm {
    /// Raises an exception with a problem, and the method whose it is.
    #[cold]
    pub(crate) fn raise_problem(&mut self, text: impl AsRef<str>, problem: &str, method: &str) -> Signal {
        self.raise_problem_of(text, problem, method, Value::NIL)
    }

    /// The same with the value that is to blame.
    #[cold]
    pub(crate) fn raise_problem_of(
        &mut self,
        text: impl AsRef<str>,
        problem: &str,
        method: &str,
        value: Value,
    ) -> Signal {
        let (problem, method) = (self.symbol(problem), self.symbol(method));
        self.raise_with(text, &[("problem", problem), ("problemMethod", method), ("problemValue", value)])
    }
}
