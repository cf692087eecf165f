//! Agents through the command line: what they can do in their dream, that they can do nothing else, and how they end, however
//! they behave.

use crate::launch::exec::Bench;
use crate::launch::up::{Up, is_alive, signal, wait_for};
use crate::launch::{Ran, command, telos_in};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};

const ACCOUNT: &str = "Account := Object clone do(balance := 10; tax := method(balance * 0.1)); \
    AccountTest := UnitTest clone do(testTax := method(assertEquals(2, Account tax))); nil";

fn words<'w>(up: &'w Up, options: &[&'w str], agent: &[&'w str]) -> Vec<&'w str> {
    let directory = up.directory.to_str().expect("temporary files have plain names");
    [&["dream", "run", "--image", directory], options, &["--command"], agent].concat()
}

fn run(up: &Up, options: &[&str], agent: &[&str]) -> Ran {
    telos_in(Path::new("."), &words(up, options, agent), "")
}

/// What came of an agent, as JSON, with its exit code.
fn told(up: &Up, options: &[&str], agent: &[&str]) -> (Option<i32>, Value) {
    let ran = run(up, &[&["--json"], options].concat(), agent);
    let object = serde_json::from_str(&ran.output).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    (ran.code, object)
}

fn start(up: &Up, options: &[&str], agent: &[&str]) -> Child {
    let mut command = command(Path::new("."), &words(up, options, agent));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

/// One request as a line.
fn request(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

fn dreams(up: &Up) -> Vec<String> {
    up.client().status().expect("the keeper answers").dreams
}

fn is_nothing_left(up: &Up) -> bool {
    let pid = up.image_pid;
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    dreams(up).is_empty() && children.trim().is_empty()
}

/// Asks each line of its arguments, and writes each answer to standard error.
const ASK_ALL: &str =
    r#"read hello; for line in "$@"; do printf '%s\n' "$line"; read -r answer; printf '%s\n' "$answer" >&2; done"#;

/// The answers to these requests, and then what came of it.
fn asked(up: &Up, options: &[&str], requests: &[String]) -> (Vec<Value>, Value) {
    let agent: Vec<&str> =
        ["sh", "-c", ASK_ALL, "agent"].into_iter().chain(requests.iter().map(String::as_str)).collect();
    let (_, object) = told(up, options, &agent);
    let answers = object["agent"]["stderr"].as_str().unwrap_or_default().lines();
    (answers.map(|line| serde_json::from_str(line).expect("an answer is JSON")).collect(), object)
}

#[test]
fn the_example_agent_mends_a_method_if_the_tests_pass() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/agents/mend.py");
    let options = ["--mandate", "a fifth", "--file", file];
    let ran = run(&up, &options, &["python3", "mend.py", "Account tax", "method(balance * 0.2)"]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    for line in ["- tax := method(balance * 0.1)", "+ tax := method(balance * 0.2)"] {
        assert!(ran.output.lines().any(|each| each.trim() == line), "{line} in {}", ran.output);
    }
    for words in [
        ": a fifth",
        "agent: Account tax was method(\n    balance * 0.1\n)",
        "done: Account tax is mended; passing tests: 1",
    ] {
        assert!(ran.errors.contains(words), "{words} in {}", ran.errors);
    }
    assert_eq!(up.send("Account tax").output, "1\n", "live is as it was");
    let (code, object) = told(&up, &options, &["python3", "mend.py", "Account tax", "method(balance * 0.3)"]);
    let agent = &object["agent"];
    assert_eq!((code, &agent["status"], &agent["exit_code"]), (Some(1), &json!("failed"), &json!(1)));
    assert_eq!(agent["reason"], "it ended without saying done (exit code 1)");
    assert!(agent["log"][1].as_str().is_some_and(|line| line.starts_with("AccountTest testTax: ")), "{}", agent["log"]);
    assert!(agent["stderr"].as_str().is_some_and(|text| text.contains("failing tests: 1")));
    wait_for("nothing is left", || is_nothing_left(&up));
}

#[test]
fn every_method_does_what_it_says() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let requests = [
        request("eval", json!({ "source": "\"hi\" print; list(1, 2)" })),
        request("eval", json!({ "source": "1 foo" })),
        request("get", json!({ "path": "Account tax" })),
        request("get", json!({ "path": "Account balance" })),
        request("get", json!({ "path": "Account nothing" })),
        request("set", json!({ "path": "Account tax", "source": "// more\nmethod(rate,\n  balance * rate)" })),
        request("set", json!({ "path": "Account \"odd) name", "source": "\"text\"" })),
        request("set", json!({ "path": "Shop", "source": "Object clone" })),
        request("set", json!({ "path": "Account broken", "source": "method(" })),
        request("eval", json!({ "source": "list(Account tax(0.5), Account getSlot(\"\\\"odd)\") isNil, Shop type)" })),
        request("list", json!({ "path": "Account" })),
        request("list", json!({})),
        request("tests", json!({})),
        request("log", json!({ "text": "nearly there" })),
        request("done", json!({ "summary": "all asked" })),
    ];
    let (answers, object) = asked(&up, &[], &requests);
    let result = |number: usize| &answers[number]["result"];
    assert_eq!(result(0)["value"], json!([1, 2]));
    assert_eq!((&result(0)["output"], &result(0)["changed"]), (&json!("hi"), &json!(false)));
    let error = &answers[1]["error"];
    assert_eq!((&error["code"], &error["data"]["type"]), (&json!(-32000), &json!("Exception")), "{error}");
    assert_eq!(*result(2), json!({ "kind": "method", "value": "method(\n    balance * 0.1\n)" }));
    assert_eq!(*result(3), json!({ "kind": "Number", "value": 10 }));
    assert!(answers[4]["error"]["message"].as_str().is_some_and(|text| text.contains("no slot \"nothing\"")));
    assert_eq!(result(5)["kind"], "method");
    assert!(answers[6]["error"]["message"].as_str().is_some_and(|text| text.contains("in quotes")), "{}", answers[6]);
    assert_eq!(result(7)["kind"], "Shop");
    assert_eq!(answers[8]["error"]["code"], -32000);
    assert_eq!(result(9)["value"], json!([5, true, "Shop"]));
    let slots: Vec<&Value> = result(10)["slots"].as_array().unwrap().iter().collect();
    assert!(slots.contains(&&json!({ "name": "balance", "kind": "Number" })), "{slots:?}");
    assert!(slots.contains(&&json!({ "name": "tax", "kind": "method" })), "{slots:?}");
    assert!(result(11)["slots"].as_array().unwrap().contains(&json!({ "name": "Account", "kind": "Account" })));
    assert_eq!((&result(12)["passed"], &result(12)["failed"]), (&json!(0), &json!(1)));
    assert_eq!(result(12)["results"][0]["test"], "AccountTest testTax");
    let agent = &object["agent"];
    assert_eq!((&agent["status"], &agent["summary"]), (&json!("done"), &json!("all asked")));
    assert_eq!((&agent["log"], &agent["counts"]["requests"]), (&json!(["nearly there"]), &json!(15)));
    assert_eq!((&agent["counts"]["evaluations"], &agent["counts"]["faults"]), (&json!(12), &json!(4)));
    let changed: Vec<&Value> = object["journal"]["changes"].as_array().unwrap().iter().collect();
    assert!(changed.iter().any(|change| change["slot_name"] == "tax"), "{changed:?}");
}

#[test]
fn an_agent_that_asks_and_does_not_wait_has_all_of_it_done() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let lines = [request("set", json!({ "path": "Account balance", "source": "77" })), request("done", json!({}))];
    let (code, object) = told(&up, &[], &["printf", "%s\\n", &lines[0], &lines[1]]);
    assert_eq!((code, &object["agent"]["status"]), (Some(0), &json!("done")), "{object}");
    assert_eq!(object["journal"]["changes"][0]["value"], 77.0);
    // What has no line end is no request.
    let (code, object) = told(&up, &[], &["printf", "%s", &lines[1]]);
    assert_eq!((code, &object["agent"]["status"]), (Some(1), &json!("failed")));
    assert_eq!(object["agent"]["reason"], "it ended without saying done (exit code 0)");
}

