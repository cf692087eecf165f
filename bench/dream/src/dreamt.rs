//! A dream as its client has it: begun, spoken to, ended.

use keeper::protocol::{Command, DreamBegun, DreamOrder, Failure, FailureKind, Outcome, Request};
use keeper::{Client, KeeperError};
use std::time::{Duration, Instant};

/// Longer than any part takes.
const TIME_MS: u64 = 3_600_000;

/// Begins one; its name.
pub fn begin(client: &mut Client) -> Result<String, String> {
    let order = DreamOrder { time_ms: Some(TIME_MS), ..DreamOrder::default() };
    let text = ask(client, &Request::new(Command::Dream(Box::new(order))))?;
    serde_json::from_str::<DreamBegun>(&text).map(|begun| begun.dream).map_err(|error| error.to_string())
}

pub fn within(dream: &str, source: &str) -> Request {
    Request { dream: Some(dream.into()), ..Request::evaluate(source) }
}

/// Ends one, and returns when nothing of it is to be heard any more.
pub fn end(client: &mut Client, dream: &str) -> Result<(), String> {
    let wake = Request { dream: Some(dream.into()), ..Request::new(Command::Wake) };
    match outcome(client, &wake)? {
        Outcome::Failure(Failure { kind: FailureKind::Lost, .. }) => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

pub fn ask(client: &mut Client, request: &Request) -> Result<String, String> {
    match outcome(client, request)? {
        Outcome::Value(shown) => Ok(shown.text),
        Outcome::Failure(failure) => Err(format!("{:?}: {}", failure.kind, failure.message)),
    }
}

fn outcome(client: &mut Client, request: &Request) -> Result<Outcome, String> {
    client.send(request).map(|answer| answer.outcome).map_err(|error: KeeperError| error.to_string())
}

/// From the order to the answer to the first message inside; and the name.
pub fn first_answer(client: &mut Client) -> (Duration, String) {
    let start = Instant::now();
    let dream = begin(client).expect("it begins");
    let answer = ask(client, &within(&dream, "1 + 2"));
    let taken = start.elapsed();
    assert_eq!(answer.as_deref(), Ok("3"));
    (taken, dream)
}

pub fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
