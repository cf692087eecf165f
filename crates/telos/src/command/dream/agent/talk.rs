//! The thread that talks with an agent: takes what it wrote, asks the dream, and writes answers to its standard input.

use super::inside::Inside;
use super::intake::{Intake, Next};
use dream::agent::{AgentBounds, AgentSession, METHODS, notification};
use sandbox::Stop;
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// An agent that says nothing for so long is asked nothing; it is looked whether its dream goes on.
const SILENCE: Duration = Duration::from_secs(1);
/// Between what an agent says last and its end.
const GRACE: Duration = Duration::from_secs(5);

pub struct Talk {
    pub session: AgentSession,
    pub inside: Inside,
    /// Why the agent was ended, if it was.
    pub ended_for: Option<String>,
    /// Nobody reads what it is told any more.
    is_unheard: bool,
}

/// The first thing that an agent is told.
pub fn greeting(dream: &str, commit: u64, mandate: &str) -> Vec<u8> {
    let params = json!({ "protocol": 1, "dream": dream, "commit": commit, "mandate": mandate, "methods": METHODS });
    notification("hello", &params)
}

impl Talk {
    pub fn new(inside: Inside) -> Talk {
        let session = AgentSession::new(AgentBounds::default());
        Talk { session, inside, ended_for: None, is_unheard: false }
    }

    /// Until the agent has gone and all that it asked for is done, or is not to be done any more.
    pub fn go_on(&mut self, greeting: &[u8], mut to: UnixStream, intake: &Intake, stop: &Stop) {
        self.tell(&mut to, greeting);
        while self.ended_for.is_none() && !self.session.is_over() {
            match intake.next(SILENCE) {
                Next::Bytes(bytes) => self.take(&bytes, &mut to),
                Next::Silence => self.inside.look_after(),
                Next::Closed => return,
            }
            self.ended_for = self.inside.lost.clone();
        }
        if self.session.summary().is_none() && self.ended_for.is_none() {
            let most = AgentBounds::default().requests;
            self.ended_for = Some(format!("it sent more than {most} requests"));
        }
        if self.ended_for.is_some() {
            return stop.stop();
        }
        // It sees the end of its input, and has some time to end by itself.
        let _ = to.shutdown(std::net::Shutdown::Write);
        if !intake.is_closed_within(GRACE) {
            stop.stop();
        }
    }

    fn take(&mut self, bytes: &[u8], to: &mut UnixStream) {
        let Talk { session, inside, is_unheard, .. } = self;
        session.take(bytes, inside, &mut |reply| {
            *is_unheard = *is_unheard || to.write_all(reply).is_err();
        });
    }

    fn tell(&mut self, to: &mut UnixStream, line: &[u8]) {
        self.is_unheard = to.write_all(line).is_err();
    }

    /// What is to be known of it, for programs.
    pub fn facts(&self) -> Value {
        let mut counts = json!(self.session.counts());
        counts["fuel"] = json!(self.inside.fuel_used);
        json!({ "summary": self.session.summary(), "counts": counts, "log": self.session.log() })
    }
}
