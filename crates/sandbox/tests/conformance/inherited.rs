//! What a program could inherit from whoever started it: descriptors, variables, a terminal, how signals are handled.

use crate::play::Stage;
use crate::saying::got;
use crate::table::{Judged, Row, Said};
use sandbox::Stdin;
use std::fs::File;
use system::raw::call;

/// The numbers of all open descriptors, found without /proc.
fn descriptors() -> Said {
    let is_open = |number: &usize| call(libc::SYS_fcntl, &[*number, libc::F_GETFD as usize]).is_ok();
    let open: Vec<String> = (0..1024).filter(is_open).map(|number| number.to_string()).collect();
    Ok(open.join(" "))
}

/// A story in which the supervisor has something open that a program it starts would inherit.
fn with_open_descriptors(stage: &Stage) -> Judged {
    let secret = File::open(stage.ground.borrow().host("secret")).map_err(|error| error.to_string())?;
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).map_err(|error| error.to_string())?;
    let far = rustix::io::fcntl_dupfd_cloexec(&secret, 700).map_err(|error| error.to_string())?;
    rustix::io::fcntl_setfd(&far, rustix::io::FdFlags::empty()).map_err(|error| error.to_string())?;
    stage.own("half.descriptors")?.must_say("0 1 2")
}

/// A story in which the supervisor ignores and blocks signals, as many do.
fn with_ignored_signals(stage: &Stage) -> Judged {
    const BLOCK: usize = 0;
    let set = 1_u64 << (libc::SIGTERM - 1) | 1 << (libc::SIGUSR1 - 1);
    let (mask, ignore) = ((&raw const set) as usize, [libc::SIG_IGN, 0, 0, 0]);
    call(libc::SYS_rt_sigprocmask, &[BLOCK, mask, 0, 8]).map_err(|error| error.to_string())?;
    for signal in [libc::SIGPIPE, libc::SIGINT, libc::SIGHUP] {
        let number = signal as usize;
        call(libc::SYS_rt_sigaction, &[number, ignore.as_ptr() as usize, 0, 8]).map_err(|error| error.to_string())?;
    }
    let order = stage.order(&["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]);
    let run = stage.run(&order, Stdin::Empty).map_err(|error| error.to_string())?;
    let sets = run.stdout.lines().map(|line| line.split_whitespace().nth(1).unwrap_or("not told"));
    let wrong = sets.filter(|set| u64::from_str_radix(set, 16).map_or(true, |set| set & !OF_THE_LIBRARY != 0)).count();
    if wrong == 0 && run.stdout.lines().count() == 2 { Ok(()) } else { Err(run.told()) }
}

/// Signals 32 and 33 are the C library's own. Who starts a program by `posix_spawn` has it ignore them.
const OF_THE_LIBRARY: u64 = 3 << 31;

/// A story in which the supervisor hands its own terminal in as standard input.
fn with_terminal(stage: &Stage, half: &str, expected: &str) -> Judged {
    let told = |error: rustix::io::Errno| error.to_string();
    let master =
        rustix::pty::openpt(rustix::pty::OpenptFlags::RDWR | rustix::pty::OpenptFlags::NOCTTY).map_err(told)?;
    rustix::pty::unlockpt(&master).map_err(told)?;
    let name = rustix::pty::ptsname(&master, Vec::new()).map_err(told)?;
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let terminal = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).map_err(told)?;
    let order = stage.order(&crate::play::inside(half).each_ref().map(String::as_str));
    let run = stage.run(&order, Stdin::Descriptor(terminal)).map_err(|error| error.to_string())?;
    drop(master);
    run.must_say(expected)
}

fn variables() -> Said {
    const TOLD: &[&str] = &["PATH", "HOME", "LANG", "USER", "LOGNAME", "SHELL", "TMPDIR", "PWD", "TERM", "TZ"];
    let others: Vec<String> = std::env::vars()
        .map(|(name, _)| name)
        .filter(|name| !TOLD.contains(&name.as_str()) && !name.starts_with("HOST_"))
        .collect();
    Ok(if others.is_empty() { "none".into() } else { others.join(" ") })
}

pub const HALVES: &[Row] = &[
    Row::own("half.descriptors", "counts what is open", descriptors),
    Row::own("half.terminals", "looks whether it has a terminal", || {
        let is_terminal = |number: &usize| {
            call(libc::SYS_ioctl, &[*number, libc::TCGETS as usize, 0]).map_or_else(
                |error| error.raw_os_error() != Some(libc::ENOTTY) && error.raw_os_error() != Some(libc::EPERM),
                |_| true,
            )
        };
        Ok(if (0..3).any(|number| is_terminal(&number)) { "a terminal".into() } else { "none".into() })
    }),
    Row::own("half.type", "types into standard input", || {
        let letter = b'x';
        got(call(libc::SYS_ioctl, &[0, libc::TIOCSTI as usize, (&raw const letter) as usize]))
            .map_or_else(|_| Ok("refused".into()), Ok)
    }),
];

pub const ROWS: &[Row] = &[
    Row::own("inherited.descriptors", "looks for open descriptors", descriptors).says(&["0 1 2"]),
    Row::story("inherited.open_files", "reads what its supervisor has open", with_open_descriptors),
    Row::own("inherited.variables", "looks for variables of its supervisor", variables).says(&["none"]).tried_outside(),
    Row::story("inherited.signals", "cannot be ended because its supervisor ignores signals", with_ignored_signals)
        .for_programs(),
    Row::story("inherited.terminal", "gets the terminal of its supervisor as standard input", |stage| {
        with_terminal(stage, "half.terminals", "none")
    }),
    Row::story("inherited.terminal_typing", "types into the terminal of its supervisor", |stage| {
        with_terminal(stage, "half.type", "refused")
    }),
    Row::own("inherited.directory", "stays in the directory of its supervisor", || {
        Ok(std::env::current_dir()?.display().to_string())
    })
    .says(&["/tmp"])
    .tried_outside(),
    Row::own("inherited.umask", "makes files that others may write to", || {
        let mask = call(libc::SYS_umask, &[0])?;
        Ok(format!("{mask:o}"))
    })
    .says(&["22", "77", "27"]),
    // A limit of 0 keeps the kernel from writing a file, not from starting the host's handler; 1 does both.
    Row::own(
        "inherited.core_limit",
        "has its memory written to a file, or a program of the host started, by crashing",
        || {
            let mut limit = [0_u64; 2];
            call(libc::SYS_getrlimit, &[libc::RLIMIT_CORE as usize, limit.as_mut_ptr() as usize])?;
            Ok(format!("{limit:?}"))
        },
    )
    .says(&["[1, 1]"])
    .tried_outside(),
];
