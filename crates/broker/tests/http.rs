//! Requests against a server of the test's own: who is reached, what is bounded, and where secrets go.

mod shared;

use broker::{Broker, Call, Caller, Stop, Value, Way};
use shared::*;
use std::io::Write;
use std::sync::mpsc;

const SECRET: &str = "sk-very/secret+1";

fn bound_to(server: &Server) -> String {
    format!("[secrets.key]\nvalue = \"{SECRET}\"\nhosts = [\"{}\"]\n", server.host())
}

#[test]
fn a_request_goes_out_as_it_was_asked_for_and_its_answer_comes_back() {
    let server =
        Server::answering("HTTP/1.1 404 Not Found\r\nX-One: 1\r\nx-two: 2\r\ncontent-length: 3\r\n\r\n\0\u{7f}b");
    let broker = Broker::new(server.house(""), None);
    let url = format!("{}path?q=1#part", server.url());
    let arguments = [text("POST"), text(&url), text("X-Mine: yes\r\ncontent-type: a/b\n\n"), text("body")];
    for caller in [Caller::live(), redirected()] {
        let answer = ask(&broker, &caller, "Http.request", &arguments);
        assert_eq!(answer.way, Way::Redirected, "{answer:?}");
        assert_eq!(answer.values[0], Value::Number(404.0));
        let headers = bytes(&answer.values[1]);
        assert!(headers.contains("x-one: 1\n") && headers.contains("x-two: 2"), "{headers}");
        assert_eq!(answer.values[2], Value::Bytes(b"\0\x7fb".to_vec()));
    }
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /path?q=1 HTTP/1.1\r\n"), "{request}");
    let lower = request.to_lowercase();
    for line in ["x-mine: yes\r\n", "content-type: a/b\r\n", "content-length: 4\r\n", "accept-encoding: identity\r\n"] {
        assert!(lower.contains(line), "{line}: {request}");
    }
    assert!(lower.contains(&format!("host: {}\r\n", server.host())), "{request}");
    assert!(request.ends_with("\r\n\r\nbody"), "{request}");
}

#[test]
fn every_method_is_sent_with_and_without_a_body_where_it_may_have_one() {
    let server = Server::answering("HTTP/1.1 204 No Content\r\n\r\n");
    let broker = Broker::new(server.house(""), None);
    for (verb, body, is_sent) in [
        ("GET", "", true),
        ("HEAD", "", true),
        ("OPTIONS", "", true),
        ("DELETE", "", true),
        ("DELETE", "x", true),
        ("POST", "", true),
        ("PUT", "x", true),
        ("PATCH", "x", true),
        ("GET", "x", false),
        ("get", "", false),
        ("CONNECT", "", false),
        ("TRACE", "", false),
        ("GET / HTTP/1.1\r\nX: y", "", false),
    ] {
        let before = server.requests().len();
        let answer =
            ask(&broker, &Caller::live(), "Http.request", &[text(verb), text(server.url()), Value::Nil, text(body)]);
        assert_eq!(answer.way == Way::Redirected, is_sent, "{verb} {body}: {answer:?}");
        let requests = server.requests();
        assert_eq!(requests.len() > before, is_sent, "{verb}");
        assert!(!is_sent || requests.last().unwrap().ends_with(&format!("\r\n\r\n{body}")), "{requests:?}");
    }
}

