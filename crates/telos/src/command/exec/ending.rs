//! All that happens when a program has ended, or was not run: last words, the patch, what is applied, the JSON object, the
//! record in the log, the exit code.

use super::job::CodeFacts;
use super::outlet::{Outlet, Patience, Unwritten};
use super::result::{self, exit_code};
use super::signals::Signals;
use super::sockets::Keeping;
use super::stream::Taken;
use super::{diff, terminal};
use crate::apply;
use crate::report;
use crate::runs;
use crate::runs::described::{self, shown};
use rustix::io::Errno;
use sandbox::changes::{Plan, Snapshot};
use sandbox::outcome::{ChangeKind, Changed};
use sandbox::{Access, Order, Outcome, SandboxError, Verdict};
use serde_json::{Map, Value, json};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// Gathers what is to be said.
pub struct Ending {
    is_json: bool,
    code: u8,
    has_ended_well: bool,
    /// The log's line.
    record: Map<String, Value>,
    /// What `--json` prints.
    object: Map<String, Value>,
    /// Said at the end, after all that the program printed.
    words: Vec<String>,
    patch: Option<Vec<u8>>,
    /// That stop it.
    pub signals: Signals,
}

impl Ending {
    pub fn new(is_json: bool) -> Ending {
        Ending {
            is_json,
            code: 0,
            has_ended_well: false,
            record: Map::new(),
            object: Map::new(),
            words: Vec::new(),
            patch: None,
            signals: Signals::default(),
        }
    }

    /// What was asked for, for the log.
    pub fn describe(&mut self, order: &Order, language: Option<&str>, code: Option<&CodeFacts>) {
        let code = code.map(|code| json!({ "file": code.file.as_deref().map(shown), "digest": code.digest, "bytes": code.length_bytes }));
        self.record.insert("language".into(), json!(language));
        self.record.insert("code".into(), json!(code));
        self.record.extend(described::asked(order));
    }

    /// Half of an earlier `--apply` may lie in a directory that this one may change.
    pub fn tell_of_left(&mut self, order: &Order) {
        let layered = order.view.grants.iter().filter(|grant| grant.access == Access::Layered);
        for left in layered.flat_map(|grant| apply::left_in(&grant.host)) {
            self.words.push(format!(
                "telos: {} was left by an --apply that was killed; docs/exec.md says how to put back what is in it",
                left.display()
            ));
        }
    }

    /// It did not run.
    pub fn refuse(&mut self, error: &anyhow::Error, code: u8) {
        self.code = code;
        let message = report::with_causes(error);
        for fields in [&mut self.record, &mut self.object] {
            fields.insert("verdict".into(), json!("refused"));
            fields.insert("error".into(), json!(message));
        }
        self.words.push(format!("error: {message}"));
    }

    pub fn fail(&mut self, error: SandboxError) {
        let code = match error {
            SandboxError::NoProgram { .. } => exit_code::NO_PROGRAM,
            _ => exit_code::REFUSED,
        };
        if let SandboxError::TooWeak(lacks) = &error {
            self.object.insert("lacks".into(), described::lacks(lacks));
        }
        self.refuse(&error.into(), code);
    }

