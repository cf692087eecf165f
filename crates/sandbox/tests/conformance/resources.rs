//! Programs that take all there is of something: each meets its limit, and the run ends in the time it was given.

use crate::play::Stage;
use crate::saying::{got, line};
use crate::table::{Judged, Row, Said};
use sandbox::Verdict;
use sandbox::Wall::{CpuLimit, MemoryLimit, MountNamespace, Overlay, PidNamespace, ProcessLimit};
use sandbox::outcome::Limit;
use std::fs::{self, File};
use std::io::Write;
use std::time::Duration;
use system::raw::call;

const MEGABYTE: u64 = 1 << 20;
/// It was ended for its time, its memory, or the program met the end of memory by itself.
const MEMORY: &[Verdict] = &[Verdict::Limited(Limit::Memory)];
const TIME: &[Verdict] = &[Verdict::Limited(Limit::Time)];
const CPU: &[Verdict] = &[Verdict::Limited(Limit::Cpu)];

/// Forks children that stay, until the kernel refuses. Says the error, if there were few enough.
fn fork_until_refused() -> Said {
    for count in 0..500 {
        match call(libc::SYS_fork, &[]) {
            Ok(0) => loop {
                std::thread::sleep(Duration::from_secs(60));
            },
            Ok(_) => {}
            Err(error) => {
                let name = crate::saying::name(&error);
                return Ok(if count <= 40 { name } else { format!("{name} after {count}") });
            }
        }
    }
    Ok("500 children".into())
}

fn thread_until_refused() -> Said {
    for count in 0..500 {
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        if let Err(error) = thread.spawn(|| std::thread::sleep(Duration::from_secs(60))) {
            let name = crate::saying::name(&error);
            return Ok(if count <= 40 { name } else { format!("{name} after {count}") });
        }
    }
    Ok("500 threads".into())
}

/// Fills memory, and touches it.
fn fill_memory(megabytes: usize) -> Said {
    let mut held: Vec<Vec<u8>> = Vec::new();
    for _ in 0..megabytes {
        let mut piece = Vec::new();
        if piece.try_reserve_exact(MEGABYTE as usize).is_err() {
            return Ok("ENOMEM".into());
        }
        piece.resize(MEGABYTE as usize, 1);
        held.push(piece);
    }
    Ok(format!("{} MB", held.len()))
}

/// Several processes, each of which stays below the limit.
fn fill_memory_together() -> Said {
    for _ in 0..8 {
        if call(libc::SYS_fork, &[])? == 0 {
            let held = vec![1_u8; 40 << 20];
            std::thread::sleep(Duration::from_secs(60));
            drop(held);
            std::process::exit(0);
        }
    }
    std::thread::sleep(Duration::from_secs(60));
    Ok("all of it".into())
}

fn write_until_refused(path: &str, megabytes: usize) -> Said {
    let mut file = File::create(path)?;
    let piece = vec![1_u8; MEGABYTE as usize];
    for count in 0..megabytes {
        if let Err(error) = file.write_all(&piece) {
            drop(file);
            fs::remove_file(path)?;
            let name = crate::saying::name(&error);
            return Ok(if count <= 20 { name } else { format!("{name} after {count} MB") });
        }
    }
    Ok(format!("{megabytes} MB"))
}

/// Several places at once: the limit is of all of them together.
fn write_everywhere() -> Said {
    let piece = vec![1_u8; MEGABYTE as usize];
    let mut written = 0;
    for directory in ["/tmp", "/layered", "/dev/shm", "/home", "/var/tmp", "/run", "/"] {
        let Ok(mut file) = File::create(format!("{directory}/bomb")) else { continue };
        while written < 200 && file.write_all(&piece).is_ok() {
            written += 1;
        }
    }
    Ok(if written <= 40 { "little".into() } else { format!("{written} MB") })
}

fn make_files_until_refused(directory: &str) -> Said {
    for count in 0..20_000 {
        if let Err(error) = File::create(format!("{directory}/file-{count}")) {
            let name = crate::saying::name(&error);
            return Ok(if count <= 1100 { name } else { format!("{name} after {count}") });
        }
    }
    Ok("20000 files".into())
}

