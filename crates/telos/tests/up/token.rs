//! A person's token: where it is kept, who sees it, and that there is no way around it.

use crate::launch::person::Guarded;
use crate::launch::up::{PATIENCE, wait_for};
use keeper::Client;
use keeper::protocol::{
    Answer, Command, FRAME_BYTES_MAX, FailureKind, Hello, Inbox, Kind, LockTarget, Outbox, Outcome, Request, VERSION,
};
use keeper::token::{TOKEN_FILE, Token};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;

const UNLOCK: &str = r#"{"unlock":{"object":"Account"}}"#;

fn locked() -> Guarded {
    let guarded = Guarded::start();
    guarded.run(&["lock", "Account"]).ok();
    guarded
}

/// A connection without the client that minds its manners.
fn greeted(guarded: &Guarded) -> UnixStream {
    let stream = UnixStream::connect(keeper::socket_path(&guarded.up.directory)).expect("the image is up");
    stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    let mut outbox = Outbox::default();
    outbox.push_json(Kind::Hello, 0, &Hello { protocol: VERSION, client: "raw".into() });
    outbox.drain(&stream).expect("the keeper reads");
    stream
}

/// What comes back for a frame: the failure of an answer, or why the connection was closed.
fn said(guarded: &Guarded, kind: Kind, body: &str) -> String {
    let stream = greeted(guarded);
    let mut outbox = Outbox::default();
    outbox.push(kind, 1, body.as_bytes());
    outbox.drain(&stream).expect("the keeper reads");
    let mut inbox = Inbox::default();
    loop {
        while let Some(frame) = inbox.next(FRAME_BYTES_MAX).expect("the keeper keeps to the protocol") {
            match frame.kind {
                Kind::Answer => {
                    let answer: Answer = serde_json::from_slice(frame.body).expect("it is an answer");
                    let Outcome::Failure(failure) = answer.outcome else { panic!("{answer:?}") };
                    return failure.message;
                }
                Kind::Refusal => return String::from_utf8_lossy(frame.body).into_owned(),
                _ => {}
            }
        }
        assert!(inbox.fill(&stream).is_ok_and(|bytes| bytes > 0), "it says something first");
    }
}

fn is_locked(guarded: &Guarded) -> bool {
    guarded.json(&["locks", "--json"]).as_array().is_some_and(|locks| locks.len() == 1)
}

