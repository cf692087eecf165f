//! Control flow: if, while, for, loop, stops, try, do. Each keeps its state in a native frame, so that it can be
//! interrupted, saved and taken up again between any two messages.

use super::{Args, LAZY, ONE, Row, TWO};
use crate::machine::frame::{Frame, Native, Phase};
use crate::message;
use crate::signal::{Outcome, Signal, Stop};
use crate::vm::Vm;
use object::{Handle, Kind, Symbol, Value};

pub const TABLE: &[Row] = &[
    ("if", LAZY, begin_if),
    ("while", LAZY, begin_while),
    ("loop", LAZY, begin_loop),
    ("for", LAZY, begin_for),
    ("break", ONE, |vm, args| Err(Signal::Stop(Stop::Break, args.value(vm, 0)))),
    ("continue", ONE, |vm, args| Err(Signal::Stop(Stop::Continue, args.value(vm, 0)))),
    ("return", ONE, |vm, args| Err(Signal::Stop(Stop::Return, args.value(vm, 0)))),
    ("returnIfNonNil", LAZY, |_, args| {
        if args.target.is_nil() { Ok(args.target) } else { Err(Signal::Stop(Stop::Return, args.target)) }
    }),
    ("stopStatus", LAZY, |vm, args| evaluate_under(vm, args, Native::StopStatus)),
    ("try", LAZY, |vm, args| evaluate_under(vm, args, Native::Try)),
    ("", LAZY, evaluate_argument),
    ("evalArg", LAZY, evaluate_argument),
    ("evalArgAndReturnSelf", LAZY, evaluate_then),
    ("evalArgAndReturnNil", LAZY, |vm, args| evaluate_then(vm, Args { target: Value::NIL, ..args })),
    ("do", LAZY, begin_do),
    ("lexicalDo", LAZY, begin_lexical_do),
    ("message", LAZY, |vm, args| Ok(message::argument(&vm.heap, args.message, 0).map_or(Value::NIL, Value::object))),
    ("doMessage", TWO, do_message),
    ("doString", TWO, do_string),
    ("thisMessage", LAZY, |_, args| Ok(Value::object(args.message))),
];

impl Vm {
    /// Pushes the frame of a lazy primitive; what it pushes on the value stack after this is its state.
    pub(crate) fn push_native(&mut self, native: Native, args: &Args) {
        let base = self.stack.values.len();
        self.stack.frames.push(Frame::native(native, args.message, args.target, args.locals, base));
    }

    /// A native frame's own value.
    #[inline(always)]
    pub(crate) fn state(&mut self, index: usize) -> Value {
        let base = self.top().base as usize;
        self.stack.values[base + index]
    }

    #[inline(always)]
    pub(crate) fn set_state(&mut self, index: usize, value: Value) {
        let base = self.top().base as usize;
        self.stack.values[base + index] = value;
    }

    /// Evaluates an argument of the native frame's message in its locals; nil at once if there is none.
    pub(crate) fn enter_argument(&mut self, index: usize) -> Outcome {
        let Frame { message, locals, .. } = *self.top();
        match message::argument(&self.heap, message, index) {
            Some(argument) => {
                self.push_chain(argument, locals, locals);
                Err(Signal::Entered)
            }
            None => Ok(Value::NIL),
        }
    }
}

fn begin_if(vm: &mut Vm, args: Args) -> Outcome {
    // Nothing is not true.
    let Some(condition) = message::argument(&vm.heap, args.message, 0) else { return Ok(Value::FALSE) };
    vm.push_native(Native::If, &args);
    vm.push_chain(condition, args.locals, args.locals);
    Err(Signal::Entered)
}

/// The frame ends in favour of the branch, which answers for it.
pub fn step_if(vm: &mut Vm, condition: Value) -> Outcome {
    let index = if condition.is_true() { 1 } else { 2 };
    let message = vm.top().message;
    match message::argument(&vm.heap, message, index) {
        Some(branch) => {
            let frame = vm.pop_frame();
            vm.push_chain(branch, frame.locals, frame.locals);
            Err(Signal::Entered)
        }
        None => Ok(Value::boolean(condition.is_true())),
    }
}

