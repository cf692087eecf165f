//! What a candidate found, on its way to live: through its journal, which nothing but the judge writes it to.

use dream::{KeptDream, Status};
use image::{Image, ImageError, ReadSet};
use keeper::protocol::{CheckOutcome, CheckResult, TestKind, TestResult, Verdict};
use object::change::{Datum, ObjectId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The check that looks at the journal alone.
pub const SAFETY: &str = "safety";
/// The call by which a candidate tells what it found. No capability has this name, so no program makes it.
pub const VERDICT: &str = "Verification.verdict";

/// What was found, unit by unit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Judgement {
    pub tests: BTreeMap<String, Tested>,
    pub checks: BTreeMap<String, Checked>,
    /// What all checks were told, as a checksum, and what was read to tell it.
    pub case: u64,
    #[serde(skip)]
    pub case_reads: ReadSet,
    /// How many tests and checks the last candidate did.
    pub done: u64,
    /// Sources of the methods that the dream brings.
    pub methods: Vec<String>,
    /// What objects that it changes are called, by their numbers.
    pub names: BTreeMap<String, String>,
    /// Without the dream.
    pub listing: Option<Listing>,
    /// By which it was judged.
    pub verification: Option<[u8; 16]>,
    /// What belonged to that then.
    #[serde(skip)]
    pub belonging: Vec<ObjectId>,
    /// What was read, as it was told: empty if it is in its places.
    #[serde(skip)]
    pub told_reads: Vec<u8>,
}

/// Which tests there are, and their sources.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Listing {
    pub names: BTreeSet<String>,
    pub sources: Value,
    #[serde(skip)]
    pub reads: ReadSet,
}

/// How a test ended: each run of it, without the dream and with it. None where there is no such test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tested {
    pub before: Vec<String>,
    pub after: Vec<String>,
    pub time_us: u64,
    #[serde(skip)]
    pub reads: ReadSet,
    pub read_count: u64,
    /// Some of them, in words.
    pub rests_on: Vec<String>,
    /// It was not run with the dream, which makes no difference to it.
    pub is_unconcerned: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checked {
    pub outcome: CheckOutcome,
    pub reasons: Vec<String>,
    pub time_us: u64,
    #[serde(skip)]
    pub reads: ReadSet,
    pub read_count: u64,
    pub rests_on: Vec<String>,
}

impl Tested {
    /// Whether it came to the same each time, and will as long as what it read is the same.
    pub fn is_certain(&self) -> bool {
        !self.reads.asked_host() && matches!(outcome(&self.before), Some("passed" | "failed"))
    }

    /// As `Verification compareTests` tells it.
    fn kind(&self) -> TestKind {
        match (outcome(&self.before), outcome(&self.after)) {
            (_, None) => TestKind::Missing,
            (Some("passed"), Some("passed")) => TestKind::Passing,
            (_, Some("passed")) => TestKind::NewlyPassing,
            (Some("failed"), Some("failed")) => TestKind::Failing,
            (_, Some("failed")) => TestKind::NewlyFailing,
            (_, Some("flaky")) => TestKind::Flaky,
            (_, Some(_)) => TestKind::Unsure,
        }
    }
}

/// One whose length comes first, and what follows it.
fn split_part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

/// What the runs of a test come to; none if there is none.
fn outcome(runs: &[String]) -> Option<&str> {
    let kind = |run: &String| match run.split(':').next() {
        Some("passed") => "passed",
        Some("failed") => "failed",
        _ => "unsure",
    };
    let first = kind(runs.first()?);
    let kinds: Vec<&'static str> = runs.iter().map(kind).collect();
    if kinds.contains(&"unsure") {
        return Some("unsure");
    }
    Some(if kinds.iter().all(|each| *each == first) { first } else { "flaky" })
}

impl Judgement {
    /// What a kept candidate says that it found, and how it said it.
    pub fn of(kept: &KeptDream) -> Result<(Judgement, Vec<u8>), String> {
        let told = kept.journal.calls().find(|call| call.name.as_bytes() == VERDICT.as_bytes());
        match (told.map(|call| call.answer), &kept.end) {
            (Some(Datum::Bytes(bytes)), Some(end)) if end.status == Status::Ended => {
                let judgement = Judgement::decode(bytes).ok_or("the candidate's verdict cannot be read")?;
                Ok((judgement, bytes.to_vec()))
            }
            (_, Some(end)) if end.reason == dream::PROGRAM_FAILED => {
                let said = end.output.trim_end().lines().next_back().unwrap_or("it does not say why");
                Err(format!("the candidate could not be judged: {said}"))
            }
            (_, Some(end)) if !end.reason.is_empty() => {
                Err(format!("the candidate could not be judged: {}", end.reason))
            }
            _ => Err("the candidate came to no verdict".into()),
        }
    }

