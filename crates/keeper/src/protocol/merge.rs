//! What is said about making a dream a part of the live image: what is to be merged, how that is judged, and what came of it.

use serde::{Deserialize, Serialize};

/// A dream that is to be judged and, if nothing speaks against it, merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MergeOrder {
    pub dream: String,
    /// Which side wins where both wrote: `fork-wins`, `live-wins`, `last-writer-wins` or `keep-both`; none is as the dream was
    /// begun.
    pub policy: Option<String>,
    /// Only these slots, each as a path of names from the Lobby; all, if there are none.
    pub only: Vec<String>,
    /// Tests that the mandate asks for, such as `AccountTest testTax`. Whoever gave the mandate says which; a dream never does.
    pub tests: Vec<String>,
    /// Only judges.
    pub is_trial: bool,
}

/// How a conflict is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConflictChoice {
    /// What one of the sides wrote, counted from 0.
    Side(u64),
    /// What is there now.
    Keep,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeStatus {
    Merged,
    /// Merged before: nothing was done.
    Known,
    /// There is nothing of it to be merged: it changed nothing.
    Unchanged,
    /// Something speaks against it. It is kept, with the reasons.
    Rejected,
    /// Nothing speaks against it, and nobody wanted more than that.
    Accepted,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MergeReport {
    pub dream: String,
    pub status: MergeStatus,
    /// In which it was merged.
    pub commit: Option<u64>,
    pub verdict: Verdict,
    /// Places that somebody has to decide on.
    pub open_conflicts: u64,
    pub conflicts: u64,
    pub violations: u64,
    /// How many candidates were judged: more than one if live changed what had been read.
    pub candidates: u32,
    /// How many checks and tests had to be done once more.
    pub repeated: u64,
    /// What `only` left out.
    pub left_out: u64,
    /// What became of the files that it changed, if it changed some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesReport>,
    /// Calls that are to be made now that it is merged: `telos outbox` has them.
    #[serde(default)]
    pub calls: u64,
    /// From when it was asked for to when it was decided.
    pub time_us: u64,
}

/// What became of files that were to be brought to where they belong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesReport {
    /// `delivered`, `waiting` until the next attempt, or `failed`.
    pub status: String,
    /// How many are as they were to be.
    pub applied: u64,
    /// Those of them that were not so before, or the first thousand.
    pub paths: Vec<String>,
    /// What was left alone, or the first thousand, and why.
    pub left: Vec<FileLeft>,
    /// How many more.
    pub more_left: u64,
    /// Why they wait, or failed.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLeft {
    pub path: String,
    pub reason: String,
}

/// What a candidate was found to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub is_accepted: bool,
    pub checks: Vec<CheckResult>,
    /// All of them; in what an image keeps of a verdict those that are not as they were, and some others.
    pub tests: Vec<TestResult>,
    #[serde(default)]
    pub test_count: u64,
    /// Those that pass, with the dream.
    #[serde(default)]
    pub pass_count: u64,
    /// Places that are protected or locked, and that a person allowed to change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
}

impl Verdict {
    /// Everything that speaks against it, one line each.
    pub fn reasons(&self) -> impl Iterator<Item = String> {
        self.checks.iter().flat_map(|check| check.reasons.iter().map(move |reason| format!("{}: {reason}", check.name)))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    pub outcome: CheckOutcome,
    pub reasons: Vec<String>,
    pub time_us: u64,
    /// How many objects of the image it rests on.
    pub reads: u64,
    /// Some of them: names, or numbers.
    #[serde(default)]
    pub rests_on: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    Passed,
    Failed,
    /// It did not come to an end, or not twice to the same.
    Unsure,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    pub name: String,
    /// Without the dream, and with it: `passed`, `failed: …` or `unsure: …`; none where there is no such test.
    pub before: Option<String>,
    pub after: Option<String>,
    /// What both come to.
    pub kind: TestKind,
    /// The mandate asks for it.
    #[serde(default)]
    pub is_asked_for: bool,
    pub time_us: u64,
    pub reads: u64,
    #[serde(default)]
    pub rests_on: Vec<String>,
}

/// How a test ended with a dream, beside how it ended without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    NewlyFailing,
    /// It is not there any more, or was asked for and never was.
    Missing,
    Flaky,
    Unsure,
    NewlyPassing,
    Failing,
    Passing,
}

impl TestKind {
    pub const ALL: [TestKind; 7] = [
        TestKind::NewlyFailing,
        TestKind::Missing,
        TestKind::Flaky,
        TestKind::Unsure,
        TestKind::NewlyPassing,
        TestKind::Failing,
        TestKind::Passing,
    ];

    /// As `Verification compareTests` has it.
    pub const fn words(self) -> &'static str {
        match self {
            TestKind::NewlyFailing => "newly failing",
            TestKind::Missing => "missing",
            TestKind::Flaky => "flaky",
            TestKind::Unsure => "unsure",
            TestKind::NewlyPassing => "newly passing",
            TestKind::Failing => "failing",
            TestKind::Passing => "passing",
        }
    }
}
