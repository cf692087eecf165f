//! The store as the image uses it: commits, reads, history, reopening.

mod beside;
mod files;
mod forks;
mod lab;

use lab::Lab;
use object::change::*;
use store::*;

#[test]
fn what_is_committed_is_read_at_once_and_after_reopening() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    assert_eq!(lab.slot(object, "x"), Datum::number(1.0));
    lab.set(object, "x", 2.0);
    assert_eq!(lab.slot(object, "x"), Datum::number(2.0));
    lab.reopen();
    assert_eq!(lab.slot(object, "x"), Datum::number(2.0));
    lab.store().checkpoint().unwrap();
    assert_eq!(lab.slot(object, "x"), Datum::number(2.0));
    lab.set(object, "x", 3.0);
    lab.reopen();
    assert_eq!(lab.slot(object, "x"), Datum::number(3.0));
    let status = lab.store().status().unwrap();
    assert_eq!((status.last_commit, status.pending_commits), (3, 1));
}

#[test]
fn an_object_that_never_was_is_none() {
    let lab = Lab::new();
    let object = ObjectId::minted(ChangeId::new(ActorId(9), 9));
    assert_eq!(lab.store().read(object).unwrap(), None);
}

#[test]
fn history_tells_commits_from_log_and_image_with_what_takes_them_back() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    lab.set(object, "x", 2.0);
    lab.store().checkpoint().unwrap();
    lab.set(object, "x", 3.0);
    lab.set(object, "y", 4.0);
    let told = |store: &Store| -> Vec<(u64, Vec<Operation>)> {
        let commits = store.history().map(|commit| commit.unwrap());
        commits
            .map(|commit| (commit.number, commit.inverse.into_iter().map(|change| change.operation).collect()))
            .collect()
    };
    let expected = vec![
        (4, vec![Operation::remove_slot("y")]),
        (3, vec![Operation::set_slot("x", 2.0)]),
        (2, vec![Operation::set_slot("x", 1.0)]),
        (1, vec![]),
    ];
    assert_eq!(told(lab.store()), expected, "two in the log, two in the image");
    lab.store().checkpoint().unwrap();
    assert_eq!(told(lab.store()), expected, "all in the image");
    let commit = lab.store().commit_at(3).unwrap().unwrap();
    assert_eq!((commit.author.as_str(), commit.cause.as_str()), ("tester", "a test"));
    assert_eq!(lab.store().history_before(2).count(), 2);
}

/// Who read an object did again all that was done to it since the last checkpoint: merges beside clients that write stood still for
/// tens of milliseconds. What it was lately is kept now, and must be what it was.
#[test]
fn an_object_with_thousands_of_pending_changes_is_what_it_was_at_each_of_them() {
    let mut lab = Lab::new();
    let (busy, calm) = (lab.create(&[("x", 0.0)]), lab.create(&[("x", 0.0)]));
    let names = ["x", "y", "z"];
    let mut was = vec![[0.0, f64::NAN, f64::NAN]; 3];
    for turn in 3..1800_usize {
        let value = turn as f64;
        let mut now = was[turn - 1];
        if turn.is_multiple_of(97) {
            lab.set(calm, "x", value);
        } else {
            lab.set(busy, names[turn % 3], value);
            now[turn % 3] = value;
        }
        was.push(now);
        if turn.is_multiple_of(331) {
            names.iter().zip(now).for_each(|(name, value)| assert_slot(&lab, busy, name, value));
            // Of moments that follow each other.
            (turn - 40..turn - 36).for_each(|from| take_back(&lab, busy, &was, from));
        }
        if turn.is_multiple_of(700) {
            take_back(&lab, busy, &was, turn);
            lab.store().checkpoint().unwrap();
        }
    }
    take_back(&lab, busy, &was, was.len());
    let without = lab.store().history().taking_back(|change| change.object == calm).map(Result::unwrap);
    for commit in without.take_while(|commit| commit.number > 1500).filter(|commit| commit.changes[0].object == calm) {
        assert_eq!(commit.inverse[0].operation, Operation::set_slot("x", (commit.number as usize - 97) as f64));
    }
}

