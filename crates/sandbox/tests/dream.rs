//! A sealed copy of this process, as whoever makes dreams uses it: an attendant is forked from a process with threads, seals a
//! second copy, and stays with it to its end. What a dream cannot do is in the conformance suite.

use sandbox::outcome::{ChangeKind, Limit};
use sandbox::process::{get_ready, sealed, seclude};
use sandbox::{
    Access, Grant, Limits, Network, Order, Outcome, Running, SandboxError, Stdin, Stream, Streams, Verdict, View,
};
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use system::clone::{self, PANICKED};

/// Forks an attendant, which has one thread, as this process has not. What goes wrong in it goes wrong here.
fn attended(attend: impl FnOnce()) {
    let (mut told, mut tell) = std::io::pipe().unwrap();
    let attendant = clone::fork(|| {
        let Err(panic) = catch_unwind(AssertUnwindSafe(attend)) else { return 0 };
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        let _ = tell.write_all(text.unwrap_or_default().as_bytes());
        1
    });
    let attendant = attendant.unwrap();
    drop(tell);
    let mut trouble = String::new();
    told.read_to_string(&mut trouble).unwrap();
    let end = clone::wait(attendant.pid, true).unwrap().unwrap();
    assert_eq!((trouble.as_str(), end.status), ("", 0));
}

fn limits() -> Limits {
    Limits { time: Some(Duration::from_secs(20)), ..Limits::default() }
}

fn order() -> Order {
    Order { limits: limits(), ..Order::default() }
}

fn dream(order: &Order, body: impl FnOnce() -> i32) -> Outcome {
    sealed(order, Streams::nowhere(), &[], body).unwrap().wait().unwrap()
}

#[test]
fn a_copy_goes_on_with_what_it_has_and_its_answer_is_its_exit_code() {
    attended(|| {
        let mut words: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        let outcome = dream(&order(), || {
            words.retain(|word| word.len() == 3);
            words.len() as i32 - 858
        });
        assert_eq!((outcome.verdict, outcome.lacks), (Verdict::Exited(42), Vec::new()));
        assert_eq!(words.len(), 1000, "what it does to its memory is its own");
    });
}

#[test]
fn it_has_its_streams_and_what_it_was_handed_and_nothing_else() {
    let (mut here, there) = UnixStream::pair().unwrap();
    let open = std::fs::File::open("/etc/hostname").unwrap();
    attended(|| {
        let handed_on = [there.as_fd()];
        let running = sealed(&order(), Streams::nowhere(), &handed_on, || {
            let is_open = |number: &i32| system::raw::call(libc::SYS_fcntl, &[*number as usize, 1]).is_ok();
            let open: Vec<i32> = (0..4096).filter(is_open).collect();
            let leads_to = |number| std::fs::read_link(format!("/proc/self/fd/{number}")).unwrap();
            let are_pipes = (0..3).all(|number| leads_to(number).to_string_lossy().starts_with("pipe:"));
            write!(&there, "{} {are_pipes}", open.len()).unwrap();
            i32::from(open != [0, 1, 2, there.as_raw_fd()])
        });
        assert_eq!(running.unwrap().wait().unwrap().verdict, Verdict::Exited(0));
    });
    drop((open, there));
    let mut said = String::new();
    here.read_to_string(&mut said).unwrap();
    assert_eq!(said, "4 true");
}

#[test]
fn it_reads_its_input_and_its_output_is_handed_on() {
    attended(|| {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = heard.clone();
        let output = Box::new(move |stream: Stream, bytes: &[u8]| sink.lock().unwrap().push((stream, bytes.to_vec())));
        let streams = Streams { stdin: Stdin::Bytes(b"hello".to_vec()), output };
        let running = sealed(&order(), streams, &[], || {
            let mut text = String::new();
            read_input(&mut text);
            std::io::stderr().write_all(text.to_uppercase().as_bytes()).unwrap();
            0
        });
        assert_eq!(running.unwrap().wait().unwrap().verdict, Verdict::Exited(0));
        assert_eq!(*heard.lock().unwrap(), [(Stream::Error, b"HELLO".to_vec())]);
    });
}

/// Without the buffer and the lock of the standard library, of which a copy may have got anything.
fn read_input(text: &mut String) {
    let mut bytes = [0; 64];
    while let Ok(count @ 1..) = rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
}

#[test]
fn a_panic_ends_it_with_a_code_of_its_own() {
    attended(|| {
        let outcome = dream(&order(), || panic!("in a dream"));
        assert_eq!(outcome.verdict, Verdict::Exited(PANICKED));
    });
}

