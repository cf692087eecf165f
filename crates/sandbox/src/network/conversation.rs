//! What a client of the proxy says before bytes are carried: read with a deadline and a bound, whatever it speaks.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Of all that is said before bytes are carried.
const HEAD_BYTES: usize = 64 << 10;
/// How long one who was refused may take to read why.
const FAREWELL: Duration = Duration::from_secs(1);
const FAREWELL_BYTES: usize = 1 << 20;

/// One client, and what it has said and nobody has used yet.
pub struct Conversation<'a> {
    pub stream: &'a TcpStream,
    pub heard: Vec<u8>,
    deadline: Instant,
}

impl<'a> Conversation<'a> {
    pub fn new(stream: &'a TcpStream, greeting: Duration) -> Conversation<'a> {
        Conversation { stream, heard: Vec::new(), deadline: Instant::now() + greeting }
    }

    /// Hears more, or fails: when the client ends, takes too long or says too much.
    pub fn hear(&mut self) -> io::Result<()> {
        if self.heard.len() >= HEAD_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "more than 64 KiB before it was said whom to reach",
            ));
        }
        let mut bytes = [0; 4096];
        let count = self.read(&mut bytes)?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ended before it was said whom to reach"));
        }
        self.heard.extend_from_slice(&bytes[..count]);
        Ok(())
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => {
                io::Error::new(io::ErrorKind::TimedOut, "it took too long to say whom to reach")
            }
            _ => error,
        })
    }

    /// Takes exactly so many bytes of what was said.
    pub fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.heard.len() < count {
            self.hear()?;
        }
        let rest = self.heard.split_off(count);
        Ok(std::mem::replace(&mut self.heard, rest))
    }

    pub fn say(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = self.stream;
        stream.set_write_timeout(Some(FAREWELL))?;
        stream.write_all(bytes)
    }

    /// Says why and ends. What the client still sends is heard for a moment: the kernel would take the answer back from one
    /// that has not been heard out.
    pub fn leave(mut self, answer: &[u8]) {
        if self.say(answer).is_err() || self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        self.deadline = Instant::now() + FAREWELL;
        let mut bytes = [0; 4096];
        let mut heard = 0;
        while let Ok(count @ 1..) = self.read(&mut bytes) {
            heard += count;
            if heard > FAREWELL_BYTES {
                return;
            }
        }
    }
}
