//! Gives up everything that is not needed any more, before anything foreign runs. The order matters: each step needs what
//! a later one takes away.

use super::fence;
use super::inside::{Inside, at};
use super::report::{Failure, Step};
use rustix::process::DumpableBehavior;
use rustix::thread::{CapabilitySet, CapabilitySets};

pub fn close(inside: &mut Inside<'_>) -> Result<(), Failure> {
    for (item, (resource, limit)) in inside.plan.rlimits.iter().enumerate() {
        at(Step::Rlimit, item, rustix::process::setrlimit(*resource, *limit))?;
    }
    inside.wall(Step::Capabilities, drop_capabilities())?;
    inside.wall(Step::Privileges, give_up_privileges())?;
    inside.wall(Step::Landlock, fence::close(&inside.plan.fence))?;
    if let Some(wires) = &inside.plan.wires {
        wires.listen()?;
    }
    inside.wall(Step::Seccomp, system::seccomp::install(&inside.plan.filter))
}

/// All of them, for this process and for whatever it starts.
fn drop_capabilities() -> rustix::io::Result<()> {
    for bit in 0..u64::BITS {
        let Some(capability) = CapabilitySet::from_bits(1 << bit) else { continue };
        match rustix::thread::remove_capability_from_bounding_set(capability) {
            Ok(()) => {}
            // The kernel is older than this capability and those after it.
            Err(rustix::io::Errno::INVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

fn give_up_privileges() -> rustix::io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}
