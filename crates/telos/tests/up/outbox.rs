//! Calls that a dream promised: made when it is merged and never before, at least once and always under one key, whoever is killed;
//! none for a dream that is rejected, none twice for the same journal; and what cannot be delivered stays in sight.

use crate::launch::Ran;
use crate::launch::up::{Up, is_alive, wait_for};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A server on loopback that counts how often it was asked under each key.
struct Server {
    port: u16,
    heard: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
    /// What it answers; 0 for never.
    status: Arc<AtomicU16>,
}

impl Server {
    fn new(status: u16) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (heard, status) =
            (Arc::<Mutex<BTreeMap<String, Vec<String>>>>::default(), Arc::new(AtomicU16::new(status)));
        let (hearing, saying) = (heard.clone(), status.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (hearing, saying) = (hearing.clone(), saying.clone());
                std::thread::spawn(move || {
                    let request = request(&mut stream);
                    let key = header(&request, "idempotency-key").unwrap_or_default();
                    hearing.lock().unwrap().entry(key).or_default().push(request);
                    match saying.load(Ordering::SeqCst) {
                        0 => std::thread::sleep(std::time::Duration::from_secs(120)),
                        status => {
                            let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 5\r\n\r\nheard");
                            let _ = stream.write_all(answer.as_bytes());
                        }
                    }
                });
            }
        });
        Server { port, heard, status }
    }

    /// How often each key was heard.
    fn counts(&self) -> BTreeMap<String, usize> {
        self.heard.lock().unwrap().iter().map(|(key, requests)| (key.clone(), requests.len())).collect()
    }

    fn requests(&self) -> Vec<String> {
        self.heard.lock().unwrap().values().flatten().cloned().collect()
    }

    fn post(&self, body: &str) -> String {
        format!("Http post(\"http://127.0.0.1:{}/hook\", \"{body}\", Map with(\"x-mine\", \"1\"))", self.port)
    }
}

fn header(request: &str, name: &str) -> Option<String> {
    let lines = request.lines().take_while(|line| !line.is_empty());
    let mut found = lines.filter_map(|line| line.split_once(": ")).filter(|(each, _)| each.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.to_string())
}

/// All of a request, with its body.
fn request(stream: &mut TcpStream) -> String {
    let (mut heard, mut piece) = (String::new(), [0; 8192]);
    loop {
        let body = heard.split_once("\r\n\r\n").map(|(_, body)| body.len());
        let length = header(&heard, "content-length").and_then(|length| length.parse::<usize>().ok()).unwrap_or(0);
        if body.is_some_and(|body| body >= length) {
            return heard;
        }
        match stream.read(&mut piece) {
            Ok(count @ 1..) => heard.push_str(&String::from_utf8_lossy(&piece[..count])),
            _ => return heard,
        }
    }
}

/// An image that may ask a server, and a policy by which a dream promises.
struct Scene {
    up: Up,
    place: TempDir,
    house: PathBuf,
}

const LATER: &str = "[http]\npolicy = \"later\"\n[commands]\npolicy = \"later\"\n";

impl Scene {
    fn new(port: u16) -> Scene {
        let place = tempfile::tempdir().unwrap();
        let house = place.path().join("broker.toml");
        let rules = format!("[http]\nhosts = [\"127.0.0.1:{port}\"]\nprivate = [\"127.0.0.1:{port}\"]\n");
        fs::write(&house, rules).unwrap();
        fs::set_permissions(&house, fs::Permissions::from_mode(0o600)).unwrap();
        let up = Up::start(&["--broker", house.to_str().unwrap()]);
        Scene { up, place, house }
    }

    fn telos(&self, arguments: &[&str]) -> Ran {
        let mut command = crate::launch::command(".".as_ref(), arguments);
        let ended = command.env("TELOS_IMAGE", &self.up.directory).output().expect("the binary starts");
        ended.into()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.telos(arguments);
        serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
    }

    /// A kept dream under this policy, with what `run --json` says of it.
    fn dreamt_under(&self, policy: &str, source: &str) -> (String, Value) {
        let file = self.place.path().join("policy.toml");
        fs::write(&file, policy).unwrap();
        let file = file.to_str().unwrap();
        let told = self.json(&["dream", "run", "--keep", "--json", "--net-policy", file, "-e", source]);
        (told["dream"].as_str().unwrap_or_else(|| panic!("{told}")).to_string(), told)
    }

