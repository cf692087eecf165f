//! What every entrant does, drawn from a seed, and what is measured of it: one function for all, so that all do the same.

use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};

pub const SLOTS: usize = 10;
pub const FEW: usize = 1000;

#[derive(Clone, Copy)]
pub struct Sizes {
    pub objects: usize,
    pub sets: usize,
}

/// A small integer into one slot of one object.
#[derive(Clone, Copy)]
pub struct Set {
    pub object: usize,
    pub slot: usize,
    pub value: i64,
}

/// What live does after the fork, and what the fork does.
pub struct Sides {
    pub live: Vec<Set>,
    pub fork: Vec<Set>,
}

pub struct Work {
    pub sizes: Sizes,
    pub names: Vec<String>,
    /// Done to the image before anything is forked.
    pub sets: Vec<Set>,
    pub few: Sides,
    pub many: Sides,
}

/// A library under test: a document, or an image, with so many objects.
pub trait Entrant {
    type Fork;

    /// Objects without slots.
    fn new(work: &Work) -> Self;

    /// One transaction of live.
    fn set(&mut self, sets: &[Set]);

    /// What is needed before the fork can begin, and with `copy` all objects once more, where that is not the same.
    fn fork(&mut self, copy: bool) -> Self::Fork;

    /// One transaction of the fork; what it did, as bytes.
    fn journal(&self, fork: &mut Self::Fork, sets: &[Set]) -> Vec<u8>;

    /// From the bytes to the changed objects.
    fn merge(&mut self, fork: &Self::Fork, journal: &[u8]);

    /// Lets go of the fork.
    fn close(&mut self, _fork: Self::Fork) {}

    fn read(&self, object: usize, slot: usize) -> Option<i64>;
}

impl Work {
    pub fn new(sizes: Sizes, seed: u64) -> Work {
        let mut random = Random(seed);
        let mut draw = |count: usize| -> Vec<Set> {
            let mut set = || Set {
                object: random.below(sizes.objects),
                slot: random.below(SLOTS),
                value: random.below(1000) as i64,
            };
            (0..count).map(|_| set()).collect()
        };
        Work {
            sizes,
            names: (0..SLOTS).map(|slot| format!("slot{slot}")).collect(),
            sets: draw(sizes.sets),
            few: Sides { live: draw(FEW), fork: draw(FEW) },
            many: Sides { live: draw(sizes.sets), fork: draw(sizes.sets) },
        }
    }
}

impl Sides {
    /// Where only one side wrote, all entrants must have what it wrote last.
    fn check(&self, read: impl Fn(usize, usize) -> Option<i64>) {
        let last = |sets: &[Set]| -> BTreeMap<(usize, usize), i64> {
            sets.iter().map(|set| ((set.object, set.slot), set.value)).collect()
        };
        let (live, fork) = (last(&self.live), last(&self.fork));
        let both: BTreeSet<_> = live.keys().filter(|place| fork.contains_key(place)).copied().collect();
        for ((object, slot), value) in live.iter().chain(&fork).filter(|(place, _)| !both.contains(place)) {
            assert_eq!(read(*object, *slot), Some(*value), "object {object}, slot {slot}");
        }
    }
}

/// In milliseconds of CPU, and bytes; not a number where it was not asked for.
pub struct Measured {
    pub values: [f64; 8],
}

impl std::fmt::Display for Measured {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let values: Vec<String> = self.values.iter().map(f64::to_string).collect();
        formatter.write_str(&values.join(" "))
    }
}

/// What came of one fork and its merge.
struct Merge {
    fork_ms: f64,
    live_ms: f64,
    merge_ms: f64,
    bytes: f64,
}

/// `only` is a part, "sets", "few" or "many"; the sets are the ground of the others and always done.
pub fn measure<E: Entrant>(work: &Work, only: Option<&str>) -> Measured {
    let mut entrant = E::new(work);
    let (sets_ms, ()) = timed(|| entrant.set(&work.sets));
    let mut merged = |part: &str, sides: &Sides| {
        let is_chosen = only.is_none_or(|only| only == part);
        let nothing = Merge { fork_ms: f64::NAN, live_ms: f64::NAN, merge_ms: f64::NAN, bytes: f64::NAN };
        if is_chosen { merge(&mut entrant, sides) } else { nothing }
    };
    let (few, many) = (merged("few", &work.few), merged("many", &work.many));
    let (copy_ms, copy) = timed(|| entrant.fork(true));
    entrant.close(copy);
    let bytes = [few.bytes, many.bytes];
    let values = [sets_ms, many.live_ms, few.fork_ms, copy_ms, few.merge_ms, many.merge_ms, bytes[0], bytes[1]];
    Measured { values }
}

fn merge<E: Entrant>(entrant: &mut E, sides: &Sides) -> Merge {
    let (fork_ms, mut fork) = timed(|| entrant.fork(false));
    let (live_ms, ()) = timed(|| entrant.set(&sides.live));
    let journal = entrant.journal(&mut fork, &sides.fork);
    let (merge_ms, ()) = timed(|| entrant.merge(&fork, &journal));
    sides.check(|object, slot| entrant.read(object, slot));
    entrant.close(fork);
    Merge { fork_ms, live_ms, merge_ms, bytes: journal.len() as f64 / sides.fork.len() as f64 }
}

/// How long this thread worked on it, in milliseconds, and what came of it. The time that others took from it, on a
/// shared machine, does not count.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let now_ms = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
    };
    let start = now_ms();
    let result = work();
    (now_ms() - start, result)
}

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % count.max(1) as u64) as usize
    }
}
