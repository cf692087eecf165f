//! Activation: calling blocks and primitives with their arguments at hand. Owns how locals and calls are made.

use super::frame::{Frame, Kind as FrameKind, frame_flag};
use crate::block::{Activation, call, field};
use crate::message;
use crate::primitives::{Args, Eagerness};
use crate::signal::{Outcome, Signal, Stop};
use crate::vm::Vm;
use object::{Data, Handle, Kind, Value};

impl Vm {
    /// Calls a primitive or block whose arguments are on the value stack.
    #[inline]
    pub(crate) fn call_with_arguments(&mut self, callee: Handle, args: Args) -> Outcome {
        match self.heap.object(callee).data() {
            Data::Primitive(index) => {
                let function = self.primitives[*index as usize].function.clone();
                function.call(self, args)
            }
            Data::Record(_) if self.heap.kind(callee) == Kind::Block => self.activate_block(callee, args),
            _ => Err(self.raise("only a Block or a CFunction that does something can be called")),
        }
    }

    /// Pushes the frame of a block's body with fresh locals.
    pub(crate) fn activate_block(&mut self, block: Handle, args: Args) -> Outcome {
        if !self.heap.record(block)[field::PASSES_STOPS].is_true()
            && self.tank.gives_credit()
            && let Some(unit) = self.unit_worth_having(block)
        {
            return self.activate_code(unit, block, args);
        }
        if self.stack.depth >= self.limits.depth {
            return Err(self.raise_too_deep());
        }
        let record = self.heap.record(block);
        let (body, scope, passes_stops) = (record[field::MESSAGE], record[field::SCOPE], record[field::PASSES_STOPS]);
        let names_count = record.len() - field::ARGUMENT_NAMES;
        let self_value = if scope.is_nil() { args.target } else { scope };
        let call_object = self.new_call(args.activation(block), args.locals);
        let locals = self.heap.clone_of(self.protos.locals, Kind::Locals, Data::None);
        self.heap.set_slot(locals, self.names.self_, self_value);
        self.heap.set_slot(locals, self.names.call, Value::object(call_object));
        for index in 0..names_count {
            let name = self.heap.record(block)[field::ARGUMENT_NAMES + index];
            let value = if index < args.count { self.stack.values[args.at + index] } else { Value::NIL };
            self.heap.set_slot(locals, name.as_handle().unwrap_or(self.names.empty), value);
        }
        let Some(body) = body.as_handle().filter(|_| !body.is_nil()) else { return Ok(Value::NIL) };
        let locals = Value::object(locals);
        let mut frame = Frame::chain(body, locals, locals, self.stack.values.len());
        frame.block = call_object;
        frame.flags = frame_flag::ACTIVATION | if passes_stops.is_true() { frame_flag::PASSES_STOPS } else { 0 };
        self.stack.frames.push(frame);
        self.stack.depth += 1;
        Err(Signal::Entered)
    }

    /// Pushes the frame of a block's code, with its arguments as its first registers.
    fn activate_code(&mut self, unit: u32, block: Handle, args: Args) -> Outcome {
        let taken = self.units.get(unit).map_or(0, |unit| unit.argument_count).min(args.count);
        // Code finds the answer of code in the register before the callee's first.
        let at = self.waiting_register().map_or(self.stack.values.len(), |register| register + 1);
        self.stack.values.reach(at + 1 + taken);
        self.stack.values[at] = args.target;
        self.stack.values.copy_within(args.at..args.at + taken, at + 1);
        match self.enter_unit(unit, args.activation(block), at, taken) {
            Some(outcome) => outcome,
            None => Err(Signal::Entered),
        }
    }

