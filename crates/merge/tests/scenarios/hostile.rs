//! Journals that lie. Each is refused whole, or what it lies about does not count.

use crate::lab::*;
use merge::*;
use object::change::*;

/// An image with one object, and a fork of it.
fn prepared() -> (Lab, ObjectId, Dream) {
    let mut lab = Lab::new();
    let object = lab.object();
    lab.live(object, Operation::set_slot("x", 1.0));
    let dream = lab.fork(2, Policy::ForkWins);
    (lab, object, dream)
}

fn id(actor: u64, seq: u64) -> ChangeId {
    ChangeId::new(ActorId(actor), seq)
}

#[test]
fn another_actor_is_overwritten() {
    let (mut lab, object, mut dream) = prepared();
    dream.does(object, Operation::set_slot("x", 2.0));
    let mut changes = dream.changes.clone();
    changes[0].id.actor = LIVE;
    lab.merge_with(dream.actor, &changes, &NoReconciler).expect("it counts as the dream's own");
    assert_eq!(lab.ledger.admitted(ActorId(2)), 1);
    assert_eq!(lab.slot(object, "x"), Datum::number(2.0));
}

#[test]
fn what_is_made_under_another_actor_is_the_dreams_own() {
    let (mut lab, object, mut dream) = prepared();
    lab.live(object, Operation::set_slot("x", 5.0));
    dream.create(Creation { slots: vec![("x".into(), Datum::Nil)], ..Creation::default() });
    dream.does(object, Operation::set_slot("x", 2.0));
    let before = lab.image.objects()[&object].clone();
    let forge = |change: &Change| {
        let id = ChangeId::new(LIVE, change.id.seq);
        let Operation::Create(creation) = &change.operation else { return Change { id, ..change.clone() } };
        Change::create(id, change.time, (**creation).clone())
    };
    let forged: Vec<Change> = dream.changes.iter().map(forge).collect();
    assert_eq!(forged[0].object, object, "the first object of live is the one that it claims to make");
    let outcome = lab.merge_with(dream.actor, &forged, &NoReconciler).expect("it counts as the dream's own");
    assert_eq!(lab.slot(ObjectId::minted(id(2, 1)), "x"), Datum::Nil);
    let siblings: Vec<ChangeId> = outcome.conflicts[0].siblings.iter().map(|sibling| sibling.change).collect();
    assert_eq!(siblings, [id(2, 2), id(1, 3)]);
    assert_eq!(before.slots.len(), lab.image.objects()[&object].slots.len());
}

#[test]
fn a_time_before_the_fork_is_that_of_the_fork() {
    let (mut lab, object, _) = prepared();
    let mut early = lab.fork(3, Policy::LastWriterWins);
    early.does(object, Operation::set_slot("x", 2.0));
    let mut late = lab.fork(4, Policy::LastWriterWins);
    late.at(Time(0)).does(object, Operation::set_slot("x", 3.0));
    lab.merge(&late);
    lab.merge(&early);
    assert_eq!(lab.slot(object, "x"), Datum::number(3.0));
}

#[test]
fn time_is_between_fork_and_receipt() {
    let (mut lab, object, mut dream) = prepared();
    lab.ledger.close(dream.actor);
    dream = lab.fork(3, Policy::LastWriterWins);
    let receipt = lab.next_time();
    dream.at(Time::MAX).does(object, Operation::set_slot("x", 2.0));
    let outcome = lab.ledger.merge(dream.actor, &dream.changes, receipt, &lab.image, &NoReconciler).expect("in order");
    lab.image.take(&outcome).expect("it can be done");
    let mut other = lab.fork(4, Policy::LastWriterWins);
    other.at(Time(0)).does(object, Operation::set_slot("y", 2.0));
    lab.live(object, Operation::set_slot("x", 3.0));
    lab.merge(&other);
    assert_eq!(lab.slot(object, "x"), Datum::number(3.0));
}

