//! A dialogue with an image that is up: each input is a request. What was typed is kept here, for reports; all else is
//! the image's.

use super::{Partner, Snapshot, answer_line, asked_words};
use crate::answer::{exit_code_of, render};
use crate::command::RequestOptions;
use crate::options::{Color, MachineOptions};
use crate::report;
use keeper::protocol::{Answer, Command, FailureKind, Form, Outcome, Request, Shown};
use keeper::{Client, KeeperError};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// No request has this id.
const NONE: u64 = 0;

pub struct Attached {
    client: Client,
    options: RequestOptions,
    color: Color,
    count: usize,
    /// The request that is under way, for Ctrl-C.
    current: Arc<AtomicU64>,
    /// The exit code of the last input that failed.
    pub failed: Option<u8>,
}

impl Attached {
    pub fn connect(directory: &Path, machine: &MachineOptions, color: Color) -> anyhow::Result<Attached> {
        let is_confining = machine.no_host || !machine.deny.is_empty() || machine.depth.is_some();
        anyhow::ensure!(
            !is_confining,
            "--no-host, --deny and --depth are for the whole image: give them to `telos up`"
        );
        let client = Client::connect(directory, concat!("telos repl ", env!("CARGO_PKG_VERSION")))?;
        let (fuel, memory, timeout) = (machine.fuel, machine.memory, machine.timeout);
        let options = RequestOptions { fuel, memory, timeout, ..RequestOptions::default() };
        let current = Arc::new(AtomicU64::new(NONE));
        let (canceller, under_way) = (client.canceller()?, current.clone());
        // Without a handler Ctrl-C leaves the dialogue, which stops the request as well.
        let _ = ctrlc::set_handler(move || {
            let id = under_way.load(Ordering::SeqCst);
            if id != NONE {
                let _ = canceller.cancel(id);
            }
        });
        Ok(Attached { client, options, color, count: 0, current, failed: None })
    }

    fn ask(&mut self, request: &Request) -> Result<Answer, KeeperError> {
        let id = self.client.post(request)?;
        self.current.store(id, Ordering::SeqCst);
        let answer = self.client.flush().and_then(|()| self.client.wait(id));
        self.current.store(NONE, Ordering::SeqCst);
        answer
    }

    /// The text that a command is answered with.
    fn text(&mut self, command: Command) -> Result<String, KeeperError> {
        match self.ask(&Request::new(command))?.outcome {
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
        let welcome = self.client.welcome();
        format!("telos {}, the image in {}. Type help for help, exit to leave.", welcome.telos, welcome.directory)
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
        match self.ask(&self.options.request(input, &label, Form::Shown)) {
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
