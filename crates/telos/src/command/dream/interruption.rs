//! Requests that another thread may interrupt, such as a handler of Ctrl-C.

use crate::session::exit_code;
use keeper::protocol::{Answer, Request};
use keeper::{Canceller, Client, KeeperError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ends what is being asked, from another thread, and all that would be asked after it.
#[derive(Clone)]
pub struct Interruption {
    canceller: Arc<Canceller>,
    state: Arc<Mutex<Asking>>,
}

#[derive(Default)]
struct Asking {
    is_over: bool,
    /// The request that is under way.
    request: Option<u64>,
}

impl Interruption {
    pub fn of(client: &Client) -> Result<Interruption, KeeperError> {
        Ok(Interruption { canceller: Arc::new(client.canceller()?), state: Arc::default() })
    }

    /// Lets Ctrl-C interrupt. The second one does not wait for an image that does not answer.
    pub fn at_ctrl_c(self) -> Interruption {
        let pressed = self.clone();
        // Without a handler Ctrl-C ends us, and what was asked with us.
        let _ = ctrlc::set_handler(move || {
            if pressed.interrupt() {
                std::process::exit(exit_code::INTERRUPTED.into());
            }
        });
        self
    }

    /// Says whether it was interrupted before.
    pub fn interrupt(&self) -> bool {
        let mut state = self.state();
        if let Some(request) = state.request {
            // A keeper that has gone took the request with it.
            let _ = self.canceller.cancel(request);
        }
        std::mem::replace(&mut state.is_over, true)
    }

    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Asks, unless it was interrupted before: then there is no answer.
    pub fn send(&self, client: &mut Client, request: &Request) -> Result<Option<Answer>, KeeperError> {
        let mut asking = self.state();
        if asking.is_over {
            return Ok(None);
        }
        // All of it under the lock: nobody can cancel what has not been sent.
        let id = client.post(request)?;
        client.flush()?;
        asking.request = Some(id);
        drop(asking);
        let answer = client.wait(id);
        self.state().request = None;
        answer.map(Some)
    }

    fn state(&self) -> MutexGuard<'_, Asking> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