#[test]
fn only_hosts_of_the_house_are_reached() {
    let server = Server::answering(ok("hello"));
    let other = Server::answering(ok("other"));
    let broker = Broker::new(server.house(""), None);
    for caller in [Caller::live(), redirected()] {
        assert_eq!(get(&broker, &caller, &server.url(), "").way, Way::Redirected);
        let why = refusal(&get(&broker, &caller, "http://example.org/", ""), Way::Blocked).to_string();
        assert!(why.contains("example.org:80") && why.contains("`hosts` of [http] in broker.toml"), "{why}");
        let why = refusal(&get(&broker, &caller, &other.url(), ""), Way::Blocked).to_string();
        assert!(why.contains(&other.host()) && why.contains("`hosts` of [http] in broker.toml"), "{why}");
    }
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn addresses_that_are_no_public_hosts_are_refused_unless_the_house_names_host_and_port() {
    let server = Server::answering(ok("hello"));
    // The name is allowed; that it is this machine is not.
    let broker = Broker::new(house(&format!("[http]\nhosts = [\"localhost:{}\"]\n", server.port)), None);
    let url = format!("http://localhost:{}/", server.port);
    let why = refusal(&get(&broker, &Caller::live(), &url, ""), Way::Blocked).to_string();
    assert!(why.contains("loopback") && why.contains(&format!("private = [\"localhost:{}\"]", server.port)), "{why}");
    for url in ["http://169.254.169.254/latest", "http://[::1]/", "http://10.0.0.1/", "http://[::ffff:127.0.0.1]/"] {
        assert_eq!(get(&broker, &Caller::live(), url, "").way, Way::Blocked, "{url}");
    }
    assert_eq!(server.requests().len(), 0);
    let name = format!("localhost:{}", server.port);
    let allowed = Broker::new(house(&format!("[http]\nhosts = [\"{name}\"]\nprivate = [\"{name}\"]\n")), None);
    assert_eq!(get(&allowed, &Caller::live(), &url, "").way, Way::Redirected);
}

#[test]
fn a_dreams_policy_narrows_what_the_house_allows_and_never_widens_it() {
    let server = Server::answering(ok("hello"));
    let broker = Broker::new(server.house(""), None);
    let dream =
        |hosts: &str| Caller::dream("d1", policies(&format!("[http]\npolicy = \"redirected\"\nhosts = {hosts}\n")));
    assert_eq!(get(&broker, &dream(&format!("[\"{}\"]", server.host())), &server.url(), "").way, Way::Redirected);
    assert_eq!(get(&broker, &dream("[]"), &server.url(), "").way, Way::Redirected);
    let narrowed = get(&broker, &dream("[\"example.org\"]"), &server.url(), "");
    assert!(refusal(&narrowed, Way::Blocked).contains("this dream's policy"), "{narrowed:?}");
    let widened = get(&broker, &dream("[\"example.org\"]"), "https://example.org/", "");
    assert!(refusal(&widened, Way::Blocked).contains("broker.toml"), "{widened:?}");
}

#[test]
fn a_redirect_is_shown_and_not_followed() {
    let goal = Server::answering(ok("goal"));
    let answer = format!("HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n", goal.url());
    let server = Server::answering(answer);
    let hosts = format!("[\"{}\", \"{}\"]", server.host(), goal.host());
    let broker = Broker::new(house(&format!("[http]\nhosts = {hosts}\nprivate = {hosts}\n")), None);
    let answer = get(&broker, &Caller::live(), &server.url(), "");
    assert_eq!(answer.values[0], Value::Number(302.0), "{answer:?}");
    assert!(bytes(&answer.values[1]).contains(&format!("location: {}", goal.url())));
    assert_eq!(goal.requests().len(), 0);
}

#[test]
fn urls_and_headers_that_could_be_read_in_two_ways_are_refused() {
    let server = Server::answering(ok("hello"));
    let broker = Broker::new(server.house(""), None);
    let (port, plain) = (server.port, server.url());
    for url in [
        format!("http://127.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http://user:pass@127.0.0.1:{port}/"),
        format!("http://example.org@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}\\@example.org/"),
        format!("http://127.0.0.1:{port}/ HTTP/1.1\r\nX: y"),
        format!("ftp://127.0.0.1:{port}/"),
        "file:///etc/passwd".into(),
        "/path".into(),
        "http://".into(),
        "http://127.0.0.1:/".into(),
        "http://127.0.0.1:0/".into(),
        "http://127.0.0.1:65536/".into(),
        "http://ex ample.org/".into(),
        format!("{plain}{}", "x".repeat(9_000)),
    ] {
        assert_eq!(get(&broker, &Caller::live(), &url, "").way, Way::Failed, "{url}");
    }
    for headers in [
        "Host: evil.example",
        "content-length: 5",
        "Transfer-Encoding: chunked",
        "Connection: keep-alive",
        "Accept-Encoding: gzip",
        "Proxy-Authorization: x",
        "no colon",
        "na me: x",
        ": x",
        "X: a\rb",
        "X: a\0b",
    ] {
        assert_eq!(get(&broker, &Caller::live(), &plain, headers).way, Way::Failed, "{headers:?}");
    }
    let many = "x: y\n".repeat(20_000);
    assert_eq!(get(&broker, &Caller::live(), &plain, &many).way, Way::Failed);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn what_is_too_big_is_refused_in_both_directions() {
    const LIMIT: usize = 8 << 20;
    let server = Server::start(|request, stream| {
        let _ = match request.split(' ').nth(1) {
            // Never ends: only the bound ends it.
            Some("/endless") => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
                let chunk = [b"10000\r\n".as_slice(), &[b'x'; 1 << 16], b"\r\n"].concat();
                while stream.write_all(&chunk).is_ok() {}
                Ok(())
            }
            Some("/head") => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nx: ").unwrap();
                while stream.write_all(&[b'x'; 1 << 16]).is_ok() {}
                Ok(())
            }
            Some("/just") => stream
                .write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {LIMIT}\r\n\r\n").as_bytes())
                .and_then(|()| stream.write_all(&vec![b'x'; LIMIT])),
            _ => stream.write_all(ok("small").as_bytes()),
        };
    });
    let broker = Broker::new(server.house(""), None);
    let url = |path: &str| format!("{}{path}", server.url());
    let endless = get(&broker, &Caller::live(), &url("endless"), "");
    assert!(refusal(&endless, Way::Failed).contains("8 MiB"), "{endless:?}");
    assert_eq!(get(&broker, &Caller::live(), &url("head"), "").way, Way::Failed);
    assert_eq!(get(&broker, &Caller::live(), &url("just"), "").values[2].as_bytes().unwrap().len(), LIMIT);
    let body = Value::Bytes(vec![0; LIMIT + 1]);
    let arguments = [text("POST"), text(url("small")), Value::Nil, body];
    assert_eq!(ask(&broker, &Caller::live(), "Http.request", &arguments).way, Way::Failed);
}

