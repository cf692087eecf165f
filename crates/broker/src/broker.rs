//! Decides who answers a call, and writes down what was answered.

use crate::call::{Answer, Call, Capability, Way, all_calls};
use crate::caller::{Caller, Dream};
use crate::command;
use crate::error::Refusal;
use crate::files;
use crate::house::House;
use crate::http::Http;
use crate::later;
use crate::places::Places;
use crate::policy::Policy;
use crate::record::Record;
use crate::small;
use crate::stop::Stop;
use crate::value::Value;
use sandbox::Backend;
use sandbox::process::Process;
use std::fs::File;

/// Each may take as much memory as a sandbox of theirs has.
const SIBLINGS_MAX: usize = 8;

/// Any number of threads may ask at once.
pub struct Broker {
    house: House,
    http: Http,
    siblings: Box<dyn Backend>,
    sibling_places: Places,
    record: Option<Record>,
}

impl Broker {
    /// With a file to record into, each call and its answer become a line of it.
    pub fn new(house: House, record: Option<File>) -> Broker {
        let http = Http::new(&house);
        Broker {
            house,
            http,
            siblings: Box::new(Process::new()),
            sibling_places: Places::new(SIBLINGS_MAX, "commands of dreams"),
            record: record.map(Record::new),
        }
    }

    /// Never panics and never waits without end, except for a command of the live image, which `stop` ends.
    pub fn answer(&self, caller: &Caller, call: &Call, stop: &Stop) -> Answer {
        let answer = self.scrubbed(self.decide(caller, call, stop));
        if let Some(record) = &self.record {
            // Where a command ran and with which variables is nothing that a dream would ask again.
            let asked = if Capability::of(&call.name) == Some(Capability::Commands) { 1 } else { call.arguments.len() };
            let arguments =
                call.arguments.iter().take(asked).cloned().map(|value| self.scrubbed_value(value)).collect();
            let call = Call { name: call.name.clone(), arguments, key: call.key.clone() };
            record.write(caller.name(), call, answer.clone());
        }
        answer
    }

    /// Why the recording does not have all that was answered, if so.
    pub fn recording_problem(&self) -> Option<String> {
        self.record.as_ref().and_then(Record::problem)
    }

    fn decide(&self, caller: &Caller, call: &Call, stop: &Stop) -> Answer {
        let Some(capability) = Capability::of(&call.name) else {
            let name: String = call.name.chars().take(64).flat_map(char::escape_debug).collect();
            return Answer::failed(format!("there is no call `{name}`; there are {}", all_calls()));
        };
        let redirected = |dream| match self.redirect(dream, capability, call, stop) {
            Ok(values) => Answer { way: Way::Redirected, values },
            Err(Refusal::Blocked(why)) => Answer::blocked(format!("blocked: {why}")),
            Err(Refusal::Failed(why)) => Answer::failed(why),
        };
        let Some(dream) = caller.as_dream() else { return redirected(None) };
        let ruling = dream.policies.ruling(capability);
        let name = capability.name();
        match ruling.policy {
            Policy::Own => Answer::blocked(format!(
                "blocked: this dream's policy for {name} is `own`, which its own process answers and nobody outside; \
                 begin it with --net-policy"
            )),
            Policy::Blocked => Answer::blocked(format!(
                "blocked: this dream's policy for {name} is `blocked`; begin it with --net-policy"
            )),
            Policy::Simulated => dream.script.play(capability, &ruling.answers, call),
            Policy::Later => self.defer(dream, capability, call),
            Policy::Redirected => redirected(Some(dream)),
        }
    }

    /// Answers in the place of the world, which is asked when the dream is merged. What could not be asked then is not promised.
    fn defer(&self, dream: &Dream, capability: Capability, call: &Call) -> Answer {
        let ruling = dream.policies.ruling(capability);
        if !later::is_effect(call) {
            return dream.script.play(capability, &ruling.answers, call);
        }
        if capability == Capability::Http
            && let Err(refusal) = self.http.check(&self.house, dream.hosts.as_deref(), call)
        {
            return match refusal {
                Refusal::Blocked(why) => Answer::blocked(format!("blocked: {why}")),
                Refusal::Failed(why) => Answer::failed(why),
            };
        }
        match dream.script.find(capability, &ruling.answers, call) {
            Some(Answer { way: Way::Simulated, values }) => Answer { way: Way::Deferred, values },
            Some(failed) => failed,
            None => later::promise(capability),
        }
    }

    /// Asks the world outside; for the live image if there is no dream.
    fn redirect(
        &self,
        dream: Option<&Dream>,
        capability: Capability,
        call: &Call,
        stop: &Stop,
    ) -> Result<Vec<Value>, Refusal> {
        if stop.is_stopped() {
            return Err(Refusal::failed(format!("`{}` was stopped", call.name)));
        }
        match (capability, dream) {
            (Capability::Http, dream) => {
                self.http.request(&self.house, dream.and_then(|dream| dream.hosts.as_deref()), call, stop)
            }
            (Capability::Commands, None) => command::live(call, stop),
            (Capability::Commands, Some(_)) => {
                let _place = self.sibling_places.take()?;
                command::sibling(&*self.siblings, call, stop)
            }
            (Capability::Files, None) => files::live(call),
            (Capability::Files, Some(_)) => files::beneath(&self.house, call),
            (Capability::Environment, _) => small::variable(&self.house, call),
            (Capability::Clock, _) => small::now(call),
            (Capability::Randomness, _) => small::random(call),
        }
    }

    fn scrubbed(&self, answer: Answer) -> Answer {
        let values = answer.values.into_iter().map(|value| self.scrubbed_value(value)).collect();
        Answer { way: answer.way, values }
    }

    fn scrubbed_value(&self, value: Value) -> Value {
        match value {
            Value::Text(text) => Value::Text(self.house.secrets.scrub_text(text)),
            Value::Bytes(bytes) => Value::Bytes(self.house.secrets.scrub(bytes)),
            Value::Nil | Value::Number(_) => value,
        }
    }
}
