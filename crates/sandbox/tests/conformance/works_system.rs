//! Calls and files of the system that must work: what every language's library is built on.

use crate::table::{Row, Said};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::time::{Duration, Instant};
use system::raw::call;

fn done() -> Said {
    Ok("done".into())
}

fn check(is_right: bool, what: &str) -> std::io::Result<()> {
    if is_right { Ok(()) } else { Err(std::io::Error::other(what.to_owned())) }
}

fn talk(mut one: impl Read + Write, mut other: impl Read + Write) -> Said {
    one.write_all(b"hello")?;
    let mut heard = [0_u8; 5];
    other.read_exact(&mut heard)?;
    check(&heard == b"hello", "heard otherwise")?;
    done()
}

fn files() -> Said {
    fs::create_dir_all("/tmp/a/b")?;
    fs::write("/tmp/a/b/c", "text")?;
    fs::rename("/tmp/a/b/c", "/tmp/a/d")?;
    fs::hard_link("/tmp/a/d", "/tmp/a/e")?;
    symlink("d", "/tmp/a/f")?;
    fs::set_permissions("/tmp/a/d", fs::Permissions::from_mode(0o640))?;
    let file = File::options().write(true).open("/tmp/a/d")?;
    file.set_modified(std::time::UNIX_EPOCH)?;
    file.lock()?;
    file.sync_all()?;
    let metadata = fs::metadata("/tmp/a/f")?;
    check(metadata.nlink() == 2 && metadata.mode() & 0o777 == 0o640 && metadata.mtime() == 0, "metadata differ")?;
    fs::remove_dir_all("/tmp/a")?;
    done()
}

/// 300 MB in pieces, and a piece from the middle.
fn big_file() -> Said {
    let mut file = File::options().create_new(true).read(true).write(true).open("/tmp/big")?;
    let piece: Vec<u8> = (0..1 << 20).map(|position: u32| (position % 251) as u8).collect();
    for _ in 0..300 {
        file.write_all(&piece)?;
    }
    let mut bytes = [0_u8; 16];
    file.read_exact_at(&mut bytes, (150 << 20) + 500)?;
    check(bytes[..] == piece[500..516], "read otherwise")?;
    check(file.seek(SeekFrom::End(0))? == 300 << 20, "another length")?;
    done()
}

/// What loops of events are made of.
fn events() -> Said {
    let poll = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC)?;
    let event = rustix::event::eventfd(1, rustix::event::EventfdFlags::CLOEXEC)?;
    let data = rustix::event::epoll::EventData::new_u64(7);
    rustix::event::epoll::add(&poll, &event, data, rustix::event::epoll::EventFlags::IN)?;
    let mut seen = Vec::with_capacity(4);
    rustix::event::epoll::wait(&poll, rustix::buffer::spare_capacity(&mut seen), None)?;
    check(seen.len() == 1, "no event")?;
    let of_programs = [(libc::SYS_inotify_init1, vec![0]), (libc::SYS_memfd_create, vec![c"x".as_ptr() as usize, 0])];
    let of_all = [
        (libc::SYS_timerfd_create, vec![libc::CLOCK_MONOTONIC as usize, 0]),
        (libc::SYS_signalfd4, vec![usize::MAX, (&raw const EMPTY_SET) as usize, 8, 0]),
        (libc::SYS_pidfd_open, vec![std::process::id() as usize, 0]),
        (libc::SYS_membarrier, vec![0, 0]),
        (libc::SYS_getrandom, vec![(&raw const EMPTY_SET) as usize, 0, 0]),
        (libc::SYS_sched_getaffinity, vec![0, 0, 0]),
    ];
    for (number, arguments) in of_all.into_iter().chain(of_programs.into_iter().filter(|_| !crate::dream::is_here())) {
        let answer = call(number, &arguments);
        let is_refused = answer
            .as_ref()
            .is_err_and(|error| matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS | libc::EACCES)));
        check(!is_refused, &format!("call {number}: {answer:?}"))?;
    }
    done()
}

static EMPTY_SET: u64 = 0;

fn times() -> Said {
    let before = Instant::now();
    std::thread::sleep(Duration::from_millis(20));
    check(before.elapsed() >= Duration::from_millis(20), "slept too short")?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_err(std::io::Error::other)?;
    check(now.as_secs() > 1_700_000_000, "the clock is wrong")?;
    done()
}

