//! Protos that would lead in a circle: what is left out, what is kept, and what live makes of it.

use crate::lab::*;
use crate::under_each_policy;
use merge::*;
use object::change::*;

/// Both put something else in the place of what was there. The one that was left out left its object with nothing.
#[test]
fn an_object_whose_new_proto_is_left_out_keeps_what_that_replaced() {
    let results = under_each_policy(|lab, policy| {
        let root = lab.object();
        let [a, b] = [(); 2].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
        let instead = |proto| [Operation::Delete { line: Line::Protos, index: 0, count: 1 }, add_proto(proto)];
        let mut dream = lab.fork(2, policy);
        lab.live_all(instead(b).map(|operation| (a, operation)).into());
        let later = lab.next_time();
        for operation in instead(a) {
            dream.at(later).does(b, operation);
        }
        let outcome = lab.merge(&dream);
        assert_eq!(outcome.violations.len(), 1);
        let shown = [a, b].map(|object| protos(&lab.image, object));
        if shown == [vec![root], vec![a]] {
            "dream"
        } else if shown == [vec![b], vec![root]] {
            "live"
        } else {
            "none"
        }
    });
    assert_eq!(results, ["dream", "live", "dream", "dream"]);
}

/// A dream's own circle: what was there when it forked led back already.
#[test]
fn a_circle_of_the_dreams_own_takes_no_proto_away() {
    let mut lab = Lab::new();
    let root = lab.object();
    let a = lab.create(Creation { protos: vec![root], ..Creation::default() });
    let b = lab.create(Creation { protos: vec![a], ..Creation::default() });
    let mut dream = lab.fork(2, Policy::ForkWins);
    dream.does(a, Operation::Delete { line: Line::Protos, index: 0, count: 1 }).does(a, add_proto(b));
    assert_eq!(lab.merge(&dream).violations.len(), 1);
    assert_eq!((protos(&lab.image, a), protos(&lab.image, b)), (vec![root], vec![a]));
}

/// Some side took the proto away on purpose: what was left out had not replaced it alone.
#[test]
fn a_proto_that_somebody_took_away_is_not_kept() {
    for is_kept in [true, false] {
        let mut lab = Lab::new();
        let root = lab.object();
        let [a, b] = [(); 2].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
        let delete = || Operation::Delete { line: Line::Protos, index: 0, count: 1 };
        let (mut one, mut other) = (lab.fork(2, Policy::LiveWins), lab.fork(3, Policy::LiveWins));
        one.does(a, delete()).does(a, add_proto(b));
        if !is_kept {
            other.does(a, delete());
        }
        lab.live_all(vec![(b, delete()), (b, add_proto(a))]);
        lab.merge(&one);
        assert_eq!(protos(&lab.image, a), [root]);
        lab.merge(&other);
        assert_eq!(protos(&lab.image, a), if is_kept { vec![root] } else { vec![] });
        // What live takes away stays away, and so does what it adds.
        if is_kept {
            lab.live(a, delete());
            lab.live(a, add_proto(root));
            lab.live(a, add_proto(root));
        }
        let mut last = lab.fork(4, Policy::ForkWins);
        last.does(a, add_proto(root));
        lab.merge(&last);
        assert_eq!(protos(&lab.image, a), vec![root; if is_kept { 3 } else { 1 }]);
    }
}

/// The ledger took it for shown again, the image did not show it, and what came next went to the wrong place.
#[test]
fn what_was_left_out_does_not_come_back_by_what_live_does() {
    let mut lab = Lab::new();
    let (a, b, c, d) = (lab.object(), lab.object(), lab.object(), lab.object());
    let mut dream = lab.fork(2, Policy::ForkWins);
    lab.live(a, add_proto(b));
    dream.does(b, add_proto(a));
    lab.merge(&dream);
    assert_eq!((protos(&lab.image, a), protos(&lab.image, b)), (vec![], vec![a]));
    lab.live(b, Operation::Delete { line: Line::Protos, index: 0, count: 1 });
    lab.live(a, add_proto(c));
    let mut last = lab.fork(3, Policy::ForkWins);
    let run = Run::items([Datum::Object(d)]);
    last.does(a, Operation::Insert { line: Line::Protos, index: 1, run });
    lab.merge(&last);
    assert_eq!((protos(&lab.image, a), protos(&lab.image, b)), (vec![c, d], vec![]));
    assert_eq!(lab.ledger.violations(), []);
}