    pub fn ended(&mut self, order: &Order, outcome: &Outcome, taken: Taken) {
        self.has_ended_well = outcome.verdict == Verdict::Exited(0) && taken.unwritten.is_none();
        self.code = match (&outcome.verdict, taken.unwritten, self.signalled()) {
            (Verdict::Stopped | Verdict::Exited(0), Some(Unwritten::Closed), None) => exit_code::OUTPUT_CLOSED,
            (Verdict::Stopped | Verdict::Exited(0), Some(Unwritten::Failed(error)), None) => {
                self.words.push(unwritten(error));
                exit_code::REFUSED
            }
            (Verdict::Stopped, _, Some(code)) | (_, Some(Unwritten::Stopped), Some(code)) => code,
            // It ended by itself, and what it printed last was not taken.
            (Verdict::Exited(_) | Verdict::Signalled(_), Some(Unwritten::Late), _) => {
                self.words.push("telos: its output was not taken before its time was up; the rest is lost".to_string());
                exit_code::TIMEOUT
            }
            (verdict, ..) => result::exit_code_of(verdict),
        };
        let digest = json!({
            "code": self.record.get("code").and_then(|code| code.get("digest")),
            "stdout": taken.output_digest,
            "stderr": taken.errors_digest,
        });
        let mut fields = described::ended(outcome);
        fields.insert("digest".into(), digest);
        self.record.extend(fields.clone());
        self.record.extend(described::calls(&outcome.calls, runs::LIST_LENGTH_MAX));
        self.object = fields;
        if self.is_json {
            self.object.insert("stdout".into(), json!(String::from_utf8_lossy(&taken.output)));
            self.object.insert("stderr".into(), json!(String::from_utf8_lossy(&taken.errors)));
            self.object.insert("changes".into(), outcome.changes.iter().map(|each| changed(order, each)).collect());
        }
        for lack in &outcome.lacks {
            let wall = crate::command::doctor::name_of(lack.wall);
            self.words.push(format!("telos: it ran without a wall: {wall} ({})", lack.why));
        }
        self.words.extend(result::refused_calls(&outcome.calls));
        self.words.extend(result::last_words(&outcome.verdict, &order.limits));
    }

    /// The exit code that says which signal came, if one did.
    fn signalled(&self) -> Option<u8> {
        let signal = self.signals.received.load(Ordering::SeqCst);
        (signal > 0).then(|| exit_code::SIGNALLED.saturating_add(signal as u8))
    }

    /// Writes down what was said to those whom the program called.
    pub fn keep_recording(&mut self, keeping: &Keeping) {
        if let Err(error) = keeping.write() {
            let message = report::with_causes(&error);
            self.words.push(format!("error: {message}"));
            self.object.insert("not_recorded".into(), json!(message));
            self.code = exit_code::REFUSED;
        }
    }

    /// Shows and applies; nothing is applied of a program that failed, or to one directory if another refuses.
    pub fn changes(&mut self, snapshots: &[(usize, PathBuf, Snapshot)], changes: Vec<Changed>, show: bool, keep: bool) {
        let mut shares: Vec<Vec<Changed>> = snapshots.iter().map(|_| Vec::new()).collect();
        for change in changes {
            if let Some(position) = snapshots.iter().position(|(number, ..)| *number == change.grant) {
                shares[position].push(change);
            }
        }
        let together = snapshots.iter().zip(shares);
        let plans: Vec<Plan<'_>> =
            together.map(|((_, _, snapshot), share)| Plan::new(snapshot, share.into_iter())).collect();
        if show {
            let prefix = |inside: &Path| {
                if plans.len() > 1 {
                    inside.strip_prefix("/").map(Into::into).unwrap_or_default()
                } else {
                    PathBuf::new()
                }
            };
            let patches = plans.iter().zip(snapshots).map(|(plan, (_, inside, _))| diff::diff(plan, &prefix(inside)));
            let patch = patches.collect::<Vec<_>>().concat();
            self.object.insert("diff".into(), json!(String::from_utf8_lossy(&patch)));
            self.patch = Some(patch);
        }
        match self.signalled() {
            _ if !keep => {}
            _ if !self.has_ended_well => self.apply_nothing("the program did not end well"),
            Some(code) => {
                self.apply_nothing("it was interrupted");
                self.code = code;
            }
            None => self.keep(&plans),
        }
    }

    fn apply_nothing(&mut self, why: &str) {
        for fields in [&mut self.record, &mut self.object] {
            fields.insert("not_applied".into(), json!(why));
        }
        self.words.push(format!("telos: nothing was applied, since {why}"));
    }

