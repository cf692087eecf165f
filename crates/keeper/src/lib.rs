//! What stands around a living image: the local socket, the clients, and the processes of `telos up`. Knows no
//! objects: a request is text with limits, an answer is text, and what runs it is a [`Living`].
//!
//! Several processes, so that what the image process does not hold, a fork of it cannot inherit:
//!
//! - the *keeper* ([`keep`]) owns the socket and all clients. It is one thread around `epoll`: it reads requests, hands
//!   them on, fair between clients and never more than a bounded number ahead, and gives answers back. It starts the
//!   image process and ends with it.
//! - the *image process* ([`live`]) has three threads: one reads what the keeper sends and can interrupt, one runs
//!   request after request, one waits until what they did is durable and answers, many at once.
//! - the *warden* ([`ward`]) runs programs in sandboxes, each on a thread of its own that talks with the keeper over a socket
//!   of its own: whoever does not read stops its own run and nothing else. It is started with the first run.
//! - the *broker* ([`broker`]) makes calls to the world outside, for the live image and for dreams, and alone has secrets. It
//!   is started with the first call.
//!
//! Inside:
//!
//! - `protocol`: frames and the messages in them, for clients and for the two processes among themselves
//! - `client`: the Rust client; `socket`: where the socket lies and whose it is; `token`: the secret of a person
//! - `keeping`: the keeper; `inside`: the image process; `warding`: the warden; `brokering`: the broker;
//!   `bounds`: how much of everything there may be
//!
//! What comes from a socket is hostile until it was decoded within its bounds.

mod bounds;
mod brokering;
mod client;
mod error;
mod inside;
mod keeping;
pub mod protocol;
mod socket;
pub mod token;
mod warding;

pub use bounds::Bounds;
pub use brokering::{Brokering, broker};
pub use client::{Canceller, Client, RunEvent};
pub use error::KeeperError;
pub use inside::{
    Begun, Birth, Conclusion, Listen, Living, Outside, Posted, Unanswered, Wait, Watch, dream, live, say_failed,
};
pub use keeping::{Notice, Plan, keep};
pub use socket::{SOCKET, socket_path};
pub use warding::{Conversation, Ordered, Warding, ward};