    /// As JSON, whose length comes first; then what belongs to the Verification, whose length comes first too; then what was read, set
    /// by set.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let told = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        for part in [told, self.belonging.iter().flat_map(|object| object.to_bytes()).collect()] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
        bytes.extend(ReadSet::encode_all(&self.reads()));
        Ok(bytes)
    }

    /// Without what was read, which stays as it was told until somebody needs it, and without what belonged to the Verification.
    pub fn decode(bytes: &[u8]) -> Option<Judgement> {
        let (told, rest) = split_part(bytes)?;
        let (_, reads) = split_part(rest)?;
        let judgement: Judgement = serde_json::from_slice(told).ok()?;
        (!reads.is_empty()).then(|| Judgement { told_reads: reads.to_vec(), ..judgement })
    }

    /// What belonged to the Verification, of what `encode` wrote.
    pub fn decode_belonging(bytes: &[u8]) -> Option<impl Iterator<Item = ObjectId>> {
        let (_, rest) = split_part(bytes)?;
        let (objects, _) = split_part(rest)?;
        Some(objects.as_chunks().0.iter().map(|object| ObjectId::from_bytes(*object)))
    }

    /// Puts what was read into its places; false if it cannot be read.
    pub fn unfold_reads(&mut self) -> bool {
        if self.told_reads.is_empty() {
            return true;
        }
        let Some(reads) = ReadSet::decode_all(&self.told_reads) else { return false };
        if reads.len() != self.reads().len() {
            return false;
        }
        let of_tests = self.tests.values_mut().map(|tested| &mut tested.reads);
        let of_checks = self.checks.values_mut().map(|checked| &mut checked.reads);
        let of_listing = self.listing.iter_mut().map(|listing| &mut listing.reads);
        let places = of_tests.chain(of_checks).chain([&mut self.case_reads]).chain(of_listing);
        places.zip(reads).for_each(|(place, reads)| *place = reads);
        self.told_reads.clear();
        true
    }

    /// Of the tests, of the checks, of what those were told, and of which tests there are.
    fn reads(&self) -> Vec<&ReadSet> {
        let of_tests = self.tests.values().map(|tested| &tested.reads);
        let of_checks = self.checks.values().map(|checked| &checked.reads);
        let of_listing = self.listing.iter().map(|listing| &listing.reads);
        of_tests.chain(of_checks).chain([&self.case_reads]).chain(of_listing).collect()
    }

    /// One that refuses, for a reason that no check gave.
    pub fn unsure(reason: String) -> Judgement {
        Judgement::of_one("candidate", CheckOutcome::Unsure, reason)
    }

    /// The same for what no rule of the image could allow.
    pub fn refused(reason: String) -> Judgement {
        Judgement::of_one(SAFETY, CheckOutcome::Failed, reason)
    }

    fn of_one(check: &str, outcome: CheckOutcome, reason: String) -> Judgement {
        let (reads, rests_on) = (ReadSet::unknown(), Vec::new());
        let checked = Checked { outcome, reasons: vec![reason], time_us: 0, reads, read_count: 0, rests_on };
        Judgement { checks: [(check.to_string(), checked)].into(), ..Judgement::default() }
    }

    /// With the tests that the mandate asks for: one that is not there is told as missing.
    pub fn verdict(&self, asked: &[String]) -> Verdict {
        let last = |runs: &[String]| runs.iter().find(|run| *run != "passed").or(runs.last()).cloned();
        let tests = self.tests.iter().map(|(name, tested)| TestResult {
            name: name.clone(),
            before: last(&tested.before),
            after: last(&tested.after),
            kind: tested.kind(),
            is_asked_for: asked.contains(name),
            time_us: tested.time_us,
            reads: tested.read_count,
            rests_on: tested.rests_on.clone(),
        });
        let is_told = |name: &&String| !self.tests.contains_key(*name) && !self.tests_are_unknown();
        let missing = asked.iter().filter(is_told).collect::<BTreeSet<_>>().into_iter().map(|name| TestResult {
            name: name.clone(),
            before: None,
            after: None,
            kind: TestKind::Missing,
            is_asked_for: true,
            time_us: 0,
            reads: 0,
            rests_on: Vec::new(),
        });
        let tests: Vec<TestResult> = tests.chain(missing).collect();
        let checks = self.checks.iter().map(|(name, checked)| CheckResult {
            name: name.clone(),
            outcome: checked.outcome,
            reasons: checked.reasons.clone(),
            time_us: checked.time_us,
            reads: checked.read_count,
            rests_on: checked.rests_on.clone(),
        });
        let passed = |checked: &Checked| checked.outcome == CheckOutcome::Passed;
        Verdict {
            is_accepted: !self.checks.is_empty() && self.checks.values().all(passed),
            checks: checks.collect(),
            test_count: tests.len() as u64,
            pass_count: tests.iter().filter(|test| test.after.as_deref() == Some("passed")).count() as u64,
            tests,
            allowed: Vec::new(),
        }
    }

    /// No test was run: the rules of safety, or something before them, spoke against it.
    fn tests_are_unknown(&self) -> bool {
        self.case == 0
    }

    /// Without what rests on something that has changed since this commit; true if that is less than it was. What checks are told is
    /// told anew in any case.
    pub fn forget_stale(&mut self, image: &Image, since_commit: u64) -> Result<bool, ImageError> {
        if !self.told_reads.is_empty() && !image.has_any_moved(&self.told_reads, since_commit)? {
            return Ok(false);
        }
        if !self.unfold_reads() {
            return Err(ImageError::Damaged("what a candidate read cannot be read".into()));
        }
        let moved = image.have_moved(&self.reads(), since_commit)?;
        let is_stale = moved.contains(&true);
        let mut moved = moved.into_iter();
        self.tests.retain(|_, _| moved.next() == Some(false));
        self.checks.retain(|_, _| moved.next() == Some(false));
        Ok(is_stale)
    }
}
