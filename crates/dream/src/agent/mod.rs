//! Agents: programs outside of a dream that were given it, and speak JSON-RPC 2.0 about it, one object a line.
//!
//! - `bounds`: how much one may say; `lines`: bytes into lines; `request`: a line into what it asks for; `reply`: what it is told
//! - `session`: all of it together
//!
//! An agent is hostile: whatever it writes, it is answered or ended, and what is kept of it has a bound. What it asks for is done by
//! a [`Dreaming`], which this module knows nothing of. It touches no file, process or clock.

mod bounds;
mod lines;
mod reply;
mod request;
mod session;

pub use bounds::AgentBounds;
pub use reply::{Fault, code, notification};
pub use request::{Id, METHODS, Question};
pub use session::{AgentCounts, AgentSession, Dreaming};
