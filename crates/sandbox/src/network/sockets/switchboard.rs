//! Takes the calls that the filter hands over, each in a thread, and answers them.

use super::Sockets;
use super::caller::{Act, Request};
use super::connect::Connected;
use super::plug::Plug;
use super::recording::{Player, Recorder};
use crate::network::exchange::Exchange;
use crate::network::threads::{Place, Threads};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, Result};
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use system::notify::{Listener, Notification};

/// Answers the calls of a run until it is dropped.
pub struct Switchboard {
    threads: Arc<Threads>,
    /// Closed to end it.
    wake: Option<UnixStream>,
    receiving: Option<JoinHandle<()>>,
}

pub struct Shared {
    listener: Listener,
    pub plug: Plug,
    pub policy: Policy,
    pub exchange: Exchange,
    pub threads: Arc<Threads>,
}

pub enum Policy {
    Blocked,
    Redirected(Option<Arc<Recorder>>),
    Recorded(Player),
}

/// What becomes of a call.
pub enum Decision {
    /// It is answered, and that is all.
    Returned(i64),
    /// It is answered, and then there is somebody to talk to.
    Connected(Connected),
}

impl Switchboard {
    /// Begins to answer what the filter hands over. `plug` listens on the loopback of the run's own network.
    pub fn start(
        listener: Listener,
        plug: TcpListener,
        sockets: Sockets,
        exchange: Exchange,
    ) -> io::Result<Switchboard> {
        let (wake, woken) = UnixStream::pair()?;
        let threads = Threads::new(exchange.bounds.connections);
        let shared = Arc::new(Shared {
            listener,
            plug: Plug::new(plug)?,
            policy: match sockets {
                Sockets::Alone | Sockets::Blocked => Policy::Blocked,
                Sockets::Redirected(recorder) => Policy::Redirected(recorder),
                Sockets::Recorded(recording) => Policy::Recorded(Player::new(recording)),
            },
            exchange,
            threads: Arc::clone(&threads),
        });
        let receive = move || shared.receive_all(&woken);
        let receiving = std::thread::Builder::new().name("switchboard".into()).spawn(receive)?;
        Ok(Switchboard { threads, wake: Some(wake), receiving: Some(receiving) })
    }
}

impl Drop for Switchboard {
    /// Ends all conversations. Calls that wait are answered by the kernel, which knows that nobody listens any more.
    fn drop(&mut self) {
        drop(self.wake.take());
        self.threads.stop();
        if let Some(receiving) = self.receiving.take() {
            // It only hands on, and panics as little as it waits.
            let _ = receiving.join();
        }
    }
}

impl Shared {
    fn receive_all(self: &Arc<Self>, woken: &UnixStream) {
        loop {
            let mut waited = [PollFd::new(&self.listener, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
            match poll(&mut waited, None) {
                Ok(_) if !waited[1].revents().is_empty() => return,
                Ok(_) if !waited[0].revents().contains(PollFlags::IN) => return,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            match self.listener.receive() {
                Ok(notification) => self.take(notification),
                // It was given up before it was taken.
                Err(Errno::NOENT | Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }

    fn take(self: &Arc<Self>, notification: Notification) {
        let attending = Arc::clone(self);
        let place = self.threads.place().ok_or(io::ErrorKind::WouldBlock.into());
        let spawned =
            place.and_then(|place| place.spawn("socket call", move |place| attending.attend(&notification, place)));
        if spawned.is_err() {
            self.answer(&notification, Err(Errno::AGAIN));
        }
    }

    fn attend(&self, notification: &Notification, place: &Place) {
        match self.decide(notification, place) {
            Ok(Decision::Returned(value)) => self.answer(notification, Ok(value)),
            Ok(Decision::Connected(connected)) => {
                // The run's socket is the run's again: while we had it too, closing it would not have ended anything.
                place.release();
                self.answer(notification, connected.joined.answer);
                self.carry(connected, place);
            }
            Err(errno) => self.answer(notification, Err(errno)),
        }
    }

    /// Whoever is not there any more needs no answer.
    fn answer(&self, notification: &Notification, answer: Result<i64>) {
        let _ = self.listener.answer(notification.id, answer);
    }

    fn decide(&self, notification: &Notification, place: &Place) -> Result<Decision> {
        let request = Request::take(notification, || self.is_waiting(notification.id))?;
        if !self.plug.is_of_same_network(&request.socket) {
            return Err(Errno::ACCESS);
        }
        // Not before it is known to be the run's: what is held is shut at the end.
        place.hold(&request.socket).map_err(|_| Errno::NFILE)?;
        match &request.act {
            Act::Connect => self.connect(&request),
            Act::Send { message, flags } => {
                let sent = self.send(notification.id, &request, message, *flags)?;
                Ok(Decision::Returned(sent as i64))
            }
        }
    }

    /// Whether a call still waits for its answer.
    pub fn is_waiting(&self, id: u64) -> bool {
        self.listener.is_waiting(id)
    }
}
