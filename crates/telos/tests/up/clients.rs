//! Clients of a living image that are many, broken, slow, hostile, or gone.

use crate::launch::up::{PATIENCE, Up, wait_for};
use keeper::Client;
use keeper::protocol::{FRAME_BYTES_MAX, FailureKind, Hello, Inbox, Kind, Outbox, Outcome, Request, VERSION};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;

fn text_of(client: &mut Client, source: &str) -> String {
    match client.send(&Request::evaluate(source)).unwrap().outcome {
        Outcome::Value(shown) => shown.text,
        Outcome::Failure(failure) => panic!("{failure:?}"),
    }
}

#[test]
fn sixteen_clients_at_once() {
    const EACH: usize = 200;
    let up = Up::start(&[]);
    text_of(&mut up.client(), "count := 0");
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut client = up.client();
                // Some at once, some one by one.
                let ids: Vec<u64> =
                    (0..EACH / 2).map(|_| client.post(&Request::evaluate("count = count + 1")).unwrap()).collect();
                client.flush().unwrap();
                let answered: Vec<u64> = ids.iter().map(|_| client.receive().unwrap().0).collect();
                assert_eq!(answered, ids);
                (0..EACH / 2).for_each(|_| drop(text_of(&mut client, "count = count + 1")));
            });
        }
    });
    assert_eq!(text_of(&mut up.client(), "count"), (16 * EACH).to_string());
}

#[test]
fn what_nobody_waits_for_is_stopped() {
    let up = Up::start(&[]);
    for _ in 0..3 {
        let mut client = up.client();
        client.post(&Request::evaluate("loop(nil)")).unwrap();
        client.post(&Request::evaluate("loop(nil)")).unwrap();
        client.flush().unwrap();
    }
    assert_eq!(up.send("1 + 2").ok(), "3\n");
}

