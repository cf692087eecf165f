//! What merges found out about tests without the dreams that they were about, and what the next one need not find out again: a test that
//! asks nothing but objects comes to the same as long as all that it read is the same (`image::ReadSet`). Owns that nothing else is
//! kept: no test that a dream makes a difference to, none that is unsure, no check. Beside it, what belongs to the Verification.
//!
//! Live keeps it as the last candidate told it; the next one looks what of it still holds, since that is work.

use super::judgement::{Judgement, Listing, Tested};
use image::{Image, ReadSet};
use object::change::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use store::Store;

/// More of it is not kept.
const BYTES_MAX: usize = 64 << 20;
/// After more commits it is cheaper to find it out again.
const COMMITS_MAX: u64 = 4_000;

/// As live keeps it.
#[derive(Clone)]
pub struct Kept {
    /// As it is after this commit.
    pub at_commit: u64,
    told: Rc<Vec<u8>>,
}

impl Kept {
    /// Of what a candidate told of which nothing has moved since; none if that is too much.
    pub fn of(told: Vec<u8>, at_commit: u64) -> Option<Kept> {
        (!told.is_empty() && told.len() <= BYTES_MAX).then(|| Kept { at_commit, told: Rc::new(told) })
    }

    /// What of it holds in the image as it is now, for who judges by this Verification.
    pub fn still_known(&self, image: &Image, verification: ObjectId) -> Known {
        let known = if self.is_recent(image.store()) { self.found_by(verification) } else { None };
        known.and_then(|known| known.unmoved(image, self.at_commit)).unwrap_or_default()
    }

    /// What belongs to this Verification, if nobody wrote to any of that since.
    pub fn belonging(&self, store: &Store, verification: ObjectId) -> Option<BTreeSet<ObjectId>> {
        let belonging: BTreeSet<ObjectId> = Judgement::decode_belonging(&self.told)?.collect();
        if !belonging.contains(&verification) || !self.is_recent(store) {
            return None;
        }
        let mut is_written = false;
        store.visit_changes_since(self.at_commit, |_, change| is_written |= belonging.contains(&change.object)).ok()?;
        (!is_written).then_some(belonging)
    }

    fn is_recent(&self, store: &Store) -> bool {
        store.last_commit().checked_sub(self.at_commit).is_some_and(|commits| commits <= COMMITS_MAX)
    }

    fn found_by(&self, verification: ObjectId) -> Option<Known> {
        let mut judgement = Judgement::decode(&self.told)?;
        if judgement.verification != Some(verification.to_bytes()) || !judgement.unfold_reads() {
            return None;
        }
        let mut tests = judgement.tests;
        tests.retain(|_, tested| tested.is_unconcerned && tested.is_certain());
        tests.values_mut().for_each(|tested| tested.after = std::mem::take(&mut tested.before));
        let listing = judgement.listing.filter(|listing| !listing.reads.asked_host());
        Some(Known { tests, listing })
    }
}

/// Tests as they came out without a dream, and which there are.
#[derive(Default)]
pub struct Known {
    pub tests: BTreeMap<String, Tested>,
    pub listing: Option<Listing>,
}

impl Known {
    /// None if it cannot be told.
    fn unmoved(mut self, image: &Image, since_commit: u64) -> Option<Known> {
        let of_tests = self.tests.values().map(|tested| &tested.reads);
        let of_listing = self.listing.iter().map(|listing| &listing.reads);
        let all: Vec<&ReadSet> = of_tests.chain(of_listing).collect();
        let mut moved = image.have_moved(&all, since_commit).ok()?.into_iter();
        self.tests.retain(|_, _| moved.next() == Some(false));
        self.listing = self.listing.filter(|_| moved.next() == Some(false));
        Some(self)
    }
}