#[test]
fn a_far_future_does_not_win() {
    let (mut lab, object, mut dream) = prepared();
    lab.ledger.close(dream.actor);
    dream = lab.fork(3, Policy::LastWriterWins);
    dream.at(Time::MAX).does(object, Operation::set_slot("x", 2.0));
    let receipt = lab.next_time();
    lab.live(object, Operation::set_slot("x", 3.0));
    let outcome = lab.ledger.merge(dream.actor, &dream.changes, receipt, &lab.image, &NoReconciler).expect("in order");
    lab.image.take(&outcome).expect("it can be done");
    assert_eq!(lab.slot(object, "x"), Datum::number(3.0), "live wrote after the journal came in");
}

#[test]
fn what_it_cannot_have_seen_it_cannot_replace() {
    let (mut lab, object, mut dream) = prepared();
    lab.live(object, Operation::set_slot("x", 5.0));
    dream.does(object, Operation::set_slot("x", 2.0));
    for stolen in [id(1, 3), id(7, 1), id(2, 9)] {
        dream.changes[0].preds = Preds::Named([stolen].into());
        assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownPred(id(2, 1), stolen)));
    }
    assert_eq!(lab.slot(object, "x"), Datum::number(5.0));
}

#[test]
fn objects_of_others_are_out_of_reach() {
    let (mut lab, object, mut dream) = prepared();
    let later = lab.object();
    dream.does(object, Operation::set_slot("x", later));
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), later)));
    dream.changes.clear();
    dream.does(later, Operation::set_slot("x", 1.0));
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), later)));
    dream.changes.clear();
    let never = ObjectId::minted(id(9, 9));
    dream.does(object, Operation::set_slot("x", never));
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), never)));
}

#[test]
fn an_object_is_not_used_before_it_is_made() {
    let (mut lab, _, mut dream) = prepared();
    let made = ObjectId::minted(id(2, 2));
    dream.does(made, Operation::set_slot("x", 1.0));
    dream.create(Creation::default());
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), made)));
}

#[test]
fn a_proto_is_there_before_what_inherits_from_it() {
    let (mut lab, _, mut dream) = prepared();
    let later = ObjectId::minted(id(2, 2));
    dream.create(Creation { protos: vec![later], ..Creation::default() });
    dream.create(Creation::default());
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownObject(id(2, 1), later)));
}

#[test]
fn new_objects_may_refer_to_each_other() {
    let (mut lab, object, mut dream) = prepared();
    let second = ObjectId::minted(id(2, 2));
    let first = dream.create(Creation { slots: vec![("other".into(), second.into())], ..Creation::default() });
    dream.create(Creation { slots: vec![("other".into(), first.into())], ..Creation::default() });
    dream.does(object, Operation::set_slot("x", first)).does(second, Operation::set_slot("y", 1.0));
    lab.merge(&dream);
    assert_eq!(lab.slot(first, "other"), Datum::Object(second));
    assert_eq!((lab.slot(second, "other"), lab.slot(second, "y")), (Datum::Object(first), Datum::number(1.0)));
}

#[test]
fn a_gap_is_refused() {
    let (mut lab, object, mut dream) = prepared();
    dream.does(object, Operation::set_slot("x", 2.0));
    dream.changes[0].id.seq = 2;
    assert_eq!(lab.try_merge(&dream), Err(Refusal::Gap { expected: 1, found: 2 }));
}

#[test]
fn an_unknown_or_closed_fork_is_refused() {
    let (mut lab, object, mut dream) = prepared();
    dream.does(object, Operation::set_slot("x", 2.0));
    lab.ledger.close(dream.actor);
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownFork(ActorId(2))));
    let time = lab.next_time();
    assert_eq!(lab.ledger.fork(LIVE, time, Policy::ForkWins), Err(Refusal::ActorTaken(LIVE)));
}

/// Whoever goes by the name of another would be taken for it.
#[test]
fn an_actor_that_is_taken_is_refused() {
    let mut ledger = Ledger::new(LIVE, 7);
    let mut fork = |actor: ActorId| ledger.fork(actor, Time(1), Policy::ForkWins);
    assert_eq!(fork(LIVE), Err(Refusal::ActorTaken(LIVE)));
    assert_eq!(fork(ActorId(u64::MAX)), Err(Refusal::ActorTaken(ActorId(u64::MAX))), "that is nobody");
    assert_eq!(fork(ActorId::MAX), Ok(()), "the last one that there can be");
    assert_eq!(fork(ActorId(2)), Ok(()));
    assert_eq!(fork(ActorId(2)), Err(Refusal::ActorTaken(ActorId(2))));
}