/// What is added beside a kept proto does not drive it out.
#[test]
fn what_was_kept_stays_when_live_adds_to_it() {
    let mut lab = Lab::new();
    let (root, c, d) = (lab.object(), lab.object(), lab.object());
    let [a, b] = [(); 2].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
    let delete = || Operation::Delete { line: Line::Protos, index: 0, count: 1 };
    let mut dream = lab.fork(2, Policy::ForkWins);
    lab.live_all(vec![(a, delete()), (a, add_proto(b))]);
    dream.does(b, delete()).does(b, add_proto(a));
    lab.merge(&dream);
    lab.live(a, add_proto(c));
    assert_eq!(protos(&lab.image, a), [c, root]);
    let mut last = lab.fork(3, Policy::ForkWins);
    let run = Run::items([Datum::Object(d)]);
    last.does(a, Operation::Insert { line: Line::Protos, index: 2, run });
    lab.merge(&last);
    assert_eq!(protos(&lab.image, a), [c, root, d]);
}

/// Nor does what a dream adds that found it there.
#[test]
fn what_was_kept_stays_when_a_dream_adds_to_it() {
    let mut lab = Lab::new();
    let (root, c) = (lab.object(), lab.object());
    let [a, b] = [(); 2].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
    let delete = || Operation::Delete { line: Line::Protos, index: 0, count: 1 };
    let mut dream = lab.fork(2, Policy::ForkWins);
    lab.live_all(vec![(a, delete()), (a, add_proto(b))]);
    dream.does(b, delete()).does(b, add_proto(a));
    lab.merge(&dream);
    let mut last = lab.fork(3, Policy::ForkWins);
    last.does(a, add_proto(c));
    lab.merge(&last);
    assert_eq!(protos(&lab.image, a), [c, root]);
    // Who puts another in its place means it.
    let mut last = lab.fork(4, Policy::ForkWins);
    last.does(a, delete()).does(a, delete()).does(a, add_proto(c));
    lab.merge(&last);
    assert_eq!(protos(&lab.image, a), [c]);
}

/// Live closed no circle, for one proto on the way was left out. When that came back, with more of the same dream, what
/// live had done was taken for a circle that it wanted.
#[test]
fn live_wants_no_circle_that_it_was_not_shown() {
    let mut lab = Lab::new();
    let [a, b, c, d, e] = [(); 5].map(|()| lab.object());
    let (mut one, mut other) = (lab.fork(2, Policy::LastWriterWins), lab.fork(3, Policy::LastWriterWins));
    one.does(a, add_proto(c));
    lab.live(c, add_proto(e));
    let later = lab.next_time();
    other.at(later).does(c, add_proto(d));
    lab.live(d, add_proto(a));
    lab.merge(&one);
    lab.merge(&other);
    assert_eq!(protos(&lab.image, a), []);
    lab.live(e, add_proto(d));
    let later = lab.next_time();
    one.at(later).does(a, add_proto(b));
    lab.merge(&one);
    let above = |object| protos(&lab.image, object);
    assert_eq!(above(a), [b, c]);
    assert!(!(above(c) == [e] && above(e) == [d] && above(d) == [a]), "a circle");
}

/// It stayed before the eyes of who deleted it, and was deleted again in the place of the next one.
#[test]
fn what_was_kept_goes_like_others_with_what_stands_behind_it() {
    for is_live in [false, true] {
        let mut lab = Lab::new();
        let (one, two, c) = (lab.object(), lab.object(), lab.object());
        let a = lab.create(Creation { protos: vec![one, two], ..Creation::default() });
        let b = lab.create(Creation { protos: vec![one], ..Creation::default() });
        let instead = |count, proto| [Operation::Delete { line: Line::Protos, index: 0, count }, add_proto(proto)];
        let mut dream = lab.fork(2, Policy::ForkWins);
        lab.live_all(instead(2, b).map(|operation| (a, operation)).into());
        for operation in instead(1, a) {
            dream.does(b, operation);
        }
        lab.merge(&dream);
        assert_eq!(protos(&lab.image, a), [one, two]);
        if is_live {
            lab.live_all(instead(2, c).map(|operation| (a, operation)).into());
        } else {
            let mut last = lab.fork(3, Policy::ForkWins);
            for operation in instead(2, c) {
                last.does(a, operation);
            }
            lab.merge(&last);
        }
        let mut last = lab.fork(4, Policy::ForkWins);
        last.does(a, add_proto(two));
        lab.merge(&last);
        assert_eq!(protos(&lab.image, a), [two, c], "{is_live}");
    }
}

