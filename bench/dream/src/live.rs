//! Small transactions of four clients, with something else going on all the time, and without: dreams that are begun and ended, or
//! whole cycles from a fork to its merge.

use crate::Setting;
use crate::cycle::{self, Cycles};
use crate::dreamt::{ask, begin, end, microseconds, within};
use crate::up::Up;
use crate::work::quantile;
use keeper::Client;
use keeper::protocol::Request;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 4;

/// Beside dreams.
pub fn measure(setting: &Setting) -> Value {
    let up = Up::start(&setting.telos, &setting.small_image());
    let (with, without, dreams) = beside(setting, &up, setting.rounds, dream_once);
    json!({ "with": with.told(), "without": without.told(), "dreams": dreams })
}

/// Beside merges.
pub fn merging(setting: &Setting) -> Value {
    let up = Up::start(&setting.telos, &setting.small_image());
    cycle::get_ready(&mut up.client());
    let mut cycles = Cycles::default();
    let (with, without, merges) = beside(setting, &up, setting.rounds, |client| {
        cycles.next(client);
    });
    json!({ "with": with.told(), "without": without.told(), "merges": merges })
}

/// What the clients see with it and without, and how often it was done.
fn beside(setting: &Setting, up: &Up, rounds: u64, mut once: impl FnMut(&mut Client) + Send) -> (Slices, Slices, u64) {
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| up.client()).collect();
    let mut dreamer = up.client();
    for number in 0..CLIENTS {
        ask(&mut clients[0], &Request::evaluate(format!("Lobby written{number} := 0"))).expect("it is written");
    }
    let (mut with, mut without, mut count) = (Slices::default(), Slices::default(), 0);
    for round in 0..rounds {
        // Who comes first changes from round to round.
        for turn in 0..2 {
            if (round + turn) % 2 == 1 {
                without.add(&mut clients, setting.slice);
                continue;
            }
            let is_over = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let (dreamer, once, is_over) = (&mut dreamer, &mut once, &is_over);
                let dreaming = scope.spawn(move || {
                    let mut count = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        once(dreamer);
                        count += 1;
                    }
                    count
                });
                with.add(&mut clients, setting.slice);
                is_over.store(true, Ordering::Relaxed);
                count += dreaming.join().expect("it dreams");
            });
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    (with, without, count)
}

fn dream_once(client: &mut Client) {
    let dream = begin(client).expect("it begins");
    ask(client, &within(&dream, "Lobby mine := 1")).expect("it answers");
    end(client, &dream).expect("it ends");
}

/// What clients saw, slice by slice.
#[derive(Default)]
struct Slices {
    p50: Vec<f64>,
    p99: Vec<f64>,
    requests: usize,
    failures: usize,
}

impl Slices {
    fn add(&mut self, clients: &mut [Client], slice: Duration) {
        let each: Vec<(Vec<f64>, usize)> = std::thread::scope(|scope| {
            let send = |(number, client)| scope.spawn(move || send_for(client, number, slice));
            let threads: Vec<_> = clients.iter_mut().enumerate().map(send).collect();
            threads.into_iter().map(|thread| thread.join().expect("a client counts")).collect()
        });
        self.failures += each.iter().map(|(_, failures)| failures).sum::<usize>();
        let mut all: Vec<f64> = each.into_iter().flat_map(|(times, _)| times).collect();
        self.requests += all.len();
        self.p50.push(quantile(&mut all, 0.5));
        self.p99.push(quantile(&mut all, 0.99));
    }

    fn told(self) -> Value {
        json!({ "p50": self.p50, "p99": self.p99, "requests": self.requests, "failures": self.failures })
    }
}

fn send_for(client: &mut Client, number: usize, slice: Duration) -> (Vec<f64>, usize) {
    let request = Request::evaluate(format!("written{number} = written{number} + 1"));
    let (begun, mut times, mut failures) = (Instant::now(), Vec::new(), 0);
    while begun.elapsed() < slice {
        let start = Instant::now();
        failures += usize::from(ask(client, &request).is_err());
        times.push(microseconds(start.elapsed()));
    }
    (times, failures)
}
