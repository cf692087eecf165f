//! Protos that several sides took away: what each of them did there counts as one deed.

use crate::lab::*;
use merge::*;
use object::change::*;

fn delete_proto(index: u64) -> Operation {
    Operation::Delete { line: Line::Protos, index, count: 1 }
}

/// Each leaves what the other one takes away, and one of both does not count. How late a deed is goes by the last of it.
#[test]
fn a_deed_is_as_late_as_the_last_of_it() {
    let mut lab = Lab::new();
    let [p, q, r] = [(); 3].map(|()| lab.object());
    let object = lab.create(Creation { protos: vec![p, q, r], ..Creation::default() });
    let (mut one, mut other) = (lab.fork(2, Policy::LastWriterWins), lab.fork(3, Policy::LastWriterWins));
    let [first, second, third] = [(); 3].map(|()| lab.next_time());
    one.at(first).does(object, delete_proto(0)).at(third).does(object, delete_proto(0));
    other.at(second).does(object, delete_proto(2));
    for order in [[&one, &other], [&other, &one]] {
        let mut lab = lab.clone();
        for dream in order {
            lab.merge(dream);
        }
        assert_eq!(protos(&lab.image, object), [r]);
    }
}

fn left_out(lab: &Lab) -> Vec<(ObjectId, ObjectId)> {
    let violations = lab.ledger.violations().into_iter();
    violations.map(|Violation::ProtoCycle { object, proto, .. }| (object, proto)).collect()
}

/// Whoever does something where a proto was left out has given it up; but not if that does not count itself.
#[test]
fn a_deed_that_does_not_count_gives_nothing_up() {
    let mut lab = Lab::new();
    let [a, b, c] = [(); 3].map(|()| lab.object());
    let (mut one, mut other) = (lab.fork(2, Policy::ForkWins), lab.fork(3, Policy::ForkWins));
    lab.live(a, add_proto(b));
    one.does(b, add_proto(a));
    lab.merge(&one);
    assert_eq!(left_out(&lab), [(a, b)]);
    let mut weak = lab.fork(4, Policy::LiveWins);
    weak.does(a, add_proto(c));
    let mut counts = lab.clone();
    counts.merge(&weak);
    assert_eq!((left_out(&counts), protos(&counts.image, a)), (vec![], vec![c]));
    other.does(c, add_proto(a));
    lab.merge(&other);
    lab.merge(&weak);
    let mut expected = [(a, b), (a, c)];
    expected.sort();
    assert_eq!(left_out(&lab), expected);
    let mut last = lab.fork(5, Policy::ForkWins);
    last.does(b, delete_proto(0));
    lab.merge(&last);
    assert_eq!((protos(&lab.image, a), left_out(&lab)), (vec![b], vec![(a, c)]));
}

/// The edges of an author come before those that are weaker than its strongest, for it had seen its own; and still do when somebody comes who saw them all.
#[test]
fn who_saw_everything_changes_nothing_of_what_was_decided() {
    let mut lab = Lab::new();
    let [p, q, r, s, u, v] = [(); 6].map(|()| lab.object());
    let (mut one, mut other) = (lab.fork(2, Policy::LastWriterWins), lab.fork(3, Policy::LastWriterWins));
    let [first, second, third] = [(); 3].map(|()| lab.next_time());
    one.at(first).does(p, add_proto(q)).at(third).does(r, add_proto(s));
    other.at(second).does(q, add_proto(p));
    lab.merge(&one);
    lab.merge(&other);
    assert_eq!((protos(&lab.image, p), protos(&lab.image, q)), (vec![q], vec![]));
    let mut last = lab.fork(4, Policy::ForkWins);
    last.does(u, add_proto(v));
    lab.merge(&last);
    assert_eq!((protos(&lab.image, p), protos(&lab.image, q)), (vec![q], vec![]));
}

/// Live goes on from what was merged, so that comes before what live has not seen, however weak it is.
#[test]
fn what_live_had_seen_comes_before_what_it_had_not() {
    for goes_on in [false, true] {
        let mut lab = Lab::new();
        let [p, q, r, s] = [(); 4].map(|()| lab.object());
        let (mut weak, mut other) = (lab.fork(2, Policy::LiveWins), lab.fork(3, Policy::LastWriterWins));
        weak.does(p, add_proto(q));
        lab.merge(&weak);
        let time = lab.next_time();
        other.at(time).does(q, add_proto(p));
        if goes_on {
            lab.live(r, add_proto(s));
        }
        lab.merge(&other);
        let expected = if goes_on { (vec![q], vec![]) } else { (vec![], vec![p]) };
        assert_eq!((protos(&lab.image, p), protos(&lab.image, q)), expected, "{goes_on}");
    }
}
