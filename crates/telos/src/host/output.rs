//! Standard output of a program: line by line on a terminal, in blocks elsewhere, and never a panic when the reader has
//! gone.

use language::{Interrupt, Output};
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const BLOCK_BYTES: usize = 32 * 1024;

/// Where output ends up.
pub enum Sink {
    Standard,
    /// Kept, for whoever asks for it.
    Captured,
}

struct State {
    sink: Sink,
    buffer: Vec<u8>,
    is_line_buffered: bool,
    written_bytes: u64,
    failure: Option<std::io::Error>,
    interrupt: Option<Interrupt>,
}

/// Shared by the machine, which writes, and by whoever flushes: that may be the clock's thread.
#[derive(Clone)]
pub struct StandardOutput(Arc<Mutex<State>>);

impl StandardOutput {
    pub fn new(sink: Sink) -> StandardOutput {
        let is_line_buffered = matches!(sink, Sink::Standard) && std::io::stdout().is_terminal();
        StandardOutput(Arc::new(Mutex::new(State {
            sink,
            buffer: Vec::new(),
            is_line_buffered,
            written_bytes: 0,
            failure: None,
            interrupt: None,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The machine to stop when nobody reads its output any more.
    pub fn stops(&self, interrupt: Interrupt) {
        self.state().interrupt = Some(interrupt);
    }

    pub fn write_bytes(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.written_bytes += bytes.len() as u64;
        state.buffer.extend_from_slice(bytes);
        let is_due = state.buffer.len() >= BLOCK_BYTES || (state.is_line_buffered && bytes.contains(&b'\n'));
        if is_due && matches!(state.sink, Sink::Standard) {
            state.flush();
        }
    }

    pub fn flush(&self) {
        self.state().flush();
    }

    /// How much was written so far, flushed or not.
    pub fn written_bytes(&self) -> u64 {
        self.state().written_bytes
    }

    /// What was captured since the last time.
    pub fn take_captured(&self) -> String {
        let bytes = std::mem::take(&mut self.state().buffer);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Why output could not be written, if it could not.
    pub fn take_failure(&self) -> Option<std::io::Error> {
        self.state().failure.take()
    }
}

impl State {
    fn flush(&mut self) {
        if matches!(self.sink, Sink::Captured) {
            return;
        }
        let buffer = std::mem::take(&mut self.buffer);
        if self.failure.is_some() || buffer.is_empty() {
            return;
        }
        if let Err(error) = write_out(&buffer) {
            self.failure = Some(error);
            if let Some(interrupt) = &self.interrupt {
                interrupt.set();
            }
        }
    }
}

/// Writes to standard output, all of it and at once. One that was closed from the beginning takes nothing.
pub fn write_out(bytes: &[u8]) -> std::io::Result<()> {
    if system::output::was_closed() {
        return Err(std::io::Error::other("it is closed"));
    }
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush())
}

impl Output for StandardOutput {
    fn write(&mut self, bytes: &[u8]) {
        self.write_bytes(bytes);
    }
}
