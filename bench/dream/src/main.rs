//! Dreams against a bare fork, the same walls made by hand, and bwrap, interleaved in one run. Prints every sample as JSON;
//! `cargo xtask bench dream` makes medians, ratios and bars of it. Images, and the view of bwrap's kind, are made by the code of
//! the benchmarks beside this one.

mod begin;
mod cycle;
mod dreamt;
mod floor;
mod live;
#[path = "../../store/src/living.rs"]
#[allow(dead_code)]
mod living;
#[path = "../../store/src/made.rs"]
#[allow(dead_code)]
mod made;
mod memory;
mod pause;
mod peer;
mod rate;
mod up;
#[path = "../../store/src/work.rs"]
#[allow(dead_code)]
mod work;
mod worlds;

use made::Made;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use work::{argument, required, text_argument};

const SMALL_BYTES: u64 = 10_000_000;
const LARGE_BYTES: u64 = 1_000_000_000;

fn main() {
    if let Some(path) = text_argument("--make-image") {
        made::make(&PathBuf::from(path), argument("--bytes", LARGE_BYTES));
        return;
    }
    let setting = Setting {
        telos: required("--telos"),
        directory: tempfile::tempdir().expect("a directory can be made"),
        rounds: argument("--rounds", 10),
        samples: argument("--samples", 200) as usize,
        slice: Duration::from_millis(argument("--milliseconds", 2000)),
        many: argument("--many", 1000) as usize,
    };
    let only = text_argument("--only");
    let mut report = Map::<String, Value>::new();
    for (name, measure) in PARTS.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        eprintln!("{name}");
        report.insert((*name).into(), measure(&setting));
    }
    println!("{}", json!(report));
}

/// What all parts are given.
pub struct Setting {
    pub telos: PathBuf,
    /// Where images are made; it is gone afterwards.
    pub directory: TempDir,
    /// Of the parts that measure for a while.
    pub rounds: u64,
    /// Of those that measure one thing after the other.
    pub samples: usize,
    /// How long each contender has in a round.
    pub slice: Duration,
    /// So many dreams at once.
    pub many: usize,
}

impl Setting {
    pub fn small_image(&self) -> PathBuf {
        self.image("small", SMALL_BYTES)
    }

    pub fn large_image(&self) -> PathBuf {
        text_argument("--large-image")
            .map_or_else(|| self.image("large", argument("--bytes", LARGE_BYTES)), PathBuf::from)
    }

    fn image(&self, name: &str, bytes: u64) -> PathBuf {
        let path = self.directory.path().join(name);
        if !Made::is_in(&path) {
            // Elsewhere: what making one leaves in memory would be copied by every fork of this process.
            let program = std::env::current_exe().expect("this program is somewhere");
            let mut command = Command::new(program);
            let made = command.arg("--make-image").arg(&path).args(["--bytes", &bytes.to_string()]).status();
            assert!(made.is_ok_and(|status| status.success()), "an image can be made");
        }
        path
    }
}

type Measure = fn(&Setting) -> Value;

const PARTS: [(&str, Measure); 10] = [
    ("begin", begin::measure),
    ("pause", pause::measure),
    ("idle", memory::idle),
    ("many", memory::many),
    ("rate", rate::measure),
    ("worlds", worlds::measure),
    ("live", live::measure),
    ("merge", cycle::sizes),
    ("cycle", cycle::measure),
    ("merging", live::merging),
];
