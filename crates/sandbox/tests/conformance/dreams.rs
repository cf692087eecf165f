//! What only a dream could do: it goes on with memory and code of its supervisor, is process 1, and needs nothing that programs
//! need.

use crate::saying::{got, told};
use crate::table::{Row, Said};
use sandbox::Verdict;
use sandbox::Wall::{Capabilities, MountNamespace, NetworkNamespace, PidNamespace, Seccomp, TimeNamespace};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use system::raw::call;

const REFUSED: &[&str] = &["EPERM"];
const KEPT: &[&str] = &["EACCES", "EPERM"];
/// However the kernel ends a process that broke something.
const BROKEN: &[Verdict] = &[
    Verdict::Signalled(libc::SIGSEGV),
    Verdict::Signalled(libc::SIGABRT),
    Verdict::Signalled(libc::SIGILL),
    Verdict::Signalled(libc::SIGTRAP),
];

fn is_called(number: libc::c_long, arguments: &[usize]) -> Said {
    got(call(number, arguments))
}

/// Has a process inside do it that is not the first one, and says what that says.
fn in_child(does: fn() -> Said) -> Said {
    let (mut said, mut into) = std::io::pipe()?;
    system::clone::fork(|| i32::from(into.write_all(crate::saying::line(does()).as_bytes()).is_err()))?;
    drop(into);
    let mut text = String::new();
    said.read_to_string(&mut text)?;
    Ok(text)
}

fn start_program(call_number: libc::c_long, arguments: &[usize]) -> Said {
    let words = [c"/tool/attempt".as_ptr() as usize, 0];
    let arguments: Vec<usize> = arguments.iter().copied().chain([words.as_ptr() as usize, 0]).collect();
    is_called(call_number, &arguments)
}

fn start_by_descriptor() -> Said {
    const EMPTY_PATH: usize = 0x1000;
    let file = File::open("/tool/attempt")?;
    let words = [c"/tool/attempt".as_ptr() as usize, 0];
    let (number, path) = (file.as_raw_fd() as usize, c"".as_ptr() as usize);
    is_called(libc::SYS_execveat, &[number, path, words.as_ptr() as usize, 0, EMPTY_PATH])
}

/// Looks for a variable of the supervisor where the kernel put them when that was started.
fn scan_stack() -> Said {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let line = maps.lines().find(|line| line.ends_with("[stack]")).unwrap_or_default();
    let ends = line.split_whitespace().next().and_then(|range| range.split_once('-'));
    let (first, last) = ends.ok_or(std::io::ErrorKind::NotFound)?;
    let place = |text| u64::from_str_radix(text, 16).map_err(std::io::Error::other);
    let (first, last) = (place(first)?, place(last)?);
    let mut memory = File::open("/proc/self/mem")?;
    memory.seek(SeekFrom::Start(first))?;
    let mut bytes = vec![0; (last - first) as usize];
    memory.read_exact(&mut bytes)?;
    // Put together here, so that it is not found where it was looked for.
    let wanted = ["CONFORMANCE_", "SECRET", "="].concat();
    let is_there = bytes.windows(wanted.len()).any(|window| window == wanted.as_bytes());
    Ok(if is_there { "found".into() } else { "nothing".into() })
}

/// What no allocator gives: the kernel finds no place for the frame.
#[expect(unconditional_recursion, reason = "it is to overflow the stack")]
fn go_deeper(depth: u64) -> u64 {
    let held = std::hint::black_box([depth; 512]);
    go_deeper(depth + 1) + held[3]
}

fn names_at_root() -> Said {
    let mut names: Vec<String> =
        fs::read_dir("/")?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names.join(" "))
}

fn read_all(path: &str) -> Said {
    let bytes = fs::read(path)?;
    Ok(if bytes.iter().all(|byte| *byte == 0) { "nothing".into() } else { format!("read {} bytes", bytes.len()) })
}

