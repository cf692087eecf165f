//! Socket calls of programs that know no proxy. A filter hands every call that names somebody to talk to over to us, and
//! it is answered by what was ordered: refused, redirected to somebody outside who was allowed, or answered from a
//! recording. Calls that stay inside the run are made for it on its own socket.
//!
//! **No socket of the host's network is ever given to a run**: with one it could go on to whomever it likes, past us. The
//! run's socket is connected to ours in its own network, and we carry the bytes. **No call goes on by itself** after it was
//! looked at: another thread could have changed by then what it points to.
//!
//! - `switchboard`: takes the calls, each in a thread
//! - `connect`, `send`: what becomes of each kind of call
//! - `caller`: who calls, with which socket, and what stands in its memory
//! - `peer`: whom a call names
//! - `unix`: sockets that are files, found where the run would find them and with no more rights
//! - `plug`: where the run's sockets are connected to in its own network
//! - `recording`: what was said once, to be said again

mod caller;
mod connect;
mod peer;
mod plug;
mod recording;
mod send;
mod switchboard;
mod unix;

pub use recording::{BadRecording, Recorder, Recording, Turn};
pub use switchboard::{Switchboard, World};

use std::sync::Arc;

/// What becomes of socket calls to the outside.
#[derive(Clone, Default, Debug)]
pub enum Sockets {
    /// The kernel answers them: in the run's own network there is nobody.
    #[default]
    Alone,
    /// Refused and remembered.
    Blocked,
    /// Connections are made to those who are allowed. What is said can be kept.
    Redirected(Option<Arc<Recorder>>),
    /// Who was recorded says the same again.
    Recorded(Arc<Recording>),
}