/// The socket's own words, without the client that minds its manners.
fn raw(up: &Up) -> UnixStream {
    let stream = UnixStream::connect(up.directory.join("telos.sock")).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn greeted(up: &Up) -> UnixStream {
    let mut stream = raw(up);
    let mut outbox = Outbox::default();
    outbox.push_json(Kind::Hello, 0, &Hello { protocol: VERSION, client: "raw".into() });
    outbox.drain(&stream).unwrap();
    let mut header = [0; 13];
    stream.read_exact(&mut header).unwrap();
    assert_eq!(header[4], Kind::Welcome as u8);
    let length = u32::from_le_bytes(header[..4].try_into().unwrap());
    stream.read_exact(&mut vec![0; length as usize]).unwrap();
    stream
}

/// Why the keeper closed the connection.
fn refusal(stream: &UnixStream) -> String {
    let mut inbox = Inbox::default();
    let mut words = String::new();
    // A reset is an end too: what we sent was not read to its end.
    while matches!(inbox.fill(stream), Ok(1..)) {
        while let Ok(Some(frame)) = inbox.next(FRAME_BYTES_MAX) {
            if frame.kind == Kind::Refusal {
                words = String::from_utf8_lossy(frame.body).into_owned();
            }
        }
    }
    words
}

fn header(length: u32, kind: u8) -> Vec<u8> {
    [&length.to_le_bytes()[..], &[kind], &[0; 8]].concat()
}

#[test]
fn garbage_is_refused_in_words_and_harms_nobody() {
    let up = Up::start(&[]);
    let mut good = up.client();
    let refused = |mut stream: UnixStream, bytes: &[u8]| {
        let _ = stream.write_all(bytes);
        refusal(&stream)
    };
    assert!(refused(raw(&up), b"GET / HTTP/1.1\r\nHost: telos\r\n\r\n").contains("bytes, where at most"));
    assert!(refused(raw(&up), &header(0, Kind::Request as u8)).contains("hello first"));
    assert!(refused(raw(&up), &[header(2, 1), b"{}".to_vec()].concat()).contains("no greeting"));
    let other = br#"{"protocol":99,"client":"x"}"#;
    assert!(refused(raw(&up), &[header(28, 1), other.to_vec()].concat()).contains("version 1"));
    assert!(refused(greeted(&up), &header(FRAME_BYTES_MAX as u32 + 1, 4)).contains("at most"));
    assert!(refused(greeted(&up), &header(u32::MAX, 4)).contains("at most"));
    assert!(refused(greeted(&up), &header(0, 77)).contains("kind 77"));
    // What only the image process may say.
    for kind in [Kind::Stop, Kind::Ready, Kind::Answer, Kind::Hello] {
        assert!(refused(greeted(&up), &header(0, kind as u8)).contains("does not send"));
    }
    assert_eq!(text_of(&mut good, "1 + 2"), "3");
}

#[test]
fn random_bytes_do_not_disturb_the_others() {
    let up = Up::start(&[]);
    let mut good = up.client();
    let cases: u64 = std::env::var("TELOS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(200);
    let mut state: u64 = std::env::var("TELOS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("seed {state}");
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for case in 0..cases {
        let mut stream = if case % 2 == 0 { raw(&up) } else { greeted(&up) };
        let mut bytes: Vec<u8> = (0..next() % 400).map(|_| next() as u8).collect();
        if case % 3 == 0 && bytes.len() > 13 {
            // A frame that could be one.
            let length = bytes.len() as u32 - 13;
            bytes[..4].copy_from_slice(&length.to_le_bytes());
            bytes[4] = (next() % 12) as u8;
        }
        let _ = stream.write_all(&bytes);
        if case % 20 == 0 {
            assert_eq!(text_of(&mut good, "1 + 2"), "3");
        }
    }
    assert_eq!(text_of(&mut good, "1 + 2"), "3");
}

#[test]
fn requests_that_cannot_be_read_are_answered() {
    let up = Up::start(&[]);
    for body in
        ["nonsense", "{}", r#"{"command":{"evaluate":"1"},"timeout":5}"#, r#"{"command":{"explode":1}}"#, "[[[["]
    {
        let mut stream = greeted(&up);
        stream.write_all(&[header(body.len() as u32, 4), body.into()].concat()).unwrap();
        let mut inbox = Inbox::default();
        let answer = loop {
            if let Some(frame) = inbox.next(FRAME_BYTES_MAX).unwrap() {
                break String::from_utf8_lossy(frame.body).into_owned();
            }
            assert_ne!(inbox.fill(&stream).unwrap(), 0, "{body}");
        };
        assert!(answer.contains("\"refused\""), "{body}: {answer}");
    }
}

#[test]
fn a_client_that_does_not_read_is_sent_away_and_holds_up_nobody() {
    let up = Up::start(&[]);
    let mut slow = up.client();
    let long = Request::evaluate("\"x\" repeated(1000000)");
    for _ in 0..60 {
        slow.post(&long).unwrap();
    }
    slow.flush().unwrap();
    let mut quick = up.client();
    // The slow one's requests are all done when this is answered: each has its turn.
    (0..70).for_each(|_| assert_eq!(text_of(&mut quick, "1 + 2"), "3"));
    let mut read = 0;
    let error = loop {
        match slow.receive() {
            Ok(_) => read += 1,
            Err(error) => break error,
        }
    };
    assert!(read < 60, "it was sent away before it began to read: {error}");
    assert_eq!(text_of(&mut quick, "1 + 2"), "3");
}

#[test]
fn many_more_requests_than_fit_are_all_answered() {
    let up = Up::start(&[]);
    let mut client = up.client();
    // Far more than are read at once: the rest stays in the socket until some are answered.
    let ids: Vec<u64> = (0..5000).map(|_| client.post(&Request::evaluate("1")).unwrap()).collect();
    client.flush().unwrap();
    for id in ids {
        assert_eq!(client.receive().unwrap().0, id);
    }
}

#[test]
fn more_clients_than_there_may_be_are_told_so() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let most = keeper::Bounds::default().clients;
    let up = Up::start(&[]);
    let mut clients: Vec<Client> = (0..most).map(|_| up.client()).collect();
    let one_more = Client::connect(&up.directory, "test").err().unwrap().to_string();
    assert!(one_more.contains(&format!("{most} clients")), "{one_more}");
    assert_eq!(text_of(&mut clients[most - 1], "1 + 2"), "3");
    drop(clients);
    crate::launch::up::wait_for("there is room again", || Client::connect(&up.directory, "test").is_ok());
}

/// They were left waiting, without a word and without end.
#[test]
fn clients_for_whom_the_system_has_no_descriptor_are_told_so() {
    let up = Up::start_limited("-n 64");
    let mut clients = Vec::new();
    let refusal = loop {
        match Client::connect(&up.directory, "test") {
            Ok(client) => clients.push(client),
            Err(error) => break error.to_string(),
        }
        assert!(clients.len() < 64);
    };
    assert!(refusal.contains("ulimit -n"), "{refusal}");
    for _ in 0..100 {
        assert!(Client::connect(&up.directory, "test").is_err_and(|error| error.to_string().contains("no more files")));
    }
    assert_eq!(text_of(&mut clients[0], "1 + 2"), "3");
    drop(clients);
    crate::launch::up::wait_for("there is room again", || Client::connect(&up.directory, "test").is_ok());
}

/// Needs two users, so only root can test it.
#[test]
fn other_users_are_kept_out_by_the_mode_and_by_their_credentials() {
    if !std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        return;
    }
    const NOBODY: u32 = 65534;
    let up = Up::start(&[]);
    let copy = up.directory.join("telos-for-others");
    std::fs::copy(env!("CARGO_BIN_EXE_telos"), &copy).unwrap();
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&copy, 0o755);
    open(&up.directory, 0o755);
    open(up.directory.parent().unwrap(), 0o755);
    let directory = up.directory.to_str().unwrap();
    let telos = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&copy);
        command.args(arguments).current_dir("/").uid(NOBODY).gid(NOBODY);
        let ended = command.output().unwrap();
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let send = || telos(&["send", "--image", directory, "1 + 2"]);
    for (code, errors) in [send(), telos(&["up", directory])] {
        assert!(code == Some(1) && errors.contains("belongs to another user"), "{errors}");
    }
    // Somebody opens the door: the keeper still looks who comes.
    open(&up.directory.join("telos.sock"), 0o777);
    let (code, errors) = send();
    assert!(code == Some(1) && errors.contains("only the user"), "{errors}");
    assert_eq!(up.send("1 + 2").ok(), "3\n");
}

