//! Message: code as data. Everything here may change code that has already run, or that is running.

use super::{Args, LAZY, NONE, ONE, Row, TWO};
use crate::machine::frame::Native;
use crate::message::{self as messages, field};
use crate::signal::{Outcome, Signal};
use crate::syntax;
use crate::vm::Vm;
use object::{Handle, Kind, Value};

pub const TABLE: &[Row] = &[
    ("name", NONE, |vm, args| {
        let message = args.receiver(vm, Kind::Message)?;
        Ok(vm.heap.record(message)[field::NAME])
    }),
    ("setName", ONE, |vm, args| {
        let name = args.symbol(vm, 0)?;
        // A renamed literal is a message like any other.
        change(vm, &args, field::LITERAL, Value::ABSENT)?;
        change(vm, &args, field::NAME, Value::object(name))
    }),
    ("next", NONE, |vm, args| {
        let message = args.receiver(vm, Kind::Message)?;
        Ok(vm.heap.record(message)[field::NEXT])
    }),
    ("setNext", ONE, set_next),
    ("isEndOfLine", NONE, |vm, args| {
        let message = args.receiver(vm, Kind::Message)?;
        Ok(Value::boolean(messages::name(&vm.heap, message) == vm.names.semicolon))
    }),
    ("nextIgnoreEndOfLines", NONE, next_ignoring_ends),
    ("last", NONE, |vm, args| last(vm, &args, false)),
    ("lastBeforeEndOfLine", NONE, |vm, args| last(vm, &args, true)),
    ("previous", LAZY, |_, _| Ok(Value::NIL)),
    ("argAt", ONE, |vm, args| {
        let index = args.integer(vm, 0)?;
        let message = args.receiver(vm, Kind::Message)?;
        let argument = usize::try_from(index).ok().and_then(|index| messages::argument(&vm.heap, message, index));
        Ok(argument.map_or(Value::NIL, Value::object))
    }),
    ("argCount", NONE, |vm, args| {
        let message = args.receiver(vm, Kind::Message)?;
        Ok(Value::number(messages::argument_count(&vm.heap, message) as f64))
    }),
    ("arguments", NONE, |vm, args| {
        let message = args.receiver(vm, Kind::Message)?;
        let arguments = messages::arguments(&vm.heap, message);
        Ok(vm.list(arguments.into_iter().map(Value::object)))
    }),
    ("setArguments", ONE, set_arguments),
    ("appendArg", ONE, |vm, args| {
        let argument = args.of_kind(vm, 0, Kind::Message)?;
        append_argument(vm, &args, argument)
    }),
    ("appendCachedArg", ONE, |vm, args| {
        let value = args.value(vm, 0);
        let argument = vm.literal_message(value);
        append_argument(vm, &args, argument)
    }),
    ("cachedResult", NONE, |vm, args| {
        let message = args.receiver(vm, Kind::Message)?;
        Ok(vm.heap.record(message)[field::LITERAL].or_nil())
    }),
    ("setCachedResult", ONE, |vm, args| {
        let value = args.value(vm, 0);
        change(vm, &args, field::LITERAL, value)
    }),
    ("removeCachedResult", NONE, |vm, args| change(vm, &args, field::LITERAL, Value::ABSENT)),
    ("hasCachedResult", NONE, |vm, args| {
        let message = args.receiver(vm, Kind::Message)?;
        Ok(Value::boolean(messages::literal(&vm.heap, message).is_some()))
    }),
    ("lineNumber", NONE, |vm, args| read(vm, &args, field::LINE)),
    ("setLineNumber", ONE, |vm, args| set_number(vm, &args, field::LINE)),
    ("characterNumber", NONE, |vm, args| read(vm, &args, field::COLUMN)),
    ("setCharacterNumber", ONE, |vm, args| set_number(vm, &args, field::COLUMN)),
    ("label", NONE, |vm, args| read(vm, &args, field::LABEL)),
    ("setLabel", ONE, |vm, args| {
        let label = args.symbol(vm, 0)?;
        let message = args.receiver(vm, Kind::Message)?;
        vm.heap.record_set(message, field::LABEL, Value::object(label));
        Ok(args.target)
    }),
    ("code", NONE, code),
    ("asString", NONE, code),
    ("doInContext", TWO, |vm, args| {
        let message = args.receiver(vm, Kind::Message)?;
        let target = args.required(vm, 0)?;
        let locals = if args.count > 1 { args.value(vm, 1) } else { target };
        vm.push_chain(message, target, locals);
        Err(Signal::Entered)
    }),
    ("fromString", ONE, |vm, args| {
        let source = args.text(vm, 0)?;
        let label = vm.heap.intern("fromString");
        vm.parse_message(&source, label).map(Value::object)
    }),
    ("argsEvaluatedIn", ONE, |vm, args| begin_arguments(vm, args, Value::FALSE)),
    ("asMessageWithEvaluatedArgs", ONE, |vm, args| begin_arguments(vm, args, Value::TRUE)),
    ("opShuffle", NONE, shuffle),
    ("opShuffleC", NONE, shuffle),
];

