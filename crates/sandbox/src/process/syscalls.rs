//! Which system calls a run may make, as data: each group with its reason. What is in no group does not exist for it, so
//! that programs fall back as on an older kernel. `filter` compiles this; what hangs on arguments is in `checked`, and `dream` has
//! what of it a dream has not.

mod checked;

pub use checked::{CHECKED, Check, Checked, SERVING_LAYER, UNCOUNTED};
use system::calls::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Allow,
    /// Not permitted.
    Refuse,
    /// As on a kernel that is too old: libraries fall back.
    NoSuchCall,
    /// As if it had been done.
    Nothing,
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

pub mod dream;

#[rustfmt::skip]
pub const GROUPS: &[Group] = &[
    Group {
        why: "reads and writes what is open",
        answer: Answer::Allow,
        calls: &[
            SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2,
            SYS_pwritev2, SYS_lseek, SYS_close, SYS_close_range, SYS_dup, SYS_dup3, SYS_flock, SYS_fsync,
            SYS_fdatasync, SYS_readahead, SYS_fadvise64, SYS_copy_file_range, SYS_sendfile, SYS_splice,
            SYS_tee, SYS_vmsplice,
        ],
        old: old![
            SYS_sync_file_range, SYS_dup2,
        ],
    },
    Group {
        why: "flushes all that the host has not written yet; what a run writes is in memory, and is written nowhere",
        answer: Answer::Nothing,
        calls: &[
            SYS_sync, SYS_syncfs,
        ],
        old: &[],
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
