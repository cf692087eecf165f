//! What a candidate found, on its way to live: through its journal, which nothing but the judge writes it to.

use dream::{KeptDream, Status};
use image::ReadSet;
use keeper::protocol::{CheckOutcome, CheckResult, TestResult, Verdict};
use object::change::Datum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
}

/// How a test ended: each run of it, without the dream and with it. None where there is no such test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tested {
    pub before: Vec<String>,
    pub after: Vec<String>,
    pub time_us: u64,
    #[serde(skip)]
    pub reads: ReadSet,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checked {
    pub outcome: CheckOutcome,
    pub reasons: Vec<String>,
    pub time_us: u64,
    #[serde(skip)]
    pub reads: ReadSet,
}

impl Judgement {
    /// What a kept candidate says that it found.
    pub fn of(kept: &KeptDream) -> Result<Judgement, String> {
        let told = kept.journal.calls().find(|call| call.name.as_bytes() == VERDICT.as_bytes());
        match (told.map(|call| call.answer), &kept.end) {
            (Some(Datum::Bytes(bytes)), Some(end)) if end.status == Status::Ended => {
                Judgement::decode(bytes).ok_or_else(|| "the candidate's verdict cannot be read".into())
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

    /// As JSON, whose length comes first; then what was read, set by set.
    pub fn encode(&self) -> Result<Vec<u8>, String> {
        let told = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        let mut bytes = (told.len() as u64).to_le_bytes().to_vec();
        bytes.extend(told);
        bytes.extend(ReadSet::encode_all(&self.reads()));
        Ok(bytes)
    }

    fn decode(bytes: &[u8]) -> Option<Judgement> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (told, reads) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let mut judgement: Judgement = serde_json::from_slice(told).ok()?;
        let reads = ReadSet::decode_all(reads)?;
        if reads.len() != judgement.reads().len() {
            return None;
        }
        let mut reads = reads.into_iter();
        judgement.tests.values_mut().zip(&mut reads).for_each(|(tested, reads)| tested.reads = reads);
        judgement.checks.values_mut().zip(&mut reads).for_each(|(checked, reads)| checked.reads = reads);
        judgement.case_reads = reads.next()?;
        Some(judgement)
    }

    /// Of the tests, of the checks, and of what those were told.
    fn reads(&self) -> Vec<&ReadSet> {
        let of_tests = self.tests.values().map(|tested| &tested.reads);
        let of_checks = self.checks.values().map(|checked| &checked.reads);
        of_tests.chain(of_checks).chain([&self.case_reads]).collect()
    }

    /// One that refuses, for a reason that no check gave.
    pub fn unsure(reason: String) -> Judgement {
        let checked =
            Checked { outcome: CheckOutcome::Unsure, reasons: vec![reason], time_us: 0, reads: ReadSet::unknown() };
        Judgement { checks: [("candidate".to_string(), checked)].into(), ..Judgement::default() }
    }

    pub fn verdict(&self) -> Verdict {
        let last = |runs: &[String]| runs.iter().find(|run| *run != "passed").or(runs.last()).cloned();
        let tests = self.tests.iter().map(|(name, tested)| TestResult {
            name: name.clone(),
            before: last(&tested.before),
            after: last(&tested.after),
            time_us: tested.time_us,
            reads: tested.reads.object_count() as u64,
        });
        let checks = self.checks.iter().map(|(name, checked)| CheckResult {
            name: name.clone(),
            outcome: checked.outcome,
            reasons: checked.reasons.clone(),
            time_us: checked.time_us,
            reads: checked.reads.object_count() as u64,
        });
        let passed = |checked: &Checked| checked.outcome == CheckOutcome::Passed;
        Verdict {
            is_accepted: !self.checks.is_empty() && self.checks.values().all(passed),
            checks: checks.collect(),
            tests: tests.collect(),
            allowed: Vec::new(),
        }
    }

    /// Without what rests on something that has changed since, as `have_moved` says of each; true if that is less than it was. What
    /// checks are told is told anew in any case.
    pub fn forget_stale<E>(&mut self, have_moved: impl FnOnce(&[&ReadSet]) -> Result<Vec<bool>, E>) -> Result<bool, E> {
        let moved = have_moved(&self.reads())?;
        let is_stale = moved.contains(&true);
        let mut moved = moved.into_iter();
        self.tests.retain(|_, _| moved.next() == Some(false));
        self.checks.retain(|_, _| moved.next() == Some(false));
        Ok(is_stale)
    }
}
