//! Files of the host, by every trick there is: paths, links, /proc, devices, and what a granted directory holds beside files.

use crate::ground::{GRANTED, WORK};
use crate::saying::{got, told};
use crate::table::{Row, Said};
use sandbox::Wall::{Capabilities, Landlock, MountNamespace, Overlay, PidNamespace, Seccomp};
use sandbox::{Access, Grant};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use system::raw::call;

/// The view has no such file.
const NOT_THERE: &[&str] = &["ENOENT"];
/// Not there, or not for it.
const KEPT: &[&str] = &["ENOENT", "EACCES", "EPERM"];
/// Nothing is written where only reading was granted.
const READ_ONLY: &[&str] = &["EROFS", "EACCES", "EPERM"];
/// Not there, not for it, or not writable.
const NOT_WRITTEN: &[&str] = &["ENOENT", "EACCES", "EPERM", "EROFS"];

fn read(path: &str) -> Said {
    Ok(format!("read {}", fs::read_to_string(path)?.trim_end()))
}

fn read_host(before: &str) -> Said {
    read(&format!("{before}{}", told("HOST_SECRET")))
}

fn write(path: &str) -> Said {
    got(OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(b"0\n")))
}

fn open_device(path: &str) -> Said {
    got(File::open(path))
}

/// Reads beside the directory that a descriptor of the root leads to.
fn read_above_root() -> Said {
    let root = File::open("/")?;
    let above = rustix::fs::openat(&root, "../..", rustix::fs::OFlags::DIRECTORY, rustix::fs::Mode::empty())?;
    let path = told("HOST_SECRET");
    got(rustix::fs::openat(above, path.trim_start_matches('/'), rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty())
        .map_err(Into::into))
}

/// Goes through every process that it sees, whoever it is.
fn read_through_any_process() -> Said {
    let own = std::process::id().to_string();
    let processes: Vec<std::path::PathBuf> = fs::read_dir("/proc")?.flatten().map(|entry| entry.path()).collect();
    for process in processes {
        for door in ["root", "cwd"] {
            if fs::read(format!("{}/{door}{}", process.display(), told("HOST_SECRET"))).is_ok() {
                return Ok(format!("read through {}", process.display()));
            }
        }
        // Its own are told of by `inherited`; here they are those that this very loop has open.
        if process.ends_with(&own) || process.ends_with("self") || process.ends_with("thread-self") {
            continue;
        }
        for descriptor in fs::read_dir(process.join("fd")).into_iter().flatten().flatten() {
            if fs::read_dir(descriptor.path()).is_ok() {
                return Ok(format!("a directory is open at {}", descriptor.path().display()));
            }
        }
    }
    Ok("none leads out".into())
}

/// How many files there are in homes; its own home is an empty directory at most.
fn files_in_homes() -> Said {
    let mut places = vec![std::path::PathBuf::from("/root"), "/home".into()];
    let mut count = 0;
    while let Some(place) = places.pop() {
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            match entry.file_type()?.is_dir() && count < 1000 {
                true => places.push(entry.path()),
                false => count += 1,
            }
        }
    }
    Ok(count.to_string())
}

fn mknod(kind: u32, major: u32, minor: u32) -> Said {
    let device = libc::makedev(major, minor) as usize;
    let here = libc::AT_FDCWD as usize;
    got(call(libc::SYS_mknodat, &[here, c"/tmp/device".as_ptr() as usize, (kind | 0o666) as usize, device]))
}

/// Whether anything of what /tmp holds is not the program's own.
fn list_tmp() -> Said {
    let names: Vec<String> =
        fs::read_dir("/tmp")?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    Ok(if names.is_empty() { "nothing".into() } else { names.join(" ") })
}

fn lock_granted() -> Said {
    let file = File::open(format!("{GRANTED}/note"))?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    crate::neighbours::hold("locked")
}

/// A program of the system that nobody runs meanwhile, but us.
const RARE: &str = "/usr/bin/tsort";

fn lock_system() -> Said {
    let file = File::open(RARE)?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    crate::neighbours::hold("locked")
}

/// Watches it, and says afterwards what it has seen, with the code that it ends with.
fn watch_system() -> Said {
    let watch = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::NONBLOCK)?;
    rustix::fs::inotify::add_watch(&watch, RARE, rustix::fs::inotify::WatchFlags::ALL_EVENTS)?;
    crate::neighbours::hold("watching")?;
    let seen = rustix::io::read(&watch, &mut [0_u8; 4096]);
    std::process::exit(if seen.is_ok() { SEEN } else { 0 })
}

