//! The loop with a living thing that does as it is told.

use super::*;
use crate::protocol::{Command, FRAME_BYTES_MAX, Failure, Inbox, Reason, Request, Shown};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// And whom to tell of programs that take long.
#[derive(Default)]
struct Flag(AtomicBool, Mutex<Option<Listen>>);

impl Watch for Flag {
    fn interrupt(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn calm(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    fn when_long(&self, listen: Listen) {
        *self.1.lock().unwrap() = Some(listen);
    }

    fn status(&self) -> BTreeMap<String, serde_json::Value> {
        BTreeMap::from([("commits".to_string(), 7.into())])
    }
}

/// Echoes; `spin` runs until it is interrupted, `fail` cannot be made durable, what is held waits for the test.
struct Echo {
    flag: Arc<Flag>,
    hold: Arc<Mutex<Receiver<()>>>,
    turns: u64,
    outside: Option<Outside>,
    concluded: Vec<Conclusion>,
}

/// Without something to wait for, nothing is held.
fn echo(hold: Option<Receiver<()>>) -> Echo {
    let hold = Arc::new(Mutex::new(hold.unwrap_or_else(|| channel().1)));
    Echo { flag: Arc::default(), hold, turns: 0, outside: None, concluded: Vec::new() }
}

impl Living for Echo {
    fn begin(&mut self, request: &Request) -> Begun {
        let Command::Evaluate(source) = &request.command else { panic!("only expressions are sent here") };
        let mut wait: Option<Wait> = None;
        match source.as_str() {
            "spin" => {
                self.flag.1.lock().unwrap().iter().for_each(|listen| listen());
                while !self.flag.0.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                let answer = Answer::failed(FailureKind::Interrupted, "interrupted");
                return Begun::Done { answer, wait: None };
            }
            "fail" => wait = Some(Box::new(|| Err(Failure::new(FailureKind::Storage, "the disk is full")))),
            "hold" => {
                let hold = self.hold.clone();
                wait = Some(Box::new(move || {
                    let _ = hold.lock().unwrap().recv();
                    Ok(())
                }));
            }
            "turns" => {
                let text = self.turns.to_string();
                return Begun::Done { answer: value(text), wait: None };
            }
            "long" => return Begun::Done { answer: value("\u{1}".repeat(FRAME_BYTES_MAX / 2)), wait: None },
            "call" => {
                let outside = self.outside.as_ref().expect("it was given one");
                let returned = outside.call(&"somebody", &mut || false).expect("somebody answers");
                return Begun::Done { answer: value(String::from_utf8(returned).unwrap()), wait: None };
            }
            "apart" => return Begun::Apart(Box::new(|| value("from afar".into()))),
            "apart, held" => {
                let hold = self.hold.clone();
                return Begun::Apart(Box::new(move || {
                    let _ = hold.lock().unwrap().recv();
                    value("from afar".into())
                }));
            }
            "later" => return Begun::Later(7),
            "apart, broken" => return Begun::Apart(Box::new(|| panic!("as the test wants it"))),
            _ => {}
        }
        let mut answer = value(source.clone());
        answer.commit = Some(1);
        Begun::Done { answer, wait }
    }

    fn cancel(&mut self, number: u64) {
        let answer = Answer::failed(FailureKind::Interrupted, "interrupted; nothing was done");
        self.concluded.push(Conclusion { number, answer, wait: None });
    }

    fn concluded(&mut self) -> Vec<Conclusion> {
        std::mem::take(&mut self.concluded)
    }

    fn unwanted(&mut self) -> Vec<String> {
        self.concluded.iter().map(|_| "d7".to_string()).collect()
    }

    fn turn(&mut self) -> Option<Duration> {
        self.turns += 1;
        (self.turns < 10).then_some(Duration::ZERO)
    }

    fn watch(&self) -> Arc<dyn Watch> {
        self.flag.clone()
    }

    fn close(self) -> Result<(), String> {
        Ok(())
    }
}

fn value(text: String) -> Answer {
    Answer::new(Outcome::Value(Shown { text, kind: "Sequence".into() }))
}

/// The keeper's end of the pair.
struct Keeper {
    pair: UnixStream,
    inbox: Inbox,
}

impl Keeper {
    fn tell(&self, kind: Kind, id: u64, body: &impl serde::Serialize) {
        let mut outbox = Outbox::default();
        outbox.push_json(kind, id, body);
        outbox.drain(&self.pair).unwrap();
    }

    fn ask(&self, id: u64, source: &str) {
        self.tell(Kind::Request, id, &Request::evaluate(source));
    }

    fn next(&mut self) -> (Kind, u64, Vec<u8>) {
        loop {
            if let Some(frame) = self.inbox.next(FRAME_BYTES_MAX).unwrap() {
                return (frame.kind, frame.id, frame.body.to_vec());
            }
            assert_ne!(self.inbox.fill(&self.pair).unwrap(), 0, "the image process has gone");
        }
    }

    fn answer(&mut self) -> (u64, Answer) {
        let (kind, id, body) = self.next();
        assert_eq!(kind, Kind::Answer);
        (id, serde_json::from_slice(&body).unwrap())
    }

    fn failure(&mut self) -> (u64, FailureKind, String) {
        let (id, answer) = self.answer();
        let Outcome::Failure(failure) = answer.outcome else { panic!("{answer:?}") };
        (id, failure.kind, failure.message)
    }
}

/// Runs a living thing on a thread, talks to it, and stops it.
fn with_echo(hold: Option<Receiver<()>>, talk: impl FnOnce(&mut Keeper)) {
    let (near, far) = UnixStream::pair().unwrap();
    let open = |outside| Ok(Echo { outside: Some(outside), ..echo(hold) });
    let process = std::thread::spawn(move || serve(far, open, |_| {}));
    let mut keeper = Keeper { pair: near, inbox: Inbox::default() };
    assert_eq!(keeper.next().0, Kind::Ready);
    talk(&mut keeper);
    keeper.tell(Kind::Stop, 0, &());
    process.join().unwrap().unwrap();
}

#[test]
fn answers_come_in_order_and_failures_to_flush_are_told() {
    with_echo(None, |keeper| {
        for (id, source) in ["a", "fail", "b"].into_iter().enumerate() {
            keeper.ask(id as u64, source);
        }
        assert_eq!(keeper.answer().0, 0);
        let (id, kind, message) = keeper.failure();
        assert_eq!((id, kind, message.as_str()), (1, FailureKind::Storage, "the disk is full"));
        let (id, answer) = keeper.answer();
        assert_eq!((id, answer.commit), (2, Some(1)));
    });
}

#[test]
fn the_machine_goes_on_while_an_answer_waits_for_the_disk() {
    let (release, hold) = channel();
    with_echo(Some(hold), |keeper| {
        keeper.ask(1, "hold");
        keeper.ask(2, "spin");
        // It is interrupted while the first answer still waits: so it was begun.
        loop {
            keeper.tell(Kind::Status, 9, &());
            let (_, _, body) = keeper.next();
            let status: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&body).unwrap();
            assert_eq!(status["commits"], 7);
            if status["doing"]["request"] == "send" && status["waiting"] == 0 {
                break;
            }
        }
        keeper.tell(Kind::Cancel, 2, &Reason::Timeout { milliseconds: 1500 });
        release.send(()).unwrap();
        assert_eq!(keeper.answer().0, 1);
        let (id, kind, message) = keeper.failure();
        assert_eq!((id, kind, message.as_str()), (2, FailureKind::Timeout, "timed out after 1.5 s"));
    });
}

/// What is answered later was done to its end, whoever had stopped it meanwhile.
#[test]
fn what_is_answered_later_is_stopped_and_says_so() {
    with_echo(None, |keeper| {
        for (id, reason, words) in [
            (1, Reason::Timeout { milliseconds: 1500 }, "timed out after 1.5 s; nothing was done"),
            (2, Reason::Asked, "interrupted; nothing was done"),
        ] {
            keeper.ask(id, "later");
            // It has begun when the next one is answered.
            keeper.ask(100 + id, "behind it");
            assert_eq!(keeper.answer().0, 100 + id);
            keeper.tell(Kind::Cancel, id, &reason);
            let (kind, _, body) = keeper.next();
            assert_eq!((kind, serde_json::from_slice::<DreamName>(&body).unwrap().dream.as_str()), (Kind::Over, "d7"));
            let (answered, _, message) = keeper.failure();
            assert_eq!((answered, message.as_str()), (id, words));
        }
    });
}

/// Answers wait for others that the machine has still to give, so that they share a flush; but not for one that never comes.
#[test]
fn an_answer_does_not_wait_for_a_program_without_end() {
    with_echo(None, |keeper| {
        for round in 0..20 {
            let mut outbox = Outbox::default();
            for (id, source) in [(1, "a"), (2, "b"), (3, "spin")] {
                outbox.push_json(Kind::Request, 10 * round + id, &Request::evaluate(source));
            }
            // In one piece, so that the machine knows of the last when it is done with the first.
            outbox.drain(&keeper.pair).unwrap();
            assert_eq!((keeper.answer().0, keeper.answer().0), (10 * round + 1, 10 * round + 2));
            keeper.tell(Kind::Cancel, 10 * round + 3, &Reason::Asked);
            assert_eq!(keeper.failure().0, 10 * round + 3);
        }
    });
}

#[test]
fn an_interruption_reaches_the_request_it_is_meant_for() {
    with_echo(None, |keeper| {
        keeper.ask(1, "spin");
        keeper.ask(2, "never begun");
        keeper.ask(3, "c");
        keeper.tell(Kind::Cancel, 2, &Reason::Asked);
        keeper.tell(Kind::Cancel, 1, &Reason::Asked);
        // Done long ago, or unknown: nothing happens.
        keeper.tell(Kind::Cancel, 77, &Reason::Asked);
        let mut seen = vec![keeper.answer(), keeper.answer(), keeper.answer()];
        seen.sort_by_key(|(id, _)| *id);
        assert!(is_interrupted(&seen[0].1) && is_interrupted(&seen[1].1) && seen[2].1.commit == Some(1), "{seen:?}");
    });
}

/// Who reads changes each time: the machine, while it has nothing to do, and the listener, while it is busy.
#[test]
fn what_is_sent_is_heard_whoever_reads_it() {
    with_echo(None, |keeper| {
        for round in 0..30 {
            let id = 10 * round;
            keeper.ask(id, "spin");
            keeper.tell(Kind::Status, 9, &());
            assert_eq!(keeper.next().0, Kind::Status, "while the machine is busy");
            keeper.tell(Kind::Cancel, id, &Reason::Asked);
            assert_eq!(keeper.failure().0, id);
            for next in 1..4 {
                keeper.ask(id + next, "a");
                assert_eq!(keeper.answer().0, id + next);
            }
            keeper.tell(Kind::Status, 9, &());
            assert_eq!(keeper.next().0, Kind::Status, "while it is not");
        }
    });
}

#[test]
fn what_a_call_returns_is_read_while_the_program_waits_for_it() {
    with_echo(None, |keeper| {
        for id in 0..20 {
            keeper.ask(id, "call");
            let (kind, number, _) = keeper.next();
            assert_eq!(kind, Kind::Call);
            keeper.tell(Kind::Returned, number, &id);
            let (answered, answer) = keeper.answer();
            assert!(answered == id && matches!(&answer.outcome, Outcome::Value(shown) if shown.text == id.to_string()));
        }
    });
}

#[test]
fn a_keeper_that_has_gone_is_missed_by_a_busy_machine_and_by_an_idle_one() {
    for source in ["spin", "a"] {
        let (near, far) = UnixStream::pair().unwrap();
        let process = std::thread::spawn(move || serve(far, |_| Ok(echo(None)), |_| {}));
        let mut keeper = Keeper { pair: near, inbox: Inbox::default() };
        assert_eq!(keeper.next().0, Kind::Ready);
        keeper.ask(1, source);
        keeper.tell(Kind::Status, 9, &());
        keeper.next();
        drop(keeper);
        process.join().unwrap().unwrap();
    }
}

#[test]
fn the_scheduler_gets_its_turns_and_long_work_a_thread() {
    with_echo(None, |keeper| {
        let mut turns = 0;
        while turns < 9 {
            keeper.ask(1, "turns");
            let Outcome::Value(shown) = keeper.answer().1.outcome else { panic!("it counts") };
            turns = shown.text.parse().unwrap();
        }
        keeper.ask(2, "apart");
        assert!(matches!(keeper.answer().1.outcome, Outcome::Value(shown) if shown.text == "from afar"));
    });
}

/// Each was a thread that nobody counted.
#[test]
fn more_long_work_than_may_run_at_once_is_refused() {
    let (release, hold) = channel();
    with_echo(Some(hold), |keeper| {
        let most = apart::APART_MAX as u64;
        (0..=most).for_each(|id| keeper.ask(id, "apart, held"));
        let (id, kind, message) = keeper.failure();
        assert_eq!((id, kind), (most, FailureKind::Refused));
        assert!(message.contains("4 backups or checks are under way"), "{message}");
        (0..most).for_each(|_| release.send(()).unwrap());
        let mut done: Vec<u64> = (0..most).map(|_| keeper.answer().0).collect();
        done.sort_unstable();
        assert_eq!(done, (0..most).collect::<Vec<u64>>());
        keeper.ask(most, "apart, broken");
        assert_eq!(keeper.failure().1, FailureKind::Lost);
    });
}

/// The process ended in the middle of a backup, and whoever asked for it was told that nothing is known of it.
#[test]
fn long_work_comes_to_its_end_before_the_process_does() {
    let (release, hold) = channel();
    let (near, far) = UnixStream::pair().unwrap();
    let process = std::thread::spawn(move || serve(far, |_| Ok(echo(Some(hold))), |_| {}));
    let mut keeper = Keeper { pair: near, inbox: Inbox::default() };
    assert_eq!(keeper.next().0, Kind::Ready);
    keeper.ask(1, "apart, held");
    // It is under way when this is answered.
    keeper.ask(2, "a");
    assert_eq!(keeper.answer().0, 2);
    keeper.tell(Kind::Stop, 0, &());
    release.send(()).unwrap();
    let (id, answer) = keeper.answer();
    assert!(id == 1 && matches!(&answer.outcome, Outcome::Value(shown) if shown.text == "from afar"), "{answer:?}");
    process.join().unwrap().unwrap();
}

#[test]
fn long_work_that_takes_too_long_is_answered_without_it() {
    let (near, far) = UnixStream::pair().unwrap();
    let answers = Answers::start(far).unwrap();
    let (release, hold) = channel::<()>();
    let job = move || {
        let _ = hold.recv();
        value("too late".into())
    };
    let apart = Apart::default();
    apart.start(7, Box::new(job), answers.sender());
    apart.finish(Duration::ZERO, &answers.sender());
    let mut keeper = Keeper { pair: near, inbox: Inbox::default() };
    let (id, kind, message) = keeper.failure();
    assert_eq!((id, kind), (7, FailureKind::Interrupted), "{message}");
    drop(release);
    answers.finish();
}

#[test]
fn what_does_not_fit_into_a_frame_is_cut_and_what_cannot_be_read_refused() {
    with_echo(None, |keeper| {
        keeper.ask(1, "long");
        assert!(keeper.answer().1.is_cut);
        keeper.tell(Kind::Request, 2, &"nonsense");
        assert_eq!(keeper.failure().1, FailureKind::Refused);
    });
}

#[test]
fn an_image_that_cannot_be_opened_says_why() {
    let (near, far) = UnixStream::pair().unwrap();
    let process = std::thread::spawn(move || serve(far, |_| Err::<Echo, _>("the disk is gone".to_string()), |_| {}));
    let mut keeper = Keeper { pair: near, inbox: Inbox::default() };
    let (kind, _, body) = keeper.next();
    assert_eq!((kind, String::from_utf8(body).unwrap().as_str()), (Kind::Failed, r#"{"message":"the disk is gone"}"#));
    assert!(process.join().unwrap().is_err());
}

/// Runs a dream on a thread, talks to it, and leaves it alone, which is its end.
fn with_dream(talk: impl FnOnce(&mut Keeper)) {
    let (near, far) = UnixStream::pair().unwrap();
    let process = std::thread::spawn(move || dream(far, |_| echo(None), |_| {}));
    let mut keeper = Keeper { pair: near, inbox: Inbox::default() };
    talk(&mut keeper);
    drop(keeper);
    process.join().unwrap().unwrap();
}

#[test]
fn a_dream_takes_its_turns_and_answers_without_a_thread() {
    with_dream(|keeper| {
        let mut turns = 0;
        while turns < 9 {
            keeper.ask(1, "turns");
            let Outcome::Value(shown) = keeper.answer().1.outcome else { panic!("it counts") };
            turns = shown.text.parse().unwrap();
        }
        keeper.ask(2, "a");
        keeper.ask(3, "b");
        assert_eq!([keeper.answer().0, keeper.answer().0], [2, 3]);
    });
}

#[test]
fn a_dream_whose_program_takes_long_hears_what_interrupts_it() {
    with_dream(|keeper| {
        // Who listens is made with the first of them.
        for _ in 0..5 {
            keeper.ask(1, "spin");
            keeper.ask(2, "never begun");
            keeper.ask(3, "c");
            keeper.tell(Kind::Cancel, 2, &Reason::Asked);
            keeper.tell(Kind::Cancel, 1, &Reason::Asked);
            let mut seen = vec![keeper.answer(), keeper.answer(), keeper.answer()];
            seen.sort_by_key(|(id, _)| *id);
            let is_right = is_interrupted(&seen[0].1) && is_interrupted(&seen[1].1) && seen[2].1.commit == Some(1);
            assert!(is_right, "{seen:?}");
            keeper.ask(4, "d");
            assert_eq!(keeper.answer().0, 4);
        }
    });
}

/// What `Outside` says and hears, over a pair of its own.
mod calls {
    use crate::protocol::{FRAME_BYTES_MAX, Inbox, Kind, Outbox};
    use crate::{Outside, Unanswered};
    use std::os::unix::net::UnixStream;

    fn next(inbox: &mut Inbox, stream: &UnixStream) -> (Kind, u64, String) {
        loop {
            if let Some(frame) = inbox.next(FRAME_BYTES_MAX).unwrap() {
                return (frame.kind, frame.id, String::from_utf8(frame.body.to_vec()).unwrap());
            }
            assert!(inbox.fill(stream).unwrap() > 0);
        }
    }

    #[test]
    fn a_call_gets_its_own_answer_and_not_that_of_one_that_was_given_up() {
        let (near, far) = UnixStream::pair().unwrap();
        let outside = Outside::alone(near);
        assert_eq!(outside.call(&"first", &mut || true), Err(Unanswered::Stopped));
        let mut inbox = Inbox::default();
        assert_eq!(next(&mut inbox, &far), (Kind::Call, 1, "\"first\"".into()));
        assert_eq!(next(&mut inbox, &far).0, Kind::Cancel);
        let mut outbox = Outbox::default();
        outbox.push(Kind::Returned, 1, b"late");
        outbox.push(Kind::Returned, 2, b"right");
        outbox.drain(&far).unwrap();
        assert_eq!(outside.call(&"second", &mut || false), Ok(b"right".to_vec()));
        drop(far);
        assert_eq!(outside.call(&"third", &mut || false), Err(Unanswered::Gone));
    }
}
