//! What the live image and its dreams ask of the world outside, through the command line: who answers, by which policy, and that
//! it is written down.

use crate::launch::up::{Up, is_alive, signal, wait_for};
use crate::launch::{Ran, telos_in};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A server on loopback that answers every request with what it heard, for as long as the test lives.
fn echo() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let heard = request(&mut stream);
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx-kind: echo\r\n\r\n{heard}", heard.len());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

/// All of a request, with its body.
fn request(stream: &mut std::net::TcpStream) -> String {
    let (mut heard, mut piece) = (String::new(), [0; 8192]);
    loop {
        let body = heard.split_once("\r\n\r\n").map(|(_, body)| body.len());
        let length = heard
            .to_lowercase()
            .split_once("content-length: ")
            .and_then(|(_, rest)| rest.lines().next().and_then(|number| number.trim().parse::<usize>().ok()));
        if body.is_some_and(|body| body >= length.unwrap_or(0)) {
            return heard;
        }
        match stream.read(&mut piece) {
            Ok(count @ 1..) => heard.push_str(&String::from_utf8_lossy(&piece[..count])),
            _ => return heard,
        }
    }
}

/// A place for files of a test.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.0.path().join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        file
    }

    /// That the image may ask a server here.
    fn house(&self, port: u16) -> PathBuf {
        let rules = format!(
            "[http]\nhosts = [\"127.0.0.1:{port}\"]\nprivate = [\"127.0.0.1:{port}\"]\n\
             [secrets.key]\nvalue = \"s3cret-of-the-house\"\nhosts = [\"127.0.0.1:{port}\"]\n"
        );
        self.file("broker.toml", &rules)
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("temporary files have plain names")
}

fn dream(up: &Up, arguments: &[&str]) -> Ran {
    let directory = text(&up.directory);
    let all: Vec<&str> = ["dream", "run", "--image", directory].iter().chain(arguments).copied().collect();
    telos_in(Path::new("."), &all, "")
}

/// The calls in a dream's journal.
fn calls(ran: &Ran) -> Vec<Value> {
    let told: Value = serde_json::from_str(&ran.output).unwrap();
    let changes = told["journal"]["changes"].as_array().unwrap();
    changes.iter().filter(|change| change["operation"] == "FFI_CALL").cloned().collect()
}

#[test]
fn the_live_image_asks_servers_that_the_house_allows_and_no_others() {
    let (place, port) = (Place::new(), echo());
    let up = Up::start(&["--broker", text(&place.house(port))]);
    let ran = up.send(&format!(
        "answer := Http post(\"http://127.0.0.1:{port}/v1\", \"hello\", Map with(\"x-mine\", \"1\")); \
         list(answer status, answer isOk, answer headers at(\"x-kind\"), answer body containsSeq(\"hello\"), \
         answer body containsSeq(\"x-mine: 1\")) join(\" \")"
    ));
    assert_eq!(ran.output, "200 true echo true true\n", "{}", ran.errors);
    let other = echo();
    let refused = up.send(&format!("Http get(\"http://127.0.0.1:{other}/\")"));
    assert!(refused.code == Some(1) && refused.errors.contains("broker.toml"), "{}", refused.errors);
    let up = Up::start(&["--deny", "network"]);
    let denied = up.send("Http get(\"http://127.0.0.1/\")");
    assert!(denied.errors.contains("given no network"), "{}", denied.errors);
}