/// When all is in the image, what it holds was taken for what had been there before: a judgement that was out of date seemed to hold.
#[test]
fn what_a_slot_was_is_told_from_the_log_or_not_at_all() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    lab.set(object, "x", 2.0);
    lab.set(object, "y", 3.0);
    let name = Text::from("x");
    let was = |lab: &Lab, commit| lab.store().slot_after(commit, object, &name).unwrap();
    assert_eq!(
        [0, 1, 2, 3].map(|commit| was(&lab, commit)),
        [0.0, 1.0, 2.0, 2.0].map(|value| { Some(if value == 0.0 { Datum::Absent } else { Datum::number(value) }) })
    );
    lab.store().checkpoint().unwrap();
    assert_eq!([1, 2, 3].map(|commit| was(&lab, commit)), [None, None, Some(Datum::number(2.0))]);
    lab.set(object, "x", 4.0);
    assert_eq!([2, 3, 4].map(|commit| was(&lab, commit)), [None, Some(Datum::number(2.0)), Some(Datum::number(4.0))]);
}

/// Who wanted to know what was done since a commit had 32 older ones read, each with what takes it back: a few milliseconds of every
/// merge, for nothing.
#[test]
fn who_goes_back_to_a_commit_is_told_of_those_after_it_and_no_others() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    for turn in 2..=90_u32 {
        lab.set(object, "x", turn.into());
        if turn == 40 {
            lab.store().checkpoint().unwrap();
        }
    }
    for since in [0, 1, 39, 40, 41, 60, 89, 90, 91] {
        let expected: Vec<u64> = (since + 1..=90).collect();
        let mut history = lab.store().history();
        let mut told: Vec<u64> =
            std::iter::from_fn(|| history.next_after(since)).map(|commit| commit.unwrap().number).collect();
        told.reverse();
        let mut visited = Vec::new();
        lab.store().visit_changes_since(since, |number, _| visited.push(number)).unwrap();
        visited.sort_unstable();
        assert_eq!((&told, &visited), (&expected, &expected), "since {since}");
        // Who changes his mind goes on where he was.
        let next = history.next_after(since.saturating_sub(1)).map(|commit| commit.unwrap().number);
        assert_eq!(
            next,
            Some(since.min(90)).filter(|number| (1..=90).contains(number) && since <= 90),
            "since {since}"
        );
    }
}

fn assert_slot(lab: &Lab, object: ObjectId, name: &str, value: f64) {
    let expected = if value.is_nan() { Datum::Absent } else { Datum::number(value) };
    assert_eq!(lab.slot(object, name), expected, "{name}");
}

/// Each commit from this one back says what was before it.
fn take_back(lab: &Lab, object: ObjectId, was: &[[f64; 3]], from: usize) {
    for commit in lab.store().history_before(from as u64).map(Result::unwrap) {
        let number = commit.number as usize;
        let Some(Operation::Put { field: Field::Slot(name), value }) =
            commit.inverse.iter().find(|change| change.object == object).map(|change| &change.operation)
        else {
            continue;
        };
        let place = ["x", "y", "z"].iter().position(|known| *name == Text::from(*known)).unwrap();
        let before = was[number - 1][place];
        let expected = if before.is_nan() { Datum::Absent } else { Datum::number(before) };
        assert_eq!(*value, expected, "before commit {number}");
    }
}

#[test]
fn the_second_opener_is_told_who_is_first() {
    let lab = Lab::new();
    let refused = Store::open(lab.path(), Lab::options()).err().unwrap().to_string();
    assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
    assert!(matches!(Store::create(lab.path(), Lab::options()), Err(StoreError::System(_))));
}

