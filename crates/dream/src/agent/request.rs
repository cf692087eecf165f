//! A line into what it asks for.
//!
//! Nothing is parsed into a tree: what is of no interest is skipped, however deep it nests, and what is wanted has a type.

use super::reply::{Fault, code};
use crate::path::names_in;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What an agent may ask for.
pub const METHODS: [&str; 8] = ["eval", "get", "set", "list", "tests", "rejections", "log", "done"];

/// Which request a reply belongs to, exactly as it was written.
#[derive(Debug)]
pub struct Id(Box<RawValue>);

impl Id {
    /// A number, a text or null.
    fn new(written: &RawValue) -> Option<Id> {
        let is_one = matches!(written.get().as_bytes().first(), Some(b'0'..=b'9' | b'-' | b'"' | b'n'));
        is_one.then(|| Id(written.to_owned()))
    }

    /// Of what has none that could be known.
    pub fn unknown() -> Id {
        Id(RawValue::NULL.to_owned())
    }

    pub fn written(&self) -> &RawValue {
        &self.0
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Evaluates source in the Lobby of the dream, as one transaction.
    Eval { source: String, fuel: Option<u64>, timeout_ms: Option<u64> },
    /// What is in a slot; names of slots that lead there, from the Lobby.
    Get { path: Vec<String> },
    /// Puts what the source evaluates to into a slot.
    Set { path: Vec<String>, source: String },
    /// The slots of an object, the Lobby's if no path is given.
    List { path: Vec<String> },
    /// Runs the unit tests of the image.
    Tests,
    /// What was tried before and refused; with a path, with that object.
    Rejections { path: Vec<String> },
    /// Words for whoever gave the mandate.
    Log { text: String },
    /// The mandate is fulfilled; nothing more is asked for.
    Done { summary: String },
}

/// A request that can be answered. Without an id nobody waits for the answer.
#[derive(Debug)]
pub struct Asked {
    pub id: Option<Id>,
    pub question: Result<Question, Fault>,
}

#[derive(Deserialize)]
struct Envelope<'l> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'l, str>>,
    #[serde(borrow, default, deserialize_with = "given")]
    id: Option<&'l RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'l, str>>,
    #[serde(borrow)]
    params: Option<&'l RawValue>,
}

/// An id that is there and null is another thing than none.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// What a line asks for, or the fault of one that is no request at all: whose id cannot be known.
pub fn read(line: &[u8]) -> Result<Asked, Fault> {
    let not_json = |error: serde_json::Error| Fault::new(code::NOT_JSON, format!("this is no JSON: {error}"));
    let no_request = |why: String| Fault::new(code::NO_REQUEST, why);
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        serde_json::from_slice::<IgnoredAny>(line).map_err(not_json)?;
        let is_batch = first == Some(&b'[');
        let why = if is_batch { "batches are not taken; send one request a line" } else { "a request is an object" };
        return Err(no_request(why.into()));
    }
    let envelope: Envelope<'_> = serde_json::from_slice(line).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => no_request(format!("this is no request: {error}")),
        _ => not_json(error),
    })?;
    let id = match envelope.id.map(Id::new) {
        Some(None) => return Err(no_request("an id is a number, a text or null".into())),
        id => id.flatten(),
    };
    let question = match (envelope.jsonrpc.as_deref(), envelope.method) {
        (Some("2.0"), Some(method)) => question(&method, envelope.params.map_or("{}", RawValue::get)),
        (Some("2.0"), None) => Err(no_request("a request has a method".into())),
        _ => Err(no_request("a request has \"jsonrpc\":\"2.0\"".into())),
    };
    // What is no request is no notification either, and is answered.
    match question {
        Err(fault) if fault.code == code::NO_REQUEST && id.is_none() => Err(fault),
        question => Ok(Asked { id, question }),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Eval {
    source: String,
    #[serde(default)]
    fuel: Option<u64>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Get {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    path: String,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Log {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {
    #[serde(default)]
    summary: String,
}

fn question(method: &str, params: &str) -> Result<Question, Fault> {
    Ok(match method {
        "eval" => {
            let Eval { source, fuel, timeout_ms } = parameters(params)?;
            Question::Eval { source, fuel, timeout_ms }
        }
        "get" => Question::Get { path: slot_path(&parameters::<Get>(params)?.path)? },
        "set" => {
            let Set { path, source } = parameters(params)?;
            Question::Set { path: slot_path(&path)?, source }
        }
        "list" => Question::List { path: words(&parameters::<List>(params)?.path)? },
        "tests" => {
            let Nothing {} = parameters(params)?;
            Question::Tests
        }
        "rejections" => Question::Rejections { path: words(&parameters::<List>(params)?.path)? },
        "log" => Question::Log { text: parameters::<Log>(params)?.text },
        "done" => Question::Done { summary: parameters::<Done>(params)?.summary },
        _ => {
            let methods = METHODS.join(", ");
            return Err(Fault::new(code::NO_METHOD, format!("there is no such method; there are {methods}")));
        }
    })
}

/// By name; `null` is none.
fn parameters<'p, P: Deserialize<'p>>(params: &'p str) -> Result<P, Fault> {
    let params = if params == "null" { "{}" } else { params };
    let wrong = |why: String| Fault::new(code::WRONG_PARAMETERS, why);
    if !params.starts_with('{') {
        return Err(wrong("parameters are given by name, in an object".into()));
    }
    serde_json::from_str(params).map_err(|error| wrong(format!("wrong parameters: {error}")))
}

/// `Account tax` is the slot `tax` of `Account`.
fn words(path: &str) -> Result<Vec<String>, Fault> {
    names_in(path).map_err(|why| Fault::new(code::WRONG_PARAMETERS, why))
}

fn slot_path(path: &str) -> Result<Vec<String>, Fault> {
    match words(path)? {
        empty if empty.is_empty() => {
            Err(Fault::new(code::WRONG_PARAMETERS, "a path names a slot, such as \"Account tax\""))
        }
        path => Ok(path),
    }
}
