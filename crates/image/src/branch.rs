//! The image in two: a copy of the process that goes on by itself, or a level of the heap that is thrown away after what it did
//! was written down. Either way live sees nothing of it, and it leaves a journal.

use crate::commit::{Commitment, commitment};
use crate::error::ImageError;
use crate::image::Image;
use language::Vm;
use object::change::{ActorId, Change, ChangeId, ObjectId};
use store::{Branched, Commit, ForkPoint};

/// What a world dream did.
pub struct Imagined<T> {
    pub value: T,
    pub changes: Vec<Change>,
    /// All persistent objects that it wrote to, also where it put back what was there.
    pub written: Vec<ObjectId>,
}

impl Image {
    /// Copies this process, between transactions. The copy has this thread only, and goes on with an image whose commits are
    /// its own: `Store::take_journal` has them. The actor is one that the store minted, and that nobody else has now.
    pub fn fork(&mut self, actor: ActorId) -> Result<(Branched, ForkPoint), ImageError> {
        Ok(self.store().fork(actor)?)
    }

    /// In a copy: goes on as if it had been made at an earlier commit and had done these since.
    pub fn become_earlier(&mut self, commit: u64, later: Vec<Commit>) -> Result<(), ImageError> {
        let touched = self.store().become_earlier(commit, later)?;
        self.load_anew(touched);
        Ok(())
    }

    /// Does something to the machine as `attempt` does, tells what would have been committed, and takes everything back.
    pub fn imagine<T, E>(
        &mut self,
        actor: ActorId,
        run: impl FnOnce(&mut Vm) -> Result<T, E>,
    ) -> Result<Result<Imagined<T>, E>, ImageError> {
        self.attempt_with(run, |image, value| {
            let time = image.tick();
            let root = [image.vm.root()];
            let level = image.vm.heap().level();
            let written = level.into_iter().flat_map(|level| level.befores());
            let written = written.filter_map(|(handle, _)| image.identities.id(handle)).collect();
            let next = ChangeId::new(actor, 1);
            let Commitment { changes, found } =
                commitment(image.vm.heap(), &image.identities, image.language(), &root, next, time);
            found.into_iter().for_each(|handle| image.identities.release(handle));
            image.take_back();
            Ok(Imagined { value, changes, written })
        })
    }
}
