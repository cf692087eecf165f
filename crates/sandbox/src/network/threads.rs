//! The threads that serve a run's connections: so many at once and no more, and all can be told to end.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the end waits for threads that were told to end. One that asks for a name or connects cannot be told; it ends
/// by itself.
const ENDING: Duration = Duration::from_secs(1);

/// Threads of this process that outlived the end of what they served.
static LEFT: AtomicUsize = AtomicUsize::new(0);

/// How many threads are left in this process of runs that have ended. One that has some is not for another run: they hold
/// what belonged to the last one, for as long as they like.
pub fn threads_left() -> usize {
    LEFT.load(Ordering::Acquire)
}

pub struct Threads {
    most: usize,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    next: u64,
    /// The sockets that each place waits for.
    places: HashMap<u64, Vec<OwnedFd>>,
    is_stopping: bool,
    /// So many of the places were still taken when the end had waited long enough.
    left: usize,
}

/// One of so many; given back when it is dropped.
pub struct Place {
    number: u64,
    threads: Arc<Threads>,
}

impl Threads {
    pub fn new(most: usize) -> Arc<Threads> {
        Arc::new(Threads { most, state: Mutex::default(), ended: Condvar::new() })
    }

    /// A place, if there is one left.
    pub fn place(self: &Arc<Self>) -> Option<Place> {
        let mut state = self.state();
        if state.is_stopping || state.places.len() >= self.most {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.places.insert(number, Vec::new());
        Some(Place { number, threads: Arc::clone(self) })
    }

    pub fn is_stopping(&self) -> bool {
        self.state().is_stopping
    }

    /// Until a thread ends and gives back what it held, or a moment has passed.
    pub fn wait_for_an_end(&self) {
        let state = self.state();
        if !state.is_stopping {
            drop(self.ended.wait_timeout(state, ENDING).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Waits for so long; `true` at once if all are told to end.
    pub fn pause(&self, time: Duration) -> bool {
        let waited = self.ended.wait_timeout_while(self.state(), time, |state| !state.is_stopping);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_stopping
    }

    /// Shuts the sockets that threads wait for, and waits for a moment until they have ended.
    pub fn stop(&self) {
        let mut state = self.state();
        state.is_stopping = true;
        self.ended.notify_all();
        state.places.values().flatten().for_each(shut);
        let waited = self.ended.wait_timeout_while(state, ENDING, |state| !state.places.is_empty());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.left = state.places.len();
        LEFT.fetch_add(state.left, Ordering::AcqRel);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Ends this socket too when all are told to end.
    pub fn hold(&self, socket: impl AsFd) -> io::Result<()> {
        let socket = socket.as_fd().try_clone_to_owned()?;
        let mut state = self.threads.state();
        if state.is_stopping {
            shut(&socket);
        }
        if let Some(held) = state.places.get_mut(&self.number) {
            held.push(socket);
        }
        Ok(())
    }

    /// Lets go of all sockets that were held.
    pub fn release(&self) {
        if let Some(held) = self.threads.state().places.get_mut(&self.number) {
            held.clear();
        }
    }

    /// Works in a thread of its own.
    pub fn spawn(self, name: &str, work: impl FnOnce(&Place) + Send + 'static) -> io::Result<()> {
        std::thread::Builder::new().name(name.into()).spawn(move || work(&self)).map(drop)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.threads.state();
        state.places.remove(&self.number);
        if let Some(left) = state.left.checked_sub(1) {
            state.left = left;
            LEFT.fetch_sub(1, Ordering::AcqRel);
        }
        self.threads.ended.notify_all();
    }
}

/// Wakes up whoever reads, writes or connects there.
fn shut(socket: &OwnedFd) {
    // Not connected, or gone already: then nobody waits.
    let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    #[test]
    fn there_are_so_many_places_and_no_more() {
        let threads = Threads::new(2);
        let (first, second) = (threads.place(), threads.place());
        assert!(first.is_some() && second.is_some() && threads.place().is_none());
        drop(first);
        assert!(threads.place().is_some());
    }

    #[test]
    fn one_that_waits_for_a_socket_is_woken_at_the_end() {
        let threads = Threads::new(1);
        let (mut here, _there) = UnixStream::pair().unwrap();
        let place = threads.place().unwrap();
        place.hold(&here).unwrap();
        place.spawn("waits", move |_| assert_eq!(here.read(&mut [0]).unwrap(), 0)).unwrap();
        threads.stop();
        assert!(threads.state().places.is_empty());
        assert!(threads.place().is_none(), "nothing begins after the end");
    }
}
