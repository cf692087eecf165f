//! Which system calls a run may make, as data: each group with its reason. What is in no group does not exist for it, so
//! that programs fall back as on an older kernel. `filter` compiles this.

use system::calls::*;
use system::seccomp::{ALLOW, NO_MEMORY, NO_SUCH_FAMILY, NO_SUCH_KIND, NO_SUCH_PROTOCOL, NOT_PERMITTED, NOT_SUPPORTED};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Allow,
    /// Not permitted.
    Refuse,
    /// As on a kernel that is too old: libraries fall back.
    NoSuchCall,
}

pub struct Group {
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the table"))]
    pub why: &'static str,
    pub answer: Answer,
    pub calls: &'static [i64],
    /// Those that newer processors do without.
    pub old: &'static [i64],
}

#[cfg(target_arch = "x86_64")]
macro_rules! old { ($($call:expr),* $(,)?) => { &[$($call),*] }; }
#[cfg(not(target_arch = "x86_64"))]
macro_rules! old {
    ($($call:expr),* $(,)?) => {
        &[]
    };
}

#[rustfmt::skip]
pub const GROUPS: &[Group] = &[
    Group {
        why: "reads and writes what is open",
        answer: Answer::Allow,
        calls: &[
            SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2,
            SYS_pwritev2, SYS_lseek, SYS_close, SYS_close_range, SYS_dup, SYS_dup3, SYS_flock, SYS_fsync,
            SYS_fdatasync, SYS_sync, SYS_syncfs, SYS_readahead, SYS_fadvise64, SYS_copy_file_range, SYS_sendfile, SYS_splice,
            SYS_tee, SYS_vmsplice,
        ],
        old: old![
            SYS_sync_file_range, SYS_dup2,
        ],
    },
    Group {
        why: "opens, makes, renames and removes files of the view",
        answer: Answer::Allow,
        calls: &[
            SYS_openat, SYS_openat2, SYS_mkdirat, SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_readlinkat,
            SYS_truncate, SYS_ftruncate, SYS_fallocate,
        ],
        old: old![
            SYS_renameat, SYS_open, SYS_creat, SYS_mkdir, SYS_rmdir, SYS_unlink, SYS_rename, SYS_link, SYS_symlink,
            SYS_readlink,
        ],
    },
    Group {
        why: "looks at files",
        answer: Answer::Allow,
        calls: &[
            SYS_newfstatat, SYS_fstat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat, SYS_faccessat2, SYS_getdents64,
            SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_umask,
        ],
        old: old![
            SYS_stat, SYS_lstat, SYS_access, SYS_getdents,
        ],
    },
    Group {
        why: "changes what files of its own say of themselves",
        answer: Answer::Allow,
        calls: &[
            SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat,
        ],
        old: old![
            SYS_fchmodat2, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
        ],
    },
    Group {
        why: "attributes that users may give to files",
        answer: Answer::Allow,
        calls: &[
            SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr, SYS_llistxattr, SYS_flistxattr, SYS_setxattr,
            SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
        ],
        old: &[],
    },
    Group {
        why: "waits for descriptors",
        answer: Answer::Allow,
        calls: &[
            SYS_ppoll, SYS_pselect6, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_eventfd2,
            SYS_signalfd4, SYS_timerfd_create, SYS_timerfd_settime, SYS_timerfd_gettime, SYS_inotify_init1,
            SYS_inotify_add_watch, SYS_inotify_rm_watch, SYS_pipe2,
        ],
        old: old![
            SYS_poll, SYS_select, SYS_epoll_create, SYS_epoll_wait, SYS_eventfd, SYS_signalfd, SYS_inotify_init, SYS_pipe,
        ],
    },
    Group {
        why: "memory of its own",
        answer: Answer::Allow,
        calls: &[
            SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_brk, SYS_madvise, SYS_mincore, SYS_msync, SYS_mlock,
            SYS_mlock2, SYS_munlock, SYS_mlockall, SYS_munlockall, SYS_membarrier, SYS_memfd_create, SYS_pkey_alloc,
            SYS_pkey_free, SYS_pkey_mprotect, SYS_get_mempolicy, SYS_mseal,
        ],
        old: &[],
    },
    Group {
        why: "processes and threads inside; namespaces are refused by their flags",
        answer: Answer::Allow,
        calls: &[
            SYS_execve, SYS_execveat, SYS_exit, SYS_exit_group, SYS_wait4, SYS_waitid, SYS_set_tid_address,
            SYS_set_robust_list, SYS_get_robust_list, SYS_rseq,
        ],
        old: old![
            SYS_fork, SYS_vfork,
        ],
    },
    Group {
        why: "signals, which reach only what is inside",
        answer: Answer::Allow,
        calls: &[
            SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigpending, SYS_rt_sigsuspend,
            SYS_rt_sigtimedwait, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_rt_sigreturn, SYS_sigaltstack,
            SYS_restart_syscall, SYS_pidfd_open, SYS_pidfd_send_signal,
        ],
        old: old![
            SYS_pause, SYS_alarm,
        ],
    },
    Group {
        why: "who it is, which it cannot change to anything else",
        answer: Answer::Allow,
        calls: &[
            SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getresuid,
            SYS_getresgid, SYS_getgroups, SYS_getpgid, SYS_getsid, SYS_setpgid, SYS_setsid, SYS_setuid, SYS_setgid,
            SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_capget, SYS_capset,
        ],
        old: old![
            SYS_getpgrp,
        ],
    },
    Group {
        why: "limits and usage of its own",
        answer: Answer::Allow,
        calls: &[
             SYS_getrusage, SYS_times, SYS_getpriority, SYS_setpriority, SYS_sched_yield, SYS_sched_getparam,
            SYS_sched_setparam, SYS_sched_getscheduler, SYS_sched_setscheduler, SYS_sched_get_priority_max,
            SYS_sched_get_priority_min, SYS_sched_rr_get_interval, SYS_sched_getaffinity, SYS_sched_setaffinity,
            SYS_sched_getattr, SYS_sched_setattr, SYS_ioprio_get, SYS_getcpu, SYS_sysinfo, SYS_uname,
        ],
        old: old![
            SYS_getrlimit, SYS_setrlimit,
        ],
    },
    Group {
        why: "clocks and timers",
        answer: Answer::Allow,
        calls: &[
            SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getitimer,
            SYS_setitimer, SYS_timer_create, SYS_timer_settime, SYS_timer_gettime, SYS_timer_getoverrun, SYS_timer_delete,
        ],
        old: old![
            SYS_time,
        ],
    },
    Group {
        why: "locks between threads",
        answer: Answer::Allow,
        calls: &[
            SYS_futex, SYS_futex_waitv,
        ],
        old: &[],
    },
    Group {
        why: "sockets that are open; which can be made is checked",
        answer: Answer::Allow,
        calls: &[
            SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_connect, SYS_getsockname, SYS_getpeername, SYS_sendto,
            SYS_recvfrom, SYS_sendmsg, SYS_recvmsg, SYS_sendmmsg, SYS_recvmmsg, SYS_setsockopt, SYS_getsockopt, SYS_shutdown,
        ],
        old: &[],
    },
    Group {
        why: "memory, queues and semaphores in an ipc namespace of its own",
        answer: Answer::Allow,
        calls: &[
            SYS_shmget, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_semget, SYS_semop, SYS_semctl, SYS_semtimedop, SYS_msgget,
            SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_mq_open, SYS_mq_unlink, SYS_mq_timedsend, SYS_mq_timedreceive,
            SYS_mq_notify, SYS_mq_getsetattr,
        ],
        old: &[],
    },
    Group {
        why: "randomness",
        answer: Answer::Allow,
        calls: &[
            SYS_getrandom,
        ],
        old: &[],
    },
    Group {
        why: "further walls that a program puts around itself",
        answer: Answer::Allow,
        calls: &[
            SYS_landlock_create_ruleset, SYS_landlock_add_rule, SYS_landlock_restrict_self,
        ],
        old: &[],
    },
    Group {
        why: "the processor's own settings of a thread",
        answer: Answer::Allow,
        calls: &[
        ],
        old: old![
            SYS_arch_prctl,
        ],
    },
    Group {
        why: "asynchronous reads, the old interface: takes from a number that the whole host shares; programs fall back",
        answer: Answer::NoSuchCall,
        calls: &[
            SYS_io_setup, SYS_io_destroy, SYS_io_submit, SYS_io_cancel, SYS_io_getevents,
        ],
        old: &[],
    },
    Group {
        why: "flags are behind a pointer, where they cannot be checked; libc falls back to clone",
        answer: Answer::NoSuchCall,
        calls: &[
            SYS_clone3,
        ],
        old: &[],
    },
    Group {
        why: "a second way to every other call; programs fall back",
        answer: Answer::NoSuchCall,
        calls: &[
            SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
        ],
        old: &[],
    },
    Group {
        why: "other views of files than the one it has",
        answer: Answer::Refuse,
        calls: &[
            SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_open_tree, SYS_move_mount, SYS_fsopen, SYS_fsconfig,
            SYS_fsmount, SYS_fspick, SYS_mount_setattr,
        ],
        old: &[],
    },
    Group {
        why: "other namespaces than those it has",
        answer: Answer::Refuse,
        calls: &[
            SYS_unshare, SYS_setns,
        ],
        old: &[],
    },
    Group {
        why: "files by handle go around the view",
        answer: Answer::Refuse,
        calls: &[
            SYS_open_by_handle_at, SYS_name_to_handle_at,
        ],
        old: &[],
    },
    Group {
        why: "looks into other processes",
        answer: Answer::Refuse,
        calls: &[
            SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, SYS_process_mrelease, SYS_kcmp,
            SYS_pidfd_getfd,
        ],
        old: &[],
    },
    Group {
        why: "the kernel's keys are not in a namespace",
        answer: Answer::Refuse,
        calls: &[
            SYS_add_key, SYS_request_key, SYS_keyctl,
        ],
        old: &[],
    },
    Group {
        why: "programs and probes inside the kernel",
        answer: Answer::Refuse,
        calls: &[
            SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
        ],
        old: &[],
    },
    Group {
        why: "the kernel itself",
        answer: Answer::Refuse,
        calls: &[
            SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff,
            SYS_acct, SYS_quotactl, SYS_quotactl_fd, SYS_syslog, SYS_vhangup, SYS_nfsservctl,
        ],
        old: old![
            SYS_kexec_file_load, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl,
        ],
    },
    Group {
        why: "clocks and names of the host",
        answer: Answer::Refuse,
        calls: &[
            SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname,
        ],
        old: &[],
    },
    Group {
        why: "where memory lies on the host",
        answer: Answer::Refuse,
        calls: &[
            SYS_mbind, SYS_migrate_pages, SYS_move_pages, SYS_set_mempolicy, SYS_set_mempolicy_home_node,
        ],
        old: &[],
    },
    Group {
        why: "order of the host's disks",
        answer: Answer::Refuse,
        calls: &[
            SYS_ioprio_set,
        ],
        old: &[],
    },
    Group {
        why: "what happens to all files of a host",
        answer: Answer::Refuse,
        calls: &[
            SYS_fanotify_init, SYS_fanotify_mark, SYS_lookup_dcookie,
        ],
        old: &[],
    },
    Group {
        why: "memory that not even its owner's supervisor can see",
        answer: Answer::Refuse,
        calls: &[
            SYS_memfd_secret,
        ],
        old: &[],
    },
    Group {
        why: "groups of its user",
        answer: Answer::Refuse,
        calls: &[
            SYS_setgroups,
        ],
        old: &[],
    },
];

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
const ALL_BITS: u32 = u32::MAX;
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

/// All that the first process of a run needs that starts no program itself.
pub const HOSTING: &[i64] = &[
    SYS_read,
    SYS_close,
    SYS_fcntl,
    SYS_ppoll,
    SYS_wait4,
    SYS_waitid,
    SYS_signalfd4,
    SYS_sendto,
    SYS_sendmsg,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
];

/// Instead of what the tables say, where there is no cgroup: what is in segments that nobody has attached cannot be counted, so
/// that they must be small. There are no more than 4,096 of them.
pub const UNCOUNTED: &[Checked] = &[Checked {
    why: "small segments that are shared by number",
    call: SYS_shmget,
    checks: &[(1, Check::NoBitOrHigher(!(LARGEST_SEGMENT - 1)), NO_MEMORY)],
}];
const LARGEST_SEGMENT: u32 = 64 << 10;

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
