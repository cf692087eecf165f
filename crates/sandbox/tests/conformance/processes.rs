//! Other processes: tracing, signalling and outliving them.

use crate::saying::{got, number, told};
use crate::table::{Row, Said};
use sandbox::Verdict;
use sandbox::Wall::{Capabilities, Landlock, PidNamespace, Seccomp, UserNamespace};
use std::fs;
use std::time::Duration;
use system::raw::call;

/// Process 1 inside is the sandbox's own.
const INIT: usize = 1;
const SEIZE: usize = 0x4206;
/// No such process is seen, or it is not for this one.
const KEPT: &[&str] = &["EPERM", "EACCES", "ENOENT", "ESRCH"];
/// The same, where a filter may know the call or not.
const REFUSED: &[&str] = &["EPERM", "ENOSYS", "ESRCH"];

fn signal(process: usize, signal: i32) -> Said {
    got(call(libc::SYS_kill, &[process, signal as usize]))
}

/// Signals process 1 and goes on, if it can.
fn signal_init(what: i32) -> Said {
    let answer = signal(INIT, what);
    // If it had any effect it is there by now.
    std::thread::sleep(Duration::from_millis(100));
    Ok(if answer.is_ok() { "still here".into() } else { crate::saying::line(answer) })
}

fn read_memory_of(process: usize) -> Said {
    let mut bytes = [0_u8; 8];
    let local = [bytes.as_mut_ptr() as usize, bytes.len()];
    let remote = [0x40_0000_usize, bytes.len()];
    got(call(libc::SYS_process_vm_readv, &[process, local.as_ptr() as usize, 1, remote.as_ptr() as usize, 1, 0]))
}

/// Takes a descriptor out of process 1.
fn steal_descriptor() -> Said {
    let process = call(libc::SYS_pidfd_open, &[INIT, 0])?;
    for descriptor in 0..16 {
        if call(libc::SYS_pidfd_getfd, &[process as usize, descriptor, 0]).is_ok() {
            return Ok(format!("got descriptor {descriptor}"));
        }
    }
    got(call(libc::SYS_pidfd_getfd, &[process as usize, 0, 0]))
}

fn open_of_init(name: &str) -> Said {
    let bytes = fs::read(format!("/proc/1/{name}"))?;
    Ok(if bytes.is_empty() { "nothing".into() } else { format!("read {} bytes", bytes.len()) })
}

/// Whatever is in the command line of process 1, it is not that of whoever started the sandbox.
fn arguments_of_init() -> Said {
    let line = fs::read("/proc/1/cmdline")?;
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    Ok(if line.contains("hidden-") || line.contains("--row") { line } else { "not told".into() })
}

/// The lines of its own status that say what it may.
fn rights() -> Said {
    let status = fs::read_to_string("/proc/self/status")?;
    let rights = status.lines().filter(|line| line.starts_with("Cap"));
    let is_held = |line: &&str| line.split_whitespace().nth(1).is_some_and(|bits| bits.chars().any(|bit| bit != '0'));
    let held: Vec<&str> = rights.filter(is_held).collect();
    Ok(if held.is_empty() { "none".into() } else { held.join(" ") })
}

fn status_line(name: &str) -> Said {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(line.unwrap_or("not told").trim().into())
}

/// The processes that it sees, beside itself and process 1.
fn others() -> Said {
    let own = std::process::id().to_string();
    let names = fs::read_dir("/proc")?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let others: Vec<String> =
        names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && *name != own && name != "1").collect();
    Ok(if others.is_empty() { "none".into() } else { others.join(" ") })
}