#[test]
fn fuel_is_for_all_that_an_agent_evaluates() {
    let up = Up::start(&[]);
    let requests = [
        request("eval", json!({ "source": "100 repeat(1)", "fuel": 10 })),
        request("eval", json!({ "source": "1 + 1" })),
        request("eval", json!({ "source": "loop(1)" })),
        request("eval", json!({ "source": "1" })),
        request("eval", json!({ "source": "1", "timeout_ms": 5 })),
        request("done", json!({})),
    ];
    let (answers, object) = asked(&up, &["--fuel", "10000"], &requests);
    let codes: Vec<&Value> = answers.iter().map(|answer| &answer["error"]["code"]).collect();
    let none = &Value::Null;
    let [failed, used_up] = [&json!(-32000), &json!(-32002)];
    assert_eq!(codes, [failed, none, failed, used_up, used_up, none]);
    assert_eq!((&answers[1]["result"]["value"], &object["agent"]["counts"]["fuel"]), (&json!(2), &json!(10000)));
}

#[test]
fn whatever_an_agent_writes_it_is_answered_or_ended() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    let shell = |script: &str| told(&up, &["--lifetime", "60"], &["sh", "-c", script]);
    let reason = |object: &Value| object["agent"]["reason"].as_str().unwrap_or_default().to_string();
    let (code, object) = shell("head -c 300000 /dev/urandom");
    assert_eq!((code, &object["agent"]["status"]), (Some(1), &json!("failed")), "{object}");
    assert!(object["agent"]["counts"]["faults"].as_u64().unwrap() > 100);
    // A hundred megabytes without a line end, and a million requests of somebody who reads no answer.
    let (_, object) = shell("head -c 104857600 /dev/zero | tr '\\0' x");
    assert!(reason(&object).contains("more output than it may") || reason(&object).contains("may wait"), "{object}");
    assert!(object["agent"]["counts"]["requests"].as_u64().unwrap() <= 1);
    let (code, object) =
        shell("yes '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tests\"}' | head -n 1000000; sleep 100");
    assert_eq!((code, reason(&object).contains("read no answers")), (Some(1), true), "{object}");
    let deep = "printf '%0500000d' 0 | tr 0 '['; echo; \
        printf '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eval\",\"params\":{\"source\":'; \
        printf '%0500000d' 0 | tr 0 '['; printf '%0500000d' 0 | tr 0 ']'; echo '}}'; \
        echo '{\"jsonrpc\":\"2.0\",\"method\":\"done\"}'";
    let (code, object) = shell(deep);
    assert_eq!((code, &object["agent"]["counts"]["faults"]), (Some(0), &json!(2)), "{object}");
    let (code, object) = told(&up, &["--lifetime", "60"], &["python3", "-c", MANY]);
    assert_eq!((code, reason(&object).as_str()), (Some(1), "it sent more than 100000 requests"));
    wait_for("nothing is left", || is_nothing_left(&up));
    assert_eq!(up.send("Account tax").output, "1\n");
}

