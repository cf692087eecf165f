//! What was recorded can be played: the same calls get the same answers, without the world.

mod shared;

use broker::{Answer, Broker, Call, Caller, Policies, Stop, Value, Way};
use shared::*;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const SECRET: &str = "sk-very-secret";

fn read_lines(file: &Path) -> Vec<serde_json::Value> {
    fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_recording_of_live_gives_a_dream_the_same_answers_in_the_same_order() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |request, stream| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        stream.write_all(ok(&format!("{number} \u{ff} {}", request.contains(SECRET))).as_bytes()).unwrap();
    });
    let directory = tempfile::tempdir().unwrap();
    let (file, content) = (directory.path().join("calls.jsonl"), directory.path().join("a.txt"));
    fs::write(&content, [0, 255, 10]).unwrap();
    let more =
        format!("[secrets.key]\nvalue = \"{SECRET}\"\nhosts = [\"{}\"]\n[environment]\nA = \"b\"\n", server.host());
    let calls = [
        Call::new("Http.request", [text("GET"), text(server.url()), text("X: {{secret:key}}")]),
        Call::new("Http.request", [text("GET"), text(server.url()), text("X: {{secret:key}}")]),
        Call::new("Http.request", [text("POST"), text(server.url()), Value::Nil, Value::Bytes(vec![1, 200])]),
        Call::new("System.systemOutput", [text("printf '\\377'; exit 4")]),
        Call::new("File.read", [text(&content)]),
        Call::new("File.read", [text("/nowhere/at/all")]),
        Call::new("Environment.get", [text("A")]),
        Call::new("Environment.get", [text("B")]),
        Call::new("Clock.now", []),
        Call::new("Randomness.bytes", [Value::Number(32.0)]),
    ];
    let broker = Broker::new(server.house(&more), Some(File::create(&file).unwrap()));
    let answers = |broker: &Broker, caller: &Caller| -> Vec<Answer> {
        calls.iter().map(|call| broker.answer(caller, call, &Stop::default())).collect()
    };
    let recorded = answers(&broker, &Caller::live());
    assert_eq!(broker.recording_problem(), None);
    let requests = server.requests().len();
    let policy: String = ["http", "commands", "files", "environment", "clock", "randomness"]
        .iter()
        .map(|name| format!("[{name}]\npolicy = \"simulated\"\nrecording = \"calls.jsonl\"\n"))
        .collect();
    fs::write(directory.path().join("policy.toml"), policy).unwrap();
    let policies = Policies::read(&directory.path().join("policy.toml")).unwrap();
    // As it is carried to where it is used.
    let policies: Policies = serde_json::from_str(&serde_json::to_string(&policies).unwrap()).unwrap();
    let played = answers(&Broker::new(broker::House::default(), None), &Caller::dream("d1", policies));
    for ((call, recorded), played) in calls.iter().zip(&recorded).zip(&played) {
        if recorded.way == Way::Failed {
            assert!(refusal(played, Way::Failed).contains("no answer is scripted"), "{call:?}: {played:?}");
            continue;
        }
        assert_eq!((recorded.way, played.way), (Way::Redirected, Way::Simulated), "{call:?}");
        assert_eq!(recorded.values, played.values, "{call:?}");
    }
    assert_ne!(recorded[0].values, recorded[1].values, "the same call twice, and two answers");
    assert_eq!(server.requests().len(), requests, "the world was not asked");
}

#[test]
fn each_call_is_a_line_and_no_line_has_a_secret() {
    let server = Server::start(|request, stream| stream.write_all(ok(request).as_bytes()).unwrap());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("calls.jsonl");
    let more = format!("[secrets.key]\nvalue = \"{SECRET}\"\nhosts = [\"{}\"]\n", server.host());
    let broker = Broker::new(server.house(&more), Some(File::create(&file).unwrap()));
    get(&broker, &Caller::live(), &server.url(), "X: {{secret:key}}");
    // One who knows it all the same, and says it.
    get(&broker, &Caller::live(), &server.url(), &format!("X: {SECRET}"));
    ask(&broker, &Caller::live(), "File.read", &[text(SECRET)]);
    ask(&broker, &Caller::dream("d7", Policies::default()), "Clock.now", &[]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains(SECRET) && text.contains("{{secret:key}}"), "{text}");
    let lines = read_lines(&file);
    let told: Vec<_> = lines.iter().map(|line| (line["caller"].as_str(), line["answer"]["way"].as_str())).collect();
    let live = Some("live");
    let ways = [(live, Some("redirected")), (live, Some("redirected")), (live, Some("failed"))];
    assert_eq!(told, [&ways[..], &[(Some("dream d7"), Some("blocked"))]].concat());
    assert!(lines.iter().all(|line| line["time_ms"].as_u64() > Some(1_700_000_000_000)));
}

#[test]
fn many_who_are_recorded_at_once_leave_whole_lines() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("calls.jsonl");
    let broker = Broker::new(broker::House::default(), Some(File::create(&file).unwrap()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    ask(&broker, &Caller::live(), "Randomness.bytes", &[Value::Number(500.0)]);
                }
            });
        }
    });
    assert_eq!(read_lines(&file).len(), 400);
}

#[test]
fn a_recording_that_cannot_go_on_is_told_and_the_answer_is_given_all_the_same() {
    let broker = Broker::new(broker::House::default(), Some(File::create("/dev/full").unwrap()));
    assert_eq!(ask(&broker, &Caller::live(), "Clock.now", &[]).way, Way::Redirected);
    assert!(broker.recording_problem().is_some_and(|why| why.contains("ends early")));
}