/// Memory that is first written and then executed, as translators in memory do.
fn memory() -> Said {
    const LENGTH: usize = 8192;
    let (private, nameless) = (libc::MAP_PRIVATE as usize, libc::MAP_ANONYMOUS as usize);
    let (read, write, execute) = (libc::PROT_READ as usize, libc::PROT_WRITE as usize, libc::PROT_EXEC as usize);
    let address = call(libc::SYS_mmap, &[0, LENGTH, read | write, private | nameless, usize::MAX, 0])?;
    call(libc::SYS_mprotect, &[address as usize, LENGTH, read | execute])?;
    call(libc::SYS_madvise, &[address as usize, LENGTH, libc::MADV_DONTNEED as usize])?;
    call(libc::SYS_munmap, &[address as usize, LENGTH])?;
    done()
}

fn shared_segment() -> Said {
    let segment = call(libc::SYS_shmget, &[libc::IPC_PRIVATE as usize, 4096, 0o600])?;
    let address = call(libc::SYS_shmat, &[segment as usize, 0, 0])?;
    call(libc::SYS_shmdt, &[address as usize])?;
    call(libc::SYS_shmctl, &[segment as usize, libc::IPC_RMID as usize, 0])?;
    call(libc::SYS_semget, &[libc::IPC_PRIVATE as usize, 1, 0o600])?;
    done()
}

fn devices() -> Said {
    File::options().write(true).open("/dev/null")?.write_all(b"x")?;
    let mut bytes = [1_u8; 8];
    File::open("/dev/zero")?.read_exact(&mut bytes)?;
    check(bytes == [0; 8], "/dev/zero is not")?;
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    File::open("/dev/random")?.read_exact(&mut bytes)?;
    check(bytes != [0; 8], "/dev/urandom is not")?;
    let full = File::options().write(true).open("/dev/full")?.write(b"x");
    check(full.is_err_and(|error| error.raw_os_error() == Some(libc::ENOSPC)), "/dev/full is not")?;
    for name in ["/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd"] {
        fs::symlink_metadata(name)?;
    }
    done()
}

/// Through a socket, as servers do that give their work away.
fn pass_descriptor() -> Said {
    use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
    use std::os::fd::AsFd;
    fs::write("/tmp/passed", "passed")?;
    let (one, other) = UnixStream::pair()?;
    let file = File::open("/tmp/passed")?;
    let (files, mut space) = ([file.as_fd()], [std::mem::MaybeUninit::uninit(); 64]);
    let mut message = SendAncillaryBuffer::new(&mut space);
    check(message.push(SendAncillaryMessage::ScmRights(&files)), "no room")?;
    rustix::net::sendmsg(&one, &[std::io::IoSlice::new(b"x")], &mut message, SendFlags::empty())?;
    let mut space = [std::mem::MaybeUninit::uninit(); 64];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0_u8; 1];
    rustix::net::recvmsg(&other, &mut [std::io::IoSliceMut::new(&mut byte)], &mut message, RecvFlags::empty())?;
    let passed = message.drain().find_map(|message| match message {
        rustix::net::RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let mut text = String::new();
    File::from(passed.ok_or_else(|| std::io::Error::other("nothing came"))?).read_to_string(&mut text)?;
    Ok(if text == "passed" { "done".into() } else { text })
}

/// Threads with messages between them, and one that panics alone.
fn threads() -> Said {
    let (sender, receiver) = std::sync::mpsc::channel();
    let senders: Vec<_> = (0..50)
        .map(|number| {
            let sender = sender.clone();
            std::thread::spawn(move || sender.send(number))
        })
        .collect();
    for thread in senders {
        check(thread.join().is_ok_and(|sent| sent.is_ok()), "a thread failed")?;
    }
    drop(sender);
    check(receiver.iter().sum::<u32>() == 1225, "a message is missing")?;
    done()
}

/// A child whose parent is gone is taken in by process 1, which does not let the dead pile up.
fn orphans() -> Said {
    for _ in 0..20 {
        if call(libc::SYS_fork, &[])? == 0 {
            if call(libc::SYS_fork, &[])? == 0 {
                std::process::exit(0);
            }
            std::process::exit(0);
        }
        call(libc::SYS_wait4, &[usize::MAX, 0, 0, 0])?;
    }
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let numbers = fs::read_dir("/proc")?.flatten();
        let count = numbers.filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok()).count();
        if crate::dream::is_here() {
            sandbox::process::reap(|_, _| {});
        }
        if count <= 2 {
            return done();
        }
        check(Instant::now() < deadline, &format!("{count} processes are left"))?;
        std::thread::yield_now();
    }
}

