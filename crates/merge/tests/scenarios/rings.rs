//! Protos that lead in a circle: those that the image was born with, and what the ledger says of those that it left out.

use crate::lab::*;
use merge::*;
use object::change::*;

/// An image in which one proto belongs to a ring, as the roots of Io do.
struct Born<'i> {
    image: &'i Image,
    ring: (ObjectId, ObjectId),
}

impl Rest for Born<'_> {
    fn presence(&self, object: ObjectId) -> Presence {
        self.image.presence(object)
    }

    fn form(&self, object: ObjectId) -> Form {
        self.image.form(object)
    }

    fn field(&self, object: ObjectId, field: &Field) -> Datum {
        self.image.field(object, field)
    }

    fn length(&self, object: ObjectId, line: Line) -> u64 {
        self.image.length(object, line)
    }

    fn elements(&self, object: ObjectId, line: Line, index: u64, count: u64) -> Run {
        self.image.elements(object, line, index, count)
    }

    fn occurrences(&self, object: ObjectId, member: &Datum) -> u64 {
        self.image.occurrences(object, member)
    }

    fn is_ring(&self, object: ObjectId, proto: ObjectId) -> bool {
        (object, proto) == self.ring
    }
}

/// Every object inherits from the roots, which inherit from each other: whatever a dream did to a root's protos, and live to
/// those of something else, one of both would be left out.
#[test]
fn what_leads_back_through_a_ring_of_the_image_is_no_new_circle() {
    for is_born in [false, true] {
        let mut lab = Lab::new();
        let (lobby, other) = (lab.object(), lab.object());
        let root = lab.create(Creation { protos: vec![lobby], ..Creation::default() });
        let mut dream = lab.fork(2, Policy::ForkWins);
        lab.live(lobby, add_proto(other));
        dream.does(other, add_proto(root));
        let receipt = lab.next_time();
        let rest = Born { image: &lab.image, ring: if is_born { (root, lobby) } else { (lobby, root) } };
        let outcome = lab.ledger.merge(dream.actor, &dream.changes, receipt, &rest, &NoReconciler);
        let outcome = outcome.expect("it keeps to the rules");
        assert_eq!(outcome.violations.len(), usize::from(!is_born));
        lab.image.take(&outcome).expect("it can be done");
        assert_eq!(protos(&lab.image, lobby), if is_born { vec![other] } else { vec![] });
        assert_eq!(protos(&lab.image, other), [root]);
    }
}

/// The outcome says it once; whoever asks later asks the ledger.
#[test]
fn the_ledger_says_which_protos_are_left_out() {
    let mut lab = Lab::new();
    let [a, b, c] = [(); 3].map(|()| lab.object());
    let mut dream = lab.fork(2, Policy::LiveWins);
    lab.live(a, add_proto(b));
    lab.live(b, add_proto(c));
    dream.does(c, add_proto(b)).does(b, add_proto(a));
    let outcome = lab.merge(&dream);
    let left_out = |object, proto, seq| {
        let change = ChangeId::new(dream.actor, seq);
        Violation::ProtoCycle { object, proto, change }
    };
    let mut expected = [left_out(c, b, 1), left_out(b, a, 2)];
    expected.sort();
    assert_eq!(outcome.violations, expected);
    assert_eq!(lab.ledger.violations(), expected);
    let mut last = lab.fork(3, Policy::ForkWins);
    last.does(a, Operation::Delete { line: Line::Protos, index: 0, count: 1 });
    lab.merge(&last);
    assert_eq!(lab.ledger.violations(), [left_out(c, b, 1)], "nothing leads back any more: it is not left out");
}