    fn dreamt(&self, source: &str) -> String {
        self.dreamt_under(LATER, source).0
    }

    fn live(&self, expression: &str) -> String {
        self.up.send(expression).ok().trim_end().to_string()
    }

    fn outbox(&self) -> Vec<Value> {
        self.json(&["outbox", "--all", "--json"]).as_array().unwrap().clone()
    }

    fn is_delivered(&self, count: usize) -> bool {
        let outbox = self.outbox();
        outbox.len() == count && outbox.iter().all(|each| each["status"] == "delivered")
    }
}

#[test]
fn a_promised_call_is_made_after_the_merge_once_under_its_key() {
    let server = Server::new(200);
    let scene = Scene::new(server.port);
    let source =
        format!("answer := {}; Garden := Object clone do(seen := answer status); Garden seen", server.post("hello"));
    let (dream, told) = scene.dreamt_under(LATER, &source);
    let calls: Vec<&Value> =
        told["journal"]["changes"].as_array().unwrap().iter().filter(|each| each["operation"] == "FFI_CALL").collect();
    assert_eq!((calls.len(), &calls[0]["answered"]), (1, &"deferred".into()), "{calls:?}");
    assert_eq!(scene.telos(&["dream", "verify", &dream]).code, Some(0));
    assert_eq!(server.counts(), BTreeMap::new(), "nothing is sent by a dream, nor by judging it");
    let report = scene.json(&["dream", "merge", "--json", &dream]);
    assert_eq!((&report["status"], &report["calls"]), (&"merged".into(), &1.into()), "{report}");
    wait_for("it is delivered", || scene.is_delivered(1));
    let outbox = scene.outbox();
    let key = outbox[0]["key"].as_str().unwrap().to_string();
    assert_eq!(server.counts(), BTreeMap::from([(key, 1)]));
    let request = &server.requests()[0];
    assert!(
        request.starts_with("POST /hook ") && request.ends_with("hello") && request.contains("x-mine: 1"),
        "{request}"
    );
    assert!(outbox[0]["answer"].as_str().unwrap().contains("heard"), "{outbox:?}");
    assert_eq!(scene.live("list(Garden seen, Telos outbox size, Telos delivered size)"), "list(202, 0, 1)");
    let again = scene.json(&["dream", "merge", "--json", &dream]);
    assert_eq!(again["status"], "known");
    assert_eq!(server.counts().values().sum::<usize>(), 1, "the same journal twice sends nothing twice");
    let none = scene.telos(&["outbox"]);
    assert!(none.errors.contains("nothing waits") && none.ok().is_empty(), "what is done is no more in sight");
}

#[test]
fn a_dream_that_is_rejected_sends_nothing_and_what_was_answered_for_real_is_not_sent_again() {
    let server = Server::new(200);
    let scene = Scene::new(server.port);
    scene.up.send("Garden := Object clone do(trees := 3); GardenTest := UnitTest clone do(testTrees := method(assertEquals(3, Garden trees))); nil").ok();
    let rejected = scene.dreamt(&format!("Garden trees = 4; {}; nil", server.post("no")));
    assert_eq!(scene.telos(&["dream", "merge", &rejected]).code, Some(3));
    let ways = [
        ("[http]\npolicy = \"redirected\"\n", 1),
        ("[http]\npolicy = \"blocked\"\n", 1),
        ("[http]\npolicy = \"simulated\"\n[[http.answer]]\ncall = \"Http.request\"\nvalues = [200, \"\", \"\"]\n", 1),
    ];
    for (policy, count) in ways {
        let source = format!("try({}); Garden bed := 1; nil", server.post("real"));
        let (dream, _) = scene.dreamt_under(policy, &source);
        let report = scene.json(&["dream", "merge", "--json", &dream]);
        assert!(report["calls"] == 0 || report["status"] == "rejected", "{report}");
        assert_eq!(server.counts().values().sum::<usize>(), count, "{policy}");
    }
    assert_eq!((scene.outbox().len(), server.counts().len()), (0, 1));
}

