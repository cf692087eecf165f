//! The cycle from a dream to a part of live, as somebody at the command line goes through it.

use super::up::Up;
use super::{Ran, command};
use serde_json::Value;

impl Up {
    /// Any command, of this image.
    pub fn telos(&self, arguments: &[&str]) -> Ran {
        let mut command = command(".".as_ref(), arguments);
        let ended = command.env("TELOS_IMAGE", &self.directory).output().expect("the binary starts");
        ended.into()
    }

    /// What an expression comes to in live.
    pub fn live(&self, expression: &str) -> String {
        self.telos(&["send", expression]).ok().trim_end().to_string()
    }

    /// What a command tells programs.
    pub fn told(&self, arguments: &[&str]) -> Value {
        let ran = self.telos(arguments);
        serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
    }

    /// The name of a dream that did this, is over, and is kept.
    pub fn dreamt(&self, source: &str) -> String {
        name_of(&self.telos(&["dream", "run", "--keep", "--json", "-e", source]).ok())
    }

    /// The same inside of another.
    pub fn dreamt_within(&self, outer: &str, source: &str) -> String {
        name_of(&self.telos(&["dream", "run", "--keep", "--json", "--within", outer, "-e", source]).ok())
    }

    /// The name of a dream that begins, waits while live does one thing, does another, and ends: what it does is later.
    pub fn dreamt_later(&self, live: &str, source: &str) -> String {
        let dream = name_of(&self.telos(&["dream", "new", "--keep", "--json"]).ok());
        self.telos(&["send", live]).ok();
        self.telos(&["dream", "eval", &dream, source]).ok();
        self.telos(&["dream", "end", &dream]).ok();
        dream
    }

    /// What comes of merging one: the exit code, and the report.
    pub fn merged(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let ran = self.telos(&[&["dream", "merge", "--json"], arguments].concat());
        let report = serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no report: {ran:?}"));
        (ran.code, report)
    }
}

fn name_of(told: &str) -> String {
    let told: Value = serde_json::from_str(told).unwrap_or_else(|_| panic!("no JSON: {told}"));
    told["dream"].as_str().expect("it has a name").to_string()
}
