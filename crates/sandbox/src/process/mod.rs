//! Sandboxes that are processes of this host's kernel, behind its walls.
//!
//! - `plan`: an order made ready, before anything is started
//! - `view`: the files that every run sees, as data
//! - `source`: what was granted and handed in, made ready outside
//! - `inside`: the first process inside; `world` builds its files, `grant` puts in what was granted, `seal` gives
//!   everything up
//! - `overlay`: what puts a layer over directories; `fuse`: what does where that cannot
//! - `fence`: what landlock leaves; `syscalls`: the calls that are left, as data, which `filter` compiles
//! - `report`: what it tells the one outside
//! - `ids`: who a run is on the host
//! - `stream`: the pipes between; `network`: the way out of its own network, if there is one
//! - `start`: how a run begins; `supervise`: the one outside, to the last trace of it; `change` reads what it wrote
//! - `cell`: a process with namespaces prepared for runs to come, which `crate::warden` keeps
//! - `zygote`: interpreters that have started already
//! - `dream`: a copy of ourselves in place of a program; `void`: the network that all of those share
//! - `cgroup`, `meter`: what it uses; `survey`: what this host offers
//!
//! Nothing is ever mounted outside: all mounts are made in the run's own mount namespace and go with it.

mod cell;
mod cgroup;
mod dream;
mod fence;
mod filter;
mod fuse;
mod grant;
mod ids;
mod inside;
mod lay;
mod meter;
mod network;
mod overlay;
mod plan;
mod report;
mod seal;
mod source;
mod start;
mod stream;
mod supervise;
mod survey;
mod syscalls;
mod view;
mod void;
mod world;
mod zygote;

use crate::backend::{Backend, Running, Streams};
use crate::error::SandboxError;
use crate::order::Order;
use crate::wall::{Strength, Wall};

pub(crate) use cell::{Cell, can_run};
pub use dream::{Dreamer, get_ready, reap, sealed, sealed_meanwhile, seclude};
pub use report::SAID_BY_ZYGOTES;
pub(crate) use source::find as find_granted;
pub(crate) use start::begin_in;
pub use supervise::Companion;
pub use view::{CODE_PLACE, HOME, HOST_NAME, PATH, SCRATCH, USER, VARIABLES};
pub(crate) use zygote::Guest;
pub use zygote::ZygoteKind;

/// The backend. It holds nothing: any number of runs can be started from any thread.
#[derive(Default)]
pub struct Process {}

impl Process {
    pub fn new() -> Process {
        Process {}
    }
}

/// Removes the cgroups of runs whose supervisor was killed before it could; every process does that before its first run.
pub fn sweep() {
    cgroup::Layout::of_host().sweep();
}

impl Backend for Process {
    fn name(&self) -> &'static str {
        "process"
    }

    fn survey(&self) -> Vec<(Wall, Strength)> {
        survey::survey()
    }

    fn start(&self, order: &Order, streams: Streams) -> Result<Box<dyn Running>, SandboxError> {
        Ok(Box::new(start::begin(order, streams, start::Purpose::Run)?))
    }
}
