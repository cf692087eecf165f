//! How much memory a stranger's bytes can take: the bound that `Bounds` tells. Alone in its process, for the system tells only
//! the most that a process ever had.

#![cfg(target_os = "linux")]

mod lab;

use dream::{Bounds, Decoder};
use lab::{FORK, RECEIPT, frame};
use object::change::{Change, Datum};

const FRAME_BYTES: usize = 4 << 20;
/// What `Bounds` says, and what the test itself holds.
const FACTOR_MOST: usize = 64;
const OWN_BYTES: usize = 64 << 20;

/// The most that this process ever had in memory.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells it");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it is among the facts");
    line.split_whitespace().nth(1).and_then(|number| number.parse::<usize>().ok()).expect("a number") * 1024
}

fn number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// A commit without texts: a batch of actor 7 from number 1 on, about object 1.1, and then whatever follows, again and again.
fn stream(start: &[u8], counts: bool, each: &[u8]) -> Vec<u8> {
    let mut payload = vec![0; 16];
    payload.extend([1, 7, 1, 0, 1, 1]);
    payload.extend(start);
    let room = FRAME_BYTES - payload.len() - 8;
    if counts {
        number(&mut payload, room / each.len());
    }
    payload.extend(each.iter().copied().cycle().take(room / each.len() * each.len()));
    let mut stream = Vec::new();
    frame(&mut stream, 1, &payload);
    stream
}

/// `Bounds` counts on these.
#[test]
fn values_and_changes_are_as_small_as_the_bounds_say() {
    assert!(
        size_of::<Datum>() <= 24 && size_of::<Change>() <= 128,
        "{} and {}",
        size_of::<Datum>(),
        size_of::<Change>()
    );
}

#[test]
fn no_bytes_take_more_memory_than_the_bounds_say() {
    let same_object = 32;
    let cases = [
        ("a list of nils", stream(&[11 | same_object, 0], true, &[1])),
        ("a record of nils", stream(&[5 | same_object, 11], true, &[1])),
        ("replaced changes", stream(&[2 | same_object | 64], true, &[2])),
        ("removals of one slot", stream(&[2 | same_object, 0, 1, b'x'], false, &[2 | same_object, 0])),
        ("objects without anything", stream(&[], false, &[7, 0, 0, 0, 0])),
    ];
    for (what, stream) in cases {
        let before = peak_bytes();
        let bounds = Bounds { frame_bytes: FRAME_BYTES, ..Bounds::default() };
        let mut decoder = Decoder::new(FORK, bounds);
        let mut changes = 0;
        let end = decoder.feed(&stream, RECEIPT, &mut |received| changes += received.entry.changes().len());
        let grown = peak_bytes().saturating_sub(before);
        println!("{what}: {changes} changes, {end:?}, {} times the frame", grown / FRAME_BYTES);
        assert!(grown <= FACTOR_MOST * FRAME_BYTES + OWN_BYTES, "{what}: {grown} bytes");
    }
}
