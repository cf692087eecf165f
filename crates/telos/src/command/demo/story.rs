//! How the cycle is told: steps with their commands, shown to a person as they happen, or to a program as one object each.

use super::act::{Actor, Ran, Stop, milliseconds};
use super::page::{BOLD, DIM, INDENT, Page, colored};
use super::stage::Stage;
use super::traffic::{Counts, Traffic};
use crate::{highlight, report};
use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

pub struct Story {
    pub page: Page,
    pub is_json: bool,
    pub actor: Actor,
    pub stage: Stage,
    pub traffic: Option<Traffic>,
    /// When it began.
    pub start: Instant,
    step: Step,
}

/// What is told at the moment.
#[derive(Default)]
struct Step {
    number: usize,
    name: &'static str,
    title: &'static str,
    commands: Vec<Ran>,
    facts: Map<String, Value>,
}

impl Story {
    pub fn new(page: Page, is_json: bool, actor: Actor, stage: Stage) -> Story {
        Story { page, is_json, actor, stage, traffic: None, start: Instant::now(), step: Step::default() }
    }

    /// One step: what it is about, what happens, and whether that is what must happen.
    pub fn step(
        &mut self,
        (name, title): (&'static str, &'static str),
        words: &str,
        happens: impl FnOnce(&mut Story) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let number = self.step.number + 1;
        self.step = Step { number, name, title, ..Step::default() };
        if !self.is_json {
            self.page.styled(colored(AnsiColor::BrightBlue).bold(), &format!("\n{number}. {title}\n"));
            self.page.words(Style::new(), words);
            self.page.plain("\n");
        }
        let begun = Instant::now();
        let happened = happens(self);
        if self.is_json {
            let why = match &happened {
                Err(Stop::Wrong(why)) => Some(why.as_str()),
                Err(Stop::Interrupted(_)) => Some("interrupted"),
                Err(Stop::Unread) | Ok(()) => None,
            };
            let told = self.step.to_json(begun.elapsed(), why);
            self.page.plain(&format!("{told}\n"));
        }
        self.page.output.flush();
        happened?;
        match self.page.output.take_failure() {
            Some(_) => Err(Stop::Unread),
            None => self.actor.check_signals(),
        }
    }

    /// Where in the story it is, for whoever hears that it went wrong.
    pub fn place(&self) -> String {
        format!("step {}, {:?}", self.step.number, self.step.title)
    }

    /// A command, and what it came to.
    pub fn command(&mut self, words: &[&str]) -> Result<Ran, Stop> {
        self.command_with(words, None)
    }

    pub fn command_with(&mut self, words: &[&str], input: Option<&str>) -> Result<Ran, Stop> {
        self.typed(&Actor::typed(words, input));
        let ran = self.actor.run(words, input)?;
        self.told(&ran);
        Ok(ran)
    }

    /// What stands behind the prompt. It is never broken, so that it can be copied.
    pub fn typed(&mut self, command: &str) {
        if !self.is_json {
            self.page.styled(DIM, &format!("{INDENT}$ "));
            self.page.styled(BOLD, &report::harmless(command));
            self.page.plain("\n");
            self.page.output.flush();
        }
    }

    /// What a command printed, how it ended, and how long it took.
    pub fn told(&mut self, ran: &Ran) {
        self.step.commands.push(ran.clone());
        if self.is_json {
            return;
        }
        for text in [&ran.output, &ran.errors] {
            self.page.quoted(style_of, &report::harmless(text));
        }
        let code = match ran.code {
            Some(0) => String::new(),
            Some(code) => format!("exit code {code}, "),
            None => "ended by a signal, ".to_string(),
        };
        self.page.styled(DIM, &format!("{INDENT}╰ {code}{}\n", spoken(ran.time)));
    }

    /// A word of the guide between commands.
    pub fn note(&mut self, text: &str) {
        if !self.is_json {
            self.page.words(colored(AnsiColor::Cyan), text);
        }
    }

    /// Source that a command is about.
    pub fn source(&mut self, source: &str) {
        for line in source.lines().filter(|_| !self.is_json) {
            let shown = if self.page.is_colored { highlight::colored(line) } else { line.to_string() };
            self.page.plain(&format!("{INDENT}  {shown}\n"));
        }
    }

    /// Something that a program is told beside the commands.
    pub fn fact(&mut self, name: &str, value: Value) {
        self.step.facts.insert(name.into(), value);
    }

    pub fn requests(&self) -> Result<&Traffic, Stop> {
        self.traffic.as_ref().ok_or_else(|| Stop::Wrong("nobody calls the image".into()))
    }

    /// None of the requests that go on all the while may have failed.
    pub fn check_requests(&self) -> Result<Counts, Stop> {
        let counts = self.requests()?.so_far();
        match &counts.failure {
            Some(why) => Err(Stop::Wrong(format!("{} requests failed, the first with: {why}", counts.failed))),
            None => Ok(counts),
        }
    }
}

impl Step {
    fn to_json(&self, time: Duration, why: Option<&str>) -> Value {
        let mut told = json!({
            "step": self.number,
            "name": self.name,
            "title": self.title,
            "passed": why.is_none(),
            "reason": why,
            "time_ms": milliseconds(time),
            "commands": self.commands.iter().map(Ran::to_json).collect::<Vec<_>>(),
        });
        for (name, value) in &self.facts {
            told[name] = value.clone();
        }
        told
    }
}

/// Times as people compare them.
pub fn spoken(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// What is good news, and what is not.
fn style_of(line: &str) -> Style {
    let line = line.trim_start();
    let is_any = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if line.starts_with("+ ") || is_any(&[" passed ", "is merged", "nothing speaks against", "is resolved"]) {
        colored(AnsiColor::Green)
    } else if line.starts_with("- ")
        || is_any(&[" failed ", " is rejected", "error: ", "fails, and did not", "not granted"])
    {
        colored(AnsiColor::Red)
    } else {
        Style::new()
    }
}