#[test]
fn inspection_reads_and_refuses_commits() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    lab.close();
    let one = Store::open_read_only(lab.path(), Lab::options()).unwrap();
    let two = Store::open_read_only(lab.path(), Lab::options()).unwrap();
    assert!(one.read(object).unwrap().is_some() && two.read(object).unwrap().is_some());
    let refused = one.commit(NewCommit::default()).unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly));
    assert!(Store::open(lab.path(), Lab::options()).is_err());
}

#[test]
fn changes_of_the_live_image_follow_each_other() {
    let mut lab = Lab::new();
    let object = lab.create(&[]);
    let change = Change::new(ChangeId::new(ActorId(1), 7), Time(1), object, Operation::set_slot("x", 1.0));
    let refused = lab.store().commit(NewCommit { changes: vec![change], ..NewCommit::default() }).unwrap_err();
    assert_eq!(refused.to_string(), "the commit begins with change 7@1, but the next one is 2@1");
}

/// The story: such a commit was acknowledged, and the checkpoint latched the store when it came to it.
#[test]
fn a_commit_that_does_not_fit_its_object_is_refused_and_nothing_has_happened() {
    let mut lab = Lab::new();
    let object = lab.create(&[("x", 1.0)]);
    let list = lab.make(Body::Elements(Run::items([Datum::Nil, Datum::Nil])));
    let map = lab.make(Body::Map(Vec::new()));
    let nobody = ObjectId::minted(ChangeId::new(ActorId(1), 999));
    let insert = |line, index, run| Operation::Insert { line, index, run };
    let one = || Run::items([Datum::number(1.0)]);
    let unfit = [
        (object, Operation::Delete { line: Line::Protos, index: 0, count: 1 }),
        (object, Operation::Count { key: Datum::Nil, delta: 1 }),
        (object, Operation::Put { field: Field::Flags, value: Datum::number(0.5) }),
        (list, insert(Line::Items, 3, one())),
        (list, Operation::Delete { line: Line::Items, index: 1, count: 2 }),
        (list, Operation::Set { index: 2, value: Datum::Nil }),
        (list, Operation::Put { field: Field::Entry(Datum::Nil), value: Datum::Nil }),
        (list, insert(Line::Units, 0, Run::bytes(b"x"))),
        (map, insert(Line::Items, 0, one())),
        (nobody, Operation::set_slot("x", 1.0)),
    ];
    for round in 0..4 {
        let (before, next) = (lab.store().last_commit(), lab.store().next_change());
        for (object, operation) in &unfit {
            // What fits before it makes no difference.
            let fine = lab.change(map, Operation::Put { field: Field::Entry(Datum::Nil), value: Datum::Nil });
            let id = ChangeId::new(fine.id.actor, fine.id.seq + 1);
            let wrong = Change { id, ..Change::new(id, Time(1), *object, operation.clone()) };
            let commit = NewCommit { changes: vec![fine, wrong], ..NewCommit::default() };
            let refused = lab.store().commit(commit).expect_err("it does not fit");
            let is_told = matches!(refused, StoreError::Unfit { .. } | StoreError::Unknown { .. });
            assert!(is_told && refused.to_string().contains(&object.to_string()), "{operation:?}: {refused}");
        }
        let status = lab.store().status().unwrap();
        assert_eq!((lab.store().last_commit(), lab.store().next_change()), (before, next));
        assert_eq!((status.failure, lab.slot(object, "x")), (None, Datum::number(1.0)));
        // In the log, in the image, found again in the log, and with more pending upon it.
        match round {
            0 => lab.store().checkpoint().unwrap(),
            1 => {
                let append = lab.change(list, insert(Line::Items, 2, Run::items([])));
                lab.commit(append);
            }
            _ => lab.reopen(),
        }
    }
    // Within one commit each change finds what those before it did.
    let grow = lab.change(list, insert(Line::Items, 2, one()));
    let id = ChangeId::new(grow.id.actor, grow.id.seq + 1);
    let set = Change::new(id, Time(1), list, Operation::Set { index: 2, value: Datum::Nil });
    lab.store().commit(NewCommit { changes: vec![grow, set], ..NewCommit::default() }).unwrap();
    lab.store().checkpoint().unwrap();
}