/// The server sees it, and nobody in the image ever does: not even if the server says it back.
#[test]
fn a_secret_goes_to_its_host_and_never_into_the_image() {
    let (place, port) = (Place::new(), echo());
    let up = Up::start(&["--broker", text(&place.house(port))]);
    let asked = format!(
        "Http get(\"http://127.0.0.1:{port}/\", Map with(\"authorization\", \"Bearer {{{{secret:key}}}}\")) body asString"
    );
    let ran = up.send(&asked);
    assert!(ran.output.to_lowercase().contains("authorization: bearer {{secret:key}}"), "{}{}", ran.output, ran.errors);
    assert!(!ran.output.contains("s3cret"), "{}", ran.output);
    let file = place.file("open.toml", "[secrets.key]\nvalue = \"x\"\nhosts = [\"a.example\"]\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = telos_in(place.0.path(), &["up", "image", "--broker", text(&file)], "");
    assert!(refused.code == Some(1) && refused.errors.contains("chmod"), "{}", refused.errors);
}

#[test]
fn commands_of_the_live_image_are_run_by_the_broker_and_end_with_their_request() {
    let up = Up::start(&[]);
    let ran = up.send(
        "outcome := System runCommand(\"echo out; echo err >&2; pwd; exit 3\"); \
                       list(outcome exitStatus, outcome stdout, outcome stderr) join(\" \")",
    );
    let here = up.directory.canonicalize().unwrap();
    assert_eq!(ran.output, format!("3 out\n{}\n err\n\n", here.display()), "{}", ran.errors);
    assert_eq!(up.send("System system(\"exit 4\")").output, "4\n");
    assert_eq!(up.send("f := File clone popen(\"echo line; echo two\"); f readLine .. f readLine").output, "linetwo\n");
    // It is the broker's child, and is killed with the request that waits for it.
    let mark = up.directory.join("pid");
    let timed = up.run(&["send", "--timeout", "500ms", "System system(\"echo $$ > pid; sleep 600\")"], "");
    assert!(timed.errors.contains("timed out"), "{}", timed.errors);
    let pid: u32 = fs::read_to_string(mark).unwrap().trim().parse().unwrap();
    wait_for("the command has ended", || !is_alive(pid));
}

/// Of the keeper's variables the image has a few, and its commands have no more.
#[test]
fn commands_have_the_variables_of_the_image_and_not_those_of_the_keeper() {
    let up = Up::start_with_environment(&[("TELOS_TEST_SECRET", "s3cret")]);
    let ran = up.send("System setEnvironmentVariable(\"MINE\", \"1\"); System runCommand(\"env\") stdout");
    assert!(ran.output.contains("MINE=1") && !ran.output.contains("s3cret"), "{}", ran.output);
}

#[test]
fn a_dream_asks_nobody_unless_its_policy_says_so_and_what_it_asked_is_in_its_journal() {
    let up = Up::start(&[]);
    let source = "try(Http get(\"http://a.example/\")) error println; try(System runCommand(\"id\")) error println; \
                  Date now; Random value; File with(\"/tmp/x\") setContents(\"own\") contents println";
    let ran = dream(&up, &["--json", "-e", source]);
    let told = calls(&ran);
    assert_eq!(told.len(), 2, "{}", ran.output);
    for (call, name) in told.iter().zip(["Http.request", "System.systemOutput"]) {
        assert_eq!((call["call"].as_str(), call["answered"].as_str()), (Some(name), Some("blocked")), "{call}");
        assert!(call["value"].to_string().contains("--net-policy"), "{call}");
    }
}

/// Each capability by each policy that it can have, as a dream sees it.
#[test]
fn each_capability_of_a_dream_is_answered_by_its_policy() {
    let (place, port) = (Place::new(), echo());
    let data = place.0.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("note"), "real").unwrap();
    let house = place.house(port);
    let more = format!(
        "{}[files]\nread = [{data:?}]\nwrite = [{data:?}]\n[environment]\nPLACE = \"real\"\n",
        fs::read_to_string(&house).unwrap()
    );
    fs::write(&house, more).unwrap();
    let up = Up::start(&["--broker", text(&house)]);
    let note = data.join("note");
    let table = [
        (
            "http",
            format!("Http get(\"http://127.0.0.1:{port}/\") status asString"),
            "Http.request",
            "[418, \"\", \"tea\"]",
            "418",
            "200",
        ),
        (
            "commands",
            "System runCommand(\"echo real\") stdout asMutable strip".into(),
            "System.systemOutput",
            "[0, \"scripted\", \"\"]",
            "scripted",
            "real",
        ),
        ("files", format!("File with({note:?}) contents asString"), "File.read", "[\"scripted\"]", "scripted", "real"),
        (
            "environment",
            "System getEnvironmentVariable(\"PLACE\") asString".into(),
            "Environment.get",
            "[\"scripted\"]",
            "scripted",
            "real",
        ),
        ("clock", "if(Date now asNumber > 100, \"real\", \"scripted\")".into(), "Clock.now", "[7]", "scripted", "real"),
        (
            "randomness",
            "if(Random systemValue == 0, \"scripted\", \"real\")".into(),
            "Randomness.bytes",
            "[{ bytes = \"\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\" }]",
            "scripted",
            "real",
        ),
    ];
    for (capability, source, call, answer, scripted, real) in table {
        for policy in ["blocked", "simulated", "redirected"] {
            let rule = format!(
                "[{capability}]\npolicy = \"{policy}\"\n[[{capability}.answer]]\ncall = \"{call}\"\nvalues = {answer}\n"
            );
            let file = place.file("policy.toml", &rule);
            let shown = format!("caught := try(said := ({source})); if(caught, caught error, said)");
            let ran = dream(&up, &["--net-policy", text(&file), "-e", &shown]);
            let expected = match policy {
                "simulated" => scripted,
                "redirected" => real,
                _ => "blocked",
            };
            let first = ran.output.lines().next().unwrap_or_default();
            assert!(first.contains(expected), "{capability} {policy}: {} {}", ran.output, ran.errors);
            assert!(
                ran.output.contains(&format!("({policy})")),
                "in the journal: {capability} {policy}: {}",
                ran.output
            );
        }
    }
    assert_eq!(fs::read_to_string(&note).unwrap(), "real");
}