fn read(vm: &mut Vm, args: &Args, index: usize) -> Outcome {
    let message = args.receiver(vm, Kind::Message)?;
    Ok(vm.heap.record(message)[index].or_nil())
}

fn set_number(vm: &mut Vm, args: &Args, index: usize) -> Outcome {
    let number = args.number(vm, 0)?;
    let message = args.receiver(vm, Kind::Message)?;
    vm.heap.record_set(message, index, Value::number(number));
    Ok(args.target)
}

/// Changes a field that evaluation looks at.
fn change(vm: &mut Vm, args: &Args, index: usize, value: Value) -> Outcome {
    let message = args.receiver(vm, Kind::Message)?;
    vm.message_changing(message);
    vm.heap.record_set(message, index, value);
    Ok(args.target)
}

fn set_next(vm: &mut Vm, args: Args) -> Outcome {
    let next = args.value(vm, 0);
    if !next.is_nil() {
        args.of_kind(vm, 0, Kind::Message)?;
    }
    change(vm, &args, field::NEXT, next)
}

fn set_arguments(vm: &mut Vm, args: Args) -> Outcome {
    let list = args.of_kind(vm, 0, Kind::List)?;
    let message = args.receiver(vm, Kind::Message)?;
    let values = vm.heap.list(list).unwrap_or_default().to_vec();
    if let Some(&wrong) = values.iter().find(|&&value| vm.kind_of(value) != Kind::Message) {
        let type_name = vm.type_name(wrong);
        return Err(vm.raise(format!("'setArguments' requires a List of Messages, not of '{type_name}'")));
    }
    vm.message_changing(message);
    vm.heap.record_edit(message, |fields| {
        fields.truncate(field::ARGUMENTS);
        fields.extend(values);
    });
    Ok(args.target)
}

fn append_argument(vm: &mut Vm, args: &Args, argument: Handle) -> Outcome {
    let message = args.receiver(vm, Kind::Message)?;
    vm.message_changing(message);
    vm.heap.record_edit(message, |fields| fields.push(Value::object(argument)));
    Ok(args.target)
}

fn next_ignoring_ends(vm: &mut Vm, args: Args) -> Outcome {
    let message = args.receiver(vm, Kind::Message)?;
    let mut next = messages::next(&vm.heap, message);
    while let Some(message) = next
        && messages::name(&vm.heap, message) == vm.names.semicolon
    {
        vm.charge(1)?;
        next = messages::next(&vm.heap, message);
    }
    Ok(next.map_or(Value::NIL, Value::object))
}

