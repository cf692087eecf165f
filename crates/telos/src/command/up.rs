//! `telos up`: an image kept alive, as several processes. And the others of them, which nobody starts by hand.

use crate::host::outside::Line;
use crate::images::check_apart;
use crate::options::{Color, ImageDirectory, MachineOptions, parse_bytes, parse_time};
use crate::report;
use crate::resident::Resident;
use crate::warden::Warded;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use keeper::{Bounds, Notice, Plan};
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  telos up garden                      make or open the image in ./garden
  telos up garden --timeout 10s --memory 1G --deny processes
  telos send --image garden '1 + 2'    talk to it, from another terminal
  telos status --image garden          what it is doing
  kill -TERM PID                       let it come to its end; so does Ctrl-C

It prints one line when it is ready. A second SIGTERM hurries it.

Exit codes:
    0   it came to its end
    1   it could not be started, or was lost; nothing acknowledged is lost
    2   wrong usage";

/// Variables that programs need to find their way about; others may hold secrets, and stay here.
const ENVIRONMENT: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "RUST_BACKTRACE",
];

/// Keep an image alive, for many clients at once
///
/// Runs in the foreground until SIGTERM or Ctrl-C. Requests come through a socket in the image's directory that only
/// you and root may use; each is a transaction. Limits hold for each request; a client may ask for less. A directory
/// that is named is made if there is none; without a name it is $TELOS_IMAGE, or this one if there is an image in it.
/// Each time it wakes up, the object Telos in its Lobby receives awake; if that fails, it is up all the same. If waking up
/// ends the process, --asleep brings it up to be mended.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Up {
    /// The directory of the image
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    directory: Option<PathBuf>,

    #[command(flatten)]
    image: ImageOptions,

    /// Let the image process have this environment variable too
    #[arg(long, value_name = "NAME")]
    env: Vec<OsString>,

    /// What the image and its dreams may ask of the world outside, and the secrets for it; broker.toml beside the image if
    /// there is one
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    broker: Option<PathBuf>,

    /// Write down what the image asks of the world outside and what it is answered, for dreams to be answered the same
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    record: Option<PathBuf>,

    /// How long sandboxes that are ready wait for the next run
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "5m")]
    keep_ready: Duration,

    /// Print a JSON object when it is ready
    #[arg(long)]
    json: bool,
}

/// What the image process is told.
#[derive(Args, Debug)]
pub struct ImageOptions {
    #[command(flatten)]
    machine: MachineOptions,

    /// Do not send awake, and give no coroutine a turn: for an image that does harm when it wakes up
    #[arg(long)]
    asleep: bool,

    /// How much of the image may lie in memory: 256M, 2GiB or bytes
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Limits")]
    cache: Option<u64>,
}

