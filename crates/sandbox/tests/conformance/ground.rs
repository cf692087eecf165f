//! What a program inside aims at: files, sockets and processes of the host, made anew for every row, and what the order
//! that is run says of them. An attacker who knows all names is the one to keep in.

use sandbox::{Access, Grant, Limits, Network, Order, View};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The directory in which our own program lies inside.
pub const TOOL: &str = "/tool";
/// A directory that may be read.
pub const GRANTED: &str = "/granted";
/// A directory whose writes stay in a layer.
pub const WORK: &str = "/layered";

pub struct Ground {
    root: tempfile::TempDir,
    /// A word that is in a file, a variable, an argument and a descriptor of the host, and must not be seen inside.
    pub secret: String,
    /// A process of the host, which does nothing.
    bystander: Child,
    listeners: [UnixListener; 4],
    pub listener: TcpListener,
    tool: PathBuf,
}

impl Ground {
    /// `tool` is the directory that holds this binary and nothing else.
    pub fn new(tool: &Path, secret: String) -> io::Result<Ground> {
        let root = tempfile::Builder::new().prefix("ground-").tempdir()?;
        let at = |name: &str| root.path().join(name);
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755))?;
        fs::write(at("secret"), format!("{secret}\n"))?;
        fs::create_dir(at("granted"))?;
        fs::write(at("granted/note"), "granted\n")?;
        symlink(at("secret"), at("granted/absolute"))?;
        symlink("../secret", at("granted/relative"))?;
        symlink("..", at("granted/up"))?;
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("granted/fifo"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o666),
            0,
        )?;
        fs::create_dir(at("work"))?;
        fs::write(at("work/original"), "as it was\n")?;
        fs::write(at("work/other"), "another\n")?;
        fs::create_dir(at("work/folder"))?;
        fs::write(at("work/folder/leaf"), "leaf\n")?;
        let abstract_address = SocketAddr::from_abstract_name(abstract_name())?;
        let listeners = [
            UnixListener::bind(at("socket"))?,
            UnixListener::bind(at("granted/socket"))?,
            UnixListener::bind(at("work/socket"))?,
            UnixListener::bind_addr(&abstract_address)?,
        ];
        for socket in ["granted/socket", "work/socket"] {
            fs::set_permissions(at(socket), fs::Permissions::from_mode(0o777))?;
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        // Longer than all runs of a soak take together.
        let bystander = Command::new("sleep").arg("7200").stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        Ok(Ground { root, secret, bystander, listeners, listener, tool: tool.into() })
    }

    /// A path of the host.
    pub fn host(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn bystander_lives(&mut self) -> bool {
        matches!(self.bystander.try_wait(), Ok(None))
    }

    /// Whether somebody called one of the host's sockets.
    pub fn was_called(&self) -> bool {
        let is_waiting = |listener: &UnixListener| listener.set_nonblocking(true).is_ok() && listener.accept().is_ok();
        let by_network = self.listener.set_nonblocking(true).is_ok() && self.listener.accept().is_ok();
        by_network || self.listeners.iter().any(is_waiting)
    }

    /// The usual order: our own program, one directory to read, one with a layer, limits that are soon reached.
    pub fn order(&self, program: &[&str]) -> Order {
        let grant = |host: PathBuf, inside: &str, access| Grant { host, inside: inside.into(), access };
        Order {
            program: program.iter().map(OsString::from).collect(),
            environment: self.environment(),
            directory: "/tmp".into(),
            view: View {
                grants: vec![
                    grant(self.tool.clone(), TOOL, Access::Read),
                    grant(self.host("granted"), GRANTED, Access::Read),
                    grant(self.host("work"), WORK, Access::Layered),
                ],
                ..View::default()
            },
            network: Network::None,
            sockets: Default::default(),
            limits: Limits { time: Some(Duration::from_secs(15)), memory_bytes: Some(1 << 30), ..Limits::default() },
            allows_weaker: false,
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let port = self.listener.local_addr().map(|address| address.port()).unwrap_or(0);
        let told = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", "/tmp".into()),
            ("LANG", "C.UTF-8".into()),
            ("HOST_ROOT", self.root.path().display().to_string()),
            ("HOST_SECRET", self.host("secret").display().to_string()),
            ("HOST_SOCKET", self.host("socket").display().to_string()),
            ("HOST_ABSTRACT", abstract_name()),
            ("HOST_PORT", port.to_string()),
            ("HOST_PID", self.bystander.id().to_string()),
            ("HOST_SUPERVISOR", std::process::id().to_string()),
        ];
        told.into_iter().map(|(name, value): (&str, String)| (name.into(), value.into())).collect()
    }
}

fn abstract_name() -> String {
    format!("telos-conformance-{}", std::process::id())
}

impl Drop for Ground {
    fn drop(&mut self) {
        self.bystander.kill().ok();
        self.bystander.wait().ok();
    }
}