/// The end of the chain, or of its first statement.
fn last(vm: &mut Vm, args: &Args, before_end_of_line: bool) -> Outcome {
    let mut message = args.receiver(vm, Kind::Message)?;
    while let Some(next) = messages::next(&vm.heap, message) {
        vm.charge(1)?;
        if before_end_of_line && messages::name(&vm.heap, next) == vm.names.semicolon {
            break;
        }
        message = next;
    }
    Ok(Value::object(message))
}

fn code(vm: &mut Vm, args: Args) -> Outcome {
    let message = args.receiver(vm, Kind::Message)?;
    let text = vm.message_code(message)?;
    vm.charge(text.len() / 8)?;
    Ok(vm.symbol(&text))
}

impl Vm {
    /// A message as source.
    pub(crate) fn message_code(&mut self, message: Handle) -> Result<String, Signal> {
        let tree = self.message_tree(message)?;
        Ok(syntax::print(&tree, tree.root))
    }

    fn message_tree(&mut self, message: Handle) -> Result<syntax::Tree<'static>, Signal> {
        let Some(tree) = messages::to_tree(&self.heap, message) else {
            let most = messages::REPEATS_MAX;
            return Err(self.raise(format!("this message repeats parts of itself more than {most} times")));
        };
        self.charge(tree.nodes.len() / 8)?;
        Ok(tree)
    }
}

/// Shuffles operators in place: the message stays the same object, what hangs on it is made anew.
fn shuffle(vm: &mut Vm, args: Args) -> Outcome {
    let message = args.receiver(vm, Kind::Message)?;
    let mut tree = vm.message_tree(message)?;
    vm.charge(tree.nodes.len())?;
    vm.refresh_operators();
    let root = tree.root;
    if let Err(error) = syntax::shuffle(&mut tree, root, &vm.operators.table) {
        return Err(vm.raise(error.exception_text()));
    }
    let label = vm.heap.record(message)[field::LABEL].as_handle().unwrap_or(vm.names.label_none);
    let fresh = messages::from_tree(&mut vm.heap, vm.protos.message, &tree, label);
    vm.message_changing(message);
    let fields: Vec<Value> = vm.heap.record(fresh).to_vec();
    vm.heap.record_edit(message, |old| {
        old.truncate(0);
        old.extend(fields);
    });
    Ok(args.target)
}

// The state of evaluating a message's arguments: the receiver, the context, whether a message is wanted, the values.
const CONTEXT: usize = 0;
const AS_MESSAGE: usize = 1;
const VALUES: usize = 2;

fn begin_arguments(vm: &mut Vm, args: Args, as_message: Value) -> Outcome {
    let context = if args.count > 0 { args.value(vm, 0) } else { args.sender()? };
    let args = args.reified()?;
    args.receiver(vm, Kind::Message)?;
    vm.push_native(Native::EvaluateArguments, &args);
    vm.stack.values.extend([context, as_message]);
    Err(Signal::Entered)
}

pub fn step_evaluate_arguments(vm: &mut Vm, value: Value) -> Outcome {
    if !value.is_absent() {
        vm.stack.values.push(value);
    }
    let (base, target) = (vm.top().base as usize, vm.top().target);
    let message = vm.handle_of(target);
    let done = vm.stack.values.len() - base - VALUES;
    if let Some(argument) = messages::argument(&vm.heap, message, done) {
        let context = vm.state(CONTEXT);
        vm.push_chain(argument, context, context);
        return Err(Signal::Entered);
    }
    let values = vm.stack.values[base + VALUES..].to_vec();
    if !vm.state(AS_MESSAGE).is_true() {
        return Ok(vm.list(values));
    }
    let name = messages::name(&vm.heap, message);
    let evaluated = vm.message_with_values(name, &values);
    // Whoever sends it later blames the place where it was written.
    for field in [messages::field::LABEL, messages::field::LINE, messages::field::COLUMN] {
        if let Some(&place) = vm.heap.record(message).get(field) {
            vm.heap.record_set(evaluated, field, place);
        }
    }
    Ok(Value::object(evaluated))
}
