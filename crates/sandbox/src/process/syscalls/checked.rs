//! Calls that a run may make if their arguments are as they should be, as data: each with its reason.

use system::calls::*;
use system::seccomp::{ALLOW, NO_MEMORY, NO_SUCH_FAMILY, NO_SUCH_KIND, NO_SUCH_PROTOCOL, NOT_PERMITTED, NOT_SUPPORTED};

/// What must be true of an argument. Only its lower half is looked at: the kernel takes no more of these.
pub enum Check {
    /// None of these bits is set.
    NoBit(u32),
    /// The same, and none of the upper half, of which the kernel takes all.
    NoBitOrHigher(u32),
    /// It is one of these, after only these bits were kept.
    OneOf { bits: u32, values: &'static [u32] },
    /// It is none of these, after only these bits were kept.
    NoneOf { bits: u32, values: &'static [u32] },
}

/// A call that is allowed if all of its checks hold.
pub struct Checked {
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the table"))]
    pub why: &'static str,
    pub call: i64,
    /// Which argument, what must be true of it, and what is answered otherwise.
    pub checks: &'static [(u32, Check, u32)],
}

/// New mount, cgroup, uts, ipc, user, pid and network namespaces.
const NEW_NAMESPACES: u32 = 0x7e02_0000;
/// A process that is not the caller's child but its parent's, who may be one of ours and not wait for it.
const CHILD_OF_PARENT: u32 = 0x8000;
pub(super) const ALL_BITS: u32 = u32::MAX;
/// What kind of file is made: devices are none for a run.
const FILE_KIND: u32 = 0o170_000;
const DEVICES: &[u32] = &[0o020_000, 0o060_000];
/// Unix and both internets.
const FAMILIES: &[u32] = &[1, 2, 10];
const UNIX: &[u32] = &[1];
/// Without the flags for closing and for not waiting.
const SOCKET_KIND: u32 = 0xf;
/// Raw and packet sockets.
const RAW: &[u32] = &[3, 10];
/// Of the internets: streams and datagrams, and TCP and UDP, by number or as what is usual. Each other protocol is a part of
/// the kernel that few use, and that may be loaded for whoever asks.
const INTERNET_KINDS: &[u32] = &[1, 2];
const INTERNET_PROTOCOLS: &[u32] = &[0, 6, 17];
/// Types into a terminal, the console, line disciplines, and takes a terminal over.
const TERMINAL_CALLS: &[u32] = &[0x5412, 0x541c, 0x5423, 0x540e, 0x4b3a, 0x4b4e];
/// A listener of its own would hear what ours is to hear.
const NEW_LISTENER: u32 = 1 << 3;

/// Of `prctl`: death signal 1 2, dumpable 3 4, capabilities kept 7, names 15 16, seccomp 21 22, bounding set 23, secure bits
/// 27, timer slack 29 30, subreaper 36 37, privileges 38 39, huge pages 41 42, speculation 52 53, tagged addresses 55 56,
/// names of memory, auxiliary vector.
const OWN_SETTINGS: &[u32] =
    &[1, 2, 3, 4, 7, 15, 16, 21, 22, 23, 27, 29, 30, 36, 37, 38, 39, 41, 42, 52, 53, 55, 56, 0x5356_4d41, 0x4155_5856];

/// Leases, and notices about directories: both make others wait who open the same file.
const LEASES: &[u32] = &[1024, 1026];

/// Instead of what the tables say, where there is no cgroup: what is in segments that nobody has attached cannot be counted, so
/// that they must be small. There are no more than 4,096 of them.
pub const UNCOUNTED: &[Checked] = &[Checked {
    why: "small segments that are shared by number",
    call: SYS_shmget,
    checks: &[(1, Check::NoBitOrHigher(!(LARGEST_SEGMENT - 1)), NO_MEMORY)],
}];
const LARGEST_SEGMENT: u32 = 64 << 10;

/// Instead of what the tables say, for the program that serves a layer: what a run removes it marks by a device that is none.
pub const SERVING_LAYER: &[Checked] = &[Checked {
    why: "files, pipes, sockets, and the device without a number",
    call: SYS_mknodat,
    checks: &[(3, Check::OneOf { bits: ALL_BITS, values: &[0] }, NOT_PERMITTED)],
}];

pub const CHECKED: &[Checked] = &[
    Checked {
        why: "descriptors and locks; a lease would hold up whoever opens the file on the host",
        call: SYS_fcntl,
        checks: &[(1, Check::NoneOf { bits: ALL_BITS, values: LEASES }, NOT_PERMITTED)],
    },
    Checked {
        why: "processes and threads, in no namespace but its own",
        call: SYS_clone,
        checks: &[(0, Check::NoBit(NEW_NAMESPACES | CHILD_OF_PARENT), NOT_PERMITTED)],
    },
    Checked {
        why: "devices are few and harmless; terminals are not",
        call: SYS_ioctl,
        checks: &[(1, Check::NoneOf { bits: ALL_BITS, values: TERMINAL_CALLS }, NOT_PERMITTED)],
    },
    Checked {
        why: "settings of the process itself",
        call: SYS_prctl,
        checks: &[(0, Check::OneOf { bits: ALL_BITS, values: OWN_SETTINGS }, NOT_PERMITTED)],
    },
    Checked {
        why: "limits of the process itself: the first one inside has the same user",
        call: SYS_prlimit64,
        checks: &[(0, Check::OneOf { bits: ALL_BITS, values: &[0] }, NOT_PERMITTED)],
    },
    Checked {
        why: "loopback by TCP and UDP, and names in the view; other families and protocols reach into the kernel",
        call: SYS_socket,
        checks: &[
            (0, Check::OneOf { bits: ALL_BITS, values: FAMILIES }, NO_SUCH_FAMILY),
            (1, Check::NoneOf { bits: SOCKET_KIND, values: RAW }, NOT_PERMITTED),
            (0, Check::NoneOf { bits: ALL_BITS, values: UNIX }, ALLOW),
            (1, Check::OneOf { bits: SOCKET_KIND, values: INTERNET_KINDS }, NO_SUCH_KIND),
            (2, Check::OneOf { bits: ALL_BITS, values: INTERNET_PROTOCOLS }, NO_SUCH_PROTOCOL),
        ],
    },
    Checked {
        why: "pipes with two ends; of other families there are none, but the kernel makes both sockets before it says so",
        call: SYS_socketpair,
        checks: &[(0, Check::OneOf { bits: ALL_BITS, values: UNIX }, NOT_SUPPORTED)],
    },
    Checked {
        why: "asks for it, and 32-bit names; no executable data",
        call: SYS_personality,
        checks: &[(0, Check::OneOf { bits: ALL_BITS, values: &[0, 8, u32::MAX] }, NOT_PERMITTED)],
    },
    Checked {
        why: "filters of its own below ours",
        call: SYS_seccomp,
        checks: &[(1, Check::NoBit(NEW_LISTENER), NOT_PERMITTED)],
    },
    Checked {
        why: "files, pipes and sockets, no devices",
        call: SYS_mknodat,
        checks: &[(2, Check::NoneOf { bits: FILE_KIND, values: DEVICES }, NOT_PERMITTED)],
    },
    #[cfg(target_arch = "x86_64")]
    Checked {
        why: "files, pipes and sockets, no devices",
        call: SYS_mknod,
        checks: &[(1, Check::NoneOf { bits: FILE_KIND, values: DEVICES }, NOT_PERMITTED)],
    },
];
