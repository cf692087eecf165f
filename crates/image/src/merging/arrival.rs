//! What comes to be merged, what would become of it, and what did.

use super::description::Description;
use super::note::Alias;
use super::select::is_among;
use merge::{Conflict, Effect, Place, Policy, Status, Violation};
use object::change::{ActorId, Change, ChangeId, Creation, Datum, Field, ObjectId, Text, Time};
use std::collections::BTreeSet;
use store::Ticket;

/// A dream that is over. All but the changes is the primary's knowledge; they are the dreamer's word.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub actor: ActorId,
    /// What people call it.
    pub name: String,
    pub mandate: String,
    pub agent: String,
    /// The last commit of the image that it saw.
    pub fork_commit: u64,
    pub forked: Time,
    /// When its journal came in.
    pub receipt: Time,
    pub policy: Policy,
    /// The dreams that it was dreamt inside of, and how many changes each had made by then, the outermost first.
    pub parents: Vec<(ActorId, u64)>,
    /// The whole journal, numbered from 1.
    pub changes: Vec<Change>,
    /// If there are any, only these are taken: slots, or with no name whole objects; and what they refer to that is new.
    pub only: Option<Vec<(ObjectId, Option<Text>)>>,
    /// What it wrote in directories of the host, which is kept elsewhere.
    pub files: Option<BroughtFiles>,
}

impl Arrival {
    /// Which of `only` it did not change, by their places there.
    pub fn only_unchanged(&self) -> impl Iterator<Item = usize> {
        let only = self.only.as_deref().unwrap_or_default();
        let is_changed = |place: &(ObjectId, Option<Text>)| {
            self.changes.iter().any(|change| is_among(std::slice::from_ref(place), change))
        };
        only.iter().enumerate().filter(move |(_, place)| !is_changed(place)).map(|(at, _)| at)
    }
}

/// The changed files of a dream, by what tells them from any others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BroughtFiles {
    pub count: u64,
    pub digest: String,
}

/// Something of a journal that is not merged.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Left {
    pub object: ObjectId,
    pub place: String,
}

/// What a merge would do to the image as it is after one commit.
#[derive(Clone, Debug)]
pub struct MergePlan {
    pub arrival: Arrival,
    /// The commit that it was made for.
    pub at: u64,
    /// The commit by which this dream was merged before; then there is nothing to do.
    pub merged_before: Option<u64>,
    /// What is done to the image, in order.
    pub effects: Vec<Effect>,
    /// Where both sides wrote. Those that are open become objects in `Telos conflicts`.
    pub conflicts: Vec<Conflict>,
    pub violations: Vec<Violation>,
    /// What is to be done to the world outside after the commit: the key of each, its name, its arguments. Files come first, under
    /// number 0, which no change has.
    pub outbox: Vec<(ChangeId, Text, Vec<Datum>)>,
    /// Places that will hold what neither side wrote: to be verified whatever else was.
    pub reconciled: Vec<Place>,
    /// What of the journal was not asked for, in a partial merge.
    pub left_out: Vec<Left>,
    /// Numbers of the journal's changes to what is the machine's own, which are not merged. Whoever judges is told of all others.
    pub of_machine: BTreeSet<u64>,
    /// What a judge found, for the record of the merge. Set by whoever judged.
    pub verdict: Description,
    /// Sources of the methods that it brings, for `Telos archive`. Set by whoever judged.
    pub methods: Vec<String>,
    /// Nothing of the journal is to be told to anybody.
    pub(super) is_idle: bool,
    /// It was too much to be planned, and nothing of it is done.
    pub(super) is_too_much: bool,
    pub(super) names: Vec<(ActorId, String)>,
    /// New objects that neither side made, in the order of their numbers behind the journal's last.
    pub(super) woven: Vec<(ObjectId, Creation)>,
    pub(super) journal: Vec<Change>,
    pub(super) exceptions: Vec<((ObjectId, Field), Policy)>,
    pub(super) decided: Vec<(ObjectId, Field, Datum)>,
    pub(super) aliases: Vec<Alias>,
}

impl MergePlan {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.merged_before.is_some() || (self.is_idle && self.outbox.is_empty())
    }

    /// Whether it was found out what would become of it. What was not, nobody merges.
    pub const fn is_planned(&self) -> bool {
        !self.is_too_much
    }

    pub fn open_conflicts(&self) -> usize {
        self.conflicts.iter().filter(|conflict| conflict.status == Status::Open).count()
    }

    /// A plan that does nothing.
    pub(super) fn nothing(arrival: &Arrival, at: u64, merged_before: Option<u64>) -> MergePlan {
        MergePlan {
            arrival: arrival.clone(),
            at,
            merged_before,
            effects: Vec::new(),
            conflicts: Vec::new(),
            violations: Vec::new(),
            outbox: Vec::new(),
            reconciled: Vec::new(),
            left_out: Vec::new(),
            of_machine: BTreeSet::new(),
            verdict: Description::default(),
            methods: Vec::new(),
            is_idle: true,
            is_too_much: false,
            names: Vec::new(),
            woven: Vec::new(),
            journal: Vec::new(),
            exceptions: Vec::new(),
            decided: Vec::new(),
            aliases: Vec::new(),
        }
    }
}

/// What a merge did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Merged {
    /// None if there was nothing to do.
    pub ticket: Option<Ticket>,
    /// The commit that the dream became, now or before.
    pub commit: Option<u64>,
    /// Conflicts that somebody has to decide.
    pub open: usize,
}
