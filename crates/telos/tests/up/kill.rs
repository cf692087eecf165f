//! A living image killed at random moments under load, with checkpoints running, again and again on the same directory:
//! nothing that a client was told is done is lost, no part of a message is found, and the check is clean each time.
//! `TELOS_SEED` sets the seed; the gate takes a few kills, `TELOS_SOAK` 200.

#![allow(clippy::disallowed_methods, reason = "how long it tests is set from outside")]

use crate::launch::kill::Killed;
use crate::launch::telos_in;
use crate::launch::up::{Up, is_alive, signal, wait_for};
use keeper::Client;
use keeper::protocol::{Outcome, Request};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testkit::Random;

const CLIENTS: usize = 4;

/// Each client has an object of its own, whose slots are written together; long texts make the checkpoint busy.
const STATE: &str = "
    Writer := Object clone do(
        n := 0; items := list(); text := nil
        write := method(number, n = number; items append(number); if(items size > 50, items removeAll; items append(number))
            text = number asString repeated(2000); number))
    w0 := Writer clone do(items := list()); w1 := Writer clone do(items := list())
    w2 := Writer clone do(items := list()); w3 := Writer clone do(items := list()); nil";

/// The last number that each client was told is done.
type Told = [AtomicU64; CLIENTS];

fn write_for_ever(client: &mut Client, number: usize, told: &AtomicU64) {
    for next in told.load(Ordering::SeqCst) + 1.. {
        let answer = client.send(&Request::evaluate(format!("w{number} write({next})")));
        match answer.map(|answer| answer.outcome) {
            Ok(Outcome::Value(_)) => told.store(next, Ordering::SeqCst),
            // Whether it was done nobody knows.
            Ok(Outcome::Failure(_)) | Err(_) => return,
        }
    }
}

/// Lets clients work, kills one of the two processes or both, and waits until nothing is left of them.
fn run_and_kill(directory: &Path, told: &Told, random: &mut Random) {
    let mut up = Up::start_in(directory, &[]);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| up.client()).collect();
    let begun = told[0].load(Ordering::SeqCst);
    std::thread::scope(|scope| {
        for (number, client) in clients.iter_mut().enumerate() {
            scope.spawn(move || write_for_ever(client, number, &told[number]));
        }
        wait_for("they are at work", || told[0].load(Ordering::SeqCst) > begun);
        std::thread::sleep(Duration::from_micros(random.below(300_000) as u64));
        if random.chance(60) {
            signal(up.image_pid, "KILL");
        }
        up.signal("KILL");
    });
    up.ended();
    wait_for("the image process has ended", || !is_alive(up.image_pid));
}

fn verify(directory: &Path, told: &Told, when: &str) {
    let mut up = Up::start_in(directory, &[]);
    let path = directory.to_str().expect("temporary files have plain names");
    let check = telos_in(Path::new("."), &["image", "check", "--image", path], "");
    assert_eq!(check.code, Some(0), "{when}: {check:?}");
    for (number, told) in told.iter().enumerate() {
        let look =
            format!("list(w{number} n, w{number} items last, w{number} text == (w{number} n asString repeated(2000)))");
        let found = up.send(&look).ok();
        let promised = told.load(Ordering::SeqCst);
        let written = found.trim_start_matches("list(").split(',').next().and_then(|n| n.parse::<u64>().ok());
        let written = written.unwrap_or_else(|| panic!("{when}: {found}"));
        assert!(written >= promised, "{when}: client {number} was told {promised}, but finds {written}");
        assert_eq!(found, format!("list({written}, {written}, true)\n"), "{when}: a part of a message");
        // One that was not answered may have been done; the client goes on behind it.
        told.store(written, Ordering::SeqCst);
    }
    assert_eq!(up.stop().0, Some(0), "{when}");
}

#[test]
fn a_killed_image_loses_nothing_that_was_answered() {
    let told = Told::default();
    let Killed { kills, directory, .. } = &crate::launch::kill::killed("kill", 8, STATE, |directory, random, when| {
        run_and_kill(directory, &told, random);
        verify(directory, &told, when);
    });
    let done: u64 = told.iter().map(|told| told.load(Ordering::SeqCst)).sum();
    let store = store::Store::open_read_only(directory, store::Options::default()).expect("nobody has it open");
    let pending = store.status().expect("it can be asked").pending_commits as u64;
    let checkpointed = store.last_commit() - pending;
    println!("{kills} kills, {done} messages, {checkpointed} of {} commits in the image", store.last_commit());
    assert!(done > *kills, "they worked");
    assert!(checkpointed > *kills, "checkpoints ran");
}
