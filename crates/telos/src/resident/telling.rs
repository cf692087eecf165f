//! What there is to tell of dreams: which there are, how each ended, and what it changed.

use super::Resident;
use super::farewell::Place;
use super::names::LiveNames;
use crate::host::dream::Desk;
use crate::report;
use dream::{Dreams, End, Header, KeptDream, Status};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use store::Store;

/// Changes that one page tells at most.
const CHANGES_MAX: usize = 10_000;

impl Resident {
    pub(super) fn place_of_dreams(&self) -> Place {
        let store = self.image.store();
        Place { image: store.directory().to_path_buf(), store: store.id() }
    }

    pub(super) fn kept(&self) -> Result<Dreams, String> {
        self.place_of_dreams().open()
    }

    pub(super) fn list_dreams(&self) -> Result<String, String> {
        let listed = self.kept()?.list().map_err(|error| error.to_string())?;
        listed.problems.iter().for_each(|problem| report::say(&format!("warning: {problem}")));
        let dreams = listed.dreams.iter().map(|dream| summary(&dream.header, dream.end.as_ref(), &self.desk));
        Ok(Value::from_iter(dreams).to_string())
    }

    pub(super) fn show_dream(&self, name: &str) -> Result<String, String> {
        let id = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        let kept = self.kept()?.read(id).map_err(|error| error.to_string())?;
        Ok(self.page_of(&kept).to_string())
    }

    pub(super) fn page_of(&self, kept: &KeptDream) -> Value {
        page_of(kept, self.image.store(), &self.desk)
    }

    pub(super) fn discard_dream(&self, name: &str) -> Result<String, String> {
        let id = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        self.kept()?.remove(id).map(|()| "true".to_string()).map_err(|error| error.to_string())
    }
}

/// All that there is to tell of a dream.
pub fn page_of(kept: &KeptDream, store: &Store, desk: &Desk) -> Value {
    let KeptDream { header, journal, end, changed_files, .. } = kept;
    let names = LiveNames::of(store, &desk.roots());
    let mut page = summary(header, end.as_ref(), desk);
    page["changed_files"] = json!(changed_files);
    page["store"] = json!(format!("{:032x}", u128::from_be_bytes(header.store)));
    page["output"] = json!(end.as_ref().map_or("", |end| end.output.as_str()));
    page["later_commits"] = json!(store.last_commit().saturating_sub(header.fork_commit));
    let mut changes = Vec::new();
    dream::show::to_json(journal, &names, &mut |change| {
        changes.push(change);
        if changes.len() < CHANGES_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    page["changes"] = json!(changes);
    let all = dream::show::diff(journal, &names);
    let (shown, left_out) = all.clone().without_machine();
    page["text"] = json!(shown.to_string());
    page["machine_objects"] = json!(left_out);
    if left_out > 0 {
        page["text_with_all"] = json!(all.to_string());
    }
    page
}

fn summary(header: &Header, end: Option<&End>, desk: &Desk) -> Value {
    let dream = header.id().to_string();
    let going_on = desk.going_on(&dream);
    // One that goes on once more has an end from before.
    let end = end.filter(|end| going_on.is_none_or(|going_on| going_on.since_ms <= end.ended_ms));
    json!({
        "dream": dream,
        "status": end.map_or("running", |end| end.status.name()),
        "reason": end.map_or(String::new(), reason_of),
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

/// Whoever attends to a dream knows that its program failed; why is the last that it said.
fn reason_of(end: &End) -> String {
    match (end.status, end.output.trim_end().lines().next_back()) {
        (Status::Failed, Some(last)) if end.reason == dream::PROGRAM_FAILED => last.to_string(),
        _ => end.reason.clone(),
    }
}
