//! The proxy: takes connections of a run on a listener in the run's own network, hears whom each wants to reach, and
//! carries bytes there if that was allowed. Each connection has a thread, their number is bounded, and every one is
//! remembered as a call.

use super::body::Passing;
use super::call::{Call, Fate, Via};
use super::conversation::Conversation;
use super::destination::Host;
use super::exchange::Exchange;
use super::outside::{Reached, Refusal};
use super::relay::Relay;
use super::threads::{Place, Threads};
use super::{http, socks};
use std::io::{self, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// A proxy that runs until it is dropped.
pub struct Proxy {
    shared: Arc<Shared>,
}

struct Shared {
    listener: TcpListener,
    exchange: Exchange,
    threads: Arc<Threads>,
}

/// Whom a client wants to reach.
struct Asked {
    via: Via,
    host: Host,
    port: u16,
}

/// What is said on both sides before bytes are carried.
struct Opening {
    to_inside: Vec<u8>,
    to_outside: Vec<u8>,
    passing: Passing,
}

impl Opening {
    fn tunnel(to_inside: Vec<u8>) -> Opening {
        Opening { to_inside, to_outside: Vec::new(), passing: Passing::Everything }
    }
}

impl Proxy {
    /// Starts to take connections.
    pub fn start(listener: TcpListener, exchange: Exchange) -> io::Result<Proxy> {
        let threads = Threads::new(exchange.bounds.connections);
        let shared = Arc::new(Shared { listener, exchange, threads });
        let accepting = Arc::clone(&shared);
        std::thread::Builder::new().name("proxy".into()).spawn(move || accepting.accept_all())?;
        Ok(Proxy { shared })
    }
}

impl Drop for Proxy {
    /// Ends all connections. One whose name is just being resolved, or that is being connected, ends within the bounds.
    fn drop(&mut self) {
        // On Linux this wakes up whoever accepts. It fails only if that was done before.
        let _ = rustix::net::shutdown(&self.shared.listener, rustix::net::Shutdown::Both);
        self.shared.threads.stop();
    }
}

impl Shared {
    fn accept_all(self: &Arc<Self>) {
        while !self.threads.is_stopping() {
            match self.listener.accept() {
                Ok((stream, _)) => self.welcome(stream),
                Err(error) if is_passing(&error) => {}
                Err(error) if is_lack_of_descriptors(&error) => self.threads.wait_for_an_end(),
                Err(_) => return,
            }
        }
    }

    fn welcome(self: &Arc<Self>, stream: TcpStream) {
        let Some(place) = self.threads.place() else {
            self.exchange.calls.add(Call::refused(Via::Proxy, "", "too many connections at once"));
            // A client that does not read at once does without an answer.
            let _ = stream.set_nonblocking(true).and_then(|()| (&stream).write_all(http::BUSY));
            return;
        };
        let serving = Arc::clone(self);
        // Without a thread it is closed, which is all that could be said.
        let _ = place.hold(&stream).and_then(|()| place.spawn("call", move |place| serving.serve(&stream, place)));
    }

    fn serve(&self, stream: &TcpStream, place: &Place) {
        let mut conversation = Conversation::new(stream, self.exchange.bounds.greeting);
        match conversation.hear() {
            Ok(()) if conversation.heard[0] == socks::VERSION => self.serve_socks(conversation, place),
            Ok(()) => self.serve_http(conversation, place),
            // One that connects and says nothing wants nobody.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(error) => self.exchange.calls.add(Call::refused(Via::Proxy, "", error)),
        }
    }

    fn serve_socks(&self, mut conversation: Conversation<'_>, place: &Place) {
        let (host, port) = match socks::hear(&mut conversation) {
            Ok(asked) => asked,
            Err(unclear) => {
                self.exchange.calls.add(Call::refused(Via::Socks, "", &unclear));
                return conversation.leave(&unclear.answer());
            }
        };
        let asked = Asked { via: Via::Socks, host, port };
        match self.reach(&asked) {
            Ok(reached) => {
                let opening = Opening::tunnel(socks::reply(socks::Reply::Done));
                self.carry(&asked, &conversation, &reached, opening, place);
            }
            Err(refusal) => conversation.leave(&socks::refusal(&refusal)),
        }
    }

    fn serve_http(&self, mut conversation: Conversation<'_>, place: &Place) {
        let wish = match http::hear(&mut conversation) {
            Ok(wish) => wish,
            Err(unclear) => {
                self.exchange.calls.add(Call::refused(Via::Http, "", &unclear));
                return conversation.leave(&http::unclear(&unclear));
            }
        };
        let (via, opening) = match wish.kind {
            http::Kind::Tunnel => (Via::Connect, Opening::tunnel(http::CONNECTED.into())),
            http::Kind::Request { head, passing } => {
                (Via::Http, Opening { to_inside: Vec::new(), to_outside: head, passing })
            }
        };
        let asked = Asked { via, host: wish.host, port: wish.port };
        match self.reach(&asked) {
            Ok(reached) => self.carry(&asked, &conversation, &reached, opening, place),
            Err(refusal) => conversation.leave(&http::refusal(&refusal)),
        }
    }

    fn reach(&self, asked: &Asked) -> Result<Reached, Refusal> {
        self.exchange.outside.reach(&asked.host, asked.port).inspect_err(|refusal| {
            self.exchange.calls.add(Call::refused(asked.via, &format!("{}:{}", asked.host, asked.port), refusal));
        })
    }

    fn carry(
        &self,
        asked: &Asked,
        conversation: &Conversation<'_>,
        reached: &Reached,
        opening: Opening,
        place: &Place,
    ) {
        let fate = Fate::Reached { address: reached.address };
        let mut call = Call::new(asked.via, &format!("{}:{}", asked.host, asked.port), fate);
        if place.hold(&reached.stream).and_then(|()| self.open(conversation, reached, &opening)).is_ok() {
            call.sent_bytes += opening.to_outside.len() as u64;
            let relay = Relay {
                inside: conversation.stream,
                outside: &reached.stream,
                passing: opening.passing,
                budget: &self.exchange.budget,
                idle: self.exchange.bounds.idle,
                observe: &mut |_, _| {},
            };
            // However it ended, the client notices, and what went over is in the call.
            let (traffic, _) = relay.carry(&conversation.heard);
            call.sent_bytes += traffic.sent_bytes;
            call.received_bytes += traffic.received_bytes;
        }
        self.exchange.calls.add(call);
    }

    fn open(&self, conversation: &Conversation<'_>, reached: &Reached, opening: &Opening) -> io::Result<()> {
        conversation.say(&opening.to_inside)?;
        reached.stream.set_write_timeout(Some(self.exchange.bounds.idle))?;
        (&reached.stream).write_all(&opening.to_outside)
    }
}

/// Whether this one went away before it was taken, and the next may still come.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

fn is_lack_of_descriptors(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let lacks = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    error.raw_os_error().is_some_and(|code| lacks.contains(&Errno::from_raw_os_error(code)))
}
