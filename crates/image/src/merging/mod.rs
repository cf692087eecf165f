//! A dream's journal becomes part of an image that went on meanwhile, in one commit.
//!
//! The kernel's ledger is not kept while dreams are open; it is made again for each merge, from the history: the objects of
//! the journal are taken back to the fork point, and what was done to them since is told to the kernel. What was merged
//! since is told as the journal that it came from, so that the result does not depend on the order of merges. So each merge
//! commit carries its journal, in a *note*. The cost is that of the journal and of the commits since the fork.
//!
//! - `arrival`: what comes, and what is planned; `select`: what of a journal is admitted; `parts`: what earlier merges of it took; `container`, `renaming`: what several
//!   sides made is one
//! - `story`: what happened since the fork; `ledger`: that, told to the kernel, with `policies` as the fork point had them
//!   and methods merged as trees (`sides` has what both are made of)
//! - `outcome`: what the kernel said, in the image's own terms; `batch`: that as the changes of one commit; `note`: its last one
//! - `delivery`: what is to be done to the world outside after the commit, and what became of it
//! - `pages`: what the image writes down by itself; `book`, `record`: conflicts, violations, calls and the merge itself as objects;
//!   `description`: what a judge found, as such; `archive`: sources of methods; `resolve`: a conflict decided

mod archive;
mod arrival;
mod batch;
mod book;
mod container;
mod delivery;
mod description;
mod ledger;
mod note;
mod outcome;
mod pages;
mod parts;
mod policies;
mod record;
mod renaming;
mod resolve;
mod select;
mod sides;
mod story;

pub use arrival::{Arrival, BroughtFiles, Left, MergePlan, Merged};
pub use delivery::{APPLY_FILES, Delivery, DeliveryStatus, FileConflict, Settlement, Withdrawal};
pub use description::{Description, Proto};
pub(crate) use note::{Note, note_of};
pub use outcome::PLANNED_MOST;
pub use parts::Part;
pub use policies::policy_name;
pub(crate) use record::place_text;
pub use resolve::Choice;

use crate::error::ImageError;
use crate::image::{Cause, Image};
use object::change::{Change, ObjectId, Time};
use store::Commit;

impl Image {
    /// What merging a dream would do now. Reads only; the machine's interrupt stops it.
    pub fn plan_merge(&self, arrival: &Arrival) -> Result<MergePlan, ImageError> {
        outcome::plan(&self.store, arrival, &self.vm().interrupt())
    }

    /// Does what was planned, in one commit. Nothing, if the dream was merged before.
    pub fn merge(&mut self, cause: &Cause, plan: &MergePlan) -> Result<Merged, ImageError> {
        if plan.is_empty() {
            return Ok(Merged { ticket: None, commit: plan.merged_before, ..Merged::default() });
        }
        let batch = self.batch(plan)?;
        let Some(time) = batch.first().map(|change| change.time) else { return Ok(Merged::default()) };
        let ticket = self.take_in(cause, time, batch)?;
        Ok(Merged { ticket: Some(ticket), commit: Some(ticket.number), open: plan.open_conflicts() })
    }

    /// The same in a copy of the process that is to be judged: what is done there stays there, and is not told as its own.
    /// Nothing is written down about the merge, so that nobody in there can tell from it that he is judged. Returns the objects
    /// that are others than before.
    pub fn try_merge(&mut self, plan: &MergePlan) -> Result<Vec<ObjectId>, ImageError> {
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        let time = self.time_for(plan)?;
        let changes = batch::effects_only(&self.store, plan, time)?;
        let mut touched: Vec<ObjectId> = changes.iter().map(|change| change.object).collect();
        touched.sort_unstable();
        touched.dedup();
        let (author, cause) = (String::new(), format!("merge {}", plan.arrival.name));
        let commit = Commit { number: 0, time, author, cause, changes, inverse: Vec::new() };
        self.become_earlier(self.store.last_commit(), vec![commit])?;
        Ok(touched)
    }

    /// All changes of the commit that it would be.
    pub(crate) fn planned(&mut self, plan: &MergePlan) -> Result<Vec<Change>, ImageError> {
        if plan.is_empty() { Ok(Vec::new()) } else { self.batch(plan) }
    }

    fn batch(&mut self, plan: &MergePlan) -> Result<Vec<Change>, ImageError> {
        let time = self.time_for(plan)?;
        batch::batch(&self.store, plan, time)
    }

    /// When it is done, if the image is still the one that it was planned for.
    fn time_for(&mut self, plan: &MergePlan) -> Result<Time, ImageError> {
        let now = self.store.last_commit();
        if now != plan.at {
            return Err(ImageError::MovedOn { planned: plan.at, now });
        }
        Ok(self.tick())
    }
}
