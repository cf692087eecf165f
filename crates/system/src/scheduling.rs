//! How the scheduler treats a process beside others.

use crate::clone::check;
use rustix::io::Result;
use std::time::Duration;

/// The kernel's `struct sched_attr`, in its first version.
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Has the calling thread, and the copies that it will make, get less of the processor than others, and in longer pieces: from Linux
/// 6.12 on whoever wakes up and asks for shorter ones goes first at once. Older kernels look at `nice` alone.
pub fn stand_back(nice: i32, piece: Duration) -> Result<()> {
    const ORDINARY: u32 = 0;
    let size = size_of::<Attributes>() as u32;
    let runtime = piece.as_nanos() as u64;
    let attributes =
        Attributes { size, policy: ORDINARY, flags: 0, nice, priority: 0, runtime, deadline: 0, period: 0 };
    // SAFETY: the structure lives and is as long as it says; zero is the calling thread.
    check(unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) })
}
