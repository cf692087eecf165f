//! Sixteen clients of `telos up` against sixteen threads of each peer: the same transaction, durable when it is answered.
//! Ours is parsed, run by the machine, and goes through a socket and two processes; theirs is a call.

use crate::peers::{Contender, NAMES, open};
use crate::up::{Up, ask};
use crate::work::{Awake, KEYS, Puts, Random, required};
use keeper::Client;
use keeper::protocol::Request;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

const CLIENTS: u64 = 16;

/// Commits a second of each, in the order of `NAMES`; the raw append is left out.
pub fn measure(directory: &Path, rounds: u64, requests: u64) -> Value {
    let place = directory.join("up");
    std::fs::create_dir_all(&place).expect("the directory can be made");
    let up = Up::start(&required("--telos"), &place);
    let setting =
        format!("Item := Object clone do(v := nil); items := list(); {KEYS} repeat(items append(Item clone)); nil");
    ask(&mut up.client(), &Request::evaluate(setting));
    let peers: Vec<&str> = NAMES.into_iter().filter(|name| !["telos", "raw"].contains(name)).collect();
    let contenders: Vec<Box<dyn Contender>> = peers.iter().map(|name| open(name, directory)).collect();
    let mut rates = vec![Vec::new(); 1 + peers.len()];
    for round in 0..rounds {
        for offset in 0..rates.len() {
            let index = (round as usize + offset) % rates.len();
            let rate = match index {
                0 => through_the_socket(&up, round, requests),
                _ => in_process(&*contenders[index - 1], round, requests),
            };
            rates[index].push(rate);
        }
        eprintln!("clients: round {} of {rounds}", round + 1);
    }
    let names = ["telos"].into_iter().chain(peers);
    names.zip(rates).map(|(name, rates)| (name.to_string(), json!(rates))).collect()
}

fn through_the_socket(up: &Up, round: u64, requests: u64) -> f64 {
    let clients: Vec<Client> = (0..CLIENTS).map(|_| up.client()).collect();
    let _awake = Awake::new();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for (thread, mut client) in clients.into_iter().enumerate() {
            scope.spawn(move || {
                let mut random = Random(round * 100 + thread as u64);
                (0..requests).for_each(|_| drop(ask(&mut client, &request_of(&random.puts()))));
            });
        }
    });
    (requests * CLIENTS) as f64 / start.elapsed().as_secs_f64()
}

fn request_of(puts: &Puts) -> Request {
    let mut source = String::new();
    for (key, value) in puts {
        let value = str::from_utf8(value).expect("values are letters");
        // Writing to a String never fails.
        let _ = write!(source, "items at({}) v = \"{value}\"; ", key - 1);
    }
    source.push_str("nil");
    let mut request = Request::evaluate(source);
    request.cause = Some("put".into());
    request
}

fn in_process(contender: &dyn Contender, round: u64, requests: u64) -> f64 {
    let _awake = Awake::new();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..CLIENTS {
            scope.spawn(move || {
                let mut random = Random(round * 100 + thread);
                (0..requests).for_each(|_| contender.commit(&random.puts(), thread));
            });
        }
    });
    (requests * CLIENTS) as f64 / start.elapsed().as_secs_f64()
}
