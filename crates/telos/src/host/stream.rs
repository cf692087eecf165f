//! An open file, whatever is behind it: a file on disk, a standard stream or a command. Owns buffering; knows no
//! objects.

use super::started::Started;
use super::{StandardOutput, process};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::process::ChildStdout;
use std::rc::Rc;

const PENDING_BYTES: usize = 32 * 1024;
/// What is read at once of a file that is read as a whole.
const WHOLE_FILE_BYTES: usize = 256 * 1024;

/// Standard input, whose buffer can be looked into: the standard library's cannot.
pub struct RawInput;

impl Read for RawInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(rustix::stdio::stdin(), buffer)?)
    }
}

type Input = Rc<RefCell<BufReader<RawInput>>>;

thread_local! {
    /// One for all that read from it, or one of them would keep what belongs to the next.
    static INPUT: Input = Rc::new(RefCell::new(BufReader::new(RawInput)));
}

pub fn standard_input() -> Input {
    INPUT.with(Rc::clone)
}

pub enum Stream {
    Disk {
        reader: BufReader<File>,
        /// Written by the program, not yet to the file.
        pending: Vec<u8>,
    },
    /// The output of a command, which is waited for when this is closed.
    Command {
        reader: Option<BufReader<ChildStdout>>,
        command: Option<Started>,
    },
    Input,
    Output(StandardOutput),
    Error,
}

impl Stream {
    pub fn disk(file: File) -> Stream {
        Stream::Disk { reader: BufReader::new(file), pending: Vec::new() }
    }

    /// For reading all of a file and nothing else.
    pub fn whole_file(file: File) -> Stream {
        Stream::Disk { reader: BufReader::with_capacity(WHOLE_FILE_BYTES, file), pending: Vec::new() }
    }

    /// What must become readable before `fill` can answer at once; none if it can already.
    pub fn awaited(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Stream::Disk { reader, .. } if reader.buffer().is_empty() => Some(reader.get_ref().as_fd()),
            Stream::Command { reader: Some(reader), .. } if reader.buffer().is_empty() => {
                Some(reader.get_ref().as_fd())
            }
            Stream::Input if standard_input().borrow().buffer().is_empty() => Some(rustix::stdio::stdin()),
            _ => None,
        }
    }

    /// Hands out the next bytes, none at the end. `take` says how many it used.
    pub fn next<R>(&mut self, take: impl FnOnce(&[u8]) -> (usize, R)) -> io::Result<R> {
        match self {
            Stream::Disk { reader, .. } => next_of(reader, take),
            Stream::Command { reader: Some(reader), .. } => next_of(reader, take),
            Stream::Input => next_of(&mut *standard_input().borrow_mut(), take),
            Stream::Output(_) | Stream::Error => Err(io::Error::other("it is open for writing only")),
            Stream::Command { reader: None, .. } => Err(io::Error::other("its command has ended")),
        }
    }

    pub fn is_at_end(&mut self) -> io::Result<bool> {
        self.next(|chunk| (0, chunk.is_empty()))
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Disk { reader, pending } => {
                if pending.is_empty() {
                    // Reading ahead has moved the file's own position.
                    reader.stream_position().and_then(|at| reader.seek(SeekFrom::Start(at)))?;
                }
                pending.extend_from_slice(bytes);
                if pending.len() >= PENDING_BYTES { self.flush() } else { Ok(()) }
            }
            Stream::Output(output) => {
                output.write_bytes(bytes);
                Ok(())
            }
            Stream::Error => io::stderr().write_all(bytes),
            Stream::Command { .. } | Stream::Input => Err(io::Error::other("it is open for reading only")),
        }
    }

    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Disk { reader, pending } if !pending.is_empty() => {
                let bytes = std::mem::take(pending);
                reader.get_mut().write_all(&bytes)
            }
            Stream::Output(output) => {
                output.flush();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.flush()?;
        match self {
            Stream::Disk { reader, .. } => reader.seek(to),
            _ => Err(io::Error::from(io::ErrorKind::NotSeekable)),
        }
    }

    pub fn descriptor(&self) -> i32 {
        match self {
            Stream::Disk { reader, .. } => reader.get_ref().as_raw_fd(),
            Stream::Command { reader, .. } => reader.as_ref().map_or(-1, |reader| reader.get_ref().as_raw_fd()),
            Stream::Input => 0,
            Stream::Output(_) => 1,
            Stream::Error => 2,
        }
    }

    /// The command behind a stream that nobody reads from any more; none for others.
    pub fn finish(&mut self) -> io::Result<Option<&mut Started>> {
        self.flush()?;
        match self {
            Stream::Command { command, reader } => {
                // A command that still writes must learn that nobody reads, or it would never end.
                drop(reader.take());
                Ok(command.as_mut())
            }
            _ => Ok(None),
        }
    }
}

fn next_of<R>(reader: &mut impl BufRead, take: impl FnOnce(&[u8]) -> (usize, R)) -> io::Result<R> {
    let (used, result) = take(reader.fill_buf()?);
    reader.consume(used);
    Ok(result)
}

impl Drop for Stream {
    /// A file that was never closed is written when the collector finds it; errors have nobody left to hear them.
    fn drop(&mut self) {
        let _ = self.flush();
        if let Stream::Command { command, .. } = self {
            command.take().into_iter().for_each(process::abandon);
        }
    }
}
