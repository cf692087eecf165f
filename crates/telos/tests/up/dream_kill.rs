//! Dreams begun, spoken to and ended without pause, and a dreamer, an attendant, the image process or the keeper killed at random
//! moments, again and again on the same directory: live is exactly what it was told, what a dream was answered is in its journal, and
//! nothing is left of anybody. `TELOS_SEED` sets the seed; the gate takes a few kills, `TELOS_SOAK` 200.

#![allow(clippy::disallowed_methods, reason = "how long it tests is set from outside")]

use crate::launch::telos_in;
use crate::launch::up::{Up, is_alive, signal, wait_for};
use keeper::Client;
use keeper::protocol::{Command, DreamBegun, DreamOrder, Outcome, Request};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testkit::Random;

const DREAMERS: usize = 3;
const STATE: &str = "Live := Object clone do(n := 0; text := \"\"); Mind := Object clone do(n := 0); nil";

/// What was answered: by live, and by each dream.
#[derive(Default)]
struct Told {
    live: AtomicU64,
    dreams: Mutex<BTreeMap<String, u64>>,
}

fn value(client: &mut Client, request: &Request) -> Option<String> {
    match client.send(request).ok()?.outcome {
        Outcome::Value(shown) => Some(shown.text),
        Outcome::Failure(_) => None,
    }
}

fn write_for_ever(client: &mut Client, told: &Told) {
    for next in told.live.load(Ordering::SeqCst) + 1.. {
        let source = format!("Live n = {next}; Live text = {next} asString repeated(300); nil");
        match value(client, &Request::evaluate(source)) {
            Some(_) => told.live.store(next, Ordering::SeqCst),
            None => return,
        }
    }
}

/// Until nobody answers any more. A dream that is killed is followed by another.
fn dream_for_ever(client: &mut Client, told: &Told) {
    let order = || DreamOrder { is_kept: true, time_ms: Some(60_000), ..DreamOrder::default() };
    loop {
        let Ok(begun) = client.send(&Request::new(Command::Dream(Box::new(order())))) else { return };
        let Outcome::Value(shown) = begun.outcome else { return };
        let DreamBegun { dream, .. } = serde_json::from_str(&shown.text).expect("it says so");
        for n in 1..=5u64 {
            let request =
                Request { dream: Some(dream.clone()), ..Request::evaluate(format!("Mind n = {n}; Live n = 0; {n}")) };
            match value(client, &request) {
                Some(text) => assert_eq!(text, n.to_string()),
                None => break,
            }
            told.dreams.lock().unwrap().insert(dream.clone(), n);
        }
        if client.send(&Request { dream: Some(dream), ..Request::new(Command::Wake) }).is_err() {
            return;
        }
    }
}

/// Processes below this one, attendants and dreamers.
fn below(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children: Vec<u32> = children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    children.iter().copied().chain(children.iter().flat_map(|child| below(*child))).collect()
}

fn run_and_kill(directory: &Path, told: &Told, random: &mut Random) {
    let mut up = Up::start_in(directory, &[]);
    let mut clients: Vec<Client> = (0..=DREAMERS).map(|_| up.client()).collect();
    let mut left = Vec::new();
    std::thread::scope(|scope| {
        let (writer, dreamers) = clients.split_first_mut().expect("there are some");
        scope.spawn(|| write_for_ever(writer, told));
        for client in dreamers {
            scope.spawn(|| dream_for_ever(client, told));
        }
        std::thread::sleep(Duration::from_micros(random.below(400_000) as u64));
        // Some dreams first, which nobody else must notice.
        let victims = below(up.image_pid);
        for _ in 0..random.below(3) {
            if let Some(victim) = victims.get(random.below(victims.len().max(1))) {
                let _ = std::process::Command::new("kill").args(["-KILL", &victim.to_string()]).output();
            }
        }
        std::thread::sleep(Duration::from_micros(random.below(50_000) as u64));
        left.extend(below(up.image_pid));
        signal(if random.chance(50) { up.image_pid } else { up.pid() }, "KILL");
        let (image, keeper) = (up.image_pid, up.pid());
        wait_for("both have ended", || !is_alive(image) && !is_alive(keeper));
    });
    up.ended();
    left.extend(victims_named(directory));
    wait_for("no dream is left", || !left.iter().any(|pid| is_alive(*pid)));
}

/// Nothing has the image's files open any more.
fn victims_named(directory: &Path) -> Vec<u32> {
    let holds = |pid: &u32| {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors.filter_map(|each| std::fs::read_link(each.path()).ok()).any(|path| path.starts_with(directory))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(holds).collect()
}

fn verify(directory: &Path, told: &Told, when: &str) {
    let mut up = Up::start_in(directory, &[]);
    let path = directory.to_str().expect("temporary files have plain names");
    let check = telos_in(Path::new("."), &["image", "check", "--image", path], "");
    assert_eq!(check.code, Some(0), "{when}: {check:?}");
    let found = up.send("list(Live n, Live text == (Live n asString repeated(300)), Mind n)").ok();
    let written = found.trim_start_matches("list(").split(',').next().and_then(|n| n.parse::<u64>().ok());
    let written = written.unwrap_or_else(|| panic!("{when}: {found}"));
    assert!(written >= told.live.load(Ordering::SeqCst), "{when}: live has lost something: {found}");
    assert!(written == 0 || found.ends_with(", true, 0)\n"), "{when}: a part of a message, or of a dream: {found}");
    told.live.store(written, Ordering::SeqCst);
    let mut client = up.client();
    for (dream, n) in std::mem::take(&mut *told.dreams.lock().unwrap()) {
        let page = value(&mut client, &Request::new(Command::ShowDream(dream.clone())));
        let page: serde_json::Value =
            serde_json::from_str(&page.unwrap_or_else(|| panic!("{when}: dream {dream} is gone"))).expect("JSON");
        assert_ne!(page["status"], "running", "{when}: {dream}");
        let changes = page["changes"].as_array().expect("a list");
        let minds = changes.iter().filter(|change| change["slot_name"] == "n" && change["value"] == n as f64).count();
        assert!(minds >= 1, "{when}: {dream} was answered {n}, and its journal has {changes:?}");
        assert!(value(&mut client, &Request::new(Command::DiscardDream(dream))).is_some());
    }
    assert_eq!(up.stop().0, Some(0), "{when}");
}

#[test]
fn kills_among_dreams_leave_live_exact_and_nobody_behind() {
    let told = Told::default();
    let mut dreams = 0;
    let killed = crate::launch::kill::killed("dream kill", 6, STATE, |directory, random, when| {
        run_and_kill(directory, &told, random);
        dreams += told.dreams.lock().unwrap().len();
        verify(directory, &told, when);
    });
    let written = told.live.load(Ordering::SeqCst);
    println!("{} kills, {written} messages of live, {dreams} dreams", killed.kills);
    assert!(written > 0 && dreams > 0, "they worked");
}
