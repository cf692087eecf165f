//! Two sandboxes at once, or one after the other: neither sees the other, and nothing that should be of one only is in both.

use crate::play::{Run, Stage, inside};
use crate::saying::got;
use crate::table::{Judged, Row, Said};
use sandbox::Wall::{
    CgroupNamespace, IpcNamespace, MountNamespace, NetworkNamespace, Overlay, PidNamespace, UtsNamespace,
};
use sandbox::{Stdin, Stream, Streams, Verdict};
use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use system::raw::call;

/// A sandbox that runs beside, started by a process of its own. It ends when this is dropped.
pub struct Neighbour {
    process: rustix::process::Pid,
    said: String,
    /// The other end is the standard input of the program: when this closes, it goes on.
    hold: Option<PipeWriter>,
}

impl Neighbour {
    /// Starts the half of a story and returns when it has said its line.
    pub fn start(stage: &Stage, half: &str) -> Result<Neighbour, String> {
        let pipe = || std::io::pipe().map_err(|error| error.to_string());
        let ((said, into_said), (from_hold, hold)) = (pipe()?, pipe()?);
        match call(libc::SYS_fork, &[]).map_err(|error| error.to_string())? {
            0 => {
                drop((said, hold));
                supervise(stage, half, from_hold, into_said);
            }
            process => {
                drop((from_hold, into_said));
                let process = rustix::process::Pid::from_raw(process as i32).expect("a child has a number");
                let mut neighbour = Neighbour { process, said: String::new(), hold: Some(hold) };
                let read = BufReader::new(said).read_line(&mut neighbour.said);
                read.map(|_| neighbour).map_err(|error| error.to_string())
            }
        }
    }

    pub fn said(&self) -> &str {
        self.said.trim_end()
    }

    /// Lets it go on to its end: the code that it ended with.
    pub fn finish(mut self) -> Option<i32> {
        self.hold.take();
        let waited = rustix::process::waitpid(Some(self.process), rustix::process::WaitOptions::empty());
        waited.ok().flatten().and_then(|(_, status)| status.exit_status())
    }

    /// Kills whoever supervises it, in the middle.
    pub fn kill_supervisor(&self) {
        rustix::process::kill_process(self.process, rustix::process::Signal::KILL).ok();
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.hold.take();
        rustix::process::waitpid(Some(self.process), rustix::process::WaitOptions::empty()).ok();
    }
}

/// The process that runs the neighbour, which is a copy of this one: it must not return.
fn supervise(stage: &Stage, half: &str, stdin: PipeReader, mut said: PipeWriter) -> ! {
    let mut order = stage.order(&inside(half).each_ref().map(String::as_str));
    order.allows_weaker = !stage.missing().is_empty();
    let output = Box::new(move |stream, bytes: &[u8]| {
        if stream == Stream::Output {
            said.write_all(bytes).ok();
        }
    });
    let started = stage.backend.start(&order, Streams { stdin: Stdin::Descriptor(stdin.into()), output });
    let ended = started.and_then(|running| running.wait());
    std::process::exit(match ended.map(|outcome| outcome.verdict) {
        Ok(Verdict::Exited(code)) => code,
        Ok(_) => 0,
        Err(_) => 1,
    })
}

/// Inside: says that all is ready, and holds it until the story has looked.
pub fn hold(ready: &str) -> Said {
    println!("{ready}");
    std::io::stdout().flush()?;
    std::io::stdin().read_line(&mut String::new())?;
    Ok(String::new())
}

const WORD: &str = "written by a neighbour";
const KEY: usize = 0x7e_105;
const SEGMENT: usize = 4096;
const PORT: u16 = 4711;
const QUEUE: &std::ffi::CStr = c"telos-neighbour";

/// Leaves something wherever a program can.
fn settle() -> Said {
    for directory in ["/tmp", "/layered"].map(std::path::Path::new) {
        // A zygote is given no directories.
        if directory.exists() {
            fs::write(directory.join("word"), WORD)?;
        }
    }
    if crate::dream::is_here() {
        // It can leave nothing else.
        return hold("settled true");
    }
    fs::write("/dev/shm/word", WORD)?;
    let shared = call(libc::SYS_shmget, &[KEY, SEGMENT, libc::IPC_CREAT as usize | 0o666])?;
    call(libc::SYS_msgget, &[KEY, libc::IPC_CREAT as usize | 0o666])?;
    call(libc::SYS_semget, &[KEY, 1, libc::IPC_CREAT as usize | 0o666])?;
    // Where the kernel or the filter has no queues there is nothing to find.
    call(libc::SYS_mq_open, &[QUEUE.as_ptr() as usize, (libc::O_CREAT | libc::O_RDWR) as usize, 0o666, 0]).ok();
    let _by_name = UnixListener::bind_addr(&SocketAddr::from_abstract_name("neighbour")?)?;
    let _by_port = std::net::TcpListener::bind(("127.0.0.1", PORT))?;
    hold(&format!("settled {}", shared >= 0))
}

