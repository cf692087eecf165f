//! `telos dream run`: a script or an agent in a dream of its own, from its beginning to what it changed.

use super::agent::{Agent, AgentOptions};
use super::begin::{BeginOptions, OrderOptions};
use super::interruption::Interruption;
use super::merge::MergeTerms;
use super::merging::{Merging, Wish};
use super::{connect, tell};
use crate::answer::exit_code_of;
use crate::command::allowance::{self, Allowance};
use crate::command::refusal::refusal;
use crate::command::{RequestOptions, print, send};
use crate::options::{Color, ImageDirectory};
use crate::{report, source};
use anyhow::{Context, ensure};
use clap::Args;
use keeper::Client;
use keeper::protocol::{Answer, Command, DreamBegun, DreamOrder, FailureKind, Form, Outcome, Request, Rung};
use keeper::token::Token;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

/// A step of the ladder of isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RungName {
    /// the language alone, in the image process: quickest, and for Io code that needs nothing of the host
    World,
    /// a sealed process
    Process,
}

const NOTHING_TO_RUN: &str = "\
error: there is nothing to run: give a FILE, a source with -e, or a command with --command

For more information, try '--help'.";

const TERMS_OF_NOTHING: &str = "\
error: --policy, --only and --test say how to merge, and nothing is to be merged: give --merge too

For more information, try '--help'.";

const AGENT_IN_WORLD: &str = "\
error: an agent is given a dream of its own process: leave --rung world away

For more information, try '--help'.";

/// As clap ends with it.
pub const WRONG_USAGE: u8 = 2;

const RUN_EXAMPLES: &str = "\
Examples:
  telos dream run --image garden mend.io
  telos dream run --image garden -e 'Garden := Object clone do(trees := 3)'
  telos dream run --image garden --keep --mandate 'mend the gate' mend.io
  telos dream run --image garden --merge mend.io
  telos dream run --image garden --merge --mandate 'mend the gate' \\
      --file mend.py --command python3 mend.py

An agent is a program that speaks JSON-RPC 2.0, one object a line, over its
standard input and output: eval, get, set, list, tests, rejections, log, done.
Standard error is its log, TELOS_MANDATE its mandate. It is sealed as by telos
exec.
With it, --fuel is for all that it evaluates, --timeout and --memory for each,
and --lifetime ends both.

Exit codes:
    0   the script came to a value, or the agent said done and ended with 0
    1   an exception; or the agent did not say done, or was not started
    2   wrong usage
  122   out of fuel
  123   it had more memory than it may
  124   the time of the script, or of the dream, was up
  130   Ctrl-C
 else   the code of System exit, or of the agent, as telos exec tells it

With --merge what came to its end well is judged then:
    0   merged, or it changed nothing
    3   rejected: telos rejections has the reasons; or the image is locked
    4   merged, and conflicts are open: telos conflicts has them
    1   not judged, for the script or the agent failed; 122 to 130 as above
  124   the time of the judgement was up: nothing is merged
  130   Ctrl-C while it was judged: nothing is merged";

/// Run a script or an agent in a dream, and show what it changed
///
/// Forks the image, seals the copy, runs the script there as one transaction, or gives the dream to a command; ends the
/// dream, and shows its journal. The live image goes on meanwhile and is not changed.
#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    directory: ImageDirectory,

    #[command(flatten)]
    order: OrderOptions,

    #[command(flatten)]
    begin: BeginOptions,

    #[command(flatten)]
    limits: RequestOptions,

    /// What keeps it in
    #[arg(long, value_name = "RUNG", default_value = "process")]
    rung: RungName,

    /// The same, or more, where that is needed for what is asked
    #[arg(long, value_name = "RUNG", conflicts_with = "rung")]
    at_least: Option<RungName>,

    #[command(flatten)]
    agent: AgentOptions,

    /// When it is over, judge it and merge it, as telos dream merge does
    #[arg(long)]
    merge: bool,

    #[command(flatten)]
    terms: MergeTerms,

    #[command(flatten)]
    allowance: Allowance,

    /// Print a JSON object with the dream's name, what the script or the agent came to, and its changes
    #[arg(long)]
    json: bool,

    /// Run this source
    #[arg(short, long, value_name = "SOURCE", conflicts_with = "file")]
    expression: Option<String>,

    /// A file of Io source, - for standard input
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<String>,
}

