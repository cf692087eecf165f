//! What each author did to the protos of one object, and which of it counts. A fork's deed is all that it did there, live's
//! what it did in one commit.
//!
//! A deed is *void* if everything that its author left there is left out: its author wanted that in the place of other protos, and
//! not nothing. What a void deed took away is not taken away, and what it alone left there is not there. What somebody found
//! left out or kept, and then did something there, is that somebody's word: it stays so while that deed counts.

use crate::ledger::Ledger;
use crate::line::{Element, Ruling, Sequence};
use crate::stamp::{Stamp, View};
use object::change::{ActorId, ObjectId};
use std::collections::{BTreeMap, BTreeSet};

/// A fork, or live in the commit of this number.
type Author = (ActorId, u64);

struct Deed<'l> {
    author: Author,
    /// The last change of it.
    last: Stamp,
    /// What its author sees who has done it.
    view: View,
    ruling: &'l Ruling,
    is_void: bool,
}

/// All deeds to one object's protos.
pub(crate) struct Deeds<'l> {
    pub sequence: &'l Sequence,
    live: ActorId,
    /// In the order of their authors.
    all: Vec<Deed<'l>>,
    /// Elements that some author found there though they had been deleted.
    kept: BTreeSet<Element>,
    /// And those that some did not find there, for they were left out.
    left_out: BTreeSet<Element>,
}

static NONE: Ruling = Ruling::NONE;

impl<'l> Deeds<'l> {
    pub fn new(ledger: &'l Ledger, object: ObjectId, sequence: &'l Sequence) -> Deeds<'l> {
        let (all, kept, left_out) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut deeds = Deeds { sequence, live: ledger.live, all, kept, left_out };
        let mut found: BTreeMap<Author, (Stamp, &Ruling)> = BTreeMap::new();
        for stamp in sequence.stamps() {
            let (last, _) = found.entry(deeds.author(&stamp)).or_insert((stamp, &NONE));
            *last = if last.id.seq < stamp.id.seq { stamp } else { *last };
        }
        for (stamp, ruling) in &sequence.stated {
            found.entry(deeds.author(stamp)).or_insert((*stamp, ruling)).1 = ruling;
        }
        for (author, (last, ruling)) in found {
            let (view, ruling) = match ledger.forks.get(&author.0) {
                Some(fork) => (fork.view.clone(), fork.rulings.get(&object).unwrap_or(&NONE)),
                None => (View::at(last.order), ruling),
            };
            deeds.kept.extend(ruling.kept.keys());
            deeds.left_out.extend(&ruling.left_out);
            deeds.all.push(Deed { author, last, view, ruling, is_void: false });
        }
        deeds
    }

    /// What it takes to look at every element with the eyes of every author.
    pub const fn weight(&self) -> usize {
        self.all.len() * self.sequence.pieces.len()
    }

    fn author(&self, stamp: &Stamp) -> Author {
        (stamp.id.actor, if stamp.id.actor == self.live { stamp.order } else { 0 })
    }

    fn deed_of(&self, stamp: &Stamp) -> Option<&Deed<'l>> {
        let at = self.all.binary_search_by_key(&self.author(stamp), |deed| deed.author).ok()?;
        Some(&self.all[at])
    }

    fn standing(&self) -> impl Iterator<Item = &Deed<'l>> {
        self.all.iter().filter(|deed| !deed.is_void)
    }

    fn left(&self, deed: &Deed<'_>, at: usize) -> bool {
        self.sequence.has(at, &deed.view, deed.ruling)
    }

    /// Where the elements are that are wanted: somebody left them there, and nobody took them away or gave them up.
    pub fn wanted(&self) -> impl Iterator<Item = usize> {
        self.sequence.homes().filter(|at| {
            let is_deleted = self.sequence.deletions(*at).iter().any(|deletion| self.counts(deletion, *at));
            !is_deleted && !self.is_given_up(*at) && self.is_left(*at)
        })
    }

    fn is_left(&self, at: usize) -> bool {
        let Some(stamp) = &self.sequence.pieces[at].stamp else { return true };
        // Mostly it is its own author who left it there.
        let own = self.deed_of(stamp).filter(|deed| !deed.is_void);
        own.is_some_and(|deed| self.left(deed, at)) || self.standing().any(|deed| self.left(deed, at))
    }

    /// A deletion does not count if its deed is void; nor if somebody left the element who found it there all the same, and
    /// nobody since then missed it.
    fn counts(&self, deletion: &Stamp, at: usize) -> bool {
        let element = self.sequence.pieces[at].element(0);
        let missed = |after: &Stamp| self.standing().any(|deed| deed.view.sees(after) && !self.left(deed, at));
        let found = |deed: &Deed<'_>| {
            let is_kept = deed.ruling.kept.contains_key(&element) && deed.view.sees(deletion);
            is_kept && self.left(deed, at) && !missed(&deed.last)
        };
        let is_void = self.deed_of(deletion).is_some_and(|deed| deed.is_void);
        let is_found = || self.kept.contains(&element) && self.standing().any(found);
        !(is_void || is_found())
    }

    /// Whether somebody did something here to whom the element was left out, and nobody who saw that has found it there.
    pub fn is_given_up(&self, at: usize) -> bool {
        let element = self.sequence.pieces[at].element(0);
        let gave_up = |deed: &&Deed<'_>| deed.ruling.left_out.contains(&element);
        let found = |after: &Stamp| self.standing().any(|deed| deed.view.sees(after) && self.left(deed, at));
        self.left_out.contains(&element) && self.standing().filter(gave_up).any(|deed| !found(&deed.last))
    }

    /// What a deed left there, in its author's eyes.
    fn leaves(&self, deed: &Deed<'_>) -> impl Iterator<Item = Element> {
        let left = self.sequence.homes().filter(|at| self.left(deed, *at));
        left.map(|at| self.sequence.pieces[at].element(0))
    }

    /// Makes those deeds void of which everything is left out. Says whether there are such.
    pub fn void_those_left_out(&mut self, left_out: &BTreeSet<Element>) -> bool {
        let is_out = |deed: &&Deed<'_>| {
            let mut leaves = self.leaves(deed).peekable();
            leaves.peek().is_some() && leaves.all(|element| left_out.contains(&element))
        };
        let out = self.standing().filter(is_out).map(|deed| deed.author).collect();
        self.void(&out)
    }

    /// For an object that has no protos. If each of its last deeds left something there, which others took away, the weakest is
    /// void. Who left nothing there meant to.
    pub fn void_weakest(&mut self) -> bool {
        let is_last = |deed: &&Deed<'_>| {
            let mut others = self.standing().filter(|other| other.author != deed.author);
            !others.any(|other| other.view.sees(&deed.last))
        };
        let last: Vec<&Deed<'_>> = self.standing().filter(is_last).collect();
        if last.iter().any(|deed| self.leaves(deed).next().is_none()) {
            return false;
        }
        let weakest = last.iter().min_by_key(|deed| deed.last.strength());
        self.void(&weakest.map(|deed| deed.author).into_iter().collect())
    }

    fn void(&mut self, authors: &BTreeSet<Author>) -> bool {
        let these = self.all.iter_mut().filter(|deed| authors.contains(&deed.author));
        these.for_each(|deed| deed.is_void = true);
        !authors.is_empty()
    }
}