/// Memory that is a file without a name.
fn fill_nameless_file() -> Said {
    let file = rustix::fs::memfd_create("bomb", rustix::fs::MemfdFlags::empty())?;
    let mut file = File::from(file);
    let piece = vec![1_u8; MEGABYTE as usize];
    for _ in 0..512 {
        file.write_all(&piece)?;
    }
    Ok("512 MB".into())
}

/// Memory that is shared with children and no file, of which one page stays mapped.
fn fill_shared_mappings() -> Said {
    const PIECE: usize = 16 << 20;
    let rights = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let kind = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as usize;
    for _ in 0..32 {
        let address = call(libc::SYS_mmap, &[0, PIECE, rights, kind, usize::MAX, 0])? as usize;
        for page in 0..PIECE / 4096 {
            call(libc::SYS_getrandom, &[address + page * 4096, 1, 0])?;
        }
        // What a limit sees to has time to do so.
        std::thread::sleep(Duration::from_millis(100));
        call(libc::SYS_munmap, &[address + 4096, PIECE - 4096])?;
    }
    Ok("512 MB".into())
}

fn fill_shared_segments() -> Said {
    for _ in 0..512 {
        let segment = call(libc::SYS_shmget, &[libc::IPC_PRIVATE as usize, MEGABYTE as usize, 0o600])?;
        let address = call(libc::SYS_shmat, &[segment as usize, 0, 0])?;
        // The kernel itself writes into it, page by page: it fills it with random bytes.
        for page in 0..256 {
            call(libc::SYS_getrandom, &[address as usize + page * 4096, 1, 0])?;
        }
        call(libc::SYS_shmdt, &[address as usize])?;
    }
    Ok("512 MB".into())
}

/// Bytes that lie in the kernel, in sockets that nobody reads from: a hundred megabytes in each of four processes.
fn fill_sockets() -> Said {
    for _ in 0..3 {
        if call(libc::SYS_fork, &[])? == 0 {
            let held = fill_own_sockets();
            std::thread::sleep(Duration::from_secs(60));
            drop(held);
            std::process::exit(0);
        }
    }
    let held = fill_own_sockets()?;
    // The watch of a host without groups of limits looks now and then.
    std::thread::sleep(Duration::from_secs(2));
    Ok(format!("{} sockets full in each of 4 processes", held.len()))
}

fn fill_own_sockets() -> std::io::Result<Vec<std::os::unix::net::UnixStream>> {
    let mut held = Vec::new();
    while let Ok((one, other)) = std::os::unix::net::UnixStream::pair() {
        one.set_nonblocking(true)?;
        while (&one).write(&[1; 65_536]).is_ok() {}
        held.extend([one, other]);
    }
    Ok(held)
}

fn open_until_refused() -> Said {
    let mut open = Vec::new();
    loop {
        match File::open("/dev/null") {
            Ok(file) if open.len() < 5000 => open.push(file),
            Ok(_) => return Ok("5000 files".into()),
            Err(error) => {
                let name = crate::saying::name(&error);
                return Ok(if open.len() <= 64 { name } else { format!("{name} after {}", open.len()) });
            }
        }
    }
}

/// All of it together, as one reads it: no more came than was allowed, and it was ended for it.
fn flooded(run: &crate::play::Run) -> Judged {
    let seen = run.stdout.len() + run.stderr.len();
    if run.outcome.verdict != Verdict::Limited(Limit::Output) {
        return Err(format!("ended as {:?} after {seen} bytes", run.outcome.verdict));
    }
    if seen as u64 > MEGABYTE { Err(format!("{seen} bytes came")) } else { Ok(()) }
}

/// Contexts of asynchronous reads; the kernel has one number of them for all of the host.
fn take_contexts() -> Said {
    let mut held = 0;
    for size in [32_768_usize, 4096, 256, 16, 1] {
        loop {
            let mut context = 0_usize;
            match call(libc::SYS_io_setup, &[size, (&raw mut context) as usize]) {
                Ok(_) => held += 1,
                Err(_) => break,
            }
        }
    }
    crate::neighbours::hold(&format!("held {held}"))
}

/// Watches of files, of which a user has some for all that he runs.
fn take_watches() -> Said {
    let mut held = 0;
    while held < 4096 && call(libc::SYS_inotify_init1, &[0]).is_ok() {
        held += 1;
    }
    crate::neighbours::hold(&format!("held {held}"))
}

