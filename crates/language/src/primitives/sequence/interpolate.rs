//! `interpolate`: text with code in it. The code between `#{` and `}` is evaluated in a context, which is what the
//! message was sent from unless another is given, and stands for the text of its value.

use super::super::{Args, ONE, Row};
use super::{data, mutable, own, room};
use crate::machine::frame::{Frame, Native, Phase};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::number_text::format_number;
use object::sequence::Sequence;
use object::{Handle, Kind, Value};

pub const TABLE: &[Row] = &[
    ("interpolate", ONE, |vm, args| begin(vm, args, false)),
    ("interpolateInPlace", ONE, |vm, args| {
        mutable(vm, &args)?;
        begin(vm, args, true)
    }),
];

// The state: where code is evaluated; the text as it was at the start, since code may change the receiver; what is done
// of the result; where in the text it goes on; whether the receiver takes the result.
const CONTEXT: usize = 0;
const SOURCE: usize = 1;
const RESULT: usize = 2;
const POSITION: usize = 3;
const IN_PLACE: usize = 4;

// The steps of the frame: what it waits for.
const NOTHING: u32 = 0;
const VALUE: u32 = 1;
const TEXT: u32 = 2;

fn begin(vm: &mut Vm, args: Args, in_place: bool) -> Outcome {
    let bytes = own(vm, &args)?.size_in_bytes();
    vm.reserve(bytes.saturating_mul(2))?;
    super::pay(vm, bytes)?;
    let args = args.reified()?;
    let context = if args.value(vm, 0).is_nil() { args.locals } else { args.value(vm, 0) };
    let (source, empty) = (own(vm, &args)?.clone(), own(vm, &args)?.range(0, 0));
    let (source, result) = (vm.buffer(source), vm.buffer(empty));
    vm.push_native(Native::Interpolate, &args);
    vm.stack.values.extend([context, source, result, Value::number(0.0), Value::boolean(in_place)]);
    Err(Signal::Entered)
}

pub fn step_interpolate(vm: &mut Vm, value: Value) -> Outcome {
    let Phase::Step(step) = vm.top().phase else { return Ok(Value::NIL) };
    match (step, vm.kind_of(value)) {
        (NOTHING, _) => {}
        (_, Kind::Sequence | Kind::Number) => add(vm, value)?,
        (VALUE, _) => {
            vm.top().phase = Phase::Step(TEXT);
            let context = vm.state(CONTEXT);
            let as_string = vm.bare_message(vm.names.as_string);
            vm.push_chain(as_string, value, context);
            return Err(Signal::Entered);
        }
        _ => return Err(vm.raise("bad asString results")),
    }
    go_on(vm)
}

/// Takes plain text over until there is code, and begins to evaluate that.
fn go_on(vm: &mut Vm) -> Outcome {
    let (open, close) = (Sequence::from("#{"), Sequence::from("}"));
    loop {
        let position = vm.state(POSITION).as_number().unwrap_or(0.0) as usize;
        let source = state_handle(vm, SOURCE);
        let text = data(vm, source);
        let position = position.min(text.len());
        let found = text.find_seq(&open, position);
        let code = found.and_then(|start| Some((start, text.find_seq(&close, start)?)));
        let Some((start, end)) = code else {
            let rest = text.range(position, text.len());
            return finish(vm, rest);
        };
        let (plain, code) = (text.range(position, start), text.range(start + 2, end));
        let result = state_handle(vm, RESULT);
        vm.heap.sequence_edit(result, |result| result.append_seq(&plain));
        vm.set_state(POSITION, Value::number((end + 1) as f64));
        if !code.is_empty() {
            return evaluate(vm, &code);
        }
    }
}

fn evaluate(vm: &mut Vm, code: &Sequence) -> Outcome {
    let label = vm.heap.intern("doString");
    let message = vm.parse_message(&code.to_text(), label)?;
    let context = vm.state(CONTEXT);
    vm.top().phase = Phase::Step(VALUE);
    vm.push_chain(message, context, context);
    Err(Signal::Entered)
}

fn add(vm: &mut Vm, value: Value) -> Result<(), Signal> {
    let result = state_handle(vm, RESULT);
    match (vm.number_of(value), value.as_handle()) {
        (Some(number), _) => {
            let text = format_number(number);
            vm.heap.sequence_edit(result, |result| result.push_bytes(text.as_bytes()));
        }
        (None, Some(text)) => {
            // The collector does not know this value: nothing may be reserved before it is taken over.
            vm.heap.sequence_edit_with(result, text, Sequence::append_seq);
            room(vm, super::size_of(vm, result), 0)?;
        }
        (None, None) => {}
    }
    Ok(())
}

fn finish(vm: &mut Vm, rest: Sequence) -> Outcome {
    let result = state_handle(vm, RESULT);
    vm.heap.sequence_edit(result, |result| result.append_seq(&rest));
    let whole = data(vm, result).clone();
    let Frame { target, .. } = *vm.top();
    if vm.state(IN_PLACE).is_true() {
        vm.heap.sequence_edit(vm.handle_of(target), |own| *own = whole);
        return Ok(target);
    }
    Ok(vm.immutable(whole))
}

fn state_handle(vm: &mut Vm, index: usize) -> Handle {
    let value = vm.state(index);
    vm.handle_of(value)
}