impl Run {
    pub fn run(self, color: Color) -> anyhow::Result<ExitCode> {
        if self.terms.is_asked() && !self.merge {
            report::say(TERMS_OF_NOTHING);
            return Ok(ExitCode::from(WRONG_USAGE));
        }
        let has_agent = !self.agent.command.is_empty();
        if has_agent && self.at_least.is_none() && self.rung == RungName::World {
            report::say(AGENT_IN_WORLD);
            return Ok(ExitCode::from(WRONG_USAGE));
        }
        ensure!(
            !(has_agent && self.allowance.is_named()),
            "no agent is given the token; merge its dream when it is over"
        );
        ensure!(self.merge || !self.allowance.is_named(), "--token-file is for the merge: give --merge too");
        let takes_input = self.file.as_deref() == Some("-") && self.allowance.takes_input();
        ensure!(!takes_input, "standard input cannot be both the script and the token");
        if has_agent {
            let words: Vec<_> = self.agent.command.iter().map(|word| word.to_string_lossy()).collect();
            let mut dream = self.dream_order(words.join(" "))?;
            let job = self.agent.job(&mut dream)?;
            self.warn_of_words_for_the_agent();
            let agent = Agent { job, dream, wish: self.wish(), is_json: self.json };
            return agent.run(connect(&self.directory)?, color);
        }
        self.agent.check_unused()?;
        let (label, text) = match (&self.expression, &self.file) {
            (Some(source), _) => ("dream".to_string(), source.clone()),
            (None, Some(file)) => (file.clone(), source::read(file, None)?.unwrap_or_default()),
            (None, None) => {
                report::say(NOTHING_TO_RUN);
                return Ok(ExitCode::from(WRONG_USAGE));
            }
        };
        // Whoever has none where one is named is told before the script runs, and not after.
        let token = if self.merge { self.allowance.token()? } else { None };
        let client = connect(&self.directory)?;
        let interruption = Interruption::of(&client)?.at_ctrl_c();
        let asking = Asking { client, interruption, token, label, text };
        let mut ran = match self.rung_to_take() {
            RungName::World => self.run_in_world(asking)?,
            RungName::Process => self.run_in_process(asking)?,
        };
        self.show(&mut ran, color)
    }

    /// The lowest that is enough.
    fn rung_to_take(&self) -> RungName {
        match self.at_least {
            Some(RungName::World) if self.order.needs_process() || self.begin.is_asked() => RungName::Process,
            Some(rung) => rung,
            None => self.rung,
        }
    }

    fn dream_order(&self, agent: String) -> anyhow::Result<DreamOrder> {
        self.begin.complete(self.order.order(agent)?)
    }

    /// All of it for a program, as much as fits for a person.
    fn page(&self, client: &mut Client, dream: &str) -> anyhow::Result<Value> {
        if self.json { tell::whole_page(client, dream) } else { tell::page(client, dream) }
    }

    fn form(&self) -> Form {
        if self.json { Form::Json } else { Form::Text }
    }

    fn run_in_process(&self, mut asking: Asking) -> anyhow::Result<Ran> {
        let order = DreamOrder { is_for_one: true, ..self.dream_order(asking.label.clone())? };
        let Some((begun, _)) = asking.begin(&Request::new(Command::Dream(Box::new(order))))? else {
            return asking.interrupted(None);
        };
        let request = self.limits.request(&asking.text, &asking.label, self.form());
        let request = Request { dream: Some(begun.dream.clone()), ..request };
        let answer = asking.interruption.send(&mut asking.client, &request)?;
        let wake = Request { dream: Some(begun.dream.clone()), ..Request::new(Command::Wake) };
        // The answer is that it is over, in one way or another; then all of it is written down.
        asking.client.send(&wake)?;
        let page = self.page(&mut asking.client, &begun.dream)?;
        match answer {
            Some(mut answer) => {
                explain(&mut answer, &page);
                Ok(Ran { asking, answer, page: Some(page) })
            }
            None => asking.interrupted(Some(page)),
        }
    }

    fn run_in_world(&self, mut asking: Asking) -> anyhow::Result<Ran> {
        let source = Some(asking.text.clone());
        let order = DreamOrder { rung: Rung::World, source, ..self.dream_order(asking.label.clone())? };
        let limits = self.limits.request("", &asking.label, self.form());
        // It lives as long as its one request, on the live machine.
        let lifetime = self.order.lifetime.map(|time| time.as_millis() as u64);
        let timeout_ms = limits.timeout_ms.into_iter().chain(lifetime).min();
        let request = Request { command: Command::Dream(Box::new(order)), timeout_ms, ..limits };
        let Some((DreamBegun { dream, outcome, .. }, output)) = asking.begin(&request)? else {
            return asking.interrupted(None);
        };
        let mut outcome = outcome.context("the image does not say what came of it")?;
        if let (Outcome::Failure(failure), Some(time)) = (&mut outcome, timeout_ms)
            && failure.kind == FailureKind::Interrupted
            && !asking.interruption.is_over()
        {
            failure.kind = FailureKind::Timeout;
            failure.message = format!("timed out after {} s", Duration::from_millis(time).as_secs_f64());
        }
        let page = self.page(&mut asking.client, &dream)?;
        Ok(Ran { asking, answer: Answer { output, ..Answer::new(outcome) }, page: Some(page) })
    }

