//! Lists against loro, whose order is Fugue's too: live and two forks insert and delete side by side, and both end with
//! the same items. Slots are not compared: loro knows no policies, and its last writer is another one than ours.

use crate::work::Random;
use loro::{ExportMode, LoroDoc};
use merge::{Image, Ledger, NoReconciler, Policy, Rest};
use object::change::*;

const LIVE: ActorId = ActorId(1);
const AT_REST: i64 = 4;

/// Draws so many scripts and stops at the first on which the two differ.
pub fn check(scripts: u64) {
    for seed in 0..scripts {
        let script = Script::new(seed);
        assert_eq!(script.telos(), script.loro(), "script {seed}");
    }
}

/// What live (the first) and the forks do, one edit after the other.
struct Script {
    edits: [Vec<Edit>; 3],
}

#[derive(Clone, Copy)]
enum Edit {
    Insert { index: usize, value: i64 },
    Delete { index: usize },
}

impl Script {
    fn new(seed: u64) -> Script {
        let mut random = Random(seed);
        let edits = [1, 2, 3].map(|actor| {
            let mut length = AT_REST as usize;
            let mut edit = |number: usize| {
                if length > 0 && random.below(3) == 0 {
                    length -= 1;
                    return Edit::Delete { index: random.below(length + 1) };
                }
                length += 1;
                Edit::Insert { index: random.below(length), value: actor * 100 + number as i64 }
            };
            (0..6).map(&mut edit).collect()
        });
        Script { edits }
    }

    fn loro(&self) -> Vec<i64> {
        let edit = |document: &LoroDoc, edits: &[Edit]| {
            let list = document.get_list("list");
            for edit in edits {
                match *edit {
                    Edit::Insert { index, value } => list.insert(index, value),
                    Edit::Delete { index } => list.delete(index, 1),
                }
                .expect("the index is inside");
            }
            document.commit();
        };
        let document = LoroDoc::new();
        document.set_peer_id(LIVE.0).expect("nothing is pending");
        let list = document.get_list("list");
        (0..AT_REST).for_each(|value| list.push(value).expect("it is attached"));
        document.commit();
        let forks = [2, 3].map(|peer| {
            let fork = document.fork();
            fork.set_peer_id(peer).expect("nothing is pending");
            fork
        });
        edit(&document, &self.edits[0]);
        for (fork, edits) in forks.iter().zip(&self.edits[1..]) {
            edit(fork, edits);
            let bytes = fork.export(ExportMode::all_updates()).expect("it can be exported");
            document.import(&bytes).expect("it was just exported");
        }
        let values = list.to_vec().into_iter();
        values.map(|value| *value.as_i64().expect("only whole numbers were put in")).collect()
    }

    fn telos(&self) -> Vec<i64> {
        let (mut ledger, mut image) = (Ledger::new(LIVE, 7), Image::default());
        let first = ChangeId::new(LIVE, 1);
        let body = Body::Elements(Run::items((0..AT_REST).map(|value| Datum::number(value as f64))));
        let create = Change::create(first, Time(1), Creation { body, ..Creation::default() });
        let list = create.object;
        image.commit(&[create]).expect("it is new");
        for actor in [2, 3].map(ActorId) {
            ledger.fork(actor, Time(1), Policy::LastWriterWins).expect("the actor is new");
        }
        let journal = |actor, first: u64, edits: &[Edit]| -> Vec<Change> {
            let change =
                |(edit, seq): (&Edit, u64)| Change::new(ChangeId::new(actor, seq), Time(2), list, edit.operation());
            edits.iter().zip(first..).map(change).collect()
        };
        for change in journal(LIVE, 2, &self.edits[0]) {
            ledger.commit(std::slice::from_ref(&change), &image).expect("live keeps to the rules");
            image.commit(&[change]).expect("live does what its objects can hold");
        }
        for (actor, edits) in [2, 3].map(ActorId).into_iter().zip(&self.edits[1..]) {
            let outcome = ledger.merge(actor, &journal(actor, 1, edits), Time(3), &image, &NoReconciler);
            image.take(&outcome.expect("it keeps to the rules")).expect("the image can do what a merge asks for");
        }
        let Run::Items(items) = image.elements(list, Line::Items, 0, u64::MAX) else { return Vec::new() };
        items
            .iter()
            .filter_map(|item| if let Datum::Number(number) = item { Some(*number as i64) } else { None })
            .collect()
    }
}

impl Edit {
    fn operation(self) -> Operation {
        match self {
            Edit::Insert { index, value } => {
                let run = Run::items([Datum::number(value as f64)]);
                Operation::Insert { line: Line::Items, index: index as u64, run }
            }
            Edit::Delete { index } => Operation::Delete { line: Line::Items, index: index as u64, count: 1 },
        }
    }
}
