//! Runs through an image that is up: over one connection with eight in flight, in turn with the same programs started
//! directly by four workers; then a thousand ordered at once, and a thousand that are alive at the same moment.

use crate::Setting;
use crate::contender::{self, Contender};
use crate::load;
use keeper::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use tempfile::TempDir;

const IN_FLIGHT: usize = 8;
const PLAIN_WORKERS: usize = 4;
const MANY: usize = 1000;
/// Python by its own path: what a user's PATH finds may be a script that looks for the right Python first.
const PROGRAMS: [(&str, [&str; 3]); 2] =
    [("bash", ["bash", "-c", "true"]), ("python", ["/usr/bin/python3", "-c", "pass"])];

pub fn measure(setting: &Setting) -> Value {
    let up = Up::start(setting);
    let (mut client, mut watcher) = (up.client(), up.client());
    let rates = rates(setting, &mut client);
    let bash = load::order(&PROGRAMS[0].1);
    let burst = load::burst(&mut client, &mut watcher, &bash, MANY).expect("it takes them");
    let alive = load::alive(&mut client, MANY).expect("it starts them");
    json!({
        "rates": rates,
        "burst": {
            "accepted_s": burst.accepted.as_secs_f64(),
            "ended_s": burst.ended.taken.as_secs_f64(),
            "under_way": burst.under_way,
            "failures": load::tell_failures("the burst", &burst.ended.failures),
        },
        "alive": {
            "at_once": alive.at_once,
            "taken_s": alive.taken.as_secs_f64(),
            "failures": load::tell_failures("those alive", &alive.failures),
        },
    })
}

/// Program by program, ours and plain in turn.
fn rates(setting: &Setting, client: &mut Client) -> Value {
    let mut samples = PROGRAMS.map(|_| (Vec::new(), Vec::new()));
    let (mut our_failures, mut plain_failures) = (0, 0);
    for round in 0..setting.rounds {
        for ((_, program), (ours, plain)) in PROGRAMS.iter().zip(&mut samples) {
            let mut warded = || {
                let order = load::order(program);
                let ended = load::rate(client, &order, setting.up_slice, IN_FLIGHT).expect("it runs them");
                our_failures += load::tell_failures("telos", &ended.failures);
                ours.push(ended.per_second());
            };
            let mut direct = || {
                let ended = Contender::command(program).rate(setting, PLAIN_WORKERS, setting.up_slice);
                plain_failures += load::tell_failures("plain", &ended.failures);
                plain.push(ended.per_second());
            };
            // Who comes first changes from round to round.
            if round % 2 == 0 {
                warded();
                direct();
            } else {
                direct();
                warded();
            }
        }
        eprintln!("round {} of {}", round + 1, setting.rounds);
    }
    let each = PROGRAMS.iter().zip(samples);
    let mut rates: serde_json::Map<String, Value> = each
        .map(|((name, _), (ours, plain))| ((*name).to_string(), json!({ "telos": ours, "plain": plain })))
        .collect();
    rates.insert("failures".into(), json!({ "telos": our_failures, "plain": plain_failures }));
    rates.into()
}

/// An image of its own, in a directory that is gone afterwards.
struct Up {
    directory: PathBuf,
    keeper: Child,
    _temporary: TempDir,
}

impl Up {
    fn start(setting: &Setting) -> Up {
        let temporary = tempfile::tempdir().expect("a directory can be made");
        let directory = temporary.path().join("image");
        let mut command = contender::command(setting, &[setting.telos.display().to_string()]);
        command.args(["up", "--json"]).arg(&directory).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut keeper = command.spawn().expect("telos starts");
        let mut line = String::new();
        let stdout = keeper.stdout.as_mut().expect("standard output is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("it says when it is ready");
        assert!(serde_json::from_str::<Value>(&line).is_ok(), "telos up is not ready: {line:?}");
        Up { directory, keeper, _temporary: temporary }
    }

    fn client(&self) -> Client {
        Client::connect(&self.directory, "bench").expect("it is up")
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // In order, so that nothing of it is left when whoever comes next is measured.
        let _ = kill_process(Pid::from_child(&self.keeper), Signal::TERM);
        let _ = self.keeper.wait();
    }
}
