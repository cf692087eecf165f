//! The broker: who answers what the image, or a dream of it, asks of the world outside. A plain library: no protocol and
//! no machine here; whoever serves it runs it in a process that no fork of the image inherits.
//!
//! - `value`, `call`: what crosses: a name and arguments in, a way and values out
//! - `policy`: what a dream may do, capability by capability; `policy_file` is how people write it
//! - `script`: scripted and recorded answers, and how they are played
//! - `later`: calls that a dream promises, and that are made when it is merged
//! - `house`: what the operator allows at the most, and the secrets, which never leave
//! - `broker`: decides who answers, and writes down what was answered (`record`)
//! - `http`, `command`, `files`, `small`: those who answer
//! - `stop`: ends a call that is under way; `places`: how many there may be at once
//!
//! **A dream never gets more than the house allows**, whatever its policy says; and no answer, message or recording has
//! the value of a secret.

mod arguments;
mod broker;
mod call;
mod caller;
mod command;
mod error;
mod files;
mod house;
mod http;
mod later;
mod places;
mod policy;
mod policy_file;
mod record;
mod script;
mod small;
mod stop;
mod value;

pub use broker::Broker;
pub use call::{Answer, Call, Capability, Way};
pub use caller::Caller;
pub use error::BrokerError;
pub use house::House;
pub use later::Promises;
pub use policy::{Policies, Policy, Ruling};
pub use script::{Pattern, Scripted};
pub use stop::Stop;
pub use value::Value;
