//! `telos repl`: a dialogue with one machine.

mod completion;
mod editor;
mod help;

use super::{advise, end};
use crate::host::Sink;
use crate::options::{Color, MachineOptions};
use crate::report;
use crate::session::{Failure, Session, stop_on_ctrl_c};
use anstyle::{AnsiColor, Style};
use clap::Args;
use completion::Snapshot;
use language::syntax::Incoming;
use language::{Error, Halt};
use reedline::Signal;
use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

/// Explore the language in a dialogue
///
/// Type `help` for help and `exit` to leave. The value of each input is shown, text in quotes. Limits hold for each
/// input anew. When standard input is no terminal, lines are read from it without a prompt; the exit code is that of
/// the last input that failed, if one did.
#[derive(Args, Debug)]
pub struct Repl {
    #[command(flatten)]
    machine: MachineOptions,
}

impl Repl {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let session = Session::new(&self.machine, Sink::Standard);
        let mut dialogue = Dialogue { session, color, count: 0, failed: None };
        stop_on_ctrl_c(&dialogue.session, false);
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let result = if is_terminal { dialogue.edited()? } else { dialogue.plain()? };
        let (is_over, failed) = (result.is_ok(), dialogue.failed);
        let code = end(dialogue.session, result, color);
        // Whoever types sees what failed; a script looks at the exit code.
        Ok(if is_over && !is_terminal { failed.map_or(code, ExitCode::from) } else { code })
    }
}

/// The words of an input, as far as the dialogue itself may be meant: also of `help(List)`, `exit()` and `:help List`.
fn asked_words(input: &str) -> Vec<&str> {
    const NAMES: &[&str] = &["help", "exit", "quit"];
    let words: Vec<&str> = input.split_whitespace().collect();
    if let Some(name) = words.first().and_then(|word| word.strip_prefix(':')).filter(|name| NAMES.contains(name)) {
        return [&[name], &words[1..]].concat();
    }
    let called = NAMES.iter().find_map(|name| {
        let arguments = input.trim().strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
        Some([&[*name], &arguments.split([' ', ',']).filter(|word| !word.is_empty()).collect::<Vec<_>>()[..]].concat())
    });
    called.unwrap_or(words)
}

struct Dialogue {
    session: Session,
    color: Color,
    /// How many inputs there were; each has a label of its own, so that an old one's source is still known.
    count: usize,
    /// The exit code of the last input that failed.
    failed: Option<u8>,
}

/// The dialogue goes on, or it ended like this.
type Next = Result<(), Result<(), Failure>>;

impl Dialogue {
    fn edited(&mut self) -> anyhow::Result<Result<(), Failure>> {
        let snapshot = Arc::new(Mutex::new(Snapshot::default()));
        let mut editor = editor::editor(snapshot.clone(), self.color.on_stdout());
        self.say(&format!("telos {}, the Io language. Type help for help, exit to leave.", env!("CARGO_PKG_VERSION")));
        loop {
            if let Ok(mut snapshot) = snapshot.lock() {
                *snapshot = Snapshot::of(&mut self.session.vm);
            }
            self.session.output.flush();
            match editor.read_line(&editor::IoPrompt)? {
                Signal::Success(input) => {
                    if let Err(result) = self.input(&input) {
                        return Ok(result);
                    }
                }
                Signal::CtrlC => {}
                Signal::CtrlD => return Ok(Ok(())),
                _ => {}
            }
        }
    }

    /// Reads lines without a prompt until the input ends.
    fn plain(&mut self) -> anyhow::Result<Result<(), Failure>> {
        let mut input = Incoming::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let is_at_end = crate::host::standard_input().borrow_mut().read_until(b'\n', &mut line)? == 0;
            let needs_more = input.push(&String::from_utf8_lossy(&line));
            if needs_more && !is_at_end {
                continue;
            }
            if let Err(result) = self.input(&input.take()) {
                return Ok(result);
            }
            if is_at_end {
                return Ok(Ok(()));
            }
        }
    }

    /// Answers one input.
    fn input(&mut self, input: &str) -> Next {
        match asked_words(input)[..] {
            [] => return Ok(()),
            ["exit" | "quit" | ":q"] => return Err(Ok(())),
            // A program may have a slot of that name.
            ["help", ref asked @ ..] if !self.has_slot("help") => {
                let text = help::text(&mut self.session.vm, asked);
                self.say(&text);
                return Ok(());
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
            Ok(text) => self.answer(&text),
            Err(failure @ (Failure::OutputClosed | Failure::OutputFailed(_))) => return Err(Err(failure)),
            Err(failure @ Failure::Program(Error::Halted(Halt::Exit { .. }))) => return Err(Err(failure)),
            Err(failure) => {
                // The terminal has shown ^C where the cursor stood.
                if matches!(failure, Failure::Program(Error::Halted(Halt::Interrupted))) && self.color.on_stdout() {
                    self.say("");
                }
                self.failed = Some(failure.exit_code());
                report::show(&mut self.session, &failure, self.color);
            }
        }
        for failure in self.session.take_unhandled() {
            self.failed = Some(failure.exit_code());
            report::show(&mut self.session, &failure, self.color);
        }
        advise(&mut self.session, input, self.color);
        Ok(())
    }

    fn has_slot(&mut self, name: &str) -> bool {
        let lobby = self.session.vm.lobby();
        self.session.vm.get_slot(lobby, name).is_some()
    }

    fn say(&self, text: &str) {
        self.session.output.write_bytes(text.trim_end().as_bytes());
        self.session.output.write_bytes(b"\n");
    }

    fn answer(&self, text: &str) {
        let style = Style::new().fg_color(Some(AnsiColor::BrightBlack.into()));
        match self.color.on_stdout() {
            true => self.say(&format!("{style}==>{style:#} {text}")),
            false => self.say(&format!("==> {text}")),
        }
    }
}
