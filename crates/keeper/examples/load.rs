//! Orders many runs from an image that is up, and says how many ended in a second:
//!
//!     cargo run --release -p keeper --example load -- DIR rate SECONDS IN_FLIGHT PROGRAM WORDS…
//!     cargo run --release -p keeper --example load -- DIR burst COUNT PROGRAM WORDS…
//!
//! `rate` keeps so many in flight on one connection; `burst` orders all at once and waits for the end of all.

use keeper::protocol::{RunEnd, RunOrder, RunVerdict};
use keeper::{Client, KeeperError, RunEvent};
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, mode, count, rest @ ..] = words.as_slice() else { return Err("see the head of the file".into()) };
    let mut client = Client::connect(directory.as_ref(), "load")?;
    match (mode.as_str(), rest) {
        ("rate", [in_flight, program @ ..]) => rate(&mut client, count.parse()?, in_flight.parse()?, program),
        ("burst", program) => burst(&mut client, count.parse()?, program),
        _ => Err("the mode is rate or burst".into()),
    }
}

fn order(program: &[String]) -> RunOrder {
    let mut order = RunOrder::new(program);
    let variables = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/home/user"), ("LANG", "C.UTF-8")];
    let word = |text: &str| keeper::protocol::Word::Text(text.to_string());
    order.environment = variables.iter().map(|(name, value)| (word(name), word(value))).collect();
    order
}

/// Waits until one has ended; whether well.
fn next_end(client: &mut Client, failures: &mut Vec<String>) -> Result<(), KeeperError> {
    loop {
        match client.receive_run()?.1 {
            RunEvent::Ended(RunEnd::Ended { verdict: RunVerdict::Exited(0), .. }) => return Ok(()),
            RunEvent::Ended(end) => {
                failures.push(format!("{end:?}"));
                return Ok(());
            }
            _ => {}
        }
    }
}

fn rate(
    client: &mut Client,
    seconds: f64,
    in_flight: usize,
    program: &[String],
) -> Result<(), Box<dyn std::error::Error>> {
    let order = order(program);
    let began = Instant::now();
    let until = began + Duration::from_secs_f64(seconds);
    let (mut under_way, mut ended, mut failures) = (0, 0u64, Vec::new());
    while under_way > 0 || Instant::now() < until {
        while under_way < in_flight && Instant::now() < until {
            client.post_run(&order, &[])?;
            under_way += 1;
        }
        client.flush()?;
        next_end(client, &mut failures)?;
        under_way -= 1;
        ended += 1;
    }
    let taken = began.elapsed().as_secs_f64();
    println!("{ended} runs in {taken:.2} s: {:.0}/s, {} failed", ended as f64 / taken, failures.len());
    failures.iter().take(3).for_each(|failure| println!("{failure}"));
    Ok(())
}

fn burst(client: &mut Client, count: usize, program: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let order = order(program);
    let began = Instant::now();
    for _ in 0..count {
        client.post_run(&order, &[])?;
    }
    client.flush()?;
    // Whoever asks is answered behind what it sent before.
    let status = client.status()?;
    let (waiting, under_way, accepted) = (status.runs_waiting, status.runs_under_way, began.elapsed());
    println!("accepted in {:.3} s; then {waiting} waited, {under_way} were under way", accepted.as_secs_f64());
    let mut failures = Vec::new();
    for _ in 0..count {
        next_end(client, &mut failures)?;
    }
    println!("all ended after {:.2} s, {} failed", began.elapsed().as_secs_f64(), failures.len());
    failures.iter().take(3).for_each(|failure| println!("{failure}"));
    Ok(())
}