#[test]
fn a_redirected_dream_writes_where_the_house_allows_and_nowhere_else() {
    let place = Place::new();
    let data = place.0.path().join("data");
    fs::create_dir(&data).unwrap();
    let house = place.file("broker.toml", &format!("[files]\nwrite = [{data:?}]\n"));
    let up = Up::start(&["--broker", text(&house)]);
    let policy = place.file("policy.toml", "[files]\npolicy = \"redirected\"\n");
    let inside = data.join("new");
    let source = format!(
        "File with({inside:?}) setContents(\"one \") appendToContents(\"two\"); File with({inside:?}) contents"
    );
    let ran = dream(&up, &["--net-policy", text(&policy), "-e", &source]);
    assert_eq!(fs::read_to_string(&inside).unwrap_or_default(), "one two", "{}{}", ran.output, ran.errors);
    let outside = place.0.path().join("outside");
    for path in [outside.clone(), data.join("../outside")] {
        let ran =
            dream(&up, &["--net-policy", text(&policy), "-e", &format!("File with({path:?}) setContents(\"x\")")]);
        assert_eq!(ran.code, Some(1), "{}", ran.output);
    }
    assert!(!outside.exists());
}

/// What live was answered, a dream is answered again, with nobody there to ask.
#[test]
fn what_the_live_image_was_answered_can_be_played_to_a_dream() {
    let (place, port) = (Place::new(), echo());
    let record = place.0.path().join("calls.jsonl");
    let mut up = Up::start(&["--broker", text(&place.house(port)), "--record", text(&record)]);
    let note = place.file("note", "as it was");
    let source = format!(
        "list(Http get(\"http://127.0.0.1:{port}/thing\") body size, System runCommand(\"echo $((6*7))\") stdout asNumber, \
         File with({note:?}) contents) join(\" \")"
    );
    let live = up.send(&source);
    assert!(live.output.ends_with(" 42 as it was\n"), "{}{}", live.output, live.errors);
    assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(up.stop().0, Some(0));
    fs::write(&note, "changed since").unwrap();
    up.start_again(&[]);
    let ruling = |capability| format!("[{capability}]\npolicy = \"simulated\"\nrecording = {record:?}\n");
    let policy = place.file("policy.toml", &["http", "commands", "files"].map(ruling).concat());
    let dreamed = dream(&up, &["--net-policy", text(&policy), "-e", &source]);
    assert_eq!(dreamed.output.lines().next(), live.output.lines().next(), "{}{}", dreamed.output, dreamed.errors);
}

#[test]
fn a_broker_that_was_killed_is_told_of_and_the_next_call_has_another() {
    let mut up = Up::start(&[]);
    up.send("System system(\"true\")");
    let broker = |up: &Up| {
        let status: Value = serde_json::from_str(&up.run(&["status", "--json"], "").output).unwrap();
        status["broker_pid"].as_u64().map(|pid| pid as u32)
    };
    let first = broker(&up).expect("it was started with the first call");
    signal(first, "KILL");
    wait_for("its end is known", || broker(&up).is_none());
    assert_eq!(up.send("System system(\"exit 2\")").output, "2\n");
    let second = broker(&up).expect("there is another");
    let (code, errors) = up.stop();
    assert!(code == Some(0) && errors.contains("makes calls to the world outside ended"), "{errors}");
    wait_for("it ends with the keeper", || !is_alive(second));
}

#[test]
fn a_policy_that_cannot_be_read_is_told_before_anything_begins() {
    let (place, up) = (Place::new(), Up::start(&[]));
    for (rule, word) in
        [("[http]\npolicy = \"perhaps\"\n", "perhaps"), ("[telephone]\npolicy = \"own\"\n", "telephone")]
    {
        let file = place.file("policy.toml", rule);
        let ran = dream(&up, &["--net-policy", text(&file), "-e", "1"]);
        assert!(ran.code == Some(1) && ran.errors.contains(word), "{}", ran.errors);
    }
    let ran = dream(&up, &["--net-policy", "there-is-none.toml", "-e", "1"]);
    assert!(ran.code == Some(1) && ran.errors.contains("there-is-none.toml"), "{}", ran.errors);
}

#[test]
fn a_house_that_lets_dreams_into_the_image_is_refused() {
    let place = Place::new();
    let image = place.0.path().join("image");
    fs::create_dir(&image).unwrap();
    for directory in [image.as_path(), place.0.path()] {
        let house = place.file("house.toml", &format!("[files]\nread = [{:?}]\n", directory));
        let ran = crate::launch::telos(&["up", text(&image), "--broker", text(&house)]);
        assert!(ran.code == Some(1) && ran.errors.contains("[files]") && ran.errors.contains("image"), "{ran:?}");
    }
}
