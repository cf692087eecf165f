//! What stands in the bodies of frames, as JSON. Requests with fields that nobody knows are refused, so that a slip in
//! the name of a limit does not pass for no limit.

use super::dream::{DreamOrder, Nest};
use super::lock::LockTarget;
use super::merge::{ConflictChoice, MergeOrder};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An answer that does not fit into a frame has its texts cut to this.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
const NAME_BYTES_MAX: usize = 1 << 10;
const PLACES_MAX: usize = 64;

/// The first word of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// Which program this is, for people.
    pub client: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    pub protocol: u32,
    pub telos: String,
    pub pid: u32,
    pub directory: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub message: String,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Evaluates Io source in the Lobby, as one transaction.
    Evaluate(String),
    /// The names that a line editor completes.
    Names,
    /// What is written about these words.
    Help(Vec<String>),
    /// The newest commits, as a list of `CommitLine`; those before a number, if it is given.
    Log { count: u64, before: Option<u64> },
    /// What a commit changed, as a `CommitPage`.
    Show(u64),
    /// Takes back what a commit did, in a new one; the answer has its number.
    Revert(u64),
    /// Facts about the files, as an object.
    Info,
    /// Walks the whole image and says what is wrong with it, as a list of texts.
    Check,
    /// Copies the image, as it is now, into a directory that does not exist yet.
    Backup(String),
    /// Begins a dream; the answer is a `DreamBegun`.
    Dream(Box<DreamOrder>),
    /// Ends the dream that this is sent to. When that is over, the keeper answers that it is.
    Wake,
    /// All dreams of the image that are going on or kept, as a list.
    Dreams,
    /// What a dream is and did, as far as it fits: `more_from` says which change was the first that did not.
    ShowDream(String),
    /// The changes of a dream from one of them on, as an object with `changes` and `more_from`.
    DreamChanges { dream: String, from: u64 },
    /// Removes what is kept of a dream that is over.
    DiscardDream(String),
    /// Judges a dream on a candidate and merges it; the answer is a `MergeReport`.
    Merge(Box<MergeOrder>),
    /// Conflicts that merges left, as a list: so many of those behind a number, the open ones or all. There may be more than fit.
    Conflicts { after: u64, count: u64, is_all: bool },
    /// Decides the conflict of this number; over what was written there since only if `is_forced`.
    Resolve {
        conflict: u64,
        choice: ConflictChoice,
        #[serde(default, skip_serializing_if = "is_default")]
        is_forced: bool,
    },
    /// Which commits wrote an object or a slot, such as `Garden.trees`, the newest first.
    History { path: String, count: u64 },
    /// Takes back a merge, of a dream or of a commit; the answer is that of `Revert`.
    Undo(String),
    /// What is to be done to the world outside after merges, as a list: what waits, what failed, and what is done.
    Outbox,
    /// Tries what failed for good once more, by its key; all of it if there is none. The answer is how many.
    Resend(Option<String>),
    /// From now on changes only with a person's token; the answer is a `LockReport`.
    Lock(LockTarget),
    /// Changes as all else does again. A person must allow it.
    Unlock(LockTarget),
    /// What is locked, as a list of `LockLine`.
    Locks,
    /// A dream asks this; the keeper, who knows which it is, asks for it.
    Nested { within: String, nest: Nest },
}

/// How a value is to be written in the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As `asString` says.
    #[default]
    Text,
    /// The same, with text in quotes.
    Shown,
    /// As JSON.
    Json,
}

/// When a transaction counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// When it would survive a power failure.
    #[default]
    Flush,
    /// When it would survive the end of the process.
    Os,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub command: Command,
    /// Names the source in errors.
    #[serde(default = "default_label")]
    pub label: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub form: Form,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// From when the keeper has read the request, waiting included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub durability: Durability,
    /// Who and why, for the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Meant for this dream, and not for the live image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dream: Option<String>,
    /// A person's token came with it. The keeper says so, by the kind of the frame: no text does.
    #[serde(skip)]
    pub is_allowed: bool,
}

fn default_label() -> String {
    "send".to_string()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Request {
    pub fn new(command: Command) -> Request {
        Request {
            command,
            label: default_label(),
            form: Form::default(),
            fuel: None,
            memory_bytes: None,
            timeout_ms: None,
            durability: Durability::default(),
            author: None,
            cause: None,
            dream: None,
            is_allowed: false,
        }
    }

    /// Evaluates source, with no limits but the image's own.
    pub fn evaluate(source: impl Into<String>) -> Request {
        Request::new(Command::Evaluate(source.into()))
    }
}

/// All that the keeper wants to know of a request.
#[derive(Deserialize)]
pub(crate) struct Envelope {
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    #[serde(default)]
    pub dream: Option<String>,
}

/// Why the keeper wants a request stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reason {
    Timeout {
        milliseconds: u64,
    },
    /// The client asked for it.
    Asked,
    /// The client has gone: nobody reads the answer.
    Gone,
    Stopping,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub outcome: Outcome,
    /// What the program wrote, also one that failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel_used: Option<u64>,
    /// The number of the commit, if anything was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
    /// Value and output were too long for a frame and are shortened.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_cut: bool,
}

impl Answer {
    pub fn new(outcome: Outcome) -> Answer {
        Answer { outcome, output: String::new(), fuel_used: None, commit: None, is_cut: false }
    }

    pub fn failed(kind: FailureKind, message: impl Into<String>) -> Answer {
        Answer::new(Outcome::Failure(Failure::new(kind, message)))
    }