#[test]
fn a_client_that_closes_its_side_still_gets_its_answers() {
    let up = Up::start(&[]);
    let stream = greeted(&up);
    let mut outbox = Outbox::default();
    outbox.push_json(Kind::Request, 5, &Request::evaluate("1 + 2"));
    outbox.drain(&stream).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut words = Vec::new();
    (&stream).read_to_end(&mut words).unwrap();
    assert!(String::from_utf8_lossy(&words).contains("\"text\":\"3\""));
}

#[test]
fn one_that_waits_can_be_taken_back() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let busy = client.post(&Request::evaluate("loop(nil)")).unwrap();
    let waiting = client.post(&Request::evaluate("touched := 1")).unwrap();
    client.flush().unwrap();
    let canceller = client.canceller().unwrap();
    canceller.cancel(waiting).unwrap();
    canceller.cancel(busy).unwrap();
    for _ in 0..2 {
        let (_, answer) = client.receive().unwrap();
        assert!(matches!(answer.outcome, Outcome::Failure(failure) if failure.kind == FailureKind::Interrupted));
    }
    assert_eq!(text_of(&mut client, "hasSlot(\"touched\")"), "false");
}

/// The machine's thread alone answered what was withdrawn, and it was busy: the answer came late, and said that nobody knew.
#[test]
fn one_that_waits_too_long_is_told_at_once_that_nothing_was_done() {
    let mut up = Up::start(&[]);
    let mut client = up.client();
    let busy = client.post(&Request::evaluate("loop(nil)")).unwrap();
    client.flush().unwrap();
    wait_for("it is at work", || client_is_busy(&up));
    let late = up.run(&["send", "--timeout", "300ms", "Lobby touched := 1"], "");
    assert_eq!(late.code, Some(124), "{}", late.errors);
    assert!(late.errors.contains("timed out after 0.3 s, before its turn came; nothing was done"), "{}", late.errors);
    assert!(client_is_busy(&up), "the other one still runs");
    client.canceller().unwrap().cancel(busy).unwrap();
    client.wait(busy).unwrap();
    assert_eq!(up.send("hasSlot(\"touched\")").output, "false\n");
    let (_, said) = up.stop();
    assert!(!said.contains("told to stop"), "{said}");
}

fn client_is_busy(up: &Up) -> bool {
    up.client().status().unwrap().image["doing"]["request"].is_string()
}