    /// The call of an activation; an absent sender is found when somebody asks.
    pub(crate) fn new_call(&mut self, activation: Activation, sender: Value) -> Handle {
        let mut fields = [Value::NIL; call::COUNT];
        fields[call::SENDER] = sender;
        fields[call::TARGET] = activation.target;
        fields[call::MESSAGE] = Value::object(activation.message);
        // A block that was called without a sender has it for its target and for its slot's holder.
        let holder = if activation.target.is_absent() { Value::ABSENT } else { Value::object(activation.holder) };
        fields[call::SLOT_CONTEXT] = holder;
        fields[call::ACTIVATED] = Value::object(activation.block);
        fields[call::COROUTINE] = Value::object(self.current);
        fields[call::STOP_STATUS] = Value::object(self.protos.normal);
        self.heap.clone_of(self.protos.call, Kind::Call, Data::Record(fields.into_iter().collect()))
    }

    /// An activation ended with a value; its call may have been told to hand a stop on.
    #[inline]
    pub(crate) fn end_activation(&mut self, frame: &Frame, value: Value) -> Outcome {
        if frame.kind == FrameKind::Code {
            return Ok(value);
        }
        let status = self.heap.record(frame.block).get(call::STOP_STATUS);
        match status.and_then(|&status| self.stop_of(status)) {
            None => Ok(value),
            Some(stop) => Err(Signal::Stop(stop, value)),
        }
    }

    /// The stop that a status object names.
    #[inline]
    pub(crate) fn stop_of(&self, status: Value) -> Option<Stop> {
        let handle = status.as_handle()?;
        let protos = &self.protos;
        if handle == protos.normal {
            return None;
        }
        [
            (protos.return_, Stop::Return),
            (protos.break_, Stop::Break),
            (protos.continue_, Stop::Continue),
            (protos.end_of_line, Stop::EndOfLine),
        ]
        .into_iter()
        .find(|(proto, _)| *proto == handle)
        .map(|(_, stop)| stop)
    }

    pub(crate) fn status_of(&self, stop: Option<Stop>) -> Value {
        Value::object(match stop {
            None => self.protos.normal,
            Some(Stop::Break) => self.protos.break_,
            Some(Stop::Continue) => self.protos.continue_,
            Some(Stop::Return) => self.protos.return_,
            Some(Stop::EndOfLine) => self.protos.end_of_line,
        })
    }

    /// Sends a message with values for arguments; the answer goes to the frame now on top.
    pub(crate) fn send_values(&mut self, target: Value, name: Handle, values: &[Value], locals: Value) -> Outcome {
        let message = self.message_with_values(name, values);
        self.push_chain(message, target, locals);
        Err(Signal::Entered)
    }

    /// A message whose arguments are already evaluated.
    pub(crate) fn message_with_values(&mut self, name: Handle, values: &[Value]) -> Handle {
        let arguments: Vec<Handle> = values.iter().map(|&value| self.literal_message(value)).collect();
        let label = Value::object(self.names.label_none);
        let parts = message::Parts { name, literal: Value::ABSENT, label, line: 0, column: 0 };
        message::allocate(&mut self.heap, self.protos.message, parts, &arguments, Value::NIL)
    }

    /// A message that stands for a value.
    pub(crate) fn literal_message(&mut self, value: Value) -> Handle {
        self.literal_named(value, self.names.empty)
    }

    pub(crate) fn literal_named(&mut self, value: Value, name: Handle) -> Handle {
        let label = Value::object(self.names.label_none);
        let parts = message::Parts { name, literal: value, label, line: 0, column: 0 };
        message::allocate(&mut self.heap, self.protos.message, parts, &[], Value::NIL)
    }

    /// Activates any value as if it had been found in a slot, with values for arguments.
    pub(crate) fn activate_with_values(
        &mut self,
        callee: Handle,
        target: Value,
        values: &[Value],
        locals: Value,
    ) -> Outcome {
        let name = self.names.call;
        let message = self.message_with_values(name, values);
        let at = self.stack.values.len();
        let holder = self.handle_of(target);
        let lazy = match self.heap.object(callee).data() {
            Data::Primitive(index) => matches!(self.primitives[*index as usize].eagerness, Eagerness::Lazy),
            _ => false,
        };
        if lazy {
            return self.call_with_arguments(callee, Args { target, at, count: 0, message, locals, holder });
        }
        self.stack.values.extend_from_slice(values);
        let args = Args { target, at, count: values.len(), message, locals, holder };
        self.call_with_arguments(callee, args)
    }
}