/// A story in which a neighbour has settled, and this half looks for what is his.
fn beside(stage: &Stage, half: &str, expected: &[&str]) -> Judged {
    let neighbour = Neighbour::start(stage, "half.settle")?;
    if neighbour.said() != "settled true" {
        return Err(format!("the neighbour could not settle: {}", neighbour.said()));
    }
    let run = stage.own(half)?;
    let said = run.stdout.trim_end();
    if expected.contains(&said) { Ok(()) } else { Err(format!("expected {expected:?}; {}", run.told())) }
}

fn seconds_since_boot() -> Said {
    Ok(rustix::time::clock_gettime(rustix::time::ClockId::Boottime).tv_sec.to_string())
}

/// Two runs say something that must not be the same.
fn unlike(one: Run, two: Run) -> Judged {
    if one.stdout.trim().is_empty() {
        return Err(format!("said nothing; {}", one.told()));
    }
    if one.stdout == two.stdout { Err(format!("said the same twice: {:?}", one.stdout)) } else { Ok(()) }
}

/// A story in which a run says something that the host's own file does not.
fn unlike_host(stage: &Stage, half: &str, host: &str) -> Judged {
    let run = stage.own(half)?;
    let host = fs::read_to_string(host).unwrap_or_default();
    if run.stdout.trim() == host.trim() { Err(format!("is the host's: {:?}", run.stdout)) } else { Ok(()) }
}

fn look_for_files() -> Said {
    let seen = ["/tmp/word", "/dev/shm/word", "/layered/word"].into_iter().filter(|path| fs::read(path).is_ok());
    let seen: Vec<&str> = seen.collect();
    Ok(if seen.is_empty() { "nothing".into() } else { seen.join(" ") })
}

fn look_for_processes() -> Said {
    let names = fs::read_dir("/proc")?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let count = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).count();
    Ok(if count <= 2 { "only its own".into() } else { format!("{count} processes") })
}

fn look_for_queue() -> Said {
    got(call(libc::SYS_mq_open, &[QUEUE.as_ptr() as usize, libc::O_RDONLY as usize, 0, 0]))
}

pub const HALVES: &[Row] = &[
    Row::own("half.settle", "leaves something wherever it can, and stays", settle),
    Row::own("half.files", "looks for files of a neighbour", look_for_files),
    Row::own("half.processes", "looks for processes of a neighbour", look_for_processes),
    Row::own("half.shared_memory", "looks for a neighbour's memory", || {
        got(call(libc::SYS_shmget, &[KEY, SEGMENT, 0o666]))
    }),
    Row::own("half.messages", "looks for a neighbour's messages", || got(call(libc::SYS_msgget, &[KEY, 0o666]))),
    Row::own("half.semaphores", "looks for a neighbour's semaphores", || got(call(libc::SYS_semget, &[KEY, 1, 0o666]))),
    Row::own("half.random", "draws numbers", || {
        let mut bytes = [0_u8; 16];
        std::io::Read::read_exact(&mut fs::File::open("/dev/urandom")?, &mut bytes)?;
        let mut drawn = [0_u8; 16];
        rustix::rand::getrandom(&mut drawn, rustix::rand::GetRandomFlags::empty())?;
        Ok(format!("{bytes:?} {drawn:?}"))
    }),
    Row::own("half.machine_id", "reads the machine's number", || fs::read_to_string("/etc/machine-id")),
    Row::own("half.host_name", "asks for the machine's name", || {
        Ok(rustix::system::uname().nodename().to_string_lossy().into_owned())
    }),
    Row::own("half.up_time", "asks since when the machine is up", seconds_since_boot),
    Row::own("half.cgroup", "looks in which groups it is", || {
        let text = fs::read_to_string("/proc/self/cgroup")?;
        let groups: std::collections::BTreeSet<&str> =
            text.lines().filter_map(|line| line.splitn(3, ':').nth(2)).collect();
        Ok(groups.into_iter().collect::<Vec<_>>().join(" "))
    }),
    Row::own("half.queue", "looks for a neighbour's queue", look_for_queue),
    Row::own("half.abstract", "calls a neighbour's socket", || {
        got(UnixStream::connect_addr(&SocketAddr::from_abstract_name("neighbour")?))
    }),
    Row::own("half.port", "calls a neighbour's port", || got(std::net::TcpStream::connect(("127.0.0.1", PORT)))),
];

