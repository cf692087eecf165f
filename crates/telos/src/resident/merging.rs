//! How a dream becomes a part of live: a candidate is begun and judges itself by live's own rules; when it is over, live reads
//! what came of it, looks at what it did itself meanwhile, and commits, begins another candidate, or archives.
//!
//! Live goes on all the time. Only if it keeps changing what the verdict rests on, it stands still for the last candidate.

use super::judging::{Judgement, Unit};
use super::{Resident, cause_of};
use crate::report;
use dream::{DreamId, KeptDream};
use image::{Arrival, Merged};
use keeper::protocol::{
    Answer, DreamOrder, Failure, FailureKind, MergeOrder, MergeReport, MergeStatus, Outcome, Request, Shown, Verdict,
};
use keeper::{Begun, Conclusion};
use merge::Policy;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use store::{ForkPoint, Ticket};

/// So many candidates are judged beside live; for one more it stands still.
const CANDIDATES_MAX: u32 = 5;

/// Merges that are not decided yet, by the name of the candidate that is being judged.
#[derive(Default)]
pub struct Merges {
    under_way: BTreeMap<String, UnderWay>,
    concluded: Vec<Conclusion>,
    next_number: u64,
}

struct UnderWay {
    number: u64,
    order: MergeOrder,
    request: Request,
    /// Where the candidate left live.
    point: ForkPoint,
    candidates: u32,
    repeated: u64,
    /// What candidates before this one found, which still holds.
    held: Judgement,
    since: Instant,
}