    /// To a request that was stopped before its turn came.
    pub(crate) fn not_begun(reason: Reason) -> Answer {
        match reason {
            Reason::Timeout { milliseconds } => {
                let seconds = std::time::Duration::from_millis(milliseconds).as_secs_f64();
                let message = format!("timed out after {seconds} s, before its turn came; nothing was done");
                Answer::failed(FailureKind::Timeout, message)
            }
            Reason::Stopping => Answer::failed(FailureKind::Refused, "the image is stopping; nothing was done"),
            Reason::Asked | Reason::Gone => Answer::failed(FailureKind::Interrupted, "interrupted before it began"),
        }
    }

    /// Shortens what a program made long without end, so that it fits into a frame however it is escaped.
    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
        cut_text(&mut self.output, TEXT_BYTES_MAX);
        match &mut self.outcome {
            Outcome::Value(shown) => {
                cut_text(&mut shown.text, TEXT_BYTES_MAX);
                cut_text(&mut shown.kind, NAME_BYTES_MAX);
            }
            Outcome::Failure(failure) => failure.cut(),
        }
    }
}

fn cut_text(text: &mut String, most_bytes: usize) {
    let end = (0..=most_bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.truncate(end.unwrap_or(0));
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Value(Shown),
    Failure(Failure),
}

/// A value in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub text: String,
    /// The name of its type; `nil` for nil.
    pub kind: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// The type of an exception.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Where it happened, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Place>,
    /// How many more messages were under way.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more: u64,
    /// What the program gave to `System exit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
}

impl Failure {
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        let message = message.into();
        Failure { kind, type_name: None, message, hint: None, trace: Vec::new(), more: 0, exit_code: None }
    }

    fn cut(&mut self) {
        cut_text(&mut self.message, TEXT_BYTES_MAX);
        [&mut self.type_name, &mut self.hint].into_iter().flatten().for_each(|text| cut_text(text, NAME_BYTES_MAX));
        self.trace.truncate(PLACES_MAX);
        for place in &mut self.trace {
            cut_text(&mut place.name, NAME_BYTES_MAX);
            cut_text(&mut place.label, NAME_BYTES_MAX);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    Exception,
    Syntax,
    Fuel,
    Memory,
    Timeout,
    Interrupted,
    Exit,
    /// The request was not taken, or was taken back: nothing was done.
    Refused,
    /// It would have changed what only a person may: nothing was done.
    Locked,
    /// The image process did not answer, or is no more: what was done is not known.
    Lost,
    /// It was done in memory, and could not be made durable.
    Storage,
}

/// One message that was under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub name: String,
    pub label: String,
    pub line: u32,
    pub column: u32,
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub times: u64,
}

fn once() -> u64 {
    1
}

fn is_once(times: &u64) -> bool {
    *times == 1
}

/// What is going on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// `starting`, `running` or `stopping`.
    pub state: String,
    pub telos: String,
    pub directory: String,
    pub keeper_pid: u32,
    pub image_pid: u32,
    pub up_ms: u64,
    pub clients: usize,
    /// Requests that the image process has not begun to see, and those that it has.
    pub requests_waiting: usize,
    pub requests_ahead: usize,
    pub requests_answered: u64,
    /// Dreams that are going on.
    #[serde(default)]
    pub dreams: Vec<String>,
    /// Runs that wait, those under way, and how many there have been.
    #[serde(default)]
    pub runs_waiting: usize,
    #[serde(default)]
    pub runs_under_way: usize,
    #[serde(default)]
    pub runs_ended: u64,
    /// The process that watches over them, if there is one.
    #[serde(default)]
    pub warden_pid: Option<u32>,
    /// The one that makes calls to the world outside.
    #[serde(default)]
    pub broker_pid: Option<u32>,
    /// How often somebody showed a token that is not the image's.
    #[serde(default)]
    pub wrong_tokens: u64,
    /// What the image process says of itself; nothing if it does not answer.
    pub image: BTreeMap<String, serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_short_and_a_slip_in_it_is_refused() {
        let text = serde_json::to_string(&Request::evaluate("1 + 2")).unwrap();
        assert_eq!(text, r#"{"command":{"evaluate":"1 + 2"},"label":"send"}"#);
        let slip = r#"{"command":{"evaluate":"1"},"timeout":5}"#;
        assert!(serde_json::from_str::<Request>(slip).is_err_and(|error| error.to_string().contains("timeout")));
        let envelope: Envelope = serde_json::from_str(r#"{"command":{"evaluate":"1"},"timeout_ms":5}"#).unwrap();
        assert_eq!(envelope.timeout_ms, Some(5));
    }

    #[test]
    fn no_text_says_that_a_person_allows_it() {
        let allowed = Request { is_allowed: true, ..Request::evaluate("1") };
        let text = serde_json::to_string(&allowed).unwrap();
        assert_eq!(text, r#"{"command":{"evaluate":"1"},"label":"send"}"#);
        let forged = r#"{"command":{"evaluate":"1"},"is_allowed":true}"#;
        assert!(serde_json::from_str::<Request>(forged).is_err_and(|error| error.to_string().contains("is_allowed")));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut answer =
            Answer::new(Outcome::Value(Shown { text: "é".repeat(TEXT_BYTES_MAX), kind: "Sequence".into() }));
        answer.cut();
        let Outcome::Value(shown) = &answer.outcome else { panic!("it is a value") };
        assert!(answer.is_cut && shown.text.len() <= TEXT_BYTES_MAX && shown.text.ends_with('é'));
    }
}
