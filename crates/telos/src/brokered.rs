//! The broker of `telos up`: what the keeper passes on, in words that crate `broker` understands.

use crate::report;
use anyhow::Context;
use broker::{Answer, Broker, Caller, House, Policies, Stop};
use keeper::Brokering;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Brokered {
    broker: Broker,
    /// That the recording ends early was told.
    is_told: AtomicBool,
}

impl Brokered {
    pub fn new(house: Option<&Path>, record: Option<&Path>) -> anyhow::Result<Brokered> {
        let house = house.map_or_else(|| Ok(House::default()), House::read)?;
        let record = record.map(open_recording).transpose()?;
        Ok(Brokered { broker: Broker::new(house, record), is_told: AtomicBool::new(false) })
    }
}

/// What is asked and answered may be for nobody else's eyes.
pub fn open_recording(file: &Path) -> anyhow::Result<File> {
    let opened = File::options().append(true).create(true).mode(0o600).open(file);
    opened.with_context(|| format!("cannot write the recording {}", file.display()))
}

impl Brokering for Brokered {
    type Caller = Caller;
    type Stop = Stop;

    fn live(&self) -> Caller {
        Caller::live()
    }

    /// What nobody can read allows nothing.
    fn dream(&self, name: &str, policies: &[u8]) -> Caller {
        let policies = match policies {
            [] => Policies::default(),
            written => serde_json::from_slice(written).unwrap_or_default(),
        };
        Caller::dream(name, policies)
    }

    fn answer(&self, caller: &Caller, call: &[u8], stop: &Stop) -> Vec<u8> {
        let answer = match serde_json::from_slice(call) {
            Ok(call) => self.broker.answer(caller, &call, stop),
            Err(error) => Answer::failed(format!("the call cannot be read: {error}")),
        };
        if let Some(problem) = self.broker.recording_problem()
            && !self.is_told.swap(true, Ordering::Relaxed)
        {
            report::say(&format!("warning: {problem}"));
        }
        written(&answer)
    }

    fn stop(&self, stop: &Stop) {
        stop.stop();
    }

    fn refuse(&self, why: &str) -> Vec<u8> {
        written(&Answer::failed(why))
    }
}

fn written(answer: &Answer) -> Vec<u8> {
    serde_json::to_vec(answer).unwrap_or_default()
}