/// The server hears the call and never answers; all processes are killed; the next start makes the same call again.
#[test]
fn a_call_whose_end_nobody_saw_is_made_again_under_the_same_key() {
    let server = Server::new(0);
    let mut scene = Scene::new(server.port);
    let dream = scene.dreamt(&format!("{}; Garden := 1; nil", server.post("hello")));
    let report = scene.json(&["dream", "merge", "--json", &dream]);
    assert_eq!(report["status"], "merged");
    wait_for("it is heard", || server.counts().values().sum::<usize>() == 1);
    let first = scene.outbox();
    assert_eq!((&first[0]["status"], &first[0]["is_under_way"]), (&"waiting".into(), &true.into()));
    let image = scene.up.image_pid;
    scene.up.signal("KILL");
    scene.up.ended();
    wait_for("nobody is left", || !is_alive(image));
    server.status.store(200, Ordering::SeqCst);
    let house = scene.house.to_str().unwrap().to_string();
    scene.up.start_again(&["--broker", &house]);
    wait_for("it is delivered", || scene.is_delivered(1));
    let counts = server.counts();
    assert_eq!(counts.len(), 1, "one key: {counts:?}");
    assert!(counts.values().all(|count| *count >= 2), "{counts:?}");
    assert_eq!(counts.keys().next().map(String::as_str), first[0]["key"].as_str());
    let before = server.counts();
    scene.up.stop();
    scene.up.start_again(&["--broker", &house]);
    assert_eq!(scene.live("Telos outbox size"), "0");
    assert_eq!(server.counts(), before, "what is delivered is not sent again");
}

#[test]
fn what_fails_is_tried_again_and_what_is_refused_stays_in_sight() {
    let server = Server::new(503);
    let scene = Scene::new(server.port);
    let dream = scene.dreamt(&format!("{}; {}; Garden := 1; nil", server.post("first"), server.post("second")));
    scene.telos(&["dream", "merge", &dream]).ok();
    wait_for("it is tried again", || scene.outbox()[0]["attempts"].as_u64() >= Some(2));
    assert_eq!(scene.json(&["status", "--json"])["image"]["outbox"]["waiting"], 2);
    assert_eq!(server.counts().len(), 1, "the second waits behind the first");
    server.status.store(200, Ordering::SeqCst);
    wait_for("both are delivered", || scene.is_delivered(2));
    server.status.store(404, Ordering::SeqCst);
    let other = scene.dreamt(&format!("{}; Garden = 2; nil", server.post("third")));
    scene.telos(&["dream", "merge", &other]).ok();
    let failed = || scene.json(&["outbox", "--json"]);
    wait_for("it has failed", || failed()[0]["status"] == "failed");
    assert_eq!(
        (failed()[0]["attempts"].as_u64(), scene.json(&["status", "--json"])["image"]["outbox"]["failed"].as_u64()),
        (Some(1), Some(1))
    );
    assert!(scene.telos(&["outbox"]).ok().contains("failed"));
    server.status.store(200, Ordering::SeqCst);
    assert_eq!(scene.json(&["outbox", "resend", "--json"])["resent"], 1);
    wait_for("all are delivered", || scene.is_delivered(3));
}

#[test]
fn a_promised_command_is_run_once_with_its_key_and_a_promise_has_no_answer_yet() {
    let scene = Scene::new(1);
    let mark = scene.place.path().join("mark");
    let command = format!("echo $TELOS_DELIVERY_KEY >> {}", mark.display());
    let dream = scene.dreamt(&format!("Garden := System system(\"{command}\"); nil"));
    assert!(!mark.exists());
    scene.telos(&["dream", "merge", &dream]).ok();
    wait_for("it is delivered", || scene.is_delivered(1));
    let key = scene.outbox()[0]["key"].as_str().unwrap().to_string();
    assert_eq!(fs::read_to_string(&mark).unwrap(), format!("{key}\n"));
    assert_eq!(scene.live("Garden"), "0");
}

