//! Orders many runs from an image that is up, and says how many ended in a second:
//!
//!     cargo run --release -p keeper --example load -- DIR rate SECONDS IN_FLIGHT PROGRAM WORDS…
//!     cargo run --release -p keeper --example load -- DIR burst COUNT PROGRAM WORDS…
//!     cargo run --release -p keeper --example load -- DIR alive COUNT
//!
//! `rate` keeps so many in flight on one connection; `burst` orders all at once and waits for the end of all; `alive` waits
//! until all of them run, and stops them. `cargo xtask bench sandbox` does the same beside plain programs.

#[path = "../../../bench/sandbox/src/load.rs"]
mod load;

use keeper::Client;
use load::{alive, burst, order, rate, tell_failures};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [directory, mode, count, rest @ ..] = words.as_slice() else { return Err("see the head of the file".into()) };
    let connect = || Client::connect(directory.as_ref(), "load");
    let mut client = connect()?;
    let failures = match (mode.as_str(), rest) {
        ("rate", [in_flight, program @ ..]) => {
            let slice = Duration::from_secs_f64(count.parse()?);
            let ended = rate(&mut client, &order(program), slice, in_flight.parse()?)?;
            let (runs, taken) = (ended.runs, ended.taken.as_secs_f64());
            println!("{runs} runs in {taken:.2} s: {:.0}/s", ended.per_second());
            ended.failures
        }
        ("burst", program) => {
            let burst = burst(&mut client, &mut connect()?, &order(program), count.parse()?)?;
            let (accepted, under_way) = (burst.accepted.as_secs_f64(), burst.under_way);
            println!("accepted in {accepted:.3} s, {under_way} under way then");
            println!("all ended after {:.2} s", burst.ended.taken.as_secs_f64());
            burst.ended.failures
        }
        ("alive", []) => {
            let alive = alive(&mut client, count.parse()?)?;
            println!("{} alive at once after {:.2} s", alive.at_once, alive.taken.as_secs_f64());
            alive.failures
        }
        _ => return Err("the mode is rate, burst or alive".into()),
    };
    match tell_failures(mode, &failures) {
        0 => Ok(()),
        count => Err(format!("{count} failed").into()),
    }
}
