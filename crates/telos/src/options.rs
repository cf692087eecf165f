//! Options that several commands share: limits, capabilities and colour.

use crate::host::{Capabilities, Capability};
use clap::{Args, ValueEnum};
use language::Limits;
use std::io::IsTerminal;
use std::time::Duration;

/// What a program may use and touch.
#[derive(Args, Clone, Debug, Default)]
pub struct MachineOptions {
    /// Stop after N messages; the same program stops at the same message every time
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub fuel: Option<u64>,

    /// Stop when the program uses more memory; 64M, 2G and plain bytes are understood
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, help_heading = "Limits")]
    pub memory: Option<u64>,

    /// Raise an exception when calls nest deeper than N
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub depth: Option<usize>,

    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Withhold everything of the host: files, clock, environment, processes, randomness and system
    #[arg(long, help_heading = "Capabilities")]
    pub no_host: bool,

    /// Withhold some capabilities, separated by commas
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',', help_heading = "Capabilities")]
    pub deny: Vec<Capability>,
}

impl MachineOptions {
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits { fuel: self.fuel, memory_bytes: self.memory, depth: self.depth.unwrap_or(default.depth) }
    }

    pub fn capabilities(&self) -> Capabilities {
        let granted = if self.no_host { Capabilities::none() } else { Capabilities::all() };
        self.deny.iter().fold(granted, |granted, &denied| granted.without(denied))
    }
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    pub fn on_stdout(self) -> bool {
        self.is_on(std::io::stdout().is_terminal())
    }

    pub fn on_stderr(self) -> bool {
        self.is_on(std::io::stderr().is_terminal())
    }

    fn is_on(self, is_terminal: bool) -> bool {
        let is_refused = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => is_terminal && !is_refused(),
        }
    }
}

fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        other => return Err(format!("unknown unit \"{other}\": use K, M or G")),
    };
    let number: u64 = digits.parse().map_err(|_| format!("\"{text}\" is no number of bytes, such as 64M"))?;
    number.checked_mul(unit).ok_or_else(|| format!("\"{text}\" is too much"))
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("\"{text}\" is no number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units() {
        assert_eq!(parse_bytes("64M"), Ok(64 << 20));
        assert_eq!(parse_bytes("1024"), Ok(1024));
        assert_eq!(parse_bytes("2GiB"), Ok(2 << 30));
        assert!(parse_bytes("M").is_err() && parse_bytes("1X").is_err() && parse_bytes("99999999999G").is_err());
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(parse_seconds("-1").is_err() && parse_seconds("inf").is_err() && parse_seconds("soon").is_err());
    }
}