pub const ROWS: &[Row] = &[
    Row::own("trace.init", "traces process 1", || got(call(libc::SYS_ptrace, &[SEIZE, INIT, 0, 0])))
        .says(&["EPERM", "ENOSYS"])
        .by(&[Seccomp, Capabilities]),
    Row::own("trace.host", "traces a process of the host", || {
        got(call(libc::SYS_ptrace, &[SEIZE, number("HOST_PID"), 0, 0]))
    })
    .says(REFUSED)
    .by(&[PidNamespace])
    .tried_outside(),
    Row::own("trace.memory_of_init", "reads the memory of process 1", || read_memory_of(INIT))
        .says(REFUSED)
        .by(&[Seccomp, Capabilities]),
    Row::own("trace.memory_of_supervisor", "reads the memory of whoever started it", || {
        read_memory_of(number("HOST_SUPERVISOR"))
    })
    .says(REFUSED)
    .by(&[PidNamespace]),
    Row::own("trace.memory_file_of_init", "opens the memory of process 1 as a file", || {
        got(fs::OpenOptions::new().read(true).write(true).open("/proc/1/mem"))
    })
    .says(KEPT)
    .by(&[Capabilities])
    .tried_outside(),
    Row::own("trace.environment_of_init", "reads the environment of process 1", || open_of_init("environ"))
        .says(&["EPERM", "EACCES", "ENOENT", "nothing"])
        .by(&[Capabilities])
        .tried_outside(),
    Row::own("trace.maps_of_init", "reads where things lie in process 1", || open_of_init("maps"))
        .for_programs()
        .says(&["EPERM", "EACCES", "ENOENT", "nothing"])
        .by(&[Capabilities])
        .tried_outside(),
    Row::own("trace.arguments_of_init", "reads with which arguments it was started outside", arguments_of_init)
        .says(&["not told", "EPERM", "EACCES", "ENOENT"]),
    Row::own("trace.descriptor_of_init", "takes a descriptor out of process 1", steal_descriptor)
        .says(&["EPERM", "ENOSYS"])
        .by(&[Seccomp, Capabilities])
        .tried_outside(),
    Row::own("signal.host", "kills a process of the host", || signal(number("HOST_PID"), libc::SIGKILL))
        .says(&["ESRCH", "EPERM"])
        .by(&[PidNamespace]),
    Row::own("signal.supervisor", "kills whoever started it", || signal(number("HOST_SUPERVISOR"), libc::SIGKILL))
        .says(&["ESRCH", "EPERM"])
        .by(&[PidNamespace]),
    Row::own("signal.thread_of_host", "signals a thread of the host", || {
        let process = number("HOST_PID");
        got(call(libc::SYS_tgkill, &[process, process, libc::SIGKILL as usize]))
    })
    .says(&["ESRCH", "EPERM"])
    .by(&[PidNamespace]),
    Row::own("signal.by_descriptor", "gets hold of a process of the host", || {
        got(call(libc::SYS_pidfd_open, &[number("HOST_PID"), 0]))
    })
    .says(&["ESRCH", "EPERM", "ENOSYS", "EINVAL"])
    .by(&[PidNamespace])
    .tried_outside(),
    Row::own("signal.everybody", "kills all that it may", || {
        signal(usize::MAX, libc::SIGKILL).or_else(|_| Ok("nobody".into())).map(|_| "done".into())
    })
    .says_or_ends(&["done"], &[Verdict::Signalled(libc::SIGKILL)])
    .by(&[PidNamespace]),
    Row::own("signal.kill_init", "kills process 1", || signal_init(libc::SIGKILL))
        .says(&["still here", "EPERM"])
        .by(&[PidNamespace]),
    Row::own("signal.stop_init", "stops process 1, so that nobody ends it", || signal_init(libc::SIGSTOP))
        .says(&["still here", "EPERM"])
        .by(&[PidNamespace]),
    Row::own("signal.terminate_init", "asks process 1 to end", || signal_init(libc::SIGTERM))
        .says(&["still here", "EPERM"])
        .by(&[PidNamespace]),
    Row::own("signal.child_of_init", "tells process 1 that a child ended", || signal_init(libc::SIGCHLD))
        .says(&["still here", "EPERM"])
        .by(&[PidNamespace]),
    Row::shell("signal.stop_itself", "stops itself and is never continued", "kill -STOP $$; echo went on")
        .with(|_, order| order.limits.time = Some(Duration::from_millis(500)))
        .ends(&[Verdict::Limited(sandbox::outcome::Limit::Time)]),
    Row::own("processes.others", "looks for other processes", others)
        .says(&["none"])
        .by(&[PidNamespace])
        .tried_outside(),
    Row::own("processes.parent", "looks at who started it: nobody but process 1", || {
        Ok(format!("{}", std::os::unix::process::parent_id()))
    })
    .says(&["1"])
    .or_in_dreams(&["0"])
    .by(&[PidNamespace]),
    Row::own("rights.none", "looks at what it may", rights).says(&["none"]).by(&[Capabilities]).tried_outside(),
    Row::own("rights.no_new_privileges", "looks whether it may gain rights", || status_line("NoNewPrivs"))
        .says(&["1"])
        .by(&[sandbox::Wall::NoNewPrivileges])
        .tried_outside(),
    Row::own("rights.filter", "looks whether its calls are filtered", || status_line("Seccomp"))
        .says(&["2"])
        .by(&[Seccomp])
        .tried_outside(),
    Row::own("rights.user_of_host", "looks who it is to the host: not root, by its map", || {
        let map = fs::read_to_string("/proc/self/uid_map")?;
        let outside: Vec<&str> = map.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
        Ok(if outside.contains(&"0") { format!("root: {map}") } else { "somebody".into() })
    })
    .says(&["somebody"])
    .by(&[UserNamespace])
    .tried_outside(),
    Row::own("signal.abstract_landlock", "signals through a process group that the host shares", || {
        // A group of its own kills only what is inside; group numbers of the host mean nothing here.
        signal((-(number("HOST_PID") as isize)) as usize, libc::SIGKILL)
    })
    .says(&["ESRCH", "EPERM"])
    .by(&[PidNamespace, Landlock]),
    Row::own("terminal.inject", "types into the terminal of whoever started it", || {
        let letter = b'x';
        got(call(libc::SYS_ioctl, &[0, libc::TIOCSTI as usize, (&raw const letter) as usize]))
    })
    .says(&["EPERM", "ENOTTY"])
    .by(&[Seccomp]),
    Row::own("terminal.paste", "pastes into the terminal of whoever started it", || {
        let subcode = 3_u8;
        got(call(libc::SYS_ioctl, &[0, libc::TIOCLINUX as usize, (&raw const subcode) as usize]))
    })
    .says(&["EPERM", "ENOTTY"])
    .by(&[Seccomp]),
    Row::own(
        "terminal.inject_high_bits",
        "types into a terminal with bits above those that the kernel looks at",
        || {
            let letter = b'x';
            let request = libc::TIOCSTI as usize | 1 << 32;
            got(call(libc::SYS_ioctl, &[0, request, (&raw const letter) as usize]))
        },
    )
    .says(&["EPERM", "ENOTTY"])
    .by(&[Seccomp]),
    Row::own("terminal.controlling", "opens its controlling terminal", || {
        got(fs::OpenOptions::new().read(true).write(true).open("/dev/tty"))
    })
    .says(&["ENXIO", "ENOENT", "EACCES"]),
    Row::own("terminal.session", "looks whose session it is in: its own, without a terminal", || {
        let session = call(libc::SYS_getsid, &[0])?;
        let group = call(libc::SYS_getpgid, &[0])?;
        let stat = fs::read_to_string("/proc/self/stat")?;
        let terminal =
            stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(4)).unwrap_or("?").to_owned();
        let is_own = session != 0 && group != 0 && terminal == "0";
        Ok(if is_own { "its own".into() } else { format!("session {session}, group {group}, terminal {terminal}") })
    })
    .says(&["its own"])
    // It stays in the session of the image, whose share of the processor it has: without its terminal, in a group of its own.
    .or_in_dreams(&["session 0, group 1, terminal 0"]),
    Row::own("trace.host_by_proc", "reads files of a process of the host", || {
        got(fs::read(format!("/proc/{}/cmdline", told("HOST_PID"))))
    })
    .says(&["ENOENT"])
    .by(&[PidNamespace])
    .tried_outside(),
];
