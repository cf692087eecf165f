//! An image with a ledger, and forks of it whose journals are written one operation after the other.

#![allow(dead_code, reason = "two tests share it, and neither uses all of it")]

use merge::*;
use object::change::*;

pub const LIVE: ActorId = ActorId(1);

#[derive(Clone)]
pub struct Lab {
    pub ledger: Ledger,
    pub image: Image,
    /// What live has done.
    pub done: Vec<Change>,
    seq: u64,
    now: u64,
}

/// A journal in the making.
#[derive(Clone)]
pub struct Dream {
    pub actor: ActorId,
    pub changes: Vec<Change>,
    pub time: Time,
}

impl Lab {
    pub fn new() -> Lab {
        Lab::with_seed(7)
    }

    pub fn with_seed(seed: u64) -> Lab {
        Lab { ledger: Ledger::new(LIVE, seed), image: Image::default(), done: Vec::new(), seq: 0, now: 1000 }
    }

    pub fn next_id(&self) -> ChangeId {
        ChangeId::new(LIVE, self.seq + 1)
    }

    pub fn next_time(&mut self) -> Time {
        self.now += 1;
        Time::from_ms(self.now)
    }

    /// Commits one operation of the live image.
    pub fn live(&mut self, object: ObjectId, operation: Operation) {
        self.live_all(vec![(object, operation)]);
    }

    /// Commits several at once.
    pub fn live_all(&mut self, operations: Vec<(ObjectId, Operation)>) {
        let time = self.next_time();
        let numbered = operations.into_iter().zip(self.seq + 1..);
        let changes: Vec<Change> = numbered
            .map(|((object, operation), seq)| Change::new(ChangeId::new(LIVE, seq), time, object, operation))
            .collect();
        self.ledger.commit(&changes, &self.image).expect("live keeps to the rules");
        self.image.commit(&changes).expect("live does what its objects can hold");
        self.seq += changes.len() as u64;
        self.done.extend(changes);
    }

    pub fn create(&mut self, creation: Creation) -> ObjectId {
        let object = creation.object(ChangeId::new(LIVE, self.seq + 1));
        self.live(object, Operation::Create(Box::new(creation)));
        object
    }

    pub fn object(&mut self) -> ObjectId {
        self.create(Creation::default())
    }

    pub fn list(&mut self, items: &[&str]) -> ObjectId {
        let items = Run::items(items.iter().map(|item| Datum::text(item)));
        self.create(Creation { body: Body::Elements(items), ..Creation::default() })
    }

    pub fn fork(&mut self, actor: u64, policy: Policy) -> Dream {
        let time = self.next_time();
        self.ledger.fork(ActorId(actor), time, policy).expect("the actor is new");
        Dream { actor: ActorId(actor), changes: Vec::new(), time }
    }

    pub fn merge(&mut self, dream: &Dream) -> Outcome {
        self.try_merge(dream).expect("the journal keeps to the rules")
    }

    pub fn try_merge(&mut self, dream: &Dream) -> Result<Outcome, Refusal> {
        let bytes = encode(&dream.changes).expect("the journal can be written");
        let journal = decode(&bytes).expect("and read");
        self.merge_with(dream.actor, &journal, &NoReconciler)
    }

    pub fn merge_with(
        &mut self,
        actor: ActorId,
        journal: &[Change],
        reconciler: &impl Reconciler,
    ) -> Result<Outcome, Refusal> {
        let receipt = self.next_time();
        let outcome = self.ledger.merge(actor, journal, receipt, &self.image, reconciler)?;
        self.image.take(&outcome).expect("the image can do what a merge asks for");
        Ok(outcome)
    }

    pub fn slot(&self, object: ObjectId, name: &str) -> Datum {
        self.image.field(object, &Field::Slot(name.into()))
    }

    pub fn items(&self, object: ObjectId) -> String {
        let text = |item: &Datum| if let Datum::Text(text) = item { text.to_string() } else { format!("{item:?}") };
        items(&self.image, object).iter().map(text).collect()
    }
}

impl Dream {
    pub fn does(&mut self, object: ObjectId, operation: Operation) -> &mut Dream {
        let id = ChangeId::new(self.actor, self.changes.len() as u64 + 1);
        self.changes.push(Change::new(id, self.time, object, operation));
        self
    }

    pub fn at(&mut self, time: Time) -> &mut Dream {
        self.time = time;
        self
    }

    pub fn create(&mut self, creation: Creation) -> ObjectId {
        let id = ChangeId::new(self.actor, self.changes.len() as u64 + 1);
        let object = creation.object(id);
        self.does(object, Operation::Create(Box::new(creation)));
        object
    }
}

fn line(image: &Image, object: ObjectId, line: Line) -> Vec<Datum> {
    match image.elements(object, line, 0, u64::MAX) {
        Run::Items(items) => items.to_vec(),
        Run::Units { .. } => Vec::new(),
    }
}

pub fn items(image: &Image, list: ObjectId) -> Vec<Datum> {
    line(image, list, Line::Items)
}

pub fn protos(image: &Image, object: ObjectId) -> Vec<ObjectId> {
    let protos = line(image, object, Line::Protos).into_iter();
    protos.map(|proto| if let Datum::Object(proto) = proto { proto } else { panic!("a proto is an object") }).collect()
}

pub fn insert(index: u64, items: &[&str]) -> Operation {
    Operation::Insert { line: Line::Items, index, run: Run::items(items.iter().map(|item| Datum::text(item))) }
}

pub fn delete(index: u64, count: u64) -> Operation {
    Operation::Delete { line: Line::Items, index, count }
}

pub fn add_proto(proto: ObjectId) -> Operation {
    Operation::Insert { line: Line::Protos, index: 0, run: Run::items([Datum::Object(proto)]) }
}
