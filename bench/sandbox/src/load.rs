//! Orders many runs from an image that is up, over one connection: so many a second, a thousand in a burst, a thousand alive
//! at once. The example `load` of crate `keeper` does the same from the command line.

use keeper::protocol::{RunEnd, RunOrder, RunVerdict, Word};
use keeper::{Client, KeeperError, RunEvent};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// What `telos exec` gives every program.
pub const VARIABLES: [(&str, &str); 4] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/home/user"),
    ("USER", "user"),
    ("LANG", "C.UTF-8"),
];

pub fn order(program: &[impl AsRef<std::ffi::OsStr>]) -> RunOrder {
    let mut order = RunOrder::new(program);
    let word = |text: &str| Word::Text(text.to_string());
    order.environment = VARIABLES.iter().map(|(name, value)| (word(name), word(value))).collect();
    order
}

/// How many ended well, in what time, and what was wrong with the others, which count for nothing.
pub struct Ended {
    pub runs: u64,
    pub taken: Duration,
    pub failures: Vec<String>,
}

impl Ended {
    pub fn per_second(&self) -> f64 {
        self.runs as f64 / self.taken.as_secs_f64()
    }
}

/// How many failed; what the first of them were is for people.
pub fn tell_failures(contender: &str, failures: &[String]) -> usize {
    failures.iter().take(3).for_each(|failure| eprintln!("a run of {contender} failed: {failure}"));
    failures.len()
}

/// Keeps so many in flight, for that time; then waits for the last of them.
pub fn rate(client: &mut Client, order: &RunOrder, slice: Duration, in_flight: usize) -> Result<Ended, KeeperError> {
    let began = Instant::now();
    let (mut under_way, mut runs, mut failures) = (0, 0, Vec::new());
    while under_way > 0 || began.elapsed() < slice {
        while under_way < in_flight && began.elapsed() < slice {
            client.post_run(order, &[])?;
            under_way += 1;
        }
        client.flush()?;
        if under_way > 0 {
            match next_end(client)? {
                None => runs += 1,
                Some(failure) => failures.push(failure),
            }
            under_way -= 1;
        }
    }
    Ok(Ended { runs, taken: began.elapsed(), failures })
}

/// Waits until one has ended; what was wrong with that.
fn next_end(client: &mut Client) -> Result<Option<String>, KeeperError> {
    loop {
        match client.receive_run()?.1 {
            RunEvent::Ended(RunEnd::Ended { verdict: RunVerdict::Exited(0), .. }) => return Ok(None),
            RunEvent::Ended(end) => return Ok(Some(format!("{end:?}"))),
            _ => {}
        }
    }
}

/// All were ordered at once.
pub struct Burst {
    /// Until the keeper had taken the last one.
    pub accepted: Duration,
    /// What of them was under way then; the others waited, or had ended.
    pub under_way: usize,
    pub ended: Ended,
}

/// `watcher` is another connection to the same image: an answer to this one would come between what runs say.
pub fn burst(client: &mut Client, watcher: &mut Client, order: &RunOrder, count: usize) -> Result<Burst, KeeperError> {
    let before = watcher.status()?.runs_ended;
    let began = Instant::now();
    for _ in 0..count {
        client.post_run(order, &[])?;
    }
    client.flush()?;
    let under_way = loop {
        let status = watcher.status()?;
        let taken = status.runs_waiting + status.runs_under_way + (status.runs_ended - before) as usize;
        if taken >= count {
            break status.runs_under_way;
        }
    };
    let accepted = began.elapsed();
    let mut failures = Vec::new();
    for _ in 0..count {
        failures.extend(next_end(client)?);
    }
    let runs = (count - failures.len()) as u64;
    let ended = Ended { runs, taken: began.elapsed(), failures };
    Ok(Burst { accepted, under_way, ended })
}

/// Runs that do nothing but live.
pub struct Alive {
    /// So many had said that they run, and none of those had ended.
    pub at_once: usize,
    /// Until the last of them had said so.
    pub taken: Duration,
    pub failures: Vec<String>,
}

/// Starts so many that live until they are stopped, hears from each of them, and stops them.
pub fn alive(client: &mut Client, count: usize) -> Result<Alive, KeeperError> {
    let mut order = order(&["sh", "-c", "echo; exec sleep 1d"]);
    order.limits.time_ms = None;
    let began = Instant::now();
    for _ in 0..count {
        client.post_run(&order, &[])?;
    }
    client.flush()?;
    let (mut living, mut failures) = (BTreeSet::new(), Vec::new());
    while living.len() + failures.len() < count {
        match client.receive_run()? {
            (id, RunEvent::Output(..)) => {
                living.insert(id);
            }
            (id, RunEvent::Ended(end)) => {
                living.remove(&id);
                failures.push(format!("{end:?}"));
            }
            _ => {}
        }
    }
    let (at_once, taken) = (living.len(), began.elapsed());
    let canceller = client.canceller()?;
    for id in &living {
        canceller.cancel(*id)?;
    }
    while !living.is_empty() {
        if let (id, RunEvent::Ended(end)) = client.receive_run()? {
            living.remove(&id);
            let is_stopped = matches!(end, RunEnd::Ended { verdict: RunVerdict::Stopped, .. });
            failures.extend((!is_stopped).then(|| format!("{end:?}")));
        }
    }
    Ok(Alive { at_once, taken, failures })
}
