//! Running compiled code: what the loop hands out is done here, and the loop goes on.

use super::Unit;
use super::execute::Exit;
use super::instruction::Instruction;
use crate::machine::frame::{Kind, Phase};
use crate::signal::Outcome;
use crate::vm::Vm;
use object::Value;
use std::rc::Rc;

impl Vm {
    /// Goes on with the code frame on top until a frame beneath that is no code is to have a value.
    pub(crate) fn run_code(&mut self) -> Outcome {
        // The last of the fuel is used up message by message in the tree: code leaves where that can go on.
        if !self.tank.gives_credit() && matches!(self.top().phase, Phase::Step(0)) {
            return self.leave_unpaid();
        }
        loop {
            let exit = self.execute();
            // What is owed is paid before anybody can look.
            if self.tank.slice < 0
                && !matches!(exit, Exit::Fuel)
                && let Err(signal) = self.refuel_for(0)
            {
                return Err(signal);
            }
            let outcome = match exit {
                Exit::Return(value) => Some(Ok(value)),
                Exit::Fuel => self.refuel_code(),
                Exit::Safepoint => self.safepoint().err().map(Err),
                exit => self.help_code(exit),
            };
            if let Some(outcome) = outcome {
                return outcome;
            }
        }
    }

    /// Does what the instruction just taken needs.
    fn help_code(&mut self, exit: Exit) -> Option<Outcome> {
        let instruction = self.instruction_taken();
        match exit {
            Exit::Call => self.call_from_code(instruction).or_else(|| self.leave_without_credit(instruction)),
            Exit::Send => self.send_from_code(instruction).or_else(|| self.leave_without_credit(instruction)),
            Exit::Invoke => self.invoke_from_code(instruction).or_else(|| self.leave_without_credit(instruction)),
            Exit::Find => self.find_from_code(instruction),
            Exit::Write => self.write_from_code(instruction),
            Exit::Update => self.update_from_code(instruction),
            Exit::Bind => self.bind_from_code(instruction),
            Exit::Guard => self.guard_from_code(instruction),
            Exit::Deep => self.look_at_depth(),
            Exit::Surprise => Some(self.leave_surprised()),
            _ => Some(self.leave_code()),
        }
    }

    fn instruction_taken(&mut self) -> Instruction {
        let frame = self.top();
        let (Phase::Step(place), id) = (frame.phase, frame.unit) else { unreachable!("a code frame is at a step") };
        self.units.get(id).expect("a frame's unit lives as long as it").code[place as usize - 1]
    }

    /// The unit of the code frame on top.
    pub(super) fn running_unit(&mut self) -> Rc<Unit> {
        let id = self.top().unit;
        self.units.get(id).expect("a frame's unit lives as long as it").clone()
    }

    /// Gives the code frame on top the answer it waits for.
    #[inline]
    pub(crate) fn accept(&mut self, value: Value) {
        let Some(index) = self.waiting_register() else { return };
        self.stack.values.reach(index + 1);
        self.stack.values[index] = value;
    }

    /// Where on the value stack the frame on top waits for an answer, if it is code.
    #[inline]
    pub(crate) fn waiting_register(&mut self) -> Option<usize> {
        let frame = *self.top();
        let (Kind::Code, Phase::Step(place)) = (frame.kind, frame.phase) else { return None };
        let unit = self.units.get(frame.unit).expect("a frame's unit lives as long as it");
        Some(frame.base as usize + unit.code[place as usize - 1].a as usize)
    }

    /// What was called may have used up what code needs to go on.
    fn leave_without_credit(&mut self, instruction: Instruction) -> Option<Outcome> {
        let frame = *self.top();
        if self.tank.gives_credit() || frame.kind != Kind::Code {
            return None;
        }
        if matches!(frame.phase, Phase::Step(0)) {
            return Some(self.leave_unpaid());
        }
        let answer = self.stack.values[frame.base as usize + instruction.a as usize];
        self.leave_waiting();
        Some(Ok(answer))
    }

    /// The next slice.
    fn refuel_code(&mut self) -> Option<Outcome> {
        let before = self.tank.slice;
        match self.refuel_for(0) {
            Ok(()) if !self.tank.gives_credit() || self.tank.slice == before => Some(self.leave_unpaid()),
            Ok(()) if self.units.stressed => {
                let outcome = self.leave_unpaid();
                self.leave_recent();
                Some(outcome)
            }
            Ok(()) => None,
            Err(signal) => Some(Err(signal)),
        }
    }

    /// Too deep, or just deep enough to look at the memory that stacks take; then the call is made after all.
    fn look_at_depth(&mut self) -> Option<Outcome> {
        if self.stack.depth >= self.limits.depth {
            return Some(Err(self.raise_too_deep()));
        }
        self.stack.looked();
        self.step_back();
        self.safepoint().err().map(Err)
    }
}
