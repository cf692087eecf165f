//! Knots of protos that are made to cost: what one merge may take for them is bounded.

use crate::lab::*;
use merge::*;
use object::change::*;

/// A chain that the dream turns round, while live hangs all of it to something that the dream puts above it: all is one knot
/// all the time, and each object in it is in a circle only when the one before it has been turned back.
fn knot(length: usize) -> (Lab, Dream) {
    let mut lab = Lab::new();
    let hub = lab.object();
    let mut chain = vec![lab.object()];
    for at in 0..length {
        chain.push(lab.create(Creation { protos: vec![chain[at]], ..Creation::default() }));
    }
    let mut dream = lab.fork(2, Policy::ForkWins);
    lab.live_all(chain[1..length].iter().map(|object| (*object, add_proto(hub))).collect());
    dream.does(hub, add_proto(chain[1])).does(hub, add_proto(chain[length]));
    for at in 1..length {
        dream.does(chain[at], Operation::Delete { line: Line::Protos, index: 0, count: 1 });
        dream.does(chain[at], add_proto(chain[at + 1]));
    }
    (lab, dream)
}

/// The knot was untied again for each object in it, and each of its links followed through all of it each time: six thousand objects would
/// have kept live waiting for more than an hour.
#[test]
fn a_knot_that_would_take_for_ever_is_refused_without_a_trace() {
    let (mut lab, dream) = knot(6000);
    let before = lab.image.objects();
    assert_eq!(lab.try_merge(&dream), Err(Refusal::Knotted(dream.actor)));
    assert_eq!(lab.image.objects(), before);
    assert_eq!((lab.ledger.violations(), lab.ledger.admitted(dream.actor)), (vec![], 0));
    let (one, other) = (lab.object(), lab.object());
    lab.live(one, add_proto(other));
    let mut last = lab.fork(3, Policy::ForkWins);
    last.does(other, add_proto(one));
    assert_eq!(lab.merge(&last).violations.len(), 1);
}

/// All of it is turned back, and what live did is left out, as in a smaller one.
#[test]
fn a_knot_of_some_hundred_objects_is_untied() {
    const LENGTH: usize = 200;
    let (mut lab, dream) = knot(LENGTH);
    assert_eq!(lab.merge(&dream).violations.len(), 2 * (LENGTH - 1));
}

/// What was let in once is part of the image: told again, among others that make it longer, it cannot be refused any more. Nor is live.
#[test]
fn what_was_merged_before_is_not_refused_for_what_it_takes() {
    const LENGTH: usize = 500;
    let (mut lab, dream) = knot(LENGTH);
    assert_eq!(lab.try_merge(&dream), Err(Refusal::Knotted(dream.actor)));
    lab.ledger.vouch_for(dream.actor);
    assert_eq!(lab.merge(&dream).violations.len(), 2 * (LENGTH - 1));
    let [one, other] = [(); 2].map(|()| lab.object());
    lab.live(one, add_proto(other));
    assert_eq!(protos(&lab.image, one), [other]);
}