#[test]
fn what_it_writes_below_a_layered_grant_is_told_and_the_host_keeps_its_own() {
    let host = tempfile::tempdir().unwrap();
    std::fs::write(host.path().join("old"), "as it was").unwrap();
    attended(|| {
        let grant = |inside: &str, access| Grant { host: host.path().into(), inside: inside.into(), access };
        let grants = vec![grant("/read", Access::Read), grant("/layered", Access::Layered)];
        let order = Order { view: View { grants, ..View::default() }, ..order() };
        let outcome = dream(&order, || {
            let text = std::fs::read_to_string("/read/old").unwrap();
            std::fs::write("/layered/new", text + ", and more").unwrap();
            std::fs::remove_file("/layered/old").unwrap();
            i32::from(std::fs::write("/read/old", "x").is_ok())
        });
        assert_eq!(outcome.verdict, Verdict::Exited(0));
        let mut changes: Vec<String> = outcome
            .changes
            .iter()
            .map(|change| {
                let kind = match &change.kind {
                    ChangeKind::File { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
                    other => format!("{other:?}"),
                };
                format!("{} {}: {kind}", change.grant, change.path.display())
            })
            .collect();
        changes.sort();
        assert_eq!(changes, ["1 new: as it was, and more", "1 old: Removed"]);
    });
    assert_eq!(std::fs::read_to_string(host.path().join("old")).unwrap(), "as it was");
}

#[test]
fn it_ends_at_each_of_its_limits() {
    let with = |limits| Order { limits, ..Order::default() };
    attended(|| {
        let time = Limits { time: Some(Duration::from_millis(200)), ..limits() };
        let outcome = dream(&with(time), || {
            loop {
                std::thread::park();
            }
        });
        assert_eq!(outcome.verdict, Verdict::Limited(Limit::Time));
        let cpu = Limits { cpu: Some(Duration::from_millis(300)), ..limits() };
        let outcome = dream(&with(cpu), || {
            loop {
                std::hint::spin_loop();
            }
        });
        assert_eq!(outcome.verdict, Verdict::Limited(Limit::Cpu));
        let memory = Limits { memory_bytes: Some(64 << 20), ..limits() };
        let outcome = dream(&with(memory), || {
            let held: Vec<Vec<u8>> = (0..512).map(|_| vec![1; 1 << 20]).collect();
            held.len() as i32
        });
        assert_eq!(outcome.verdict, Verdict::Limited(Limit::Memory));
        let output = Limits { output_bytes: Some(1 << 20), ..limits() };
        let outcome = dream(&with(output), || {
            loop {
                std::io::stderr().write_all(&[0; 4096]).unwrap();
            }
        });
        assert_eq!(outcome.verdict, Verdict::Limited(Limit::Output));
    });
}

#[test]
fn a_limit_of_the_kernel_ends_it_although_it_is_the_first_process() {
    attended(|| {
        // The attendant would count too; where it is stopped itself, the kernel is left.
        let outcome = dream(&Order { limits: Limits { cpu: None, ..limits() }, ..Order::default() }, || {
            let second = rustix::process::Rlimit { current: Some(1), maximum: Some(1) };
            rustix::process::setrlimit(rustix::process::Resource::Cpu, second).unwrap();
            loop {
                std::hint::spin_loop();
            }
        });
        assert_eq!(outcome.verdict, Verdict::Signalled(libc::SIGKILL));
        let small = Limits { file_bytes: Some(1 << 20), ..limits() };
        let outcome = dream(&Order { limits: small, ..Order::default() }, || {
            let written = std::fs::write("/tmp/long", vec![1; 2 << 20]);
            i32::from(written.is_ok())
        });
        assert_eq!(outcome.verdict, Verdict::Exited(0), "the first process is told, and not ended, for a long file");
    });
}

#[test]
fn it_ends_with_its_attendant_and_takes_its_children_along() {
    let (mut here, there) = UnixStream::pair().unwrap();
    let attendant = clone::fork(|| {
        let running = sealed(&order(), Streams::nowhere(), &[there.as_fd()], || {
            let child = clone::fork(|| {
                loop {
                    std::thread::park();
                }
            });
            (&there).write_all(if child.is_ok() { b"up" } else { b"no" }).unwrap();
            loop {
                std::thread::park();
            }
        });
        i32::from(running.unwrap().wait().is_err())
    });
    let attendant = attendant.unwrap();
    drop(there);
    let mut said = [0; 2];
    here.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"up");
    rustix::process::pidfd_send_signal(&attendant.pidfd, rustix::process::Signal::KILL).unwrap();
    // Nobody has the other end any more: all of them are gone.
    assert_eq!(here.read(&mut said).unwrap(), 0);
    clone::wait(attendant.pid, true).unwrap();
}

