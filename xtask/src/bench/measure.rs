//! Runs child processes and tells what they used: CPU time (user and system) and peak memory, from the kernel's own
//! accounting of the child. Wall time is never measured; the machines are shared.

use crate::workspace::describe;
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::io::Read;
use std::process::{Command, Stdio};
use wait4::Wait4;

/// A program to be measured, with its arguments.
pub struct Contender {
    pub name: String,
    pub words: Vec<OsString>,
}

/// What one run used and printed.
pub struct Usage {
    pub cpu_seconds: f64,
    /// Never less than the peak of xtask itself, a few MiB: the kernel counts the child's time before its `exec` too.
    pub peak_bytes: u64,
    pub output: String,
}

impl Contender {
    pub fn new(name: &str, words: impl IntoIterator<Item = impl Into<OsString>>) -> Contender {
        Contender { name: name.into(), words: words.into_iter().map(Into::into).collect() }
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// One run, from start to end; a failure of the program is an error.
    pub fn run(&self) -> Result<Usage> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {}", describe(&command)))?;
        let mut output = String::new();
        child.stdout.take().expect("the output was asked to be piped").read_to_string(&mut output)?;
        let used = child.wait4()?;
        ensure!(used.status.success(), "{} failed ({})", describe(&command), used.status);
        Ok(Usage {
            cpu_seconds: (used.rusage.utime + used.rusage.stime).as_secs_f64(),
            peak_bytes: used.rusage.maxrss,
            output: output.trim_end().into(),
        })
    }
}

/// Runs all contenders in each round, each round beginning with another one, and returns the CPU seconds of each.
pub fn interleave(contenders: &[Contender], rounds: usize) -> Result<Vec<Vec<f64>>> {
    let mut samples = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds {
        for offset in 0..contenders.len() {
            let index = (round + offset) % contenders.len();
            samples[index].push(contenders[index].run()?.cpu_seconds);
        }
    }
    Ok(samples)
}

/// Runs each contender once and fails unless all print the same.
pub fn require_same_output(contenders: &[Contender]) -> Result<()> {
    let mut first: Option<(&str, String)> = None;
    for contender in contenders {
        let output = contender.run()?.output;
        ensure!(!output.is_empty(), "{} prints no checksum", describe(&contender.command()));
        match &first {
            None => first = Some((&contender.name, output)),
            Some((name, expected)) => {
                ensure!(output == *expected, "{name} prints {expected}, but {} prints {output}", contender.name);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Contender, interleave, require_same_output};

    #[test]
    fn a_run_tells_what_it_used_and_printed() {
        let usage = Contender::new("echo", ["echo", "seven"]).run().unwrap();
        assert_eq!(usage.output, "seven");
        assert!(usage.peak_bytes > 100_000, "a process has at least some pages");
    }

    #[test]
    fn busy_work_shows_as_cpu_time_and_sleep_does_not() {
        let busy = Contender::new("busy", ["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
        let idle = Contender::new("idle", ["sleep", "0.2"]);
        let samples = interleave(&[busy, idle], 1).unwrap();
        assert!(samples[0][0] > samples[1][0]);
        assert!(samples[1][0] < 0.1);
    }

    #[test]
    fn a_failing_program_is_an_error() {
        assert!(Contender::new("false", ["false"]).run().is_err());
    }

    #[test]
    fn different_outputs_are_an_error() {
        let one = || Contender::new("one", ["echo", "1"]);
        assert!(require_same_output(&[one(), one()]).is_ok());
        assert!(require_same_output(&[one(), Contender::new("two", ["echo", "2"])]).is_err());
    }
}