pub const ROWS: &[Row] = &[
    Row::own("dream.execve", "becomes a program", || {
        start_program(libc::SYS_execve, &[c"/tool/attempt".as_ptr() as usize])
    })
    .says(REFUSED)
    .by(&[Seccomp])
    .for_dreams(),
    Row::own("dream.execveat", "becomes a program by a descriptor", start_by_descriptor)
        .says(REFUSED)
        .by(&[Seccomp])
        .for_dreams(),
    Row::own("dream.execve_in_child", "has a child become a program", || {
        in_child(|| start_program(libc::SYS_execve, &[c"/tool/attempt".as_ptr() as usize]))
    })
    .says(REFUSED)
    .by(&[Seccomp])
    .for_dreams(),
    Row::own("dream.own_program", "reads the program that it is a copy of", || got(File::open("/proc/self/exe")))
        .says(&["EACCES", "EPERM", "ENOENT"])
        .by(&[sandbox::Wall::Landlock])
        .for_dreams(),
    Row::own("dream.mapped_files", "opens files that its memory is mapped from", || {
        let maps = fs::read_to_string("/proc/self/maps")?;
        let range = maps.lines().find(|line| line.contains("libc.so")).and_then(|line| line.split(' ').next());
        got(File::open(format!("/proc/self/map_files/{}", range.unwrap_or("none"))))
    })
    .says(&["EACCES", "EPERM", "ENOENT"])
    .by(&[Capabilities])
    .for_dreams(),
    Row::own("dream.environment", "reads the environment of its supervisor as a file", || {
        read_all("/proc/self/environ")
    })
    .says(&["EACCES", "EPERM", "nothing"])
    .for_dreams(),
    Row::own("dream.stack", "looks for the environment of its supervisor in its own memory", scan_stack)
        .says(&["nothing", "EACCES", "EPERM"])
        .for_dreams(),
    Row::own("dream.arguments", "asks its library for the arguments of its supervisor", || {
        let words: Vec<String> = std::env::args().collect();
        Ok(if words.iter().all(String::is_empty) { "nothing".into() } else { words.join(" ") })
    })
    .says(&["nothing"])
    .for_dreams(),
    Row::own("dream.death_signal", "outlives its supervisor", || {
        is_called(libc::SYS_prctl, &[libc::PR_SET_PDEATHSIG as usize, 0])
    })
    .says(REFUSED)
    .by(&[Seccomp])
    .for_dreams(),
    Row::own("dream.dumpable", "lets others look into it", || {
        is_called(libc::SYS_prctl, &[libc::PR_SET_DUMPABLE as usize, 1])
    })
    .says(REFUSED)
    .by(&[Seccomp])
    .for_dreams(),
    Row::own("dream.becomes_itself", "becomes the user that it is, which would undo its death signal", || {
        is_called(libc::SYS_setresuid, &[1000, 1000, 1000])
    })
    .says(REFUSED)
    .by(&[Seccomp])
    .for_dreams(),
    Row::own("dream.child_opens_memory", "has a child open its memory", || {
        in_child(|| got(File::options().read(true).write(true).open("/proc/1/mem")))
    })
    .says(KEPT)
    .by(&[Capabilities])
    .for_dreams(),
    Row::own("dream.child_reads_maps", "has a child look where things lie in it", || {
        in_child(|| read_all("/proc/1/maps"))
    })
    .says(&["EACCES", "EPERM", "nothing"])
    .by(&[Capabilities])
    .for_dreams(),
    Row::own("dream.child_reads_environment", "has a child read its environment", || {
        in_child(|| read_all("/proc/1/environ"))
    })
    .says(&["EACCES", "EPERM", "nothing"])
    .by(&[Capabilities])
    .for_dreams(),
    Row::own("dream.child_looks_at_descriptors", "has a child look at its descriptors", || {
        in_child(|| got(fs::read_dir("/proc/1/fd")))
    })
    .says(KEPT)
    .by(&[Capabilities])
    .for_dreams(),
    Row::own("dream.child_traces", "has a child trace it", || {
        const SEIZE: usize = 0x4206;
        in_child(|| is_called(libc::SYS_ptrace, &[SEIZE, 1, 0, 0]))
    })
    .says(REFUSED)
    .by(&[Seccomp, Capabilities])
    .for_dreams(),
    Row::own("dream.child_kills", "is killed by its child, with all that is inside", || {
        in_child(|| is_called(libc::SYS_kill, &[1, libc::SIGKILL as usize])).map(|_| "still here".into())
    })
    .says(&["still here"])
    .by(&[PidNamespace])
    .for_dreams(),
    Row::own("dream.child_stops", "is stopped by its child, so that nobody waits", || {
        in_child(|| is_called(libc::SYS_kill, &[1, libc::SIGSTOP as usize])).map(|_| "still here".into())
    })
    .says(&["still here"])
    .by(&[PidNamespace])
    .for_dreams(),
    Row::own("dream.child_calls_host", "has a child call a socket of the host", || {
        in_child(|| got(std::os::unix::net::UnixStream::connect(told("HOST_SOCKET"))))
    })
    .says(REFUSED)
    .by(&[Seccomp, MountNamespace])
    .for_dreams(),
    Row::own("dream.socket", "makes a socket", || is_called(libc::SYS_socket, &[libc::AF_UNIX as usize, 1, 0]))
        .says(REFUSED)
        .by(&[Seccomp])
        .for_dreams(),
    Row::own("dream.internet_pair", "makes a pair of sockets of a network", || {
        let mut pair = [0_i32; 2];
        is_called(libc::SYS_socketpair, &[libc::AF_INET as usize, 1, 0, pair.as_mut_ptr() as usize])
    })
    .says(&["EOPNOTSUPP", "EPERM", "EAFNOSUPPORT"])
    .by(&[NetworkNamespace, Seccomp])
    .for_dreams(),
    Row::own("dream.memory_file", "makes a file without a name", || {
        is_called(libc::SYS_memfd_create, &[c"x".as_ptr() as usize, 0])
    })
    .says(REFUSED)
    .by(&[Seccomp])
    .for_dreams(),
    Row::own("dream.segment", "makes memory that is shared by number", || {
        is_called(libc::SYS_shmget, &[0, 4096, 0o600])
    })
    .says(REFUSED)
    .by(&[Seccomp])
    .for_dreams(),
    Row::own("dream.watch", "watches files", || is_called(libc::SYS_inotify_init1, &[0]))
        .says(REFUSED)
        .by(&[Seccomp])
        .for_dreams(),
    Row::own("dream.filter", "puts a filter of its own before ours", || is_called(libc::SYS_seccomp, &[1, 0, 0]))
        .says(REFUSED)
        .by(&[Seccomp])
        .for_dreams(),
    Row::own("dream.rules", "makes rules about files", || is_called(libc::SYS_landlock_create_ruleset, &[0, 0, 1]))
        .says(REFUSED)
        .by(&[Seccomp])
        .for_dreams(),
    Row::own("dream.view", "looks at what there is: what was given to it, and little else", names_at_root)
        .says(&["dev etc granted layered proc tmp tool"])
        .by(&[MountNamespace])
        .for_dreams(),
    Row::own("dream.clock", "has the clocks of its supervisor, which tell since when the host is up", || {
        let seconds = |clock| rustix::time::clock_gettime(clock).tv_sec;
        let (monotonic, boot) = (seconds(rustix::time::ClockId::Monotonic), seconds(rustix::time::ClockId::Boottime));
        Ok(if monotonic.max(boot) < 60 { "its own".into() } else { format!("{monotonic} and {boot}") })
    })
    .says(&["its own"])
    .by(&[TimeNamespace])
    .for_dreams(),
    Row::own("dream.abort", "gives up", || std::process::abort()).ends(BROKEN).for_dreams(),
    Row::own("dream.overflow", "calls itself without end", || Ok(go_deeper(0).to_string())).ends(BROKEN).for_dreams(),
    Row::own("dream.panic", "panics", || panic!("as it was told"))
        .ends(&[Verdict::Exited(system::clone::PANICKED)])
        .for_dreams(),
];