    fn wish(&self) -> Wish<'_> {
        Wish { is_wanted: self.merge, terms: &self.terms, options: &self.limits }
    }

    /// All that follows `--command` is the agent's, and somebody may have meant it for us.
    fn warn_of_words_for_the_agent(&self) {
        let has = |word: &str| self.agent.command.iter().any(|given| given == word);
        if !self.merge && has("--merge") {
            report::say(
                "warning: --merge is the agent's, for it stands behind --command; options of telos stand before",
            );
        }
    }

    fn show(&self, ran: &mut Ran, color: Color) -> anyhow::Result<ExitCode> {
        let own = exit_code_of(&ran.answer.outcome);
        if !self.json {
            send::print(&ran.answer, (&ran.asking.label, &ran.asking.text), color)?;
            if let Some(page) = &ran.page {
                tell::print_changes(page, false, color)?;
            }
        }
        // That may take a while: a person has seen by now what it is about.
        let merging = self.merged(ran);
        let Ran { answer, page, .. } = ran;
        let name = page.as_ref().map(|page| &page["dream"]);
        if self.json {
            let mut told = json!({ "dream": name, "answer": send::json_of(answer), "journal": page });
            merging.add_to(&mut told);
            print(&format!("{told}\n"))?;
        } else {
            merging.print(name.and_then(Value::as_str), self.order.keep)?;
        }
        Ok(ExitCode::from(merging.exit_code(own)))
    }

    /// What a script did that failed is not merged.
    fn merged(&self, Ran { asking, answer, page }: &mut Ran) -> Merging {
        let name = page.as_ref().and_then(|page| page["dream"].as_str());
        let against = match &answer.outcome {
            Outcome::Value(_) => None,
            Outcome::Failure(failure) if failure.kind == FailureKind::Exit => {
                Some("the script ended itself before it came to its end".to_string())
            }
            Outcome::Failure(failure) => Some(format!("the script failed: {}", failure.message)),
        };
        if self.merge
            && against.is_none()
            && let Some(token) = &asking.token
            && let Err(error) = allowance::show(token, &mut asking.client)
        {
            return Merging::Failed(error);
        }
        self.wish().fulfil(&mut asking.client, &asking.interruption, name, against)
    }
}

/// What is asked, and by which line.
struct Asking {
    client: Client,
    interruption: Interruption,
    /// For the merge.
    token: Option<Token>,
    label: String,
    text: String,
}

/// What came of it; no page if there was no dream.
struct Ran {
    asking: Asking,
    answer: Answer,
    page: Option<Value>,
}

impl Asking {
    /// Begins a dream, unless somebody interrupts that; with what it wrote, if it is over already.
    fn begin(&mut self, request: &Request) -> anyhow::Result<Option<(DreamBegun, String)>> {
        let Some(answer) = self.interruption.send(&mut self.client, request)? else { return Ok(None) };
        match answer.outcome {
            Outcome::Value(shown) => Ok(Some((serde_json::from_str(&shown.text)?, answer.output))),
            Outcome::Failure(failure) if failure.kind == FailureKind::Interrupted => Ok(None),
            Outcome::Failure(failure) => Err(refusal(failure)),
        }
    }

    fn interrupted(self, page: Option<Value>) -> anyhow::Result<Ran> {
        let answer = Answer::failed(FailureKind::Interrupted, "interrupted before the script began");
        Ok(Ran { asking: self, answer, page })
    }
}

/// The keeper knows only that a dream is over; what is kept of it says why.
fn explain(answer: &mut Answer, page: &Value) {
    let Outcome::Failure(failure) = &mut answer.outcome else { return };
    let reason = page["reason"].as_str().filter(|reason| !reason.is_empty());
    let (FailureKind::Lost, Some(reason)) = (failure.kind, reason) else { return };
    failure.message = format!("dream {} was ended: {reason}", page["dream"].as_str().unwrap_or_default());
    let (kind, hint) = match page["limit"].as_str() {
        Some("time" | "cpu") => (FailureKind::Timeout, "--lifetime TIME allows more"),
        Some("memory") => (FailureKind::Memory, "--room SIZE allows more"),
        _ => return,
    };
    failure.kind = kind;
    failure.hint = Some(hint.into());
}