impl Up {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let directory = ImageDirectory { image: self.directory.clone() }.to_open()?;
        if std::fs::metadata(&directory).is_ok_and(|found| !found.is_dir()) {
            bail!("{} is no directory; an image is one: telos up DIR", directory.display());
        }
        system::file::make_directory(&directory)?;
        let directory = directory.canonicalize().context("cannot find the directory just made")?;
        let bounds = Bounds { timeout: self.image.machine.timeout, ..Bounds::default() };
        let program = std::env::current_exe().context("cannot find this program")?;
        let arguments = self.image.to_arguments(&directory, self.record.is_some());
        let names = ENVIRONMENT.iter().map(OsString::from).chain(self.env.iter().cloned());
        let environment = names.filter_map(|name| std::env::var_os(&name).map(|value| (name, value))).collect();
        raise_limit_of_descriptors();
        let warden_arguments = vec![WARDEN.into(), format!("--keep-ready={}", self.keep_ready.as_secs_f64()).into()];
        let broker_arguments = self.broker_arguments(&directory)?;
        let plan = Plan { directory, bounds, program, arguments, warden_arguments, broker_arguments, environment };
        // Commands of the image run as the same user, and must not read the token of a person here.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
        keeper::keep(plan, &mut |notice| tell(&notice, self.json))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Up {
    /// What can be said to be wrong is said now, and not to the first program that needs it.
    fn broker_arguments(&self, directory: &Path) -> anyhow::Result<Vec<OsString>> {
        let house = match &self.broker {
            Some(file) => Some(file.clone()),
            None => Some(directory.join(HOUSE)).filter(|file| file.exists()),
        };
        let mut arguments = vec![BROKER.into(), "--image".into(), directory.into()];
        if let Some(house) = house {
            let house = house.canonicalize().with_context(|| format!("cannot find {}", house.display()))?;
            let directories = broker::House::read(&house)?.directories();
            check_apart(Some(directory), directories)
                .map_err(|why| anyhow!("[files] of {}: {why}", house.display()))?;
            arguments.extend(["--house".into(), house.into_os_string()]);
        }
        if let Some(record) = &self.record {
            crate::brokered::open_recording(record)?;
            let record = record.canonicalize().with_context(|| format!("cannot find {}", record.display()))?;
            arguments.extend(["--record".into(), record.into_os_string()]);
        }
        Ok(arguments)
    }
}

/// Each client and each run has a descriptor, and a thousand of them are allowed; programs inside have limits of their own.
fn raise_limit_of_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Where it cannot be raised, clients beyond it are refused.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// What the warden is called on the command line.
const WARDEN: &str = "warden";

/// The process that watches over runs; `telos up` starts it
#[derive(Args, Debug)]
#[command(name = WARDEN, hide = true)]
pub struct Warden {
    #[arg(long, value_parser = parse_time)]
    keep_ready: Duration,
}

impl Warden {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let zygotes = super::exec::zygote::kinds();
        let pool = sandbox::warden::Pooled::with_zygotes(zygotes, self.keep_ready);
        keeper::ward(Warded(pool), self.keep_ready)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What the broker is called on the command line.
const BROKER: &str = "broker";
/// What the operator allows, in the directory of the image.
const HOUSE: &str = "broker.toml";

/// The process that makes calls to the world outside; `telos up` starts it
#[derive(Args, Debug)]
#[command(name = BROKER, hide = true)]
pub struct Broker {
    #[arg(long)]
    image: PathBuf,
    #[arg(long)]
    house: Option<PathBuf>,
    #[arg(long)]
    record: Option<PathBuf>,
}

impl Broker {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        // Commands of the image run as the same user, and must not read what this process has.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
        let brokered = crate::brokered::Brokered::new(&self.image, self.house.as_deref(), self.record.as_deref())?;
        keeper::broker(brokered)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What whoever started it sees.
fn tell(notice: &Notice<'_>, is_json: bool) {
    match notice {
        Notice::Ready { directory, socket, keeper_pid, image_pid } => {
            let line = match is_json {
                true => json!({
                    "ready": true, "directory": directory, "socket": socket, "pid": keeper_pid, "image_pid": image_pid,
                })
                .to_string(),
                false => {
                    let (directory, socket) = (directory.display(), socket.display());
                    report::harmless(&format!("{directory} is up: process {keeper_pid}, socket {socket}"))
                }
            };
            // Whoever does not read it has no use for it.
            let _ = std::io::Write::write_all(&mut std::io::stdout(), format!("{line}\n").as_bytes());
        }
        Notice::Stopping { under_way: 0 } => {}
        Notice::Stopping { under_way } => {
            let (requests, them) = (requests(*under_way), if *under_way == 1 { "it" } else { "them" });
            report::say(&format!("stopping: {requests} under way; a second signal interrupts {them}"));
        }
        Notice::Interrupting { under_way } => {
            report::say(&format!("stopping: {} interrupted", requests(*under_way)));
        }
        Notice::WardenLost { cause } => {
            report::say(&format!("warning: the process that watches over runs ended, and with it the runs: {cause}"));
        }
        Notice::BrokerLost { cause } => {
            report::say(&format!("warning: the process that makes calls to the world outside ended: {cause}"));
        }
        Notice::RunLost { who, why } => crate::warden::record_lost(who, why),
        Notice::WrongToken { who, count } => {
            let (name, process, user) = (&who.name, who.process, who.user);
            let words =
                format!("warning: a wrong token was shown by {name}, process {process} of user {user}; {count} so far");
            report::say(&report::harmless(&words));
        }
        Notice::Deaf { seconds } => {
            report::say(&format!("warning: a request goes on {seconds} s after it began, though it was told to stop"));
        }
    }
}

fn requests(count: usize) -> String {
    if count == 1 { "1 request is".to_string() } else { format!("{count} requests are") }
}

impl ImageOptions {
    /// The same options, for the image process to read again.
    fn to_arguments(&self, directory: &Path, is_recorded: bool) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![NAME.into()];
        let mut option = |name: &str, value: Option<String>| {
            arguments.extend(value.map(|value| format!("--{name}={value}").into()));
        };
        let machine = &self.machine;
        option("fuel", machine.fuel.map(|fuel| fuel.to_string()));
        option("memory", machine.memory.map(|memory| memory.to_string()));
        option("depth", machine.depth.map(|depth| depth.to_string()));
        option("timeout", machine.timeout.map(|timeout| format!("{}ms", timeout.as_secs_f64() * 1e3)));
        option("cache", self.cache.map(|cache| cache.to_string()));
        for denied in &machine.deny {
            let value = clap::ValueEnum::to_possible_value(denied);
            option("deny", value.map(|value| value.get_name().to_string()));
        }
        arguments.extend(machine.no_host.then(|| "--no-host".into()));
        arguments.extend(self.asleep.then(|| "--asleep".into()));
        arguments.extend(is_recorded.then(|| "--recorded".into()));
        arguments.extend(["--".into(), directory.into()]);
        arguments
    }
}

/// What the image process is called on the command line.
pub const NAME: &str = "image-process";

/// The process that holds the image; `telos up` starts it
#[derive(Args, Debug)]
#[command(name = NAME, hide = true)]
pub struct ImageProcess {
    #[command(flatten)]
    image: ImageOptions,

    /// Files too are read and written by the broker
    #[arg(long)]
    recorded: bool,

    directory: PathBuf,
}

impl ImageProcess {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        keeper::live(|outside| {
            std::env::set_current_dir(&self.directory).map_err(|error| error.to_string())?;
            let ImageOptions { machine, cache, asleep } = &self.image;
            Resident::open(&self.directory, machine, *cache, *asleep, Some(Line::live(outside, self.recorded)))
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ImageProcess {
    /// The keeper tells what went wrong, in its own words.
    pub fn run_quietly(self, _color: Color) -> anyhow::Result<ExitCode> {
        match self.run() {
            Ok(code) => Ok(code),
            Err(error) if error.downcast_ref::<keeper::KeeperError>().is_some_and(is_told) => Ok(ExitCode::FAILURE),
            Err(error) => Err(error),
        }
    }
}

fn is_told(error: &keeper::KeeperError) -> bool {
    matches!(error, keeper::KeeperError::ImageFailed { .. })
}
