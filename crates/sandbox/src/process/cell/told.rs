//! What is said between a cell's process and the one outside: a message each way, with descriptors. Only we speak here; what
//! runs inside never has an end of it.

use super::super::source::About;
use crate::error::SandboxError;
use crate::order::Order;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::borrow::Cow;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;
use system::clone::End;
use system::passing::{self, DESCRIPTORS_MAX, Received};

/// What the process is asked for.
#[derive(Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum Told<'a> {
    /// With standard input, output and error, the socket that is reported to, and a mount for each grant.
    Run { order: Cow<'a, Order>, about: Vec<About>, is_hosted: bool },
    /// With the socket that the program is told its work by.
    House { program: CString, arguments: Vec<CString> },
}

#[derive(Serialize, Deserialize, Debug)]
pub enum Answer {
    /// With a descriptor of the process.
    Made {
        pid: i32,
    },
    /// The process is ready, or the program runs.
    Housed,
    Failed {
        errno: i32,
    },
    Refused(Reason),
    Ended {
        status: i32,
        user: Duration,
        system: Duration,
        memory_bytes: u64,
    },
}

/// Why an order cannot be run, on its way to the one outside.
#[derive(Serialize, Deserialize, Debug)]
pub enum Reason {
    Grant { path: OsString, why: String },
    NoProgram { program: String },
    Other(String),
}

impl From<SandboxError> for Reason {
    fn from(error: SandboxError) -> Reason {
        match error {
            SandboxError::Grant { path, why } => Reason::Grant { path: path.into(), why },
            SandboxError::NoProgram { program } => Reason::NoProgram { program },
            other => Reason::Other(other.to_string()),
        }
    }
}

impl From<Reason> for SandboxError {
    fn from(reason: Reason) -> SandboxError {
        match reason {
            Reason::Grant { path, why } => SandboxError::Grant { path: path.into(), why },
            Reason::NoProgram { program } => SandboxError::NoProgram { program },
            Reason::Other(message) => SandboxError::Told(message),
        }
    }
}

/// Longer messages lie in a file in memory: a socket takes no more for sure.
const INLINE_BYTES: usize = 64 << 10;
/// The status of a process that was killed.
pub const KILLED: i32 = 9;

/// The end that the one outside has.
#[derive(Clone)]
pub struct Line(Arc<OwnedFd>);

impl Line {
    pub fn new(socket: OwnedFd) -> Line {
        Line(Arc::new(socket))
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.0
    }

    /// The answer, with its descriptor.
    pub fn ask(
        &self,
        told: &Told<'_>,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(Answer, Option<OwnedFd>), SandboxError> {
        let trouble = SandboxError::system("ask a cell; if it was ended, try again");
        say(&self.0, told, descriptors)
            .and_then(|()| hear(&self.0))
            .map(|(answer, mut descriptors)| (answer, descriptors.pop()))
            .map_err(trouble)
    }

    /// Waits until it says that it is ready with what it does.
    pub fn await_word(&self, action: &'static str) -> Result<(), SandboxError> {
        match hear(&self.0).map_err(SandboxError::system(action))?.0 {
            Answer::Housed => Ok(()),
            Answer::Failed { errno } => Err(SandboxError::system(action)(Errno::from_raw_os_error(errno))),
            _ => Err(SandboxError::system(action)(Errno::BADMSG)),
        }
    }

    /// How a run's first process ended. If the cell's process went with it, that was a kill.
    pub fn hear_end(&self) -> End {
        match hear(&self.0) {
            Ok((Answer::Ended { status, user, system, memory_bytes }, _)) => End { status, user, system, memory_bytes },
            _ => End { status: KILLED, user: Duration::ZERO, system: Duration::ZERO, memory_bytes: 0 },
        }
    }
}

pub fn say(socket: &OwnedFd, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> rustix::io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(|_| Errno::INVAL)?;
    let file;
    let mut all: Vec<BorrowedFd<'_>> = Vec::new();
    let (kind, inline) = if bytes.len() > INLINE_BYTES {
        file = File::from(memfd_create(c"order", MemfdFlags::CLOEXEC)?);
        file.write_all_at(&bytes, 0).map_err(|_| Errno::NOSPC)?;
        all.push(file.as_fd());
        (b"f", &[][..])
    } else {
        (b"i", bytes.as_slice())
    };
    all.extend(descriptors);
    passing::send(socket, &[IoSlice::new(kind), IoSlice::new(inline)], &all).map(drop)
}

/// An error when the other end has gone.
pub fn hear<T: DeserializeOwned>(socket: &OwnedFd) -> rustix::io::Result<(T, Vec<OwnedFd>)> {
    let mut kind = [0u8; 1];
    // How long the next message is, and that it is there.
    let length = rustix::io::retry_on_intr(|| {
        recv(socket, &mut kind, RecvFlags::PEEK | RecvFlags::TRUNC).map(|(_, length)| length)
    })?;
    let mut bytes = vec![0u8; length.checked_sub(1).ok_or(Errno::PIPE)?];
    let mut places = [IoSliceMut::new(&mut kind), IoSliceMut::new(&mut bytes)];
    let Received { bytes: received, mut descriptors } =
        passing::receive(socket, &mut places, DESCRIPTORS_MAX, RecvFlags::empty())?;
    if kind == *b"f" {
        if descriptors.is_empty() {
            return Err(Errno::INVAL);
        }
        let file = File::from(descriptors.remove(0));
        let size = file.metadata().map_err(|_| Errno::IO)?.len() as usize;
        bytes = vec![0; size];
        file.read_exact_at(&mut bytes, 0).map_err(|_| Errno::IO)?;
    } else {
        bytes.truncate(received.saturating_sub(1));
    }
    let message = postcard::from_bytes(&bytes).map_err(|_| Errno::INVAL)?;
    Ok((message, descriptors))
}