fn begin_while(vm: &mut Vm, args: Args) -> Outcome {
    let condition = args.argument(vm, 0)?;
    args.argument(vm, 1)?;
    if args.target == args.locals && vm.push_loop(&args, "while") {
        return Err(Signal::Entered);
    }
    vm.push_native(Native::While, &args);
    vm.stack.values.push(Value::NIL);
    vm.push_chain(condition, args.locals, args.locals);
    Err(Signal::Entered)
}

/// Step 0 waits for the condition, step 1 for the body.
pub fn step_while(vm: &mut Vm, value: Value) -> Outcome {
    match vm.top().phase {
        Phase::Step(0) if value.is_true() => {
            vm.charge(1)?;
            vm.top().phase = Phase::Step(1);
            vm.enter_argument(1)
        }
        Phase::Step(0) => Ok(vm.state(0)),
        _ => {
            vm.set_state(0, value);
            vm.top().phase = Phase::Step(0);
            vm.enter_argument(0)
        }
    }
}

fn begin_loop(vm: &mut Vm, args: Args) -> Outcome {
    let body = args.argument(vm, 0)?;
    if args.target == args.locals && vm.push_loop(&args, "loop") {
        return Err(Signal::Entered);
    }
    vm.push_native(Native::Loop, &args);
    vm.push_chain(body, args.locals, args.locals);
    Err(Signal::Entered)
}

pub fn step_loop(vm: &mut Vm, _: Value) -> Outcome {
    vm.charge(1)?;
    vm.enter_argument(0)
}

// The state of a `for`: what it counts with.
const COUNTER: usize = 0;
const END: usize = 1;
const STEP: usize = 2;
const RESULT: usize = 3;

fn begin_for(vm: &mut Vm, args: Args) -> Outcome {
    if args.message_count(vm) < 4 {
        return Err(vm.raise("'for' needs a counter, a start, an end and a body: for(i, 1, 10, i println)"));
    }
    if args.target == args.locals && vm.push_loop(&args, "for") {
        return Err(Signal::Entered);
    }
    vm.push_native(Native::For, &args);
    vm.stack.values.extend([Value::NIL, Value::NIL, Value::number(1.0), Value::NIL]);
    vm.enter_argument(1)
}

/// Steps 0 to 2 wait for start, end and step; step 3 is in the body.
pub fn step_for(vm: &mut Vm, value: Value) -> Outcome {
    let Frame { phase, message, .. } = *vm.top();
    let Phase::Step(step) = phase else { return Ok(Value::NIL) };
    if step == 3 {
        vm.set_state(RESULT, value);
        let next = vm.state(COUNTER).as_number().unwrap_or(0.0) + vm.state(STEP).as_number().unwrap_or(1.0);
        vm.set_state(COUNTER, Value::number(next));
        return continue_for(vm);
    }
    let Some(number) = vm.number_of(value) else {
        let (what, given) = (["start", "end", "step"][step as usize], vm.described(value));
        return Err(vm.raise(format!("the {what} of 'for' must be a Number, not {given}")));
    };
    vm.set_state(step as usize, Value::number(number));
    let has_step = message::argument_count(&vm.heap, message) > 4;
    if step == 0 || (step == 1 && has_step) {
        vm.top().phase = Phase::Step(step + 1);
        return vm.enter_argument(step as usize + 2);
    }
    vm.top().phase = Phase::Step(3);
    continue_for(vm)
}

fn continue_for(vm: &mut Vm) -> Outcome {
    let [counter, end, step] = [COUNTER, END, STEP].map(|index| vm.state(index).as_number().unwrap_or(0.0));
    if (step > 0.0 && counter > end) || (step <= 0.0 && counter < end) || counter.is_nan() || end.is_nan() {
        return Ok(vm.state(RESULT));
    }
    vm.charge(1)?;
    let Frame { message, locals, target, .. } = *vm.top();
    let body = if message::argument_count(&vm.heap, message) > 4 { 4 } else { 3 };
    let name = message::argument(&vm.heap, message, 0).map(|argument| message::name(&vm.heap, argument));
    if let (Some(handle), Some(name)) = (locals.as_handle(), name) {
        vm.put_slot(handle, name, Value::number(counter));
    }
    match message::argument(&vm.heap, message, body) {
        Some(body) => {
            vm.push_chain(body, target, locals);
            Err(Signal::Entered)
        }
        // The message was changed while it ran.
        None => Ok(Value::NIL),
    }
}

