//! What there is to tell of dreams. Read and written beside the live machine, for a dream may have made its journal as long as it
//! could; what is too long for an answer is told in several.

use super::Resident;
use super::names::LiveNames;
use dream::show::Names;
use dream::{DreamId, End, Header, Journal, KeptDream};
use keeper::Begun;
use keeper::protocol::{Answer, FailureKind, Outcome, Shown};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Of the changes in one answer, as JSON.
const CHANGES_BYTES_MAX: usize = 4 << 20;
/// A value that is longer is told by its beginning, so that nothing beside it is left out for it.
const VALUE_BYTES_MAX: usize = 64 << 10;
/// Of the diff as text.
const TEXT_BYTES_MAX: usize = 2 << 20;

impl Resident {
    pub(super) fn list_dreams(&self) -> Result<String, String> {
        let listed = self.kept()?.list().map_err(|error| error.to_string())?;
        let dreams = listed.dreams.iter().map(|dream| summary(&dream.header, dream.end.as_ref()));
        let problems =
            listed.problems.iter().map(|problem| json!({ "status": "damaged", "reason": problem.to_string() }));
        Ok(json!(dreams.chain(problems).collect::<Vec<Value>>()).to_string())
    }

    /// Tells of a dream, beside the machine.
    pub(super) fn show_dream(&self, name: &str) -> Begun {
        self.tell_aside(name, |kept, names| page_of(kept, names))
    }

    pub(super) fn show_changes(&self, name: &str, from: u64) -> Begun {
        self.tell_aside(name, move |kept, names| {
            let (changes, more_from) = changes_from(&kept.journal, names, from);
            json!({ "changes": changes, "more_from": more_from })
        })
    }

    fn tell_aside(&self, name: &str, tell: impl FnOnce(&KeptDream, &dyn Names) -> Value + Send + 'static) -> Begun {
        let (place, roots, store) = (self.place_of_dreams(), LiveNames::roots(&self.image), self.image.store().clone());
        let name = name.to_string();
        let told = move || {
            let id: DreamId = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
            let kept = place.open()?.read(id).map_err(|error| error.to_string())?;
            Ok::<_, String>(tell(&kept, &LiveNames::of(store, roots)).to_string())
        };
        Begun::Aside(Box::new(move || match told() {
            Ok(text) => Answer::new(Outcome::Value(Shown { text, kind: "Map".into() })),
            Err(message) => Answer::failed(FailureKind::Refused, message),
        }))
    }
}

/// All that there is to tell of a dream, as far as it fits.
pub fn page_of(kept: &KeptDream, names: &dyn Names) -> Value {
    let KeptDream { header, journal, end, changed_files, .. } = kept;
    let mut page = summary(header, end.as_ref());
    page["changed_files"] = json!(changed_files);
    page["store"] = json!(format!("{:032x}", u128::from_be_bytes(header.store)));
    page["output"] = json!(end.as_ref().map_or("", |end| end.output.as_str()));
    let (changes, more_from) = changes_from(journal, names, 0);
    page["changes"] = json!(changes);
    page["more_from"] = json!(more_from);
    page["text"] = json!(fitting(dream::show::diff(journal, names).to_string()));
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

fn summary(header: &Header, end: Option<&End>) -> Value {
    json!({
        "dream": header.id().to_string(),
        "status": end.map_or("running", |end| end.status.name()),
        "reason": end.map_or("", |end| end.reason.as_str()),
        "mandate": header.mandate,
        "agent": header.agent,
        "parent": header.parent.map(|(parent, _)| parent.to_string()),
        "commit": header.fork_commit,
        "created_ms": header.created_ms,
        "ended_ms": end.map(|end| end.ended_ms),
        "is_kept": header.is_kept || end.is_some_and(|end| end.is_kept),
        "usage": end.map(|end| json!(end.usage)),
    })
}
