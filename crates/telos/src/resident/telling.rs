//! What there is to tell of dreams: which there are, how each ended, and what it changed. Read beside the live machine, for a dream
//! may have made its journal as long as it could; what is too long for an answer is told in several.

use super::farewell::Place;
use super::names::LiveNames;
use super::{Resident, Roots, check_delivered};
use crate::host::dream::GoingOn;
use dream::show::Names;
use dream::{DreamId, Dreams, End, Header, Journal, KeptDream, Status};
use keeper::Begun;
use keeper::protocol::{Answer, Failure, FailureKind, Outcome, Request, Shown};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use store::{Store, Ticket};

/// Of the changes in one answer, as JSON.
const CHANGES_BYTES_MAX: usize = 4 << 20;
/// A value that is longer is told by its beginning, so that nothing beside it is left out for it.
const VALUE_BYTES_MAX: usize = 64 << 10;
/// Of the diff as text.
const TEXT_BYTES_MAX: usize = 2 << 20;

impl Resident {
    pub(super) fn place_of_dreams(&self) -> Place {
        let store = self.image.store();
        Place { image: store.directory().to_path_buf(), store: store.id() }
    }

    pub(super) fn kept(&self) -> Result<Dreams, String> {
        self.place_of_dreams().open()
    }

    /// Whether a merge of this dream stands, so that somebody may want back what was there before.
    fn can_be_undone(&self, name: &str, fork_commit: u64) -> Result<bool, String> {
        let parts = self.image.merges_of(name, fork_commit).map_err(|error| error.to_string())?;
        Ok(parts.iter().any(|part| part.taken_back_by.is_none()))
    }

    /// Of a dream that was merged; most have none.
    fn forget_originals(&self, id: DreamId) {
        let store = self.image.store();
        if store.directory().join("originals").is_dir() {
            let _ = Dreams::open_originals(store.directory(), store.id()).map(|originals| originals.remove(id));
        }
    }

    pub(super) fn list_dreams(&self) -> Result<String, String> {
        let listed = self.kept()?.list().map_err(|error| error.to_string())?;
        let dreams = listed.dreams.iter().map(|dream| {
            let going_on = self.desk.going_on(&dream.header.id().to_string());
            summary(&dream.header, dream.end.as_ref(), dream.is_open, going_on)
        });
        let damaged = |problem: &dream::DreamError| json!({ "status": "damaged", "reason": problem.to_string() });
        Ok(Value::from_iter(dreams.chain(listed.problems.iter().map(damaged))).to_string())
    }

    /// Tells of a dream, beside the machine.
    pub(super) fn show_dream(&self, name: &str) -> Begun {
        self.tell_aside(name, page_of)
    }

    pub(super) fn show_changes(&self, name: &str, from: u64) -> Begun {
        self.tell_aside(name, move |kept, store, roots, _| {
            let (changes, more_from) = changes_from(&kept.journal, &LiveNames::of(store, roots), from);
            json!({ "changes": changes, "more_from": more_from })
        })
    }

    fn tell_aside(
        &self,
        name: &str,
        tell: impl FnOnce(&KeptDream, &Store, &Roots, Option<GoingOn>) -> Value + Send + 'static,
    ) -> Begun {
        let (place, store) = (self.place_of_dreams(), self.image.store().clone());
        let (roots, going_on, name) = (self.desk.roots(), self.desk.going_on(name), name.to_string());
        let told = move || {
            let id: DreamId = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
            let kept = place.open()?.read(id).map_err(|error| error.to_string())?;
            Ok::<_, String>(tell(&kept, &store, &roots, going_on).to_string())
        };
        Begun::Aside(Box::new(move || match told() {
            Ok(text) => Answer::new(Outcome::Value(Shown { text, kind: "Map".into() })),
            Err(message) => Answer::failed(FailureKind::Refused, message),
        }))
    }

    pub(super) fn discard_dream(&self, name: &str, request: &Request) -> Result<(Shown, Option<Ticket>), Failure> {
        self.check_dream(name, request)?;
        let discarded = || {
            let id = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
            check_delivered(self.image.store(), name)?;
            // One that is damaged may have been merged at any time.
            let fork_commit = self.kept()?.header(id).map_or(0, |header| header.fork_commit);
            self.kept()?.remove(id).map_err(|error| error.to_string())?;
            if !self.can_be_undone(name, fork_commit)? {
                self.forget_originals(id);
            }
            Ok((Shown { text: "true".into(), kind: "Sequence".into() }, None))
        };
        discarded().map_err(|message: String| Failure::new(FailureKind::Refused, message))
    }
}

