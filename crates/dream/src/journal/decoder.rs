//! Bytes to entries, as they come. Holds at most one frame that is not whole yet.

use super::frame::{Frame, HEADER_BYTES, Kind};
use super::intake::Intake;
use super::{Bounds, ForkPoint, Journal, JournalError, Received};
use object::change::Time;

/// Reads one stream from its beginning, in pieces of any size. The pieces do not matter: the same bytes give the same entries,
/// and the same error at the same place.
pub struct Decoder {
    seed: u64,
    intake: Intake,
    /// Of the frame that is under way.
    partial: Vec<u8>,
    /// Where that begins.
    position: u64,
    /// Bytes of earlier streams of the same dream.
    earlier_bytes: u64,
    failure: Option<JournalError>,
}

impl Decoder {
    pub fn new(fork: ForkPoint, bounds: Bounds) -> Decoder {
        Decoder {
            seed: fork.seed(),
            intake: Intake::new(fork, bounds),
            partial: Vec::new(),
            position: 0,
            earlier_bytes: 0,
            failure: None,
        }
    }

    /// For a dream that goes on in another process, whose stream begins anew: numbers go on where the journal ends.
    /// `bytes` is how long that is.
    pub fn after(journal: &Journal, bytes: u64, bounds: Bounds) -> Decoder {
        let mut decoder = Decoder::new(journal.fork(), bounds);
        journal.entries().iter().for_each(|entry| decoder.intake.note(entry));
        Decoder { earlier_bytes: bytes, ..decoder }
    }

    /// Decodes what is whole by now and hands it out, entry by entry. `receipt` is when the bytes came, by the reader's clock.
    /// After an error every later call says the same.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        receipt: Time,
        take: &mut dyn FnMut(Received<'_>),
    ) -> Result<(), JournalError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let result = self.run(chunk, receipt, take);
        if let Err(failure) = &result {
            self.failure = Some(failure.clone());
            self.partial = Vec::new();
        }
        result
    }

    /// Bytes that are part of a frame which is not whole.
    pub fn unfinished_bytes(&self) -> usize {
        self.partial.len()
    }

    /// The number of the dream's last change.
    pub fn last_seq(&self) -> u64 {
        self.intake.last_seq()
    }

    fn run(&mut self, mut chunk: &[u8], receipt: Time, take: &mut dyn FnMut(Received<'_>)) -> Result<(), JournalError> {
        loop {
            if !self.fill(&mut chunk, HEADER_BYTES) {
                return Ok(());
            }
            let header = self.partial.first_chunk().expect("a header was filled");
            let frame = self.bounded(Frame::read(header, self.position)?)?;
            if !self.fill(&mut chunk, frame.bytes()) {
                return Ok(());
            }
            let bytes = std::mem::take(&mut self.partial);
            let payload = frame.checked(self.seed, &bytes)?;
            let entry = self.intake.entry(payload, self.position, receipt)?;
            take(Received { entry, payload, receipt });
            self.position += bytes.len() as u64;
            self.reuse(bytes);
        }
    }

    /// Moves bytes from the chunk until there are so many; whether there are.
    fn fill(&mut self, chunk: &mut &[u8], count: usize) -> bool {
        let missing = count.saturating_sub(self.partial.len());
        let (now, later) = chunk.split_at(missing.min(chunk.len()));
        self.partial.extend(now);
        *chunk = later;
        self.partial.len() >= count
    }

    /// Keeps the memory of small frames, so that a stream of them asks for none.
    fn reuse(&mut self, mut bytes: Vec<u8>) {
        const KEPT_BYTES: usize = 64 << 10;
        if bytes.capacity() <= KEPT_BYTES {
            bytes.clear();
            self.partial = bytes;
        }
    }

    /// Asked before anything of the payload is taken in.
    fn bounded(&self, frame: Frame) -> Result<Frame, JournalError> {
        let (bounds, position) = (&self.intake.bounds, self.position);
        if frame.kind != Kind::Commit {
            return Err(JournalError::Kind { position, kind: frame.kind as u8 });
        }
        if frame.payload_bytes > bounds.frame_bytes {
            return Err(JournalError::FrameBytes { position, bytes: frame.payload_bytes, most: bounds.frame_bytes });
        }
        let end = self.earlier_bytes.saturating_add(position).saturating_add(frame.bytes() as u64);
        if end > bounds.journal_bytes {
            return Err(JournalError::JournalBytes { most: bounds.journal_bytes });
        }
        Ok(frame)
    }
}
