//! A look at everything in an image, by a child process: a file that is broken badly enough ends whoever reads it with a
//! signal, and that is to be neither the image process nor the command that tells the user.
//!
//! The child says one line of JSON after the other on its standard output: that it has opened the files, how far it is,
//! and what it found.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use store::{Options, Progress, Report, Store};

/// What the child is called on the command line.
pub const NAME: &str = "image-check";
const STAGES: [&str; 5] = ["pages", "objects", "changes", "history", "log"];

// ---- the child

/// Looks at the image of a directory, beside a writer if it is told up to where that has written.
pub fn examine(directory: &Path, until: Option<u64>) -> Result<(), String> {
    system::fault::name_on_fault(&directory.join(store::IMAGE));
    let said = match report(directory, until) {
        Ok(report) => json!({
            "objects": report.objects, "references": report.references, "commits": report.commits,
            "frames": report.frames, "found": report.found, "findings": report.findings,
        }),
        Err(error) => json!({ "error": error }),
    };
    say(&said);
    Ok(())
}

fn report(directory: &Path, until: Option<u64>) -> Result<Report, String> {
    let store = match until {
        Some(until) => Store::open_beside(directory, Options::default(), until),
        None => crate::holder::patiently(|| Store::open_read_only(directory, Options::default())),
    };
    let store = store.map_err(|error| error.to_string())?;
    let check = store.begin_check().map_err(|error| error.to_string())?;
    say(&json!({ "opened": true }));
    let mut tell = |Progress { stage, done, total }| say(&json!({ "stage": stage, "done": done, "total": total }));
    check.run(&mut tell).map_err(|error| error.to_string())
}

fn say(line: &Value) {
    if writeln!(std::io::stdout(), "{line}").is_err() {
        // Nobody listens any more, and a snapshot that is held for nothing makes the file grow.
        std::process::exit(1);
    }
}

// ---- whoever asks

/// A child at work.
pub struct Examination {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// What it said before it was asked.
    said: Option<Value>,
}

impl Examination {
    pub fn start(directory: &Path, until: Option<u64>) -> Result<Examination, String> {
        let mut command = Command::new("/proc/self/exe");
        command.arg(NAME).args(until.map(|until| format!("--until={until}"))).arg("--").arg(directory);
        Examination::of(command)
    }

    fn of(mut command: Command) -> Result<Examination, String> {
        command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot start a process for the check: {error}"))?;
        let lines = BufReader::new(child.stdout.take().ok_or("the check has no output")?);
        Ok(Examination { child, lines, said: None })
    }

    /// Returns when it has opened the files, or has failed to.
    pub fn opened(&mut self) {
        self.said = self.line();
    }

    fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.lines.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
        serde_json::from_str(&line).ok()
    }

    /// What was found in `directory`. An error means that it could not be looked at.
    pub fn finish(mut self, directory: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Report, String> {
        let mut last = None;
        while let Some(line) = self.said.take().or_else(|| self.line()) {
            let stage = STAGES.into_iter().find(|stage| line["stage"] == *stage);
            if let (Some(stage), Some(done), Some(total)) = (stage, line["done"].as_u64(), line["total"].as_u64()) {
                progress(Progress { stage, done, total });
            }
            last = Some(line);
        }
        let mut words = String::new();
        let _ = self.child.stderr.take().map(|mut errors| errors.read_to_string(&mut words));
        let status = self.child.wait().map_err(|error| format!("cannot wait for the check: {error}"))?;
        if let Some(signal) = status.signal() {
            let image = directory.join(store::IMAGE);
            let words = words.trim();
            let told = format!("{}: looking at it ended with signal {signal}", image.display());
            let told = if words.is_empty() { told } else { format!("{told}: {words}") };
            return Ok(Report { found: 1, findings: vec![told], ..Report::default() });
        }
        match last {
            Some(line) if line["error"].is_string() => Err(line["error"].as_str().unwrap_or_default().to_string()),
            Some(line) if line["found"].is_u64() => Ok(report_of(&line)),
            _ => Err(format!("the check ended without an answer ({status}): {}", words.trim())),
        }
    }
}

fn report_of(line: &Value) -> Report {
    let number = |name: &str| line[name].as_u64().unwrap_or(0);
    let findings = line["findings"].as_array().into_iter().flatten();
    Report {
        objects: number("objects"),
        references: number("references"),
        commits: number("commits"),
        frames: number("frames"),
        found: number("found"),
        findings: findings.filter_map(|finding| finding.as_str().map(String::from)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Report, String> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Examination::of(command)?.finish(Path::new("garden"), &mut |_| {})
    }

    /// What LMDB does to whoever reads a broken file.
    #[test]
    fn a_fault_signal_ends_the_child_only_and_is_a_finding_that_names_the_file() {
        for (signal, number) in [("BUS", 7), ("SEGV", 11), ("ABRT", 6)] {
            let report = shell(&format!("echo '{{\"opened\":true}}'; kill -{signal} $$")).unwrap();
            assert_eq!(report.found, 1);
            let told = &report.findings[0];
            assert!(told.starts_with("garden/telos.img: ") && told.contains(&format!("signal {number}")), "{told}");
        }
    }

    #[test]
    fn a_child_without_an_answer_is_no_clean_report() {
        assert!(shell("exit 3").is_err_and(|error| error.contains("exit status: 3")));
        assert!(shell("echo '{\"error\":\"no\"}'").is_err_and(|error| error == "no"));
        assert!(shell("echo '{\"found\":0}'").is_ok_and(|report| report.is_clean()));
    }
}
