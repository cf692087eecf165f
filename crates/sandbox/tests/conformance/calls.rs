//! System calls that a program has no business with. Arguments are such that the call would do no harm if it got through;
//! it would then be answered otherwise.

use crate::saying::got;
use crate::table::{Row, Said};
use libc::c_long;
use sandbox::Wall::{Capabilities, NoNewPrivileges, Seccomp, UserNamespace};
use sandbox::{Verdict, Wall};
use std::ffi::CStr;
use system::raw::call;

/// A call that the filter refuses, or does not know.
const REFUSED: &[&str] = &["EPERM", "ENOSYS"];
/// Refused by the filter, and by the kernel to whoever has no rights.
const BOTH: &[Wall] = &[Seccomp, Capabilities];
/// The kernel would let anybody do it.
const FILTER: &[Wall] = &[Seccomp];
/// A signal that the filter sends.
const SIGSYS: Verdict = Verdict::Signalled(libc::SIGSYS);

/// An address, for a call.
fn at(text: &'static CStr) -> usize {
    text.as_ptr() as usize
}

fn trying(number: c_long, arguments: &[usize]) -> Said {
    got(call(number, arguments))
}

const NEW_USER: usize = libc::CLONE_NEWUSER as usize;
const NEW_MOUNTS: usize = libc::CLONE_NEWNS as usize;
const NEW_NETWORK: usize = libc::CLONE_NEWNET as usize;
const NEW_PROCESSES: usize = libc::CLONE_NEWPID as usize;
const NEW_TIME: usize = 0x80;

/// Opens the namespaces that a process is in, and enters one.
fn enter(path: &str, kind: usize) -> Said {
    let file = std::fs::File::open(path)?;
    trying(libc::SYS_setns, &[std::os::fd::AsRawFd::as_raw_fd(&file) as usize, kind])
}

/// Clones with new namespaces; a child that is born ends at once.
fn clone_into(flags: usize) -> Said {
    let child = call(libc::SYS_clone, &[flags | libc::SIGCHLD as usize])?;
    if child == 0 {
        std::process::exit(0);
    }
    Ok("got it".into())
}