/// Evaluates the first argument with a native frame beneath that catches what comes.
fn evaluate_under(vm: &mut Vm, args: Args, native: Native) -> Outcome {
    let Some(argument) = message::argument(&vm.heap, args.message, 0) else {
        return Ok(if native == Native::Try { Value::NIL } else { vm.status_of(None) });
    };
    vm.push_native(native, &args);
    vm.push_chain(argument, args.locals, args.locals);
    Err(Signal::Entered)
}

fn evaluate_argument(vm: &mut Vm, args: Args) -> Outcome {
    match message::argument(&vm.heap, args.message, 0) {
        Some(argument) => {
            vm.push_chain(argument, args.locals, args.locals);
            Err(Signal::Entered)
        }
        None => Ok(args.target),
    }
}

fn evaluate_then(vm: &mut Vm, args: Args) -> Outcome {
    let Some(argument) = message::argument(&vm.heap, args.message, 0) else { return Ok(args.target) };
    vm.push_native(Native::AnswerTarget, &args);
    vm.push_chain(argument, args.locals, args.locals);
    Err(Signal::Entered)
}

fn begin_do(vm: &mut Vm, args: Args) -> Outcome {
    let Some(argument) = message::argument(&vm.heap, args.message, 0) else { return Ok(args.target) };
    vm.push_native(Native::AnswerTarget, &args);
    vm.push_chain(argument, args.target, args.target);
    Err(Signal::Entered)
}

/// For as long as the argument is evaluated, the sender is a proto of the receiver.
fn begin_lexical_do(vm: &mut Vm, args: Args) -> Outcome {
    let Some(argument) = message::argument(&vm.heap, args.message, 0) else { return Ok(args.target) };
    if let (Some(target), Some(locals)) = (args.target.as_handle(), args.locals.as_handle()) {
        let mut protos = vm.heap.protos(target).to_vec();
        protos.push(locals);
        vm.heap.set_protos(target, protos);
    }
    vm.push_native(Native::LexicalDo, &args);
    vm.push_chain(argument, args.target, args.target);
    Err(Signal::Entered)
}

pub fn step_lexical_do(vm: &mut Vm) -> Outcome {
    let frame = *vm.top();
    end_lexical_do(vm, &frame);
    Ok(frame.target)
}

/// Takes the sender away from the receiver's protos again.
pub(crate) fn end_lexical_do(vm: &mut Vm, frame: &Frame) {
    if let (Some(target), Some(locals)) = (frame.target.as_handle(), frame.locals.as_handle()) {
        let mut protos = vm.heap.protos(target).to_vec();
        if let Some(index) = protos.iter().rposition(|&proto| proto == locals) {
            protos.remove(index);
            vm.heap.set_protos(target, protos);
        }
    }
}

fn do_message(vm: &mut Vm, args: Args) -> Outcome {
    let message = args.of_kind(vm, 0, Kind::Message)?;
    let locals = if args.count > 1 { args.value(vm, 1) } else { args.target };
    vm.push_evaluation(message, args.target, locals);
    Err(Signal::Entered)
}

fn do_string(vm: &mut Vm, args: Args) -> Outcome {
    let source = args.text(vm, 0)?;
    let label = if args.count > 1 { args.symbol(vm, 1)? } else { vm.heap.intern("doString") };
    let message = vm.parse_message(&source, label)?;
    vm.push_chain(message, args.target, args.target);
    Err(Signal::Entered)
}

/// A source that is not worth asking for room.
const SHORT_SOURCE_BYTES: usize = 64 << 10;

/// What a message takes, its place in the parser's tree included.
const MESSAGE_BYTES: usize = 192;

impl Vm {
    /// Parses source into a message, with the operators as the program has set them.
    pub(crate) fn parse_message(&mut self, source: &str, label: Symbol) -> Result<Handle, Signal> {
        self.charge(source.len() / 16)?;
        if source.len() > SHORT_SOURCE_BYTES {
            self.reserve(crate::syntax::token_count(source) * MESSAGE_BYTES)?;
        }
        self.refresh_operators();
        match crate::syntax::parse(source, &self.operators.table) {
            Ok(tree) => Ok(message::from_tree(&mut self.heap, self.protos.message, &tree, label)),
            Err(error) => Err(self.raise(error.exception_text())),
        }
    }
}
