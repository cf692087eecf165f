//! Dreams a second, each begun, written to and ended, beside bwrap's runs of `true`.

use crate::dreamt::{ask, begin, end, within};
use crate::up::Up;
use crate::{Setting, peer};
use keeper::Client;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Of each, at once: enough for two processors.
const WORKERS: usize = 4;

pub fn measure(setting: &Setting) -> Value {
    let up = Up::start(&setting.telos, &setting.small_image());
    let mut clients: Vec<Client> = (0..WORKERS).map(|_| up.client()).collect();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut our_failures, mut their_failures) = (0, 0);
    for round in 0..setting.rounds {
        let mut dreams = || ours.push(per_second(setting.slice, &mut clients, dream_once, &mut our_failures));
        let mut unit = [(); WORKERS];
        let mut runs = || {
            let run = |_: &mut ()| peer::run().map(drop);
            theirs.push(per_second(setting.slice, &mut unit, run, &mut their_failures));
        };
        // Who comes first changes from round to round.
        if round % 2 == 0 {
            dreams();
            runs();
        } else {
            runs();
            dreams();
        }
        eprintln!("round {} of {}", round + 1, setting.rounds);
    }
    json!({ "telos": ours, "bwrap": theirs, "failures": { "telos": our_failures, "bwrap": their_failures } })
}

fn dream_once(client: &mut Client) -> Result<(), String> {
    let dream = begin(client)?;
    ask(client, &within(&dream, "Lobby mine := 1"))?;
    end(client, &dream)
}

/// What one worker after the other does, all of them at once, for that time.
fn per_second<W: Send>(
    slice: Duration,
    workers: &mut [W],
    once: impl Fn(&mut W) -> Result<(), String> + Sync,
    failures: &mut u64,
) -> f64 {
    let start = Instant::now();
    let count = |worker: &mut W| {
        let (mut done, mut failed) = (0, 0);
        while start.elapsed() < slice {
            match once(worker) {
                Ok(()) => done += 1,
                Err(failure) => {
                    eprintln!("one failed: {failure}");
                    failed += 1;
                }
            }
        }
        (done, failed)
    };
    let each: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = workers.iter_mut().map(|worker| scope.spawn(|| count(worker))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a worker counts")).collect()
    });
    *failures += each.iter().map(|(_, failed)| failed).sum::<u64>();
    each.iter().map(|(done, _)| done).sum::<u64>() as f64 / start.elapsed().as_secs_f64()
}
