//! What is remembered of each attempt to reach somebody: who asked for what, whether it was reached or why not, and how
//! much went over.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a run sends is hostile: of what it asked for, no more than this is kept.
const ASKED_CHARACTERS: usize = 300;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    pub via: Via,
    /// The host and port, or what stood in their place, without control characters.
    pub asked: String,
    pub fate: Fate,
    /// From the run to the other side.
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

/// How a run asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Via {
    /// The proxy, before it was said how.
    Proxy,
    Connect,
    Http,
    Socks,
    /// A system call of this thread.
    Socket {
        thread: i32,
    },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate {
    Reached { address: SocketAddr },
    Replayed,
    Refused { why: String },
}

impl Call {
    pub fn refused(via: Via, asked: &str, why: impl ToString) -> Call {
        Call::new(via, asked, Fate::Refused { why: why.to_string() })
    }

    pub fn new(via: Via, asked: &str, fate: Fate) -> Call {
        let asked = asked.chars().take(ASKED_CHARACTERS).flat_map(char::escape_debug).collect();
        Call { via, asked, fate, sent_bytes: 0, received_bytes: 0 }
    }
}

/// The calls of a run, as many as are kept.
#[derive(Debug)]
pub struct Calls {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Kept {
    /// In the order in which they ended.
    pub calls: Vec<Call>,
    /// How many more there were.
    pub left_out: u64,
}

impl Calls {
    pub fn new(most: usize) -> Calls {
        Calls { most, kept: Mutex::default() }
    }

    pub fn add(&self, call: Call) {
        let mut kept = self.kept();
        match kept.calls.len() < self.most {
            true => kept.calls.push(call),
            false => kept.left_out += 1,
        }
    }

    /// What there was until now.
    pub fn take(&self) -> Kept {
        std::mem::take(&mut *self.kept())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_calls_is_counted_and_not_kept() {
        let calls = Calls::new(2);
        for _ in 0..5 {
            calls.add(Call::refused(Via::Proxy, "x", "no"));
        }
        let kept = calls.take();
        assert_eq!((kept.calls.len(), kept.left_out), (2, 3));
    }

    #[test]
    fn what_was_asked_for_cannot_write_to_a_terminal() {
        let call = Call::refused(Via::Proxy, "\u{1b}[2J\r\n", "no");
        assert!(call.asked.chars().all(|character| !character.is_control()), "{}", call.asked);
    }
}
