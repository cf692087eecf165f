//! How a command ends that did not do what it is for: a sentence for people, an object for programs that asked for JSON, and an exit
//! code. Commands return an error, and no more.

use super::send::error_of;
use crate::answer::exit_code_of;
use crate::holder;
use crate::report;
use keeper::protocol::{Failure, FailureKind, Outcome};
use serde_json::{Value, json};
use std::fmt;
use std::process::ExitCode;

/// What the image said no with, or whoever looks at tokens.
#[derive(Debug)]
pub struct Refusal(Failure);

impl Refusal {
    /// For want of a person's token, or of the right one.
    pub fn for_person(message: impl Into<String>) -> anyhow::Error {
        refusal(Failure::new(FailureKind::Locked, message))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)?;
        self.0.hint.iter().try_for_each(|hint| write!(formatter, "; {hint}"))
    }
}

impl std::error::Error for Refusal {}

/// A failure as the end of a command.
pub fn refusal(failure: Failure) -> anyhow::Error {
    Refusal(failure).into()
}

/// With which exit code a command ends.
pub fn code_of(error: &anyhow::Error) -> u8 {
    let refused = error.downcast_ref::<Refusal>().map(|refusal| exit_code_of(&Outcome::Failure(refusal.0.clone())));
    // It failed, whatever the failure thinks of itself.
    refused.filter(|code| *code != 0).unwrap_or(crate::session::exit_code::EXCEPTION)
}

fn json_of(error: &anyhow::Error, words: &str) -> Value {
    let mut told = match error.downcast_ref::<Refusal>() {
        Some(refusal) => error_of(&refusal.0),
        None => json!({ "type": "failed", "message": words, "hint": null, "stack": [] }),
    };
    told["code"] = json!(code_of(error));
    json!({ "error": told })
}

/// Tells why a command failed: on standard error, and to programs on standard output.
pub fn tell(error: &anyhow::Error, is_json: bool) -> ExitCode {
    let words = holder::explained(error).unwrap_or_else(|| report::with_causes(error));
    report::say(&report::harmless(&format!("error: {words}")));
    if is_json {
        // Whoever has gone away needs no words.
        let _ = super::print(&format!("{}\n", json_of(error, &words)));
    }
    ExitCode::from(code_of(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_the_same_code_for_shells_and_programs() {
        let failed = |kind| refusal(Failure { hint: Some("try again".into()), ..Failure::new(kind, "no") });
        for (kind, code) in [
            (FailureKind::Refused, 1),
            (FailureKind::Locked, 3),
            (FailureKind::Timeout, 124),
            (FailureKind::Interrupted, 130),
            (FailureKind::Exit, 1),
        ] {
            let error = failed(kind);
            let told = json_of(&error, "no");
            assert_eq!((code_of(&error), &told["error"]["code"]), (code, &json!(code)), "{kind:?}");
            assert_eq!((error.to_string().as_str(), &told["error"]["message"]), ("no; try again", &json!("no")));
        }
        let other = anyhow::anyhow!("no image is up");
        assert_eq!(json_of(&other, "no image is up")["error"]["message"], "no image is up");
        assert_eq!(code_of(&other), 1);
    }
}
