//! The file of a dream while it is written. One process has it, by a lock on the file, from the header to the end.

use super::layout;
use super::{DreamId, End, FileChange, Header};
use crate::error::DreamError;
use crate::journal::{Kind, Received, write_frame};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What is appended is in the file when the call returns, and on the disk after [`Recording::flush`], or the end if it is kept.
#[derive(Debug)]
pub struct Recording {
    file: File,
    path: PathBuf,
    id: DreamId,
    seed: u64,
    start: u64,
    /// Up to here the file is what was appended. Behind it may lie what a failed write left.
    length: u64,
    /// A write failed.
    is_torn: bool,
    is_kept: bool,
    frame: Vec<u8>,
}

impl Recording {
    /// Writes the beginning of an empty file.
    pub(super) fn begin(file: File, path: &Path, header: &Header) -> Result<Recording, DreamError> {
        let label = layout::label();
        let mut bytes = label.to_vec();
        let payload = layout::encode_header(header)?;
        write_frame(layout::header_seed(), label.len() as u64, Kind::Header, &[&payload], &mut bytes);
        file.write_all_at(&bytes, 0).map_err(DreamError::file("write", path))?;
        let length = bytes.len() as u64;
        let recording = Recording::at(file, path, header, length, length);
        recording.flush_if_kept()?;
        Ok(recording)
    }

    /// Goes on with a file whose sound part has this length.
    pub(super) fn at(file: File, path: &Path, header: &Header, start: u64, length: u64) -> Recording {
        let (seed, is_kept) = (header.fork().seed(), header.is_kept);
        let (id, path, is_torn, frame) = (header.id(), path.into(), false, Vec::new());
        Recording { file, path, id, seed, start, length, is_torn, is_kept, frame }
    }

    pub const fn id(&self) -> DreamId {
        self.id
    }

    /// Bytes of the file so far.
    pub const fn bytes(&self) -> u64 {
        self.length
    }

    /// With the time of its receipt, by which its own times are set right when it is read.
    pub fn append(&mut self, received: &Received<'_>) -> Result<(), DreamError> {
        self.write(Kind::Received, &[&received.receipt.0.to_le_bytes(), received.payload])
    }

    /// Of two changes of one path the later one counts.
    pub fn append_file(&mut self, change: &FileChange) -> Result<(), DreamError> {
        self.write(Kind::File, &[&layout::encode_file(change)?])
    }

    /// It shall stay until somebody discards it, whatever its end says.
    pub const fn keep(&mut self) {
        self.is_kept = true;
    }

    pub fn flush(&self) -> Result<(), DreamError> {
        self.file.sync_data().map_err(DreamError::file("flush", &self.path))
    }

    /// One that nobody wants to keep goes by itself soon: what a failure of power leaves of it matters to nobody, and a flush takes
    /// longer than many a dream.
    fn flush_if_kept(&self) -> Result<(), DreamError> {
        if self.is_kept { self.flush() } else { Ok(()) }
    }

    /// Writes the end, and flushes all that is to be kept. A file can be gone on with later, behind its end.
    pub fn end(mut self, end: &End) -> Result<(), DreamError> {
        let end = End { is_kept: end.is_kept || self.is_kept, ..end.clone() };
        self.write_end(&end)
    }

    /// The same, kept or not as it says.
    pub(super) fn write_end(&mut self, end: &End) -> Result<(), DreamError> {
        self.is_kept |= end.is_kept;
        // What is before an end is whole, so it is on the disk first.
        self.flush_if_kept()?;
        // The end is found from the end of the file: nothing may lie behind it.
        if self.is_torn {
            self.file.set_len(self.length).map_err(DreamError::file("write", &self.path))?;
        }
        self.write(Kind::End, &[&layout::encode_end(end, self.length)?])?;
        self.flush_if_kept()
    }

    /// One write for each frame; after a failed one the next is written over what it left.
    fn write(&mut self, kind: Kind, payload: &[&[u8]]) -> Result<(), DreamError> {
        self.frame.clear();
        write_frame(self.seed, self.length - self.start, kind, payload, &mut self.frame);
        let written = self.file.write_all_at(&self.frame, self.length);
        self.is_torn |= written.is_err();
        written.map_err(DreamError::file("write", &self.path))?;
        self.length += self.frame.len() as u64;
        const KEPT_BYTES: usize = 64 << 10;
        if self.frame.capacity() > KEPT_BYTES {
            self.frame = Vec::new();
        }
        Ok(())
    }
}
