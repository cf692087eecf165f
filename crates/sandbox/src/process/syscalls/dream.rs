//! What of the tables a dream has not: it goes on as the process that it is and starts no program, so that it needs less than
//! programs do. What it says to anybody it says over the descriptors that it was given.

use super::checked::ALL_BITS;
use super::*;
use system::seccomp::{ALLOW, NOT_PERMITTED};

#[rustfmt::skip]
pub const REFUSED: &[Group] = &[
    Group {
        why: "it never becomes a program",
        answer: Answer::Refuse,
        calls: &[
            SYS_execve, SYS_execveat, SYS_personality,
        ],
        old: &[],
    },
    Group {
        why: "it calls nobody; pairs of sockets are left, for dreams inside it",
        answer: Answer::Refuse,
        calls: &[
            SYS_socket, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_connect,
        ],
        old: &[],
    },
    Group {
        why: "memory that no process has; where there is no cgroup it could not be counted",
        answer: Answer::Refuse,
        calls: &[
            SYS_memfd_create, SYS_shmget, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop,
            SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink, SYS_mq_timedsend, SYS_mq_timedreceive,
            SYS_mq_notify, SYS_mq_getsetattr,
        ],
        old: &[],
    },
    Group {
        why: "who it is: whoever becomes another outlives its parent",
        answer: Answer::Refuse,
        calls: &[
            SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid,
            SYS_capset,
        ],
        old: &[],
    },
    Group {
        why: "notices about files of the host that it may see, and numbers that all of a user share",
        answer: Answer::Refuse,
        calls: &[
            SYS_inotify_init1, SYS_inotify_add_watch, SYS_inotify_rm_watch,
        ],
        old: old![
            SYS_inotify_init,
        ],
    },
    Group {
        why: "further walls: what is inside it is behind the same",
        answer: Answer::Refuse,
        calls: &[
            SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self, SYS_seccomp,
        ],
        old: &[],
    },
];

/// Of `prctl`: death signal asked 2, dumpable asked 3, names 15 16, timer slack 29 30, privileges asked 39, huge pages 41 42,
/// names of memory. It cannot have itself looked into, nor outlive its parent.
const OWN_SETTINGS: &[u32] = &[2, 3, 15, 16, 29, 30, 39, 41, 42, 0x5356_4d41];

/// Of `mmap`: what is no file, and whether it is shared or not.
const NO_FILE: u32 = 0x20;
const SHARING: u32 = 3;
const PRIVATE: u32 = 2;

/// In place of what the tables say.
pub const CHECKED: &[Checked] = &[
    Checked {
        why: "settings of the process itself, but for what keeps it in",
        call: SYS_prctl,
        checks: &[(0, Check::OneOf { bits: ALL_BITS, values: OWN_SETTINGS }, NOT_PERMITTED)],
    },
    Checked {
        why: "files, and memory of its own; what it would share with children could not be counted without a cgroup",
        call: SYS_mmap,
        checks: &[
            (3, Check::OneOf { bits: NO_FILE, values: &[NO_FILE] }, ALLOW),
            (3, Check::OneOf { bits: SHARING, values: &[PRIVATE] }, NOT_PERMITTED),
        ],
    },
];
