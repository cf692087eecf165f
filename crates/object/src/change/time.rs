//! Time as a hybrid logical clock gives it: near the wall clock, not running backwards, ordered across actors that
//! have heard of each other. Reads no clock: whoever has one hands the milliseconds in.
//!
//! A wall clock that was wrong once must not set the time for ever: where the last time is far ahead, the next one is the
//! wall clock's again. What came first is told by the numbers of commits and changes, not by time.

/// Milliseconds since 1970 in the upper 48 bits, a counter within the millisecond in the lower 16.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub u64);

const COUNTER_BITS: u32 = 16;
/// A clock that is set right moves by less than this.
const AHEAD_MS_MAX: u64 = 60_000;

impl Time {
    pub const MAX: Time = Time(u64::MAX);

    /// The latest there is for what is later than that.
    pub const fn from_ms(ms: u64) -> Time {
        if ms > Time::MAX.ms() { Time::MAX } else { Time(ms << COUNTER_BITS) }
    }

    pub const fn ms(self) -> u64 {
        self.0 >> COUNTER_BITS
    }
}

/// Gives each event a later time than all before it, as long as the wall clock is not set back by more than a minute.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    last: Time,
}

impl Clock {
    /// A clock that goes on after `last`, which a recovered log or a fork point says.
    pub const fn after(last: Time) -> Clock {
        Clock { last }
    }

    /// The time of an event that happens now.
    pub fn tick(&mut self, now_ms: u64) -> Time {
        let now = Time::from_ms(now_ms);
        let is_far_ahead = self.last.ms() > now_ms.saturating_add(AHEAD_MS_MAX);
        self.last = if is_far_ahead { now } else { now.max(Time(self.last.0.saturating_add(1))) };
        self.last
    }

    /// Takes note of a time that came from elsewhere.
    pub fn observe(&mut self, time: Time) {
        self.last = self.last.max(time);
    }

    pub const fn last(&self) -> Time {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_runs_backwards() {
        let mut clock = Clock::default();
        let first = clock.tick(1000);
        assert_eq!(first.ms(), 1000);
        let second = clock.tick(999);
        assert!(second > first && second.ms() == 1000);
        clock.observe(Time::from_ms(5000));
        assert!(clock.tick(1001) > Time::from_ms(5000));
    }

    /// One commit in the year 9000 gave all later ones that year.
    #[test]
    fn a_clock_that_was_wrong_once_is_followed_when_it_is_right_again() {
        let mut clock = Clock::after(Time::from_ms(220_000_000_000_000));
        assert_eq!(clock.tick(1000).ms(), 1000);
        assert!(clock.tick(1000) > Time::from_ms(1000));
        assert_eq!(Time::from_ms(u64::MAX), Time::MAX);
        assert_eq!(clock.tick(u64::MAX), Time::MAX);
        assert_eq!(clock.tick(2000).ms(), 2000);
    }
}
