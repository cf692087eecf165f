//! A thread behind the filter of socket calls, and a switchboard that answers it. The world outside is played. Where this
//! process may, as root may, the thread has a network of its own, so that nothing could get out even by mistake.

use sandbox::network::bounds::Bounds;
use sandbox::network::call::{Call, Calls};
use sandbox::network::outside::{Connector, Outside, Resolver};
use sandbox::network::relay::Budget;
use sandbox::network::sockets::{Sockets, Switchboard, World};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use system::clone::namespace;
use system::notify::{Listener, SOCKET_CALLS};

/// So long that only a hang meets it.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// No name is known.
struct Nameless;

impl Resolver for Nameless {
    fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Whoever is connected to is a service of this process.
struct Service(SocketAddr);

impl Connector for Service {
    fn connect(&self, _: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&self.0, timeout)
    }
}

/// What the thread behind the filter knows.
pub struct Inside {
    /// Where its connections to the outside really end.
    pub plug: SocketAddr,
}

/// Runs something behind the filter, with a service outside that serves each connection so, and tells what calls there were.
pub fn behind_filter<T: Send>(
    sockets: Sockets,
    allowed: &[&str],
    serve: fn(TcpStream),
    work: impl FnOnce(&Inside) -> T + Send,
) -> (T, Vec<Call>) {
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let connector = Service(service.local_addr().unwrap());
    std::thread::spawn(move || {
        service.incoming().flatten().for_each(|stream| drop(std::thread::spawn(move || serve(stream))))
    });
    let allowed = allowed.iter().map(|text| text.parse().unwrap()).collect();
    let outside = Outside::played(allowed, PATIENCE, Box::new(Nameless), Box::new(connector));
    let bounds = Bounds::default();
    let calls = Arc::new(Calls::new(bounds.calls));
    let world = World {
        sockets,
        outside: Arc::new(outside),
        calls: Arc::clone(&calls),
        budget: Arc::new(Budget::new(bounds.bytes)),
        bounds,
    };
    let result = run(world, work);
    (result, calls.take().calls)
}

fn run<T: Send>(world: World, work: impl FnOnce(&Inside) -> T + Send) -> T {
    std::thread::scope(|scope| {
        let (hand_over, handed_over) = channel();
        let (go, gone) = channel::<()>();
        let target = scope.spawn(move || {
            if system::clone::unshare(namespace::NETWORK).is_ok() {
                system::loopback::raise().unwrap();
            }
            let plug = TcpListener::bind("127.0.0.1:0").unwrap();
            let inside = Inside { plug: plug.local_addr().unwrap() };
            rustix::thread::set_no_new_privs(true).unwrap();
            let listener = Listener::from(system::seccomp::install_with_listener(SOCKET_CALLS).unwrap());
            hand_over.send((listener, plug)).unwrap();
            gone.recv().unwrap();
            work(&inside)
        });
        let (listener, plug) = handed_over.recv().unwrap();
        let switchboard = Switchboard::start(listener, plug, world).unwrap();
        go.send(()).unwrap();
        let result = target.join().unwrap();
        drop(switchboard);
        result
    })
}

/// Gives back what it gets, to the end.
pub fn echo(stream: TcpStream) {
    let _ = io::copy(&mut &stream, &mut &stream);
    let _ = stream.shutdown(std::net::Shutdown::Write);
}

/// Nobody is to come here.
pub fn nobody(_: TcpStream) {
    panic!("somebody was reached");
}

/// Says something and hears all that comes back.
pub fn converse(mut stream: TcpStream, bytes: &[u8]) -> Vec<u8> {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(bytes).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    heard
}