#[test]
fn a_stop_ends_a_request_whose_server_is_silent() {
    let (sender, is_there) = mpsc::channel();
    let server = Server::start(move |request, stream| {
        if request.contains("/half") {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf").unwrap();
        }
        sender.send(()).unwrap();
        // Until the other side has gone.
        let _ = std::io::copy(stream, &mut std::io::sink());
    });
    let broker = Broker::new(server.house(""), None);
    for path in ["", "half"] {
        let stop = Stop::default();
        let call = Call::new("Http.request", [text("GET"), text(format!("{}{path}", server.url()))]);
        let answer = std::thread::scope(|scope| {
            let asking = scope.spawn(|| broker.answer(&Caller::live(), &call, &stop));
            is_there.recv().unwrap();
            stop.stop();
            asking.join().unwrap()
        });
        assert!(refusal(&answer, Way::Failed).contains("stopped"), "{answer:?}");
    }
}

#[test]
fn a_server_that_breaks_off_or_speaks_nonsense_is_told() {
    for said in ["", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", "HTTP/1.1 9 X\r\n\r\n"] {
        let server = Server::answering(said);
        let answer = get(&Broker::new(server.house(""), None), &Caller::live(), &server.url(), "");
        assert!(refusal(&answer, Way::Failed).contains(&server.host()), "{said:?}: {answer:?}");
    }
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let house = house(&format!("[http]\nhosts = [\"{gone}\"]\nprivate = [\"{gone}\"]\n"));
    let answer = get(&Broker::new(house, None), &Caller::live(), &format!("http://{gone}/"), "");
    assert_eq!(answer.way, Way::Failed);
}

