//! A dialogue with an image: each input is a request, to the keeper if the image is up, else to the image itself, which
//! this process has opened for as long as it lasts. What was typed is kept here, for reports; all else is the image's.

use super::line::{Opened, Remote};
use super::{Partner, Snapshot, answer_line, asked_words};
use crate::answer::{exit_code_of, render};
use crate::command::RequestOptions;
use crate::command::allowance::Allowance;
use crate::options::{Color, MachineOptions, has_files};
use crate::report;
use keeper::KeeperError;
use keeper::protocol::{Answer, Command, FailureKind, Form, Outcome, Request, Shown};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// Where requests go.
pub trait Line {
    fn ask(&mut self, request: &Request) -> Result<Answer, KeeperError>;
    /// Version and directory.
    fn greeting(&self) -> (String, String);
    /// Nothing more is asked.
    fn close(self: Box<Self>) -> Result<(), String>;
}

pub struct Attached {
    line: Box<dyn Line>,
    options: RequestOptions,
    color: Color,
    count: usize,
    /// The exit code of the last input that failed.
    pub failed: Option<u8>,
}

impl Attached {
    pub fn connect(
        directory: &Path,
        machine: &MachineOptions,
        allowance: &Allowance,
        color: Color,
    ) -> anyhow::Result<Attached> {
        let line: Box<dyn Line> = match Remote::connect(directory) {
            Ok(mut remote) => {
                let is_confining = machine.no_host || !machine.deny.is_empty() || machine.depth.is_some();
                anyhow::ensure!(
                    !is_confining,
                    "--no-host, --deny and --depth are for the whole image: give them to `telos up`"
                );
                allowance.show_to(&mut remote.client)?;
                Box::new(remote)
            }
            Err(KeeperError::NotUp(_)) if has_files(directory) => {
                // Before the image is there, of which copies are made.
                let is_allowed = allowance.is_shown_for(directory)?;
                Box::new(Opened::open(directory, machine, is_allowed)?)
            }
            Err(error) => return Err(error.into()),
        };
        let (fuel, memory, timeout) = (machine.fuel, machine.memory, machine.timeout);
        let options = RequestOptions { fuel, memory, timeout, ..RequestOptions::default() };
        Ok(Attached { line, options, color, count: 0, failed: None })
    }

    /// Ends the dialogue; an image that was opened for it is closed.
    pub fn close(self) -> anyhow::Result<()> {
        self.line.close().map_err(anyhow::Error::msg)
    }

    /// The text that a command is answered with.
    fn text(&mut self, command: Command) -> Result<String, KeeperError> {
        match self.line.ask(&Request::new(command))?.outcome {
            Outcome::Value(Shown { text, .. }) => Ok(text),
            Outcome::Failure(failure) => Err(KeeperError::Refused(failure.message)),
        }
    }

    fn show(&mut self, answer: &Answer, own: (&str, &str)) -> ControlFlow<anyhow::Result<u8>> {
        self.write(&answer.output);
        let code = exit_code_of(&answer.outcome);
        match &answer.outcome {
            Outcome::Value(shown) => self.say(&answer_line(&shown.text, self.color)),
            Outcome::Failure(failure) if failure.kind == FailureKind::Exit => return ControlFlow::Break(Ok(code)),
            Outcome::Failure(failure) => {
                self.failed = Some(code);
                self.flush();
                report::say(&render(failure, own, self.color.on_stderr()));
            }
        }
        ControlFlow::Continue(())
    }

    fn write(&self, text: &str) {
        // If nobody reads any more, the next line that is read says so.
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
}

impl Partner for Attached {
    type End = anyhow::Result<u8>;

    fn greeting(&self) -> String {
        let (version, directory) = self.line.greeting();
        format!("telos {version}, the image in {directory}. Type help for help, exit to leave.")
    }

    fn snapshot(&mut self) -> Snapshot {
        let names = self.text(Command::Names).ok();
        names.as_deref().and_then(Snapshot::from_json).unwrap_or_default()
    }

    fn input(&mut self, input: &str) -> ControlFlow<Self::End> {
        match asked_words(input)[..] {
            [] => return ControlFlow::Continue(()),
            ["exit" | "quit" | ":q"] => return ControlFlow::Break(Ok(0)),
            ["help", ref asked @ ..] => {
                let words = asked.iter().map(|word| word.to_string()).collect();
                return match self.text(Command::Help(words)) {
                    Ok(text) => {
                        self.say(&text);
                        ControlFlow::Continue(())
                    }
                    Err(error) => ControlFlow::Break(Err(error.into())),
                };
            }
            _ => {}
        }
        self.count += 1;
        let label = format!("input {}", self.count);
        match self.line.ask(&self.options.request(input, &label, Form::Shown)) {
            Ok(answer) => self.show(&answer, (&label, input)),
            Err(error) => ControlFlow::Break(Err(error.into())),
        }
    }

    fn leave(&mut self) -> Self::End {
        Ok(0)
    }

    fn say(&self, text: &str) {
        self.write(&format!("{}\n", text.trim_end()));
    }

    fn flush(&self) {
        let _ = std::io::stdout().flush();
    }
}
