//! Filters of system calls: the kernel's small programs that see a call's number and arguments, and how they are installed.

use crate::clone::{check, last};
use rustix::io::{Errno, Result};
use std::os::fd::{FromRawFd, OwnedFd};

/// One instruction, as the kernel takes it.
pub type Instruction = libc::sock_filter;

/// The most instructions that the kernel takes.
pub const MOST_INSTRUCTIONS: usize = 4096;

/// Where in what a filter sees the call's number, the processor and the lower half of an argument are.
pub const NUMBER: u32 = 0;
pub const ARCHITECTURE: u32 = 4;
pub const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Where the upper half of an argument is.
pub const fn upper_half(index: u32) -> u32 {
    argument(index) + 4
}

#[cfg(target_arch = "x86_64")]
pub const NATIVE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub const NATIVE: u32 = 0xc000_00b7;

pub const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
pub const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
pub const NOTIFY: u32 = libc::SECCOMP_RET_USER_NOTIF;
pub const fn refuse(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno as u32
}

/// The call is not made, and returns nought, as it does when it went well.
pub const DONE: u32 = refuse(0);
pub const NOT_PERMITTED: u32 = refuse(libc::EPERM);
pub const NO_SUCH_CALL: u32 = refuse(libc::ENOSYS);
pub const NO_MEMORY: u32 = refuse(libc::ENOMEM);
pub const NO_SUCH_FAMILY: u32 = refuse(libc::EAFNOSUPPORT);
pub const NO_SUCH_KIND: u32 = refuse(libc::ESOCKTNOSUPPORT);
pub const NO_SUCH_PROTOCOL: u32 = refuse(libc::EPROTONOSUPPORT);
pub const NOT_SUPPORTED: u32 = refuse(libc::EOPNOTSUPP);

/// Loads what is at this place of what the filter sees.
pub const fn load(place: u32) -> Instruction {
    plain(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place)
}

/// Keeps only these bits of what is loaded.
pub const fn mask(bits: u32) -> Instruction {
    plain(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, bits)
}

pub const fn answer(value: u32) -> Instruction {
    plain(libc::BPF_RET | libc::BPF_K, value)
}

/// Goes so many instructions further.
pub const fn skip(count: u32) -> Instruction {
    plain(libc::BPF_JMP | libc::BPF_JA | libc::BPF_K, count)
}

/// Goes `yes` or `no` instructions further, by whether what is loaded is at least `value`.
pub const fn at_least(value: u32, yes: u8, no: u8) -> Instruction {
    Instruction { code: (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16, jt: yes, jf: no, k: value }
}

pub const fn equal(value: u32, yes: u8, no: u8) -> Instruction {
    Instruction { code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16, jt: yes, jf: no, k: value }
}

/// By whether any of these bits is set.
pub const fn any_bit(bits: u32, yes: u8, no: u8) -> Instruction {
    Instruction { code: (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16, jt: yes, jf: no, k: bits }
}

const fn plain(code: u32, k: u32) -> Instruction {
    Instruction { code: code as u16, jt: 0, jf: 0, k }
}

/// Puts the calling thread and all that it starts behind a filter, for ever, and returns a descriptor that calls which the
/// filter answers with `NOTIFY` are told to. Needs that new privileges were given up. A call that was told is not interrupted
/// by signals any more, where the kernel knows that (5.19): it would be made again, and be told twice.
pub fn install_with_listener(filter: &[Instruction]) -> Result<OwnedFd> {
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let descriptor = match set(filter, listener | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) {
        Err(Errno::INVAL) => set(filter, listener)?,
        answer => answer?,
    };
    // SAFETY: the kernel has just made it, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
}

fn set(filter: &[Instruction], flags: libc::c_ulong) -> Result<libc::c_long> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the program's length is right and its instructions live; the kernel only reads them, and checks them.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    if answer < 0 { Err(last()) } else { Ok(answer) }
}

/// Whether this kernel knows filters at all.
pub fn is_there() -> bool {
    let action = KILL;
    // SAFETY: the action is a number of ours that lives.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) }).is_ok()
}
