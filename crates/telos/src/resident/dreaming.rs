//! What a dreamer does: answers as the live image would, tells its journal first, and says why it failed.

use super::Resident;
use crate::host::outside::Line;
use keeper::protocol::{Answer, Command, Failure, FailureKind, Outcome, Request};
use keeper::{Begun, Living, Outside, Watch};
use object::change::Operation;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

/// A resident behind walls: it is asked as the live one is, and tells its journal before it answers.
pub struct Dreaming<'r> {
    pub resident: &'r mut Resident,
    pub journal: dream::Journaling,
    pub is_for_one: bool,
    /// The exit code that it ends with.
    pub code: &'r Cell<i32>,
}

/// The exit code of a dreamer whose program failed.
const FAILED: i32 = 1;

impl Dreaming<'_> {
    /// Evaluates what it was begun for, and says what came of it on its standard output.
    pub fn do_alone(&mut self, request: &Request) -> i32 {
        let begun = self.begin(&Request { label: "dream".into(), ..request.clone() });
        let answer = match begun {
            Begun::Done { answer, .. } | Begun::Last(Some(answer)) => answer,
            Begun::Apart(_) | Begun::Aside(_) | Begun::Later(_) | Begun::Last(None) => return FAILED,
        };
        self.conclude(&answer)
    }

    /// Says why it failed, if it did; gives the exit code.
    fn conclude(&self, answer: &Answer) -> i32 {
        let Outcome::Failure(failure) = &answer.outcome else { return 0 };
        if failure.kind == FailureKind::Exit && failure.exit_code == Some(0) {
            return 0;
        }
        say(&format!("{}\n", words_of(failure)));
        FAILED
    }

    pub fn lead_to(&mut self, outside: Outside) {
        self.resident.outside.iter().for_each(|line| line.lead_to(outside.clone()));
    }

    /// Tells the journal of these; gives the exit code.
    pub fn tell_calls(&mut self, calls: Vec<Operation>) -> i32 {
        let told = match self.resident.image.note_calls(calls) {
            Ok(_) => self.tell_journal(),
            Err(error) => Err(Failure::new(FailureKind::Storage, error.to_string())),
        };
        told.map_or_else(|failure| self.give_up(&failure.message), |()| 0)
    }

    /// Says why there is nothing to tell; gives the exit code.
    pub fn give_up(&self, why: &str) -> i32 {
        say(&format!("{}\n", why.replace('\n', " ")));
        FAILED
    }

    fn tell_journal(&mut self) -> Result<(), Failure> {
        let calls = self.resident.outside.as_ref().map(Line::take_noted).unwrap_or_default();
        let noted = self.resident.image.note_calls(calls);
        noted.map_err(|error| Failure::new(FailureKind::Storage, error.to_string()))?;
        for payload in self.resident.image.store().take_journal() {
            self.journal.tell(&payload).map_err(|error| Failure::new(FailureKind::Storage, error.to_string()))?;
        }
        Ok(())
    }
}

impl Living for Dreaming<'_> {
    fn begin(&mut self, request: &Request) -> Begun {
        match &request.command {
            Command::Wake => return Begun::Last(None),
            // Those are about files that are not here.
            Command::Info | Command::Check | Command::Backup(_) => {
                let refused = Answer::failed(FailureKind::Refused, "a dream has no files; ask the live image");
                return Begun::Done { answer: refused, wait: None };
            }
            _ => {}
        }
        let begun = self.resident.begin(request);
        match self.tell_journal() {
            Ok(()) => {
                self.resident.desk.begin_inside();
                let Begun::Done { answer, .. } = &begun else { return begun };
                // Beside the answer: what it said is written down with it.
                say(&answer.output);
                match (self.is_for_one && matches!(request.command, Command::Evaluate(_)), begun) {
                    (true, Begun::Done { answer, .. }) => {
                        self.code.set(self.conclude(&answer));
                        Begun::Last(Some(answer))
                    }
                    (_, begun) => begun,
                }
            }
            // What is not written down did not happen, and cannot be taken back here.
            Err(failure) => Begun::Last(Some(Answer::new(Outcome::Failure(failure)))),
        }
    }

    fn turn(&mut self) -> Option<Duration> {
        let next = self.resident.turn();
        if self.tell_journal().is_err() {
            system::clone::leave(1);
        }
        self.resident.desk.begin_inside();
        next
    }

    fn watch(&self) -> Arc<dyn Watch> {
        self.resident.watch()
    }

    fn close(self) -> Result<(), String> {
        Ok(())
    }
}

/// To the standard output. Not through the library's own, whose lock another thread may have held when this copy was made.
pub fn say(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        match rustix::io::write(rustix::stdio::stdout(), rest) {
            Ok(written) => rest = &rest[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Why a program failed, in one line. Who stopped it knows whether that was because of its time.
pub fn words_of(failure: &Failure) -> String {
    match failure.kind {
        FailureKind::Interrupted => "it was interrupted, or its time was up".into(),
        FailureKind::Exit => format!("it ended with code {}", failure.exit_code.unwrap_or(0)),
        _ => failure.message.replace('\n', " "),
    }
}
