//! An image that is killed again and again, and looked at after each time: the same seed kills at the same moments as far as that can be.

use super::up::Up;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use testkit::Random;

/// What is left of it.
pub struct Killed {
    pub kills: u64,
    pub directory: PathBuf,
    _temporary: TempDir,
}

/// Makes an image with this state, and does so as often as the gate wants, or `TELOS_SOAK`. The last argument of `kill` says when it is.
pub fn killed(label: &str, sample: u64, state: &str, mut kill: impl FnMut(&Path, &mut Random, &str)) -> Killed {
    let seed = std::env::var("TELOS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let kills = if std::env::var_os("TELOS_SOAK").is_some() { 200 } else { sample };
    println!("{label}: TELOS_SEED={seed}, {kills} kills");
    let mut random = Random::new(seed);
    let temporary = tempfile::tempdir().expect("there is a place for temporary files");
    let directory = temporary.path().join("image");
    let mut up = Up::start_in(&directory, &[]);
    up.send(state).ok();
    up.stop();
    for number in 0..kills {
        kill(&directory, &mut random, &format!("TELOS_SEED={seed}, kill {number}"));
    }
    Killed { kills, directory, _temporary: temporary }
}
