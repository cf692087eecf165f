//! What the store can tell about an image, as the JSON that `telos log`, `show`, `status` and `image` read.

use crate::examination::Examination;
use dream::show::Names;
use keeper::protocol::{Answer, ChangeLine, CommitLine, CommitPage, FailureKind, Outcome, Shown};
use object::change::{Change, ChangeId, Datum, Field, ObjectId, Operation, Preds};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use store::{Commit, Progress, Store};

/// Commits that one request tells at most: so many fit into one answer, however long their causes are.
pub const LINES_MAX: u64 = 4_000;
/// Changes that one page tells at most.
const CHANGES_MAX: usize = 10_000;

/// So much the history keeps, and shows, of who wanted a commit and why.
const CAUSE_CHARACTERS: usize = 200;

/// Who or why, without what a client may have added without end.
pub fn shortened(text: &str) -> String {
    text.chars().take(CAUSE_CHARACTERS).collect()
}

pub fn answer(text: Result<String, String>) -> Answer {
    match text {
        Ok(text) => Answer::new(Outcome::Value(Shown { text, kind: "Sequence".into() })),
        Err(message) => Answer::failed(FailureKind::Refused, message),
    }
}

fn line(commit: &Commit) -> CommitLine {
    let told = |text: &str| (!text.is_empty()).then(|| shortened(text));
    CommitLine {
        number: commit.number,
        time_ms: commit.time.ms() as i64,
        author: told(&commit.author),
        cause: told(&commit.cause),
        changes: commit.changes.len() as u64,
    }
}

pub fn log(store: &Store, count: u64, before: Option<u64>) -> Result<String, String> {
    let commits = match before {
        Some(number) => store.history_before(number.saturating_sub(1)),
        None => store.history(),
    };
    let lines: Result<Vec<CommitLine>, _> =
        commits.take(count.min(LINES_MAX) as usize).map(|commit| commit.map(|commit| line(&commit))).collect();
    serde_json::to_string(&lines.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
}

/// What a commit changed, with objects called as they are found now.
pub fn show(store: &Store, number: u64, names: &dyn Names) -> Result<String, String> {
    let commit = store.commit_at(number).map_err(|error| error.to_string())?;
    let commit =
        commit.ok_or_else(|| format!("commit {number} is not in the history; `telos log` lists those that are"))?;
    let before = before(&commit);
    let line_of = |change: &Change| change_line(change, before.get(&change.id).copied(), names);
    let changes = commit.changes.iter().take(CHANGES_MAX).map(line_of).collect();
    serde_json::to_string(&CommitPage { commit: line(&commit), changes }).map_err(|error| error.to_string())
}

/// What stood where a change put something: what takes the commit back would put it there again.
fn before(commit: &Commit) -> BTreeMap<ChangeId, &Datum> {
    let mut before = BTreeMap::new();
    for change in &commit.inverse {
        if let (Preds::Named(undone), Operation::Put { value, .. } | Operation::Set { value, .. }) =
            (&change.preds, &change.operation)
        {
            before.extend(undone.iter().map(|id| (*id, value)));
        }
    }
    before
}

fn change_line(change: &Change, before: Option<&Datum>, names: &dyn Names) -> ChangeLine {
    let number = |number: u64| Some(number.to_string());
    let (verb, place, after) = match &change.operation {
        Operation::Create(creation) => ("clone", None, Some(format!("{} slots", creation.slots.len()))),
        Operation::Put { field, value } => {
            (if value.is_absent() { "remove" } else { "set" }, field_text(field), shown(value))
        }
        Operation::Insert { index, run, .. } => ("insert", number(*index), Some(format!("{} elements", run.len()))),
        Operation::Delete { index, count, .. } => ("delete", number(*index), Some(format!("{count} elements"))),
        Operation::Move { from, to, .. } => ("move", number(*from), number(*to)),
        Operation::Set { index, value } => ("set", number(*index), shown(value)),
        Operation::Count { key, delta } => ("count", shown(key), Some(delta.to_string())),
        Operation::Add { member, count } => ("add", shown(member), number(*count)),
        Operation::Remove { member, count } => ("remove", shown(member), number(*count)),
        Operation::Call { name, payload } => ("call", Some(name.to_string()), shown(payload)),
    };
    ChangeLine {
        verb: verb.into(),
        object: object_text(change.object, names),
        place,
        before: before.and_then(shown),
        after,
    }
}

/// Its name and its number, or that alone: what is found nowhere has no name.
pub fn object_text(object: ObjectId, names: &dyn Names) -> String {
    names.name(object).map_or_else(|| format!("object {object}"), |name| format!("{name} ({object})"))
}

fn field_text(field: &Field) -> Option<String> {
    match field {
        Field::Slot(name) => Some(name.to_string()),
        Field::Entry(key) => shown(key),
        Field::Data => Some("content".into()),
        Field::Flags => Some("flags".into()),
    }
}

fn shown(datum: &Datum) -> Option<String> {
    Some(match datum {
        Datum::Absent => return None,
        Datum::Nil => "nil".into(),
        Datum::Boolean(truth) => truth.to_string(),
        Datum::Number(number) => object::number_text::format_number(*number),
        Datum::Object(id) => format!("object {id}"),
        Datum::Text(text) => format!("\"{text}\""),
        Datum::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Datum::Record(fields) => format!("{} fields", fields.len()),
    })
}

/// Facts that change while it runs.
pub fn store_facts(store: &Store) -> Vec<(&'static str, Value)> {
    let Ok(status) = store.status() else { return Vec::new() };
    vec![
        ("last_commit", json!(status.last_commit)),
        ("pending_commits", json!(status.pending_commits)),
        ("pending_changes", json!(status.pending_changes)),
        ("log_used_bytes", json!(status.pending_bytes)),
        ("log_capacity_bytes", json!(status.log_bytes)),
        ("unflushed_bytes", json!(status.unflushed_bytes)),
        ("image_bytes", json!(status.image_bytes)),
        ("forks", json!(status.forks)),
        ("failure", json!(status.failure)),
    ]
}

pub fn info(store: &Store) -> String {
    let id: String = store.id().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut facts = vec![("store", json!(id)), ("directory", json!(store.directory()))];
    facts.extend(store_facts(store));
    let facts: serde_json::Map<String, Value> =
        facts.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    Value::Object(facts).to_string()
}

/// What is wrong with the image, as another process finds it beside us: what is broken may end whoever reads it.
pub fn check(store: &Store, progress: &mut dyn FnMut(Progress)) -> Result<String, String> {
    let directory = store.directory();
    let begun = store.hold_still(|until| {
        let mut examination = Examination::start(directory, Some(until))?;
        examination.opened();
        Ok::<_, String>(examination)
    });
    let report = begun?.finish(directory, progress)?;
    store.forget_dead_readers().map_err(|error| error.to_string())?;
    serde_json::to_string(&report.findings).map_err(|error| error.to_string())
}

pub fn backup(store: &Store, into: &str) -> Result<String, String> {
    store.backup(Path::new(into)).map_err(|error| error.to_string())?;
    Ok(json!({ "directory": into }).to_string())
}
