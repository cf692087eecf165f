//! `telos exec` and `telos up` against plain programs, bwrap, unshare, runc and sandlock, interleaved in one run. Prints
//! every sample as JSON; `cargo xtask bench sandbox` makes medians, ratios and bars of it.

mod cold;
mod contender;
mod load;
mod up;
mod view;

use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;

fn main() {
    let rounds = argument("--rounds").map_or(10, |text| text.parse().expect("--rounds is a number"));
    let seconds = argument("--seconds").map_or(1.0, |text| text.parse().expect("--seconds is a number"));
    let up_seconds = argument("--up-seconds").map_or(10.0, |text| text.parse().expect("--up-seconds is a number"));
    let setting = Setting {
        telos: argument("--telos").map(PathBuf::from).expect("--telos names the program"),
        sandlock: argument("--sandlock").map(PathBuf::from),
        state: tempfile::tempdir().expect("a directory can be made"),
        rounds,
        slice: Duration::from_secs_f64(seconds),
        up_slice: Duration::from_secs_f64(up_seconds),
    };
    let only = argument("--only");
    let mut report = Map::<String, Value>::new();
    for (name, measure) in PARTS.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        report.insert((*name).into(), measure(&setting));
    }
    println!("{}", json!(report));
}

/// What all parts are given.
pub struct Setting {
    pub telos: PathBuf,
    /// A Python that has sandlock.
    pub sandlock: Option<PathBuf>,
    /// Where telos records what it ran.
    pub state: tempfile::TempDir,
    pub rounds: u64,
    /// How long each contender runs in each round.
    pub slice: Duration,
    /// The same in the part `up`.
    pub up_slice: Duration,
}

type Measure = fn(&Setting) -> Value;

const PARTS: [(&str, Measure); 2] = [("cold", cold::measure), ("up", up::measure)];

fn argument(name: &str) -> Option<String> {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).cloned()
}
