//! Time as a hybrid logical clock gives it: near the wall clock, never running backwards, ordered across actors that
//! have heard of each other. Reads no clock: whoever has one hands the milliseconds in.

/// Milliseconds since 1970 in the upper 48 bits, a counter within the millisecond in the lower 16.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time(pub u64);

const COUNTER_BITS: u32 = 16;

impl Time {
    pub const MAX: Time = Time(u64::MAX);

    pub const fn from_ms(ms: u64) -> Time {
        Time(ms << COUNTER_BITS)
    }

    pub const fn ms(self) -> u64 {
        self.0 >> COUNTER_BITS
    }
}

/// Gives each event a later time than all before it.
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
        self.last = Time::from_ms(now_ms).max(Time(self.last.0.saturating_add(1)));
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
}
