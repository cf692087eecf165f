//! What is said over a run's socket, with a stand-in for what runs programs. Threads stand for the processes, which only a
//! process with one thread can make: `telos` `up_runs` tests those.

use super::*;
use crate::protocol::{
    FRAME_BYTES_MAX, Inbox, Kind, Outbox, RunCalls, RunChange, RunChangeKind, RunOrder, RunStream, RunUsage,
    RunVerdict, Word, with_bytes,
};
use rustix::event::{PollFd, PollFlags, poll};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

/// Says what it was given, then floods or tells changes if told to, and ends when it is to be stopped.
struct Echo;

impl Warding for Echo {
    fn run(&self, ordered: Ordered<'_>, conversation: &Arc<Conversation>) -> RunEnd {
        conversation.output(RunStream::Output, ordered.bytes, None);
        let program = ordered.order.program.into_iter().next().unwrap().into_word();
        if program == "flood" {
            conversation.output(RunStream::Error, &vec![0; 64 << 20], None);
        }
        if program == "change" {
            let kind = RunChangeKind::Of(system::changed::ChangeKind::File { bytes: Vec::new(), mode: 0o644 });
            let change = RunChange { grant: 0, path: Word::Text("file".into()), kind };
            (0..64).for_each(|_| conversation.change(&change, &vec![1; 3 << 20]));
            return ended(RunVerdict::Exited(0));
        }
        if program != "echo" {
            let lifeline = conversation.lifeline().unwrap();
            poll(&mut [PollFd::new(&lifeline, PollFlags::IN)], None).unwrap();
        }
        ended(RunVerdict::Stopped)
    }
}

fn ended(verdict: RunVerdict) -> RunEnd {
    RunEnd::Ended { verdict, usage: RunUsage::default(), lacks: Vec::new(), calls: RunCalls::default() }
}

fn give(program: &str) -> (UnixStream, JoinHandle<()>) {
    let (near, far) = UnixStream::pair().unwrap();
    let mut outbox = Outbox::default();
    outbox.push(Kind::Run, 7, &with_bytes(&RunOrder::new([program]), &[b"some bytes"]));
    outbox.drain(&near).unwrap();
    (near, std::thread::spawn(|| conversation::hold(&Echo, far, None)))
}

fn hear(socket: &UnixStream) -> Vec<Kind> {
    hear_all(socket).0
}

/// With what was said of the end.
fn hear_all(socket: &UnixStream) -> (Vec<Kind>, Option<RunEnd>) {
    let mut inbox = Inbox::default();
    let (mut kinds, mut end) = (Vec::new(), None);
    loop {
        while let Some(frame) = inbox.next(FRAME_BYTES_MAX).unwrap() {
            assert_eq!(frame.id, 7);
            kinds.push(frame.kind);
            if frame.kind == Kind::Ended {
                end = Some(serde_json::from_slice(frame.body).unwrap());
            }
        }
        if inbox.fill(socket).unwrap_or(0) == 0 {
            assert!(!inbox.is_partial(), "half a frame came");
            return (kinds, end);
        }
    }
}

/// A part of the changes came, and the end said that the program had ended well: whoever applied them applied a part.
#[test]
fn a_run_that_is_cancelled_while_its_changes_are_told_was_stopped() {
    let (socket, _) = give("change");
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let (kinds, end) = hear_all(&socket);
    assert!(kinds.len() < 64 * 3, "not all of it was told");
    assert_eq!(end, Some(ended(RunVerdict::Stopped)));
}

#[test]
fn a_run_whose_changes_are_all_taken_ended_as_it_did() {
    let (socket, _) = give("change");
    let (kinds, end) = hear_all(&socket);
    assert_eq!((kinds.len(), end), (2 + 64 * 3, Some(ended(RunVerdict::Exited(0)))));
}

#[test]
fn a_run_says_what_it_has_to_and_then_how_it_ended() {
    assert_eq!(hear(&give("echo").0), [Kind::Output, Kind::Ended]);
}

#[test]
fn a_run_is_stopped_when_its_socket_is_half_closed_and_says_so() {
    let (socket, _) = give("wait");
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(hear(&socket).last(), Some(&Kind::Ended));
}

#[test]
fn a_flood_that_nobody_reads_ends_when_its_socket_is_closed() {
    let (socket, run) = give("flood");
    drop(socket);
    run.join().unwrap();
}

/// Does nothing, and has something left of it.
struct Spent {
    is_fit: bool,
}

impl Warding for Spent {
    fn run(&self, _: Ordered<'_>, _: &Arc<Conversation>) -> RunEnd {
        RunEnd::Ended {
            verdict: RunVerdict::Exited(0),
            usage: RunUsage::default(),
            lacks: Vec::new(),
            calls: RunCalls::default(),
        }
    }

    fn is_fit(&self) -> bool {
        self.is_fit
    }
}

/// Threads of runs stayed behind in processes that were used again, until no run could open a file any more.
#[test]
fn a_process_in_which_something_is_left_of_a_run_gets_no_other() {
    for is_fit in [true, false] {
        let (near, far) = rustix::net::socketpair(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::SEQPACKET,
            rustix::net::SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        let worker = std::thread::spawn(move || workers::live(&Spent { is_fit }, &far));
        let (run, theirs) = UnixStream::pair().unwrap();
        let mut outbox = Outbox::default();
        outbox.push(Kind::Run, 7, &with_bytes(&RunOrder::new(["any"]), &[]));
        outbox.drain(&run).unwrap();
        hand(&near, &theirs.into(), None).unwrap();
        assert_eq!(hear(&run), [Kind::Ended]);
        let (said, _) = rustix::net::recv(&near, &mut [0u8; 1], RecvFlags::empty()).unwrap();
        assert_eq!(said == 1, is_fit, "one that is done says so, one that ends closes its socket");
        drop(near);
        worker.join().unwrap();
    }
}
