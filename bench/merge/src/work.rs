//! What every entrant does, drawn from a seed, and what is measured of it.

use std::time::Instant;

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

pub const SLOTS: usize = 10;
pub const FEW: usize = 1000;

pub struct Work {
    pub sizes: Sizes,
    pub names: Vec<String>,
    /// Done to the image before anything is forked.
    pub sets: Vec<Set>,
    /// Done by live after the fork, and by the fork.
    pub few: [Vec<Set>; 2],
    pub many: [Vec<Set>; 2],
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
            few: [draw(FEW), draw(FEW)],
            many: [draw(sizes.sets), draw(sizes.sets)],
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % count.max(1) as u64) as usize
    }
}

#[derive(Clone, Copy, Default)]
pub struct Measured {
    pub sets_ms: f64,
    pub fork_ms: f64,
    pub merge_few_ms: f64,
    pub merge_many_ms: f64,
    pub few_bytes: f64,
    pub many_bytes: f64,
}

impl Measured {
    pub fn median(samples: &[Measured]) -> Measured {
        let of = |value: fn(&Measured) -> f64| {
            let mut values: Vec<f64> = samples.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        Measured {
            sets_ms: of(|measured| measured.sets_ms),
            fork_ms: of(|measured| measured.fork_ms),
            merge_few_ms: of(|measured| measured.merge_few_ms),
            merge_many_ms: of(|measured| measured.merge_many_ms),
            few_bytes: of(|measured| measured.few_bytes),
            many_bytes: of(|measured| measured.many_bytes),
        }
    }
}

/// How long it took, and what came of it.
pub fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed().as_secs_f64() * 1000.0, result)
}
