//! Where a program was when it ended: the messages under way, innermost first. Owns how a stack of millions becomes a
//! few lines: what a recursion repeats is told once, with how often.

use super::frame::{Frame, Kind, Native};
use crate::vm::Vm;
use object::{Handle, Value};

/// The lines of a trace; what lies further out is counted only.
const LINES_MAX: usize = 64;
/// Recursions through more messages than this are not recognized.
const ROUND_MAX: usize = 16;

/// The messages under way when a program ended, innermost first, each with how often it comes in a row of rounds.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    pub messages: Vec<(Handle, u64)>,
    /// How many more there were further out.
    pub more: u64,
}

impl Folded {
    /// Folds what is repeated: `a b a b a b c` becomes three times `a b`, then `c`.
    pub fn fold(messages: impl Iterator<Item = Handle>) -> Folded {
        let mut fold = Fold::default();
        messages.for_each(|message| fold.push(message));
        fold.flush();
        fold.trace
    }

    fn add(&mut self, message: Handle, times: u64) {
        match self.messages.len() < LINES_MAX {
            true => self.messages.push((message, times)),
            false => self.more = self.more.saturating_add(times),
        }
    }
}

/// A trace that is being folded, one message after the other, in bounded memory.
#[derive(Default)]
struct Fold {
    trace: Folded,
    /// The last messages, of which no round is known to be repeated.
    recent: Vec<Handle>,
    /// The round that is repeated at present; empty if none is.
    round: Vec<Handle>,
    times: u64,
    /// How much of the next round has been seen.
    seen: usize,
}

impl Fold {
    fn push(&mut self, message: Handle) {
        if self.round.get(self.seen) == Some(&message) {
            self.seen += 1;
            if self.seen == self.round.len() {
                (self.times, self.seen) = (self.times + 1, 0);
            }
            return;
        }
        self.end_round();
        self.recent.push(message);
        let count = self.recent.len();
        let repeats =
            |&length: &usize| self.recent[count - length..] == self.recent[count - 2 * length..count - length];
        if let Some(length) = (1..=ROUND_MAX.min(count / 2)).find(repeats) {
            self.round = self.recent.split_off(count - length);
            self.recent.truncate(count - 2 * length);
            (self.times, self.seen) = (2, 0);
            self.flush_recent(0);
        }
        self.flush_recent(2 * ROUND_MAX);
    }

    /// Writes down the round that has ended, and takes up again what was begun of the next one.
    fn end_round(&mut self) {
        let round = std::mem::take(&mut self.round);
        round.iter().for_each(|&message| self.trace.add(message, self.times));
        self.recent.extend_from_slice(&round[..self.seen]);
        (self.times, self.seen) = (0, 0);
    }

    /// Writes down the older of the recent messages.
    fn flush_recent(&mut self, keep: usize) {
        let older = self.recent.len().saturating_sub(keep);
        for message in self.recent.drain(..older) {
            self.trace.add(message, 1);
        }
    }

    fn flush(&mut self) {
        self.end_round();
        self.flush_recent(0);
    }
}

impl Vm {
    /// Where the program is now.
    pub(crate) fn trace_here(&self) -> Folded {
        Folded::fold(self.messages_under_way())
    }

    /// The trace of an exception that is about to reach the embedder; nothing for one that will be caught.
    pub(crate) fn trace_of_uncaught(&mut self, exception: Value) -> Folded {
        let is_end = |frame: &&Frame| {
            matches!(frame.kind, Kind::Host | Kind::Native(Native::Try) | Kind::Native(Native::Coroutine))
        };
        let end = self.stack.frames.iter().rev().find(is_end);
        if end.is_none_or(|frame| frame.kind != Kind::Host) {
            return Folded::default();
        }
        let noted = self.noted_messages(exception);
        // An exception that is raised again tells where it was raised first, as far as it has noted that.
        let is_here = self.stack_messages().iter().filter_map(|value| value.as_handle()).eq(noted.iter().copied());
        let (added, skipped) = self.blame(exception, &noted);
        match is_here {
            true => Folded::fold(added.into_iter().chain(self.messages_under_way().skip(skipped))),
            false => Folded::fold(added.into_iter().chain(noted.into_iter().skip(skipped))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(messages: &[u32]) -> Vec<(u32, u64)> {
        let trace = Folded::fold(messages.iter().map(|&message| Handle(message)));
        assert_eq!(trace.more, 0);
        trace.messages.iter().map(|&(message, times)| (message.0, times)).collect()
    }

    #[test]
    fn rounds_are_told_once() {
        assert_eq!(folded(&[]), []);
        assert_eq!(folded(&[1, 2, 3]), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(folded(&[1, 1, 1, 2]), [(1, 3), (2, 1)]);
        assert_eq!(folded(&[9, 1, 2, 1, 2, 1, 2, 3]), [(9, 1), (1, 3), (2, 3), (3, 1)]);
        assert_eq!(folded(&[1, 2, 1, 2, 1, 4]), [(1, 2), (2, 2), (1, 1), (4, 1)]);
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let trace = Folded::fold((0..1000).map(Handle));
        assert_eq!((trace.messages.len(), trace.more), (LINES_MAX, 1000 - LINES_MAX as u64));
    }
}
