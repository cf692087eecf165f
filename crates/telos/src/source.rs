//! A program's own text: a file, or standard input for `-`. Owns how much of it there may be, and that reading it ends
//! with the time that the program has.

use crate::host::{WAIT_SLICE, reason};
use anyhow::{Context, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

/// Messages take some thirty times the room of their text: more than this is no program.
const SIZE_LIMIT_BYTES: usize = 64 << 20;
const CHUNK_BYTES: usize = 64 * 1024;

/// Reads a program; none if the time is up before its end.
pub fn read(path: &str, deadline: Option<Instant>) -> anyhow::Result<Option<String>> {
    let bytes = if path == "-" {
        read_all(rustix::stdio::stdin(), deadline).context("cannot read standard input")?
    } else {
        read_file(path, deadline).with_context(|| format!("cannot read \"{path}\""))?
    };
    bytes.map(|bytes| text(path, bytes)).transpose()
}

/// A pipe with a name is not waited for when it is opened, but when it is read, where the clock is looked at.
fn read_file(path: &str, deadline: Option<Instant>) -> anyhow::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = open(path, flags, Mode::empty()).map_err(plain)?;
    read_all(file.as_fd(), deadline)
}

fn read_all(file: BorrowedFd<'_>, deadline: Option<Instant>) -> anyhow::Result<Option<Vec<u8>>> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late {
            return Ok(None);
        }
        if !is_ready(file) {
            continue;
        }
        match rustix::io::read(file, &mut chunk[..]) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(plain(error)),
        }
        let limit_mib = SIZE_LIMIT_BYTES >> 20;
        ensure!(bytes.len() <= SIZE_LIMIT_BYTES, "it is longer than the {limit_mib} MiB that a program may have");
    }
}

/// Whether there is something to read, or the end, after a short wait at most. What cannot be waited for is read at once.
fn is_ready(file: BorrowedFd<'_>) -> bool {
    let slice = Timespec { tv_sec: 0, tv_nsec: WAIT_SLICE.as_nanos() as _ };
    let mut descriptors = [PollFd::from_borrowed_fd(file, PollFlags::IN)];
    !matches!(poll(&mut descriptors, Some(&slice)), Ok(0) | Err(Errno::INTR))
}

fn plain(error: Errno) -> anyhow::Error {
    anyhow::anyhow!(reason(&io::Error::from(error)))
}

fn text(path: &str, bytes: Vec<u8>) -> anyhow::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let byte = error.as_bytes().get(valid.len()).copied().unwrap_or_default();
        anyhow::anyhow!("\"{path}\" is not UTF-8: byte {byte:#04x} at offset {}, line {line}", valid.len())
    })
}
