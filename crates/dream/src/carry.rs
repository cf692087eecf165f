//! Carries bytes between the keeper and a dreamer, beside whoever supervises that, on the same thread: it never waits, but for
//! a moment where a journal comes faster than it may, and what one side does not take yet it holds, a piece each way, and takes no more meanwhile.
//!
//! **Order.** The dreamer tells its journal what it committed before it answers. So whatever is answered was written down, as
//! long as the journal is emptied before an answer is carried on.

use crate::error::DreamError;
use crate::journal::Decoder;
use crate::kept::Recording;
use object::change::Time;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use sandbox::process::Companion;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How much is carried at once.
const PIECE_BYTES: usize = 16 << 10;

/// What was taken from one side, and not yet by the other.
#[derive(Default)]
pub struct Piece {
    bytes: Vec<u8>,
    /// What of it lies between the sides, still.
    held: std::ops::Range<usize>,
    /// Nothing more comes, or nothing more is taken.
    is_over: bool,
}

impl Piece {
    /// What is there already, given on as far as it is taken: a dreamer that seals itself finds it when it looks.
    pub fn ahead(from: impl AsFd, to: impl AsFd) -> Piece {
        let mut piece = Piece::default();
        if piece.take(from) {
            piece.give(to);
        }
        // An end is met again by whoever goes on.
        piece.is_over = false;
        piece
    }

    fn takes(&self) -> bool {
        self.held.is_empty() && !self.is_over
    }

    /// Takes what is there. False if nothing was.
    fn take(&mut self, from: impl AsFd) -> bool {
        make_room(&mut self.bytes);
        match rustix::net::recv(from, spare_capacity(&mut self.bytes), RecvFlags::DONTWAIT) {
            Ok((count @ 1.., _)) => {
                self.held = 0..count;
                return true;
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.is_over = true,
        }
        false
    }

    /// Gives on what can be given. False if nobody will ever take it.
    fn give(&mut self, to: impl AsFd) -> bool {
        while !self.held.is_empty() {
            let held = &self.bytes[self.held.clone()];
            match rustix::net::send(&to, held, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => self.held.start += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => {
                    (self.held, self.is_over) = (0..0, true);
                    return false;
                }
            }
        }
        true
    }

    /// Which side it waits for, if for one: `from` to have something, or `to` to have room.
    fn watch<'a>(&self, from: &'a UnixStream, to: &'a UnixStream) -> Option<PollFd<'a>> {
        if !self.held.is_empty() {
            return Some(PollFd::new(to, PollFlags::OUT));
        }
        (!self.is_over).then(|| PollFd::new(from, PollFlags::IN))
    }
}

/// Memory that nothing is carried in is not touched.
fn make_room(piece: &mut Vec<u8>) {
    piece.clear();
    piece.reserve_exact(PIECE_BYTES);
}

/// How fast a journal is taken, whatever the dreamer does: what waits stays in its pipe, and keeps the dreamer waiting.
struct Pace {
    /// What was taken since then went at the full rate.
    since: Instant,
    bytes: u64,
}

impl Pace {
    const BYTES_PER_SECOND: u64 = 32 << 20;
    /// What was not taken for so long is not made up for.
    const CREDIT: Duration = Duration::from_millis(250);
    /// Shorter pauses are made together.
    const SHORTEST: Duration = Duration::from_millis(4);
    /// Whoever watches the dreamer meanwhile is late by no more.
    const LONGEST: Duration = Duration::from_millis(20);

    fn new(now: Instant) -> Pace {
        Pace { since: now, bytes: 0 }
    }

    /// How long to wait after these.
    fn after(&mut self, bytes: usize, now: Instant) -> Duration {
        self.bytes += bytes as u64;
        let due = self.since + Duration::from_nanos(self.bytes.saturating_mul(1_000_000_000) / Pace::BYTES_PER_SECOND);
        if now.saturating_duration_since(due) > Pace::CREDIT {
            *self = Pace::new(now - Pace::CREDIT);
        }
        let ahead = due.saturating_duration_since(now);
        if ahead < Pace::SHORTEST { Duration::ZERO } else { ahead.min(Pace::LONGEST) }
    }
}

pub struct Carrier {
    /// To the keeper.
    line: UnixStream,
    /// To the dreamer.
    conversation: UnixStream,
    journal: OwnedFd,
    recording: Recording,
    decoder: Decoder,
    down: Piece,
    up: Piece,
    /// Nothing more comes from its journal.
    is_told: bool,
    /// What comes out of its journal, a piece of it.
    piece: Vec<u8>,
    pace: Pace,
    /// Why nothing more is taken from it.
    failure: Option<DreamError>,
}

impl Carrier {
    /// `down` is what went ahead from the one to the other.
    pub fn new(
        (line, conversation, down): (UnixStream, UnixStream, Piece),
        journal: OwnedFd,
        (recording, decoder): (Recording, Decoder),
    ) -> rustix::io::Result<Carrier> {
        rustix::fs::fcntl_setfl(&journal, OFlags::NONBLOCK)?;
        let (up, piece) = (Piece::default(), Vec::new());
        let (is_told, failure, pace) = (false, None, Pace::new(Instant::now()));
        Ok(Carrier { line, conversation, journal, recording, decoder, down, up, is_told, piece, pace, failure })
    }

