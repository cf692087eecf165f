//! A dialogue with a machine of its own, which ends with it.

use super::{Partner, Snapshot, answer_line, asked_words, help};
use crate::command::advise;
use crate::host::Sink;
use crate::options::{Color, MachineOptions};
use crate::report;
use crate::session::{Failure, Session, stop_on_ctrl_c};
use language::{Error, Halt};
use std::ops::ControlFlow;

pub struct Dialogue {
    pub session: Session,
    color: Color,
    /// How many inputs there were; each has a label of its own, so that an old one's source is still known.
    count: usize,
    /// The exit code of the last input that failed.
    pub failed: Option<u8>,
}

impl Dialogue {
    pub fn new(machine: &MachineOptions, color: Color) -> Dialogue {
        let session = Session::new(machine, Sink::Standard);
        stop_on_ctrl_c(&session, false);
        Dialogue { session, color, count: 0, failed: None }
    }

    fn has_slot(&mut self, name: &str) -> bool {
        let lobby = self.session.vm.lobby();
        self.session.vm.get_slot(lobby, name).is_some()
    }

    /// Says why an input failed, or ends the dialogue if it cannot go on.
    fn fail(&mut self, failure: Failure) -> ControlFlow<Result<(), Failure>> {
        match failure {
            Failure::OutputClosed | Failure::OutputFailed(_) | Failure::Program(Error::Halted(Halt::Exit { .. })) => {
                return ControlFlow::Break(Err(failure));
            }
            // The terminal has shown ^C where the cursor stood.
            Failure::Program(Error::Halted(Halt::Interrupted)) if self.color.on_stdout() => self.say(""),
            _ => {}
        }
        self.failed = Some(failure.exit_code());
        report::show(&mut self.session, &failure, self.color);
        ControlFlow::Continue(())
    }
}

impl Partner for Dialogue {
    type End = Result<(), Failure>;

    fn greeting(&self) -> String {
        format!("telos {}, the Io language. Type help for help, exit to leave.", env!("CARGO_PKG_VERSION"))
    }

    fn snapshot(&mut self) -> Snapshot {
        Snapshot::of(&mut self.session.vm)
    }

    fn input(&mut self, input: &str) -> ControlFlow<Self::End> {
        match asked_words(input)[..] {
            [] => return ControlFlow::Continue(()),
            ["exit" | "quit" | ":q"] => return ControlFlow::Break(Ok(())),
            // A program may have a slot of that name.
            ["help", ref asked @ ..] if !self.has_slot("help") => {
                let text = help::text(&mut self.session.vm, asked);
                self.say(&text);
                return ControlFlow::Continue(());
            }
            _ => {}
        }
        self.count += 1;
        self.session.refill();
        let label = format!("input {}", self.count);
        let result = self.session.evaluate(input, &label).and_then(|value| {
            self.session.vm.retain(value);
            let text = self.session.shown(value);
            self.session.vm.release(value);
            text
        });
        match result {
            Ok(text) => self.say(&answer_line(&text, self.color)),
            Err(failure) => self.fail(failure)?,
        }
        for failure in self.session.take_unhandled() {
            self.failed = Some(failure.exit_code());
            report::show(&mut self.session, &failure, self.color);
        }
        advise(&mut self.session, input, self.color);
        ControlFlow::Continue(())
    }

    fn leave(&mut self) -> Self::End {
        Ok(())
    }

    fn say(&self, text: &str) {
        self.session.output.write_bytes(text.trim_end().as_bytes());
        self.session.output.write_bytes(b"\n");
    }

    fn flush(&self) {
        self.session.output.flush();
    }
}