/// A refused journal leaves nothing behind: what comes after finds the ledger as if it had never been.
#[test]
fn what_is_refused_leaves_no_trace() {
    let (mut lab, object, mut dream) = prepared();
    let list = lab.list(&["a", "b"]);
    let bag = lab.create(Creation { body: Body::Members(vec![(Datum::Nil, 2)]), ..Creation::default() });
    let mut bad = lab.fork(3, Policy::ForkWins);
    bad.does(object, Operation::set_slot("x", 7.0));
    bad.does(list, delete(0, 1)).does(list, insert(1, &["z"]));
    bad.does(bag, Operation::Remove { member: Datum::Nil, count: 2 });
    bad.create(Creation::default());
    bad.does(list, delete(5, 1));
    let before = lab.image.objects();
    assert_eq!(lab.try_merge(&bad), Err(Refusal::OutOfRange(id(3, 6))));
    assert_eq!(lab.image.objects(), before);
    assert_eq!(lab.ledger.admitted(ActorId(3)), 0);
    assert!(lab.ledger.conflicts().is_empty());
    dream.does(object, Operation::set_slot("x", 2.0));
    let outcome = lab.merge(&dream);
    assert_eq!((lab.slot(object, "x"), outcome.conflicts.len()), (Datum::number(2.0), 0));
    bad.changes.pop();
    lab.merge(&bad);
    assert_eq!(lab.items(list), "bz");
}

#[test]
fn indexes_are_within_what_was_seen() {
    let (mut lab, _, _) = prepared();
    let list = lab.list(&["a"]);
    let operations = [
        insert(2, &["z"]),
        insert(u64::MAX, &["z"]),
        insert(2, &[]),
        delete(0, 2),
        delete(0, u64::MAX),
        Operation::Move { line: Line::Items, from: 0, to: 1 },
        Operation::Move { line: Line::Items, from: 0, to: u64::MAX },
        Operation::Move { line: Line::Items, from: 1, to: 0 },
        Operation::Set { index: 1, value: Datum::Nil },
    ];
    for (operation, actor) in operations.into_iter().zip(10..) {
        let mut dream = lab.fork(actor, Policy::ForkWins);
        dream.does(list, operation);
        assert_eq!(lab.try_merge(&dream), Err(Refusal::OutOfRange(id(actor, 1))));
    }
    assert_eq!(lab.items(list), "a");
}

/// The number of a refused merge was used again, and by it objects remembered who may write to them: after a journal of
/// somebody who knew an object, one that could not know it was let in.
#[test]
fn a_refused_journal_opens_no_door() {
    let (mut lab, _, mut blind) = prepared();
    let later = lab.object();
    lab.live(later, Operation::set_slot("x", 1.0));
    let mut bad = lab.fork(3, Policy::ForkWins);
    bad.does(later, Operation::set_slot("x", 2.0)).does(later, delete(0, 1));
    assert_eq!(lab.try_merge(&bad), Err(Refusal::Unfit(id(3, 2), later)));
    blind.does(later, Operation::set_slot("x", 3.0));
    assert_eq!(lab.try_merge(&blind), Err(Refusal::UnknownObject(id(2, 1), later)));
}

/// Two versions of one change stood side by side, and whoever wrote over them replaced only the first.
#[test]
fn a_container_with_one_key_twice_can_be_written_over() {
    let (mut lab, object, mut dream) = prepared();
    let field = Field::Entry(Datum::text("k"));
    let body = Body::Map(vec![(Datum::text("k"), Datum::number(1.0)), (Datum::text("k"), Datum::number(2.0))]);
    let under = Some((object, Field::Slot("map".into())));
    let map = dream.create(Creation { body, under, ..Creation::default() });
    lab.merge(&dream);
    assert_eq!(lab.image.field(map, &field), Datum::number(2.0));
    lab.live(map, Operation::Put { field: field.clone(), value: Datum::number(3.0) });
    let mut other = lab.fork(3, Policy::LiveWins);
    other.does(map, Operation::Put { field: field.clone(), value: Datum::number(4.0) });
    let outcome = lab.merge(&other);
    assert_eq!((lab.image.field(map, &field), outcome.conflicts), (Datum::number(4.0), vec![]));
}