    fn keep(&mut self, plans: &[Plan<'_>]) {
        let applied = plans.iter().try_for_each(apply::check).and_then(|()| apply::apply(plans));
        match applied {
            Ok(paths) => {
                let count = paths.len();
                for fields in [&mut self.record, &mut self.object] {
                    fields.insert("applied".into(), json!(count));
                }
                if count > 0 && !self.is_json {
                    self.words.push(format!("telos: applied: {count} changed"));
                }
            }
            Err(error) => {
                let message = report::with_causes(&error);
                for fields in [&mut self.record, &mut self.object] {
                    fields.insert("not_applied".into(), json!(message));
                }
                self.words.push(format!("error: {message}"));
                self.code = exit_code::REFUSED;
            }
        }
    }

    /// Somebody at a terminal may not know that changes are gone unless they are asked for.
    pub fn forget(&mut self, order: &Order, changes: &[Changed]) {
        let is_change = |change: &&Changed| !matches!(change.kind, ChangeKind::Directory { replaces: false, .. });
        let count = changes.iter().filter(is_change).count();
        if count > 0 && std::io::stderr().is_terminal() {
            let directory = &order.view.grants[changes[0].grant].host;
            let directory = directory.display();
            self.words.push(format!(
                "telos: what it changed in {directory} is gone ({count}); --diff shows that, --apply keeps it"
            ));
        }
    }

    /// Prints what is left to print and records the run.
    pub fn finish(self) -> anyhow::Result<ExitCode> {
        let Ending { is_json, mut code, mut record, mut object, words, patch, signals, .. } = self;
        let mut printed = Vec::new();
        if is_json {
            object.insert("telos_exit_code".into(), json!(code));
            printed = format!("{}\n", Value::Object(object)).into_bytes();
        } else if let Some(patch) = patch {
            printed = if std::io::stdout().is_terminal() { terminal::tamed(&patch) } else { patch };
        }
        if !printed.is_empty() {
            code = match write_out(&printed, &signals) {
                Ok(()) => code,
                Err(Unwritten::Stopped) => {
                    exit_code::SIGNALLED.saturating_add(signals.received.load(Ordering::SeqCst) as u8)
                }
                Err(Unwritten::Failed(error)) => {
                    report::say(&unwritten(error));
                    exit_code::REFUSED
                }
                Err(Unwritten::Closed | Unwritten::Late) => exit_code::OUTPUT_CLOSED,
            };
        }
        for line in words.iter().filter(|_| !is_json) {
            report::say(&String::from_utf8_lossy(&terminal::tamed(line.as_bytes())));
        }
        record.insert("telos_exit_code".into(), json!(code));
        // A run is not worth less because the log is full; but nobody should believe that it is there.
        if let Err(error) = runs::record(record) {
            report::say(&format!("warning: this run was not recorded: {}", report::with_causes(&error)));
        }
        Ok(ExitCode::from(code))
    }
}

fn unwritten(error: Errno) -> String {
    format!("error: the output could not be written: {}", std::io::Error::from(error))
}

/// However long the reader takes, unless a signal comes: from the run on they do not end us.
fn write_out(bytes: &[u8], signals: &Signals) -> Result<(), Unwritten> {
    signals.rearm();
    if system::output::was_closed() {
        return Err(Unwritten::Closed);
    }
    let outlet = Outlet::new(std::io::stdout()).map_err(|_| Unwritten::Closed)?;
    outlet.write(bytes, &Patience { until: None, lifeline: signals.lifeline() })
}

fn changed(order: &Order, change: &Changed) -> Value {
    let directory = order.view.grants.get(change.grant).map(|grant| shown(&grant.host));
    let mut fields = json!({ "directory": directory, "path": shown(&change.path) });
    let (kind, more) = match &change.kind {
        ChangeKind::File { bytes, mode } => ("file", json!({ "bytes": bytes.len(), "mode": format!("{mode:o}") })),
        ChangeKind::Link { target } => ("link", json!({ "target": shown(target) })),
        ChangeKind::Directory { mode, .. } => ("directory", json!({ "mode": format!("{mode:o}") })),
        ChangeKind::Removed => ("removed", json!({})),
        ChangeKind::Unreadable { why } => ("unreadable", json!({ "why": why })),
    };
    fields["kind"] = json!(kind);
    for (name, value) in more.as_object().into_iter().flatten() {
        fields[name] = value.clone();
    }
    fields
}
