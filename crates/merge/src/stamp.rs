//! Who made a change, how strong it is, and who can see it.

use crate::protos::Rulings;
use object::change::{ActorId, Change, ChangeId, Field, ObjectId, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What becomes of a dream's writes where live wrote too. Declared when the dream is forked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Policy {
    LiveWins,
    LastWriterWins,
    ForkWins,
    /// As the last writer, and the others stay at hand in an open conflict.
    KeepBoth,
}

impl Policy {
    pub const ALL: [Policy; 4] = [Policy::LiveWins, Policy::LastWriterWins, Policy::ForkWins, Policy::KeepBoth];

    /// Compared before time. The live image has rank 1.
    const fn rank(self) -> u8 {
        match self {
            Policy::LiveWins => 0,
            Policy::LastWriterWins | Policy::KeepBoth => 1,
            Policy::ForkWins => 2,
        }
    }
}

/// What the primary knows of a fork. Nothing of it is taken from the fork's journal.
#[derive(Clone, Debug)]
pub struct Fork {
    pub actor: ActorId,
    pub time: Time,
    pub policy: Policy,
    /// Places with a policy of their own, as they were declared at the fork point.
    pub exceptions: BTreeMap<(ObjectId, Field), Policy>,
    /// May name any change as replaced: the primary's own undo.
    pub is_undo: bool,
    /// Was merged before and is told again.
    pub is_vouched_for: bool,
    pub(crate) view: View,
    /// What had become of protos when it was forked.
    pub(crate) rulings: Arc<Rulings>,
    pub(crate) is_open: bool,
}

/// Which changes an author has seen.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct View {
    /// Its own ones.
    pub actor: ActorId,
    /// Everything admitted up to here.
    pub order: u64,
    /// Of the forks that it was forked inside of: what they had done by then.
    pub parents: Vec<(ActorId, u64)>,
    /// But not these: as if they had never been.
    pub without: Vec<Span>,
}

/// After which of an author's changes forks were made inside of it: up to there its changes are told apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inner {
    seqs: Vec<u64>,
    is_apart: bool,
}

impl Inner {
    pub const fn new(seqs: Vec<u64>) -> Inner {
        Inner { seqs, is_apart: false }
    }

    /// Every change counts for itself.
    pub const fn apart() -> Inner {
        Inner { seqs: Vec::new(), is_apart: true }
    }

    /// Whether whoever sees one of these changes of the author sees the other too.
    pub fn cannot_tell(&self, one: &Stamp, other: &Stamp) -> bool {
        let is_between = |seq: &u64| (one.id.seq..other.id.seq).contains(seq);
        let is_same = one.id.actor == other.id.actor && one.order == other.order;
        is_same && !self.is_apart && !self.seqs.iter().any(is_between)
    }
}

/// An actor that makes no changes.
const NOBODY: ActorId = ActorId(u64::MAX);

impl View {
    /// Everything that was admitted up to this number.
    pub const fn at(order: u64) -> View {
        View { actor: NOBODY, order, parents: Vec::new(), without: Vec::new() }
    }

    pub const fn all() -> View {
        View::at(u64::MAX)
    }

    #[inline]
    pub fn sees(&self, stamp: &Stamp) -> bool {
        let is_seen = stamp.order <= self.order || stamp.id.actor == self.actor || self.inherits(stamp.id);
        is_seen && !self.without.iter().any(|span| span.holds(stamp.id))
    }

    /// Everything but these changes.
    pub fn without(spans: Vec<Span>) -> View {
        View { without: spans, ..View::all() }
    }

    fn inherits(&self, id: ChangeId) -> bool {
        self.parents.iter().any(|(actor, seq)| *actor == id.actor && id.seq <= *seq)
    }
}

/// The changes of one actor from one number to another: those of a commit or of a merge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Span {
    pub actor: ActorId,
    pub first: u64,
    pub last: u64,
}

impl Span {
    /// None of no changes at all.
    pub fn of(changes: &[Change]) -> Option<Span> {
        let (first, last) = (changes.first()?.id, changes.last()?.id);
        Some(Span { actor: first.actor, first: first.seq, last: last.seq })
    }

    pub fn holds(&self, id: ChangeId) -> bool {
        id.actor == self.actor && (self.first..=self.last).contains(&id.seq)
    }
}

/// One admitted change, as far as the others need to know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub id: ChangeId,
    /// The number of the merge or commit that admitted it. Decides who sees it, never what wins.
    pub order: u64,
    pub time: Time,
    /// None for the live image.
    pub policy: Option<Policy>,
}

impl Stamp {
    /// The greatest of concurrent changes is shown.
    pub fn strength(&self) -> (u8, Time, ChangeId) {
        (self.policy.map_or(1, Policy::rank), self.time, self.id)
    }
}