#[test]
fn an_object_takes_only_what_it_has_room_for() {
    let (mut lab, object, _) = prepared();
    let list = lab.list(&["a"]);
    let body = |body| Creation { body, ..Creation::default() };
    let map = lab.create(body(Body::Map(Vec::new())));
    let text = lab.create(body(Body::Elements(Run::bytes(b"a"))));
    let bag = lab.create(body(Body::Members(Vec::new())));
    let counter = lab.create(body(Body::Counters(Vec::new())));
    let units = |width| Run::Units { width, bytes: [0; 4].into() };
    let operations = [
        Operation::Put { field: Field::Entry(Datum::Nil), value: Datum::Nil },
        Operation::Put { field: Field::Data, value: Datum::Nil },
        insert(0, &["z"]),
        delete(0, 1),
        Operation::Set { index: 0, value: Datum::Nil },
        Operation::Move { line: Line::Units, from: 0, to: 0 },
        Operation::Insert { line: Line::Units, index: 0, run: units(1) },
        Operation::Count { key: Datum::Nil, delta: 1 },
        Operation::Add { member: Datum::Nil, count: 1 },
        Operation::Remove { member: Datum::Nil, count: 1 },
    ];
    let fit: [(ObjectId, &[usize]); 6] =
        [(object, &[1]), (list, &[2, 3, 4]), (map, &[0]), (text, &[5, 6]), (bag, &[8, 9]), (counter, &[7])];
    let mut actor = 10;
    for (object, fit) in fit {
        for (at, operation) in operations.iter().enumerate() {
            actor += 1;
            let mut dream = lab.fork(actor, Policy::ForkWins);
            dream.does(object, operation.clone());
            let is_fit = lab.clone().try_merge(&dream) != Err(Refusal::Unfit(id(actor, 1), object));
            assert_eq!(is_fit, fit.contains(&at), "{object} {operation:?}");
        }
    }
    for value in [Datum::number(0.5), Datum::number(-1.0), Datum::Nil, Datum::number(f64::NAN)] {
        let mut dream = lab.fork(actor + 1, Policy::ForkWins);
        actor += 1;
        dream.does(object, Operation::Put { field: Field::Flags, value });
        assert_eq!(lab.try_merge(&dream), Err(Refusal::Unfit(id(actor, 1), object)));
    }
    for value in [Datum::number(3.0), Datum::Absent] {
        let mut dream = lab.fork(actor + 1, Policy::ForkWins);
        actor += 1;
        dream.does(object, Operation::Put { field: Field::Flags, value: value.clone() });
        lab.merge(&dream);
        assert_eq!(lab.image.field(object, &Field::Flags), value);
    }
}

/// Nothing is put in, but within what is there: that is no lie.
#[test]
fn nothing_may_be_put_in_anywhere() {
    let (mut lab, _, _) = prepared();
    let list = lab.list(&["a", "b"]);
    let mut dream = lab.fork(3, Policy::ForkWins);
    dream.does(list, insert(0, &[])).does(list, insert(2, &[]));
    assert_eq!(lab.merge(&dream), Outcome::default());
}

#[test]
fn runs_are_of_the_kind_of_their_line() {
    let (mut lab, object, mut dream) = prepared();
    let list = lab.list(&[]);
    let run = Run::bytes(b"a");
    let not_protos = Operation::Insert { line: Line::Protos, index: 0, run: Run::items([Datum::Nil]) };
    for (object, operation) in [(object, not_protos), (list, Operation::Insert { line: Line::Items, index: 0, run })] {
        dream.changes.clear();
        dream.does(object, operation);
        let refused = lab.merge_with(dream.actor, &dream.changes, &NoReconciler);
        assert!(matches!(refused, Err(Refusal::Unfit(..) | Refusal::UnknownObject(..))), "{refused:?}");
    }
}

