//! The proxy from end to end, in a world that is played: what is carried, what is refused and how that is said, and that
//! whoever misbehaves meets a bound.

mod world;

use proptest::prelude::*;
use sandbox::network::bounds::Bounds;
use sandbox::network::call::{Fate, Via};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;
use world::{World, echo, mirror, silent};

const PUBLIC: &str = "1.2.3.4";

fn example() -> World {
    World::default().name("a.example", &[PUBLIC]).service("1.2.3.4:443", echo).service("1.2.3.4:80", mirror)
}

fn all_of(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_tunnel_carries_bytes_both_ways_to_the_end() {
    let client = example().proxy(&["a.example:443"], Bounds::default());
    let stream = client.tunnel("a.example:443");
    let sent: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
    let mut writing = stream.try_clone().unwrap();
    let to_send = sent.clone();
    let writer = std::thread::spawn(move || {
        writing.write_all(&to_send).unwrap();
        writing.shutdown(Shutdown::Write).unwrap();
    });
    assert!(all_of(&mut &stream) == sent, "what came back is what was sent");
    writer.join().unwrap();
    let call = &client.calls(1)[0];
    assert_eq!((call.via, call.asked.as_str()), (Via::Connect, "a.example:443"));
    assert_eq!(call.fate, Fate::Reached { address: "1.2.3.4:443".parse().unwrap() });
    assert_eq!((call.sent_bytes, call.received_bytes), (3_000_000, 3_000_000));
}

#[test]
fn what_is_said_right_behind_a_connect_is_not_lost() {
    let client = example().proxy(&["a.example:443"], Bounds::default());
    let mut stream = client.say("CONNECT a.example:443 HTTP/1.1\r\n\r\nearly");
    stream.shutdown(Shutdown::Write).unwrap();
    let heard = String::from_utf8(all_of(&mut stream)).unwrap();
    assert!(heard.ends_with("\r\n\r\nearly"), "{heard}");
}

#[test]
fn a_plain_request_is_passed_on_as_the_servers_own() {
    let client = example().proxy(&["a.example:80"], Bounds::default());
    let answer =
        client.ask("GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nProxy-Connection: keep-alive\r\n\r\n");
    assert!(answer.ends_with("\r\n\r\nGET /x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"), "{answer}");
    assert_eq!(client.calls(1)[0].via, Via::Http);
}

#[test]
fn a_second_request_behind_the_first_does_not_pass() {
    let client = example().proxy(&["a.example:80"], Bounds::default());
    let second = "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
    for first in [
        "GET http://a.example/ HTTP/1.1\r\n\r\n",
        "POST http://a.example/ HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody",
        "POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ] {
        let answer = client.ask(format!("{first}{second}"));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(!answer.contains("b.example"), "{answer}");
        assert_eq!(answer.contains("body"), first.contains("body"), "{answer}");
    }
}

#[test]
fn socks_reaches_names_and_addresses() {
    let world = example().service("[2606:4700::1]:443", echo);
    let client = world.proxy(&["a.example:443", "1.2.3.4:443", "[2606:4700::1]:443"], Bounds::default());
    let v6: Vec<u8> = "2606:4700::1".parse::<std::net::Ipv6Addr>().unwrap().octets().into();
    for address in [[&[3, 9], &b"a.example"[..]].concat(), vec![1, 1, 2, 3, 4], [&[4], v6.as_slice()].concat()] {
        let request = [&[5, 1, 0, 5, 1, 0], address.as_slice(), &443u16.to_be_bytes(), b"hello"].concat();
        let mut stream = client.say(request);
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(all_of(&mut stream), b"\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00hello", "{address:?}");
    }
    assert!(client.calls(3).iter().all(|call| call.via == Via::Socks && call.sent_bytes == 5));
}

#[test]
fn what_was_not_allowed_is_refused_in_words_and_remembered() {
    let client = example().name("b.example", &[PUBLIC]).proxy(&["a.example:443"], Bounds::default());
    for request in [
        "CONNECT b.example:443 HTTP/1.1\r\n\r\n",
        "CONNECT a.example:80 HTTP/1.1\r\n\r\n",
        "CONNECT 1.2.3.4:443 HTTP/1.1\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\n\r\n",
    ] {
        let answer = client.ask(request);
        assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("--net"), "{request}: {answer}");
    }
    for call in client.calls(4) {
        assert!(matches!(&call.fate, Fate::Refused { why } if why.contains("not allowed")), "{call:?}");
    }
}

