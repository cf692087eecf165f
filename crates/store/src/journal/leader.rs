//! Waiting for a commit, and writing for all who wait.

use super::{Inside, Journal, Ticket};
use crate::error::StoreError;
use crate::label::Label;
use std::sync::{MutexGuard, PoisonError};

impl Journal {
    /// Returns when the commit is as durable as it asked to be.
    pub fn wait(&self, ticket: Ticket) -> Result<(), StoreError> {
        let mut inside = self.lock();
        while !inside.has_reached(ticket) {
            inside = self.lead_or_follow(inside)?;
        }
        Ok(())
    }

    /// Flushes all that was committed, and returns up to where.
    pub fn flush(&self) -> Result<u64, StoreError> {
        let mut inside = self.lock();
        let end = inside.end;
        while inside.durable < end {
            inside.wants_flush = true;
            inside = self.lead_or_follow(inside)?;
        }
        Ok(end)
    }

    fn lead_or_follow<'j>(&'j self, inside: MutexGuard<'j, Inside>) -> Result<MutexGuard<'j, Inside>, StoreError> {
        if let Some(cause) = &inside.failure {
            return Err(StoreError::Latched(cause.clone()));
        }
        if inside.is_writing {
            return Ok(self.progress.wait(inside).unwrap_or_else(PoisonError::into_inner));
        }
        Ok(self.lead(inside))
    }

    /// Writes what is queued, for all.
    fn lead<'j>(&'j self, mut inside: MutexGuard<'j, Inside>) -> MutexGuard<'j, Inside> {
        inside.is_writing = true;
        let spare = std::mem::take(&mut inside.spare);
        let frames = std::mem::replace(&mut inside.queue, spare);
        let wants_flush = std::mem::take(&mut inside.wants_flush);
        let (start, end, durable) = (inside.written, inside.end, inside.durable);
        drop(inside);
        let mut result = if frames.is_empty() { Ok(()) } else { self.log.write(start, &frames, durable) };
        if wants_flush {
            result = result.and_then(|()| self.log.flush());
        }
        let mut inside = self.lock();
        match result {
            Ok(()) => {
                inside.written = end;
                if wants_flush {
                    inside.durable = end;
                }
            }
            Err(error) => inside.fail(&error),
        }
        inside.give_back(frames);
        self.end_writing(&mut inside);
        inside
    }

    fn end_writing(&self, inside: &mut Inside) {
        inside.is_writing = false;
        self.progress.notify_all();
        if inside.failure.is_some() {
            self.room.notify_all();
            self.work.notify_all();
        }
    }

    /// Writes the label, in turn with the leaders: a flush that fails tells it to one caller only.
    pub fn relabel(&self, change: impl FnOnce(&mut Label)) -> Result<(), StoreError> {
        let mut inside = self.lock();
        while inside.is_writing {
            inside = self.progress.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(cause) = &inside.failure {
            return Err(StoreError::Latched(cause.clone()));
        }
        inside.is_writing = true;
        let (written, durable) = (inside.written, inside.durable);
        drop(inside);
        let result = self.log.relabel(|label| {
            // Not what this flush will cover: label and frames reach the medium in any order.
            label.durable = durable;
            change(label);
        });
        let mut inside = self.lock();
        match &result {
            Ok(()) => inside.durable = inside.durable.max(written),
            Err(error) => inside.fail(error),
        }
        self.end_writing(&mut inside);
        result
    }
}