/// Who sets the one proto that stands there already only deletes the others: it left that one, and meant to.
#[test]
fn who_leaves_only_what_is_left_out_takes_nothing_away() {
    let mut lab = Lab::new();
    let root = lab.object();
    let [a, b] = [(); 2].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
    let mut one = lab.fork(2, Policy::ForkWins);
    one.does(a, Operation::Delete { line: Line::Protos, index: 0, count: 1 }).does(a, add_proto(b));
    lab.live(b, add_proto(a));
    let mut other = lab.fork(3, Policy::LiveWins);
    other.does(b, Operation::Delete { line: Line::Protos, index: 1, count: 1 });
    for order in [[&one, &other], [&other, &one]] {
        let mut lab = lab.clone();
        for dream in order {
            lab.merge(dream);
        }
        assert_eq!((protos(&lab.image, a), protos(&lab.image, b)), (vec![b], vec![root]));
    }
}

/// Live put one proto in the place of another, in one commit. A dream that went on after its merge closed a circle over that one too.
/// That live had taken away the other counted, and the object inherited from nothing: live had deleted it a second time, in the
/// ledger alone, so that what had been left out before would not come back.
#[test]
fn what_live_replaced_stays_when_a_dream_goes_on_after_its_merge() {
    let mut lab = Lab::new();
    let root = lab.object();
    let [a, b, c] = [(); 3].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
    let mut dream = lab.fork(2, Policy::ForkWins);
    lab.live(a, add_proto(b));
    dream.does(b, add_proto(a));
    lab.merge(&dream);
    assert_eq!((protos(&lab.image, a), protos(&lab.image, b)), (vec![root], vec![a, root]));
    lab.live_all(vec![(a, Operation::Delete { line: Line::Protos, index: 0, count: 1 }), (a, add_proto(c))]);
    dream.does(c, add_proto(b));
    let outcome = lab.merge(&dream);
    let [a_protos, b_protos, c_protos] = [a, b, c].map(|object| protos(&lab.image, object));
    assert_eq!((a_protos, b_protos, c_protos), (vec![root], vec![a, root], vec![b, root]));
    let left_out: Vec<_> =
        outcome.violations.iter().map(|Violation::ProtoCycle { object, proto, .. }| (*object, *proto)).collect();
    assert_eq!(left_out, [(a, c)]);
}

/// What was kept when live went on was left out by the next merge. It had been deleted once, so nobody noted that it was left out: with
/// live's next commit it was wanted again in the ledger, and what live had put there was left out, though the image showed it.
#[test]
fn what_was_kept_and_then_left_out_does_not_come_back_by_what_live_does() {
    let mut lab = Lab::new();
    let root = lab.object();
    let [a, b, c, d, e] = [(); 5].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
    let instead = |object, proto| {
        let delete = Operation::Delete { line: Line::Protos, index: 0, count: 1 };
        vec![(object, delete), (object, add_proto(proto))]
    };
    let (mut one, mut other) = (lab.fork(2, Policy::ForkWins), lab.fork(3, Policy::ForkWins));
    lab.live_all(instead(c, d));
    lab.live_all(instead(c, e));
    for (object, operation) in instead(e, c) {
        other.does(object, operation);
    }
    lab.merge(&other);
    lab.live_all(instead(d, a));
    lab.live(c, add_proto(a));
    assert_eq!(protos(&lab.image, c), [a, d]);
    for (object, operation) in [instead(b, c), instead(d, b)].concat() {
        one.does(object, operation);
    }
    lab.merge(&one);
    assert_eq!((protos(&lab.image, c), protos(&lab.image, d)), (vec![a, root], vec![a, b]));
    lab.live_all([instead(d, e), vec![(d, Operation::Delete { line: Line::Protos, index: 1, count: 1 })]].concat());
    assert_eq!(lab.ledger.violations(), []);
    let mut last = lab.fork(4, Policy::ForkWins);
    last.does(d, Operation::Insert { line: Line::Protos, index: 1, run: Run::items([Datum::Object(root)]) });
    lab.merge(&last);
    assert_eq!(protos(&lab.image, d), [e, root]);
}

/// Live found a proto kept, and went on; a merge left that out, with what live had done. Somebody who saw this, and only added something,
/// brought it back: live's word counted again, by which it was to be there.
#[test]
fn what_somebody_missed_does_not_come_back_by_what_it_adds() {
    let mut lab = Lab::new();
    let root = lab.object();
    let [a, b, c, d] = [(); 4].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
    let instead = |object, proto| {
        let delete = Operation::Delete { line: Line::Protos, index: 0, count: 1 };
        vec![(object, delete), (object, add_proto(proto))]
    };
    let mut one = lab.fork(2, Policy::ForkWins);
    lab.live_all(instead(b, a));
    lab.live_all(instead(c, d));
    lab.live_all(instead(b, a));
    let mut other = lab.fork(3, Policy::LiveWins);
    for (object, operation) in instead(b, c) {
        other.does(object, operation);
    }
    lab.live_all(instead(c, b));
    lab.merge(&other);
    lab.live_all(instead(c, a));
    for (object, operation) in [instead(a, c), instead(d, b)].concat() {
        one.does(object, operation);
    }
    lab.merge(&one);
    let shown = [a, b, c, d].map(|object| protos(&lab.image, object));
    assert_eq!(shown, [vec![c], vec![c, a], vec![root], vec![b]]);
    let mut last = lab.fork(4, Policy::ForkWins);
    for (object, protos) in [a, b, c, d].into_iter().zip(&shown) {
        let (index, run) = (protos.len() as u64, Run::items([Datum::Object(root)]));
        last.does(object, Operation::Insert { line: Line::Protos, index, run });
    }
    lab.merge(&last);
    let more = shown.map(|protos| [protos, vec![root]].concat());
    assert_eq!([a, b, c, d].map(|object| protos(&lab.image, object)), more);
}

