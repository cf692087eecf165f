//! Coroutine and EvalFrame: stacks as objects.

use super::{Args, NONE, Row};
use crate::machine::frame::{Frame, Kind as FrameKind, Phase};
use crate::signal::{Outcome, Signal};
use crate::vm::Vm;
use object::{Data, Handle, Kind, Value};

pub const TABLE: &[Row] = &[
    ("currentCoroutine", NONE, |vm, _| Ok(Value::object(vm.current))),
    ("isCurrent", NONE, |vm, args| Ok(Value::boolean(args.target == Value::object(vm.current)))),
    // The main one is the embedder's, and levels nest like frames.
    ("canBeLeft", NONE, |vm, args| {
        let is_free = vm.current != vm.main && vm.open_levels == 0;
        Ok(Value::boolean(is_free && args.target == Value::object(vm.current)))
    }),
    ("isFinished", NONE, |vm, args| {
        let coroutine = args.receiver(vm, Kind::Coroutine)?;
        Ok(Value::boolean(vm.is_finished(coroutine)))
    }),
    ("leaveQueue", NONE, |vm, args| {
        let coroutine = args.receiver(vm, Kind::Coroutine)?;
        vm.leave_queue(coroutine);
        Ok(args.target)
    }),
    ("run", NONE, resume),
    ("resume", NONE, resume),
    ("ioStack", NONE, |vm, args| {
        let calls: Vec<Value> = frames_of(vm, &args)?.iter().filter_map(|frame| call_of(vm, frame)).collect();
        Ok(vm.list(calls))
    }),
    ("currentFrame", NONE, current_frame),
    ("implementation", NONE, |vm, _| Ok(vm.symbol("frames"))),
    ("freeStack", NONE, |_, args| Ok(args.target)),
];

fn resume(vm: &mut Vm, args: Args) -> Outcome {
    let coroutine = args.receiver(vm, Kind::Coroutine)?;
    if vm.is_finished(coroutine) {
        return Err(vm.raise("a Coroutine that has finished cannot be resumed; clone it to run it again"));
    }
    Err(Signal::Switch(coroutine, args.target))
}

fn frames_of(vm: &mut Vm, args: &Args) -> Result<Vec<Frame>, Signal> {
    let coroutine = args.receiver(vm, Kind::Coroutine)?;
    if coroutine == vm.current {
        vm.leave_all();
        return Ok(vm.stack.frames.clone());
    }
    let suspended = vm.heap.foreign::<crate::machine::frame::Suspended>(coroutine);
    Ok(suspended.and_then(|suspended| suspended.stack.as_ref()).map(|stack| stack.frames.clone()).unwrap_or_default())
}

fn call_of(vm: &Vm, frame: &Frame) -> Option<Value> {
    (frame.is_activation() && vm.heap.kind(frame.block) == Kind::Call).then(|| Value::object(frame.block))
}

// An EvalFrame is a picture of a frame, taken when it was asked for.
mod field {
    pub const MESSAGE: usize = 0;
    pub const TARGET: usize = 1;
    pub const LOCALS: usize = 2;
    pub const STATE: usize = 3;
    pub const PARENT: usize = 4;
    pub const DEPTH: usize = 5;
    pub const CALL: usize = 6;
}

pub const FRAME_TABLE: &[Row] = &[
    ("message", NONE, |vm, args| read(vm, &args, field::MESSAGE)),
    ("target", NONE, |vm, args| read(vm, &args, field::TARGET)),
    ("locals", NONE, |vm, args| read(vm, &args, field::LOCALS)),
    ("blockLocals", NONE, |vm, args| read(vm, &args, field::LOCALS)),
    ("state", NONE, |vm, args| read(vm, &args, field::STATE)),
    ("parent", NONE, |vm, args| read(vm, &args, field::PARENT)),
    ("depth", NONE, |vm, args| read(vm, &args, field::DEPTH)),
    ("call", NONE, |vm, args| read(vm, &args, field::CALL)),
    ("description", NONE, |vm, args| {
        let message = read(vm, &args, field::MESSAGE)?;
        let name = crate::message::name(&vm.heap, vm.handle_of(message));
        let text = vm.heap.symbol_text(name).into_owned();
        let state = read(vm, &args, field::STATE)?;
        let state = vm.text_of(state).unwrap_or_default();
        Ok(vm.symbol(&format!("{text} ({state})")))
    }),
];

fn read(vm: &mut Vm, args: &Args, index: usize) -> Outcome {
    let frame = args.receiver(vm, Kind::Frame)?;
    Ok(vm.heap.record(frame).get(index).copied().unwrap_or(Value::NIL))
}

/// Pictures of all frames, each linked to the one beneath; answers the top one.
fn current_frame(vm: &mut Vm, args: Args) -> Outcome {
    let frames = frames_of(vm, &args)?;
    vm.charge(frames.len())?;
    let mut parent = Value::NIL;
    for (depth, frame) in frames.iter().enumerate() {
        parent = Value::object(picture(vm, frame, parent, depth + 1));
    }
    Ok(parent)
}

fn picture(vm: &mut Vm, frame: &Frame, parent: Value, depth: usize) -> Handle {
    let state = match (frame.kind, frame.phase) {
        (FrameKind::Host, _) => "host",
        (FrameKind::Native(_) | FrameKind::Code, _) => "native",
        (FrameKind::Chain, Phase::Argument) => "argument",
        (FrameKind::Chain, Phase::Ready) => "ready",
        (FrameKind::Chain, _) => "result",
    };
    let state = vm.symbol(state);
    let call = call_of(vm, frame).unwrap_or(Value::NIL);
    let message = if frame.kind == FrameKind::Host { vm.protos.message } else { frame.message };
    let fields = [
        message.into(),
        frame.target.or_nil(),
        frame.locals.or_nil(),
        state,
        parent,
        Value::number(depth as f64),
        call,
    ];
    vm.heap.clone_of(vm.protos.frame, Kind::Frame, Data::Record(fields.into_iter().collect()))
}