const SEEN: i32 = 9;

pub const ROWS: &[Row] = &[
    Row::own("files.absolute", "opens a file of the host by its path", || read_host(""))
        .says(NOT_THERE)
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("files.dots_from_grant", "climbs out of a granted directory", || {
        read_host(&format!("{GRANTED}/../../../../.."))
    })
    .says(NOT_THERE)
    .by(&[MountNamespace]),
    Row::own("files.dots_from_layer", "climbs out of a layered directory", || read_host(&format!("{WORK}/../../..")))
        .says(NOT_THERE)
        .by(&[MountNamespace]),
    Row::own("files.above_root", "climbs above its root by a descriptor of it", read_above_root)
        .says(NOT_THERE)
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("files.proc_1_root", "goes through the root of process 1", || read_host("/proc/1/root"))
        .says(KEPT)
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("files.proc_1_cwd", "goes through the directory of process 1", || read_host("/proc/1/cwd/../../../../.."))
        .says(KEPT)
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("files.proc_self_root", "goes through its own root", || read_host("/proc/self/root"))
        .says(NOT_THERE)
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("files.proc_host_root", "goes through the root of a process of the host", || {
        read_host(&format!("/proc/{}/root", told("HOST_PID")))
    })
    .says(NOT_THERE)
    .by(&[PidNamespace])
    .tried_outside(),
    Row::own("files.proc_any_process", "goes through root, directory and descriptors of every process", || {
        read_through_any_process()
    })
    .says(&["none leads out"])
    .by(&[MountNamespace])
    .tried_outside(),
    Row::own("files.proc_1_descriptors", "looks at the descriptors of process 1", || {
        let names: Vec<_> = fs::read_dir("/proc/1/fd")?.collect();
        Ok(format!("saw {}", names.len()))
    })
    .says(KEPT)
    .for_programs()
    .by(&[Capabilities])
    .tried_outside(),
    Row::own("files.link_absolute", "follows a link to a path of the host in a granted directory", || {
        read(&format!("{GRANTED}/absolute"))
    })
    .says(NOT_THERE)
    .by(&[MountNamespace]),
    Row::own("files.link_relative", "follows a link that leads above a granted directory", || {
        read(&format!("{GRANTED}/relative"))
    })
    .says(NOT_THERE)
    .by(&[MountNamespace]),
    Row::own("files.link_to_parent", "goes through a link to the directory above a granted one", || {
        read(&format!("{GRANTED}/up/secret"))
    })
    .says(NOT_THERE)
    .by(&[MountNamespace]),
    Row::own("files.link_of_its_own", "makes a link to a file of the host", || {
        symlink(told("HOST_SECRET"), "/tmp/link")?;
        read("/tmp/link")
    })
    .says(NOT_THERE)
    .by(&[MountNamespace])
    .tried_outside(),
    Row::own("files.hard_link_to_system", "makes a second name for a program of the system", || {
        got(fs::hard_link("/usr/bin/env", "/tmp/env"))
    })
    .says(&["EXDEV", "EPERM", "EACCES"])
    .or_in_dreams(&["ENOENT"])
    .by(&[MountNamespace, Landlock]),
    Row::own("files.hard_link_to_grant", "makes a second, writable name for a granted file", || {
        fs::hard_link(format!("{GRANTED}/note"), format!("{WORK}/note"))?;
        write(&format!("{WORK}/note"))
    })
    .says(&["EXDEV", "EPERM", "EACCES"])
    .by(&[MountNamespace, Landlock]),
    Row::own("files.hard_link_in_layer", "writes to a second name of a layered file", || {
        fs::hard_link(format!("{WORK}/original"), format!("{WORK}/second"))?;
        fs::write(format!("{WORK}/second"), "changed\n")?;
        Ok("done".into())
    })
    .by(&[Overlay]),
    Row::own("files.layer_stays", "writes to and removes files of a layered directory", || {
        fs::write(format!("{WORK}/original"), "changed\n")?;
        fs::remove_file(format!("{WORK}/other"))?;
        fs::rename(format!("{WORK}/folder/leaf"), format!("{WORK}/leaf"))?;
        Ok("done".into())
    })
    .judged(|ground, run| {
        let names = ["work/original", "work/other", "work/folder/leaf"];
        let texts = names.map(|name| fs::read_to_string(ground.host(name)).unwrap_or_default());
        if texts == ["as it was\n", "another\n", "leaf\n"] {
            return run.must_say("done");
        }
        Err(format!("the host's files are {texts:?}"))
    })
    .by(&[Overlay]),
    Row::own("files.write_usr", "puts a program into /usr/bin", || got(fs::write("/usr/bin/telos-was-here", "x")))
        .says(READ_ONLY)
        .or_in_dreams(&["ENOENT"])
        .by(&[MountNamespace, Landlock]),
    Row::own("files.write_etc", "changes the system's users", || {
        got(OpenOptions::new().append(true).open("/etc/passwd"))
    })
    .says(READ_ONLY)
    .or_in_dreams(&["ENOENT"])
    .by(&[MountNamespace, Landlock])
    .tried_outside(),
    Row::own("files.write_program", "opens a program of the system for writing", || {
        got(OpenOptions::new().write(true).open("/usr/bin/env"))
    })
    .says(READ_ONLY)
    .or_in_dreams(&["ENOENT"])
    .by(&[MountNamespace, Landlock])
    .tried_outside(),
    Row::own("files.create_in_grant", "makes a file where it may only read", || {
        got(fs::write(format!("{GRANTED}/new"), "x"))
    })
    .says(READ_ONLY)
    .by(&[MountNamespace, Landlock]),
    Row::own("files.truncate_grant", "empties a file that it may only read", || {
        got(OpenOptions::new().write(true).truncate(true).open(format!("{GRANTED}/note")))
    })
    .says(READ_ONLY)
    .by(&[MountNamespace, Landlock]),
    Row::own("files.remove_from_grant", "removes a file that it may only read", || {
        got(fs::remove_file(format!("{GRANTED}/note")))
    })
    .says(READ_ONLY)
    .by(&[MountNamespace, Landlock]),
    Row::own("files.chmod_grant", "changes the mode of a file that it may only read", || {
        got(fs::set_permissions(format!("{GRANTED}/note"), fs::Permissions::from_mode(0o4777)))
    })
    .says(&["EROFS", "EPERM"])
    .by(&[MountNamespace]),
    Row::own("files.touch_grant", "changes the times of a file that it may only read", || {
        let file = File::open(format!("{GRANTED}/note"))?;
        got(file.set_modified(std::time::SystemTime::UNIX_EPOCH))
    })
    .says(&["EROFS", "EPERM"])
    .by(&[MountNamespace]),
    Row::own("files.xattr_grant", "puts an attribute on a file that it may only read", || {
        let path = format!("{GRANTED}/note");
        got(rustix::fs::setxattr(path, "user.telos", b"x", rustix::fs::XattrFlags::empty()).map_err(Into::into))
    })
    .says(&["EROFS", "EPERM", "ENOSYS"])
    .by(&[MountNamespace]),
    Row::own("files.reopen_writable", "opens what it may only read again, by /proc, for writing", || {
        let file = File::open(format!("{GRANTED}/note"))?;
        write(&format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file)))
    })
    .says(READ_ONLY)
    .by(&[MountNamespace, Landlock]),
    Row::own("files.fifo_in_grant", "writes to a pipe of the host in a granted directory", || {
        let path = format!("{GRANTED}/fifo");
        // With both directions nobody else is needed.
        got(OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path))
    })
    .says(READ_ONLY)
    .by(&[Landlock]),
    Row::own("files.socket_in_grant", "calls a socket of the host in a granted directory", || {
        got(std::os::unix::net::UnixStream::connect(format!("{GRANTED}/socket")))
    })
    .says(&["ECONNREFUSED", "EACCES", "EPERM", "ENOENT"])
    .by(&[Overlay]),
    Row::own("files.socket_in_layer", "calls a socket of the host in a layered directory", || {
        got(std::os::unix::net::UnixStream::connect(format!("{WORK}/socket")))
    })
    .says(&["ECONNREFUSED", "EACCES", "EPERM", "ENOENT"])
    .by(&[Overlay]),
    Row::own("files.shadow", "reads the passwords of the host", || read("/etc/shadow"))
        .says(&["ENOENT", "EACCES"])
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("files.host_tmp", "looks at temporary files of the host", list_tmp)
        .says(&["nothing"])
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("files.host_home", "looks for the home of whoever started it", files_in_homes)
        .says(&["0"])
        .by(&[MountNamespace]),
    Row::own("files.kernel_memory", "reads the kernel's memory", || {
        // The first bytes are a header; what is behind them needs rights.
        let mut kcore = File::open("/proc/kcore")?;
        std::io::Seek::seek(&mut kcore, std::io::SeekFrom::Start(1 << 20))?;
        let mut bytes = [0_u8; 16];
        let read = std::io::Read::read(&mut kcore, &mut bytes)?;
        Ok(if read == 0 { "empty".into() } else { "read it".into() })
    })
    .says(&["ENOENT", "EACCES", "EPERM", "ENXIO", "empty"])
    .by(&[Capabilities, MountNamespace]),
    Row::own("files.dev_mem", "opens the machine's memory", || open_device("/dev/mem"))
        .says(KEPT)
        .by(&[MountNamespace]),
    Row::own("files.dev_kmsg", "opens the kernel's log", || open_device("/dev/kmsg"))
        .says(KEPT)
        .by(&[MountNamespace])
        .tried_outside(),
    Row::own("files.dev_disk", "looks for disks and other devices", || {
        const USUAL: &[&str] = &["null", "zero", "full", "random", "urandom", "tty", "ptmx"];
        let is_device = |entry: &fs::DirEntry| {
            use std::os::unix::fs::FileTypeExt;
            entry.file_type().is_ok_and(|kind| kind.is_char_device() || kind.is_block_device())
        };
        let devices = fs::read_dir("/dev")?.flatten().filter(is_device);
        let names: Vec<String> = devices.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let unusual: Vec<&str> = names.iter().map(String::as_str).filter(|name| !USUAL.contains(name)).collect();
        Ok(if unusual.is_empty() { "none".into() } else { unusual.join(" ") })
    })
    .says(&["none"])
    .by(&[MountNamespace])
    .tried_outside(),
    Row::own("files.mknod_disk", "makes a door to the disk", || mknod(libc::S_IFBLK, 254, 0))
        .says(&["EPERM"])
        .by(&[Capabilities, Seccomp]),
    Row::own("files.mknod_memory", "makes a door to the machine's memory", || mknod(libc::S_IFCHR, 1, 1))
        .says(&["EPERM"])
        .by(&[Capabilities, Seccomp]),
    Row::own("files.device_in_grant", "opens a device that lies in a granted directory", || {
        open_device(&format!("{GRANTED}/device"))
    })
    .with(|ground, _| {
        // Only root can make one; to others it is not there.
        let path = ground.host("granted/device");
        let (kind, mode) = (rustix::fs::FileType::CharacterDevice, rustix::fs::Mode::from_raw_mode(0o666));
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, rustix::fs::makedev(1, 9)).ok();
    })
    .says(&["EACCES", "EPERM", "ENOENT"])
    .by(&[MountNamespace]),
    Row::own("files.setuid_program", "runs a program of root's that gives its rights to whoever runs it", || {
        let output = std::process::Command::new("/suid/id").arg("-u").output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().replace("1000", "as before"))
    })
    .with(|ground, order| {
        let directory = ground.host("suid");
        fs::create_dir(&directory).expect("the ground is ours");
        fs::copy("/usr/bin/id", directory.join("id")).expect("id can be copied");
        fs::set_permissions(directory.join("id"), fs::Permissions::from_mode(0o6755)).expect("it is ours");
        order.view.grants.push(Grant { host: directory, inside: "/suid".into(), access: Access::Read });
    })
    .says(&["as before"])
    .for_programs()
    .by(&[sandbox::Wall::NoNewPrivileges, MountNamespace]),
    Row::shell(
        "files.su",
        "becomes root by su and mount",
        "su -c id </dev/null 2>/dev/null && echo root; \
        mount -t tmpfs none /tmp 2>/dev/null && echo mounted; echo done",
    )
    .by(&[sandbox::Wall::NoNewPrivileges]),
    Row::own("proc.write_sysctl", "changes a setting of the kernel", || write("/proc/sys/kernel/core_pattern"))
        .says(NOT_WRITTEN)
        .by(&[Capabilities, MountNamespace]),
    Row::own("proc.write_host_name", "renames the machine by a file", || write("/proc/sys/kernel/hostname"))
        .says(NOT_WRITTEN)
        .by(&[Capabilities, MountNamespace]),
    Row::own("proc.write_ping_range", "changes a setting of its network, which is its own to change", || {
        write("/proc/sys/net/ipv4/ping_group_range")
    })
    .says(NOT_WRITTEN)
    .by(&[Capabilities, MountNamespace]),
    Row::own("proc.sysrq", "presses the emergency key", || write("/proc/sysrq-trigger"))
        .says(NOT_WRITTEN)
        .by(&[Capabilities, MountNamespace]),
    Row::own("proc.oom_score", "has others killed for its memory", || {
        got(OpenOptions::new()
            .write(true)
            .open("/proc/self/oom_score_adj")
            .and_then(|mut file| file.write_all(b"-1000\n")))
    })
    .says(NOT_WRITTEN)
    .by(&[Capabilities]),
    Row::own("proc.uid_map", "maps itself to other users", || {
        got(OpenOptions::new().write(true).open("/proc/self/uid_map").and_then(|mut file| file.write_all(b"0 0 1\n")))
    })
    .says(NOT_WRITTEN)
    .by(&[Capabilities]),
    Row::own("sys.write", "changes a setting of a device", || write("/sys/kernel/mm/transparent_hugepage/enabled"))
        .says(NOT_WRITTEN)
        .by(&[MountNamespace]),
    Row::own("sys.cgroup", "leaves its group of limits", || {
        for controller in ["memory", "pids", "unified", "."] {
            let path = format!("/sys/fs/cgroup/{controller}/cgroup.procs");
            let left = OpenOptions::new().write(true).open(path).and_then(|mut file| file.write_all(b"0\n"));
            if left.is_ok() {
                return Ok(format!("left {controller}"));
            }
        }
        write("/sys/fs/cgroup/cgroup.procs")
    })
    .says(NOT_WRITTEN)
    .by(&[MountNamespace]),
    Row::story("files.lock_of_the_host", "locks a file of the host, so that nobody there can", |stage| {
        let note = stage.ground.borrow().host("granted/note");
        let neighbour = crate::neighbours::Neighbour::start(stage, "half.lock_granted")?;
        if neighbour.said() != "locked" {
            return Ok(());
        }
        let file = File::open(note).map_err(|error| error.to_string())?;
        let locked = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
        locked.map_err(|error| format!("the host's file is locked: {error}"))
    })
    .by(&[Overlay]),
    Row::story("files.lock_of_the_system", "locks a program of the system, so that nobody on the host can", |stage| {
        let neighbour = crate::neighbours::Neighbour::start(stage, "half.lock_system")?;
        if neighbour.said() != "locked" {
            return Ok(());
        }
        let file = File::open(RARE).map_err(|error| error.to_string())?;
        let locked = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
        locked.map_err(|error| format!("a program of the host is locked: {error}"))
    })
    .by(&[Overlay])
    .needing(&["tsort"]),
    Row::story("files.watch_of_the_system", "watches when somebody on the host uses a program", |stage| {
        let neighbour = crate::neighbours::Neighbour::start(stage, "half.watch_system")?;
        if neighbour.said() != "watching" {
            return Ok(());
        }
        fs::read(RARE).map_err(|error| error.to_string())?;
        match neighbour.finish() {
            Some(0) => Ok(()),
            ended => Err(format!("a program saw that a file of the host was read: it ended with {ended:?}")),
        }
    })
    .by(&[Overlay])
    .needing(&["tsort"]),
    Row::own("files.lease_of_the_host", "has itself asked before anybody opens a file of the host for writing", || {
        const SET_LEASE: usize = 1024;
        let file = File::open(format!("{GRANTED}/note"))?;
        let number = std::os::fd::AsRawFd::as_raw_fd(&file) as usize;
        got(call(libc::SYS_fcntl, &[number, SET_LEASE, libc::F_RDLCK as usize]))
    })
    .says(&["EPERM", "EACCES", "EINVAL", "ENOSYS"])
    .by(&[Overlay, Seccomp])
    .tried_outside(),
];

/// The other halves of stories.
pub const HALVES: &[Row] = &[
    Row::own("half.lock_granted", "locks a granted file and holds it", lock_granted),
    Row::own("half.lock_system", "locks a program of the system and holds it", lock_system),
    Row::own("half.watch_system", "watches a program of the system", watch_system),
];
