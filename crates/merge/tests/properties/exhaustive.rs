//! Live and two dreams on one place, every way there is: which policies, which times, who wrote what and after what.

use crate::lab::{LIVE, Lab};
use merge::*;
use object::change::*;

/// Writes of one actor to the place: what, and when.
const WRITES: [&[(f64, u64)]; 5] = [&[], &[(1.0, 1)], &[(2.0, 2)], &[(1.0, 3)], &[(1.0, 1), (2.0, 3)]];

#[test]
fn ranked_heads_do_not_depend_on_the_order_of_merges() {
    let mut checked = 0;
    for live in WRITES {
        for one in WRITES {
            for other in WRITES {
                for policies in 0..16 {
                    for forks in 0..4 {
                        check(live, [one, other], policies, forks);
                        checked += 1;
                    }
                }
            }
        }
    }
    assert_eq!(checked, 8000);
}

/// Bit by bit: whether each dream forks before or after live's writes.
fn check(live: &[(f64, u64)], dreams: [&[(f64, u64)]; 2], policies: usize, forks: usize) {
    let mut lab = Lab::new();
    let object = lab.object();
    let fork = |lab: &mut Lab, number: usize| {
        let policy = Policy::ALL[policies >> (number * 2) & 3];
        lab.ledger.fork(ActorId(number as u64 + 2), Time(0), policy).expect("the actor is new");
    };
    (0..2).filter(|number| forks >> number & 1 == 0).for_each(|number| fork(&mut lab, number));
    for ((value, time), seq) in live.iter().zip(2..) {
        let id = ChangeId::new(LIVE, seq);
        let change = Change::new(id, Time(*time), object, Operation::set_slot("x", *value));
        lab.ledger.commit(std::slice::from_ref(&change), &lab.image).expect("live keeps to the rules");
        lab.image.commit(&[change]).expect("it can be done");
    }
    (0..2).filter(|number| forks >> number & 1 == 1).for_each(|number| fork(&mut lab, number));
    let results = [[0, 1], [1, 0]].map(|order| {
        let mut lab = lab.clone();
        for number in order {
            let actor = ActorId(number as u64 + 2);
            let journal: Vec<Change> = dreams[number]
                .iter()
                .zip(1..)
                .map(|((value, time), seq)| {
                    Change::new(ChangeId::new(actor, seq), Time(*time), object, Operation::set_slot("x", *value))
                })
                .collect();
            let outcome = lab.ledger.merge(actor, &journal, Time(9), &lab.image, &NoReconciler);
            lab.image.take(&outcome.expect("it keeps to the rules")).expect("it can be done");
        }
        (lab.slot(object, "x"), lab.ledger.conflicts())
    });
    assert_eq!(results[0], results[1], "{live:?} {dreams:?} {policies} {forks}");
}
