//! A keeper that has as many requests as it may have, with bounds so small that a few fill it. What has no place is
//! left unread; what needs none gets through.

use keeper::protocol::{
    Answer, Command, FRAME_BYTES_MAX, FailureKind, Hello, Inbox, Kind, Outbox, Outcome, Request, Shown, VERSION,
};
use keeper::{Begun, Birth, Bounds, Brokering, Client, KeeperError, Living, Plan, Watch};
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Set for the process that is the image.
const IS_IMAGE: &str = "KEEPER_TEST_IS_IMAGE";

#[derive(Default)]
struct Flag(AtomicBool);

impl Watch for Flag {
    fn interrupt(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn calm(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    fn status(&self) -> BTreeMap<String, serde_json::Value> {
        BTreeMap::new()
    }
}

/// Runs every request until it is interrupted, but `end`, which ends the process, and `born`, which begins a dream that says what
/// the source is.
struct Busy(Arc<Flag>, Vec<Birth>);

/// What a dream of these tests says, whatever it is asked.
fn says(word: &str) -> Vec<u8> {
    let mut outbox = Outbox::default();
    let shown = Shown { text: "from a dream".into(), kind: "Sequence".into() };
    let answer = Answer::new(Outcome::Value(shown));
    match word {
        "garbage" => return vec![0xff; 5000],
        "endless" => return [&u32::MAX.to_le_bytes()[..], &[Kind::Answer as u8; 100]].concat(),
        // The first request of a keeper's life has the number 1: that of somebody else.
        "foreign" => outbox.push_json(Kind::Answer, 1, &answer),
        "request" => outbox.push_json(Kind::Request, 7, &Request::evaluate("1")),
        "stop" => outbox.push(Kind::Stop, 0, &[]),
        "calls" => (0..9).for_each(|id| outbox.push_json(Kind::Call, id, &"for ever")),
        "returned" => outbox.push_json(Kind::Returned, 1, &"an answer of its own making"),
        "born" => outbox.push_json(Kind::Born, 0, &serde_json::json!({ "dream": "other" })),
        _ => return Vec::new(),
    }
    let (near, far) = UnixStream::pair().unwrap();
    outbox.drain(&near).unwrap();
    drop(near);
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut &far, &mut bytes).unwrap();
    bytes
}

impl Living for Busy {
    fn begin(&mut self, request: &Request) -> Begun {
        if request.label == "end" {
            std::process::exit(0);
        }
        if let (true, Command::Evaluate(word)) = (request.label == "born", &request.command) {
            let (line, mut theirs) = UnixStream::pair().unwrap();
            self.1.push(Birth { dream: word.clone(), policies: None, line: line.into() });
            let word = word.clone();
            // It waits until it is asked something, and says nothing before.
            std::thread::spawn(move || {
                let _ = std::io::Read::read(&mut theirs, &mut [0; 1000]);
                let _ = theirs.write_all(&says(&word));
                let _ = std::io::Read::read(&mut theirs, &mut [0; 1000]);
            });
        }
        if request.label == "quick" || request.label == "born" {
            let shown = Shown { text: "done".into(), kind: "Sequence".into() };
            return Begun::Done { answer: Answer::new(Outcome::Value(shown)), wait: None };
        }
        while !self.0.0.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        Begun::Done { answer: Answer::failed(FailureKind::Interrupted, "interrupted"), wait: None }
    }

    fn born(&mut self) -> Vec<Birth> {
        std::mem::take(&mut self.1)
    }

    fn turn(&mut self) -> Option<Duration> {
        None
    }

    fn watch(&self) -> Arc<dyn Watch> {
        self.0.clone()
    }

    fn close(self) -> Result<(), String> {
        Ok(())
    }
}

/// No test: the keepers of the others start this binary once more, with this one alone, to be their image process.
#[test]
fn the_image_process_of_the_tests_here() {
    if std::env::var_os(IS_IMAGE).is_some() {
        keeper::live(|_| Ok(Busy(Arc::default(), Vec::new()))).unwrap();
    }
}

const BROKER_TEST: &str = "the_broker_of_the_tests_here";

/// Answers nothing until it is stopped.
struct Patient;

impl Brokering for Patient {
    type Caller = ();
    type Stop = Arc<AtomicBool>;

    fn live(&self) {}

    fn dream(&self, _: &str, _: &[u8]) {}