/// What goes on must work as it did.
pub const WORKS: &[Row] = &[
    Row::own("dream.memory", "goes on with the memory that it has", || {
        let mut words: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        words.sort();
        drop(words);
        Ok("done".into())
    })
    .for_dreams(),
    Row::own("dream.nested", "forks within its walls, twice, and hears how that ended", || {
        let child = system::clone::fork(|| {
            let Ok(inner) = system::clone::fork(|| 5) else { return 1 };
            let end = system::clone::wait(inner.pid, true).ok().flatten();
            end.map_or(1, |end| (end.status >> 8) + 1)
        })?;
        let end = system::clone::wait(child.pid, true)?.ok_or(std::io::ErrorKind::NotFound)?;
        Ok(format!("{}", end.status >> 8))
    })
    .says(&["6"])
    .for_dreams(),
    Row::own("dream.broken_pipe", "writes where nobody reads, and is told so", || {
        let (reader, mut writer) = std::io::pipe()?;
        drop(reader);
        in_child(|| Ok("done".into()))?;
        writer.write_all(b"x").map(|()| "written".into())
    })
    .says(&["EPIPE"])
    .for_dreams(),
    Row::own("dream.environment_given", "has the variables of the order", || {
        Ok(format!("{} {}", told("LANG"), told("HOME")))
    })
    .says(&["C.UTF-8 /tmp"])
    .for_dreams(),
];
