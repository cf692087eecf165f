//! Options that several commands share: limits, capabilities and colour.

use crate::host::{Capabilities, Capability};
use anyhow::Context;
use clap::{Args, ValueEnum};
use language::Limits;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a program may use and touch.
#[derive(Args, Clone, Debug, Default)]
pub struct MachineOptions {
    /// Stop after N messages: 1000000, 1e6 or 10M. The same program stops at the same message every time
    #[arg(long, value_name = "N", value_parser = parse_count, allow_hyphen_values = true, help_heading = "Limits")]
    pub fuel: Option<u64>,

    /// Stop when the program uses more memory: 64M, 1.5GiB or bytes
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, allow_hyphen_values = true, help_heading = "Limits")]
    pub memory: Option<u64>,

    /// Raise an exception when calls nest deeper than N; 4000000 unless given
    #[arg(long, value_name = "N", value_parser = parse_depth, allow_hyphen_values = true, help_heading = "Limits")]
    pub depth: Option<usize>,

    /// Stop after that time: 5, 1.5s, 500ms or 2m
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = "Limits")]
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

/// Which image is meant.
#[derive(Args, Clone, Debug, Default)]
pub struct ImageDirectory {
    /// The directory of the image; $TELOS_IMAGE unless given, and this directory if that is not set
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub image: Option<PathBuf>,
}

impl ImageDirectory {
    /// The directory that was named, here or in the environment.
    fn named(&self) -> Option<PathBuf> {
        let variable = || std::env::var_os(IMAGE_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        self.image.clone().or_else(variable)
    }

    /// The directory that was named, or this one if there is an image in it.
    pub fn meant(&self) -> Option<PathBuf> {
        let here = || is_image(Path::new(".")).then(|| PathBuf::from("."));
        self.named().or_else(here)
    }

    /// Where an image is to be found that is up.
    pub fn to_find(&self) -> anyhow::Result<PathBuf> {
        self.meant().with_context(|| {
            format!("no image is named and none is here; name one with --image DIR or set {IMAGE_VARIABLE}")
        })
    }

    /// Where an image is to be opened, or made: not by accident in whatever directory this is.
    pub fn to_open(&self) -> anyhow::Result<PathBuf> {
        self.meant().context("there is no image in this directory; name one to make: telos up DIR")
    }
}

const IMAGE_VARIABLE: &str = "TELOS_IMAGE";

/// Whether an image lies there or is up there.
pub fn is_image(directory: &Path) -> bool {
    has_files(directory) || directory.join(keeper::SOCKET).exists()
}

/// Whether an image lies there.
pub fn has_files(directory: &Path) -> bool {
    [store::IMAGE, store::LOG].iter().any(|name| directory.join(name).exists())
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

/// The options that limit a program or withhold something from it, as they are written.
pub const CONFINING: &[&str] = &["--fuel", "--memory", "--depth", "--timeout", "--no-host", "--deny"];

type Units = &'static [(&'static str, f64)];

const COUNT_UNITS: Units = &[("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9)];
const BYTE_UNITS: Units = &[
    ("", 1.0),
    ("b", 1.0),
    ("k", 1024.0),
    ("kb", 1024.0),
    ("kib", 1024.0),
    ("m", 1_048_576.0),
    ("mb", 1_048_576.0),
    ("mib", 1_048_576.0),
    ("g", 1_073_741_824.0),
    ("gb", 1_073_741_824.0),
    ("gib", 1_073_741_824.0),
];
const SECOND_UNITS: Units = &[("", 1.0), ("s", 1.0), ("ms", 1e-3), ("m", 60.0), ("min", 60.0), ("h", 3600.0)];

/// A number that is not negative, with a unit behind it and underscores in it if that reads better.
fn scaled(text: &str, units: Units) -> Option<f64> {
    let text = text.replace('_', "");
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    let number: f64 = digits.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * scale)
}

/// The same as a whole number of at least one. A limit of nothing is nobody's wish: it is taken for "no limit" elsewhere.
fn whole(text: &str, units: Units) -> Option<u64> {
    const LARGEST: f64 = u64::MAX as f64;
    let plain = text.replace('_', "").parse().ok();
    let scaled = || scaled(text, units).filter(|number| *number < LARGEST && number.fract() == 0.0);
    plain.or_else(|| scaled().map(|number| number as u64)).filter(|&number| number > 0)
}

pub fn parse_count(text: &str) -> Result<u64, String> {
    whole(text, COUNT_UNITS).ok_or_else(|| "expected a whole number from 1 on, such as 1000000, 1e6 or 10M".to_string())
}

fn parse_depth(text: &str) -> Result<usize, String> {
    parse_count(text).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

pub fn parse_bytes(text: &str) -> Result<u64, String> {
    whole(text, BYTE_UNITS).ok_or_else(|| "expected a size from 1 byte on, such as 64M, 1.5GiB or 1048576".to_string())
}

pub fn parse_time(text: &str) -> Result<Duration, String> {
    let time = scaled(text, SECOND_UNITS).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a time longer than 0, such as 5, 1.5s, 500ms or 2m".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_people_write_them() {
        for (text, count) in [("1000", 1000), ("1e6", 1_000_000), ("1_000_000", 1_000_000), ("1.5M", 1_500_000)] {
            assert_eq!(parse_count(text), Ok(count));
        }
        assert_eq!(parse_count("18446744073709551615"), Ok(u64::MAX));
        for text in ["", "-1", "M", "1X", "1e400", "inf", "nan", "--memory", "0", "1.5", "0.0001k"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(parse_bytes("64M"), Ok(64 << 20));
        assert_eq!(parse_bytes("1024"), Ok(1024));
        assert_eq!(parse_bytes("2GiB"), Ok(2 << 30));
        assert_eq!(parse_bytes("0.5k"), Ok(512));
        assert!(parse_bytes("M").is_err() && parse_bytes("1X").is_err() && parse_bytes("99999999999G").is_err());
    }

    #[test]
    fn times_are_finite_and_longer_than_nothing() {
        for (text, milliseconds) in [("0.5", 500), ("1.5s", 1500), ("500ms", 500), ("2m", 120_000)] {
            assert_eq!(parse_time(text), Ok(Duration::from_millis(milliseconds)));
        }
        for text in ["-1", "inf", "soon", "0", "0ms", "1e-30"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
