//! The journal as a stream: what is written comes back, the pieces in which it comes do not matter, and whatever else comes is an
//! error. Case counts come from `TELOS_CASES`.

#![allow(clippy::disallowed_methods, reason = "the number of cases comes from the environment")]

mod lab;

use dream::{Answered, Bounds, Call, Decoder, ForkPoint, Journal, JournalError, RawJournal, Writer};
use lab::{Dreamer, FORK, RECEIPT, decoded, forged, frame, is_same, live, own, worsened, written};
use object::change::*;
use proptest::prelude::*;
use store::NewCommit;
use testkit::Random;

fn cases() -> ProptestConfig {
    let cases = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_is_written_comes_back_in_any_pieces(seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let commits = Dreamer::new(&mut random).commits(8);
        let bytes = written(&commits);
        let (entries, end) = decoded(&bytes, Bounds::default(), || 1 + random.below(40));
        prop_assert_eq!(end, Ok(0));
        prop_assert_eq!(entries.len(), commits.len());
        for (entry, commit) in entries.iter().zip(&commits) {
            prop_assert!(is_same(entry, commit), "{:?} is not {:?}", entry, commit);
        }
        let mut raw = RawJournal::new(Bounds::default());
        raw.push(&bytes).expect("it is within the bounds");
        let journal = raw.decode(FORK, RECEIPT).expect("the same");
        prop_assert_eq!(journal.entries(), entries);
    }

    /// Bytes that an accident changed are noticed, up to where it happened: before it the entries are those that were written.
    #[test]
    fn damage_is_an_error_or_a_cut(seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let commits = Dreamer::new(&mut random).commits(5);
        let bytes = worsened(&mut random, written(&commits));
        let (entries, _) = decoded(&bytes, Bounds::default(), || 1 + random.below(100));
        prop_assert!(entries.len() <= commits.len());
        for (entry, commit) in entries.iter().zip(&commits) {
            prop_assert!(is_same(entry, commit), "{:?} is not {:?}", entry, commit);
        }
    }

    /// A forger makes the checksums right. What comes through keeps to the rules: written again, it is read again as the same.
    #[test]
    fn what_a_forger_gets_through_keeps_to_the_rules(seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let commits = Dreamer::new(&mut random).commits(5);
        let bytes = forged(&mut random, &commits);
        let (entries, end) = decoded(&bytes, Bounds::default(), || usize::MAX);
        let (again, same_end) = decoded(&bytes, Bounds::default(), || 1);
        prop_assert_eq!((&entries, end), (&again, same_end));
        let commit = |entry: &dream::Entry| NewCommit {
            time: entry.time(),
            author: entry.author().into(),
            cause: entry.cause().into(),
            changes: entry.changes().to_vec(),
            ..NewCommit::default()
        };
        let rewritten = written(&entries.iter().map(commit).collect::<Vec<_>>());
        prop_assert_eq!(decoded(&rewritten, Bounds::default(), || usize::MAX), (entries, Ok(0)));
    }

    #[test]
    fn noise_is_refused(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
        let (entries, _) = decoded(&noise, Bounds::default(), || 7);
        prop_assert!(entries.is_empty());
    }
}

fn commit(changes: Vec<Change>) -> NewCommit {
    NewCommit { time: FORK.forked, changes, ..NewCommit::default() }
}

fn set(seq: u64, object: ObjectId, value: impl Into<Datum>) -> Change {
    Change::new(own(seq), FORK.forked, object, Operation::set_slot("x", value))
}

/// What one commit is refused for, whoever wrote it.
fn refusal(commits: &[NewCommit]) -> JournalError {
    let mut stream = Vec::new();
    commits.iter().for_each(|commit| frame(&mut stream, 1, &commit.encode().expect("it can be encoded")));
    decoded(&stream, Bounds::default(), || usize::MAX).1.expect_err("it breaks a rule")
}

#[test]
fn another_actor_is_refused() {
    let id = ChangeId::new(ActorId(6), 1);
    let change = Change::new(id, FORK.forked, live(1), Operation::set_slot("x", 1.0));
    assert_eq!(refusal(&[commit(vec![change])]), JournalError::Actor { expected: FORK.actor, found: id });
}

#[test]
fn numbers_go_from_one_without_gaps_over_all_commits() {
    assert_eq!(refusal(&[commit(vec![set(2, live(1), 1.0)])]), JournalError::Gap { expected: 1, found: 2 });
    let commits = [commit(vec![set(1, live(1), 1.0)]), commit(vec![set(1, live(1), 1.0)])];
    assert_eq!(refusal(&commits), JournalError::Gap { expected: 2, found: 1 });
}

#[test]
fn times_are_within_the_dream() {
    let mut commits = [commit(vec![set(1, live(1), 1.0), set(2, live(1), 2.0)])];
    commits[0].time = Time(0);
    commits[0].changes[0].time = Time(5);
    commits[0].changes[1].time = Time::MAX;
    let journal = lab::journal(&commits);
    let entry = &journal.entries()[0];
    assert_eq!((entry.time(), entry.changes()[0].time, entry.changes()[1].time), (FORK.forked, FORK.forked, RECEIPT));
}