#[test]
fn a_secret_is_put_in_for_its_host_and_taken_out_of_the_answer() {
    // Tells back whatever it was told, in a header and in the body.
    let server = Server::start(|request, stream| {
        let line = request.lines().find(|line| line.to_lowercase().starts_with("authorization")).unwrap_or("none");
        let body = format!("{line} {}", request.lines().next().unwrap());
        let head = format!("HTTP/1.1 200 OK\r\nx-echo: {body}\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    });
    let broker = Broker::new(server.house(&bound_to(&server)), None);
    for caller in [Caller::live(), redirected()] {
        let url = format!("{}?a={{{{secret:key}}}}&b=2", server.url());
        let answer = get(&broker, &caller, &url, "Authorization: Bearer {{secret:key}}");
        assert_eq!(answer.way, Way::Redirected, "{answer:?}");
        let shown = format!("{answer:?} {} {}", bytes(&answer.values[1]), bytes(&answer.values[2]));
        assert!(!shown.contains("secret+1") && !shown.contains("secret%2B1"), "{shown}");
        assert!(bytes(&answer.values[2]).contains("Bearer {{secret:key}} GET /?a={{secret:key}}&b=2"), "{shown}");
    }
    let request = &server.requests()[0];
    assert!(request.contains(&format!("Bearer {SECRET}\r\n")), "{request}");
    assert!(request.starts_with("GET /?a=sk-very%2Fsecret%2B1&b=2 HTTP/1.1"), "{request}");
}

#[test]
fn a_placeholder_goes_to_nobody_whom_its_secret_is_not_bound_to() {
    let bound = Server::answering(ok("bound"));
    let other = Server::answering(ok("other"));
    let hosts = format!("[\"{}\", \"{}\", \"example.org\"]", bound.host(), other.host());
    let private = format!("[\"{}\", \"{}\"]", bound.host(), other.host());
    let secrets = format!("[secrets.key]\nvalue = \"{SECRET}\"\nhosts = [\"{}\", \"example.org\"]\n", bound.host());
    let broker = Broker::new(house(&format!("[http]\nhosts = {hosts}\nprivate = {private}\n{secrets}")), None);
    let placeholder = "X: {{secret:key}}";
    let live = Caller::live();
    for (url, headers, word) in [
        (other.url(), placeholder, "is not for"),
        (format!("{}?k={{{{secret:key}}}}", other.url()), "", "is not for"),
        ("http://example.org/".into(), placeholder, "https only"),
        (bound.url(), "X: {{secret:none}}", "no secret"),
        (bound.url(), "X: {{secret:key", "no end"),
        (format!("{}{{{{secret:key}}}}", bound.url()), "", "nowhere else"),
        (bound.url(), "X: {{secret:key}}\nRange: bytes=0-3", "Range"),
    ] {
        let answer = get(&broker, &live, &url, headers);
        let why = refusal(&answer, Way::Failed);
        assert!(why.contains(word) && !why.contains("sk-"), "{url} {headers}: {why}");
    }
    assert_eq!(other.requests().len() + bound.requests().len(), 0);
}

#[test]
fn an_answer_that_is_packed_is_not_given_on_if_a_secret_was_sent() {
    let server = Server::answering("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx");
    let broker = Broker::new(server.house(&bound_to(&server)), None);
    assert_eq!(get(&broker, &Caller::live(), &server.url(), "").way, Way::Redirected);
    assert_eq!(get(&broker, &Caller::live(), &server.url(), "X: {{secret:key}}").way, Way::Failed);
}

#[test]
fn a_plain_server_is_not_taken_for_one_that_encrypts() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(ok("plain").as_bytes()).unwrap();
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let house = house(&format!("[http]\nhosts = [\"{host}\"]\nprivate = [\"{host}\"]\n"));
    let answer = get(&Broker::new(house, None), &Caller::live(), &format!("https://{host}/"), "");
    assert_eq!(answer.way, Way::Failed, "{answer:?}");
}

#[test]
fn many_ask_at_once() {
    let server = Server::answering(ok("hello"));
    let broker = Broker::new(server.house(""), None);
    let dream = redirected();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert_eq!(get(&broker, &dream, &server.url(), "").way, Way::Redirected));
        }
    });
    assert_eq!(server.requests().len(), 16);
}
