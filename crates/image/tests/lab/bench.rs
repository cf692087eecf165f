//! An image on a bench, and dreams of it.

use super::{answer, create, open, try_open};
use image::{Arrival, Cause, Image, ImageError, Imagined, MergePlan, Merged, Options};
use merge::Policy;
use object::change::{ActorId, Change, ChangeId, ObjectId, Time};
use tempfile::TempDir;

pub struct Bench {
    pub directory: TempDir,
    image: Option<Image>,
}

impl Bench {
    pub fn new(state: &str) -> Bench {
        let directory = TempDir::new().expect("a directory");
        let image = Some(create(directory.path()));
        let mut bench = Bench { directory, image };
        bench.does(state);
        bench
    }

    pub fn image(&mut self) -> &mut Image {
        self.image.as_mut().expect("it is open")
    }

    /// The number of the commit that came of it.
    pub fn does(&mut self, source: &str) -> u64 {
        answer(self.image(), source);
        self.image().store().last_commit()
    }

    pub fn shows(&mut self, source: &str) -> String {
        answer(self.image(), source)
    }

    /// What is in a directory.
    pub fn of(directory: TempDir) -> Bench {
        let image = Some(open(directory.path()));
        Bench { directory, image }
    }

    pub fn closes(&mut self) {
        self.image.take().expect("it is open").close().expect("it closes");
    }

    pub fn opens(&mut self) {
        self.opens_with(&Options::default());
    }

    pub fn opens_with(&mut self, options: &Options) {
        self.image = Some(try_open(self.directory.path(), options).expect("the image opens"));
    }

    pub fn reopens(&mut self) {
        self.closes();
        self.opens();
    }

    /// What a dream did that was forked now. Its time is that of its end, which is later than all before.
    pub fn dreams(&mut self, source: &str, policy: Policy) -> Arrival {
        let actor = self.image().store().mint_actor().expect("an actor");
        let fork_commit = self.image().store().last_commit();
        let forked = self.image().store().time();
        let imagined = self.image().imagine(actor, |vm| vm.evaluate(source, "dream").map(drop));
        let Imagined { changes, .. } = imagined.expect("the image is whole").expect("the program is");
        let receipt = changes.last().map_or(forked, |last| last.time);
        let name = format!("d{}", actor.0);
        let (mandate, agent) = ("mend it".into(), "a test".into());
        let parents = Vec::new();
        Arrival {
            actor,
            name,
            mandate,
            agent,
            fork_commit,
            forked,
            receipt,
            policy,
            parents,
            changes,
            only: None,
            files: None,
        }
    }

    pub fn plans(&mut self, arrival: &Arrival) -> MergePlan {
        self.image().plan_merge(arrival).expect("it can be merged")
    }

    pub fn merges(&mut self, arrival: &Arrival) -> Merged {
        self.tries(arrival).expect("it can be merged")
    }

    pub fn tries(&mut self, arrival: &Arrival) -> Result<Merged, ImageError> {
        let plan = self.image().plan_merge(arrival)?;
        let merged = self.image().merge(&Cause::default(), &plan)?;
        merged.ticket.map_or(Ok(()), |ticket| self.image().wait(ticket))?;
        Ok(merged)
    }

    /// Which places were left alone.
    pub fn reverts(&mut self, commit: u64) -> Vec<String> {
        let reverted = self.image().revert(commit, &Cause::default()).expect("it can be taken back");
        if let Some(ticket) = reverted.ticket {
            self.image().wait(ticket).expect("it is durable");
        }
        reverted.contended.into_iter().map(|(_, place)| place).collect()
    }

    /// The id of what a program answers.
    pub fn id(&mut self, source: &str) -> ObjectId {
        let vm = self.image().vm_mut();
        let value = vm.evaluate(source, "test").expect("a value");
        self.image().id_of(value).expect("it is persistent")
    }
}

/// The same as if it had all been done at another time.
pub fn at(mut arrival: Arrival, time: Time) -> Arrival {
    arrival.changes.iter_mut().for_each(|change| change.time = time);
    arrival
}

/// Changes under the numbers of an actor from `first` on.
pub fn numbered(changes: &[Change], actor: ActorId, first: u64) -> Vec<Change> {
    let number = |(change, seq): (&Change, u64)| Change { id: ChangeId::new(actor, seq), ..change.clone() };
    changes.iter().zip(first..).map(number).collect()
}