/// All that there is to tell of a dream, as far as it fits.
pub fn page_of(kept: &KeptDream, store: &Store, roots: &Roots, going_on: Option<GoingOn>) -> Value {
    let KeptDream { header, journal, end, changed_files, is_open, .. } = kept;
    let names = LiveNames::of(store, roots);
    let mut page = summary(header, end.as_ref(), *is_open, going_on);
    page["changed_files"] = json!(changed_files);
    page["store"] = json!(format!("{:032x}", u128::from_be_bytes(header.store)));
    page["output"] = json!(end.as_ref().map_or("", |end| end.output.as_str()));
    page["later_commits"] = json!(store.last_commit().saturating_sub(header.fork_commit));
    let (changes, more_from) = changes_from(journal, &names, 0);
    page["changes"] = json!(changes);
    page["more_from"] = json!(more_from);
    let all = dream::show::diff(journal, &names);
    let (shown, left_out) = all.clone().without_machine();
    page["text"] = json!(fitting(shown.to_string()));
    page["machine_objects"] = json!(left_out);
    if left_out > 0 {
        page["text_with_all"] = json!(fitting(all.to_string()));
    }
    page
}

/// The changes from one of them on, and which is the first that did not fit.
fn changes_from(journal: &Journal, names: &dyn Names, from: u64) -> (Vec<Value>, Option<u64>) {
    let (mut changes, mut bytes, mut number, mut more_from) = (Vec::new(), 0, 0, None);
    dream::show::to_json(journal, names, &mut |mut change| {
        number += 1;
        if number <= from {
            return ControlFlow::Continue(());
        }
        shorten(&mut change);
        bytes += change.to_string().len();
        if bytes > CHANGES_BYTES_MAX && !changes.is_empty() {
            more_from = Some(number - 1);
            return ControlFlow::Break(());
        }
        changes.push(change);
        ControlFlow::Continue(())
    });
    (changes, more_from)
}

/// Cuts long texts, wherever they are.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.len() > VALUE_BYTES_MAX => {
            let begins: String = text.chars().take(VALUE_BYTES_MAX / 64).collect();
            *value = json!({ "cut_bytes": text.len(), "begins": begins });
        }
        Value::Array(values) => {
            let bytes: usize = values.iter().map(|value| value.as_str().map_or(8, str::len)).sum();
            if bytes > VALUE_BYTES_MAX {
                let count = values.len();
                values.truncate(64);
                values.iter_mut().for_each(shorten);
                *value = json!({ "cut_items": count, "begins": values });
            } else {
                values.iter_mut().for_each(shorten);
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

/// Whole lines, as many as fit.
fn fitting(text: String) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let mut end = TEXT_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |line| line + 1);
    let left_out = text[end..].lines().count();
    format!("{}… and {left_out} lines more, for which there is no room; --json tells all changes\n", &text[..end])
}

fn summary(header: &Header, end: Option<&End>, is_open: bool, going_on: Option<GoingOn>) -> Value {
    let dream = header.id().to_string();
    // One that goes on once more has an end from before.
    let end = end.filter(|end| going_on.is_none_or(|going_on| going_on.since_ms <= end.ended_ms));
    let (status, reason) = match (end, going_on) {
        (Some(end), _) => (end.status.name(), reason_of(end)),
        (None, _) if is_open || going_on.is_some() => ("running", String::new()),
        (None, _) => ("damaged", damaged(&dream)),
    };
    json!({
        "dream": dream,
        "status": status,
        "reason": reason,
        "limit": end.and_then(End::limit),
        "mandate": header.mandate,
        "agent": header.agent,
        "parent": header.parent.map(|(parent, _)| parent.to_string()),
        "commit": header.fork_commit,
        "created_ms": header.created_ms,
        "ended_ms": end.map(|end| end.ended_ms),
        "ends_by_ms": going_on.filter(|_| end.is_none()).map(|going_on| going_on.ends_by_ms),
        "is_kept": header.is_kept || end.is_some_and(|end| end.is_kept),
        // Nobody outside of a dream counts its fuel.
        "usage": end.map(|End { usage, .. }| {
            json!({ "time_ms": usage.time_ms, "cpu_ms": usage.cpu_ms, "memory_bytes": usage.memory_bytes })
        }),
    })
}

/// Of a dream that does not go on, and whose file says no end.
pub fn damaged(dream: &str) -> String {
    format!(
        "what is kept of {dream} is damaged, and its end cannot be read; `telos dream resume {dream}` goes on with what can be, \
         `telos dream discard {dream}` removes it"
    )
}

/// Whoever attends to a dream knows that its program failed; why is the last that it said.
fn reason_of(end: &End) -> String {
    match (end.status, end.output.trim_end().lines().next_back()) {
        (Status::Failed, Some(last)) if end.reason == dream::PROGRAM_FAILED => last.to_string(),
        _ => end.reason.clone(),
    }
}