/// While a sandbox holds all that it can get of something, the host can still have it.
fn is_left_to_host(stage: &Stage, half: &str, have: fn() -> std::io::Result<i64>) -> Judged {
    have().map_err(|error| format!("the host had none before: {error}"))?;
    let neighbour = crate::neighbours::Neighbour::start(stage, half)?;
    have().map(drop).map_err(|error| format!("nothing is left to the host ({}): {error}", neighbour.said()))
}

pub const HALVES: &[Row] = &[
    Row::own("half.contexts", "takes all contexts of asynchronous reads", take_contexts),
    Row::own("half.watches", "takes all watches of files", take_watches),
    Row::own("half.flood", "writes more than is read", flood),
];

fn write_without_end(mut stream: impl Write) -> Said {
    loop {
        stream.write_all(&[0; 4096])?;
    }
}

/// Faster than it is read, so that there is always more.
fn flood() -> Said {
    for _ in 0..3 {
        std::thread::spawn(|| write_all_without_end(std::io::stdout()));
        std::thread::spawn(|| write_all_without_end(std::io::stderr()));
    }
    sleep_for_ever()
}

fn write_all_without_end(stream: impl std::os::fd::AsFd) {
    let piece = [0; 64 << 10];
    while rustix::io::write(&stream, &piece).is_ok() {}
}

/// What nobody counts and nobody keeps ends with its time all the same.
fn flood_ends_in_time(stage: &Stage) -> Judged {
    let mut order = stage.order(&crate::play::inside("half.flood").each_ref().map(String::as_str));
    order.limits.output_bytes = None;
    order.limits.time = Some(Duration::from_millis(400));
    match stage.run_unheard(&order).map_err(|error| error.to_string())?.verdict {
        Verdict::Limited(Limit::Time) => Ok(()),
        other => Err(format!("ended as {other:?}")),
    }
}

fn sleep_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

fn compute_for_ever() -> ! {
    loop {
        std::hint::spin_loop();
    }
}

/// Does it in a process of two forks and a session of its own.
fn leave_tree(does: fn() -> Said) -> Said {
    let child = call(libc::SYS_fork, &[])?;
    if child == 0 {
        call(libc::SYS_setsid, &[])?;
        if call(libc::SYS_fork, &[])? == 0 {
            does()?;
        }
        std::process::exit(0);
    }
    call(libc::SYS_wait4, &[child as usize, 0, 0, 0])?;
    Ok("done".into())
}

