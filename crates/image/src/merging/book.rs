//! What the image writes down about a merge, as objects in the same commit, in lists of `Telos`: `merges`, `conflicts`,
//! `violations` and `outbox`. An image that was born without them gets them with its first merge.

use super::arrival::MergePlan;
use super::pages::Pages;
use crate::error::ImageError;
use object::change::{ChangeId, ObjectId, Operation, Time};
use store::Store;

pub struct Book<'b> {
    pub pages: Pages<'b>,
    pub plan: &'b MergePlan,
}

impl<'b> Book<'b> {
    /// The first thing that it writes has the number `next`.
    pub fn new(store: &'b Store, plan: &'b MergePlan, next: u64) -> Result<Book<'b>, ImageError> {
        let pages = Pages::new(store, &plan.effects, ChangeId::new(plan.arrival.actor, next))?;
        Ok(Book { pages, plan })
    }

    pub fn into_operations(self) -> Vec<(ObjectId, Operation)> {
        self.pages.into_operations()
    }

    /// The record of the merge, and those of what it left open.
    pub fn write(&mut self, time: Time) -> Result<(ObjectId, Vec<ObjectId>), ImageError> {
        let entries = self.entries(time)?;
        let pages = &mut self.pages;
        let telos = pages.telos()?;
        pages.append(telos, "conflicts", &entries.conflicts)?;
        pages.append(telos, "violations", &entries.violations)?;
        pages.append(telos, "outbox", &entries.outbox)?;
        pages.append(telos, "merges", &[entries.merge])?;
        pages.archive(telos, &self.plan.methods)?;
        Ok((entries.merge, [entries.conflicts, entries.violations].concat()))
    }
}
