//! Reading the file of a dream: first what it is, then frame by frame. Tells a torn tail, which a crash leaves, from damage.
//!
//! Where the file ends with an end, all before it was flushed: what does not match its checksum then is damage. Else the first
//! frame that is not whole is where the crash was, and the sound part ends there.

use super::layout::{self, FILE_BYTES_MOST, JSON_BYTES_MOST, LABEL_BYTES, TRAILER_BYTES, VERSION};
use super::{End, Header};
use crate::error::DreamError;
use crate::journal::{Frame, HEADER_BYTES, Kind};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Takes a frame: its kind, its position and its payload.
pub type Show<'s> = &'s mut dyn FnMut(Kind, u64, &[u8]) -> Result<(), DreamError>;

/// A file that is one of a dream, and what that is.
pub struct Scan<'f> {
    file: &'f File,
    path: &'f Path,
    pub header: Header,
    /// Where the frames behind the header begin; their positions count from here.
    pub start: u64,
    bytes: u64,
    /// The end with which the file ends, if it does, and where.
    end: Option<(u64, End)>,
}

impl<'f> Scan<'f> {
    /// Reads header and end. What is between them is not looked at.
    pub fn open(file: &'f File, path: &'f Path) -> Result<Scan<'f>, DreamError> {
        let bytes = file.metadata().map_err(DreamError::file("read", path))?.len();
        let mut label = [0; LABEL_BYTES];
        let foreign = |why| DreamError::Foreign { path: path.into(), why };
        match file.read_exact_at(&mut label, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(foreign("it is too short")),
            read => read.map_err(DreamError::file("read", path))?,
        }
        match layout::version_of(&label).ok_or_else(|| foreign("it begins with something else"))? {
            VERSION => {}
            found => return Err(DreamError::Version { path: path.into(), found, known: VERSION }),
        }
        let at = LABEL_BYTES as u64;
        let damaged = |what: String| DreamError::Damaged { path: path.into(), at, what };
        let (kind, payload) = frame_at(file, at, at, layout::header_seed(), bytes).map_err(damaged)?;
        if kind != Kind::Header {
            return Err(damaged("there is no header".into()));
        }
        let header: Header = layout::decode(&payload).map_err(damaged)?;
        let start = at + (HEADER_BYTES + payload.len()) as u64;
        let mut scan = Scan { file, path, header, start, bytes, end: None };
        scan.end = scan.find_end();
        Ok(scan)
    }

    /// Of the file, when it was opened.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn end(&self) -> Option<&End> {
        self.end.as_ref().map(|(_, end)| end)
    }

    /// None as well where the last bytes only look like an end: those of a torn frame may.
    fn find_end(&self) -> Option<(u64, End)> {
        let mut trailer = [0; TRAILER_BYTES];
        self.file.read_exact_at(&mut trailer, self.bytes.checked_sub(TRAILER_BYTES as u64)?).ok()?;
        let at = layout::end_position(&trailer, self.bytes).filter(|at| *at >= self.start)?;
        let seed = self.header.fork().seed();
        let (kind, payload) = frame_at(self.file, at, at - self.start, seed, self.bytes).ok()?;
        let is_last = at + (HEADER_BYTES + payload.len()) as u64 == self.bytes;
        let end = layout::decode_end(&payload).ok()?;
        (kind == Kind::End && is_last).then_some((at, end))
    }

    /// Shows every frame behind the header, with its position, and returns where the sound part of the file ends.
    pub fn walk(&self, show: Show<'_>) -> Result<u64, DreamError> {
        let unreadable = DreamError::file("read", self.path);
        let mut reader = BufReader::with_capacity(256 << 10, self.file);
        reader.seek(SeekFrom::Start(self.start)).map_err(unreadable)?;
        let (mut at, mut bytes) = (self.start, Vec::new());
        while at < self.bytes {
            let frame = match self.frame(&mut reader, at, &mut bytes) {
                Ok(frame) => frame,
                Err(what) if self.end.is_some() => {
                    return Err(DreamError::Damaged { path: self.path.into(), at, what });
                }
                Err(_) => break,
            };
            show(frame.kind, at - self.start, &bytes[HEADER_BYTES..])?;
            at += frame.bytes() as u64;
        }
        Ok(at)
    }

    /// Reads the frame at this place of the file into the buffer; why not, if it is none.
    fn frame(&self, reader: &mut impl Read, at: u64, bytes: &mut Vec<u8>) -> Result<Frame, String> {
        let words = |error: io::Error| error.to_string();
        let mut header = [0; HEADER_BYTES];
        reader.read_exact(&mut header).map_err(words)?;
        let frame = Frame::read(&header, at - self.start).map_err(|error| error.to_string())?;
        check_length(&frame, self.header.bounds.frame_bytes, self.bytes - at)?;
        bytes.clear();
        bytes.extend(header);
        bytes.resize(frame.bytes(), 0);
        reader.read_exact(&mut bytes[HEADER_BYTES..]).map_err(words)?;
        frame.checked(self.header.fork().seed(), bytes).map_err(|error| error.to_string())?;
        Ok(frame)
    }
}

/// Before room is made for it.
fn check_length(frame: &Frame, commit_bytes: usize, left: u64) -> Result<(), String> {
    let most = match frame.kind {
        Kind::Received => commit_bytes.saturating_add(layout::RECEIPT_BYTES),
        Kind::Commit => 0,
        Kind::Header | Kind::End => JSON_BYTES_MOST,
        Kind::File => FILE_BYTES_MOST,
    };
    match frame.payload_bytes > most || frame.bytes() as u64 > left {
        true => Err(format!("a frame has {} bytes", frame.payload_bytes)),
        false => Ok(()),
    }
}

/// One header or end, found by its place alone.
fn frame_at(file: &File, at: u64, position: u64, seed: u64, file_bytes: u64) -> Result<(Kind, Vec<u8>), String> {
    let words = |error: io::Error| error.to_string();
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, at).map_err(words)?;
    let frame = Frame::read(&header, position).map_err(|error| error.to_string())?;
    check_length(&frame, 0, file_bytes.saturating_sub(at))?;
    if !matches!(frame.kind, Kind::Header | Kind::End) {
        return Err("it is neither header nor end".into());
    }
    let mut bytes = vec![0; frame.bytes()];
    file.read_exact_at(&mut bytes, at).map_err(words)?;
    let payload = frame.checked(seed, &bytes).map_err(|error| error.to_string())?;
    Ok((frame.kind, payload.to_vec()))
}
