//! Ways to run a program, and how many runs a second each of them does. All have the same environment, the one that
//! `telos exec` gives to every program.

use crate::Setting;
use crate::load::{Ended, VARIABLES, tell_failures};
use crate::view::Bwrap;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Of those that start a sandbox for each run: as many as this benchmark's machine has processors.
const WORKERS: usize = 2;

pub enum Contender {
    /// Started once for each run.
    Command(Vec<String>),
    /// A program that runs the same again and again by itself for so many seconds, and prints how often.
    Loop(Vec<String>),
    /// One for each worker.
    Bwrap(Vec<Bwrap>),
    /// Needs a directory of its own for each run.
    Runc(Bundle),
}

impl Contender {
    pub fn command(words: &[&str]) -> Contender {
        Contender::Command(words.iter().map(|word| (*word).to_string()).collect())
    }

    pub fn bwrap(program: &[&str]) -> Contender {
        Contender::Bwrap((0..WORKERS).map(|_| Bwrap::of(program)).collect())
    }

    /// As many runs as it does in that time.
    pub fn rate(&self, setting: &Setting, workers: usize, slice: Duration) -> Ended {
        let start = Instant::now();
        let each: Vec<(u64, Vec<String>)> = std::thread::scope(|scope| {
            let work = |worker| scope.spawn(move || self.runs(setting, worker, slice));
            let workers: Vec<_> = (0..workers).map(work).collect();
            workers.into_iter().map(|worker| worker.join().expect("a worker counts")).collect()
        });
        let taken = match self {
            // What it takes to start is not counted there.
            Contender::Loop(_) => slice,
            _ => start.elapsed(),
        };
        let runs = each.iter().map(|(runs, _)| runs).sum();
        Ended { runs, taken, failures: each.into_iter().flat_map(|(_, failures)| failures).collect() }
    }

    /// How many went well, and what was wrong with the others.
    fn runs(&self, setting: &Setting, worker: usize, slice: Duration) -> (u64, Vec<String>) {
        let (start, mut runs, mut failures) = (Instant::now(), 0, Vec::new());
        if let Contender::Loop(words) = self {
            let output = command(setting, words).arg(slice.as_secs_f64().to_string()).output().expect("it starts");
            match String::from_utf8_lossy(&output.stdout).trim().parse() {
                Ok(count) if output.status.success() => runs = count,
                _ => failures.push(String::from_utf8_lossy(&output.stderr).into_owned()),
            }
            return (runs, failures);
        }
        while start.elapsed() < slice {
            let mut each = match self {
                Contender::Command(words) | Contender::Loop(words) => command(setting, words),
                Contender::Bwrap(each) => command(setting, each[worker].words()),
                Contender::Runc(bundle) => bundle.command(setting, worker, runs + failures.len() as u64),
            };
            let ended = each.stdin(Stdio::null()).stdout(Stdio::null()).output().expect("it starts");
            match ended.status.success() {
                true => runs += 1,
                false => failures.push(format!("{}: {}", ended.status, String::from_utf8_lossy(&ended.stderr))),
            }
        }
        (runs, failures)
    }
}

pub fn command(setting: &Setting, words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    // What telos records of these runs is nobody's.
    command.args(&words[1..]).env_clear().envs(VARIABLES).env("XDG_STATE_HOME", setting.state.path());
    command
}

/// What runc wants to have in a directory: a root with the host's programs, and a description.
pub struct Bundle {
    directory: TempDir,
}

impl Bundle {
    /// None where runc is not installed.
    pub fn of(program: &[&str]) -> Option<Bundle> {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let bundle = directory.path();
        let specified = Command::new("runc").args(["spec", "--bundle"]).arg(bundle).output().ok()?;
        assert!(specified.status.success(), "runc spec: {}", String::from_utf8_lossy(&specified.stderr));
        let path = bundle.join("config.json");
        let text = std::fs::read_to_string(&path).expect("runc wrote it");
        let mut config: Value = serde_json::from_str(&text).expect("it is JSON");
        config["process"]["terminal"] = json!(false);
        config["process"]["args"] = json!(program);
        config["process"]["env"] = VARIABLES.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mounts = config["mounts"].as_array_mut().expect("it has mounts");
        mounts.push(json!({ "destination": "/usr", "type": "bind", "source": "/usr", "options": ["rbind", "ro"] }));
        mounts.push(json!({ "destination": "/tmp", "type": "tmpfs", "source": "tmpfs" }));
        std::fs::write(&path, config.to_string()).expect("there is room");
        make_root(&bundle.join("rootfs"));
        Some(Bundle { directory })
    }

    fn command(&self, setting: &Setting, worker: usize, run: u64) -> Command {
        let mut command = command(setting, &["runc".into()]);
        command.arg("--root").arg(self.directory.path().join("state")).arg("run");
        command.arg("--bundle").arg(self.directory.path()).arg(format!("bench-{worker}-{run}"));
        command
    }
}

/// As on a host whose programs are all below `/usr`.
fn make_root(root: &Path) {
    let made = |path: PathBuf| std::fs::create_dir_all(path).expect("it can be made");
    ["usr", "proc", "dev", "sys", "tmp", "etc"].iter().for_each(|name| made(root.join(name)));
    for name in ["bin", "sbin", "lib", "lib64"] {
        std::os::unix::fs::symlink(format!("usr/{name}"), root.join(name)).expect("it can be made");
    }
}

/// The rates of each, and how many runs of each failed.
pub fn all_rates(setting: &Setting, contenders: &[(&str, Contender)]) -> Value {
    let mut rates = vec![Vec::new(); contenders.len()];
    let mut failures = vec![0; contenders.len()];
    for round in 0..setting.rounds as usize {
        for offset in 0..contenders.len() {
            // Who comes behind whom changes from round to round.
            let index = (round + offset) % contenders.len();
            let (name, contender) = &contenders[index];
            let ended = contender.rate(setting, WORKERS, setting.slice);
            failures[index] += tell_failures(name, &ended.failures);
            rates[index].push(ended.per_second());
        }
        eprintln!("round {} of {}", round + 1, setting.rounds);
    }
    let names = || contenders.iter().map(|(name, _)| (*name).to_string());
    let rates: Value = names().zip(rates.into_iter().map(Value::from)).collect();
    let failures: Value = names().zip(failures.into_iter().map(Value::from)).collect();
    json!({ "rates": rates, "failures": failures })
}
