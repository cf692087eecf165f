//! How a run ended, for people: exit code and last words.

use sandbox::network::call::{Fate, Kept};
use sandbox::outcome::Limit;
use sandbox::{Limits, Verdict};
use std::time::Duration;

/// What the exit code of `telos exec` means, beyond what the program chose itself.
pub mod exit_code {
    pub use crate::session::exit_code::{INTERRUPTED, MEMORY, OUTPUT_CLOSED, TIMEOUT};
    pub const OUTPUT: u8 = 121;
    pub const CPU: u8 = 122;
    /// It did not run, or what it changed could not be kept.
    pub const REFUSED: u8 = 125;
    pub const NO_PROGRAM: u8 = 127;
    /// Added to the number of the signal that ended it.
    pub const SIGNALLED: u8 = 128;
}

pub fn exit_code_of(verdict: &Verdict) -> u8 {
    match verdict {
        // A process ends with a byte, whatever it was called with.
        Verdict::Exited(code) => *code as u8,
        Verdict::Signalled(signal) => exit_code::SIGNALLED.saturating_add(*signal as u8),
        Verdict::Limited(limit) => match limit {
            Limit::Time => exit_code::TIMEOUT,
            Limit::Cpu => exit_code::CPU,
            Limit::Memory => exit_code::MEMORY,
            Limit::Output => exit_code::OUTPUT,
        },
        Verdict::Stopped => exit_code::INTERRUPTED,
    }
}

/// The last line on standard error, where the exit code alone would leave somebody guessing.
pub fn last_words(verdict: &Verdict, limits: &Limits) -> Option<String> {
    let limit = match verdict {
        Verdict::Limited(limit) => limit,
        Verdict::Signalled(signal) => return Some(format!("telos: ended by signal {signal}{}", name_of(*signal))),
        Verdict::Exited(_) | Verdict::Stopped => return None,
    };
    let seconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64();
    let size = |bytes: Option<u64>| size_text(bytes.unwrap_or_default());
    Some(match limit {
        Limit::Time => format!("telos: timed out after {} s; --timeout TIME allows more", seconds(limits.time)),
        Limit::Cpu => format!("telos: used its {} s of processor time; --cpu TIME allows more", seconds(limits.cpu)),
        Limit::Memory => {
            format!("telos: used its {} of memory; --memory SIZE allows more", size(limits.memory_bytes))
        }
        Limit::Output => {
            format!("telos: printed more than {}; --output SIZE allows more", size(limits.output_bytes))
        }
    })
}

/// In the largest unit of which it has at least one, as short as it can be said.
fn size_text(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_024 => (1, "bytes"),
        1_024..1_048_576 => (1 << 10, "KiB"),
        _ => (1 << 20, "MiB"),
    };
    let hundredths = (bytes as f64 / f64::from(unit) * 100.0).round();
    format!("{} {name}", hundredths / 100.0)
}

/// Those that a reader has to look up.
fn name_of(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (aborted)",
        7 => " (bus error)",
        8 => " (arithmetic fault)",
        9 => " (killed)",
        11 => " (segmentation fault)",
        15 => " (terminated)",
        25 => " (file too large; --file-size SIZE allows more)",
        31 => " (a system call that is not allowed)",
        _ => "",
    }
}

/// A line about calls that were refused: a program seldom says why it failed.
pub fn refused_calls(kept: &Kept) -> Option<String> {
    let mut refused = kept.calls.iter().filter_map(|call| match &call.fate {
        Fate::Refused { why } => Some((&call.asked, why)),
        _ => None,
    });
    let (asked, why) = refused.next()?;
    let more = match refused.count() {
        0 => String::new(),
        count => format!(" ({count} more: --json tells all)"),
    };
    Some(format!("telos: a call to {asked} was refused: {why}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_exit_code() {
        let codes = [
            (Verdict::Exited(3), 3),
            (Verdict::Signalled(11), 139),
            (Verdict::Limited(Limit::Time), 124),
            (Verdict::Limited(Limit::Memory), 123),
            (Verdict::Limited(Limit::Cpu), 122),
            (Verdict::Limited(Limit::Output), 121),
            (Verdict::Stopped, 130),
        ];
        for (verdict, code) in codes {
            assert_eq!(exit_code_of(&verdict), code, "{verdict:?}");
        }
    }

    /// Ten bytes were called 0.0000095367431640625 MiB.
    #[test]
    fn a_size_is_said_in_a_unit_that_fits() {
        let sizes =
            [(10, "10 bytes"), (1 << 10, "1 KiB"), (1536, "1.5 KiB"), (5_000_000, "4.77 MiB"), (1 << 30, "1024 MiB")];
        for (bytes, text) in sizes {
            assert_eq!(size_text(bytes), text);
        }
    }

    #[test]
    fn a_limit_is_named_with_the_option_that_moves_it() {
        let words = |verdict| last_words(&verdict, &Limits::default()).unwrap_or_default();
        assert!(words(Verdict::Limited(Limit::Time)).contains("after 60 s; --timeout"));
        assert!(words(Verdict::Limited(Limit::Memory)).contains("1024 MiB of memory; --memory"));
        assert!(words(Verdict::Signalled(11)).contains("segmentation fault"));
        assert_eq!(words(Verdict::Exited(1)), "");
    }
}
