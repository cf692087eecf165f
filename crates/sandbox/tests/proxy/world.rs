//! A world outside that is played: names with addresses, and at each address a service in a thread, on this machine's
//! loopback. Nothing else is ever connected to.

use sandbox::network::bounds::Bounds;
use sandbox::network::call::{Call, Calls};
use sandbox::network::exchange::Exchange;
use sandbox::network::outside::{Connector, Outside, Resolver};
use sandbox::network::proxy::Proxy;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// So long that only a hang meets it.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct World {
    names: HashMap<String, Vec<IpAddr>>,
    services: HashMap<SocketAddr, SocketAddr>,
}

impl World {
    pub fn name(mut self, name: &str, addresses: &[&str]) -> World {
        self.names.insert(name.into(), addresses.iter().map(|text| text.parse().unwrap()).collect());
        self
    }

    /// Serves each connection to an address with this.
    pub fn service(mut self, address: &str, serve: fn(TcpStream)) -> World {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        self.services.insert(address.parse().unwrap(), listener.local_addr().unwrap());
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| drop(std::thread::spawn(move || serve(stream))))
        });
        self
    }

    /// A proxy into this world.
    pub fn proxy(self, allowed: &[&str], bounds: Bounds) -> Client {
        let World { names, services } = self;
        let allowed = allowed.iter().map(|text| text.parse().unwrap()).collect();
        let outside = Outside::played(allowed, PATIENCE, Box::new(Names(names)), Box::new(Services(services)));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let exchange = Exchange::new(outside, bounds);
        let calls = Arc::clone(&exchange.calls);
        let proxy = Proxy::start(listener, exchange).unwrap();
        Client { proxy, address, calls }
    }
}

struct Names(HashMap<String, Vec<IpAddr>>);

impl Resolver for Names {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.0.get(name).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

struct Services(HashMap<SocketAddr, SocketAddr>);

impl Connector for Services {
    fn connect(&self, address: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        let service = self.0.get(&address).ok_or(io::ErrorKind::ConnectionRefused)?;
        TcpStream::connect_timeout(service, timeout)
    }
}

/// One who has a proxy.
pub struct Client {
    pub proxy: Proxy,
    address: SocketAddr,
    calls: Arc<Calls>,
}

impl Client {
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub fn say(&self, bytes: impl AsRef<[u8]>) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(bytes.as_ref()).unwrap();
        stream
    }

    /// Says something and hears all of the answer.
    pub fn ask(&self, bytes: impl AsRef<[u8]>) -> String {
        String::from_utf8_lossy(&self.ask_bytes(bytes)).into_owned()
    }

    pub fn ask_bytes(&self, bytes: impl AsRef<[u8]>) -> Vec<u8> {
        let mut stream = self.say(bytes);
        let mut answer = Vec::new();
        // A connection that is cut has said what it had to say.
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// A tunnel that has been opened.
    pub fn tunnel(&self, asked: &str) -> TcpStream {
        let mut stream = self.say(format!("CONNECT {asked} HTTP/1.1\r\n\r\n"));
        assert!(head(&mut stream).starts_with("HTTP/1.1 200 "), "{asked}");
        stream
    }

    /// The calls, once there are so many of them.
    pub fn calls(&self, count: usize) -> Vec<Call> {
        let began = std::time::Instant::now();
        let mut calls = Vec::new();
        while calls.len() < count {
            assert!(began.elapsed() < PATIENCE, "only {calls:?}");
            calls.extend(self.calls.take().calls);
            std::thread::yield_now();
        }
        calls
    }
}

/// The lines up to the first that is empty.
pub fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Gives back what it gets, to the end.
pub fn echo(stream: TcpStream) {
    let _ = io::copy(&mut &stream, &mut &stream);
    let _ = stream.shutdown(std::net::Shutdown::Write);
}

/// Answers a request with all that it heard of it, until it has been silent for a moment.
pub fn mirror(mut stream: TcpStream) {
    let mut heard = head(&mut stream).into_bytes();
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        heard.extend_from_slice(&bytes[..count]);
    }
    let _ = write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(&heard);
}

/// Never says anything.
pub fn silent(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}
