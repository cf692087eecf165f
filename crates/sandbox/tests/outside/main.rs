//! The real way out, with real addresses, in a network namespace that has nothing but its loopback: hosts that stand for
//! the world are addresses of that loopback. Needs root and `ip` of iproute2; without them it says so.

mod own;
mod runs;

use own::{METADATA, PRIVATE, PUBLIC, SECRET, all_of, in_own_network, serve};
use sandbox::network::bounds::Bounds;
use sandbox::network::call::{Call, Fate};
use sandbox::network::exchange::Exchange;
use sandbox::network::outside::Outside;
use sandbox::network::proxy::Proxy;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_metadata_service_that_is_there_is_not_reached() {
    in_own_network(|| {
        let services = [serve(METADATA), serve(PRIVATE), serve(PUBLIC)];
        for service in services {
            assert_eq!(all_of(TcpStream::connect(service).unwrap()), SECRET, "{service} is there for whoever may");
        }
        let allowed = vec![format!("{PUBLIC}:80").parse().unwrap()];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let exchange = Exchange::new(Outside::new(allowed, Duration::from_secs(10)), Bounds::default());
        let calls = Arc::clone(&exchange.calls);
        let _proxy = Proxy::start(listener, exchange).unwrap();
        let ask = |host: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "CONNECT {host}:80 HTTP/1.1\r\n\r\n").unwrap();
            all_of(stream)
        };
        assert!(ask(PUBLIC).ends_with(SECRET), "the way out is one");
        for host in
            [METADATA, PRIVATE, "127.0.0.1", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]"]
        {
            let answer = ask(host);
            assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains(SECRET), "{host}: {answer}");
        }
        let is_refused = |call: &&Call| matches!(call.fate, Fate::Refused { .. });
        assert_eq!(calls.take().calls.iter().filter(is_refused).count(), 6);
    });
}
