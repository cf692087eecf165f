//! Suspended stacks as plain values: how a coroutine outlives its process. Owns the format; its numbers are part of image
//! files, see `docs/stack-format.md`, and only ever grow.
//!
//! What comes back is hostile: `restore` refuses what no stack can be, without a look at the heap, where the objects that
//! it names need not be loaded yet; `Vm::check_stack` looks at those before the stack runs again.

use super::frame::{Frame, Kind, Native, Phase, Stack, Suspended, frame_flag};
use crate::message;
use crate::primitives::SORT_BY_HELD;
use crate::vm::Vm;
use object::{Data, Handle, Kind as ObjectKind, Value, flag};

/// What a saved stack is called in a file.
pub const NAME: &str = "Coroutine";

/// Of the format below.
const VERSION: u64 = 1;

/// Whether there is a stack.
mod state {
    pub const NOT_BEGUN: u64 = 0;
    pub const SUSPENDED: u64 = 1;
    pub const FINISHED: u64 = 2;
}

/// Fields of a frame; the values that it holds follow.
mod field {
    pub const KIND: usize = 0;
    pub const PHASE: usize = 1;
    pub const STEP: usize = 2;
    pub const FLAGS: usize = 3;
    pub const HELD: usize = 4;
    pub const MESSAGE: usize = 5;
    pub const CALLEE: usize = 6;
    pub const HOLDER: usize = 7;
    pub const BLOCK: usize = 8;
    pub const TARGET: usize = 9;
    pub const START: usize = 10;
    pub const LOCALS: usize = 11;
    pub const COUNT: usize = 12;
}

/// The kind of a chain; a native frame has the number of its `Native`.
const CHAIN: u64 = 0;

mod phase {
    pub const READY: u64 = 0;
    pub const ARGUMENT: u64 = 1;
    pub const RESULT: u64 = 2;
    pub const STEP: u64 = 3;
}

const FLAGS_ALL: u64 = (frame_flag::ACTIVATION | frame_flag::PASSES_STOPS | frame_flag::SINGLE) as u64;

/// Why what was saved cannot be restored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("what was saved is damaged: {0}")]
pub struct Damage(pub(crate) &'static str);

impl Suspended {
    /// A stack that an embedder waits for is not saved: who asked is gone when the process is. Its coroutine is one that
    /// has not begun.
    pub fn save(&self) -> Vec<Value> {
        let number = |number: u64| Value::number(number as f64);
        let stack = self.stack.as_ref().filter(|stack| stack.frames.iter().all(|frame| frame.kind != Kind::Host));
        let Some(stack) = stack else {
            return [VERSION, if self.finished { state::FINISHED } else { state::NOT_BEGUN }].map(number).to_vec();
        };
        let mut values = [VERSION, state::SUSPENDED, stack.depth as u64].map(number).to_vec();
        for (index, frame) in stack.frames.iter().enumerate() {
            let end = stack.frames.get(index + 1).map_or(stack.values.len(), |above| above.base as usize);
            let held = frame.held(&stack.values[frame.base as usize..end]);
            let (kind, (phase, step)) = (kind_number(frame.kind), phase_numbers(frame.phase));
            values.extend([kind, phase, step, frame.flags.into(), held.len() as u64].map(number));
            values.extend([frame.message, frame.callee, frame.holder, frame.block].map(Value::object));
            values.extend([frame.target, frame.start, frame.locals].map(Value::or_nil));
            values.extend(held.iter().map(|value| value.or_nil()));
        }
        values
    }

    pub fn restore(values: &[Value]) -> Result<Suspended, Damage> {
        let mut rest = values;
        if take_number(&mut rest, u64::MAX)? != VERSION {
            return Err(Damage("its version is unknown"));
        }
        let stack = match take_number(&mut rest, u64::MAX)? {
            state::NOT_BEGUN => return Ok(Suspended::default()),
            state::FINISHED => return Ok(Suspended { finished: true, ..Suspended::default() }),
            state::SUSPENDED => restore_stack(rest)?,
            _ => return Err(Damage("its state is unknown")),
        };
        Ok(Suspended { stack: Some(stack), finished: false, is_unchecked: true })
    }
}

impl Frame {
    /// What it still needs of its values: the arguments of what it called are spent.
    fn held<'v>(&self, values: &'v [Value]) -> &'v [Value] {
        match (self.kind, self.phase) {
            (Kind::Chain, Phase::Ready | Phase::Result) => &[],
            (Kind::Native(Native::SortBy), _) => &values[..SORT_BY_HELD.min(values.len())],
            _ => values,
        }
    }
}