/// What only asks is answered by the script, and never sent; a host that the house does not allow is not promised.
#[test]
fn only_what_does_something_and_may_be_done_is_promised() {
    let server = Server::new(200);
    let scene = Scene::new(server.port);
    let (_, asked) = scene.dreamt_under(LATER, &format!("Http get(\"http://127.0.0.1:{}/\")", server.port));
    assert!(asked.to_string().contains("no answer is scripted"), "{asked}");
    let (_, elsewhere) = scene.dreamt_under(LATER, "Http post(\"http://127.0.0.1:9/\", \"x\")");
    assert!(elsewhere.to_string().contains("the house allows no requests"), "{elsewhere}");
    let policy = format!("{LATER}[files]\npolicy = \"later\"\n");
    fs::write(scene.place.path().join("files.toml"), policy).unwrap();
    let file = scene.place.path().join("files.toml");
    let refused = scene.telos(&["dream", "run", "--net-policy", file.to_str().unwrap(), "-e", "1"]);
    assert!(refused.code != Some(0) && refused.errors.contains("cannot be `later`"), "{refused:?}");
    assert_eq!(server.counts(), BTreeMap::new());
}

#[test]
fn undo_takes_back_what_was_not_sent_and_tells_what_was() {
    let server = Server::new(503);
    let scene = Scene::new(server.port);
    let dream = scene.dreamt(&format!("{}; {}; Garden := 1; nil", server.post("first"), server.post("second")));
    scene.telos(&["dream", "merge", &dream]).ok();
    wait_for("it is tried", || scene.outbox()[0]["attempts"].as_u64() >= Some(1));
    let told = scene.json(&["undo", "--json", &dream]);
    let calls = &told["calls"];
    let sum = calls["cancelled"].as_u64().unwrap() + calls["made"].as_u64().unwrap();
    assert!(sum == 2 && calls["cancelled"].as_u64() >= Some(1), "{told}");
    assert!(!server.requests().iter().any(|request| request.ends_with("second")));
}

/// What a merge left to be done was taken back by commits of its own, behind the one that took back the merge: whoever was killed in
/// between made the calls of a merge that was none any more, at the next start.
#[test]
fn a_merge_is_taken_back_in_one_commit_with_what_it_left_to_be_done() {
    let server = Server::new(503);
    let scene = Scene::new(server.port);
    let dream = scene.dreamt(&format!("{}; {}; Garden := 1; nil", server.post("first"), server.post("second")));
    scene.telos(&["dream", "merge", &dream]).ok();
    wait_for("it has failed some times", || scene.outbox()[0]["attempts"].as_u64() >= Some(3));
    wait_for("none is under way", || scene.outbox().iter().all(|each| each["is_under_way"] == false));
    let told = scene.json(&["undo", "--json", &dream]);
    assert_eq!(told["calls"]["cancelled"], 2, "{told}");
    let shown = scene.json(&["show", "--json", &told["commit"].to_string()]);
    assert_eq!(scene.json(&["log", "--json", "-n", "1"])[0]["number"], told["commit"], "nothing came behind it");
    assert_eq!(shown.to_string().matches("its merge was taken back").count(), 2, "{shown}");
    let outbox = scene.outbox();
    assert!(outbox.len() == 2 && outbox.iter().all(|each| each["status"] == "undone"), "{outbox:?}");
}

/// A binary body, which is no text, is sent as it was.
#[test]
fn bytes_that_are_no_text_arrive_as_they_are() {
    let server = Server::new(200);
    let scene = Scene::new(server.port);
    let source = format!(
        "body := Sequence clone setItemType(\"uint8\") setEncoding(\"number\"); body append(65, 255, 66); \
         Http post(\"http://127.0.0.1:{}/\", body); Garden := 1; nil",
        server.port
    );
    let dream = scene.dreamt(&source);
    scene.telos(&["dream", "merge", &dream]).ok();
    wait_for("it is delivered", || scene.is_delivered(1));
    assert!(server.requests()[0].ends_with("A\u{FFFD}B"), "{:?}", server.requests());
    assert_eq!(scene.live("Telos delivered first arguments size"), "4");
}

