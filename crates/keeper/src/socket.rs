//! Where the socket lies and whose it is: made with nobody else's rights from its first moment on, refused while
//! another keeper lives, replaced when its keeper is dead.

use crate::error::KeeperError;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use system::file::holder_of;

/// The name of the socket in an image's directory.
pub const SOCKET: &str = "telos.sock";
/// Addresses of sockets are no longer than this.
const ADDRESS_BYTES: usize = 107;
/// A keeper that says nothing for so long is asked whether it is there, and may take as long to say so.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

pub fn socket_path(directory: &Path) -> PathBuf {
    directory.join(SOCKET)
}

/// A way to the socket that is short enough, whatever the directory is called. Lives as long as its descriptor.
struct Address {
    path: PathBuf,
    _directory: Option<File>,
}

impl Address {
    fn of(directory: &Path) -> Result<Address, KeeperError> {
        let path = socket_path(directory);
        if path.as_os_str().as_bytes().len() <= ADDRESS_BYTES {
            return Ok(Address { path, _directory: None });
        }
        let opened = File::open(directory).map_err(KeeperError::file("open", directory))?;
        let path = Path::new("/proc/self/fd").join(opened.as_raw_fd().to_string()).join(OsStr::new(SOCKET));
        Ok(Address { path, _directory: Some(opened) })
    }
}

/// Who is on the other side.
pub(crate) struct Peer {
    pub pid: i32,
    pub uid: u32,
}

pub(crate) fn peer(stream: impl AsFd) -> Result<Peer, KeeperError> {
    let peer = rustix::net::sockopt::socket_peercred(stream).map_err(KeeperError::system("ask who connects"))?;
    Ok(Peer { pid: peer.pid.as_raw_pid(), uid: peer.uid.as_raw() })
}

/// Whether this user may talk to our image: we and root.
pub(crate) fn is_welcome(peer: &Peer) -> bool {
    peer.uid == rustix::process::geteuid().as_raw() || peer.uid == 0
}

pub(crate) fn connect(directory: &Path) -> Result<UnixStream, KeeperError> {
    let address = match Address::of(directory) {
        Err(KeeperError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
            return Err(KeeperError::NotUp(directory.into()));
        }
        address => address?,
    };
    connect_in_time(&address.path).map_err(|source| match source.kind() {
        ErrorKind::WouldBlock => KeeperError::Silent { keeper: format!("at {}", socket_path(directory).display()) },
        ErrorKind::NotFound | ErrorKind::ConnectionRefused | ErrorKind::NotADirectory => {
            KeeperError::NotUp(directory.into())
        }
        ErrorKind::PermissionDenied => KeeperError::NotYours(socket_path(directory)),
        _ => KeeperError::File { action: "connect to", path: socket_path(directory), source },
    })
}

