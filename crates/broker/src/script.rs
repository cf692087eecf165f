//! Scripted and recorded answers, and how they are played.

use crate::call::{Answer, Call, Capability, Way};
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Of an argument, no more than this is shown in a message.
const SHOWN_CHARACTERS: usize = 80;

/// The answer to every call that fits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Scripted {
    pub name: String,
    /// If a call has more arguments than stand here, the rest may be anything.
    #[serde(default)]
    pub arguments: Vec<Pattern>,
    #[serde(default)]
    pub values: Vec<Value>,
    /// Given, the call fails with this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What an argument may be.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "an argument is a value, { any = true } or { starts = \"text\" }")]
pub enum Pattern {
    /// `{ any = true }`
    Any {
        any: bool,
    },
    /// `{ starts = "text" }`
    Starts {
        starts: String,
    },
    Exactly(Value),
}

impl Pattern {
    fn fits(&self, value: &Value) -> bool {
        match self {
            Pattern::Any { any } => *any,
            Pattern::Starts { starts } => value.as_bytes().is_some_and(|bytes| bytes.starts_with(starts.as_bytes())),
            Pattern::Exactly(own) => own.means(value),
        }
    }
}

impl Scripted {
    fn fits(&self, call: &Call) -> bool {
        let fits_each = || self.arguments.iter().zip(&call.arguments).all(|(pattern, value)| pattern.fits(value));
        self.name == call.name && self.arguments.len() <= call.arguments.len() && fits_each()
    }

    fn answer(&self) -> Answer {
        match &self.error {
            Some(message) => Answer::failed(message),
            None => Answer { way: Way::Simulated, values: self.values.clone() },
        }
    }
}

/// Which answers have been given.
#[derive(Default)]
pub(crate) struct Script {
    /// By capability, for each has a list of its own.
    given: Mutex<HashSet<(Capability, usize)>>,
}

impl Script {
    /// Those that fit are given one after the other, the last again and again.
    pub fn play(&self, capability: Capability, answers: &[Scripted], call: &Call) -> Answer {
        self.find(capability, answers, call).unwrap_or_else(|| {
            Answer::failed(format!(
                "no answer is scripted for {}: add one to the policy file, or a line to the recording that it names",
                shown(call)
            ))
        })
    }

    /// The same, if there is one.
    pub fn find(&self, capability: Capability, answers: &[Scripted], call: &Call) -> Option<Answer> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = None;
        for (number, scripted) in answers.iter().enumerate().filter(|(_, scripted)| scripted.fits(call)) {
            last = Some(scripted);
            if given.insert((capability, number)) {
                break;
            }
        }
        last.map(Scripted::answer)
    }
}

/// A call in one line, shortened.
fn shown(call: &Call) -> String {
    let argument = |value: &Value| {
        let text = serde_json::to_string(value).unwrap_or_default();
        let mut characters = text.chars();
        let start: String = characters.by_ref().take(SHOWN_CHARACTERS).collect();
        if characters.next().is_some() { format!("{start}…") } else { start }
    };
    let arguments: Vec<String> = call.arguments.iter().take(8).map(argument).collect();
    format!("`{}` with arguments [{}]", call.name, arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripted(json: &str) -> Vec<Scripted> {
        serde_json::from_str(json).unwrap()
    }

    fn played(script: &Script, answers: &[Scripted], arguments: &[&str]) -> Answer {
        script.play(
            Capability::Files,
            answers,
            &Call::new("File.read", arguments.iter().map(|text| Value::text(*text))),
        )
    }

    #[test]
    fn answers_that_fit_are_given_in_turn_and_the_last_again_and_again() {
        let answers = scripted(
            r#"[{"name":"File.read","arguments":["a"],"values":[1]},{"name":"File.read","arguments":["b"],"values":[9]},
                {"name":"File.read","arguments":["a"],"values":[2]}]"#,
        );
        let script = Script::default();
        let numbers = ["a", "a", "b", "a", "b"].map(|path| played(&script, &answers, &[path]).values);
        assert_eq!(numbers, [1.0, 2.0, 9.0, 2.0, 9.0].map(|number| vec![Value::Number(number)]));
    }

    #[test]
    fn patterns_fit_what_they_say() {
        for (pattern, value, fits) in [
            (r#"{"any":true}"#, Value::Nil, true),
            (r#"{"starts":"ab"}"#, Value::Bytes(b"abc".to_vec()), true),
            (r#"{"starts":"ab"}"#, Value::text("ba"), false),
            (r#"{"starts":""}"#, Value::Nil, false),
            (r#""abc""#, Value::Bytes(b"abc".to_vec()), true),
            (r#"{"bytes":"abc"}"#, Value::text("abc"), true),
            ("1", Value::Number(1.0), true),
            ("null", Value::Nil, true),
            ("null", Value::text(""), false),
        ] {
            let pattern: Pattern = serde_json::from_str(pattern).unwrap();
            assert_eq!(pattern.fits(&value), fits, "{pattern:?} {value:?}");
        }
    }

    #[test]
    fn fewer_patterns_leave_the_rest_open_and_more_do_not_fit() {
        let script = Script::default();
        let answers = scripted(r#"[{"name":"File.read","arguments":["a"],"values":[1]}]"#);
        assert_eq!(played(&script, &answers, &["a", "rest"]).way, Way::Simulated);
        assert_eq!(played(&script, &answers, &[]).way, Way::Failed);
    }

    #[test]
    fn a_call_without_an_answer_is_told_by_name() {
        let long = "x".repeat(10_000);
        let answer = played(&Script::default(), &[], &["a", &long]);
        let Value::Text(text) = &answer.values[0] else { panic!("{answer:?}") };
        assert!(text.contains("`File.read`") && text.contains("\"a\"") && text.contains("policy file"), "{text}");
        assert!(text.len() < 1_000, "{}", text.len());
    }

    #[test]
    fn a_scripted_error_is_a_failure_with_its_text() {
        let answers = scripted(r#"[{"name":"File.read","error":"disk on fire"}]"#);
        assert_eq!(played(&Script::default(), &answers, &["a"]), Answer::failed("disk on fire"));
    }
}