    fn answer(&self, (): &(), _: &[u8], is_stopped: &Arc<AtomicBool>) -> Vec<u8> {
        while !is_stopped.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        Vec::new()
    }

    fn stop(&self, stop: &Arc<AtomicBool>) {
        stop.store(true, Ordering::SeqCst);
    }

    fn refuse(&self, _: &str) -> Vec<u8> {
        Vec::new()
    }
}

/// No test either: their broker.
#[test]
fn the_broker_of_the_tests_here() {
    if std::env::args().any(|argument| argument == BROKER_TEST) {
        // Somebody may run this one alone, who is no keeper.
        let _ = keeper::broker(Patient);
    }
}

/// A keeper on a thread.
struct Kept {
    directory: tempfile::TempDir,
    thread: JoinHandle<Result<(), KeeperError>>,
}

impl Kept {
    fn start(bounds: Bounds) -> Kept {
        let directory = tempfile::tempdir().unwrap();
        let plan = Plan {
            directory: directory.path().into(),
            bounds,
            program: std::env::current_exe().unwrap(),
            arguments: ["--exact", "the_image_process_of_the_tests_here", "--quiet"].map(Into::into).into(),
            warden_arguments: Vec::new(),
            broker_arguments: ["--exact", BROKER_TEST, "--quiet"].map(Into::into).into(),
            environment: vec![(IS_IMAGE.into(), "1".into())],
        };
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            keeper::keep(plan, &mut |notice| {
                if matches!(notice, keeper::Notice::Ready { .. }) {
                    ready.send(()).unwrap();
                }
            })
        });
        is_ready.recv().expect("the image process starts");
        Kept { directory, thread }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn client(&self) -> Client {
        Client::connect(self.path(), "test").unwrap()
    }

    /// All clients have gone.
    fn end(self) {
        let _ = self.client().send(&labelled("end"));
        assert!(self.thread.join().unwrap().is_err(), "its image process has ended by itself");
    }
}

fn labelled(label: &str) -> Request {
    Request { label: label.into(), ..Request::evaluate("nothing") }
}

/// What runs until it is interrupted, or until it is clear that nobody does that.
fn busy() -> Request {
    Request { timeout_ms: Some(20_000), ..labelled("busy") }
}

fn is_interrupted(answer: &Answer) -> bool {
    matches!(&answer.outcome, Outcome::Failure(failure) if failure.kind == FailureKind::Interrupted)
}

/// The keeper asked whether a request fits before it knew what came, so a cancellation waited for what it was to end.
#[test]
fn a_client_with_as_many_requests_as_it_may_have_can_stop_one() {
    let kept = Kept::start(Bounds { requests_per_client: 2, ..Bounds::default() });
    let mut client = kept.client();
    let ids = [client.post(&busy()).unwrap(), client.post(&busy()).unwrap()];
    client.flush().unwrap();
    let canceller = client.canceller().unwrap();
    ids.iter().rev().for_each(|id| canceller.cancel(*id).unwrap());
    for _ in ids {
        let (_, answer) = client.receive().unwrap();
        assert!(is_interrupted(&answer), "{answer:?}");
    }
    drop(client);
    kept.end();
}

/// `telos status` hung when it was needed most, and a newcomer was sent away for not greeting, though it had.
#[test]
fn a_keeper_without_room_for_requests_greets_and_tells_its_status() {
    let by_count = Bounds { requests: 2, ..Bounds::default() };
    let by_bytes = Bounds { requests_ahead: 1, request_bytes: 10, ..Bounds::default() };
    for bounds in [by_count, by_bytes] {
        let kept = Kept::start(bounds);
        let mut client = kept.client();
        let first = client.post(&busy()).unwrap();
        let second = client.post(&busy()).unwrap();
        client.flush().unwrap();
        // What was sent before a client connects is read before what that client says.
        let mut newcomer = kept.client();
        let status = newcomer.status().unwrap();
        assert_eq!(status.requests_ahead + status.requests_waiting, 2, "{status:?}");
        // There is no room for this one until the others are done.
        let quick = newcomer.post(&labelled("quick")).unwrap();
        newcomer.flush().unwrap();
        assert_eq!(client.status().unwrap().requests_answered, 0);
        let canceller = client.canceller().unwrap();
        [second, first].into_iter().for_each(|id| canceller.cancel(id).unwrap());
        for _ in 0..2 {
            assert!(is_interrupted(&client.receive().unwrap().1));
        }
        assert!(matches!(newcomer.wait(quick).unwrap().outcome, Outcome::Value(_)));
        drop((client, newcomer));
        kept.end();
    }
}