fn restore_stack(mut rest: &[Value]) -> Result<Stack, Damage> {
    let depth = take_number(&mut rest, u32::MAX.into())? as usize;
    let mut stack = Stack { depth, ..Stack::default() };
    while !rest.is_empty() {
        let frame = take_frame(&mut rest, &mut stack)?;
        let is_lowest = stack.frames.is_empty();
        if is_lowest != (frame.kind == Kind::Native(Native::Coroutine)) {
            return Err(Damage("a stack stands on the frame of its coroutine, and on that alone"));
        }
        if frame.kind == Kind::Native(Native::UnderWay)
            && let (Some(target), Some(name)) =
                (frame.target.as_handle(), stack.values[frame.base as usize].as_handle())
        {
            stack.under_way.insert((target, name));
        }
        stack.frames.push(frame);
    }
    let activations = stack.frames.iter().filter(|frame| frame.is_activation()).count();
    match stack.frames.is_empty() || activations > depth {
        true => Err(Damage("it is less deep than its frames")),
        false => Ok(stack),
    }
}

fn take_frame(rest: &mut &[Value], stack: &mut Stack) -> Result<Frame, Damage> {
    let fields = rest.split_off(..field::COUNT).ok_or(Damage("a frame is cut off"))?;
    let number = |index: usize, most: u64| number_of(fields[index], most);
    let reference = |index: usize| fields[index].as_handle().ok_or(Damage("a number stands for an object"));
    let kind = match number(field::KIND, u8::MAX.into())? {
        CHAIN => Kind::Chain,
        native => Kind::Native(Native::from_number(native).ok_or(Damage("a frame is of no known kind"))?),
    };
    let held = number(field::HELD, u32::MAX.into())? as usize;
    let step = number(field::STEP, u32::MAX.into())? as u32;
    let phase = match (kind, number(field::PHASE, phase::STEP)?) {
        (Kind::Chain, phase::READY) => Phase::Ready,
        (Kind::Chain, phase::ARGUMENT) => Phase::Argument,
        (Kind::Chain, phase::RESULT) => Phase::Result,
        (Kind::Native(native), phase::STEP) if native.can_be_at(step, held) => Phase::Step(step),
        _ => return Err(Damage("a frame is where it cannot be")),
    };
    if kind == Kind::Chain && (held > 0) != (phase == Phase::Argument) {
        return Err(Damage("a chain holds its target and arguments while it gathers them, and nothing else"));
    }
    let flags = number(field::FLAGS, FLAGS_ALL)? as u8;
    if flags & frame_flag::ACTIVATION != 0 && kind != Kind::Chain {
        return Err(Damage("only a chain is a block's body"));
    }
    let base = stack.values.len() as u32;
    stack.values.extend_from_slice(rest.split_off(..held).ok_or(Damage("a frame's values are cut off"))?);
    let [target, start, locals] = [field::TARGET, field::START, field::LOCALS].map(|index| fields[index]);
    if [target, start, locals].iter().chain(&stack.values[base as usize..]).any(|value| value.is_absent()) {
        return Err(Damage("a value is missing"));
    }
    let [message, callee, holder, block] = [field::MESSAGE, field::CALLEE, field::HOLDER, field::BLOCK].map(reference);
    let [message, callee, holder, block] = [message?, callee?, holder?, block?];
    Ok(Frame { kind, phase, flags, base, message, callee, holder, block, unit: 0, target, start, locals })
}

fn take_number(rest: &mut &[Value], most: u64) -> Result<u64, Damage> {
    number_of(*rest.split_off_first().ok_or(Damage("it is cut off"))?, most)
}

fn number_of(value: Value, most: u64) -> Result<u64, Damage> {
    let number = value.as_number().ok_or(Damage("an object stands for a number"))?;
    let whole = number as u64;
    if whole as f64 == number && whole <= most { Ok(whole) } else { Err(Damage("a number is out of range")) }
}

fn kind_number(kind: Kind) -> u64 {
    match kind {
        Kind::Chain => CHAIN,
        Kind::Native(native) => native as u64,
        Kind::Code | Kind::Host => {
            unreachable!("a stack leaves its code before it is suspended; the host's is not saved")
        }
    }
}

fn phase_numbers(phase: Phase) -> (u64, u64) {
    match phase {
        Phase::Ready => (phase::READY, 0),
        Phase::Argument => (phase::ARGUMENT, 0),
        Phase::Result => (phase::RESULT, 0),
        Phase::Step(step) => (phase::STEP, step.into()),
    }
}

impl Native {
    const ALL: [Native; 21] = [
        Native::If,
        Native::While,
        Native::Loop,
        Native::For,
        Native::Repeat,
        Native::Foreach,
        Native::Try,
        Native::StopStatus,
        Native::LexicalDo,
        Native::EvaluateArguments,
        Native::Write,
        Native::AnswerTarget,
        Native::Coroutine,
        Native::SortBy,
        Native::AtIfAbsentPut,
        Native::AskTexts,
        Native::Interpolate,
        Native::UnderWay,
        Native::Import,
        Native::Transaction,
        Native::World,
    ];