pub const ROWS: &[Row] = &[
    Row::story("neighbour.files", "looks for files that another sandbox wrote", |stage| {
        beside(stage, "half.files", &["nothing"])
    })
    .by(&[MountNamespace, Overlay]),
    Row::story("neighbour.files_later", "looks for files that a sandbox before it wrote", |stage| {
        drop(Neighbour::start(stage, "half.settle")?);
        stage.own("half.files")?.must_say("nothing")
    })
    .by(&[MountNamespace, Overlay]),
    Row::story("neighbour.processes", "looks for processes of another sandbox", |stage| {
        beside(stage, "half.processes", &["only its own"])
    })
    .by(&[PidNamespace]),
    Row::story("neighbour.shared_memory", "looks for shared memory of another sandbox", |stage| {
        beside(stage, "half.shared_memory", &["ENOENT", "EPERM"])
    })
    .by(&[IpcNamespace]),
    Row::story("neighbour.messages", "looks for messages of another sandbox", |stage| {
        beside(stage, "half.messages", &["ENOENT", "EPERM"])
    })
    .by(&[IpcNamespace]),
    Row::story("neighbour.semaphores", "looks for semaphores of another sandbox", |stage| {
        beside(stage, "half.semaphores", &["ENOENT", "EPERM"])
    })
    .by(&[IpcNamespace]),
    Row::story("neighbour.queue", "looks for a message queue of another sandbox", |stage| {
        beside(stage, "half.queue", &["ENOENT", "EPERM", "ENOSYS"])
    })
    .by(&[IpcNamespace]),
    Row::story("neighbour.abstract_socket", "calls a socket of another sandbox", |stage| {
        beside(stage, "half.abstract", &["ECONNREFUSED", "EPERM"])
    })
    .by(&[NetworkNamespace]),
    Row::story("neighbour.port", "calls a port of another sandbox", |stage| {
        beside(stage, "half.port", &["ECONNREFUSED", "EPERM"])
    })
    .by(&[NetworkNamespace]),
    Row::story("alike.random", "draws the same numbers as another", |stage| {
        unlike(stage.own("half.random")?, stage.own("half.random")?)
    }),
    Row::story("alike.uuid", "has the same name from the kernel as another", |stage| {
        let script = "cat /proc/sys/kernel/random/uuid || echo $$RANDOM$RANDOM$RANDOM";
        unlike(stage.shell(script)?, stage.shell(script)?)
    })
    .for_programs(),
    Row::story("alike.memory", "has its stack where another has it", |stage| {
        let script = "grep -F '[stack]' /proc/self/maps";
        unlike(stage.shell(script)?, stage.shell(script)?)
    })
    .for_programs(),
    Row::story("alike.machine_id", "has the machine's number of another", |stage| {
        unlike(stage.own("half.machine_id")?, stage.own("half.machine_id")?)
    })
    .by(&[MountNamespace]),
    Row::story("alike.machine_id_of_host", "learns the number of the host", |stage| {
        unlike_host(stage, "half.machine_id", "/etc/machine-id")
    })
    .by(&[MountNamespace]),
    Row::story("alike.host_name", "learns the name of the host", |stage| {
        unlike_host(stage, "half.host_name", "/proc/sys/kernel/hostname")
    })
    .by(&[UtsNamespace]),
    Row::story("alike.up_time", "learns since when the host is up", |stage| {
        let run = stage.own("half.up_time")?;
        let seconds = |text: &str| text.trim().parse::<i64>().map_err(|_| run.told());
        let (inside, host) = (seconds(&run.stdout)?, seconds(&crate::saying::line(seconds_since_boot()))?);
        if (inside - host).abs() < 30 { Err(format!("it is up for {host} s too")) } else { Ok(()) }
    })
    .by(&[sandbox::Wall::TimeNamespace]),
    Row::story("alike.cgroup", "learns in which group of the host it is", |stage| {
        stage.own("half.cgroup")?.must_say("/")
    })
    .by(&[CgroupNamespace]),
];
