//! A verdict as an object of the image, and back: what a merge or a rejection rests on, for programs and for `telos why`.

use super::names::slot_of;
use image::Description;
use keeper::protocol::{CheckOutcome, CheckResult, TestKind, TestResult, Verdict};
use object::change::{Body, Creation, Datum, ObjectId, Run};
use store::Store;

/// So many tests are kept one by one: those first that are not as they were. All are counted.
const TESTS_MAX: usize = 50;
/// Of a check so many reasons,
const REASONS_MAX: usize = 100;
/// each so long.
const REASON_CHARS_MAX: usize = 1_000;

pub fn description(verdict: &Verdict) -> Description {
    let results = verdict.checks.iter().map(result).collect();
    let mut tests: Vec<&TestResult> = verdict.tests.iter().collect();
    tests.sort_by(|one, other| (one.kind, &one.name).cmp(&(other.kind, &other.name)));
    let tests = tests.into_iter().take(TESTS_MAX).map(tested).collect();
    Description::Object {
        proto: ("Verification", "Verdict"),
        slots: vec![
            ("results", Description::List(results)),
            ("tests", Description::List(tests)),
            ("testCount", Description::number(verdict.test_count)),
            ("passCount", Description::number(verdict.pass_count)),
        ],
    }
}

fn result(check: &CheckResult) -> Description {
    let reasons: Vec<String> = check.reasons.iter().take(REASONS_MAX).map(|reason| cut(reason)).collect();
    Description::Object {
        proto: ("Verification", "Result"),
        slots: vec![
            ("check", Description::text(&check.name)),
            ("outcome", Description::text(outcome_name(check.outcome))),
            ("reasons", Description::texts(&reasons)),
            ("timeMs", milliseconds(check.time_us)),
            ("reads", Description::texts(&check.rests_on)),
            ("readCount", Description::number(check.reads)),
        ],
    }
}

fn tested(test: &TestResult) -> Description {
    let run = |run: &Option<String>| run.as_ref().map_or_else(Description::default, |run| Description::text(&cut(run)));
    Description::Object {
        proto: ("Verification", "TestResult"),
        slots: vec![
            ("name", Description::text(&test.name)),
            ("kind", Description::text(test.kind.words())),
            ("before", run(&test.before)),
            ("after", run(&test.after)),
            ("isAskedFor", Description::Value(Datum::Boolean(test.is_asked_for))),
            ("timeMs", milliseconds(test.time_us)),
            ("reads", Description::texts(&test.rests_on)),
            ("readCount", Description::number(test.reads)),
        ],
    }
}

fn cut(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).collect()
}

fn milliseconds(time_us: u64) -> Description {
    Description::Value(Datum::number(time_us as f64 / 1000.0))
}

fn outcome_name(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "passed",
        CheckOutcome::Failed => "failed",
        CheckOutcome::Unsure => "unsure",
    }
}

/// What an image kept of one. What is not there, or is something else, is left out.
pub fn read(store: &Store, verdict: ObjectId) -> Option<Verdict> {
    let record = store.read(verdict).ok().flatten()?;
    let checks: Vec<CheckResult> = objects(store, &record, "results").iter().map(|each| check(store, each)).collect();
    let tests = objects(store, &record, "tests").iter().filter_map(|each| test(store, each)).collect();
    let passed = |check: &CheckResult| check.outcome == CheckOutcome::Passed;
    Some(Verdict {
        is_accepted: !checks.is_empty() && checks.iter().all(passed),
        checks,
        tests,
        test_count: number(&record, "testCount") as u64,
        pass_count: number(&record, "passCount") as u64,
    })
}

fn check(store: &Store, record: &Creation) -> CheckResult {
    let outcome = text(record, "outcome").unwrap_or_default();
    let known = [CheckOutcome::Passed, CheckOutcome::Failed].into_iter().find(|each| outcome_name(*each) == outcome);
    CheckResult {
        name: text(record, "check").unwrap_or_default(),
        outcome: known.unwrap_or(CheckOutcome::Unsure),
        reasons: texts(store, record, "reasons"),
        time_us: (number(record, "timeMs") * 1000.0) as u64,
        reads: number(record, "readCount") as u64,
        rests_on: texts(store, record, "reads"),
    }
}

fn test(store: &Store, record: &Creation) -> Option<TestResult> {
    let kind = text(record, "kind")?;
    Some(TestResult {
        name: text(record, "name")?,
        before: text(record, "before"),
        after: text(record, "after"),
        kind: TestKind::ALL.into_iter().find(|each| each.words() == kind)?,
        is_asked_for: matches!(slot(record, "isAskedFor"), Some(Datum::Boolean(true))),
        time_us: (number(record, "timeMs") * 1000.0) as u64,
        reads: number(record, "readCount") as u64,
        rests_on: texts(store, record, "reads"),
    })
}

fn slot<'c>(record: &'c Creation, name: &str) -> Option<&'c Datum> {
    record.slots.iter().find(|(each, _)| each.as_bytes() == name.as_bytes()).map(|(_, value)| value)
}

fn text(record: &Creation, name: &str) -> Option<String> {
    if let Some(Datum::Text(text)) = slot(record, name) { Some(image::readable_text(text.as_bytes())) } else { None }
}

fn number(record: &Creation, name: &str) -> f64 {
    if let Some(Datum::Number(number)) = slot(record, name) { *number } else { 0.0 }
}

fn items(store: &Store, record: &Creation, name: &str) -> Vec<Datum> {
    let list = slot_of(record, name).and_then(|list| store.read(list).ok().flatten());
    match list.map(|list| list.body) {
        Some(Body::Elements(Run::Items(items))) => items.to_vec(),
        _ => Vec::new(),
    }
}

fn objects(store: &Store, record: &Creation, name: &str) -> Vec<Creation> {
    let objects = items(store, record, name).into_iter().filter_map(|item| match item {
        Datum::Object(id) => store.read(id).ok().flatten(),
        _ => None,
    });
    objects.collect()
}

fn texts(store: &Store, record: &Creation, name: &str) -> Vec<String> {
    let texts = items(store, record, name).into_iter().filter_map(|item| match item {
        Datum::Text(text) => Some(image::readable_text(text.as_bytes())),
        _ => None,
    });
    texts.collect()
}