/// Widening a text replaces all of it. What live typed meanwhile is of the old width, and would stand beside it.
#[test]
fn units_of_two_widths_are_not_mixed() {
    let mut lab = Lab::new();
    let units = |width, bytes: &[u8]| Run::Units { width, bytes: bytes.into() };
    let text = lab.create(Creation { body: Body::Elements(units(1, b"ab")), ..Creation::default() });
    let type_in = |width, bytes: &[u8]| Operation::Insert { line: Line::Units, index: 0, run: units(width, bytes) };
    let mut typed = lab.fork(2, Policy::ForkWins);
    typed.does(text, type_in(16, &[0; 16]));
    assert_eq!(lab.try_merge(&typed), Err(Refusal::Widths(text, 16, 1)));
    let mut both = lab.fork(4, Policy::ForkWins);
    both.does(text, Operation::Delete { line: Line::Units, index: 0, count: 2 }).does(text, type_in(2, b"a-b-"));
    both.does(text, Operation::Insert { line: Line::Units, index: 2, run: Run::bytes(b"c") });
    assert_eq!(lab.try_merge(&both), Err(Refusal::Widths(text, 2, 1)));
    let mut widened = lab.fork(3, Policy::ForkWins);
    widened.does(text, Operation::Delete { line: Line::Units, index: 0, count: 2 }).does(text, type_in(2, b"a-b-"));
    let mut other = lab.clone();
    lab.merge(&widened);
    assert_eq!(lab.image.elements(text, Line::Units, 0, 9), units(2, b"a-b-"));
    other.live(text, type_in(1, b"c"));
    assert!(matches!(other.try_merge(&widened), Err(Refusal::Widths(..))));
    assert_eq!(other.image.elements(text, Line::Units, 0, 9), Run::bytes(b"cab"));
}

#[test]
fn changes_are_numbered_from_one() {
    let (mut lab, object, mut dream) = prepared();
    dream.does(object, Operation::set_slot("x", 2.0)).does(object, Operation::set_slot("x", 3.0));
    dream.changes[0].id.seq = 0;
    dream.changes[1].id.seq = 1;
    assert_eq!(lab.try_merge(&dream), Err(Refusal::Gap { expected: 1, found: 0 }));
}

#[test]
fn what_is_named_may_be_a_head_or_its_own() {
    let (mut lab, object, mut dream) = prepared();
    lab.live(object, Operation::set_slot("y", 1.0));
    let mut other = lab.fork(3, Policy::LiveWins);
    lab.live(object, Operation::set_slot("y", 2.0));
    other.does(object, Operation::set_slot("y", 3.0)).does(object, Operation::set_slot("y", 4.0));
    other.changes[1].preds = Preds::Named([id(3, 1)].into());
    other.does(object, Operation::set_slot("y", 5.0));
    other.changes[2].preds = Preds::Named([id(3, 1), id(3, 2)].into());
    let outcome = lab.merge(&other);
    assert_eq!(lab.slot(object, "y"), Datum::number(2.0));
    let siblings: Vec<ChangeId> = outcome.conflicts[0].siblings.iter().map(|sibling| sibling.change).collect();
    assert_eq!((outcome.conflicts.len(), siblings), (1, vec![id(1, 4), id(3, 3)]));
    // The first fork never saw `y`, so there is nothing that it could name.
    dream.does(object, Operation::set_slot("y", 6.0));
    dream.changes[0].preds = Preds::Named([id(1, 3)].into());
    assert_eq!(lab.try_merge(&dream), Err(Refusal::UnknownPred(id(2, 1), id(1, 3))));
}

/// It may leave a head beside its own write, and the next write then replaces both.
#[test]
fn what_was_left_beside_is_replaced_later() {
    let (mut lab, object, _) = prepared();
    lab.live(object, Operation::set_slot("x", 5.0));
    let mut dream = lab.fork(3, Policy::LiveWins);
    dream.does(object, Operation::set_slot("x", 6.0));
    dream.changes[0].preds = Preds::Named([].into());
    let mut other = lab.clone();
    assert_eq!(other.merge(&dream).conflicts.len(), 1);
    dream.does(object, Operation::set_slot("x", 7.0));
    let outcome = lab.merge(&dream);
    assert!(outcome.conflicts.iter().all(|conflict| conflict.status == Status::Superseded), "{outcome:?}");
    assert_eq!(lab.slot(object, "x"), Datum::number(7.0));
}