/// Nothing that is done to the connection waits longer than a keeper may take: not even connecting, which waits for a place
/// among those whom the keeper has not let in.
fn connect_in_time(path: &Path) -> std::io::Result<UnixStream> {
    use rustix::net::sockopt::{Timeout, set_socket_timeout};
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    for direction in [Timeout::Recv, Timeout::Send] {
        set_socket_timeout(&socket, direction, Some(SILENCE))?;
    }
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

/// The listening socket of a directory, and the right to it, which ends with the process however it ends.
pub(crate) struct Seat {
    pub listener: UnixListener,
    /// Which socket is ours: by its name there may be another's, if the directory was moved or copied.
    inode: u64,
    /// The directory itself, wherever it is now.
    right: File,
}

impl Seat {
    /// Takes the directory for this keeper, or says who has it.
    pub fn take(directory: &Path) -> Result<Seat, KeeperError> {
        let right = claim(directory)?;
        let path = socket_path(directory);
        match std::fs::symlink_metadata(&path) {
            Ok(found) if !found.file_type().is_socket() => return Err(KeeperError::NotASocket(path)),
            // We hold the right to it: whoever made this one is dead.
            Ok(_) => std::fs::remove_file(&path).map_err(KeeperError::file("remove", &path))?,
            Err(_) => {}
        }
        let address = Address::of(directory)?;
        // The process has one thread yet, so nothing else is made with this mask.
        let mask = rustix::process::umask(Mode::from_raw_mode(0o177));
        let bound = UnixListener::bind(&address.path);
        rustix::process::umask(mask);
        let listener = bound.map_err(KeeperError::file("make", &path))?;
        listener.set_nonblocking(true).map_err(KeeperError::file("listen on", &path))?;
        let inode = inode_of_socket(&right).map_err(|error| KeeperError::file("look at", &path)(error.into()))?;
        Ok(Seat { listener, inode, right })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if inode_of_socket(&self.right) == Ok(self.inode) {
            // Another keeper replaces what stays behind.
            let _ = unlinkat(&self.right, SOCKET, AtFlags::empty());
        }
    }
}

fn inode_of_socket(directory: &File) -> Result<u64, Errno> {
    statat(directory, SOCKET, AtFlags::SYMLINK_NOFOLLOW).map(|found| found.st_ino)
}

/// A lock on the directory itself, so that two keepers that start at once do not take each other's socket away.
fn claim(directory: &Path) -> Result<File, KeeperError> {
    const TRIES: u32 = 20;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty()).map_err(|error| match error {
        Errno::ACCESS => KeeperError::NotYours(directory.into()),
        error => KeeperError::file("open", directory)(error.into()),
    });
    let right = File::from(opened?);
    for attempt in 0..TRIES {
        match flock(&right, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(right),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(KeeperError::file("lock", directory)(error.into())),
        }
        match connect(directory) {
            Ok(stream) => return Err(KeeperError::IsUp { directory: directory.into(), pid: peer(&stream)?.pid }),
            Err(error @ KeeperError::NotYours(_)) => return Err(error),
            Err(_) => {}
        }
        // It has the right and does not listen: it begins or ends, which takes a moment.
        std::thread::sleep(Duration::from_millis(5 * u64::from(attempt)));
    }
    Err(match holder_of(directory) {
        Some(pid) => KeeperError::Unreachable { directory: directory.into(), pid },
        None => KeeperError::Changing(directory.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_socket_is_private_and_taken_once() {
        let directory = tempfile::tempdir().unwrap();
        let seat = Seat::take(directory.path()).unwrap();
        let mode = std::fs::metadata(socket_path(directory.path())).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let second = Seat::take(directory.path()).err().unwrap();
        let our_pid = std::process::id() as i32;
        assert!(matches!(second, KeeperError::IsUp { pid, .. } if pid == our_pid), "{second}");
        drop(seat);
        assert!(!socket_path(directory.path()).exists());
    }

    /// The story: a directory was moved, another keeper took its place, and the first removed the second's socket in the end.
    #[test]
    fn a_keeper_removes_its_own_socket_only_and_wherever_that_is() {
        let parent = tempfile::tempdir().unwrap();
        let [place, moved] = ["place", "moved"].map(|name| parent.path().join(name));
        std::fs::create_dir(&place).unwrap();
        let first = Seat::take(&place).unwrap();
        std::fs::rename(&place, &moved).unwrap();
        std::fs::create_dir(&place).unwrap();
        let second = Seat::take(&place).unwrap();
        drop(first);
        assert!(connect(&place).is_ok() && !socket_path(&moved).exists());
        std::fs::remove_file(socket_path(&place)).unwrap();
        std::fs::write(socket_path(&place), "somebody's").unwrap();
        drop(second);
        assert_eq!(std::fs::read(socket_path(&place)).unwrap(), b"somebody's");
    }

    /// The story: it was said for ever that somebody is starting or stopping.
    #[test]
    fn a_keeper_that_lost_its_socket_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let _seat = Seat::take(directory.path()).unwrap();
        std::fs::remove_file(socket_path(directory.path())).unwrap();
        let second = Seat::take(directory.path()).err().unwrap();
        assert!(second.to_string().contains(&format!("kill {}", std::process::id())), "{second}");
    }

    #[test]
    fn a_dead_socket_is_replaced_and_a_file_is_not() {
        let directory = tempfile::tempdir().unwrap();
        drop(UnixListener::bind(socket_path(directory.path())).unwrap());
        assert!(matches!(connect(directory.path()), Err(KeeperError::NotUp(_))));
        drop(Seat::take(directory.path()).unwrap());
        std::fs::write(socket_path(directory.path()), "mine").unwrap();
        assert!(matches!(Seat::take(directory.path()), Err(KeeperError::NotASocket(_))));
        assert_eq!(std::fs::read_to_string(socket_path(directory.path())).unwrap(), "mine");
    }

    /// Addresses of sockets end after 108 bytes, names of directories do not.
    #[test]
    fn directories_may_have_long_names() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("x".repeat(100)).join("y".repeat(100));
        std::fs::create_dir_all(&deep).unwrap();
        let seat = Seat::take(&deep).unwrap();
        assert!(connect(&deep).is_ok());
        drop(seat);
        assert!(matches!(connect(&deep), Err(KeeperError::NotUp(_))));
        assert!(matches!(connect(&deep.join("missing")), Err(KeeperError::NotUp(_))));
    }
}
