//! What a copy of a running process must not have in common with it: randomness, secrets, coroutines, and what is kept for it when its
//! attendant is killed.

use crate::dream::{ACCOUNT, asked, begun, below, page, telos_dream, within};
use crate::launch::has_cgroup;
use crate::launch::up::{Up, signal, wait_for};
use keeper::protocol::{Command, DreamOrder, Request};
use std::time::Duration;

/// A copy of a process has what all threads of it held at that moment, and what they knew.
#[test]
fn dreams_of_a_busy_image_all_begin_and_no_two_are_alike() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let said = std::thread::scope(|scope| {
        for writer in 0..3 {
            let (up, is_over) = (&up, &is_over);
            scope.spawn(move || {
                let mut client = up.client();
                while !is_over.load(std::sync::atomic::Ordering::SeqCst) {
                    let source = format!("Account w{writer} := Random value asString repeated(100); nil");
                    assert!(client.send(&Request::evaluate(source)).is_ok());
                }
            });
        }
        let mut client = up.client();
        let mut said = std::collections::BTreeSet::new();
        for _ in 0..40 {
            let dream = begun(&mut client, DreamOrder::default()).dream;
            said.insert(asked(&mut client, &within(&dream, "Account x := Random value; Account x")).unwrap());
            let _ = client.send(&Request { dream: Some(dream), ..Request::new(Command::Wake) }).unwrap();
        }
        is_over.store(true, std::sync::atomic::Ordering::SeqCst);
        said
    });
    assert_eq!(said.len(), 40, "each had randomness of its own");
    assert!(!said.contains(&asked(&mut up.client(), &Request::evaluate("Random value")).unwrap()), "live too");
}

/// What the keeper knows is in no dream's memory.
#[test]
fn a_secret_of_the_keeper_is_nowhere_in_a_dreamer() {
    // Only root may look into the memory of a process that is opaque.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let secret = format!("hunter-{}", std::process::id());
    let up = Up::start_with_environment(&[("TELOS_API_KEY", &secret)]);
    let mut client = up.client();
    let dream = begun(&mut client, DreamOrder::default()).dream;
    assert_eq!(asked(&mut client, &within(&dream, "1 + 1")), Ok("2".into()));
    let dreamer = below(up.image_pid)[1];
    let marker = format!("marker {}", std::process::id());
    assert!(asked(&mut client, &within(&dream, &format!("Lobby kept := \"{marker}\" asMutable; nil"))).is_ok());
    let memory = memory_of(dreamer);
    let is_in = |piece: &[u8], text: &[u8]| {
        piece.iter().enumerate().any(|(at, byte)| *byte == text[0] && piece[at..].starts_with(text))
    };
    let holds = |text: &str| memory.iter().any(|piece| is_in(piece, text.as_bytes()));
    assert!(holds(&marker), "this finds what is there");
    assert!(!holds(&secret));
}

/// It seemed to go on for ever.
#[test]
fn a_dream_whose_attendant_was_killed_has_an_end() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let dream = begun(&mut client, DreamOrder::default()).dream;
    assert_eq!(asked(&mut client, &within(&dream, "Lobby x := 1")), Ok("1".into()));
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", up.image_pid)).unwrap();
    let attendant: u32 = children.split_whitespace().next().unwrap().parse().unwrap();
    signal(attendant, "KILL");
    wait_for("its end is known", || page(&up, &dream)["status"] == "killed");
    assert!(page(&up, &dream)["reason"].as_str().unwrap().contains("attended"));
    wait_for("its pages are given back", || up.told(&["status", "--json"])["image"]["forks"] == 0);
    let name = format!("-{attendant}-");
    wait_for("its cgroups are gone", || !has_cgroup(&name));
}

/// They went on in the copy too, and a merge set back what they had done in live meanwhile.
#[test]
fn coroutines_of_live_rest_in_a_dream() {
    let up = Up::start(&[]);
    up.send("Lobby n := 0; Clock := Object clone do(go := method(loop(wait(0.05); Lobby n = n + 1))); Clock @@go; nil")
        .ok();
    wait_for("it goes on in live", || up.send("n > 2").ok() == "true\n");
    let mut client = up.client();
    // A world dream has no clock, so that who looks at timers there fails.
    for (rung, pause) in [("process", "wait(0.3)"), ("world", "5 repeat(yield)")] {
        let source = &format!("Lobby mine := 1; before := n; {pause}; list(n - before, mine)");
        let ran = telos_dream(&up, "run", &["--rung", rung, "--keep", "--json", "-e", source]);
        assert!(ran.output.contains("\"value\":[0,1]"), "{rung}: {ran:?}");
    }
    let dream = begun(&mut client, DreamOrder { is_kept: true, ..DreamOrder::default() }).dream;
    assert_eq!(asked(&mut client, &within(&dream, "Lobby yours := 1; n")).map(drop), Ok(()));
    let before = asked(&mut client, &within(&dream, "n")).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(asked(&mut client, &within(&dream, "n")).unwrap(), before, "nobody has a turn while it is not asked");
    // What it begins itself goes on as anywhere.
    assert_eq!(
        asked(&mut client, &within(&dream, "Lobby told := 0; Lobby @@setSlot(\"told\", 7); nil")),
        Ok("nil".into())
    );
    wait_for("its own have their turns", || asked(&mut client, &within(&dream, "told")) == Ok("7".into()));
    client.send(&Request { dream: Some(dream.clone()), ..Request::new(Command::Wake) }).unwrap();
    up.send("Lobby n = 100000").ok();
    telos_dream(&up, "merge", &[&dream]);
    assert_eq!(up.send("list(n >= 100000, yours)").ok(), "list(true, 1)\n");
}

/// All that a process may read of its memory.
fn memory_of(pid: u32) -> Vec<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).unwrap();
    let mut pieces = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (start, end) = line.split_once(' ').and_then(|(range, _)| range.split_once('-')).unwrap();
        let (start, end) = (u64::from_str_radix(start, 16).unwrap(), u64::from_str_radix(end, 16).unwrap());
        let mut piece = vec![0; (end - start) as usize];
        if memory.read_exact_at(&mut piece, start).is_ok() {
            pieces.push(piece);
        }
    }
    pieces
}