pub const ROWS: &[Row] = &[
    Row::shell(
        "works.sync",
        "flushes what it wrote, as far as it can tell",
        "echo x > /tmp/x && sync && sync -f /tmp/x && echo done",
    ),
    Row::own("works.files", "makes, renames, links, locks and removes files", files),
    Row::own("works.big_file", "writes 300 MB to a file", big_file).with(|_, order| {
        order.limits.disk_bytes = Some(400 << 20);
        order.limits.memory_bytes = Some(800 << 20);
    }),
    Row::own("works.tcp", "serves and calls on its loopback", || {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let caller = TcpStream::connect(listener.local_addr()?)?;
        talk(caller, listener.accept()?.0)
    })
    .for_programs(),
    Row::own("works.udp", "sends packets on its loopback", || {
        let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
        one.send_to(b"hello", other.local_addr()?)?;
        let length = other.recv(&mut [0_u8; 9])?;
        check(length == 5, "another length")?;
        done()
    })
    .for_programs(),
    Row::own("works.unix_socket", "serves and calls by a path", || {
        let listener = UnixListener::bind("/tmp/socket")?;
        let caller = UnixStream::connect("/tmp/socket")?;
        talk(caller, listener.accept()?.0)
    })
    .for_programs(),
    Row::own("works.abstract_socket", "serves and calls by a name without a file", || {
        let address = SocketAddr::from_abstract_name("own")?;
        let listener = UnixListener::bind_addr(&address)?;
        let caller = UnixStream::connect_addr(&address)?;
        talk(caller, listener.accept()?.0)
    })
    .for_programs(),
    Row::own("works.socket_pair", "speaks through pairs of sockets", || {
        let (one, other) = UnixDatagram::pair()?;
        one.send(b"x")?;
        other.recv(&mut [0_u8; 4])?;
        let (one, other) = UnixStream::pair()?;
        talk(one, other)
    }),
    Row::own("works.pass_descriptor", "hands a descriptor to a neighbour inside", pass_descriptor),
    Row::own("works.events", "waits for events, timers, signals and files", events),
    Row::own("works.times", "knows the time and sleeps", times),
    Row::own("works.memory", "has memory, and changes what may be done with it", memory),
    Row::own("works.shared_segment", "shares memory and semaphores with itself", shared_segment).for_programs(),
    Row::own("works.devices", "uses the small devices", devices).for_programs(),
    Row::own("works.threads_of_rust", "has threads", threads),
    Row::own("works.orphans", "has grandchildren whose parent is gone", orphans),
    Row::own("works.proc", "reads about itself", || {
        for path in ["/proc/self/status", "/proc/self/maps", "/proc/self/stat", "/proc/self/mounts"] {
            check(!fs::read(path)?.is_empty(), path)?;
        }
        check(std::thread::available_parallelism()?.get() >= 1, "no processor")?;
        done()
    }),
    Row::shell(
        "works.identity",
        "knows who it is",
        "[ \"$(id -u)\" != 0 ] && getent passwd $(id -u) >/dev/null && whoami >/dev/null && echo done",
    ),
    Row::shell(
        "works.signals",
        "handles signals",
        "trap 'echo caught' USR1; kill -USR1 $$; (kill -TERM $BASHPID); echo $?",
    )
    .says(&["caught\n143"]),
    Row::shell(
        "works.deep_stack",
        "calls itself deeply",
        "ulimit -s | grep -qE '^([0-9]{4,}|unlimited)$' && echo done",
    ),
    Row::shell(
        "works.links_to_self",
        "finds its own program and descriptors",
        "readlink /proc/self/exe >/dev/null && echo x > /dev/stdout && ls /dev/fd/ >/dev/null",
    )
    .says(&["x"]),
];
