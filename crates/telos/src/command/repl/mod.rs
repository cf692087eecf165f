//! `telos repl`: a dialogue, with a machine of its own or with an image. Owns how lines become inputs.

mod attached;
mod completion;
mod dialogue;
mod editor;
mod help;
mod line;

pub use completion::Snapshot;

use super::allowance::Allowance;
use super::end;
use crate::options::{Color, ImageDirectory, MachineOptions};
use anstyle::{AnsiColor, Style};
use attached::Attached;
use clap::Args;
use dialogue::Dialogue;
use language::syntax::Incoming;
use reedline::Signal;
use std::io::{BufRead, IsTerminal};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

const EXAMPLES: &str = "\
Examples:
  telos repl                       explore the language
  telos repl --image garden        talk to the image in ./garden";

/// Explore the language in a dialogue, or talk to an image
///
/// Type `help` for help and `exit` to leave. The value of each input is shown, text in quotes. Limits hold for each
/// input anew. When standard input is no terminal, lines are read from it without a prompt; the exit code is that of
/// the last input that failed, if one did. With an image, named by --image or $TELOS_IMAGE or lying in this directory,
/// each input is a transaction in it; if it is not up, it is opened for as long as the dialogue lasts. With a person's
/// token, each input may change what is locked.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Repl {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    machine: MachineOptions,

    #[command(flatten)]
    allowance: Allowance,
}

impl Repl {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        anyhow::ensure!(
            is_terminal || !self.allowance.takes_input(),
            "standard input cannot be both the dialogue and the token"
        );
        if let Some(directory) = self.directory.meant() {
            let mut attached = Attached::connect(&directory, &self.machine, &self.allowance, color)?;
            let ended = converse(&mut attached, color, is_terminal);
            let failed = attached.failed;
            attached.close()?;
            let code = ended??;
            return Ok(ExitCode::from(if is_terminal { code } else { failed.unwrap_or(code) }));
        }
        let mut dialogue = Dialogue::new(&self.machine, color);
        let result = converse(&mut dialogue, color, is_terminal)?;
        let (is_over, failed) = (result.is_ok(), dialogue.failed);
        let code = end(dialogue.session, result, color);
        // Whoever types sees what failed; a script looks at the exit code.
        Ok(if is_over && !is_terminal { failed.map_or(code, ExitCode::from) } else { code })
    }
}

/// The words of an input, as far as the dialogue itself may be meant: also of `help(List)`, `exit()` and `:help List`.
pub fn asked_words(input: &str) -> Vec<&str> {
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

/// What `help` and the words after it say.
pub fn help_text(vm: &mut language::Vm, words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    help::text(vm, &words)
}

/// Whoever answers the inputs.
trait Partner {
    /// How a dialogue ends.
    type End;

    fn greeting(&self) -> String;
    /// The names to complete from.
    fn snapshot(&mut self) -> Snapshot;
    /// Answers one input.
    fn input(&mut self, input: &str) -> ControlFlow<Self::End>;
    /// Nothing more was typed.
    fn leave(&mut self) -> Self::End;
    fn say(&self, text: &str);
    fn flush(&self);
}

fn converse<P: Partner>(partner: &mut P, color: Color, is_terminal: bool) -> anyhow::Result<P::End> {
    if is_terminal { edited(partner, color) } else { plain(partner) }
}

fn edited<P: Partner>(partner: &mut P, color: Color) -> anyhow::Result<P::End> {
    let snapshot = Arc::new(Mutex::new(Snapshot::default()));
    let mut editor = editor::editor(snapshot.clone(), color.on_stdout());
    partner.say(&partner.greeting());
    loop {
        if let Ok(mut snapshot) = snapshot.lock() {
            *snapshot = partner.snapshot();
        }
        partner.flush();
        match editor.read_line(&editor::IoPrompt)? {
            Signal::Success(input) => {
                if let ControlFlow::Break(end) = partner.input(&input) {
                    return Ok(end);
                }
            }
            Signal::CtrlC => {}
            Signal::CtrlD => return Ok(partner.leave()),
            _ => {}
        }
    }
}

/// Reads lines without a prompt until the input ends.
fn plain<P: Partner>(partner: &mut P) -> anyhow::Result<P::End> {
    let mut input = Incoming::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let is_at_end = crate::host::standard_input().borrow_mut().read_until(b'\n', &mut line)? == 0;
        let needs_more = input.push(&String::from_utf8_lossy(&line));
        if needs_more && !is_at_end {
            continue;
        }
        if let ControlFlow::Break(end) = partner.input(&input.take()) {
            return Ok(end);
        }
        if is_at_end {
            return Ok(partner.leave());
        }
    }
}

/// A value as it is shown.
fn answer_line(text: &str, color: Color) -> String {
    let style = Style::new().fg_color(Some(AnsiColor::BrightBlack.into()));
    match color.on_stdout() {
        true => format!("{style}==>{style:#} {text}"),
        false => format!("==> {text}"),
    }
}
