//! Reading the log's tail after whatever happened: gives every whole frame in order, and decides about the first that is not.
//!
//! **Torn or damaged.** The first bad frame ends the log, if it can be what a crash leaves: the end, or a group of frames
//! whose flush had not returned, of which any sectors may be missing. It is damage, and refused, if
//! - it lies before the position that the label says was flushed, or
//! - behind it, and before the frontier, stands a frame that was made when the bad one had been flushed, or
//! - it is whole but of a session, or beyond a frontier, that the label does not know.
//!
//! What cannot be told from a torn tail is damage to the last flushed group, while nothing later was written or labelled.
//! A clean close labels its end, so this is so only after a crash.

use crate::error::StoreError;
use crate::frame::{self, ALIGNMENT, Found, HEADER_BYTES, Header, Kind};
use crate::label::Label;
use crate::log::Log;

/// How much is read at a time: little, for each page that is touched for the first time costs more than reading it.
const CHUNK_BYTES: usize = 64 << 10;

/// Where the log ends, and what was found there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tail {
    pub end: u64,
    /// Whole headers from there on, of a group that was never acknowledged. Who writes wipes them out first: new frames may take just as
    /// much room as those that were cut off, and what is applied by then no longer says of which session it was.
    pub stale: Vec<u64>,
}

impl Tail {
    /// Whether frames were cut off.
    pub fn is_torn(&self) -> bool {
        self.stale.iter().any(|position| *position > self.end)
    }
}

/// Calls `visit` with each whole frame from `start` on.
pub fn replay(
    log: &Log,
    start: u64,
    last_number: u64,
    mut visit: impl FnMut(&Header, &[u8]) -> Result<(), StoreError>,
) -> Result<Tail, StoreError> {
    let label = log.label();
    let mut window = Window::new(log, start, start + log.capacity());
    window.frames(last_number, |header, payload| {
        if header.session > label.session || header.end() > label.frontier {
            return Err(damage(log, header.position, "it is newer than the head of the file"));
        }
        visit(header, payload)
    })?;
    let end = window.position;
    if end < label.durable {
        return Err(damage(log, end, "the log was flushed beyond it"));
    }
    let stale = look_behind(log, &label, end)?;
    Ok(Tail { end, stale })
}

/// The same up to a position that somebody else is known to have written, who goes on behind it.
pub fn replay_until(
    log: &Log,
    start: u64,
    until: u64,
    last_number: u64,
    visit: impl FnMut(&Header, &[u8]) -> Result<(), StoreError>,
) -> Result<Tail, StoreError> {
    let mut window = Window::new(log, start, until);
    window.frames(last_number, visit)?;
    match window.position == until {
        true => Ok(Tail { end: until, stale: Vec::new() }),
        false => Err(damage(log, window.position, "the log was written beyond it")),
    }
}

/// Where whole headers stand from the end on; an error if one of them proves that the end is none.
fn look_behind(log: &Log, label: &Label, end: u64) -> Result<Vec<u64>, StoreError> {
    let mut window = Window::new(log, end, label.frontier);
    let mut stale = Vec::new();
    while window.fill(HEADER_BYTES)? {
        let places = (window.held().len() + 1 - HEADER_BYTES).div_ceil(ALIGNMENT as usize);
        for place in 0..places {
            let at = place * ALIGNMENT as usize;
            let Some(header) = read_header(log, window.position + at as u64, &window.held()[at..])? else { continue };
            if header.durable > end {
                let why = format!("the frame at {} was written after it had been flushed", header.position);
                return Err(damage(log, end, &why));
            }
            stale.push(header.position);
        }
        window.advance(window.position + places as u64 * ALIGNMENT);
    }
    Ok(stale)
}

/// The header at a position, if there is a whole one. One that is not understood is refused: it is neither torn nor damaged,
/// and would be written over.
fn read_header(log: &Log, position: u64, bytes: &[u8]) -> Result<Option<Header>, StoreError> {
    match Header::read(log.seed(), position, bytes) {
        Found::Header(header) => Ok(Some(header)),
        Found::Nothing => Ok(None),
        Found::Unknown { version, .. } if version != frame::VERSION => {
            Err(StoreError::Version { path: log.path().into(), found: version.into(), known: frame::VERSION.into() })
        }
        Found::Unknown { kind, .. } => {
            let what =
                format!("the frame at {position} is of kind {kind}, which format {} does not have", frame::VERSION);
            Err(StoreError::corrupt(log.path(), what))
        }
    }
}

fn damage(log: &Log, position: u64, why: &str) -> StoreError {
    StoreError::corrupt(log.path(), format!("no whole frame at {position}, but {why}"))
}

/// A stretch of the log in memory.
struct Window<'l> {
    log: &'l Log,
    /// Of the first byte that counts.
    position: u64,
    /// Nothing is read beyond.
    limit: u64,
    bytes: Vec<u8>,
    /// How many of the bytes are behind us.
    gone: usize,
}

impl<'l> Window<'l> {
    fn new(log: &'l Log, position: u64, limit: u64) -> Window<'l> {
        Window { log, position, limit, bytes: Vec::new(), gone: 0 }
    }

    fn held(&self) -> &[u8] {
        &self.bytes[self.gone..]
    }

    /// Goes through all whole frames that follow each other.
    fn frames(
        &mut self,
        last_number: u64,
        mut visit: impl FnMut(&Header, &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let (mut number, mut session) = (last_number, 0);
        while let Some(header) = self.frame(session, number)? {
            visit(&header, self.payload(&header))?;
            (number, session) = (header.number, header.session);
            self.advance(header.end());
        }
        Ok(())
    }

    /// The frame at the window's start, if it is whole and follows the one before.
    fn frame(&mut self, session: u32, number: u64) -> Result<Option<Header>, StoreError> {
        if !self.fill(HEADER_BYTES)? {
            return Ok(None);
        }
        let seed = self.log.seed();
        let Some(header) = read_header(self.log, self.position, self.held())? else { return Ok(None) };
        let follows = header.number == number + u64::from(header.kind == Kind::Commit);
        if header.session < session || !follows || !self.fill(HEADER_BYTES + header.payload_bytes as usize)? {
            return Ok(None);
        }
        Ok(header.matches(seed, self.payload(&header)).then_some(header))
    }

    fn payload(&self, header: &Header) -> &[u8] {
        &self.held()[HEADER_BYTES..HEADER_BYTES + header.payload_bytes as usize]
    }

    /// Makes sure that so many bytes are there; false if the log has fewer.
    fn fill(&mut self, wanted: usize) -> Result<bool, StoreError> {
        let held = self.held().len();
        if held >= wanted {
            return Ok(true);
        }
        let room = self.limit.saturating_sub(self.position) as usize;
        if wanted > room {
            return Ok(false);
        }
        self.bytes.drain(..self.gone);
        self.gone = 0;
        self.bytes.resize(wanted.max(CHUNK_BYTES).min(room), 0);
        let read = self.log.read(self.position + held as u64, &mut self.bytes[held..])?;
        self.bytes.truncate(held + read);
        Ok(self.bytes.len() >= wanted)
    }

    /// To a position that is held, or directly behind what is.
    fn advance(&mut self, position: u64) {
        self.gone = (self.gone + (position - self.position) as usize).min(self.bytes.len());
        self.position = position;
    }
}
