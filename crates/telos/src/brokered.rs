//! The broker of `telos up`: what the keeper passes on, in words that crate `broker` understands; and the files of merged dreams,
//! which are brought to where they belong in this process, for it is the one that acts on the world.

use crate::handover::{Handed, Handover, call};
use crate::report;
use anyhow::{Context, bail};
use broker::{Answer, Broker, Call, Caller, House, Policies, Stop, Value, Way};
use keeper::Brokering;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Brokered {
    broker: Broker,
    image: PathBuf,
    /// That the recording ends early was told.
    is_told: AtomicBool,
}

impl Brokered {
    /// Of the image in this directory.
    pub fn new(image: &Path, house: Option<&Path>, record: Option<&Path>) -> anyhow::Result<Brokered> {
        let house = house.map_or_else(|| Ok(House::default()), House::read)?;
        let record = record.map(open_recording).transpose()?;
        Ok(Brokered { broker: Broker::new(house, record), image: image.into(), is_told: AtomicBool::new(false) })
    }

    /// Only the live image asks for this, and none of its programs can.
    fn hand_over(&self, asked: &Call) -> Answer {
        match self.handed(asked).and_then(|handed| Ok(serde_json::to_string(&handed)?)) {
            Ok(told) => Answer { way: Way::Redirected, values: vec![Value::Text(told)] },
            Err(error) => Answer::failed(format!("{error:#}")),
        }
    }

    fn handed(&self, asked: &Call) -> anyhow::Result<Handed> {
        let texts = asked.arguments.iter().map(|value| if let Value::Text(text) = value { text } else { "" });
        let texts: Vec<&str> = texts.collect();
        let [store, rest @ ..] = &texts[..] else { bail!("it does not say of which image") };
        let store = u128::from_str_radix(store, 16).context("that is no id of a store")?.to_be_bytes();
        let handover = Handover { image: &self.image, store };
        match (asked.name.as_str(), rest) {
            (call::APPLY, [dream, digest]) => handover.apply(dream, digest),
            (call::TAKE, [dream, digest, place]) => handover.take(dream, digest, &serde_json::from_str(place)?),
            (call::RESTORE, [dream]) => handover.restore(dream),
            _ => bail!("`{}` is asked for in another way", asked.name),
        }
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

    fn answer(&self, caller: &Caller, body: &[u8], stop: &Stop) -> Vec<u8> {
        let answer = match serde_json::from_slice::<Call>(body) {
            Ok(asked) if caller.is_live() && call::ALL.contains(&asked.name.as_str()) => self.hand_over(&asked),
            Ok(asked) => self.broker.answer(caller, &asked, stop),
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