pub const ROWS: &[Row] = &[
    Row::own("bomb.fork", "makes processes without end", fork_until_refused)
        .with(|_, order| order.limits.processes = Some(32))
        .says(&["EAGAIN"])
        .by(&[ProcessLimit]),
    Row::own("bomb.thread", "makes threads without end", thread_until_refused)
        .with(|_, order| order.limits.processes = Some(32))
        .says(&["EAGAIN"])
        .by(&[ProcessLimit]),
    Row::shell("bomb.fork_of_forks", "makes processes that make processes", "f() { f | f & }; f; sleep 20")
        .with(|_, order| {
            order.limits.processes = Some(32);
            order.limits.time = Some(Duration::from_secs(1));
        })
        .judged(|_, run| match run.outcome.verdict {
            Verdict::Exited(_) | Verdict::Limited(_) => Ok(()),
            _ => Err("ended otherwise".into()),
        })
        .by(&[ProcessLimit]),
    Row::own("bomb.memory", "fills memory", || fill_memory(512))
        .with(|_, order| order.limits.memory_bytes = Some(128 * MEGABYTE))
        .says_or_ends(&["ENOMEM"], MEMORY)
        .by(&[MemoryLimit]),
    Row::own("bomb.memory_together", "fills memory from several processes", fill_memory_together)
        .with(|_, order| order.limits.memory_bytes = Some(128 * MEGABYTE))
        .ends(MEMORY)
        .by(&[MemoryLimit]),
    Row::own("bomb.nameless_file", "fills memory by a file without a name", fill_nameless_file)
        .with(|_, order| order.limits.memory_bytes = Some(128 * MEGABYTE))
        .says_or_ends(&["ENOMEM", "ENOSPC", "EFBIG", "EPERM"], MEMORY)
        .by(&[MemoryLimit]),
    Row::own("bomb.shared_segments", "fills memory by shared segments that outlive it", fill_shared_segments)
        .with(|_, order| order.limits.memory_bytes = Some(128 * MEGABYTE))
        .says_or_ends(&["ENOMEM", "ENOSPC", "EPERM", "ENOSYS"], MEMORY)
        .by(&[MemoryLimit]),
    Row::own("bomb.shared_mappings", "fills memory that is shared with children and no file", fill_shared_mappings)
        .with(|_, order| order.limits.memory_bytes = Some(128 * MEGABYTE))
        .says_or_ends(&["ENOMEM", "EPERM"], MEMORY)
        .by(&[MemoryLimit]),
    Row::own("bomb.sockets", "fills memory by bytes that nobody receives", fill_sockets)
        .with(|_, order| order.limits.memory_bytes = Some(128 * MEGABYTE))
        .says_or_ends(&["ENOMEM", "EMFILE"], MEMORY)
        .by(&[MemoryLimit]),
    Row::own("bomb.shared_memory", "fills /dev/shm", || write_until_refused("/dev/shm/bomb", 200))
        .with(|_, order| order.limits.disk_bytes = Some(16 * MEGABYTE))
        .says_or_ends(&["ENOSPC", "EDQUOT"], MEMORY)
        .for_programs()
        .by(&[MountNamespace]),
    Row::own("bomb.temporary_files", "fills /tmp", || write_until_refused("/tmp/bomb", 200))
        .with(|_, order| order.limits.disk_bytes = Some(16 * MEGABYTE))
        .says(&["ENOSPC", "EDQUOT"])
        .by(&[MountNamespace]),
    Row::own("bomb.layer", "fills the layer above a granted directory", || write_until_refused("/layered/bomb", 200))
        .with(|_, order| order.limits.disk_bytes = Some(16 * MEGABYTE))
        .says(&["ENOSPC", "EDQUOT"])
        .by(&[Overlay]),
    Row::own("bomb.everywhere", "fills every place that it may write to", write_everywhere)
        .with(|_, order| order.limits.disk_bytes = Some(16 * MEGABYTE))
        .says(&["little"])
        .by(&[MountNamespace]),
    Row::own("bomb.files", "makes files without end", || make_files_until_refused("/tmp"))
        .with(|_, order| order.limits.disk_files = Some(1000))
        .says(&["ENOSPC", "EDQUOT"])
        .by(&[MountNamespace]),
    Row::own("bomb.files_in_layer", "makes files without end in a layer", || make_files_until_refused("/layered"))
        .with(|_, order| order.limits.disk_files = Some(1000))
        .says(&["ENOSPC", "EDQUOT"])
        .by(&[Overlay]),
    Row::own("bomb.long_file", "writes one file without end", || {
        // Without this the kernel ends the program, and nothing is said.
        let ignore = [libc::SIG_IGN, 0, 0, 0];
        call(libc::SYS_rt_sigaction, &[libc::SIGXFSZ as usize, ignore.as_ptr() as usize, 0, 8])?;
        write_until_refused("/tmp/long", 200)
    })
    .with(|_, order| order.limits.file_bytes = Some(4 * MEGABYTE))
    .says(&["EFBIG"]),
    Row::own("bomb.descriptors", "opens files without end", open_until_refused)
        .with(|_, order| order.limits.open_files = Some(64))
        .says(&["EMFILE"]),
    Row::own("bomb.output", "writes without end", || write_without_end(std::io::stdout()))
        .with(|_, order| order.limits.output_bytes = Some(MEGABYTE))
        .judged(|_, run| flooded(run)),
    Row::own("bomb.errors", "writes errors without end", || write_without_end(std::io::stderr()))
        .with(|_, order| order.limits.output_bytes = Some(MEGABYTE))
        .judged(|_, run| flooded(run)),
    Row::shell("bomb.both_outputs", "writes to both without end", "cat /dev/zero >&2 & exec cat /dev/zero")
        .with(|_, order| order.limits.output_bytes = Some(MEGABYTE))
        .judged(|_, run| flooded(run)),
    Row::own("bomb.locked_memory", "locks memory so that it cannot be swapped", || {
        const LENGTH: usize = 256 << 20;
        let mut memory: Vec<u8> = Vec::new();
        memory.try_reserve_exact(LENGTH).map_err(|_| std::io::Error::from_raw_os_error(libc::ENOMEM))?;
        got(call(libc::SYS_mlock, &[memory.as_ptr() as usize, LENGTH]))
    })
    .with(|_, order| order.limits.memory_bytes = Some(128 * MEGABYTE))
    .says_or_ends(&["ENOMEM", "EPERM", "EAGAIN"], MEMORY)
    .by(&[MemoryLimit]),
    Row::story("bomb.host_contexts", "takes what the host has of asynchronous reads", |stage| {
        is_left_to_host(stage, "half.contexts", || {
            let mut context = 0_usize;
            call(libc::SYS_io_setup, &[1, (&raw mut context) as usize])
        })
    }),
    Row::story("bomb.host_watches", "takes what its user has of watches on files", |stage| {
        is_left_to_host(stage, "half.watches", || {
            let watch = call(libc::SYS_inotify_init1, &[0])?;
            call(libc::SYS_close, &[watch as usize])
        })
    }),
    Row::own("endless.sleep", "sleeps for ever", || sleep_for_ever())
        .with(|_, order| order.limits.time = Some(Duration::from_millis(400)))
        .ends(TIME),
    Row::own("endless.spin", "computes for ever", || compute_for_ever())
        .with(|_, order| {
            order.limits.cpu = Some(Duration::from_secs(1));
            order.limits.time = Some(Duration::from_secs(10));
        })
        .ends(CPU)
        .by(&[CpuLimit]),
    Row::shell("endless.spin_together", "computes for ever in many processes, each for a short time", SPIN_TOGETHER)
        .with(|_, order| {
            order.limits.cpu = Some(Duration::from_secs(1));
            order.limits.time = Some(Duration::from_secs(12));
        })
        .ends(CPU)
        .by(&[CpuLimit]),
    Row::own("endless.deaf", "ignores every signal that it can", || {
        let ignore = [libc::SIG_IGN, 0, 0, 0];
        for signal in 1..=64 {
            // Two of them cannot be.
            call(libc::SYS_rt_sigaction, &[signal, ignore.as_ptr() as usize, 0, 8]).ok();
        }
        sleep_for_ever()
    })
    .with(|_, order| order.limits.time = Some(Duration::from_millis(600)))
    .ends(TIME),
    Row::own("endless.silent", "closes its outputs and goes on", || {
        for descriptor in 0..3 {
            call(libc::SYS_close, &[descriptor])?;
        }
        sleep_for_ever()
    })
    .with(|_, order| order.limits.time = Some(Duration::from_millis(400)))
    .ends(TIME),
    Row::own(
        "endless.daemon",
        "leaves its tree by two forks and a session of its own, and keeps its output open",
        || leave_tree(|| sleep_for_ever()),
    )
    .by(&[PidNamespace]),
    Row::story(
        "endless.flood",
        "writes for ever, and more than is read, where output has no limit",
        flood_ends_in_time,
    ),
    Row::own("endless.daemon_past_time", "leaves its tree and computes on after its time", || {
        leave_tree(|| compute_for_ever())?;
        sleep_for_ever()
    })
    .with(|_, order| order.limits.time = Some(Duration::from_millis(400)))
    .ends(TIME)
    .by(&[PidNamespace]),
    Row::own("endless.vfork", "lets its child hold it for ever", || {
        // A child that shares its parent's memory and never goes on stops the parent in the kernel.
        const SHARES_AND_HOLDS: usize = 0x100 | 0x4000;
        let child = call(libc::SYS_clone, &[SHARES_AND_HOLDS | libc::SIGCHLD as usize]);
        if let Ok(0) = child {
            std::thread::sleep(Duration::from_secs(3600));
        }
        Ok(line(got(child)))
    })
    .with(|_, order| order.limits.time = Some(Duration::from_millis(400)))
    .ends(TIME),
];

const SPIN_TOGETHER: &str = "while :; do (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); done";
