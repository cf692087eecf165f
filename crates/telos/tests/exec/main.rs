//! Programs in a sandbox, through `telos exec`. One program: each more would be linked anew.

#[path = "../launch/mod.rs"]
mod launch;

mod changes;
mod fuse;
mod languages;
mod record;
mod run;
mod sockets;
