//! telos: ledger, image and journals as bytes. A merge is decoding, admission, replay and applying the effects.

use crate::work::{Measured, Set, Work, timed};
use merge::{Image, Ledger, NoReconciler, Policy};
use object::change::*;

const LIVE: ActorId = ActorId(1);

struct State {
    ledger: Ledger,
    image: Image,
    next: u64,
    names: Vec<Text>,
}

impl State {
    fn new(work: &Work) -> State {
        let mut state = State {
            ledger: Ledger::new(LIVE, 42),
            image: Image::default(),
            next: 1,
            names: work.names.iter().map(|name| name.as_str().into()).collect(),
        };
        let create = |seq| Change::create(ChangeId::new(LIVE, seq), Time(1), Creation::default());
        let changes: Vec<Change> = (1..=work.sizes.objects as u64).map(create).collect();
        state.commit(&changes);
        state
    }

    fn changes(&self, actor: ActorId, first: u64, sets: &[Set]) -> Vec<Change> {
        let change = |(set, seq): (&Set, u64)| {
            let object = ObjectId::minted(ChangeId::new(LIVE, set.object as u64 + 1));
            let field = Field::Slot(self.names[set.slot].clone());
            let operation = Operation::Put { field, value: Datum::number(set.value as f64) };
            Change::new(ChangeId::new(actor, seq), Time(2), object, operation)
        };
        sets.iter().zip(first..).map(change).collect()
    }

    /// One transaction of the live image: noted, written down, applied.
    fn commit(&mut self, changes: &[Change]) -> usize {
        self.ledger.commit(changes, &self.image).expect("live keeps to the rules");
        self.image.commit(changes).expect("live does what its objects can hold");
        self.next += changes.len() as u64;
        encode(changes).expect("it can be written").len()
    }
}

pub fn run(work: &Work) -> Measured {
    let mut measured = Measured::default();
    let mut state = State::new(work);
    (measured.sets_ms, _) = timed(|| {
        let changes = state.changes(LIVE, state.next, &work.sets);
        state.commit(&changes)
    });
    (measured.merge_few_ms, measured.few_bytes) = merge(&mut state, ActorId(2), &work.few, &mut measured.fork_ms);
    (measured.merge_many_ms, measured.many_bytes) = merge(&mut state, ActorId(3), &work.many, &mut measured.fork_ms);
    measured
}

fn merge(state: &mut State, actor: ActorId, sides: &[Vec<Set>; 2], fork_ms: &mut f64) -> (f64, f64) {
    (*fork_ms, _) = timed(|| state.ledger.fork(actor, Time(1), Policy::LastWriterWins));
    let ours = state.changes(LIVE, state.next, &sides[0]);
    state.commit(&ours);
    let theirs = encode(&state.changes(actor, 1, &sides[1])).expect("it can be written");
    let (time, _) = timed(|| {
        let journal = decode(&theirs).expect("it was just written");
        let outcome = state.ledger.merge(actor, &journal, Time(3), &state.image, &NoReconciler);
        let outcome = outcome.expect("it keeps to the rules");
        state.image.take(&outcome).expect("the image can do what a merge asks for");
    });
    state.ledger.close(actor);
    state.ledger.compact();
    (time, theirs.len() as f64 / sides[1].len() as f64)
}