    /// After the end of the dreamer, which holds nothing open any more: carries what it left. What the keeper does not take is lost.
    pub fn finish(mut self) -> (UnixStream, Recording, Option<DreamError>) {
        loop {
            // If nobody hears it, it is written down all the same.
            self.carry_up();
            if self.failure.is_some() || (self.up.is_over && self.up.held.is_empty() && self.is_told) {
                break;
            }
            let mut waited = Vec::new();
            self.watch_up(&mut waited);
            let _ = poll(&mut waited, None);
        }
        (self.line, self.recording, self.failure)
    }

    /// From the keeper to the dreamer. False when the keeper has gone: then the dream is over.
    fn carry_down(&mut self) -> bool {
        loop {
            // One that does not listen any more has ended, or is about to.
            if !self.down.give(&self.conversation) {
                return true;
            }
            if !self.down.takes() {
                return self.down.is_over || !self.is_left_alone();
            }
            if !self.down.take(&self.line) {
                return !self.down.is_over;
            }
        }
    }

    /// Whether the keeper has gone, though the dreamer has not taken all that it said.
    fn is_left_alone(&mut self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let is_gone = matches!(poll(&mut [PollFd::new(&self.line, PollFlags::empty())], Some(&now)), Ok(1..));
        if is_gone {
            (self.down.held, self.down.is_over) = (0..0, true);
        }
        is_gone
    }

    /// From the dreamer outwards. False if nothing that it says counts any more, or nobody hears it.
    fn carry_up(&mut self) -> bool {
        loop {
            if !self.up.give(&self.line) {
                return false;
            }
            let is_said = self.up.takes() && self.up.take(&self.conversation);
            // What was told before it was said is in the journal's pipe by now.
            self.record();
            if self.failure.is_some() {
                // What it did is not known any more.
                return false;
            }
            if !is_said {
                return true;
            }
        }
    }

    fn watch_up<'a>(&'a self, waited: &mut Vec<PollFd<'a>>) {
        waited.extend(self.up.watch(&self.conversation, &self.line));
        waited.extend((!self.is_told).then(|| PollFd::new(&self.journal, PollFlags::IN)));
    }

    /// Writes down all that the journal's pipe holds.
    fn record(&mut self) {
        while !self.is_told && self.failure.is_none() {
            make_room(&mut self.piece);
            match rustix::io::read(&self.journal, spare_capacity(&mut self.piece)) {
                Ok(1..) => {}
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                Ok(_) | Err(_) => {
                    self.is_told = true;
                    return;
                }
            }
            let (recording, mut failure) = (&mut self.recording, None);
            let fed = self.decoder.feed(&self.piece, now(), &mut |received| {
                if failure.is_none() {
                    failure = recording.append(&received).err();
                }
            });
            self.failure = failure.or(fed.err().map(DreamError::from));
            let pause = self.pace.after(self.piece.len(), Instant::now());
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
        }
    }
}

impl Companion for Carrier {
    fn watch<'a>(&'a self, waited: &mut Vec<PollFd<'a>>) {
        if self.failure.is_some() {
            return;
        }
        waited.extend(self.down.watch(&self.line, &self.conversation));
        // Its end is heard also while nothing is taken from it.
        waited.extend((!self.down.held.is_empty()).then(|| PollFd::new(&self.line, PollFlags::empty())));
        self.watch_up(waited);
    }

    fn act(&mut self) -> bool {
        self.failure.is_none() && self.carry_down() && self.carry_up()
    }
}

fn now() -> Time {
    // To its end: commits of one millisecond are told apart by more than that.
    Time::from_ms(image::now_ms() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    /// A dreamer that floods its journal is taken from at the rate that there is, in the long run; one that says little never waits.
    #[test]
    fn a_flood_is_taken_at_its_rate_and_a_trickle_at_once() {
        let start = Instant::now();
        let (mut pace, mut now) = (Pace::new(start), start);
        for _ in 0..8 * Pace::BYTES_PER_SECOND / PIECE_BYTES as u64 {
            now += pace.after(PIECE_BYTES, now);
        }
        assert!((Duration::from_millis(7_900)..=Duration::from_secs(8)).contains(&(now - start)), "{:?}", now - start);
        let mut pace = Pace::new(start);
        for _ in 0..1000 {
            now += Duration::from_millis(1);
            assert!(pace.after(PIECE_BYTES, now).is_zero());
        }
    }

    /// Were the end of a line met here, whoever carries would never meet it, and the dream outlive its keeper.
    #[test]
    fn what_goes_ahead_is_given_on_and_an_end_is_left_for_later() {
        let ((line, mut keeper), (conversation, mut dreamer)) =
            (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        keeper.write_all(b"ask").unwrap();
        assert!(Piece::ahead(&line, &conversation).takes());
        let mut heard = [0; 3];
        dreamer.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"ask");
        drop(keeper);
        let mut piece = Piece::ahead(&line, &conversation);
        assert!(piece.takes() && !piece.take(&line) && piece.is_over);
    }
}