#[test]
fn it_is_stopped_when_the_line_to_its_attendant_is_closed() {
    let (line, held) = std::io::pipe().unwrap();
    let (mut here, there) = UnixStream::pair().unwrap();
    let attendant = clone::fork(|| {
        // Its copy of the end that is closed outside.
        system::raw::call(libc::SYS_close, &[held.as_raw_fd() as usize]).unwrap();
        let mut running = sealed(&order(), Streams::nowhere(), &[there.as_fd()], || {
            (&there).write_all(b"up").unwrap();
            loop {
                std::thread::park();
            }
        })
        .unwrap();
        running.stop_when_readable(line.into());
        i32::from(running.wait().unwrap().verdict != Verdict::Stopped)
    });
    drop(there);
    here.read_exact(&mut [0; 2]).unwrap();
    drop(held);
    let end = clone::wait(attendant.unwrap().pid, true).unwrap().unwrap();
    assert_eq!(end.status, 0);
}

#[test]
fn processes_inside_are_counted_and_orphans_can_be_reaped() {
    attended(|| {
        let few = Limits { processes: Some(4), ..limits() };
        let outcome = dream(&Order { limits: few, ..Order::default() }, || {
            let asleep = || {
                clone::fork(|| {
                    loop {
                        std::thread::park();
                    }
                })
            };
            let made = (0..100).take_while(|_| asleep().is_ok()).count();
            made as i32
        });
        assert_eq!(outcome.verdict, Verdict::Exited(3), "it is one of the four itself");
        let outcome = dream(&order(), || {
            let parent = clone::fork(|| i32::from(clone::fork(|| 7).is_err())).unwrap();
            let mut ended = Vec::new();
            while ended.len() < 2 {
                sandbox::process::reap(|pid, status| ended.push((pid == parent.pid, status >> 8)));
            }
            ended.sort_unstable();
            i32::from(ended != [(false, 7), (true, 0)])
        });
        assert_eq!(outcome.verdict, Verdict::Exited(0));
    });
}

fn refused(order: &Order) -> String {
    match sealed(order, Streams::nowhere(), &[], || 0) {
        Ok(_) => "it was made".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let (until, held) = std::io::pipe().unwrap();
    let other = std::thread::spawn(move || drop(std::io::read_to_string(until)));
    assert!(refused(&order()).contains("several threads"), "{}", refused(&order()));
    drop(held);
    other.join().unwrap();
    attended(|| {
        let program = Order { program: vec!["true".into()], ..order() };
        assert!(refused(&program).contains("start that as a run"));
        let network = Order { network: Network::Allowed(Vec::new()), ..order() };
        assert!(refused(&network).contains("a network"));
        let standard = sealed(&order(), Streams::nowhere(), &[rustix::stdio::stdin()], || 0);
        assert!(standard.is_err_and(|error| error.to_string().contains("standard")));
        let grant = Grant { host: "/no/such".into(), inside: "/x".into(), access: Access::Read };
        let missing = Order { view: View { grants: vec![grant], ..View::default() }, ..order() };
        assert!(matches!(sealed(&missing, Streams::nowhere(), &[], || 0), Err(SandboxError::Grant { .. })));
    });
}

#[test]
fn what_was_made_ready_before_serves_all_copies() {
    get_ready();
    for _ in 0..3 {
        attended(|| assert_eq!(dream(&order(), || 0).verdict, Verdict::Exited(0)));
    }
}

/// A network for each cost more than all else of a dream: whoever is secluded is where nothing is, and its dreamer stays there.
#[test]
fn whoever_is_secluded_shares_a_network_with_nothing_in_it() {
    get_ready();
    let network = || std::fs::read_link("/proc/self/ns/net").unwrap();
    let of_host = network();
    attended(|| {
        seclude();
        let void = network();
        assert_ne!(void, of_host);
        let interfaces = std::fs::read_to_string("/proc/self/net/dev").unwrap();
        assert_eq!(interfaces.lines().filter(|line| line.contains(':')).count(), 1, "{interfaces}");
        for _ in 0..2 {
            assert_eq!(dream(&order(), || i32::from(network() != void)).verdict, Verdict::Exited(0));
        }
    });
}

/// A dreamer in the image's own group of processes could end the image by one call, where both are of the same user.
#[test]
fn who_stays_in_the_session_is_in_no_group_of_the_host() {
    get_ready();
    attended(|| {
        seclude();
        let ended = dream(&order(), || {
            let is_alone = rustix::process::getpgrp().is_init() && rustix::process::getpid().is_init();
            let is_last = rustix::process::getpriority_process(None).is_ok_and(|nice| nice > 0);
            let has_terminal = std::fs::File::open("/dev/tty").is_ok();
            i32::from(!is_alone) | i32::from(!is_last) << 1 | i32::from(has_terminal) << 2
        });
        assert_eq!(ended.verdict, Verdict::Exited(0));
    });
}