fn clone3_into(flags: u64) -> Said {
    // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls
    let mut arguments = [flags, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
    let child = call(libc::SYS_clone3, &[arguments.as_mut_ptr() as usize, size_of_val(&arguments)])?;
    if child == 0 {
        std::process::exit(0);
    }
    Ok("got it".into())
}

/// Sets the clock to what it says.
fn set_clock(clock: libc::clockid_t) -> Said {
    let mut now = [0_i64; 2];
    call(libc::SYS_clock_gettime, &[clock as usize, now.as_mut_ptr() as usize])?;
    trying(libc::SYS_clock_settime, &[clock as usize, now.as_ptr() as usize])
}

fn set_time_of_day() -> Said {
    let mut now = [0_i64; 2];
    call(libc::SYS_gettimeofday, &[now.as_mut_ptr() as usize])?;
    trying(libc::SYS_settimeofday, &[now.as_ptr() as usize])
}

/// The kernel's structure has 208 bytes and begins with what is to be changed: here the tick, to what it is.
fn adjust_time() -> Said {
    let mut time = [0_u64; 26];
    call(libc::SYS_adjtimex, &[time.as_mut_ptr() as usize])?;
    time[0] = 0x4000;
    trying(libc::SYS_adjtimex, &[time.as_mut_ptr() as usize])
}

/// Asks for all rights for itself.
fn regain_capabilities() -> Said {
    let header = [0x2008_0522_u32, 0];
    let all = [u32::MAX; 6];
    trying(libc::SYS_capset, &[header.as_ptr() as usize, all.as_ptr() as usize])
}

/// A filter program of its own is a right of everybody; one that others are told about by a descriptor is not harmful
/// either, but loading programs into the kernel is.
fn load_bpf() -> Said {
    const PROG_LOAD: usize = 5;
    const SOCKET_FILTER: u64 = 1;
    // mov r0, 0; exit
    let program = [0x0000_0000_0000_00b7_u64, 0x95];
    let mut attributes = [0_u64; 16];
    attributes[0] = SOCKET_FILTER | (2 << 32);
    attributes[1] = program.as_ptr() as u64;
    attributes[2] = at(c"GPL") as u64;
    trying(libc::SYS_bpf, &[PROG_LOAD, attributes.as_ptr() as usize, size_of_val(&attributes)])
}

/// Counts its own instructions in user space, which the kernel lets anybody do on many hosts.
fn count_by_perf() -> Said {
    let mut attributes = [0_u64; 16];
    attributes[0] = (128 << 32) | 1;
    attributes[1] = 1;
    attributes[5] = 0b110_0000;
    trying(libc::SYS_perf_event_open, &[attributes.as_ptr() as usize, 0, usize::MAX, usize::MAX, 0])
}

fn set_up_ring() -> Said {
    let mut parameters = [0_u64; 15];
    trying(libc::SYS_io_uring_setup, &[4, parameters.as_mut_ptr() as usize])
}

fn add_key() -> Said {
    const PROCESS_KEYRING: usize = -2_isize as usize;
    trying(libc::SYS_add_key, &[at(c"user"), at(c"telos"), at(c"x"), 1, PROCESS_KEYRING])
}

/// Takes the handle of a file and opens it, which goes around every path.
fn open_by_handle() -> Said {
    let mut handle = [0_u8; 8 + 128];
    handle[0] = 128;
    let mut mount = 0_i32;
    let address = handle.as_mut_ptr() as usize;
    let here = libc::AT_FDCWD as usize;
    call(libc::SYS_name_to_handle_at, &[here, at(c"/usr"), address, (&raw mut mount) as usize, 0])?;
    let usr = std::fs::File::open("/usr")?;
    trying(libc::SYS_open_by_handle_at, &[std::os::fd::AsRawFd::as_raw_fd(&usr) as usize, address, 0])
}

fn change_host_name() -> Said {
    let length = rustix::system::uname().nodename().count_bytes();
    let name = rustix::system::uname().nodename().to_owned();
    trying(libc::SYS_sethostname, &[name.as_ptr() as usize, length])
}

fn go_real_time() -> Said {
    let priority = 1_i32;
    trying(libc::SYS_sched_setscheduler, &[0, libc::SCHED_FIFO as usize, (&raw const priority) as usize])
}

/// Whatever can be read can be executed, and nothing lies at a random place.
const WEAKER_MEMORY: usize = 0x0040_0000 | 0x0004_0000;

pub const ROWS: &[Row] = &[
    Row::own("mount.tmpfs", "mounts a file system over /tmp", || {
        trying(libc::SYS_mount, &[at(c"none"), at(c"/tmp"), at(c"tmpfs"), 0, 0])
    })
    .says(&["EPERM"])
    .by(BOTH),
    Row::own("mount.bind", "binds / over /tmp", || {
        trying(libc::SYS_mount, &[at(c"/"), at(c"/tmp"), 0, (libc::MS_BIND | libc::MS_REC) as usize, 0])
    })
    .says(&["EPERM"])
    .by(BOTH),
    Row::own("mount.remount_writable", "makes what it may only read writable", || {
        trying(libc::SYS_mount, &[0, at(c"/granted"), 0, (libc::MS_REMOUNT | libc::MS_BIND) as usize, 0])
    })
    .says(&["EPERM"])
    .by(BOTH),
    Row::own("mount.proc", "mounts a /proc without masks", || {
        trying(libc::SYS_mount, &[at(c"proc"), at(c"/tmp"), at(c"proc"), 0, 0])
    })
    .says(&["EPERM"])
    .by(BOTH),
    Row::own("mount.umount", "takes /proc away", || {
        trying(libc::SYS_umount2, &[at(c"/proc"), libc::MNT_DETACH as usize])
    })
    .says(&["EPERM"])
    .by(BOTH),
    Row::own("mount.fsopen", "makes a file system by the new calls", || trying(libc::SYS_fsopen, &[at(c"tmpfs"), 0]))
        .says(REFUSED)
        .by(BOTH)
        .tried_outside(),
    Row::own("mount.open_tree", "copies a tree of mounts", || {
        trying(libc::SYS_open_tree, &[libc::AT_FDCWD as usize, at(c"/"), 1 | libc::AT_RECURSIVE as usize])
    })
    .says(REFUSED)
    .by(BOTH)
    .tried_outside(),
    Row::own("mount.move_mount", "moves a mount", || {
        let here = libc::AT_FDCWD as usize;
        trying(libc::SYS_move_mount, &[here, at(c"/proc"), here, at(c"/tmp"), 0])
    })
    .says(REFUSED)
    .by(BOTH),
    Row::own("mount.mount_setattr", "clears the read-only mark of a mount", || {
        let attributes = [0_u64, libc::MOUNT_ATTR_RDONLY, 0, 0];
        let here = libc::AT_FDCWD as usize;
        let size = size_of_val(&attributes);
        trying(libc::SYS_mount_setattr, &[here, at(c"/granted"), 0, attributes.as_ptr() as usize, size])
    })
    .says(REFUSED)
    .by(BOTH),
    Row::own("root.chroot", "changes its root", || trying(libc::SYS_chroot, &[at(c"/tmp")]))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("root.pivot_root", "exchanges its root", || trying(libc::SYS_pivot_root, &[at(c"/tmp"), at(c"/tmp")]))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("unshare.user", "makes a user namespace, and is root in it", || trying(libc::SYS_unshare, &[NEW_USER]))
        .says(&["EPERM"])
        .by(FILTER)
        .tried_outside(),
    Row::own("unshare.mounts", "makes a mount namespace", || trying(libc::SYS_unshare, &[NEW_MOUNTS]))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("unshare.network", "makes a network namespace", || trying(libc::SYS_unshare, &[NEW_NETWORK]))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("unshare.user_and_all", "makes all namespaces at once", || {
        trying(libc::SYS_unshare, &[NEW_USER | NEW_MOUNTS | NEW_NETWORK | NEW_PROCESSES])
    })
    .says(&["EPERM"])
    .by(FILTER)
    .tried_outside(),
    Row::own("unshare.time", "makes a time namespace", || trying(libc::SYS_unshare, &[NEW_TIME]))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("clone.new_user", "clones into a user namespace", || clone_into(NEW_USER))
        .says(&["EPERM"])
        .by(FILTER)
        .tried_outside(),
    Row::own("clone.new_mounts", "clones into a user and a mount namespace", || clone_into(NEW_USER | NEW_MOUNTS))
        .says(&["EPERM"])
        .by(FILTER)
        .tried_outside(),
    Row::own("clone3.new_user", "clones by the new call, whose flags no filter sees", || clone3_into(NEW_USER as u64))
        .says(REFUSED)
        .by(FILTER)
        .tried_outside(),
    Row::own("setns.network_of_init", "enters the network of process 1", || enter("/proc/1/ns/net", NEW_NETWORK))
        .says(&["EPERM", "EACCES", "ENOENT"])
        .by(BOTH)
        .tried_outside(),
    Row::own("setns.own_user", "enters the user namespace that it is in, to be root there", || {
        enter("/proc/self/ns/user", NEW_USER)
    })
    .says(&["EPERM", "EACCES"])
    .by(FILTER),
    Row::own("setns.mounts_of_host", "enters the mounts of a process of the host", || {
        enter(&format!("/proc/{}/ns/mnt", crate::saying::told("HOST_PID")), NEW_MOUNTS)
    })
    .says(&["ENOENT"])
    .by(&[Wall::PidNamespace]),
    Row::own("keys.keyctl", "looks at its keys", || trying(libc::SYS_keyctl, &[0, -3_isize as usize, 1]))
        .says(REFUSED)
        .by(FILTER)
        .tried_outside(),
    Row::own("keys.add_key", "puts a key into the kernel", add_key).says(REFUSED).by(FILTER).tried_outside(),
    Row::own("keys.request_key", "has a key looked for", || {
        trying(libc::SYS_request_key, &[at(c"user"), at(c"telos"), 0, 0])
    })
    .says(REFUSED)
    .by(FILTER)
    .tried_outside(),
    Row::own("kernel.bpf", "loads a program into the kernel", load_bpf).says(REFUSED).by(BOTH).tried_outside(),
    Row::own("kernel.perf", "counts instructions by the performance monitor", count_by_perf)
        .says(REFUSED)
        .by(FILTER)
        .tried_outside(),
    Row::own("kernel.io_uring", "sets up a ring, whose calls no filter sees", set_up_ring)
        .says(REFUSED)
        .by(FILTER)
        .tried_outside(),
    Row::own("kernel.io_uring_enter", "enters a ring", || trying(libc::SYS_io_uring_enter, &[usize::MAX]))
        .says(REFUSED)
        .by(FILTER)
        .tried_outside(),
    Row::own("kernel.userfaultfd", "handles page faults of the kernel by itself", || {
        trying(libc::SYS_userfaultfd, &[0])
    })
    .says(REFUSED)
    .by(FILTER)
    .tried_outside(),
    Row::own("kernel.init_module", "loads a module", || trying(libc::SYS_init_module, &[0, 0, at(c"")]))
        .says(REFUSED)
        .by(BOTH)
        .tried_outside(),
    Row::own("kernel.finit_module", "loads a module from a file", || trying(libc::SYS_finit_module, &[0, at(c""), 0]))
        .says(REFUSED)
        .by(BOTH),
    Row::own("kernel.delete_module", "removes a module", || trying(libc::SYS_delete_module, &[at(c"none"), 0]))
        .says(REFUSED)
        .by(BOTH)
        .tried_outside(),
    Row::own("kernel.kexec", "loads another kernel", || trying(libc::SYS_kexec_load, &[0, usize::MAX]))
        .says(REFUSED)
        .by(BOTH),
    Row::own("kernel.reboot", "restarts the machine", || trying(libc::SYS_reboot, &[0, 0, 0]))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("kernel.swapon", "swaps to a file of its own", || trying(libc::SYS_swapon, &[at(c"/none"), 0]))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("kernel.swapoff", "turns swapping off", || trying(libc::SYS_swapoff, &[at(c"/none")]))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("kernel.syslog", "reads what the kernel logged", || {
        let mut log = [0_u8; 256];
        trying(libc::SYS_syslog, &[3, log.as_mut_ptr() as usize, log.len()])
    })
    .says(REFUSED)
    .by(FILTER)
    .tried_outside(),
    Row::own("kernel.acct", "has every process of the host recorded", || trying(libc::SYS_acct, &[at(c"/none/none")]))
        .says(REFUSED)
        .by(BOTH)
        .tried_outside(),
    Row::own("kernel.quotactl", "looks at quotas", || trying(libc::SYS_quotactl, &[0x80_0001 << 8, 0, 0, 0]))
        .says(REFUSED)
        .by(FILTER),
    Row::own("kernel.fanotify", "watches every file of a mount", || trying(libc::SYS_fanotify_init, &[0, 0]))
        .says(REFUSED)
        .by(BOTH)
        .tried_outside(),
    Row::own("time.clock_settime", "sets the clock", || set_clock(libc::CLOCK_REALTIME))
        .says(&["EPERM"])
        .by(BOTH)
        .tried_outside(),
    Row::own("time.settimeofday", "sets the time of day", set_time_of_day).says(&["EPERM"]).by(BOTH).tried_outside(),
    Row::own("time.adjtimex", "makes the clock go faster", adjust_time).says(&["EPERM"]).by(BOTH),
    Row::own("rights.setuid", "becomes user 0", || trying(libc::SYS_setuid, &[0]))
        .says(&["EPERM", "EINVAL"])
        .by(&[Capabilities, UserNamespace])
        .tried_outside(),
    Row::own("rights.setgid", "becomes group 0", || trying(libc::SYS_setgid, &[0]))
        .says(&["EPERM", "EINVAL"])
        .by(&[Capabilities, UserNamespace])
        .tried_outside(),
    Row::own("rights.setgroups", "leaves its groups, so that files forbidden to them open", || {
        trying(libc::SYS_setgroups, &[0, 0])
    })
    .says(&["EPERM"])
    .by(&[Capabilities, UserNamespace, Seccomp])
    .tried_outside(),
    Row::own("rights.capset", "asks for all rights", regain_capabilities).says(&["EPERM"]).by(&[Capabilities]),
    Row::own("rights.securebits", "has rights kept over a change of user", || {
        trying(libc::SYS_prctl, &[libc::PR_SET_SECUREBITS as usize, 0x10])
    })
    .says(&["EPERM", "EINVAL"])
    .by(BOTH)
    .tried_outside(),
    Row::own("rights.new_privileges", "clears the mark that it gains no rights", || {
        trying(libc::SYS_prctl, &[libc::PR_SET_NO_NEW_PRIVS as usize, 0])
    })
    .says(&["EPERM", "EINVAL"])
    .by(&[NoNewPrivileges]),
    Row::own("rights.nice", "takes more than its share of the processor", || {
        trying(libc::SYS_setpriority, &[libc::PRIO_PROCESS as usize, 0, -5_isize as usize])
    })
    .says(&["EPERM", "EACCES"])
    .by(BOTH)
    .tried_outside(),
    Row::own("rights.real_time", "runs before everybody", go_real_time).says(&["EPERM"]).by(BOTH).tried_outside(),
    Row::own("rights.more_files", "raises a limit that it has", || {
        let limit = [1_u64 << 19; 2];
        trying(libc::SYS_setrlimit, &[libc::RLIMIT_NOFILE as usize, limit.as_ptr() as usize])
    })
    .says(&["EPERM"])
    .by(&[Capabilities]),
    Row::own("rights.limits_of_init", "takes the limits of process 1 away", || {
        let limit = [0_u64; 2];
        trying(libc::SYS_prlimit64, &[1, libc::RLIMIT_NOFILE as usize, limit.as_ptr() as usize, 0])
    })
    .says(&["EPERM", "ENOSYS", "ESRCH"])
    .by(FILTER),
    Row::own("rights.core_dumps", "has its memory written to a file when it crashes", || {
        let limit = [1_u64 << 19; 2];
        trying(libc::SYS_setrlimit, &[libc::RLIMIT_CORE as usize, limit.as_ptr() as usize])
    })
    .says(&["EPERM"])
    .by(&[Capabilities])
    .tried_outside(),
    Row::own("names.sethostname", "renames the machine", change_host_name).says(&["EPERM"]).by(BOTH),
    Row::own("handles.open_by_handle_at", "opens a file by its number", open_by_handle)
        .says(REFUSED)
        .by(BOTH)
        .tried_outside(),
    Row::own("personality.weaker_memory", "has all memory executable and at known places", || {
        trying(libc::SYS_personality, &[WEAKER_MEMORY])
    })
    .says(&["EPERM"])
    .by(FILTER)
    .tried_outside(),
];

/// What only this kind of processor has.
#[cfg(not(target_arch = "x86_64"))]
pub const OF_THIS_PROCESSOR: &[Row] = &[];

#[cfg(target_arch = "x86_64")]
pub const OF_THIS_PROCESSOR: &[Row] = &[
    Row::own("processor.call_of_32_bits", "makes a system call as 32-bit programs do", || {
        const GETPID: i32 = 20;
        got(system::raw::call_of_32_bits(GETPID, 0))
    })
    .says_or_ends(REFUSED, &[SIGSYS])
    .by(FILTER),
    Row::own("processor.mount_by_32_bits", "mounts by the 32-bit number, which means another call to a filter", || {
        const UMOUNT: i32 = 22;
        got(system::raw::call_of_32_bits(UMOUNT, 0))
    })
    .says_or_ends(REFUSED, &[SIGSYS])
    .by(FILTER),
    Row::own("processor.x32", "makes a system call with the number of another table", || {
        const X32: c_long = 0x4000_0000;
        trying(X32 | libc::SYS_getpid, &[])
    })
    .says_or_ends(REFUSED, &[SIGSYS])
    .by(FILTER),
    Row::own(
        "processor.vsyscall",
        "enters the kernel without an instruction for it: it learns the time at most",
        || {
            let time = system::raw::time_by_vsyscall();
            let known = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            Ok(if known.as_secs().abs_diff(time as u64) < 5 { "the time".into() } else { format!("{time}") })
        },
    )
    .says_or_ends(&["the time", "18446744073709551615"], &[SIGSYS, Verdict::Signalled(libc::SIGSEGV)])
    .by(FILTER),
    Row::own("processor.iopl", "speaks to devices by ports", || trying(libc::SYS_iopl, &[3]))
        .says(REFUSED)
        .by(BOTH)
        .tried_outside(),
    Row::own("processor.ioperm", "opens ports to itself", || trying(libc::SYS_ioperm, &[0x80, 1, 1]))
        .says(REFUSED)
        .by(BOTH)
        .tried_outside(),
    Row::own("processor.modify_ldt", "changes how the processor sees memory", || {
        let mut table = [0_u8; 64];
        trying(libc::SYS_modify_ldt, &[0, table.as_mut_ptr() as usize, table.len()])
    })
    .says(REFUSED)
    .by(FILTER)
    .tried_outside(),
];
