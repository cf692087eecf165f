//! One unit of a judgement, a test or a check: what it may use, and why it has no answer that counts.

use keeper::protocol::{Failure, FailureKind, Request};
use std::time::Duration;

/// What one unit may use of the machine, if nobody says more or less.
#[derive(Clone, Copy)]
pub struct Allowance {
    pub fuel: u64,
    pub memory_bytes: u64,
    pub time: Duration,
}

pub const TEST: Allowance = Allowance { fuel: 50_000_000, memory_bytes: 256 << 20, time: Duration::from_secs(5) };
/// What Verification itself does has more: it grows with the tests and with the change.
pub const CHECK: Allowance = Allowance { fuel: 2_000_000_000, time: Duration::from_secs(60), ..TEST };

/// What whoever asked for the judgement says of what a unit may use, beside its time.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Allotment {
    fuel: Option<u64>,
    memory_bytes: Option<u64>,
}

impl Allotment {
    pub fn of(request: &Request) -> Allotment {
        let Request { fuel, memory_bytes, .. } = *request;
        Allotment { fuel, memory_bytes }
    }

    /// Whether nobody said anything.
    pub fn is_usual(self) -> bool {
        self == Allotment::default()
    }

    pub fn of_unit(self, usual: Allowance) -> Allowance {
        Allowance {
            fuel: self.fuel.unwrap_or(usual.fuel),
            memory_bytes: self.memory_bytes.unwrap_or(usual.memory_bytes),
            ..usual
        }
    }
}

/// Why a message has no answer that counts.
pub enum Fault {
    /// It said so: an exception, an exit, or a write to what is protected.
    Failed(String),
    /// It did not come to an end, or not twice to the same.
    Unsure(String),
}

impl Fault {
    pub fn of(failure: &Failure, is_late: bool, allowance: Allowance) -> Fault {
        let Allowance { fuel, memory_bytes, time } = allowance;
        match failure.kind {
            FailureKind::Fuel => Fault::Unsure(format!("it used more than {fuel} units of fuel")),
            FailureKind::Memory => Fault::Unsure(format!("it used more than {memory_bytes} bytes of memory")),
            FailureKind::Interrupted if is_late => Fault::Unsure(format!("it took longer than {} s", time.as_secs())),
            FailureKind::Interrupted => Fault::Unsure("it was interrupted".into()),
            FailureKind::Exit => Fault::Failed("it ended the program".into()),
            _ => Fault::Failed(failure.message.replace('\n', " ")),
        }
    }

    pub fn text(&self) -> String {
        match self {
            Fault::Failed(why) => format!("failed: {why}"),
            Fault::Unsure(why) => format!("unsure: {why}"),
        }
    }
}
