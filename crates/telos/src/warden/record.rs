//! What the warden writes into the log of runs: every run that somebody orders who does not do that, and those of whoever would
//! have done it and has gone.

use crate::report;
use crate::runs::{self, described};
use keeper::Conversation;
use keeper::protocol::RunClient;
use sandbox::changes::Digest;
use sandbox::{Order, Outcome, SandboxError, Stream};
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Of standard output and standard error.
pub type Digests = Arc<Mutex<[Digest; 2]>>;

pub struct Record {
    fields: Map<String, Value>,
    /// None where the client records: then it has them.
    pub digests: Option<Digests>,
}

impl Record {
    pub fn new(client: &RunClient, records_itself: bool) -> Record {
        let fields = [
            ("user", json!(client.user)),
            ("process", json!(client.process)),
            ("client", json!(client.name)),
            ("warden", json!(std::process::id())),
        ];
        let fields = fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        Record { fields, digests: (!records_itself).then(Digests::default) }
    }

    pub fn describe(&mut self, order: &Order) {
        self.fields.extend(described::asked(order));
    }

    pub fn ended(mut self, ended: &Result<Outcome, SandboxError>, conversation: &Conversation) {
        match ended {
            Ok(outcome) => {
                self.fields.extend(described::ended(outcome));
                self.fields.extend(described::calls(&outcome.calls, runs::LIST_LENGTH_MAX));
            }
            Err(error) => return self.refused(&error.to_string(), conversation),
        }
        if let Some(digests) = &self.digests {
            let digests = digests.lock().unwrap_or_else(PoisonError::into_inner);
            let [output, errors] = digests.each_ref().map(Digest::text);
            self.fields.insert("digest".into(), json!({ "stdout": output, "stderr": errors }));
        }
        self.write(conversation);
    }

    pub fn refused(mut self, why: &str, conversation: &Conversation) {
        self.fields.insert("verdict".into(), json!("refused"));
        self.fields.insert("error".into(), json!(why));
        self.write(conversation);
    }

    /// Once: a client that records and hears of the end does it.
    fn write(self, conversation: &Conversation) {
        if self.digests.is_some() || conversation.is_abandoned() {
            tell_failure(runs::record(self.fields));
        }
    }
}

/// A run that ended with whoever watched over it.
pub fn lost(client: &RunClient, why: &str) {
    let mut record = Record::new(client, false);
    record.fields.insert("verdict".into(), json!("lost"));
    record.fields.insert("error".into(), json!(why));
    tell_failure(runs::record(record.fields));
}

/// Once in a process: a disk that is full is full for the next run as well.
fn tell_failure(recorded: anyhow::Result<()>) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if let Err(error) = recorded
        && !IS_TOLD.swap(true, Ordering::Relaxed)
    {
        report::say(&format!("warning: runs are not recorded: {}", report::with_causes(&error)));
    }
}

pub fn add(digests: &Digests, stream: Stream, bytes: &[u8]) {
    let [output, errors] = &mut *digests.lock().unwrap_or_else(PoisonError::into_inner);
    match stream {
        Stream::Output => output.add(bytes),
        Stream::Error => errors.add(bytes),
    }
}
