//! No room for the image: LMDB's own writes fail, or are cut short, in the middle of a checkpoint. A clear error, a store
//! that takes nothing more, and everything that was acknowledged there again once there is room.
//!
//! The work is done by a child under a bound on the size of files (`ulimit -f`): the kernel writes what fits, and refuses
//! the rest, whoever asks. A write that is cut short is what a full disk and a failing one look like to LMDB.

use crate::world::{World, assert_holds};
// Its log is smaller than any bound that is tried, so that only the image meets it.
use crate::{assert_clean, cases, options, seed};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use store::{Durability, IMAGE, Store, StoreError};
use testkit::Random;

const CHILD: &str = "TELOS_ROOM";
const COMMITS: usize = 400;
/// What `ulimit -f` counts in.
const BLOCK_BYTES: u64 = 512;

/// Not a test of its own: commits and makes checkpoints until something fails. Says what was acknowledged.
#[test]
fn child() {
    let Ok(arguments) = std::env::var(CHILD) else { return };
    let (seed, path) = arguments.split_once(' ').expect("a seed and a path");
    let store = match Store::open(Path::new(path), options()) {
        Ok(store) => store,
        Err(error) => return println!("\nfailed {error}"),
    };
    let seed: u64 = seed.parse().expect("a number");
    let (mut world, mut random) = (World::new(seed), Random::new(!seed));
    for _ in 0..COMMITS {
        let commit = world.commit();
        let is_flushed = commit.durability == Durability::Flush;
        let ticket = store.commit(commit).expect("the log has room");
        store.wait(ticket).expect("the log can be written");
        if is_flushed {
            println!("\nacknowledged {}", ticket.number);
        }
        if random.chance(20) || store.status().expect("it can be asked").pending_bytes > 24 << 10 {
            if let Err(error) = store.checkpoint() {
                assert_latched(&store, &error);
                return println!("\nfailed {error}");
            }
            println!("\nacknowledged {}", ticket.number);
        }
    }
    println!("\ndone");
}

fn assert_latched(store: &Store, error: &StoreError) {
    assert!(error.to_string().contains(IMAGE), "the file is named: {error}");
    let refused = store.commit(World::new(1).commit()).expect_err("it takes no commits");
    assert!(matches!(refused, StoreError::Latched(_)), "{refused}");
    store.history().for_each(|commit| drop(commit.expect("reads go on")));
}

#[test]
fn an_image_without_room_is_told_and_loses_nothing() {
    let seed = seed("room");
    let mut failures = 0;
    let count = cases(10, 400);
    for case in 0..count as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let directory = tempfile::tempdir().unwrap();
        Store::create(directory.path(), options()).unwrap().close().unwrap();
        // Not even for the first checkpoint, or for many; at any byte, so that writes are cut short.
        let image_bytes = std::fs::metadata(directory.path().join(IMAGE)).unwrap().len();
        let blocks = (image_bytes.max(80 << 10)) / BLOCK_BYTES + random.below(300) as u64;
        let world_seed = seed.wrapping_add(case);
        let (acknowledged, error) = run_without_room(directory.path(), world_seed, blocks);
        failures += usize::from(error.is_some());
        verify(directory.path(), world_seed, acknowledged, &format!("TELOS_SEED={seed}, case {case}: {error:?}"));
    }
    println!("room: {failures} of {count} runs met the bound");
    assert!(failures * 2 > count, "only {failures} runs met the bound");
}

/// The last commit that was acknowledged, and what went wrong then.
fn run_without_room(path: &Path, seed: u64, blocks: u64) -> (u64, Option<String>) {
    let mut command = Command::new("sh");
    // The signal that comes with such an error is not for us: the write must fail.
    command.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "room::child", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, format!("{seed} {}", path.display()));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
    let (mut acknowledged, mut error, mut is_done) = (0, None, false);
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        if let Some(number) = line.strip_prefix("acknowledged ") {
            acknowledged = number.parse().unwrap();
        } else if let Some(text) = line.strip_prefix("failed ") {
            error = Some(text.to_string());
        }
        is_done |= line == "done";
    }
    assert!(child.wait().unwrap().success() && (is_done || error.is_some()), "the child says how it ended");
    (acknowledged, error)
}

/// With room again: what was acknowledged is there, nothing else is wrong, and it works.
fn verify(path: &Path, seed: u64, acknowledged: u64, when: &str) {
    let store = Store::open(path, options()).unwrap_or_else(|error| panic!("{when}: {error}"));
    let last = store.last_commit();
    assert!(last >= acknowledged, "{when}: commit {acknowledged} was acknowledged, {last} is the last");
    let mut world = World::new(seed);
    for _ in 0..last {
        world.commit();
    }
    assert_holds(&store, &world.things, when);
    assert_clean(&store, when);
    for _ in 0..5 {
        let ticket = store.commit(world.commit()).unwrap();
        store.wait(ticket).unwrap();
        store.checkpoint().unwrap_or_else(|error| panic!("{when}: {error}"));
    }
    assert_clean(&store, when);
}
