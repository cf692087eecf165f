//! telos: ledger, image and journals as bytes. A merge is decoding, admission, replay and applying the effects.

use crate::work::{Entrant, Set, Work};
use merge::{Image, Ledger, NoReconciler, Policy, Rest};
use object::change::*;

const LIVE: ActorId = ActorId(1);

pub struct Kernel {
    ledger: Ledger,
    image: Image,
    names: Vec<Text>,
    /// The numbers of live's next change and of the next fork.
    next: u64,
    actor: u64,
}

impl Kernel {
    fn changes(&self, actor: ActorId, first: u64, sets: &[Set]) -> Vec<Change> {
        let change = |(set, seq): (&Set, u64)| {
            let operation = Operation::Put { field: self.field(set.slot), value: Datum::number(set.value as f64) };
            Change::new(ChangeId::new(actor, seq), Time(2), object(set.object), operation)
        };
        sets.iter().zip(first..).map(change).collect()
    }

    fn field(&self, slot: usize) -> Field {
        Field::Slot(self.names[slot].clone())
    }

    /// One transaction of the live image: noted, applied, written down.
    fn commit(&mut self, changes: &[Change]) {
        self.ledger.commit(changes, &self.image).expect("live keeps to the rules");
        self.image.commit(changes).expect("live does what its objects can hold");
        self.next += changes.len() as u64;
        std::hint::black_box(encode(changes).expect("it can be written"));
    }
}

fn object(number: usize) -> ObjectId {
    ObjectId::minted(ChangeId::new(LIVE, number as u64 + 1))
}

impl Entrant for Kernel {
    type Fork = (ActorId, Option<Image>);

    fn new(work: &Work) -> Kernel {
        let names = work.names.iter().map(|name| name.as_str().into()).collect();
        let mut kernel = Kernel { ledger: Ledger::new(LIVE, 42), image: Image::default(), names, next: 1, actor: 2 };
        let create = |seq| Change::create(ChangeId::new(LIVE, seq), Time(1), Creation::default());
        let changes: Vec<Change> = (1..=work.sizes.objects as u64).map(create).collect();
        kernel.commit(&changes);
        kernel
    }

    fn set(&mut self, sets: &[Set]) {
        let changes = self.changes(LIVE, self.next, sets);
        self.commit(&changes);
    }

    /// The kernel notes where it stands. A dream's own objects are pages that its process shares, or here a copy.
    fn fork(&mut self, copy: bool) -> Self::Fork {
        let actor = ActorId(self.actor);
        self.actor += 1;
        self.ledger.fork(actor, Time(1), Policy::LastWriterWins).expect("the actor is new");
        (actor, copy.then(|| self.image.clone()))
    }

    fn journal(&self, (actor, _): &mut Self::Fork, sets: &[Set]) -> Vec<u8> {
        encode(&self.changes(*actor, 1, sets)).expect("it can be written")
    }

    fn merge(&mut self, (actor, _): &Self::Fork, journal: &[u8]) {
        let journal = decode(journal).expect("it was just written");
        let outcome = self.ledger.merge(*actor, &journal, Time(3), &self.image, &NoReconciler);
        self.image.take(&outcome.expect("it keeps to the rules")).expect("the image can do what a merge asks for");
    }

    fn close(&mut self, (actor, _): Self::Fork) {
        self.ledger.close(actor);
        self.ledger.compact();
    }

    fn read(&self, number: usize, slot: usize) -> Option<i64> {
        match self.image.field(object(number), &self.field(slot)) {
            Datum::Number(value) => Some(value as i64),
            _ => None,
        }
    }
}