#[test]
fn actors_are_given_out_once() {
    let mut lab = Lab::new();
    let mut given = Vec::new();
    for round in 0..3 {
        given.extend((0..70).map(|_| lab.store().mint_actor().unwrap()));
        if round == 1 {
            lab.create(&[]);
            lab.store().checkpoint().unwrap();
        }
        lab.reopen();
    }
    assert!(given.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(given[0] > lab.store().actor());
}

#[test]
fn a_full_log_refuses_and_takes_commits_again_after_a_checkpoint() {
    let mut lab = Lab::new();
    let object = lab.create(&[]);
    let text = "x".repeat(20_000);
    let refused = loop {
        let change = lab.change(object, Operation::set_slot("text", text.as_str()));
        match lab.store().commit(NewCommit { changes: vec![change], ..NewCommit::default() }) {
            Ok(ticket) => lab.store().wait(ticket).unwrap(),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StoreError::Full { most, .. } if most == Lab::options().log_bytes), "{refused}");
    lab.store().checkpoint().unwrap();
    // Round and round: the ring is used many times over.
    for round in 0..100 {
        lab.set(object, "x", f64::from(round));
        let change = lab.change(object, Operation::set_slot("text", text.as_str()));
        let ticket = lab.store().commit(NewCommit { changes: vec![change], ..NewCommit::default() }).unwrap();
        lab.store().wait(ticket).unwrap();
        if round % 7 == 0 {
            lab.reopen();
        }
        lab.store().checkpoint().unwrap();
        assert_eq!(lab.slot(object, "x"), Datum::number(f64::from(round)));
    }
    let huge = lab.change(object, Operation::set_slot("text", "x".repeat(300_000).as_str()));
    let refused = lab.store().commit(NewCommit { changes: vec![huge], ..NewCommit::default() }).unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused}");
}

#[test]
fn many_committers_share_flushes_and_lose_nothing() {
    let mut lab = Lab::new();
    lab.close();
    let options = Options { checkpoints: Checkpoints::Background, begin_changes: 50, ..Options::default() };
    let store = Store::open(lab.path(), options.clone()).unwrap();
    std::thread::scope(|scope| {
        for committer in 0..8u64 {
            let store = &store;
            scope.spawn(move || {
                let actor = ActorId(100 + committer);
                for seq in 1..=50 {
                    let change = Change::create(ChangeId::new(actor, seq), Time(seq), Creation::default());
                    let ticket = store.commit(NewCommit { changes: vec![change], ..NewCommit::default() }).unwrap();
                    assert!(store.read(ObjectId::minted(ChangeId::new(actor, seq))).unwrap().is_some());
                    store.wait(ticket).unwrap();
                }
            });
        }
    });
    store.close().unwrap();
    let store = Store::open(lab.path(), options).unwrap();
    assert_eq!(store.last_commit(), 400);
    for committer in 0..8 {
        for seq in 1..=50 {
            let object = ObjectId::minted(ChangeId::new(ActorId(100 + committer), seq));
            assert!(store.read(object).unwrap().is_some());
        }
    }
}

#[test]
fn commits_that_leave_it_to_the_system_survive_the_process() {
    let mut lab = Lab::new();
    let object = lab.create(&[]);
    let change = lab.change(object, Operation::set_slot("x", 5.0));
    let commit = NewCommit { changes: vec![change], durability: Durability::Os, ..NewCommit::default() };
    let ticket = lab.store().commit(commit).unwrap();
    lab.store().wait(ticket).unwrap();
    assert!(lab.store().status().unwrap().unflushed_bytes > 0);
    lab.reopen();
    assert_eq!(lab.slot(object, "x"), Datum::number(5.0));
}