#[test]
fn only_what_its_author_can_know_is_named() {
    let later = ObjectId::minted(ChangeId::new(ActorId(8), 1));
    assert_eq!(refusal(&[commit(vec![set(1, later, 1.0)])]), JournalError::UnknownObject(own(1), later));
    assert_eq!(refusal(&[commit(vec![set(1, live(1), later)])]), JournalError::UnknownObject(own(1), later));
    // Under its own actor, but no change made it.
    let unmade = ObjectId::minted(own(1));
    assert_eq!(refusal(&[commit(vec![set(1, live(1), unmade)])]), JournalError::UnknownObject(own(1), unmade));
    let nobody = ObjectId::minted(own(0));
    assert_eq!(refusal(&[commit(vec![set(1, live(1), nobody)])]), JournalError::UnknownObject(own(1), nobody));
    // Changed before it is made.
    let early = [set(1, ObjectId::minted(own(2)), 1.0), Change::create(own(2), FORK.forked, Creation::default())];
    assert_eq!(refusal(&[commit(early.into())]), JournalError::UnknownObject(own(1), ObjectId::minted(own(2))));
    // In one commit objects refer to each other in a circle.
    let slot = |seq| Creation { slots: vec![("x".into(), ObjectId::minted(own(seq)).into())], ..Creation::default() };
    let circle = [Change::create(own(1), FORK.forked, slot(2)), Change::create(own(2), FORK.forked, slot(1))];
    assert_eq!(lab::journal(&[commit(circle.into())]).changes().count(), 2);
}

#[test]
fn only_what_its_author_can_have_seen_is_replaced() {
    let naming = |pred| Change { preds: Preds::Named([pred].into()), ..set(1, live(1), 1.0) };
    for pred in [own(1), own(2), own(0), ChangeId::new(ActorId(8), 1), ChangeId::new(ActorId(1), 0)] {
        assert_eq!(refusal(&[commit(vec![naming(pred)])]), JournalError::UnknownPred(own(1), pred));
    }
    assert_eq!(lab::journal(&[commit(vec![naming(ChangeId::new(ActorId(1), 40))])]).changes().count(), 1);
}

#[test]
fn a_call_has_arguments_way_and_answer() {
    let call = |payload| Change::new(own(1), FORK.forked, live(1), Operation::Call { name: "get".into(), payload });
    for payload in [Datum::Nil, Datum::record([Datum::text("simulated")]), Datum::record([Datum::Nil, Datum::Nil])] {
        assert_eq!(refusal(&[commit(vec![call(payload)])]), JournalError::Call(own(1)));
    }
    let arguments = [Datum::text("https://example.org")];
    let operation = Call::operation("get", &arguments, Answered::Simulated, Datum::bytes(b"hello"));
    let journal = lab::journal(&[commit(vec![Change::new(own(1), FORK.forked, live(1), operation)])]);
    let call = journal.calls().next().expect("one call");
    assert_eq!(
        (call.name.to_string(), call.arguments, call.answered),
        ("get".into(), &arguments[..], Answered::Simulated)
    );
    assert_eq!((call.answer, journal.calls().count()), (&Datum::bytes(b"hello"), 1));
}

#[test]
fn texts_are_texts() {
    let mut payload = commit(vec![]).encode().expect("it can be encoded");
    payload[8] = 1;
    payload.push(0xFF);
    let mut stream = Vec::new();
    frame(&mut stream, 1, &payload);
    let end = decoded(&stream, Bounds::default(), || usize::MAX).1;
    assert_eq!(end, Err(JournalError::NoText { what: "author", position: 0 }));
    let mut stream = Vec::new();
    frame(&mut stream, 1, &payload[..15]);
    assert_eq!(decoded(&stream, Bounds::default(), || usize::MAX).1, Err(JournalError::Short { position: 0 }));
    let mut stream = Vec::new();
    frame(&mut stream, 5, &payload);
    let end = decoded(&stream, Bounds::default(), || usize::MAX).1;
    assert_eq!(end, Err(JournalError::Kind { position: 0, kind: 5 }));
}

/// Each bound holds for who writes and for who reads, and in the same words.
#[test]
fn every_bound_is_kept_on_both_sides() {
    let commits = [
        NewCommit { author: "alice".into(), ..commit(vec![set(1, live(1), 1.0), set(2, live(1), 2.0)]) },
        commit(vec![set(3, live(1), 3.0)]),
    ];
    let stream = written(&commits);
    let all = Bounds::default();
    let tight = [
        Bounds { frame_bytes: 20, ..all },
        Bounds { frame_changes: 1, ..all },
        Bounds { journal_bytes: stream.len() as u64 - 1, ..all },
        Bounds { journal_changes: 2, ..all },
        Bounds { text_bytes: 4, ..all },
    ];
    for bounds in tight {
        let mut writer = Writer::new(FORK, bounds);
        let refused = commits.iter().try_for_each(|commit| writer.write(commit, &mut Vec::new()));
        let read = decoded(&stream, bounds, || 3).1;
        assert_eq!(refused.expect_err("it is too much"), read.expect_err("it is too much"), "{bounds:?}");
    }
    let end = decoded(&stream, Bounds { name_bytes: 0, ..all }, || 3).1;
    assert_eq!(end, Err(JournalError::TextBytes { what: "name", position: 0, bytes: 1, most: 0 }));
    assert_eq!(decoded(&stream, Bounds { journal_bytes: stream.len() as u64, ..all }, || 3).1, Ok(0));
    assert!(RawJournal::new(Bounds { journal_bytes: 3, ..all }).push(&stream).is_err());
}

