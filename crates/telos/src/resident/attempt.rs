//! What an attempt to deliver something came to: whether it is done, is tried again, or failed for good.

use crate::handover::{Handed, LeftFile, call};
use broker::{Answer, Value as Told, Way};
use image::{Delivery, DeliveryStatus, FileConflict};
use keeper::protocol::{FileLeft, FilesReport};
use object::change::{Datum, ObjectId, Operation};
use serde_json::json;
use std::time::Duration;

/// After so many nothing is tried by itself any more; all of them take about an hour.
const ATTEMPTS_MAX: u64 = 20;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Of an answer that is kept.
const ANSWER_CHARS_MAX: usize = 2_000;
/// What a server says that may well be otherwise soon.
const PASSING: [u16; 3] = [408, 425, 429];

#[derive(Debug)]
pub struct Attempt {
    pub status: DeliveryStatus,
    pub answer: String,
    pub files: FilesReport,
    pub conflicts: Vec<FileConflict>,
    pub marks: Vec<(ObjectId, Operation)>,
}

impl Attempt {
    fn new(status: DeliveryStatus, answer: String) -> Attempt {
        let files = FilesReport { status: status.name().into(), ..FilesReport::default() };
        let answer = answer.chars().take(ANSWER_CHARS_MAX).collect();
        Attempt { status, answer, files, conflicts: Vec::new(), marks: Vec::new() }
    }

    pub fn failed(why: String) -> Attempt {
        let mut attempt = Attempt::new(DeliveryStatus::Failed, why);
        attempt.files.reason = Some(attempt.answer.clone());
        attempt
    }
}

/// How long to wait after so many attempts that failed; none if there have been enough.
pub fn pause_after(attempts: u64) -> Option<Duration> {
    let doubled = FIRST_PAUSE.saturating_mul(1 << attempts.saturating_sub(1).min(20));
    (attempts < ATTEMPTS_MAX).then_some(doubled.min(LONGEST_PAUSE))
}

pub fn judged(delivery: &Delivery, answer: &[u8]) -> Attempt {
    let unread = |error| Answer::failed(format!("the broker's answer cannot be read: {error}"));
    let answer: Answer = serde_json::from_slice(answer).unwrap_or_else(unread);
    let text = answered(&answer);
    let mut attempt = match answer.way {
        Way::Redirected if call::ALL.contains(&delivery.name.as_str()) => handed(delivery, &answer),
        Way::Redirected => Attempt::new(fate(delivery, &answer), text),
        // Nobody knows whether it was made: at least once is promised.
        Way::Failed => Attempt::new(DeliveryStatus::Waiting, text),
        Way::Blocked | Way::Simulated | Way::Deferred => Attempt::new(DeliveryStatus::Failed, text),
    };
    if attempt.status == DeliveryStatus::Waiting && pause_after(delivery.attempts + 1).is_none() {
        attempt = Attempt::failed(format!("after {ATTEMPTS_MAX} attempts: {}", attempt.answer));
    }
    if attempt.status != DeliveryStatus::Delivered {
        attempt.files.reason = Some(attempt.answer.clone());
    }
    // Who decided on a conflict may decide again.
    if attempt.status == DeliveryStatus::Failed {
        attempt.marks.extend(delivery.conflict.map(|conflict| (conflict, Operation::set_slot("status", "open"))));
    }
    attempt
}

/// In a line.
fn answered(answer: &Answer) -> String {
    match &answer.values[..] {
        [Told::Text(text)] => text.clone(),
        values => json!(values).to_string(),
    }
}

/// What became of a call that was made.
fn fate(delivery: &Delivery, answer: &Answer) -> DeliveryStatus {
    let number = if let Some(Told::Number(number)) = answer.values.first() { *number as u16 } else { 0 };
    match number {
        0 if !delivery.name.starts_with("Http.") => DeliveryStatus::Delivered,
        200..=399 if delivery.name.starts_with("Http.") => DeliveryStatus::Delivered,
        500.. if delivery.name.starts_with("Http.") => DeliveryStatus::Waiting,
        passing if PASSING.contains(&passing) && delivery.name.starts_with("Http.") => DeliveryStatus::Waiting,
        // It was made, and whoever did it said no.
        _ => DeliveryStatus::Failed,
    }
}

