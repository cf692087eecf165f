//! What a dream costs from the fork until its code runs, and until all of it is gone, beside the same made by hand:
//! `cargo run --release -p sandbox --example dream [ROUNDS] [MEGABYTES] [ALIVE]`, where the process has so many megabytes to copy.
//! With a third number, so many dreams are made that stay.
//!
//! Arms take turns, so that what else the machine does hits all of them. Each figure is a median.

mod alive;
mod by_hand;

use sandbox::process::{get_ready, sealed, seclude};
use sandbox::{Order, Running, Streams};
use std::io::{PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};
use system::clone;

/// How one way took: until the fork returned here, until code ran inside, until all was gone, and processor time of all.
struct Took {
    pause: Duration,
    running: Duration,
    gone: Duration,
    cpu: Duration,
}

/// What an attendant does to have `tell` called in a process of its own.
type Attend = fn(&PipeWriter) -> i32;

const ARMS: &[(&str, Attend)] = &[
    ("one fork, nothing else", tell),
    ("two forks", |into| in_child(clone::fork(|| tell(into)))),
    ("by hand: and namespaces, ids, files", |into| by_hand::make(into, by_hand::Walls::Namespaces)),
    ("by hand: and cgroup, rights, filter, rules", |into| by_hand::make(into, by_hand::Walls::All)),
    ("sealed", |into| {
        seclude();
        let ended = sealed(&Order::default(), Streams::nowhere(), &[into.as_fd()], || tell(into));
        i32::from(ended.and_then(|running| running.wait()).is_err())
    }),
];

fn tell(mut into: &PipeWriter) -> i32 {
    i32::from(into.write_all(b"!").is_err())
}

fn in_child(child: rustix::io::Result<clone::Child>) -> i32 {
    let end = child.and_then(|child| clone::wait(child.pid, true));
    end.ok().flatten().map_or(1, |end| end.status)
}

fn measure(attend: Attend) -> Took {
    let (mut heard, into) = std::io::pipe().expect("a pipe can be made");
    let start = Instant::now();
    let attendant = clone::fork(|| attend(&into)).expect("a process can be made");
    let pause = start.elapsed();
    drop(into);
    heard.read_exact(&mut [0]).expect("code ran inside");
    let running = start.elapsed();
    let end = clone::wait(attendant.pid, true).expect("it is our child").expect("it was waited for");
    assert_eq!(end.status, 0, "it went wrong");
    Took { pause, running, gone: start.elapsed(), cpu: end.user + end.system }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse::<usize>().expect("arguments are numbers"));
    let (rounds, megabytes) = (numbers.next().unwrap_or(200), numbers.next().unwrap_or(10));
    let held = vec![1_u8; megabytes << 20];
    get_ready();
    let mut all: Vec<Vec<Took>> = ARMS.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (took, (_, attend)) in all.iter_mut().zip(ARMS) {
            took.push(measure(*attend));
        }
    }
    println!("{rounds} each, medians in µs, {} MB held", held.len() >> 20);
    println!("{:<46}{:>8}{:>9}{:>8}{:>8}", "", "pause", "running", "gone", "cpu");
    for ((name, _), took) in ARMS.iter().zip(&all) {
        let of = |part: fn(&Took) -> Duration| median(took.iter().map(part).collect()).as_micros();
        let (pause, running) = (of(|took| took.pause), of(|took| took.running));
        println!("{name:<46}{pause:>8}{running:>9}{:>8}{:>8}", of(|took| took.gone), of(|took| took.cpu));
    }
    if let Some(count) = numbers.next() {
        alive::measure(count);
    }
}