/// A header may say any length: nothing is set aside for it.
#[test]
fn a_frame_that_is_too_long_is_refused_by_its_header() {
    let mut header = vec![0; 8];
    header.extend(u32::MAX.to_le_bytes());
    header.push(1);
    let end = decoded(&header, Bounds::default(), || usize::MAX).1;
    let most = Bounds::default().frame_bytes;
    assert_eq!(end, Err(JournalError::FrameBytes { position: 0, bytes: u32::MAX as usize, most }));
}

#[test]
fn after_an_error_nothing_more_is_taken() {
    let stream = written(&[commit(vec![set(1, live(1), 1.0)])]);
    let mut decoder = Decoder::new(FORK, Bounds::default());
    let first = decoder.feed(&[9; 13], RECEIPT, &mut |_| panic!("nothing was whole"));
    let second = decoder.feed(&stream, RECEIPT, &mut |_| panic!("it has failed"));
    assert!(first.is_err() && first == second);
}

/// A frame of another dream, or of another place, is not taken for one.
#[test]
fn frames_belong_to_their_dream_and_place() {
    let stream = written(&[commit(vec![set(1, live(1), 1.0)])]);
    for other in [ForkPoint { actor: ActorId(8), ..FORK }, ForkPoint { store: [1; 16], ..FORK }] {
        let mut decoder = Decoder::new(other, Bounds::default());
        let end = decoder.feed(&stream, RECEIPT, &mut |_| panic!("it is another's"));
        assert_eq!(end, Err(JournalError::Checksum { position: 0 }));
    }
    let (entries, end) = decoded(&[&stream[..], &stream[..]].concat(), Bounds::default(), || usize::MAX);
    assert_eq!((entries.len(), end), (1, Err(JournalError::Checksum { position: stream.len() as u64 })));
}

/// Another process goes on with the dream: its stream begins anew, its numbers do not.
#[test]
fn a_dream_goes_on_where_its_journal_ends() {
    let made = Change::create(own(1), FORK.forked, Creation::default());
    let first = lab::journal(&[commit(vec![made])]);
    let stream = written(&[commit(vec![set(2, ObjectId::minted(own(1)), 1.0)])]);
    let mut decoder = Decoder::after(&first, 100, Bounds::default());
    let mut journal: Journal = first.clone();
    decoder.feed(&stream, RECEIPT, &mut |received| journal.push(received.entry)).expect("it goes on");
    assert_eq!((journal.changes().count(), decoder.last_seq()), (2, 2));
    let most = 100 + stream.len() as u64 - 1;
    let mut decoder = Decoder::after(&first, 100, Bounds { journal_bytes: most, ..Bounds::default() });
    let end = decoder.feed(&stream, RECEIPT, &mut |_| panic!("it is too much"));
    assert_eq!(end, Err(JournalError::JournalBytes { most }));
}

/// Small sets of one transaction take about 7 bytes each, as the design wants, and those of many a frame's more; printed for
/// whoever measures.
#[test]
fn small_sets_take_few_bytes() {
    for count in [1_000, 100_000] {
        let sets = |scattered: bool| {
            let object = move |seq: u64| if scattered { live(1 + seq * 7919 % 10_000) } else { live(1 + seq / 10) };
            let change = move |seq| {
                Change::new(
                    own(seq),
                    FORK.forked,
                    object(seq),
                    Operation::set_slot(NAMES[seq as usize % 10], seq as f64),
                )
            };
            (1..=count).map(change).collect::<Vec<_>>()
        };
        let bytes = |commits: &[NewCommit]| written(commits).len() as f64 / count as f64;
        let together = [false, true].map(|scattered| bytes(&[commit(sets(scattered))]));
        let by_ten: Vec<NewCommit> = sets(false).chunks(10).map(|changes| commit(changes.to_vec())).collect();
        let each: Vec<NewCommit> = sets(false).into_iter().map(|change| commit(vec![change])).collect();
        println!(
            "{count} sets: one commit, in order {:.2}, scattered {:.2}; ten a commit {:.2}; one a commit {:.2} bytes a change",
            together[0],
            together[1],
            bytes(&by_ten),
            bytes(&each)
        );
        assert!(together.iter().all(|bytes| *bytes <= 8.0), "{together:?}");
    }
}

const NAMES: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
