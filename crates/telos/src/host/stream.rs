//! An open file, whatever is behind it: a file on disk, a standard stream or a command. Owns buffering; knows no
//! objects.

use super::StandardOutput;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::process::{Child, ChildStdout, ExitStatus};

const PENDING_BYTES: usize = 32 * 1024;

pub enum Stream {
    Disk {
        reader: BufReader<File>,
        /// Written by the program, not yet to the file.
        pending: Vec<u8>,
    },
    /// The output of a command, which is waited for when this is closed.
    Command {
        reader: Option<BufReader<ChildStdout>>,
        child: Child,
    },
    Input,
    Output(StandardOutput),
    Error,
}

impl Stream {
    pub fn disk(file: File) -> Stream {
        Stream::Disk { reader: BufReader::new(file), pending: Vec::new() }
    }

    fn reader<R>(&mut self, read: impl FnOnce(&mut dyn BufRead) -> io::Result<R>) -> io::Result<R> {
        self.flush()?;
        match self {
            Stream::Disk { reader, .. } => read(reader),
            Stream::Command { reader: Some(reader), .. } => read(reader),
            Stream::Input => read(&mut io::stdin().lock()),
            Stream::Output(_) | Stream::Error => Err(io::Error::other("it is open for writing only")),
            Stream::Command { reader: None, .. } => Err(io::Error::other("its command has ended")),
        }
    }

    /// The next line without its end, or none at the end.
    pub fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.reader(|reader| {
            let mut line = Vec::new();
            if reader.read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            if line.last() == Some(&b'\n') {
                line.pop();
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
            }
            Ok(Some(line))
        })
    }

    /// At most so many bytes; fewer only at the end.
    pub fn read_bytes(&mut self, most: u64) -> io::Result<Vec<u8>> {
        self.reader(|reader| {
            let mut bytes = Vec::new();
            reader.take(most).read_to_end(&mut bytes)?;
            Ok(bytes)
        })
    }

    pub fn is_at_end(&mut self) -> io::Result<bool> {
        self.reader(|reader| Ok(reader.fill_buf()?.is_empty()))
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

    /// Waits for a command that nobody reads from any more; nothing for others.
    pub fn finish(&mut self) -> io::Result<Option<ExitStatus>> {
        self.flush()?;
        match self {
            Stream::Command { child, reader } => {
                // A command that still writes must learn that nobody reads, or it would never end.
                drop(reader.take());
                child.wait().map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl Drop for Stream {
    /// A file that was never closed is written when the collector finds it; errors have nobody left to hear them.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}