/// Writes a call into the journal of a kept dream as if it had been promised.
fn forge(scene: &Scene, dream: &str, name: &str, argument: &str) {
    use object::change::{Change, ChangeId, Datum, ObjectId, Time};
    let page = scene.json(&["dream", "show", "--json", dream]);
    let store = u128::from_str_radix(page["store"].as_str().unwrap(), 16).unwrap().to_be_bytes();
    let dreams = dream::Dreams::open(&scene.up.directory, store).unwrap();
    let (mut recording, kept) = dreams.resume(dream.parse().unwrap()).unwrap();
    assert_eq!(kept.journal.changes().count(), 0, "it has done nothing");
    let (fork, end) = (kept.header.fork(), kept.end.expect("it is over"));
    let root = ObjectId::minted(ChangeId::new(store::LIVE_ACTOR, 1));
    let call = dream::Call::operation(name, &[Datum::text(argument)], dream::Answered::Deferred, Datum::Nil);
    let change = Change::new(ChangeId::new(fork.actor, 1), fork.forked, root, call);
    let (mut writer, mut stream) = (dream::Writer::new(fork, kept.header.bounds), Vec::new());
    let commit = store::NewCommit { time: fork.forked, changes: vec![change], ..store::NewCommit::default() };
    writer.write(&commit, &mut stream).unwrap();
    let mut decoder = dream::Decoder::new(fork, kept.header.bounds);
    let mut append = |received: dream::Received<'_>| recording.append(&received).unwrap();
    decoder.feed(&stream, Time(fork.forked.0 + 1), &mut append).unwrap();
    recording.end(&end).unwrap();
}

/// A journal is the dreamer's word. Whoever has taken over a dream may say in it that anything was promised.
#[test]
fn a_call_that_no_policy_let_the_dream_promise_is_never_made() {
    let scene = Scene::new(1);
    let mark = scene.place.path().join("mark");
    fs::write(scene.place.path().join("policy.toml"), "[http]\npolicy = \"later\"\n").unwrap();
    let policy = scene.place.path().join("policy.toml");
    let begun = scene.telos(&["dream", "new", "--keep", "--net-policy", policy.to_str().unwrap()]);
    let dream = begun.ok().trim().to_string();
    let wake = keeper::protocol::Request::new(keeper::protocol::Command::Wake);
    let _ = scene.up.client().send(&keeper::protocol::Request { dream: Some(dream.clone()), ..wake });
    wait_for("it is over", || scene.json(&["dream", "show", "--json", &dream])["status"] != "running");
    forge(&scene, &dream, "System.system", &format!("touch {}", mark.display()));
    let refused = scene.telos(&["dream", "merge", &dream]);
    assert!(refused.code == Some(3) && refused.output.contains("is not `later`"), "{refused:?}");
    assert_eq!((scene.outbox().len(), mark.exists()), (0, false));
}

/// What is in the outbox is done, and nobody asks again: so nothing gets there but by a merge itself.
#[test]
fn a_dream_puts_nothing_into_the_outbox_and_changes_nothing_in_there() {
    let server = Server::new(404);
    let scene = Scene::new(server.port);
    let dream = scene.dreamt(&format!("{}; Garden := 1; nil", server.post("first")));
    scene.telos(&["dream", "merge", &dream]).ok();
    wait_for("it has failed", || scene.outbox()[0]["status"] == "failed");
    let mark = scene.place.path().join("mark");
    let forged = format!(
        "Object clone do(key := \"k\"; name := \"System.system\"; dream := \"d1\"; status := \"waiting\"; \
         arguments := list(\"touch {}\"))",
        mark.display()
    );
    for source in [
        format!("Telos outbox append({forged})"),
        format!("Telos outbox = list({forged})"),
        format!("Telos = Object clone do(outbox := list({forged}))"),
        format!("Lobby Telos := Telos clone do(outbox := list({forged}))"),
        "Telos outbox first status = \"waiting\"".to_string(),
        "Telos outbox first arguments atPut(1, \"http://127.0.0.1/other\")".to_string(),
        "Telos outbox removeFirst".to_string(),
    ] {
        let dream = scene.dreamt(&format!("{source}; nil"));
        let ran = scene.telos(&["dream", "merge", &dream]);
        assert!(ran.code == Some(1) || ran.code == Some(3), "{source}: {ran:?}");
    }
    let outbox = scene.outbox();
    assert_eq!((outbox.len(), &outbox[0]["status"], mark.exists()), (1, &"failed".into(), false));
}