fn handed(delivery: &Delivery, answer: &Answer) -> Attempt {
    let handed: Handed = match serde_json::from_str(&answered(answer)) {
        Ok(handed) => handed,
        Err(error) => return Attempt::failed(format!("what came of it cannot be read: {error}")),
    };
    let Handed { applied, paths, left, more_left } = handed;
    let count = left.len() as u64 + more_left;
    let words = match count {
        0 => format!("{applied} files are as they were to be"),
        count => format!("{applied} files are as they were to be, {count} were left alone"),
    };
    let mut attempt = Attempt::new(DeliveryStatus::Delivered, words);
    let told = left.iter().map(|left| FileLeft { path: left.path.clone(), reason: left.why.clone() });
    let status = attempt.files.status.clone();
    attempt.files = FilesReport { status, applied, paths, left: told.collect(), more_left, reason: None };
    match delivery.conflict {
        Some(conflict) => attempt.marks = decided(conflict, delivery, left.first()),
        None if delivery.name == call::APPLY => {
            attempt.conflicts = left.into_iter().map(|left| conflict_of(delivery, left)).collect();
        }
        None => {}
    }
    attempt
}

/// What only the next attempt understands: which files were merged, and which one of them it is.
fn place_text(delivery: &Delivery, left: &LeftFile) -> String {
    let digest =
        if let Some(Datum::Text(digest)) = delivery.arguments.get(1) { digest.to_string() } else { String::new() };
    json!({ "digest": digest, "place": left.place }).to_string()
}

fn conflict_of(delivery: &Delivery, left: LeftFile) -> FileConflict {
    let place = place_text(delivery, &left);
    let LeftFile { path, base, dreamt, found, why, .. } = left;
    FileConflict { path, place, base, dreamt, found, why }
}

/// The conflict that somebody decided in favour of the dream: it is over, or open again with what was found this time.
fn decided(conflict: ObjectId, delivery: &Delivery, left: Option<&LeftFile>) -> Vec<(ObjectId, Operation)> {
    let set = |name: &str, value: &str| (conflict, Operation::set_slot(name, value));
    match left {
        None => vec![set("status", "resolved"), set("resolution", &delivery.dream)],
        Some(left) => vec![
            set("status", "open"),
            set("place", &place_text(delivery, left)),
            set("shown", &left.found),
            set("why", &left.why),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::change::{ActorId, ChangeId};

    fn delivery(name: &str) -> Delivery {
        Delivery::new(ChangeId::new(ActorId(7), 1), &name.into(), &[], "d7")
    }

    fn judged_as(name: &str, answer: &str) -> DeliveryStatus {
        judged(&delivery(name), answer.as_bytes()).status
    }

    #[test]
    fn what_may_be_otherwise_soon_is_tried_again_and_what_was_refused_is_not() {
        use DeliveryStatus::{Delivered, Failed, Waiting};
        for (status, expected) in [
            (200, Delivered),
            (202, Delivered),
            (304, Delivered),
            (400, Failed),
            (404, Failed),
            (429, Waiting),
            (503, Waiting),
        ] {
            let answer = format!(r#"{{"way":"redirected","values":[{status},"",""]}}"#);
            assert_eq!(judged_as("Http.request", &answer), expected, "{status}");
        }
        assert_eq!(judged_as("System.system", r#"{"way":"redirected","values":[0,"",""]}"#), Delivered);
        assert_eq!(judged_as("System.system", r#"{"way":"redirected","values":[3,"",""]}"#), Failed);
        assert_eq!(judged_as("Http.request", r#"{"way":"failed","values":["no route"]}"#), Waiting);
        assert_eq!(judged_as("Http.request", r#"{"way":"blocked","values":["the house"]}"#), Failed);
        assert_eq!(judged_as("Http.request", "nonsense"), Waiting);
    }

    #[test]
    fn attempts_are_bounded_and_further_and_further_apart() {
        assert_eq!(pause_after(1), Some(FIRST_PAUSE));
        assert_eq!(pause_after(3), Some(FIRST_PAUSE * 4));
        assert_eq!(pause_after(ATTEMPTS_MAX - 1), Some(LONGEST_PAUSE));
        assert_eq!(pause_after(ATTEMPTS_MAX), None);
        let tired = Delivery { attempts: ATTEMPTS_MAX - 1, ..delivery("Http.request") };
        let attempt = judged(&tired, br#"{"way":"failed","values":["no route"]}"#);
        assert_eq!(attempt.status, DeliveryStatus::Failed);
        assert!(attempt.answer.contains("no route"), "{}", attempt.answer);
    }
}
