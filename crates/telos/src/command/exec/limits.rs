//! The limits of a run, as they are written on the command line.

use crate::options::{parse_bytes, parse_count, parse_time};
use clap::Args;
use sandbox::Limits;
use std::time::Duration;

/// A limit, or the wish that there be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<T> {
    At(T),
    None,
}

#[derive(Args, Clone, Debug, Default)]
pub struct LimitOptions {
    /// End it after that time: 5, 1.5s, 500ms or 2m; 60s unless given. Each limit may be none
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Limits")]
    timeout: Option<Bound<Duration>>,

    /// Processor time of all its processes together; 60s unless given
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Limits")]
    cpu: Option<Bound<Duration>>,

    /// Memory of all its processes together, its files included; 1G unless given
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    memory: Option<Bound<u64>>,

    /// Processes and threads at once; 256 unless given
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Limits")]
    processes: Option<Bound<u64>>,

    /// Open files of each process; 1024 unless given
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Limits")]
    files: Option<Bound<u64>>,

    /// Bytes of one file; 1G unless given
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    file_size: Option<Bound<u64>>,

    /// Bytes of all files that it writes, which lie in memory; 256M unless given
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    disk: Option<Bound<u64>>,

    /// Files and directories that it makes; 65536 unless given
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Limits")]
    disk_files: Option<Bound<u64>>,

    /// Bytes of its output, errors included; 16M unless given
    #[arg(long, value_name = "SIZE", value_parser = bytes, help_heading = "Limits")]
    output: Option<Bound<u64>>,
}

impl LimitOptions {
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            time: chosen(self.timeout, default.time),
            cpu: chosen(self.cpu, default.cpu),
            memory_bytes: chosen(self.memory, default.memory_bytes),
            processes: chosen(self.processes, default.processes),
            open_files: chosen(self.files, default.open_files),
            file_bytes: chosen(self.file_size, default.file_bytes),
            disk_bytes: chosen(self.disk, default.disk_bytes),
            disk_files: chosen(self.disk_files, default.disk_files),
            output_bytes: chosen(self.output, default.output_bytes),
        }
    }
}

fn chosen<T>(written: Option<Bound<T>>, default: Option<T>) -> Option<T> {
    match written {
        Some(Bound::At(limit)) => Some(limit),
        Some(Bound::None) => None,
        None => default,
    }
}

fn bound<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Bound<T>, String> {
    if text == "none" {
        return Ok(Bound::None);
    }
    parse(text).map(Bound::At).map_err(|message| format!("{message}, or none"))
}

fn time(text: &str) -> Result<Bound<Duration>, String> {
    bound(text, parse_time)
}

fn bytes(text: &str) -> Result<Bound<u64>, String> {
    bound(text, parse_bytes)
}

fn count(text: &str) -> Result<Bound<u64>, String> {
    bound(text, parse_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help names the defaults; here is where they would drift apart.
    #[test]
    fn the_defaults_are_those_that_the_help_names() {
        let limits = LimitOptions::default().limits();
        assert_eq!((limits.time, limits.cpu), (Some(Duration::from_secs(60)), Some(Duration::from_secs(60))));
        assert_eq!((limits.memory_bytes, limits.file_bytes), (Some(1 << 30), Some(1 << 30)));
        assert_eq!((limits.disk_bytes, limits.output_bytes), (Some(256 << 20), Some(16 << 20)));
        let counts = (limits.processes, limits.open_files, limits.disk_files);
        assert_eq!(counts, (Some(256), Some(1024), Some(65_536)));
    }

    #[test]
    fn a_limit_may_be_none_if_that_is_written() {
        let written = LimitOptions { memory: Some(bytes("none").unwrap()), ..LimitOptions::default() };
        assert_eq!(written.limits().memory_bytes, None);
        assert!(bytes("0").is_err() && time("soon").unwrap_err().ends_with("or none"));
    }
}
