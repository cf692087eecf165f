//! The image that a demo happens in: a real one, kept up by a process of its own. Process and directory are gone at the end,
//! however it comes; only `--keep` leaves the image.

use super::act::{Actor, Stop, signal};
use anyhow::{Context, bail};
use rustix::process::Signal;
use std::fs::{DirBuilder, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// What the image is called, beside the files of the demo.
const NAME: &str = "shop";
/// What the keeper says of itself.
const LOG: &str = "up.log";
/// A keeper that was told to end has ended long before.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(5);

pub struct Stage {
    /// Removed at the end, with all that is in it.
    pub scratch: PathBuf,
    pub image: PathBuf,
    /// How the image is named on a command line: short, as long as it lies in the scratch directory.
    pub name: String,
    keeper: Option<Child>,
}

impl Stage {
    pub fn new(keep: Option<&Path>) -> anyhow::Result<Stage> {
        let kept = keep.map(new_directory).transpose()?;
        let scratch = std::env::temp_dir().join(format!("telos-demo-{}", random_name()?));
        DirBuilder::new().mode(0o700).create(&scratch).with_context(|| format!("cannot make {}", scratch.display()))?;
        let mut stage = Stage { image: scratch.join(NAME), scratch, name: NAME.into(), keeper: None };
        if let Some(kept) = kept {
            stage.name = kept.display().to_string();
            stage.image = kept;
        }
        Ok(stage)
    }

    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, Stop> {
        let path = self.scratch.join(name);
        let written = std::fs::write(&path, text);
        written.map_err(|error| Stop::Wrong(format!("cannot write {}: {error}", path.display())))?;
        Ok(path)
    }

    /// Starts `telos up` and waits until it says that it is ready.
    pub fn start(&mut self, actor: &Actor) -> Result<Duration, Stop> {
        let begun = Instant::now();
        let cannot = |error: std::io::Error| Stop::Wrong(format!("telos up cannot be started: {error}"));
        let log = self.scratch.join(LOG);
        let mut command = actor.command(&["up", &self.name]);
        // Ctrl-C is for the demo, which ends its image in order.
        command.stderr(File::create(&log).map_err(cannot)?).process_group(0);
        let keeper = self.keeper.insert(command.spawn().map_err(cannot)?);
        let stdout = keeper.stdout.take();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = stdout.map(|stdout| BufReader::new(stdout).read_line(&mut line));
            drop(sender.send(line));
        });
        if actor.heard(&receiver)?.is_empty() {
            let why = std::fs::read_to_string(&log).unwrap_or_default();
            return Err(Stop::Wrong(format!("telos up did not come up: {}", why.trim_end())));
        }
        Ok(begun.elapsed())
    }

    /// Lets the image come to its end, as `kill -TERM` does. Says whether it did so by itself.
    pub fn end(&mut self) -> bool {
        let Some(mut keeper) = self.keeper.take() else { return true };
        signal(keeper.id(), Signal::TERM);
        let deadline = Instant::now() + PATIENCE;
        loop {
            match keeper.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(GLANCE),
                _ => {
                    // Its image process notices, and ends.
                    let _ = keeper.kill();
                    let _ = keeper.wait();
                    return false;
                }
            }
        }
    }

    /// Whether nothing of it is left.
    pub fn clear(&mut self) -> bool {
        self.end();
        let deadline = Instant::now() + PATIENCE;
        // An image process whose keeper was killed may still be at work there.
        while std::fs::remove_dir_all(&self.scratch).is_err() && self.scratch.exists() {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(GLANCE);
        }
        true
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Where an image may be left: nobody's work is written over.
fn new_directory(path: &Path) -> anyhow::Result<PathBuf> {
    let is_free = match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !is_free {
        bail!("{} is there already; --keep needs a directory that is new or empty", path.display());
    }
    system::file::make_directory(path)?;
    path.canonicalize().with_context(|| format!("cannot find {}", path.display()))
}

fn random_name() -> anyhow::Result<String> {
    let mut bytes = [0; 6];
    system::random::fill(&mut bytes).context("the system gives no random numbers")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
