//! A disk in memory that remembers every write and flush, so that a test can ask for what the medium would hold after a
//! crash at any moment; and that fails when told to.
//!
//! **The model.** A sector of 512 bytes is written whole or not at all. Between two flushes each sector that was written is,
//! independently of all others, as it was before or as any of the writes left it; and the file is as long as before or as
//! any of the writes made it. What a flush returned for is there. That is more disorder than a real disk makes.

use crate::random::Random;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use system::disk::Disk;

pub const SECTOR_BYTES: usize = 512;

/// What happened to a disk, or was noted by the test between.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    Write {
        offset: u64,
        bytes: Vec<u8>,
    },
    Flush,
    /// Whatever the test wants to find again.
    Note(u64),
}

/// What shall fail, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    pub call: Call,
    /// So many calls of its kind succeed before.
    pub after: usize,
    pub kind: io::ErrorKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    Read,
    Write,
    Flush,
}

/// Handles share one disk.
#[derive(Clone)]
pub struct CrashDisk {
    inside: Arc<Mutex<Inside>>,
}

struct Inside {
    before: Vec<u8>,
    content: Vec<u8>,
    events: Vec<Event>,
    fault: Option<Fault>,
    has_failed: bool,
}

impl CrashDisk {
    /// A disk that holds this, safely.
    pub fn new(content: Vec<u8>) -> CrashDisk {
        let inside = Inside { before: content.clone(), content, events: Vec::new(), fault: None, has_failed: false };
        CrashDisk { inside: Arc::new(Mutex::new(inside)) }
    }

    pub fn with_fault(content: Vec<u8>, fault: Fault) -> CrashDisk {
        let disk = CrashDisk::new(content);
        disk.lock().fault = Some(fault);
        disk
    }

    /// Puts a mark between the events.
    pub fn note(&self, note: u64) {
        self.lock().events.push(Event::Note(note));
    }

    pub fn events(&self) -> Vec<Event> {
        self.lock().events.clone()
    }

    /// Whether the fault came.
    pub fn has_failed(&self) -> bool {
        self.lock().has_failed
    }

    /// What readers see.
    pub fn content(&self) -> Vec<u8> {
        self.lock().content.clone()
    }

    /// What the medium holds if the system ends right after the first `count` events.
    pub fn crash(&self, count: usize, random: &mut Random) -> Vec<u8> {
        let inside = self.lock();
        let events = &inside.events[..count];
        let flushed = events.iter().rposition(|event| *event == Event::Flush).map_or(0, |at| at + 1);
        let mut safe = inside.before.clone();
        events[..flushed].iter().for_each(|event| apply(&mut safe, event));
        let mut versions = vec![safe];
        for event in events[flushed..].iter().filter(|event| matches!(event, Event::Write { .. })) {
            let mut next = versions[versions.len() - 1].clone();
            apply(&mut next, event);
            versions.push(next);
        }
        let versions: Vec<&[u8]> = versions.iter().map(Vec::as_slice).collect();
        mixture(&versions, random)
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file of which each sector, and the length, is that of any of the versions.
pub fn mixture(versions: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let length = random.pick(versions).len();
    let mut mixed = vec![0; length];
    // Sometimes nearly all is old or new: the states that a fair coin never shows.
    let bias = [0, 10, 50, 90, 100][random.below(5)];
    for (index, sector) in mixed.chunks_mut(SECTOR_BYTES).enumerate() {
        let version = match () {
            () if versions.len() > 2 && random.chance(30) => versions[random.below(versions.len())],
            () if random.chance(bias) => versions[versions.len() - 1],
            () => versions[0],
        };
        let start = (index * SECTOR_BYTES).min(version.len());
        let end = (start + sector.len()).min(version.len());
        sector[..end - start].copy_from_slice(&version[start..end]);
    }
    mixed
}

fn apply(content: &mut Vec<u8>, event: &Event) {
    let Event::Write { offset, bytes } = event else { return };
    let start = *offset as usize;
    if content.len() < start + bytes.len() {
        content.resize(start + bytes.len(), 0);
    }
    content[start..start + bytes.len()].copy_from_slice(bytes);
}

impl Inside {
    /// Counts down; an error when it is time. A disk that failed goes on failing in the same way.
    fn meet(&mut self, call: Call) -> io::Result<()> {
        match &mut self.fault {
            Some(fault) if fault.call == call => match fault.after.checked_sub(1) {
                Some(left) => fault.after = left,
                None => {
                    self.has_failed = true;
                    return Err(fault.kind.into());
                }
            },
            _ => {}
        }
        Ok(())
    }
}

impl Disk for CrashDisk {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut inside = self.lock();
        inside.meet(Call::Read)?;
        let start = (offset as usize).min(inside.content.len());
        let count = buffer.len().min(inside.content.len() - start);
        buffer[..count].copy_from_slice(&inside.content[start..start + count]);
        Ok(count)
    }

    /// A write that fails may have written a part.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut inside = self.lock();
        let met = inside.meet(Call::Write);
        let written = if met.is_ok() { bytes } else { &bytes[..bytes.len() / 2] };
        let event = Event::Write { offset, bytes: written.to_vec() };
        apply(&mut inside.content, &event);
        inside.events.push(event);
        met
    }

    fn flush(&self) -> io::Result<()> {
        let mut inside = self.lock();
        inside.meet(Call::Flush)?;
        inside.events.push(Event::Flush);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.lock().content.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_flushed_is_there_and_the_rest_may_be() {
        let disk = CrashDisk::new(Vec::new());
        disk.write_at(0, &[1; 1024]).unwrap();
        disk.flush().unwrap();
        disk.write_at(512, &[2; 1024]).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let content = disk.crash(3, &mut Random::new(seed));
            assert!(content[..512].iter().all(|byte| *byte == 1));
            assert!(content[512..1024].iter().all(|byte| *byte == content[512]), "a sector is whole");
            seen.insert((content.len(), content[512], content.get(1024).copied()));
        }
        assert!(
            seen.contains(&(1536, 2, Some(2))) && seen.contains(&(1024, 1, None)) && seen.contains(&(1536, 1, Some(2)))
        );
    }

    #[test]
    fn a_fault_comes_when_it_is_due_and_stays() {
        let fault = Fault { call: Call::Flush, after: 1, kind: io::ErrorKind::StorageFull };
        let disk = CrashDisk::with_fault(Vec::new(), fault);
        assert!(disk.flush().is_ok());
        assert_eq!(disk.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(disk.flush().is_err() && disk.write_at(0, &[1]).is_ok() && disk.has_failed());
    }
}
