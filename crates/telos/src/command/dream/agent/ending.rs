//! How an agent ended: status, exit code, last words, JSON, and its line in the log of runs.

use super::job::Job;
use super::talk::Talk;
use crate::command::dream::merging::Wish;
use crate::command::dream::tell;
use crate::command::exec::{result, signals};
use crate::command::print;
use crate::options::Color;
use crate::report;
use crate::runs::{self, described};
use crate::session::exit_code;
use sandbox::{Outcome, Verdict};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

pub struct Ending {
    pub talk: Talk,
    pub outcome: Outcome,
    /// With which somebody ended it, 0 if nobody did.
    pub signal: usize,
    /// The dream's time was up.
    pub is_late: bool,
    /// It wrote more than could wait.
    pub is_flooded: bool,
    /// What it wrote to standard error, if that was kept.
    pub errors: String,
    /// Of all that it wrote to standard output and standard error.
    pub digests: [String; 2],
}

/// What was to become of it.
pub struct Asked<'a> {
    pub dream: &'a str,
    /// What its dream came to.
    pub page: Value,
    pub job: &'a Job,
    pub wish: Wish<'a>,
    pub is_kept: bool,
    pub is_json: bool,
}

impl Ending {
    pub fn finish(mut self, asked: Asked<'_>, color: Color) -> anyhow::Result<ExitCode> {
        let Asked { dream, page, job, wish, is_kept, is_json } = asked;
        self.record(dream, job);
        let not_kept = job.keeping.as_ref().and_then(|keeping| keeping.write().err());
        let failure = self.failure();
        let code = self.exit_code(failure.is_some());
        let own = if not_kept.is_some() { result::exit_code::REFUSED } else { code };
        if !is_json {
            self.tell(failure.as_deref(), &page, color)?;
        }
        let against = self.against_merging(failure.as_deref(), code);
        let mut interruption = self.talk.inside.interruption();
        if wish.is_wanted && against.is_none() {
            signals::end_on_signals();
            interruption = interruption.at_ctrl_c();
        }
        // That may take a while: a person has seen by now what it is about.
        let merging = wish.fulfil(&mut self.talk.inside.client, &interruption, Some(dream), against);
        if is_json {
            let mut told = json!({ "dream": dream, "agent": self.to_json(failure), "journal": page });
            merging.add_to(&mut told);
            print(&format!("{told}\n"))?;
        } else {
            merging.print(Some(dream), is_kept)?;
        }
        if let Some(error) = not_kept {
            report::say(&format!("error: {}", report::with_causes(&error)));
        }
        Ok(ExitCode::from(merging.exit_code(own)))
    }

    /// For a person: how it ended, and what it changed.
    fn tell(&self, failure: Option<&str>, page: &Value, color: Color) -> anyhow::Result<()> {
        let words = match (failure, self.talk.session.summary().unwrap_or_default()) {
            (Some(why), _) => format!("telos: the agent failed: {why}"),
            (None, "") => "telos: the agent is done".to_string(),
            (None, summary) => format!("telos: the agent is done: {summary}"),
        };
        report::say(&report::harmless(&words));
        result::refused_calls(&self.outcome.calls).iter().for_each(|words| report::say(&report::harmless(words)));
        tell::print_changes(page, false, color).map(drop)
    }

    fn to_json(&self, failure: Option<String>) -> Value {
        let mut agent = self.talk.facts();
        agent["status"] = json!(if failure.is_some() { "failed" } else { "done" });
        agent["reason"] = json!(failure);
        agent["stderr"] = json!(self.errors);
        for (name, value) in described::ended(&self.outcome) {
            agent[name] = value;
        }
        agent
    }

    /// Only what an agent called done, and ended well after, is even judged: whoever is unsure of its own work gets nobody else to
    /// look at it.
    fn against_merging(&self, failure: Option<&str>, code: u8) -> Option<String> {
        match failure {
            Some(why) => Some(format!("the agent failed: {why}")),
            None if self.signal != 0 => Some("it was interrupted".to_string()),
            None if self.outcome.verdict == Verdict::Stopped => {
                Some("the agent said done, and had to be ended, for it did not end by itself".to_string())
            }
            None if code != 0 => Some(format!("the agent said done, and ended with exit code {code}")),
            None => None,
        }
    }

    /// Why it did not do what it was to do; none if it said that it is done.
    fn failure(&self) -> Option<String> {
        if self.talk.session.summary().is_some() {
            return None;
        }
        let why = match &self.outcome.verdict {
            _ if self.signal != 0 => "it was interrupted".to_string(),
            _ if self.is_late => "the time of its dream was up".to_string(),
            _ if self.is_flooded => "it wrote more requests than may wait, and read no answers".to_string(),
            verdict => match (&self.talk.ended_for, verdict) {
                (Some(why), _) => why.clone(),
                (None, Verdict::Exited(code)) => format!("it ended without saying done (exit code {code})"),
                (None, Verdict::Signalled(signal)) => format!("signal {signal} ended it before it said done"),
                (None, Verdict::Limited(limit)) => {
                    format!("it used more {} than it may", format!("{limit:?}").to_lowercase())
                }
                (None, Verdict::Stopped) => "it was stopped".to_string(),
            },
        };
        Some(why)
    }

    /// That of the command, as far as it has one that says something.
    fn exit_code(&self, is_failed: bool) -> u8 {
        let own = result::exit_code_of(&self.outcome.verdict);
        match (self.signal, is_failed) {
            (signal, _) if signal != 0 => result::exit_code::SIGNALLED.saturating_add(signal as u8),
            // One that is done and stays is ended by us.
            (_, false) if self.outcome.verdict == Verdict::Stopped => 0,
            (_, false) => own,
            (_, true) if self.is_late => exit_code::TIMEOUT,
            (_, true) if own == 0 || self.outcome.verdict == Verdict::Stopped => exit_code::EXCEPTION,
            (_, true) => own,
        }
    }

    fn record(&self, dream: &str, job: &Job) {
        let mut fields = described::ended(&self.outcome);
        fields.extend(described::calls(&self.outcome.calls, runs::LIST_LENGTH_MAX));
        let [output, errors] = &self.digests;
        fields.insert("digest".into(), json!({ "stdout": output, "stderr": errors }));
        record(dream, job, fields);
    }
}

/// One that was not run is written down as well.
pub fn record_refusal(dream: &str, job: &Job, error: &anyhow::Error) {
    let fields = [("verdict", json!("refused")), ("error", json!(report::with_causes(error)))];
    record(dream, job, fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect());
}

fn record(dream: &str, job: &Job, fields: Map<String, Value>) {
    let mut record = described::asked(&job.order);
    record.extend(fields);
    record.insert("dream".into(), json!(dream));
    if let Err(error) = runs::record(record) {
        report::say(&format!("warning: this run was not recorded: {}", report::with_causes(&error)));
    }
}