#[test]
fn a_client_cannot_say_by_itself_that_a_person_allows_it() {
    let guarded = locked();
    for forged in [
        format!(r#"{{"command":{UNLOCK},"is_allowed":true}}"#),
        format!(r#"{{"command":{UNLOCK},"allowed":true}}"#),
        format!(r#"{{"command":{UNLOCK},"token":"{}"}}"#, guarded.secret()),
        format!(r#"{{"command":{UNLOCK},"author":"a person","cause":"x (allowed by a person)"}}"#),
        r#"{"command":{"merge":{"dream":"d9","is_allowed":true}}}"#.to_string(),
        format!(r#"{{"command":{UNLOCK},"command":{UNLOCK},"is_allowed":true}}"#),
    ] {
        let words = said(&guarded, Kind::Request, &forged);
        assert!(words.contains("cannot be read") || words.contains("token") || words.contains("not what"), "{words}");
        assert!(is_locked(&guarded), "{forged}");
    }
    // The frames that only the keeper sends.
    let words = said(&guarded, Kind::Allowed, &format!(r#"{{"command":{UNLOCK}}}"#));
    assert!(words.contains("a client does not send Allowed"), "{words}");
    assert!(is_locked(&guarded));
}

#[test]
fn a_wrong_token_ends_the_connection_is_counted_and_told_once() {
    let mut guarded = locked();
    let other = Guarded::start();
    for body in ["", "telos-", "nonsense", &other.secret(), &guarded.secret()[..60], &"x".repeat(4000)] {
        let words = said(&guarded, Kind::Person, body);
        assert!(words.contains("is not the token of the image"), "{words}");
    }
    let mut client = guarded.up.client();
    let token = Token::read(other.secret().as_bytes()).expect("it is one");
    assert!(client.show_token(&token).is_err());
    assert!(client.send(&Request::new(Command::Locks)).is_err(), "it was sent away");
    let ran = guarded.run(&["unlock", "Account", "--token-file", other.token_path()]);
    assert!(ran.code == Some(3) && ran.errors.contains("is not the token"), "{ran:?}");
    let status = guarded.up.client().status().expect("the keeper answers");
    assert_eq!(status.wrong_tokens, 8);
    assert!(guarded.run(&["status"]).ok().contains("8 wrong ones were shown"));
    assert!(is_locked(&guarded));
    let (_, errors) = guarded.up.stop();
    assert_eq!(errors.matches("a wrong token was shown").count(), 1, "{errors}");
    assert!(!errors.contains(&other.secret()), "and it is not told which");
}

#[test]
fn the_right_token_holds_for_what_its_own_client_sends_afterwards() {
    let guarded = locked();
    let token = Token::read(guarded.secret().as_bytes()).expect("it is one");
    let kind = |client: &mut Client, command: &Command| match client.send(&Request::new(command.clone())) {
        Ok(answer) => match answer.outcome {
            Outcome::Failure(failure) => Some(failure.kind),
            Outcome::Value(_) => None,
        },
        Err(error) => panic!("{error}"),
    };
    let unlock = Command::Unlock(LockTarget::Object("Account".into()));
    let (mut person, mut other) = (guarded.up.client(), guarded.up.client());
    assert_eq!(kind(&mut person, &unlock), Some(FailureKind::Locked), "it was not shown yet");
    person.show_token(&token).expect("it is the image's");
    assert_eq!(kind(&mut other, &unlock), Some(FailureKind::Locked), "another client has shown none");
    assert_eq!(kind(&mut person, &unlock), None);
}

#[test]
fn a_token_is_made_once_replaced_by_whoever_has_it_and_revoked() {
    let guarded = locked();
    guarded.refused(&["token", "new"]);
    guarded.refused(&["token", "revoke"]);
    let second = guarded.aside("second");
    let second = second.to_str().expect("plain");
    let words = ["token", "new", "--token-file", guarded.token_path(), "--into", second];
    guarded.run(&words).ok();
    assert_eq!(guarded.run(&["unlock", "Account", "--token-file", guarded.token_path()]).code, Some(3), "the old one");
    assert!(is_locked(&guarded));
    // From standard input.
    let image = guarded.up.directory.to_str().expect("plain");
    let secret = std::fs::read_to_string(second).expect("it is there");
    let words = ["unlock", "--image", image, "Account", "--token-file", "-"];
    assert_eq!(crate::launch::telos_in(".".as_ref(), &words, &secret).code, Some(0));
    guarded.run(&["lock", "Account"]).ok();
    assert!(guarded.run(&["token", "revoke", "--token-file", second]).ok().contains("stays locked"));
    assert!(guarded.run(&["token", "show"]).ok().contains("no token"));
    let ran = guarded.run(&["unlock", "Account", "--token-file", second]);
    assert!(ran.code == Some(3) && ran.errors.contains("has no token"), "{ran:?}");
    assert_eq!(guarded.run(&["lock", "AccountTest"]).code, Some(1), "nobody could unlock it");
    let printed = guarded.json(&["token", "new", "--json"]);
    assert!(Token::read(printed["token"].as_str().unwrap_or_default().as_bytes()).is_some(), "{printed}");
}

#[test]
fn files_that_others_may_have_touched_are_not_gone_by() {
    let guarded = locked();
    let digest = guarded.up.directory.join(TOKEN_FILE);
    let (aside, link) = (guarded.aside("digest"), guarded.aside("link"));
    let fails = |path: &str, words: &str| {
        let ran = guarded.run(&["unlock", "Account", "--token-file", path]);
        assert!(ran.code == Some(3) && ran.errors.contains(words), "{words}: {ran:?}");
        assert!(is_locked(&guarded));
    };
    let set_mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("it is ours");
    };
    symlink(&guarded.token, &link).expect("links can be made");
    fails(link.to_str().expect("plain"), "it is a link");
    set_mode(&guarded.token, 0o644);
    fails(guarded.token_path(), "chmod 600");
    set_mode(&guarded.token, 0o600);
    fails("/dev/zero", "no plain file");
    fails("/nowhere/token", "cannot");
    set_mode(&digest, 0o666);
    fails(guarded.token_path(), "chmod 600");
    set_mode(&digest, 0o600);
    std::fs::rename(&digest, &aside).expect("it is ours");
    symlink(&aside, &digest).expect("links can be made");
    fails(guarded.token_path(), "it is a link");
    std::fs::remove_file(&digest).expect("it is ours");
    fails(guarded.token_path(), "has no token");
    std::fs::rename(&aside, &digest).expect("it is ours");
    guarded.run(&["unlock", "Account", "--token-file", guarded.token_path()]).ok();
}

/// The script ran for as long as it took, and then nothing was merged, for the file was not there.
#[test]
fn a_token_that_is_not_there_is_noticed_before_the_script_runs() {
    let guarded = Guarded::start();
    let missing = guarded.aside("missing");
    let named = missing.to_str().expect("temporary files have plain names");
    let ran = guarded.run(&["dream", "run", "--merge", "--token-file", named, "-e", "Account rate = 2"]);
    assert!(ran.code == Some(3) && ran.errors.contains("it is not there"), "{ran:?}");
    assert_eq!(guarded.json(&["dream", "list", "--json"]), json!([]));
}

/// Each line of its arguments is a request, and each answer goes to standard error.
const ASK_ALL: &str = r#"read hello; for line in "$@"; do printf '%s\n' "$line"; read -r answer; printf '%s\n' "$answer" >&2; done; env >&2"#;

#[test]
fn an_agent_that_knows_the_token_can_do_nothing_with_it() {
    let guarded = locked();
    let secret = guarded.secret();
    let request = |method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    };
    let with_token = json!({ "jsonrpc": "2.0", "id": 1, "method": "eval", "token": secret, "is_allowed": true,
        "params": { "source": "Telos locks = list()" } });
    let requests = [
        request("eval", json!({ "source": "Account rate = 7", "token": secret })),
        request("eval", json!({ "source": "Account rate = 7", "is_allowed": true })),
        request("unlock", json!({ "object": "Account", "token": secret })),
        with_token.to_string(),
        request("eval", json!({ "source": format!("Telos token := \"{secret}\"; Account rate = 7") })),
        request("done", json!({ "summary": "tried" })),
    ];
    let words: Vec<&str> = ["dream", "run", "--keep", "--json", "--command", "sh", "-c", ASK_ALL, "agent"]
        .into_iter()
        .chain(requests.iter().map(String::as_str))
        .collect();
    let ran = guarded.allowed(&words);
    let told: Value = serde_json::from_str(&ran.output).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let heard = told["agent"]["stderr"].as_str().expect("it wrote what it heard");
    let answers: Vec<Value> =
        heard.lines().take(4).map(|line| serde_json::from_str(line).unwrap_or_default()).collect();
    assert!(answers.iter().take(3).all(|answer| answer["error"].is_object()), "{heard}");
    assert!(!heard.contains("TELOS_TOKEN_FILE"), "it is not told where the token is: {heard}");
    assert!(is_locked(&guarded));
    assert_eq!(guarded.live("Account rate"), "1");
    let dream = told["dream"].as_str().expect("it has a name");
    assert_eq!(guarded.run(&["dream", "merge", dream]).code, Some(3), "what it did is not merged");
    assert!(is_locked(&guarded) && guarded.live("Account rate") == "1");
}

/// What is said to the keeper stays there.
#[test]
fn the_token_is_in_no_process_but_the_keepers() {
    // Only root may look into the memory of a process that is opaque.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let guarded = locked();
    guarded.allowed(&["send", "Account rate = 2"]).ok();
    let mut client = guarded.up.client();
    let order = Command::Dream(Box::default());
    client.show_token(&Token::read(guarded.secret().as_bytes()).expect("it is one")).expect("it is the image's");
    assert!(matches!(client.send(&Request::new(order)).expect("it answers").outcome, Outcome::Value(_)));
    let marker = format!("marker {}", std::process::id());
    let source = format!("Lobby kept := \"{marker}\" asMutable; nil");
    assert!(matches!(client.send(&Request::evaluate(source)).expect("it answers").outcome, Outcome::Value(_)));
    let image = guarded.up.image_pid;
    let secret = guarded.secret();
    let digits = &secret["telos-".len()..];
    wait_for("the dream is there", || below(image).len() >= 2);
    for (pid, has_marker) in below(image).into_iter().map(|pid| (pid, false)).chain([(image, true)]) {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&environment).contains("TELOS_TOKEN"), "{pid}");
        let memory = memory_of(pid);
        let holds = |text: &str| memory.iter().any(|piece| is_in(piece, text.as_bytes()));
        assert!(!memory.is_empty() && !holds(digits), "process {pid}");
        assert!(!has_marker || holds(&marker), "this finds what is there");
    }
}

/// A process's descendants.
fn below(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children: Vec<u32> = children.split_whitespace().filter_map(|child| child.parse().ok()).collect();
    children.iter().flat_map(|child| std::iter::once(*child).chain(below(*child))).collect()
}

fn is_in(piece: &[u8], text: &[u8]) -> bool {
    piece.iter().enumerate().any(|(at, byte)| *byte == text[0] && piece[at..].starts_with(text))
}

/// All that a process may write to of its memory.
fn memory_of(pid: u32) -> Vec<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("it is there");
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).expect("root may look");
    let mut pieces = Vec::new();
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let Some((start, end)) = range else { continue };
        let number = |text: &str| u64::from_str_radix(text, 16).expect("it is a number");
        let mut piece = vec![0; (number(end) - number(start)) as usize];
        if memory.read_exact_at(&mut piece, number(start)).is_ok() {
            pieces.push(piece);
        }
    }
    pieces
}
