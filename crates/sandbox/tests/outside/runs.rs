//! Runs of the process backend that were allowed somebody, or whose socket calls are looked at. They talk through bash,
//! which opens connections by itself.

use crate::own::{METADATA, PUBLIC, SECRET, in_own_network, serve};
use sandbox::network::call::{Call, Fate, Via};
use sandbox::network::sockets::{Recorder, Sockets};
use sandbox::process::Process;
use sandbox::{Backend, Network, Order, Stdin, Streams};
use std::sync::{Arc, Mutex};

/// Opens a connection, says something and shows all that comes back.
const TALK: &str = r#"talk() { exec 3<>/dev/tcp/$1/$2 && printf "$3" >&3 && cat <&3; }; "#;

/// What a script wrote, and whom it called.
fn run(network: Network, sockets: Sockets, script: &str) -> (String, Vec<Call>) {
    let written: Arc<Mutex<Vec<u8>>> = Arc::default();
    let place = Arc::clone(&written);
    let output = Box::new(move |_, bytes: &[u8]| place.lock().unwrap().extend_from_slice(bytes));
    let program = ["bash", "-c", &format!("{TALK}{script}")].map(Into::into).into();
    let order = Order { program, network, sockets, ..Order::default() };
    let outcome = Process::new().start(&order, Streams { stdin: Stdin::Empty, output }).unwrap().wait().unwrap();
    let text = String::from_utf8_lossy(&written.lock().unwrap()).into_owned();
    (text, outcome.calls.calls)
}

fn allowed(destination: &str) -> Network {
    Network::Allowed(vec![destination.parse().unwrap()])
}

#[test]
fn a_run_that_was_allowed_nobody_has_no_proxy() {
    let (text, calls) = run(Network::None, Sockets::Alone, "echo \"<$http_proxy>\"; talk 127.0.0.1 3128 x");
    assert!(text.starts_with("<>\n") && text.contains("Connection refused"), "{text}");
    assert_eq!(calls, []);
}

#[test]
fn a_run_finds_the_proxy_and_is_refused_what_was_not_allowed() {
    let script = r"echo $http_proxy $HTTPS_PROXY $all_proxy
        talk 127.0.0.1 3128 'CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n'
        talk 127.0.0.1 3128 'CONNECT b.example:80 HTTP/1.1\r\n\r\n'";
    let (text, calls) = run(allowed("a.example:443"), Sockets::Alone, script);
    assert!(text.starts_with("http://127.0.0.1:3128 http://127.0.0.1:3128 socks5h://127.0.0.1:3128\n"), "{text}");
    assert!(text.contains("a metadata service") && text.contains("b.example:80 was not allowed"), "{text}");
    assert_eq!(calls.len(), 2);
    assert!(calls.iter().all(|call| call.via == Via::Connect && matches!(call.fate, Fate::Refused { .. })));
}

#[test]
fn a_run_reaches_whom_it_was_allowed_through_the_proxy() {
    in_own_network(|| {
        serve(PUBLIC);
        let script = format!(r"talk 127.0.0.1 3128 'CONNECT {PUBLIC}:80 HTTP/1.1\r\n\r\n'");
        let (text, calls) = run(allowed("1.2.3.4:80"), Sockets::Alone, &script);
        assert!(text.ends_with(SECRET), "{text}");
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].received_bytes, SECRET.len() as u64);
    });
}

#[test]
fn a_run_whose_socket_calls_are_blocked_talks_to_itself_only() {
    let script = r"talk 1.2.3.4 80 x; talk 127.0.0.1 9 x; exec 4<>/dev/udp/127.0.0.1/9 && echo sent";
    let (text, calls) = run(Network::None, Sockets::Blocked, script);
    assert!(text.contains("Permission denied") && text.contains("Connection refused"), "{text}");
    assert!(text.contains("sent\n"), "{text}");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].asked, "1.2.3.4:80");
}

#[test]
fn a_run_that_knows_no_proxy_is_redirected_to_whom_was_allowed() {
    in_own_network(|| {
        serve(PUBLIC);
        serve(METADATA);
        let recorder = Arc::new(Recorder::default());
        let sockets = Sockets::Redirected(Some(Arc::clone(&recorder)));
        let (text, calls) =
            run(allowed("1.2.3.4:80"), sockets, &format!("talk {PUBLIC} 80 hello; talk {METADATA} 80 x"));
        assert!(text.starts_with(SECRET) && text.contains("Permission denied"), "{text}");
        assert_eq!(calls.len(), 2);
        assert!(recorder.recording().to_string().starts_with("call 1.2.3.4:80\n"));
    });
}

#[test]
fn a_run_is_answered_from_a_recording() {
    let recording = Arc::new("call 5.6.7.8:80\n> hello\n< as it was once said\n".parse().unwrap());
    let (text, calls) =
        run(Network::None, Sockets::Recorded(recording), "talk 5.6.7.8 80 hello; talk 5.6.7.8 80 hello");
    assert!(text.starts_with("as it was once said") && text.contains("Connection refused"), "{text}");
    assert_eq!((calls.len(), &calls[0].fate), (2, &Fate::Replayed));
}

/// As root, the one outside has rights that the run does not have, and the run's files are those of a user of its own.
#[test]
fn a_run_whose_socket_calls_are_looked_at_still_calls_its_own_files() {
    let script = r#"perl -MSocket -e '
        socket(S, PF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("/tmp/s")) or die "bind $!"; listen(S, 2);
        chdir "/tmp";
        for $path ("/tmp/s", "s") {
            socket(C, PF_UNIX, SOCK_STREAM, 0); connect(C, sockaddr_un($path)) or die "connect $!";
            accept(A, S); syswrite(C, "x"); sysread(A, $heard, 1); print "heard $heard\n";
        }
        socket(C, PF_UNIX, SOCK_STREAM, 0); connect(C, sockaddr_un("/tmp/none")) or print "$!\n";' 2>&1"#;
    let (text, calls) = run(Network::None, Sockets::Blocked, script);
    assert_eq!(text, "heard x\nheard x\nNo such file or directory\n");
    assert_eq!(calls, []);
}
