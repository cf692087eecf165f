//! Many dreams at once that do nothing: how long it takes to have them, what each has for itself, and what all cost at rest.

use sandbox::process::{sealed, sweep};
use sandbox::{Limits, Order, Running, Streams};
use std::io::{PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use system::clone::{self, Child};

const REST: Duration = Duration::from_secs(5);

pub fn measure(count: usize) {
    let (mut heard, into) = std::io::pipe().expect("a pipe can be made");
    let start = Instant::now();
    let attendants: Vec<Child> =
        (0..count).map(|_| clone::fork(|| attend(&into)).expect("a process can be made")).collect();
    drop(into);
    heard.read_exact(&mut vec![0; count]).expect("all of them dream");
    println!("{count} dreams are there after {:?}", start.elapsed());
    let private = |pids: &[u32]| {
        let mut kilobytes: Vec<u64> = pids.iter().map(|pid| private_kilobytes(*pid)).collect();
        kilobytes.sort_unstable();
        kilobytes.get(kilobytes.len() / 2).copied().unwrap_or(0)
    };
    let outside: Vec<u32> = attendants.iter().map(|child| child.pid as u32).collect();
    let inside: Vec<u32> = outside.iter().flat_map(|pid| children(*pid)).collect();
    println!("for itself an attendant has {} kB, a dreamer {} kB (medians)", private(&outside), private(&inside));
    let used = || outside.iter().chain(&inside).map(|pid| ticks(*pid)).sum::<u64>();
    let before = used();
    std::thread::sleep(REST);
    println!("at rest all of them use {} ticks of a processor in {REST:?}", used() - before);
    let start = Instant::now();
    for child in &attendants {
        rustix::process::pidfd_send_signal(&child.pidfd, rustix::process::Signal::KILL).expect("it is our child");
        clone::wait(child.pid, true).expect("it is our child");
    }
    // Nobody has the other end any more.
    heard.read_to_end(&mut Vec::new()).expect("a pipe can be read");
    sweep();
    println!("and are gone {:?} after their attendants were killed", start.elapsed());
}

fn attend(mut into: &PipeWriter) -> i32 {
    let order = Order { limits: Limits { time: None, ..Limits::default() }, ..Order::default() };
    let running = sealed(&order, Streams::nowhere(), &[into.as_fd()], || {
        let _ = into.write_all(b"!");
        loop {
            std::thread::park();
        }
    });
    i32::from(running.and_then(|running| running.wait()).is_err())
}

fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn private_kilobytes(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with("Private_"));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum()
}

fn ticks(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}