/// A million requests, a thousand at a time, each answered.
const MANY: &str = "\
import sys
sys.stdin.readline()
for _ in range(1000):
    sys.stdout.write('{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nonsense\"}\\n' * 1000)
    sys.stdout.flush()
    for _ in range(1000):
        sys.stdin.readline()
";

#[test]
fn an_agent_that_never_reads_is_ended_with_its_dream() {
    let up = Up::start(&[]);
    let long = request("eval", json!({ "source": "\"x\" repeated(900000)" }));
    let script = format!("for i in 1 2 3 4 5 6 7 8 9; do printf '%s\\n' '{long}'; done; sleep 100");
    let (code, object) = told(&up, &["--lifetime", "3"], &["sh", "-c", &script]);
    assert_eq!((code, &object["agent"]["reason"]), (Some(124), &json!("the time of its dream was up")), "{object}");
    wait_for("nothing is left", || is_nothing_left(&up));
}

#[test]
fn an_agent_reaches_nothing_but_its_dream() {
    let up = Up::start(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let directory = up.directory.to_str().unwrap();
    let source = format!(
        "import os, socket, json
def tried(name, what):
    try: print(name, 'done', what(), flush=True, file=__import__('sys').stderr)
    except OSError as error: print(name, 'refused', flush=True, file=__import__('sys').stderr)
def unix():
    s = socket.socket(socket.AF_UNIX); s.connect({directory:?} + '/telos.sock')
tried('host', lambda: open({manifest:?}).read(9))
tried('image', lambda: os.listdir({directory:?}))
tried('keeper', unix)
tried('secret', lambda: open('/etc/shadow').read(9))
tried('connect', lambda: socket.create_connection(('127.0.0.1', {port}), 5))
tried('out', lambda: socket.create_connection(('192.0.2.1', 80), 5))
tried('write', lambda: open('/usr/bin/new', 'w'))
print('variables', sorted(os.environ), file=__import__('sys').stderr)
print(json.dumps({{'jsonrpc': '2.0', 'method': 'done'}}), flush=True)
",
        manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    );
    let (code, object) = told(&up, &[], &["python3", "-c", &source]);
    let said = object["agent"]["stderr"].as_str().unwrap();
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    let names = ["host", "image", "keeper", "secret", "connect", "out", "write"];
    let refused: Vec<String> = names.iter().map(|name| format!("{name} refused")).collect();
    assert_eq!(lines[..7], refused);
    assert!(lines[7].contains("TELOS_MANDATE") && !lines[7].contains("TELOS_IMAGE") && !lines[7].contains("XDG"));
}

#[test]
fn an_agent_ends_when_its_dream_does() {
    let up = Up::start(&[]);
    let (code, object) = told(&up, &["--lifetime", "2"], &["sleep", "100"]);
    assert_eq!((code, &object["agent"]["reason"]), (Some(124), &json!("the time of its dream was up")), "{object}");
    let mut agent = start(&up, &["--keep"], &["sleep", "100"]);
    wait_for("it dreams", || dreams(&up).len() == 1);
    let directory = up.directory.to_str().unwrap();
    let name = dreams(&up).remove(0);
    // Ends it, and cannot remove what is kept before that was written down.
    telos_in(Path::new("."), &["dream", "discard", "--image", directory, &name], "");
    let code = agent.wait().unwrap().code();
    assert_eq!(code, Some(1));
    wait_for("nothing is left", || is_nothing_left(&up));
}

#[test]
fn an_agent_that_is_done_and_stays_is_ended() {
    let up = Up::start(&[]);
    let script = format!("echo '{}'; exec sleep 100", request("done", json!({ "summary": "so long" })));
    let ran = run(&up, &["--lifetime", "90"], &["sh", "-c", &script]);
    assert_eq!(ran.code, Some(0), "{}", ran.errors);
    assert!(ran.errors.contains("the agent is done: so long"));
}

#[test]
fn ctrl_c_ends_the_agent_what_it_asked_for_and_the_dream() {
    let up = Up::start(&[]);
    let endless = request("eval", json!({ "source": "while(true, 1)" }));
    let script = format!("echo '{endless}'; echo asked >&2; exec sleep 100");
    let mut agent = start(&up, &["--lifetime", "90"], &["sh", "-c", &script]);
    let mut errors = agent.stderr.take().unwrap();
    let mut heard = [0; 6];
    std::io::Read::read_exact(&mut errors, &mut heard).unwrap();
    assert_eq!(&heard, b"asked\n");
    let pid = agent.id();
    let run: Vec<u32> = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap()
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .collect();
    assert!(matches!(run.len(), 1 | 2), "the first process of its sandbox, and a caretaker where there are cgroups");
    signal(pid, "INT");
    assert_eq!(agent.wait().unwrap().code(), Some(130));
    wait_for("all has gone", || is_nothing_left(&up) && !run.iter().any(|process| is_alive(*process)));
    assert_eq!(up.send("1 + 1").output, "2\n");
}

#[test]
fn two_agents_at_once_have_a_dream_each() {
    let up = Up::start(&[]);
    up.send(ACCOUNT);
    // Each goes on when both dream.
    let directory = tempfile::tempdir().unwrap();
    let shared = directory.path().to_str().unwrap();
    let script = |balance: u32| {
        let set = request("set", json!({ "path": "Account balance", "source": balance.to_string() }));
        let get = request("get", json!({ "path": "Account balance" }));
        let done = request("done", json!({}));
        let wait = format!("until [ -e {shared}/both ]; do sleep 0.05; done");
        let told = "printf '%s\\n' \"$got\" >&2";
        format!("read hello; echo '{set}'; read -r set; {wait}; echo '{get}'; read -r got; {told}; echo '{done}'")
    };
    let scripts = [script(5), script(6)];
    let agents = scripts.each_ref().map(|script| start(&up, &["--json", "--read", shared], &["sh", "-c", script]));
    wait_for("both dream", || dreams(&up).len() == 2);
    std::fs::write(directory.path().join("both"), "").unwrap();
    for (number, agent) in agents.into_iter().enumerate() {
        let ended = agent.wait_with_output().unwrap();
        let object: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let answer: Value = serde_json::from_str(object["agent"]["stderr"].as_str().unwrap()).unwrap();
        assert_eq!(answer["result"]["value"], 5 + number, "{object}");
        assert_eq!(object["journal"]["changes"].as_array().unwrap().len(), 1);
    }
    assert_eq!(up.send("Account balance").output, "10\n");
}

#[test]
fn an_agent_that_cannot_run_is_told_and_leaves_no_dream() {
    let up = Up::start(&[]);
    let ran = run(&up, &[], &["no-such-program"]);
    assert!(ran.code == Some(1) && ran.errors.contains("no-such-program"), "{ran:?}");
    wait_for("nothing is left", || is_nothing_left(&up));
    let directory = up.directory.to_str().unwrap();
    let ran = telos_in(Path::new("."), &["dream", "run", "--image", directory, "--net", "a.example:80", "-e", "1"], "");
    assert!(ran.code == Some(1) && ran.errors.contains("--command"), "{ran:?}");
}

/// Of agents the log had no digests, and of those that were not started nothing.
#[test]
fn what_an_agent_wrote_is_recorded_and_so_is_one_that_was_not_started() {
    let (up, bench) = (Up::start(&[]), Bench::new());
    let done = format!("{}\n", request("done", json!({})));
    let script = format!("echo '{}'; echo oh >&2", done.trim_end());
    assert_eq!(bench.command(&words(&up, &[], &["sh", "-c", &script])).output().unwrap().status.code(), Some(0));
    let run = bench.last_run();
    // What `echo oh | sha256sum` prints.
    let digest = "sha256:fe802256de45cde7a2cb7c6bbecadc6b1738ca4d9531e6c8266817c27304f830";
    assert_eq!(run["digest"]["stderr"], digest, "{run}");
    assert_ne!(run["digest"]["stdout"], run["digest"]["stderr"], "{run}");
    assert_eq!(bench.command(&words(&up, &[], &["no-such-program"])).output().unwrap().status.code(), Some(1));
    let run = bench.last_run();
    assert_eq!((&run["verdict"], &run["program"][0]), (&"refused".into(), &"no-such-program".into()), "{run}");
}
