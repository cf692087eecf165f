//! `--sockets FILE`: socket calls of programs that know no proxy are blocked, answered from a recording or redirected, alone
//! and through an image that is up, and each is told.

use crate::launch::exec::Bench;
use crate::launch::up::Up;
use crate::launch::{Ran, write};
use serde_json::Value;

/// Opens a connection, says something and shows all that comes back.
const TALK: &str = r#"talk() { exec 3<>/dev/tcp/$1/$2 && printf "$3" >&3 && cat <&3; }; "#;

/// Alone, and through an image: both must tell the same.
fn each_way(test: impl Fn(&Bench, &[&str])) {
    let bench = Bench::new();
    test(&bench, &[]);
    let up = Up::start(&[]);
    test(&bench, &["--image", up.directory.to_str().unwrap()]);
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.output).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

/// What was asked for and what came of it, of each call.
fn fates(run: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    run["calls"].as_array().unwrap().iter().map(|call| (text(&call["asked"]), text(&call["fate"]))).collect()
}

#[test]
fn calls_that_are_blocked_are_refused_and_told() {
    each_way(|bench, way| {
        write(bench.path(), "block.toml", "policy = \"block\"\n");
        let options = [way, &["--sockets", "block.toml"]].concat();
        let script = format!("{TALK} talk 1.2.3.4 80 x; talk 127.0.0.1 9 x");
        let ran = json(&bench.bash(&[&options[..], &["--json"]].concat(), &script));
        let errors = ran["stderr"].as_str().unwrap();
        assert!(errors.contains("Permission denied") && errors.contains("Connection refused"), "{ran}");
        let expected = vec![("1.2.3.4:80".to_string(), "refused".to_string())];
        assert_eq!((fates(&ran), fates(&bench.last_run())), (expected.clone(), expected));
        assert_eq!((&bench.last_run()["sockets"], &ran["calls"][0]["via"]), (&"block".into(), &"socket".into()));
        assert!(bench.telos(&["runs", "-n1"]).ok().contains("[1 calls, 1 refused]"));
        let told = bench.bash(&options, &script).errors;
        assert!(
            told.contains("telos: a call to 1.2.3.4:80 was refused: socket calls to the outside are blocked"),
            "{told}"
        );
    });
}

#[test]
fn calls_are_answered_from_a_recording() {
    each_way(|bench, way| {
        write(bench.path(), "replay.toml", "policy = \"replay\"\nrecording = \"talk\"\n");
        write(bench.path(), "talk", "call 5.6.7.8:80\n> hello\n< as it was once said\n");
        let options = [way, &["--sockets", "replay.toml", "--json"]].concat();
        let ran = json(&bench.bash(&options, &format!("{TALK} talk 5.6.7.8 80 hello; talk 5.6.7.8 80 hello")));
        assert_eq!(ran["stdout"], "as it was once said", "{ran}");
        // A call is told when it is over, and one that is refused may be so before the end of the other was noticed.
        let mut fates: Vec<String> = fates(&ran).into_iter().map(|(_, fate)| fate).collect();
        fates.sort();
        assert_eq!(fates, ["refused", "replayed"], "{ran}");
    });
}

/// What stands for the world is an address of the loopback, in a network that is nobody else's.
#[test]
fn calls_are_redirected_to_hosts_that_are_allowed_and_what_is_said_can_be_replayed() {
    let bench = Bench::new();
    write(bench.path(), "redirect.toml", "policy = \"redirect\"\nrecord = \"talk\"\n");
    write(bench.path(), "replay.toml", "policy = \"replay\"\nrecording = \"talk\"\n");
    let talk = format!("{TALK} talk 1.2.3.4 80 hello; talk 169.254.169.254 80 x");
    let script = r#"
        set -e; ip link set lo up; ip address add 1.2.3.4/32 dev lo; telos=$1; talk=$2
        perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0); setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1);
            bind(S, sockaddr_in(80, inet_aton("1.2.3.4"))) or die; listen(S, 5); open(R, ">ready");
            while (accept(C, S)) { sysread(C, $said, 5); syswrite(C, "you said $said"); close(C); }' & server=$!
        while [ ! -e ready ]; do read -t 0.01 <> <(:) || true; done
        "$telos" exec --sockets redirect.toml --net 1.2.3.4:80 --json -- bash -c "$talk" > alone.json || true
        mv talk talk-alone
        "$telos" up garden > up.txt & up=$!
        while ! grep -q 'is up' up.txt; do read -t 0.01 <> <(:) || true; done
        "$telos" exec --image garden --sockets redirect.toml --net 1.2.3.4:80 --json -- bash -c "$talk" > up.json || true
        kill $up $server; wait"#;
    let telos = env!("CARGO_BIN_EXE_telos");
    let mut command = std::process::Command::new("unshare");
    command.args(["--net", "bash", "-c", script, "bash", telos, &talk]).current_dir(bench.path());
    command.env("XDG_STATE_HOME", bench.state.path()).env("XDG_CONFIG_HOME", bench.configuration.path());
    let ran = command.output().unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    if errors.contains("Operation not permitted") || errors.contains("ip: command not found") {
        return eprintln!("not tried: it needs root and `ip` of iproute2");
    }
    for (name, recording) in [("alone.json", "talk-alone"), ("up.json", "talk")] {
        let read = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap_or_default();
        let run: Value = serde_json::from_str(&read(name)).unwrap_or_else(|_| panic!("{name}: {errors}"));
        assert_eq!(run["stdout"], "you said hello", "{name}: {run} {errors}");
        let expected = [("1.2.3.4:80", "reached"), ("169.254.169.254:80", "refused")];
        let mut fates = fates(&run);
        fates.sort();
        assert_eq!(fates, expected.map(|(asked, fate)| (asked.to_string(), fate.to_string())), "{name}: {run}");
        assert_eq!(read(recording), "call 1.2.3.4:80\n> hello\n< you said hello\n", "{name}");
    }
    let again = json(&bench.bash(&["--sockets", "replay.toml", "--json"], &format!("{TALK} talk 1.2.3.4 80 hello")));
    assert_eq!(again["stdout"], "you said hello", "{again}");
}

#[test]
fn a_policy_that_cannot_be_followed_is_refused_with_its_reason() {
    let bench = Bench::new();
    for (text, expected) in [
        ("policy = \"blok\"", "policy = \"block\", \"redirect\" or \"replay\""),
        ("policy = \"redirect\"", "--net HOST:PORT"),
        ("policy = \"replay\"\nrecording = \"none\"", "cannot read the recording"),
        ("policy = \"replay\"\nrecording = \"policy.toml\"", "line 1 of the recording"),
    ] {
        write(bench.path(), "policy.toml", text);
        let ran = bench.exec(&["--sockets", "policy.toml", "--", "true"]);
        assert!(ran.code == Some(125) && ran.errors.contains(expected), "{text}: {ran:?}");
    }
    let ran = bench.exec(&["--sockets", "there-is-none", "--", "true"]);
    assert!(ran.code == Some(125) && ran.errors.contains("cannot read the policy"), "{ran:?}");
}