    fn from_number(number: u64) -> Option<Native> {
        Native::ALL.into_iter().find(|&native| native as u64 == number)
    }

    /// Whether such a frame can stand at a step while it holds so many values.
    fn can_be_at(self, step: u32, held: usize) -> bool {
        match self {
            Native::If | Native::Loop | Native::Try | Native::StopStatus | Native::LexicalDo => step == 0 && held == 0,
            Native::AnswerTarget | Native::Coroutine => step == 0 && held == 0,
            Native::AtIfAbsentPut | Native::UnderWay | Native::Import => step == 0 && held == 1,
            Native::While => step <= 1 && held == 1,
            Native::For => step <= 3 && held == 4,
            Native::Repeat => step == 0 && held == 2,
            Native::Foreach => step == 0 && held == 3,
            Native::EvaluateArguments => step == 0 && held >= 2,
            Native::Write => (step as usize) < held,
            Native::SortBy => step == 0 && held == SORT_BY_HELD,
            // Which join it is for, then its arguments.
            Native::AskTexts => step as usize + 1 < held,
            Native::Interpolate => step <= 2 && held == 5,
            // No coroutine is left while it has a level open.
            Native::Transaction | Native::World => false,
        }
    }
}

impl Vm {
    /// Whether the objects that a restored stack names are what its frames take them for. What this process suspended
    /// itself needs no look.
    pub(crate) fn check_stack(&self, coroutine: Handle) -> Result<(), Damage> {
        let suspended = self.heap.foreign::<Suspended>(coroutine).filter(|suspended| suspended.is_unchecked);
        let Some(stack) = suspended.and_then(|suspended| suspended.stack.as_ref()) else { return Ok(()) };
        stack.frames.iter().try_for_each(|frame| self.check_frame(frame, &stack.values[frame.base as usize..]))
    }

    fn check_frame(&self, frame: &Frame, held: &[Value]) -> Result<(), Damage> {
        let record = |handle: Handle, kind: ObjectKind| match self.heap.kind(handle) == kind {
            true => self.heap.record(handle).len(),
            false => 0,
        };
        if record(frame.message, ObjectKind::Message) < message::field::ARGUMENTS {
            return Err(Damage("a frame has no message"));
        }
        if frame.is_activation() && record(frame.block, ObjectKind::Call) < crate::block::call::COUNT {
            return Err(Damage("the body of a block has no call"));
        }
        let is_list = |value: Value| value.as_handle().is_some_and(|handle| self.heap.list(handle).is_some());
        let is_buffer = |value: Value| {
            value
                .as_handle()
                .map(|handle| self.heap.object(handle))
                .is_some_and(|object| matches!(object.data(), Data::Sequence(_)) && !object.has(flag::SYMBOL))
        };
        let is_right = match frame.kind {
            Kind::Native(Native::SortBy) => is_list(held[5]) && is_list(held[6]) && held[5] != held[6],
            Kind::Native(Native::Interpolate) => {
                is_buffer(held[1]) && is_buffer(held[2]) && (!held[4].is_true() || is_buffer(frame.target))
            }
            _ => true,
        };
        if is_right { Ok(()) } else { Err(Damage("a primitive's own values are not what it left")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files name frames by these numbers: one that changes makes every saved coroutine something else.
    #[test]
    fn the_numbers_of_the_format_stay() {
        let names: Vec<String> = Native::ALL.iter().map(|&native| format!("{} {native:?}", native as u8)).collect();
        let pinned = "1 If, 2 While, 3 Loop, 4 For, 5 Repeat, 6 Foreach, 7 Try, 8 StopStatus, 9 LexicalDo, \
                      10 EvaluateArguments, 11 Write, 12 AnswerTarget, 13 Coroutine, 14 SortBy, 15 AtIfAbsentPut, \
                      16 AskTexts, 17 Interpolate, 18 UnderWay, 19 Import, 20 Transaction, 21 World";
        assert_eq!(names.join(", "), pinned);
        assert_eq!([phase::READY, phase::ARGUMENT, phase::RESULT, phase::STEP], [0, 1, 2, 3]);
        assert_eq!([state::NOT_BEGUN, state::SUSPENDED, state::FINISHED], [0, 1, 2]);
        assert_eq!([frame_flag::ACTIVATION, frame_flag::PASSES_STOPS, frame_flag::SINGLE], [1, 2, 4]);
        assert_eq!((VERSION, CHAIN, field::COUNT), (1, 0, 12));
    }
}
