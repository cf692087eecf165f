//! The embedder's view of a machine: evaluate, send, and read what went wrong.

use crate::limits::FUEL_SLICE;
use crate::machine::Ended;
use crate::machine::trace::Folded;
use crate::message;
use crate::signal::Halt;
use crate::syntax::{self, SyntaxError};
use crate::vm::Vm;
use object::{Handle, Value};
use std::fmt;

/// Why an evaluation gave no value.
///
/// ```
/// # use language::{Error, Vm};
/// let mut vm = Vm::default();
/// let source = "half := method(n, n / missing)\nhalf(4)";
/// let Err(Error::Exception(exception)) = vm.evaluate(source, "half.io") else { panic!("it does not know 'missing'") };
/// assert_eq!(exception.type_name, "Exception");
/// assert!(exception.message.ends_with("does not respond to 'missing'"));
/// let lines: Vec<_> = exception.trace.entries.iter().map(|entry| (entry.name.as_str(), entry.line)).collect();
/// assert_eq!(lines.first(), Some(&("missing", 1)));
/// assert_eq!(lines.last(), Some(&("half", 2)));
///
/// assert!(matches!(vm.evaluate("1 +(", "broken.io"), Err(Error::Syntax { .. })));
/// ```
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error("{label}: {error}")]
    Syntax { label: String, error: SyntaxError },
    #[error("{0}")]
    Exception(Exception),
    #[error("{0}")]
    Halted(#[from] Halt),
}

/// An exception that nothing in the program caught.
#[derive(Debug, Clone)]
pub struct Exception {
    /// The exception object; retain it to keep it.
    pub value: Value,
    pub type_name: String,
    pub message: String,
    /// Where it happened.
    pub trace: Trace,
}

/// The messages that were under way when a program ended, innermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    pub entries: Vec<TraceEntry>,
    /// How many more there were further out.
    pub more: u64,
}

/// One message that was under way; or, in a recursion, many: its round is told once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceEntry {
    pub name: String,
    pub label: String,
    pub line: u32,
    pub column: u32,
    /// How often it was under way in a row, together with its neighbours of the same count.
    pub times: u64,
}

impl fmt::Display for Exception {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.type_name, self.message)?;
        match self.trace.entries.first() {
            Some(entry) => write!(formatter, " ({}:{}:{})", entry.label, entry.line, entry.column),
            None => Ok(()),
        }
    }
}

impl Vm {
    /// Evaluates source in the Lobby. `label` names it in errors.
    pub fn evaluate(&mut self, source: &str, label: &str) -> Result<Value, Error> {
        let lobby = self.lobby();
        self.evaluate_in(lobby, source, label)
    }

    /// Evaluates source with `target` as receiver and context.
    pub fn evaluate_in(&mut self, target: Value, source: &str, label: &str) -> Result<Value, Error> {
        self.refresh_operators();
        let tree = syntax::parse(source, &self.operators.table)
            .map_err(|error| Error::Syntax { label: label.to_string(), error })?;
        let label = self.heap.intern(label);
        let root = message::from_tree(&mut self.heap, self.protos.message, &tree, label);
        self.run_message(root, target, target).map_err(|ended| self.describe(ended))
    }

    /// Whether blocks are compiled, as they are unless told otherwise; or evaluated as the trees they are, which is
    /// slower and must make no other difference. For tests that compare both.
    #[doc(hidden)]
    pub fn set_compiling(&mut self, on: bool) {
        self.units.disabled = !on;
        self.discard_all_units();
    }

    /// Makes all running code go back to the tree each time so much fuel is used, as it does when it is suspended or
    /// rewritten; 0 for never. Slower, and must make no other difference. For tests of just that.
    #[doc(hidden)]
    pub fn set_leave_every(&mut self, fuel: u64) {
        self.units.stressed = fuel > 0;
        self.tank.portion = if fuel > 0 { fuel } else { FUEL_SLICE };
        // What is left of the present slice goes back, so that the first one is of the new size too.
        let slice = std::mem::take(&mut self.tank.slice);
        if self.tank.limit.is_some() {
            self.tank.reserve = self.tank.reserve.saturating_add_signed(slice);
        }
    }

