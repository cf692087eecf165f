//! Objects of an image touched for the first time, in random order, each once: as the machine takes them in while a program
//! runs, and the same records read from bare LMDB.

use crate::living::{Printed, open, send};
use crate::made::{Made, options};
use crate::opening::bare_environment;
use crate::work::{again, argument, cpu_seconds, required};
use image::{Cause, Options};
use language::{Value, Vm};
use serde_json::{Value as Json, json};
use store::IMAGE;

/// A prime larger than any number of items.
const STRIDE: u64 = 2_305_843_009_213_693_951;

pub fn measure(made: &Made, count: u64, rounds: u64) -> Json {
    let count = count.min(made.items).to_string();
    let sample = |round: u64| {
        let order = round.to_string();
        let arguments =
            [("--image", made.directory.as_os_str()), ("--reads", count.as_ref()), ("--order", order.as_ref())];
        again("touch", &arguments)
    };
    let samples: Vec<Json> = (0..rounds).map(sample).collect();
    let each = |what: &str| samples.iter().map(|sample| sample[what].clone()).collect::<Json>();
    json!({ "telos_s": each("telos_s"), "lmdb_s": each("lmdb_s"), "reads": count.parse::<u64>().unwrap_or(0) })
}

/// In a process of its own, for what is in memory is touched no more. Who is first changes from round to round.
pub fn run() -> Json {
    let made = Made::read(&required("--image"));
    let (count, order) = (argument("--reads", 1_000_000), argument("--order", 0));
    let numbers: Vec<u64> = (0..count)
        .map(|number| ((u128::from(number + order * count) * u128::from(STRIDE)) % u128::from(made.items)) as u64)
        .collect();
    let (ours, theirs);
    if order % 2 == 0 {
        ours = touched(&made, &numbers);
        theirs = read(&made, &numbers);
    } else {
        theirs = read(&made, &numbers);
        ours = touched(&made, &numbers);
    }
    json!({ "telos_s": ours, "lmdb_s": theirs })
}

/// By a loop in Io that asks each for its number: what the loop itself takes is part of it.
fn touched(made: &Made, numbers: &[u64]) -> f64 {
    let options = Options { store: options(), cache_bytes: usize::MAX };
    let mut image = open(&made.directory, &options, &Printed::default());
    let shelves = send(&mut image, "shelves foreach(size); shelves");
    let mut seconds = 0.0;
    let ended = image.attempt(&Cause::default(), |vm| {
        let order = in_order(vm, shelves, numbers);
        vm.set_slot(vm.lobby(), "order", order);
        vm.evaluate("total := method(sum := 0; order foreach(item, sum = sum + item count); sum)", "touch")
            .expect("it is Io");
        let start = cpu_seconds();
        let sum = vm.evaluate("total", "touch").expect("it runs");
        seconds = cpu_seconds() - start;
        assert!(vm.number_of(sum).is_some_and(|sum| sum > 0.0));
        // Nothing of this is to be kept.
        Err::<(), ()>(())
    });
    assert!(matches!(ended, Ok(Err(()))), "everything can be loaded");
    seconds
}

/// A list of items, none of which is loaded yet.
fn in_order(vm: &mut Vm, shelves: Value, numbers: &[u64]) -> Value {
    let items: Vec<Value> = {
        let list = |value: Value| vm.list_of(value).expect("it is a list");
        let shelves: Vec<&[Value]> = list(shelves).iter().map(|&shelf| list(shelf)).collect();
        let width = shelves[0].len();
        numbers.iter().map(|&number| shelves[number as usize / width][number as usize % width]).collect()
    };
    vm.list(items)
}

fn read(made: &Made, numbers: &[u64]) -> f64 {
    let bare = bare_environment(&made.directory.join(IMAGE));
    let table = bare.table("objects", false).expect("it is there");
    let snapshot = bare.read().expect("it can be read");
    let keys: Vec<[u8; 16]> = numbers.iter().map(|&number| made.item(number).to_bytes()).collect();
    let start = cpu_seconds();
    let mut sum = 0;
    for key in &keys {
        let value = snapshot.get(table, key).expect("it can be read").expect("it is there");
        sum += value.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    }
    assert!(sum > 0);
    cpu_seconds() - start
}
