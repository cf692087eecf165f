//! Does what an agent asks for: each question becomes a request to the dream, with what is left of the agent's budget.

use super::phrases;
use crate::command::dream::interruption::Interruption;
use crate::command::{RequestOptions, send};
use crate::report;
use dream::agent::{Dreaming, Fault, Question, code};
use keeper::Client;
use keeper::protocol::{Answer, FailureKind, Form, Outcome, Request};
use serde_json::{Value, json};

pub struct Inside {
    pub client: Client,
    pub dream: String,
    /// The limits of each request; `fuel` is that of all together.
    limits: RequestOptions,
    fuel_left: Option<u64>,
    pub fuel_used: u64,
    interruption: Interruption,
    /// Log lines are shown as they come.
    is_telling: bool,
    /// Why the dream can be asked nothing any more.
    pub lost: Option<String>,
}

impl Inside {
    pub fn new(client: Client, dream: String, limits: RequestOptions, is_telling: bool) -> anyhow::Result<Inside> {
        let interruption = Interruption::of(&client)?;
        let fuel_left = limits.fuel;
        Ok(Inside { client, dream, limits, fuel_left, fuel_used: 0, interruption, is_telling, lost: None })
    }

    pub fn interruption(&self) -> Interruption {
        self.interruption.clone()
    }

    /// Whether the dream still goes on; asked while nobody asks anything else.
    pub fn look_after(&mut self) {
        let is_going_on = self.client.status().map(|status| status.dreams.contains(&self.dream));
        match is_going_on {
            Ok(true) => {}
            Ok(false) => self.lost = Some(format!("dream {} is over", self.dream)),
            Err(error) => self.lost = Some(error.to_string()),
        }
    }

    fn ask(&mut self, source: &str, fuel: Option<u64>, timeout_ms: Option<u64>) -> Result<Value, Fault> {
        if self.fuel_left == Some(0) {
            return Err(Fault::new(code::USED_UP, "there is no fuel left"));
        }
        let written = self.limits.request(source, "agent", Form::Json);
        let request = Request {
            dream: Some(self.dream.clone()),
            fuel: least(fuel, self.fuel_left),
            timeout_ms: least(timeout_ms, written.timeout_ms),
            ..written
        };
        let answer = self.send(&request)?;
        // One that does not say what it used may have used all.
        let used = answer.fuel_used.or(request.fuel).unwrap_or(0);
        self.fuel_used = self.fuel_used.saturating_add(used);
        self.fuel_left = self.fuel_left.map(|left| left.saturating_sub(used));
        self.judged(&answer)
    }

    fn send(&mut self, request: &Request) -> Result<Answer, Fault> {
        let over = || Fault::new(code::OVER, "the dream is over");
        if self.lost.is_some() {
            return Err(over());
        }
        match self.interruption.send(&mut self.client, request) {
            Ok(answer) => answer.ok_or_else(over),
            Err(error) => {
                self.lost = Some(error.to_string());
                Err(over())
            }
        }
    }

    /// As `telos send --json` has it; only whether something was changed is known outside, not as which commit.
    fn judged(&mut self, answer: &Answer) -> Result<Value, Fault> {
        let mut object = send::json_of(answer);
        if let Some(fields) = object.as_object_mut() {
            fields.remove("commit");
            fields.insert("changed".into(), json!(answer.commit.is_some()));
        }
        let Outcome::Failure(failure) = &answer.outcome else { return Ok(object) };
        if failure.kind == FailureKind::Lost {
            self.lost = Some(failure.message.clone());
            return Err(Fault::new(code::OVER, failure.message.clone()));
        }
        let mut data = object["error"].take();
        data["output"] = object["output"].take();
        data["fuel"] = object["fuel"].take();
        Err(Fault { code: code::FAILED, message: failure.message.clone(), data: Some(data) })
    }
}

impl Dreaming for Inside {
    fn answer(&mut self, question: Question) -> Result<Value, Fault> {
        let phrase = match question {
            Question::Eval { source, fuel, timeout_ms } => return self.ask(&source, fuel, timeout_ms),
            Question::Get { path } => phrases::get(&path),
            Question::Set { path, source } => phrases::set(&path, &source),
            Question::List { path } => phrases::slots(&path),
            Question::Tests => phrases::tests(),
            Question::Rejections { path } => phrases::rejections(&path),
            // The conversation answers these itself.
            Question::Log { .. } | Question::Done { .. } => return Ok(json!(true)),
        };
        self.ask(&phrase, None, None).map(|mut object| object["value"].take())
    }

    fn logged(&mut self, text: &str) {
        if self.is_telling {
            report::say(&format!("agent: {}", report::harmless(text)));
        }
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}