    /// Makes every stack that is suspended one that comes back from a file. Must make no difference. For tests of that.
    #[doc(hidden)]
    pub fn set_saving_stacks(&mut self, on: bool) {
        self.saves_stacks = on;
    }

    /// Gives a coroutine that does not run the stack that these values are. For tests of values that are none.
    #[doc(hidden)]
    pub fn set_stack(&mut self, coroutine: Value, values: &[Value]) -> Result<(), crate::Damage> {
        let data = Vm::restore_foreign(crate::machine::saved::NAME, values)?;
        self.heap.set_data(self.handle_of(coroutine), object::Kind::Coroutine, data);
        Ok(())
    }

    /// Sends a message with values for arguments, and activates what it finds.
    ///
    /// ```
    /// # use language::{Value, Vm};
    /// let mut vm = Vm::default();
    /// let five = vm.send(Value::number(2.0), "+", &[Value::number(3.0)])?;
    /// assert_eq!(five, Value::number(5.0));
    /// # Ok::<(), language::Error>(())
    /// ```
    pub fn send(&mut self, target: Value, name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let name = self.heap.intern(name);
        let message = self.message_with_values(name, arguments);
        let lobby = self.lobby();
        self.run_message(message, target, lobby).map_err(|ended| self.describe(ended))
    }

    fn describe(&mut self, ended: Ended) -> Error {
        match ended {
            Ended::Halted(halt, trace) => {
                self.halted_at = self.trace_of(&trace);
                Error::Halted(halt)
            }
            Ended::Uncaught(value, trace) => {
                let trace = self.trace_of(&trace);
                Error::Exception(Exception { trace, ..self.describe_exception(value) })
            }
        }
    }

    /// Where the last program was that ran into a limit, was interrupted or asked to exit.
    ///
    /// ```
    /// # use language::{Limits, Vm};
    /// let mut vm = Vm::default();
    /// vm.set_limits(Limits { fuel: Some(1001), ..Limits::default() });
    /// assert!(vm.evaluate("wait := method(loop(nil))\nwait", "example").is_err());
    /// let innermost_first: Vec<_> = vm.halted_at().entries.iter().map(|entry| (entry.name.as_str(), entry.line)).collect();
    /// assert_eq!(innermost_first, [("nil", 1), ("loop", 1), ("wait", 2)]);
    /// ```
    pub fn halted_at(&self) -> &Trace {
        &self.halted_at
    }

    /// Reads an exception object. May run a program, if what went wrong is told by no text.
    pub fn describe_exception(&mut self, value: Value) -> Exception {
        let message = self.error_text(value);
        let noted = self.noted_messages(value);
        let (added, skipped) = self.blame(value, &noted);
        let trace = Folded::fold(added.into_iter().chain(noted.into_iter().skip(skipped)));
        Exception { value, type_name: self.type_name(value), message, trace: self.trace_of(&trace) }
    }

    /// What went wrong, in the words of whoever raised it. What is no text says itself what it is; if that fails in turn,
    /// its type must do.
    fn error_text(&mut self, exception: Value) -> String {
        let error = self.get_slot(exception, "error").unwrap_or(Value::NIL);
        if error.is_nil() {
            return String::new();
        }
        if let Some(text) = self.simple_text(error) {
            return text;
        }
        self.retain(exception);
        let (as_string, lobby) = (self.bare_message(self.names.as_string), self.lobby());
        let answer = self.run_message(as_string, error, lobby).ok();
        self.release(exception);
        answer.and_then(|text| self.simple_text(text)).unwrap_or_else(|| self.described(error))
    }

    fn trace_of(&self, folded: &Folded) -> Trace {
        let entries = folded.messages.iter().filter_map(|&(message, times)| self.trace_entry(message, times)).collect();
        Trace { entries, more: folded.more }
    }

    fn trace_entry(&self, handle: Handle, times: u64) -> Option<TraceEntry> {
        let label = self.heap.record(handle).get(message::field::LABEL)?.as_handle()?;
        Some(TraceEntry {
            name: self.heap.symbol_text(message::name(&self.heap, handle)).into_owned(),
            label: self.heap.symbol_text(label).into_owned(),
            line: message::line(&self.heap, handle),
            column: message::column(&self.heap, handle),
            times,
        })
    }
}