/// Each of two dreams takes away the proto that the other one leaves. Neither meant to leave the object without.
#[test]
fn dreams_that_leave_one_proto_each_leave_that_of_the_stronger() {
    let results = under_each_policy(|lab, policy| {
        let (one, two) = (lab.object(), lab.object());
        let a = lab.create(Creation { protos: vec![one, two], ..Creation::default() });
        let (mut dream, mut other) = (lab.fork(2, policy), lab.fork(3, Policy::LastWriterWins));
        dream.does(a, Operation::Delete { line: Line::Protos, index: 0, count: 1 });
        other.does(a, Operation::Delete { line: Line::Protos, index: 1, count: 1 });
        lab.merge(&dream);
        lab.merge(&other);
        protos(&lab.image, a) == [two]
    });
    assert_eq!(results, [true, false, false, false]);
}

/// What somebody else adds does not decide whether a replacement that is left out has replaced something.
#[test]
fn what_is_kept_does_not_hang_on_what_others_add() {
    for policy in Policy::ALL {
        let mut lab = Lab::new();
        let (root, c) = (lab.object(), lab.object());
        let [a, b] = [(); 2].map(|()| lab.create(Creation { protos: vec![root], ..Creation::default() }));
        let (mut dream, mut other) = (lab.fork(2, Policy::LiveWins), lab.fork(3, policy));
        dream.does(a, Operation::Delete { line: Line::Protos, index: 0, count: 1 }).does(a, add_proto(b));
        other.does(a, add_proto(c));
        lab.live(b, add_proto(a));
        lab.merge(&dream);
        lab.merge(&other);
        assert_eq!((protos(&lab.image, a), protos(&lab.image, b)), (vec![c, root], vec![a, root]));
    }
}

/// Whether live wanted a circle was found out by what it was shown before, and that again by what it was shown before that: each
/// circle doubled the work, and forty of them would have taken for ever.
#[test]
fn many_circles_that_live_made_are_looked_at_once_each() {
    const CIRCLES: usize = 40;
    let mut lab = Lab::new();
    let [a, b] = [(); 2].map(|()| lab.object());
    let mut dream = lab.fork(2, Policy::ForkWins);
    for _ in 0..CIRCLES {
        lab.live(a, add_proto(a));
    }
    dream.does(b, add_proto(a));
    lab.merge(&dream);
    assert_eq!(protos(&lab.image, a), [a; CIRCLES]);
    assert_eq!(protos(&lab.image, b), [a]);
}

/// A dream turns a long chain round, and live adds one proto at its end: what is left out there leaves the next one in a circle, and so on
/// to the other end. All edges were taken in again for each, and looked at along the chain each time: six hundred objects would have taken seconds,
/// six thousand an hour.
#[test]
fn a_chain_that_was_turned_round_is_turned_back_at_one_go() {
    const LENGTH: usize = 3000;
    for is_backward in [false, true] {
        let mut lab = Lab::new();
        let mut chain = vec![lab.object()];
        for at in 0..LENGTH {
            chain.push(lab.create(Creation { protos: vec![chain[at]], ..Creation::default() }));
        }
        let mut dream = lab.fork(2, Policy::LiveWins);
        for step in 1..LENGTH {
            let at = if is_backward { LENGTH - step } else { step };
            dream.does(chain[at], Operation::Delete { line: Line::Protos, index: 0, count: 1 });
            dream.does(chain[at], add_proto(chain[at + 1]));
        }
        let last = lab.create(Creation { protos: vec![chain[LENGTH - 1]], ..Creation::default() });
        lab.live_all(vec![
            (chain[LENGTH], Operation::Delete { line: Line::Protos, index: 0, count: 1 }),
            (chain[LENGTH], add_proto(last)),
        ]);
        assert_eq!(lab.merge(&dream).violations.len(), LENGTH - 1);
        assert!((1..LENGTH).all(|at| protos(&lab.image, chain[at]) == [chain[at - 1]]));
    }
}