#[test]
fn addresses_of_ours_are_refused_however_they_are_asked_for() {
    let world = World::default()
        .name("rebound.example", &["127.0.0.1"])
        .name("mixed.example", &[PUBLIC, "169.254.169.254"])
        .name("mapped.example", &["::ffff:169.254.169.254"])
        .service("127.0.0.1:80", echo)
        .service("169.254.169.254:80", echo)
        .service("1.2.3.4:80", echo);
    let client = world
        .proxy(&["*.example.org:80", "rebound.example:80", "mixed.example:80", "mapped.example:80"], Bounds::default());
    for host in [
        "rebound.example",
        "mixed.example",
        "mapped.example",
        "127.0.0.1",
        "169.254.169.254",
        "[::1]",
        "[::ffff:7f00:1]",
    ] {
        for request in [format!("CONNECT {host}:80 HTTP/1.1\r\n\r\n"), format!("GET http://{host}/ HTTP/1.1\r\n\r\n")] {
            let answer = client.ask(&request);
            assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("never reached"), "{request}: {answer}");
        }
    }
    for address in
        [&[1, 169, 254, 169, 254][..], b"\x03\x0dmixed.example", b"\x03\x0f169.254.169.254", b"\x03\x0a2130706433"]
    {
        let request = [&[5, 1, 0, 5, 1, 0], address, &[0, 80]].concat();
        assert_eq!(client.ask_bytes(request)[..4], [5, 0, 5, 2], "{address:?}");
    }
}

#[test]
fn one_who_does_not_answer_is_told_apart_from_one_who_may_not_be_reached() {
    let client =
        World::default().name("a.example", &[PUBLIC]).proxy(&["a.example:443", "gone.example:443"], Bounds::default());
    let answer = client.ask("CONNECT a.example:443 HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("does not answer"), "{answer}");
    let answer = client.ask("CONNECT gone.example:443 HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("cannot be resolved"), "{answer}");
    assert_eq!(client.ask_bytes(b"\x05\x01\x00\x05\x01\x00\x03\x09a.example\x01\xbb")[3], 5);
}

#[test]
fn what_is_not_understood_is_refused_in_words() {
    let client = example().proxy(&["a.example:80"], Bounds::default());
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n".to_string(), "400"),
        ("GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n".to_string(), "400"),
        ("hello\r\n\r\n".to_string(), "400"),
        (format!("GET http://a.example/{} HTTP/1.1\r\n\r\n", "x".repeat(70_000)), "431"),
    ] {
        let answer = client.ask(&request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    assert_eq!(client.ask_bytes([5, 1, 2])[..], [5, 0xff], "a password is asked for");
    assert_eq!(client.ask_bytes(b"\x05\x01\x00\x05\x02\x00\x01\x01\x02\x03\x04\x00\x50")[3], 7, "to be called");
    assert_eq!(client.ask_bytes(b"\x05\x01\x00\x05\x01\x00\x02")[3], 8, "an unknown kind of address");
}

#[test]
fn connections_beyond_the_bound_are_told_so() {
    let bounds = Bounds { connections: 2, ..Bounds::default() };
    let client = example().proxy(&["a.example:443"], bounds);
    let _held = [client.tunnel("a.example:443"), client.tunnel("a.example:443")];
    let mut third = client.connect();
    assert!(String::from_utf8(all_of(&mut third)).unwrap().starts_with("HTTP/1.1 503 "));
}

#[test]
fn the_bytes_of_a_run_are_bounded_over_all_its_connections() {
    let bounds = Bounds { bytes: 100_000, ..Bounds::default() };
    let client = example().proxy(&["a.example:443"], bounds);
    let mut heard = 0;
    for _ in 0..4 {
        let mut stream = client.tunnel("a.example:443");
        let _ = stream.write_all(&[0; 30_000]);
        let _ = stream.shutdown(Shutdown::Write);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        heard += bytes.len();
    }
    assert!((30_000..=50_000).contains(&heard), "{heard}");
}

#[test]
fn one_who_says_nothing_or_too_little_is_sent_away() {
    let bounds = Bounds { greeting: Duration::from_millis(100), ..Bounds::default() };
    let client = example().proxy(&["a.example:443"], bounds);
    assert_eq!(client.ask(""), "");
    assert!(client.ask("GET http://a.ex").starts_with("HTTP/1.1 408 "));
    assert_eq!(client.ask_bytes([5, 9])[..2], [5, 1]);
    assert_eq!(client.calls(3).len(), 3);
}

#[test]
fn a_connection_over_which_nothing_goes_ends() {
    let bounds = Bounds { idle: Duration::from_millis(100), ..Bounds::default() };
    let client =
        World::default().name("a.example", &[PUBLIC]).service("1.2.3.4:443", silent).proxy(&["a.example:443"], bounds);
    assert_eq!(all_of(&mut client.tunnel("a.example:443")), b"");
}

#[test]
fn with_the_proxy_end_all_its_connections() {
    let client = example().proxy(&["a.example:443"], Bounds::default());
    let mut stream = client.tunnel("a.example:443");
    let mut silent = client.connect();
    drop(client.proxy);
    assert_eq!(all_of(&mut stream), b"");
    // It may not even have been taken yet, and is cut off then.
    assert!(matches!(silent.read(&mut [0]), Ok(0) | Err(_)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_said_harms_nobody_else(garbage in proptest::collection::vec(any::<u8>(), 1..600), version in any::<bool>()) {
        let bounds = Bounds { greeting: Duration::from_millis(20), ..Bounds::default() };
        let client = example().proxy(&["a.example:443"], bounds);
        let mut garbage = garbage;
        if version {
            garbage[0] = 5;
        }
        client.ask(&garbage);
        let mut stream = client.tunnel("a.example:443");
        stream.shutdown(Shutdown::Write).unwrap();
        prop_assert_eq!(all_of(&mut stream), b"");
    }
}
