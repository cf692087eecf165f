//! How many requests a second an image answers through its socket:
//! `cargo run --release -p keeper --example throughput -- DIR [CLIENTS] [SECONDS] [EXPRESSION]`,
//! with `telos up DIR` running. Each client sends one request at a time.

use keeper::Client;
use keeper::protocol::{Outcome, Request};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

type Fault = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Fault> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let directory = PathBuf::from(arguments.first().ok_or("which directory?")?);
    let clients: usize = arguments.get(1).map_or(Ok(16), |text| text.parse())?;
    let seconds: f64 = arguments.get(2).map_or(Ok(3.0), |text| text.parse())?;
    let source = arguments.get(3).map_or("1 + 2", String::as_str).to_string();
    let is_over = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let threads: Vec<_> = (0..clients)
        .map(|_| {
            let (directory, source, is_over) = (directory.clone(), source.clone(), is_over.clone());
            std::thread::spawn(move || ask(&directory, &source, &is_over))
        })
        .collect();
    std::thread::sleep(Duration::from_secs_f64(seconds));
    is_over.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for thread in threads {
        times.extend(thread.join().map_err(|_| "a client panicked")??);
    }
    let elapsed = began.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
    let rate = times.len() as f64 / elapsed;
    println!("{clients} clients: {rate:.0} requests a second, p50 {:?}, p99 {:?}", at(0.5), at(0.99));
    Ok(())
}

fn ask(directory: &std::path::Path, source: &str, is_over: &AtomicBool) -> Result<Vec<Duration>, Fault> {
    let mut client = Client::connect(directory, "throughput")?;
    let request = Request::evaluate(source);
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let began = Instant::now();
        let answer = client.send(&request)?;
        times.push(began.elapsed());
        if let Outcome::Failure(failure) = answer.outcome {
            return Err(failure.message.into());
        }
    }
    Ok(times)
}
