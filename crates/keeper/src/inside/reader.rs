//! The thread that takes what the keeper sends. Decodes requests here, beside the machine, and never waits for it, so
//! that an interruption gets through at any time.

use super::answers::Sender;
use super::desk::Desk;
use super::outside::Outside;
use crate::error::KeeperError;
use crate::protocol::{Answer, DreamName, FRAME_BYTES_MAX, FailureKind, Frame, Inbox, Kind, Reason};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// How long the machine may take to end after the keeper has gone. Nobody waits for an answer then, and another keeper
/// may wait for the files; what was acknowledged is in the log.
const GRACE: Duration = Duration::from_millis(500);

pub fn start(
    pair: UnixStream,
    desk: Arc<Desk>,
    answers: Sender,
    outside: Outside,
    exit: fn(i32),
) -> Result<(), KeeperError> {
    let read = move || {
        let is_told = read(&pair, &desk, &answers, &outside);
        outside.close();
        if !desk.is_open() {
            // Nothing was promised yet, and opening may take long: recovery begins anew the next time.
            exit(i32::from(!is_told));
        } else if !is_told {
            desk.stop(true);
            // The machine may be inside a primitive that looks up from nothing, or a commit of millions of objects, and
            // nobody is left to kill it.
            std::thread::sleep(GRACE);
            exit(1);
        }
    };
    let started = std::thread::Builder::new().name("reader".into()).spawn(read);
    started.map(|_| ()).map_err(KeeperError::system("start a thread"))
}

/// Reads until the keeper says that it is over, or has gone, or says what it never would.
fn read(pair: &UnixStream, desk: &Desk, answers: &Sender, outside: &Outside) -> bool {
    let mut inbox = Inbox::default();
    let mut requests = Vec::new();
    loop {
        loop {
            match inbox.next(FRAME_BYTES_MAX) {
                Ok(None) => break,
                Err(_) => return false,
                Ok(Some(frame)) if frame.kind == Kind::Stop => {
                    desk.add(&mut requests);
                    desk.stop(false);
                    return true;
                }
                Ok(Some(frame)) if frame.kind == Kind::Returned => outside.give(frame.id, frame.body),
                Ok(Some(frame)) => take(&frame, desk, answers, &mut requests),
            }
        }
        desk.add(&mut requests);
        if !matches!(inbox.fill(pair), Ok(1..)) {
            return false;
        }
    }
}

fn take(frame: &Frame<'_>, desk: &Desk, answers: &Sender, requests: &mut Vec<(u64, crate::protocol::Request)>) {
    match frame.kind {
        Kind::Request => match serde_json::from_slice(frame.body) {
            Ok(request) => requests.push((frame.id, request)),
            Err(error) => {
                let message = format!("the request cannot be read: {error}");
                answers.push(frame.id, Answer::failed(FailureKind::Refused, message), None);
            }
        },
        Kind::Cancel => {
            // In order: the request may stand right before.
            desk.add(requests);
            let reason = serde_json::from_slice(frame.body).unwrap_or(Reason::Asked);
            desk.cancel(frame.id, reason).into_iter().for_each(|answer| answers.push(frame.id, answer, None));
        }
        Kind::Over => {
            if let Ok(DreamName { dream, .. }) = serde_json::from_slice(frame.body) {
                desk.over(dream);
            }
        }
        Kind::Status => answers.send(Kind::Status, frame.id, &desk.status()),
        _ => {}
    }
}