/// The socket's own words, without the client that minds its manners.
fn greeting(kept: &Kept) -> (UnixStream, Outbox) {
    let stream = UnixStream::connect(kept.path().join(keeper::SOCKET)).unwrap();
    let mut outbox = Outbox::default();
    outbox.push_json(Kind::Hello, 0, &Hello { protocol: VERSION, client: "raw".into() });
    (stream, outbox)
}

#[test]
fn who_is_left_unread_in_the_middle_of_a_frame_is_not_sent_away_for_that() {
    let kept = Kept::start(Bounds { requests: 1, frame: Duration::from_millis(500), ..Bounds::default() });
    let (mut stream, mut outbox) = greeting(&kept);
    outbox.drain(&stream).unwrap();
    // Put together by hand, to be sent in three parts.
    let body = serde_json::to_vec(&labelled("quick")).unwrap();
    let header = [&(body.len() as u32).to_le_bytes()[..], &[Kind::Request as u8], &7_u64.to_le_bytes()].concat();
    stream.write_all(&header).unwrap();
    // What was sent before a client connects is read before what that client says.
    let mut client = kept.client();
    let only = client.post(&busy()).unwrap();
    client.flush().unwrap();
    let began_ms = client.status().unwrap().up_ms;
    stream.write_all(&body[..1]).unwrap();
    // Clients that fell asleep are looked for once a second.
    while client.status().unwrap().up_ms < began_ms + 2000 {
        std::thread::sleep(Duration::from_millis(5));
    }
    stream.write_all(&body[1..]).expect("it was not sent away");
    client.canceller().unwrap().cancel(only).unwrap();
    let mut inbox = Inbox::default();
    let kind = loop {
        match inbox.next(FRAME_BYTES_MAX).unwrap().map(|frame| frame.kind) {
            None => assert_ne!(inbox.fill(&stream).unwrap(), 0, "it was sent away"),
            Some(Kind::Welcome) => {}
            Some(kind) => break kind,
        }
    };
    assert_eq!(kind, Kind::Answer);
    drop((client, stream));
    kept.end();
}

#[test]
fn more_inquiries_than_a_client_may_have_are_all_answered() {
    let kept = Kept::start(Bounds { inquiries_per_client: 2, ..Bounds::default() });
    let (stream, mut outbox) = greeting(&kept);
    (1..=100).for_each(|id| outbox.push(Kind::Status, id, &[]));
    outbox.drain(&stream).unwrap();
    let (mut inbox, mut answered) = (Inbox::default(), Vec::new());
    while answered.len() < 100 {
        while let Some(frame) = inbox.next(FRAME_BYTES_MAX).unwrap() {
            answered.extend((frame.kind == Kind::Status).then_some(frame.id));
        }
        assert!(answered.len() == 100 || inbox.fill(&stream).unwrap() > 0, "it was sent away: {answered:?}");
    }
    assert_eq!(answered, (1..=100).collect::<Vec<u64>>());
    drop(stream);
    kept.end();
}

/// What comes over the line to a dream is as hostile as the dream.
#[test]
fn a_dream_that_says_what_none_would_is_ended_and_nobody_else_notices() {
    let kept = Kept::start(Bounds::default());
    let mut other = kept.client();
    let waiting = other.post(&busy()).unwrap();
    other.flush().unwrap();
    let mut client = kept.client();
    for word in ["garbage", "endless", "foreign", "request", "stop", "born", "calls", "returned"] {
        let born = Request { label: "born".into(), ..Request::evaluate(word) };
        // The one that is busy is in its way.
        other.canceller().unwrap().cancel(waiting).ok();
        client.send(&born).unwrap();
        let within = Request { dream: Some(word.into()), ..Request::evaluate("1") };
        let Outcome::Failure(failure) = client.send(&within).unwrap().outcome else { panic!("{word} was believed") };
        assert_eq!(failure.kind, FailureKind::Lost, "{word}");
        let Outcome::Failure(failure) = client.send(&within).unwrap().outcome else { panic!("{word} is still there") };
        assert_eq!(failure.kind, FailureKind::Refused, "{word}");
    }
    assert!(client.status().unwrap().dreams.is_empty());
    drop((client, other));
    kept.end();
}
