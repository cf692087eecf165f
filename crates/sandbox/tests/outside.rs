//! The real way out, with real addresses, in a network namespace that has nothing but its loopback: hosts that stand for
//! the world are addresses of that loopback. Needs root and `ip` of iproute2; without them it says so.

use sandbox::network::bounds::Bounds;
use sandbox::network::call::{Call, Calls, Fate};
use sandbox::network::outside::Outside;
use sandbox::network::proxy::Proxy;
use sandbox::network::relay::Budget;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use system::clone::namespace;

/// Stand for a host of the world, a metadata service, and a neighbour.
const PUBLIC: &str = "1.2.3.4";
const METADATA: &str = "169.254.169.254";
const PRIVATE: &str = "10.11.12.13";
const SECRET: &str = "the credentials";

/// Does something in a thread that has a network of its own. `None` if that cannot be had.
fn in_own_network(work: impl FnOnce() + Send) -> Option<()> {
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            system::clone::unshare(namespace::NETWORK).ok()?;
            system::loopback::raise().ok()?;
            for address in [PUBLIC, METADATA, PRIVATE] {
                let added = Command::new("ip").args(["address", "add", &format!("{address}/32"), "dev", "lo"]).status();
                added.ok().filter(|status| status.success())?;
            }
            work();
            Some(())
        });
        worker.join().unwrap()
    })
}

/// Tells its secret to whoever comes.
fn serve(address: &str) -> SocketAddr {
    let listener = TcpListener::bind((address, 80)).unwrap();
    let bound = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|mut stream| drop(stream.write_all(SECRET.as_bytes())))
    });
    bound
}

fn all_of(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_metadata_service_that_is_there_is_not_reached() {
    let done = in_own_network(|| {
        let services = [serve(METADATA), serve(PRIVATE), serve(PUBLIC)];
        for service in services {
            assert_eq!(all_of(TcpStream::connect(service).unwrap()), SECRET, "{service} is there for whoever may");
        }
        let bounds = Bounds::default();
        let allowed = vec![format!("{PUBLIC}:80").parse().unwrap()];
        let outside = Arc::new(Outside::new(allowed, Duration::from_secs(10)));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (calls, budget) = (Arc::new(Calls::new(bounds.calls)), Arc::new(Budget::new(bounds.bytes)));
        let _proxy = Proxy::start(listener, outside, Arc::clone(&calls), budget, bounds).unwrap();
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
    if done.is_none() {
        eprintln!("not tried: it needs root and `ip` of iproute2");
    }
}
