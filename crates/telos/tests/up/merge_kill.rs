//! Dreams begun, judged, merged and taken back without pause, and a dreamer, an attendant, a candidate, the image process or the keeper
//! killed at random moments, again and again on the same directory: a merge is there whole or not at all, and never twice; what was
//! answered is so; its files are there, or what was there before; its call was made, and none of a dream that was not merged; nobody is
//! left, and nothing is kept for anybody. `TELOS_SEED` sets the seed; the gate takes a few kills,
//! `TELOS_SOAK` 200.

#![allow(clippy::disallowed_methods, reason = "how long it tests is set from outside")]

use crate::launch::up::{Up, is_alive, signal, wait_for};
use keeper::Client;
use keeper::protocol::{
    Command, DreamBegun, DreamGrant, DreamOrder, Failure, FailureKind, MergeOrder, MergeReport, MergeStatus, Outcome,
    Request,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testkit::Random;

/// Each has an object of its own, which its dreams append to.
const MINDS: usize = 3;

/// The test reads what all of them write: merges that meet are judged again.
const STATE: &str = "Live := Object clone do(n := 0)
Mind := Object clone do(n := 0; text := \"\"; isWhole := method((n == log last ifNilEval(0)) and(text == textOf(n))); textOf := method(n, if(n == 0, \"\", n asString repeated(300))))
minds := list()
3 repeat(minds append(Mind clone do(log := list(); n := 0; text := \"\")))
MindTest := UnitTest clone do(testWhole := method(minds foreach(mind, assertTrue(mind isWhole))))
nil";

/// What one of them was told: the numbers in its list, and those that would be there if what is under way is done.
#[derive(Clone, Default)]
struct Told {
    sure: Vec<u64>,
    maybe: Option<Vec<u64>>,
    /// A merge that nobody has answered for yet, and its number.
    unanswered: Option<(String, u64)>,
    next: u64,
    /// What its file may hold: the number of the merge that wrote it, or 0 where there is none.
    file: BTreeSet<u64>,
    /// Numbers that were merged, some of which were taken back since.
    ever: BTreeSet<u64>,
    counts: Counts,
}

/// What was answered, all in all.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    merged: u64,
    repeated: u64,
    rejected: u64,
    undone: u64,
}

/// None if there is nobody who answers.
fn outcome(client: &mut Client, request: &Request) -> Option<Outcome> {
    client.send(request).ok().map(|answer| answer.outcome)
}

fn value(client: &mut Client, request: &Request) -> Option<Result<String, Failure>> {
    Some(match outcome(client, request)? {
        Outcome::Value(shown) => Ok(shown.text),
        Outcome::Failure(failure) => Err(failure),
    })
}

/// Whether the failure says that there is no image any more, and not that something was refused.
fn is_gone(failure: &Failure) -> bool {
    failure.kind == FailureKind::Lost
}

/// Where a mind's dreams write a file, and their promised calls a line; beside the image.
fn desk(directory: &Path, mind: usize) -> PathBuf {
    directory.with_file_name(format!("desk{mind}"))
}

/// A dream that may write to the desk of its mind, and promise commands.
fn order(desk: &Path) -> DreamOrder {
    let host = desk.to_str().expect("temporary files have plain names").to_string();
    let policies = serde_json::json!({ "commands": { "policy": "later" } });
    DreamOrder {
        is_kept: true,
        time_ms: Some(60_000),
        grants: vec![DreamGrant { inside: host.clone(), host, is_layered: true }],
        policies: Some(policies),
        ..DreamOrder::default()
    }
}

fn source(mind: usize, number: u64, desk: &Path) -> String {
    let desk = desk.display();
    format!(
        "minds at({mind}) do(log append({number}); n = {number}; text = textOf({number})); \
         File with(\"{desk}/file\") remove openForUpdating write(\"{number}\") close; \
         System system(\"echo {number} >> {desk}/calls\"); nil"
    )
}

fn merge(dream: &str) -> Request {
    Request::new(Command::Merge(Box::new(MergeOrder { dream: dream.into(), ..MergeOrder::default() })))
}

/// From fork to undo, until nobody answers, or it is over.
fn cycle(client: &mut Client, mind: usize, desk: &Path, told: &mut Told, is_over: &AtomicBool) -> Option<()> {
    while !is_over.load(Ordering::SeqCst) {
        told.next += 1;
        let number = told.next;
        let Ok(begun) = value(client, &Request::new(Command::Dream(Box::new(order(desk)))))? else { continue };
        let DreamBegun { dream, .. } = serde_json::from_str(&begun).expect("it says so");
        let source = source(mind, number, desk);
        let dreamt = value(client, &Request { dream: Some(dream.clone()), ..Request::evaluate(source) })?;
        outcome(client, &Request { dream: Some(dream.clone()), ..Request::new(Command::Wake) })?;
        if dreamt.is_err() {
            continue;
        }
        let (before, file_before) = (told.sure.clone(), told.file.clone());
        told.file.insert(number);
        told.maybe = Some([&before[..], &[number]].concat());
        told.unanswered = Some((dream.clone(), number));
        match value(client, &merge(&dream))? {
            Ok(report) => told.hear(&serde_json::from_str(&report).expect("a report")),
            Err(failure) if is_gone(&failure) => return None,
            // Its journal may be gone with its attendant; nothing was merged then.
            Err(_) => (told.maybe, told.file) = (None, file_before.clone()),
        }
        told.unanswered = None;
        if told.sure.last() == Some(&number) && number.is_multiple_of(3) {
            told.maybe = Some(before.clone());
            told.file.extend(&file_before);
            match value(client, &Request::new(Command::Undo(dream)))? {
                Ok(_) => {
                    (told.sure, told.file) = (before, file_before);
                    told.counts.undone += 1;
                }
                Err(failure) => assert!(is_gone(&failure), "{failure:?}"),
            }
            told.maybe = None;
        }
    }
    Some(())
}

impl Told {
    fn hear(&mut self, report: &MergeReport) {
        let made = self.maybe.take();
        match report.status {
            MergeStatus::Merged => {
                self.sure = made.expect("it was under way");
                let number = self.sure[self.sure.len() - 1];
                self.ever.insert(number);
                match &report.files {
                    Some(files) if files.status == "delivered" => self.file = [number].into(),
                    Some(_) => {}
                    // What it wrote was lost with its attendant.
                    None => _ = self.file.remove(&number),
                }
                self.counts.merged += 1;
                self.counts.repeated += u64::from(report.candidates - 1);
            }
            MergeStatus::Rejected => {
                expect_killed(report);
                let last = self.next;
                self.file.remove(&last);
                self.counts.rejected += 1;
            }
            status => panic!("{status:?}"),
        }
    }
}

/// Nothing is refused but what was killed: the candidate, or the dream before its end.
fn expect_killed(report: &MergeReport) {
    let reasons: Vec<String> = report.verdict.reasons().collect();
    let is_killed = |reason: &String| reason.starts_with("candidate: ") || reason.contains("did not come to its end");
    assert!(!reasons.is_empty() && reasons.iter().all(is_killed), "{reasons:?}");
}

/// Somebody who has nothing to do with dreams.
fn write(client: &mut Client, is_over: &AtomicBool) {
    while !is_over.load(Ordering::SeqCst) {
        if !matches!(value(client, &Request::evaluate("Live n = Live n + 1")), Some(Ok(_))) {
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

fn kill(pid: u32) {
    let _ = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).output();
}

fn run_and_kill(directory: &Path, told: &mut [Told], random: &mut Random) {
    let mut up = Up::start_in(directory, &[]);
    let mut clients: Vec<Client> = (0..=MINDS).map(|_| up.client()).collect();
    let (is_over, mut left) = (AtomicBool::new(false), Vec::new());
    let only_dreams = random.chance(30);
    std::thread::scope(|scope| {
        let (writer, cyclers) = clients.split_first_mut().expect("there are some");
        scope.spawn(|| write(writer, &is_over));
        for (mind, (client, told)) in cyclers.iter_mut().zip(told).enumerate() {
            let is_over = &is_over;
            scope.spawn(move || cycle(client, mind, &desk(directory, mind), told, is_over));
        }
        std::thread::sleep(Duration::from_micros(random.below(800_000) as u64));
        for _ in 0..random.below(3) + usize::from(only_dreams) {
            let victims = below(up.image_pid);
            victims.get(random.below(victims.len().max(1))).into_iter().for_each(|victim| kill(*victim));
            std::thread::sleep(Duration::from_micros(random.below(50_000) as u64));
        }
        if only_dreams {
            is_over.store(true, Ordering::SeqCst);
            return;
        }
        left.extend(below(up.image_pid));
        signal(if random.chance(50) { up.image_pid } else { up.pid() }, "KILL");
        let (image, keeper) = (up.image_pid, up.pid());
        wait_for("both have ended", || !is_alive(image) && !is_alive(keeper));
    });
    if only_dreams {
        expect_calm(&up);
        assert_eq!(up.stop().0, Some(0));
    } else {
        up.ended();
    }
    left.extend(holders(directory));
    wait_for("no dream is left", || !left.iter().any(|pid| is_alive(*pid)));
}

/// Nothing is going on any more, and nothing is kept for anybody.
fn expect_calm(up: &Up) {
    wait_for("no process is left below the image's", || below(up.image_pid).into_iter().all(|pid| !is_alive(pid)));
    wait_for("nothing is kept for a fork", || up.told(&["status", "--json"])["image"]["forks"] == 0);
    let dreams = up.told(&["dream", "list", "--json"]);
    let running = dreams.as_array().into_iter().flatten().filter(|dream| dream["status"] == "running").count();
    assert_eq!(running, 0, "{dreams}");
}

/// Who has the image's files open.
fn holders(directory: &Path) -> Vec<u32> {
    let holds = |pid: &u32| {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors.filter_map(|each| std::fs::read_link(each.path()).ok()).any(|path| path.starts_with(directory))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(holds).collect()
}

/// The numbers that each of them has; all of them must be whole.
fn lists(client: &mut Client, when: &str) -> Vec<Vec<u64>> {
    let source = "list(minds map(isWhole), minds map(log), Telos merges map(dream)) asJson";
    let text = value(client, &Request::evaluate(source)).expect("it is up").expect("it is told");
    let (whole, lists, merges): (Vec<bool>, Vec<Vec<u64>>, Vec<String>) =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{when}: {error}: {text}"));
    assert!(whole.iter().all(|whole| *whole), "{when}: a part of a merge: {text}");
    let mut once = merges.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), merges.len(), "{when}: merged twice: {merges:?}");
    lists
}

/// What the host has of a mind when nothing waits any more.
fn expect_desk(desk: &Path, told: &mut Told, when: &str) {
    let read = |name: &str| std::fs::read_to_string(desk.join(name)).unwrap_or_default();
    let file = read("file").parse().unwrap_or(0);
    assert!(told.file.contains(&file), "{when}: {} holds {file}, and may hold {:?}", desk.display(), told.file);
    told.file = [file].into();
    let called: BTreeSet<u64> = read("calls").lines().filter_map(|line| line.parse().ok()).collect();
    let is_made = |number: &u64| called.contains(number);
    assert!(told.sure.iter().all(is_made), "{when}: of {:?} only {called:?} were made", told.sure);
    assert!(called.is_subset(&told.ever), "{when}: {called:?} were made, and merged only {:?}", told.ever);
    let names = std::fs::read_dir(desk).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let left: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".telos")).collect();
    assert!(left.is_empty(), "{when}: {left:?} is left");
}

fn verify(directory: &Path, told: &mut [Told], when: &str) {
    let mut up = Up::start_in(directory, &[]);
    let check = up.telos(&["image", "check"]);
    assert_eq!(check.code, Some(0), "{when}: {check:?}");
    expect_calm(&up);
    let mut client = up.client();
    for (mind, (told, found)) in told.iter_mut().zip(lists(&mut client, when)).enumerate() {
        let is_new = told.maybe.take().is_some_and(|maybe| maybe == found);
        assert!(is_new || told.sure == found, "{when}: mind {mind} has {found:?}, and was told {:?}", told.sure);
        told.sure = found;
        told.ever.extend(&told.sure);
        let Some((dream, number)) = told.unanswered.take() else { continue };
        let is_there = told.sure.contains(&number);
        let report = value(&mut client, &merge(&dream)).expect("it is up");
        let report: MergeReport = serde_json::from_str(&report.expect("it is merged")).expect("a report");
        match (is_there, report.status) {
            (true, MergeStatus::Known) => told.counts.merged += 1,
            (false, MergeStatus::Merged) => {
                told.sure.push(number);
                told.ever.insert(number);
                told.counts.merged += 1;
            }
            (false, MergeStatus::Rejected) => expect_killed(&report),
            _ => panic!("{when}: {dream}, which is {number} of mind {mind}: {report:?}"),
        }
    }
    let now = lists(&mut client, when);
    assert!(told.iter().map(|told| &told.sure).eq(&now), "{when}: {now:?}");
    expect_calm(&up);
    wait_for("all is delivered", || up.told(&["outbox", "--json"]).as_array().is_some_and(Vec::is_empty));
    for (mind, told) in told.iter_mut().enumerate() {
        expect_desk(&desk(directory, mind), told, when);
    }
    assert_eq!(up.stop().0, Some(0), "{when}");
}

#[test]
fn kills_in_the_whole_cycle_leave_the_old_image_or_the_new_one() {
    let mut told = vec![Told::default(); MINDS];
    told.iter_mut().for_each(|told| _ = told.file.insert(0));
    let killed = crate::launch::kill::killed("merge kill", 6, STATE, |directory, random, when| {
        (0..MINDS).for_each(|mind| std::fs::create_dir_all(desk(directory, mind)).expect("there is a place for it"));
        run_and_kill(directory, &mut told, random);
        verify(directory, &mut told, when);
    });
    let counts: Vec<Counts> = told.iter().map(|told| told.counts).collect();
    println!("{} kills: {counts:?}", killed.kills);
    assert!(counts.iter().map(|counts| counts.merged).sum::<u64>() > 0, "they worked");
}
