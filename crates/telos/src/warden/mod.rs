//! Runs through `telos up`: the process that watches over them, and the backend that asks it to.
//!
//! - `translate`: orders and outcomes, as the sandbox has them and as they go over the socket; `calls` those of its network
//! - `warded`: what the warden does with an order; `record`: what it writes into the log of runs
//! - `remote`: a backend that sends orders there

mod calls;
mod record;
mod remote;
mod translate;
mod warded;

pub use record::lost as record_lost;
pub use remote::Remote;
pub use warded::Warded;