#[test]
fn versions_side_by_side_are_bounded() {
    let (mut lab, object, mut dream) = prepared();
    for _ in 0..100 {
        dream.does(object, Operation::set_slot("x", 2.0));
    }
    for change in &mut dream.changes {
        change.preds = Preds::Named([].into());
    }
    // The first replaces all that there is, which is nothing.
    assert_eq!(lab.try_merge(&dream), Err(Refusal::Crowded(id(2, 65))));
}

/// Each of these took time with the cube of its length or worse: a journal of a few kilobytes held up the image for hours.
#[test]
fn long_journals_about_one_thing_take_no_longer_than_others() {
    let mut lab = Lab::new();
    let (object, list) = (lab.object(), lab.list(&["a", "b", "c"]));
    let objects: Vec<ObjectId> = (0..2001).map(|_| lab.object()).collect();
    let mut dreams: Vec<Dream> = (2..8).map(|actor| lab.fork(actor, Policy::ForkWins)).collect();
    for step in 0..20_000 {
        dreams[0].does(object, Operation::set_slot("x", f64::from(step)));
        dreams[0].does(list, Operation::Set { index: 0, value: Datum::number(f64::from(step)) });
        dreams[1].does(list, insert(3 + step as u64, &["z"]));
    }
    for step in 0..2000 {
        dreams[2].does(list, Operation::Move { line: Line::Items, from: step % 3, to: (step + 1) % 3 });
        dreams[3].does(list, insert(0, &["y"]));
        dreams[4].does(list, insert(0, &["x"]));
        dreams[5].does(objects[step as usize], add_proto(objects[step as usize + 1]));
    }
    for dream in &dreams {
        lab.merge(dream);
    }
    assert_eq!(lab.image.length(list, Line::Items), 24_003);
    assert!(lab.ledger.weight() < 13_000, "{}: what was put in at one go is one piece", lab.ledger.weight());
    assert_eq!(lab.slot(object, "x"), Datum::number(19_999.0));
    let time = lab.next_time();
    lab.ledger.fork_for_undo(ActorId(99), time, Policy::ForkWins).expect("the actor is new");
    assert_eq!(lab.ledger.undo(&dreams[0].changes, &[], ActorId(99), time).len(), 2);
}

/// Of each of these a change of a few bytes moved all of a long run, again and again.
#[test]
fn short_changes_to_long_runs_do_not_move_them() {
    const LENGTH: usize = 1_000_000;
    const STEPS: u64 = 3_000;
    let mut lab = Lab::new();
    let (list, object, other) = (lab.list(&["a"]), lab.object(), lab.object());
    let text = lab.create(Creation { body: Body::Elements(Run::bytes(b"a")), ..Creation::default() });
    let mut dreams: Vec<Dream> = (2..6).map(|actor| lab.fork(actor, Policy::ForkWins)).collect();
    let run = |count| Run::items((0..count).map(|at| Datum::number(at as f64)));
    dreams[0].does(list, Operation::Insert { line: Line::Items, index: 0, run: run(LENGTH) });
    dreams[1].does(text, Operation::Insert { line: Line::Units, index: 0, run: Run::bytes(&vec![b'x'; LENGTH]) });
    let made = dreams[2].create(Creation { body: Body::Elements(run(LENGTH)), ..Creation::default() });
    let protos = Run::items((0..LENGTH / 10).map(|_| Datum::Object(other)));
    dreams[3].does(object, Operation::Insert { line: Line::Protos, index: 0, run: protos });
    for step in 0..STEPS {
        dreams[0].does(list, insert(2 * step + 1, &["z"]));
        dreams[1].does(text, Operation::Insert { line: Line::Units, index: 2 * step + 1, run: Run::bytes(b"z") });
        dreams[2].does(made, Operation::Set { index: step, value: Datum::Nil });
    }
    let time = lab.next_time();
    for (dream, effects) in dreams.iter().zip([2 * STEPS, 2 * STEPS, STEPS, LENGTH as u64 / 10]) {
        let merged = lab.ledger.merge(dream.actor, &dream.changes, time, &lab.image, &NoReconciler);
        assert!(merged.expect("it keeps to the rules").effects.len() as u64 >= effects, "{:?}", dream.actor);
    }
}
