//! The properties of the merge, over scripts of live and several dreams. The number of cases comes from `TELOS_CASES`, the
//! seed from `TELOS_SEED`: the gate takes a sample, `cargo xtask soak` the full count.
//!
//! | property | test |
//! |---|---|
//! | commutative, associative, under any permutation | `the_order_of_merges_does_not_matter`, `exhaustive` |
//! | idempotent, under duplication and batching | `batching_and_duplication_do_not_matter` |
//! | incremental is the fold over the set; the same as a naive model | `the_result_is_a_function_of_the_set` |
//! | the empty dream is the identity | `an_empty_dream_changes_nothing` |
//! | an uncontended write is never lost | `no_write_is_lost`, `no_setting_is_lost`, `a_dream_alone_gets_all_it_did` |
//! | every losing value is recoverable | `no_write_is_lost`, `no_setting_is_lost` |
//! | deterministic across processes | `the_seed_of_the_tables_does_not_matter`, `another_process_comes_to_the_same` |
//! | encoding round trip | `journals_come_back_as_they_were_written`; any change: `object`, test `change` |
//! | compaction is invisible | `timeline::compaction_is_invisible`, `timeline::the_ledger_is_empty_when_all_is_merged` |
//! | undo after do is the identity when uncontended | `undo_takes_back_what_nobody_contended` |
//! | no dangling reference, acyclic prototypes | `references_lead_somewhere_and_protos_in_no_circle` |
//! | no object loses all its prototypes | `protos::nobody_loses_all_protos_and_none_leads_in_a_circle`, `protos::circles_that_live_makes_stay_as_it_made_them` |
//! | dreams in dreams | all scripts have some, two deep; `a_dream_in_a_dream_goes_on_from_where_it_forked` |
//! | a hostile journal is refused without a trace | `hostile::lies_are_refused_without_a_trace` |
//! | the same lists as loro | `cargo xtask bench merge --only lists`, since the product never compiles the peer |
//!
//! What a verifier read is `reads::completeness` of crate `image`, a crash in the middle of a commit its `merging_properties`.
//! That these tests would notice is checked by `cargo xtask soak --only mutants`.

#![allow(clippy::disallowed_methods, reason = "the number of cases comes from the environment")]
#![allow(clippy::disallowed_types, clippy::disallowed_macros, reason = "one test starts itself again, and that tells")]

mod exhaustive;
mod hostile;
#[path = "../scenarios/lab.rs"]
mod lab;
mod model;
mod protos;
mod script;
mod timeline;

use merge::*;
use model::Model;
use object::change::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use script::*;
use std::collections::BTreeMap;
use testkit::Random;

pub fn cases() -> ProptestConfig {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    ProptestConfig {
        cases: number("TELOS_CASES", 256) as u32,
        rng_seed: RngSeed::Fixed(number("TELOS_SEED", 1)),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    }
}

/// All that can be seen of the result.
fn result(lab: &lab::Lab) -> (BTreeMap<ObjectId, Creation>, Vec<Conflict>, Vec<Violation>) {
    (lab.image.objects(), lab.ledger.conflicts(), lab.ledger.violations())
}

/// Merges the dreams in this order, each whole.
fn merged(prepared: &Prepared, order: &[usize]) -> lab::Lab {
    let mut lab = prepared.lab.clone();
    let receipt = lab.next_time();
    for at in order {
        let dream = &prepared.authors[*at].dream;
        let bytes = encode(&dream.changes).expect("the journal can be written");
        let journal = decode(&bytes).expect("and read");
        take(&mut lab, dream.actor, &journal, receipt);
    }
    lab
}

fn take(lab: &mut lab::Lab, actor: ActorId, journal: &[Change], receipt: Time) -> Outcome {
    let outcome = lab.ledger.merge(actor, journal, receipt, &lab.image, &NoReconciler);
    let outcome = outcome.expect("the journal keeps to the rules");
    lab.image.take(&outcome).expect("the image can do what a merge asks for");
    outcome
}

/// Whether every dream comes after the one that it was forked inside of.
fn is_possible(order: &[usize], prepared: &Prepared) -> bool {
    let place = |actor| order.iter().position(|at| prepared.authors[*at].dream.actor == actor);
    order
        .iter()
        .enumerate()
        .all(|(at, author)| prepared.authors[*author].parent.is_none_or(|(parent, _)| place(parent) < Some(at)))
}

fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for next in 0..count {
        let longer = |order: &Vec<usize>| {
            (0..=order.len())
                .map(|at| {
                    let mut longer = order.clone();
                    longer.insert(at, next);
                    longer
                })
                .collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

proptest! {
    #![proptest_config(cases())]

    /// Commutative and associative.
    #[test]
    fn the_order_of_merges_does_not_matter(script in any_script()) {
        let prepared = prepare(&script);
        let mut orders = orders(prepared.authors.len()).into_iter().filter(|order| is_possible(order, &prepared));
        let first = result(&merged(&prepared, &orders.next().expect("there is one order at least")));
        for order in orders {
            prop_assert_eq!(&result(&merged(&prepared, &order)), &first, "{:?}", order);
        }
    }

    /// Idempotent, and incremental: journals in pieces, interleaved, and pieces that come twice.
    #[test]
    fn batching_and_duplication_do_not_matter(script in any_script(), seed in any::<u64>()) {
        let prepared = prepare(&script);
        let all: Vec<usize> = (0..prepared.authors.len()).collect();
        let expected = result(&merged(&prepared, &all));
        let mut lab = prepared.lab.clone();
        let receipt = lab.next_time();
        let mut random = Random::new(seed);
        for _ in 0..12 {
            let author = &prepared.authors[random.below(prepared.authors.len())];
            let dream = &author.dream;
            let upto = random.below(dream.changes.len() + 1);
            let mut parents = prepared.parents(author).into_iter().map(|(parent, seen)| (parent.dream.actor, seen));
            if let Some((parent, seen)) = parents.find(|(parent, seen)| lab.ledger.admitted(*parent) < *seen as u64) {
                let refused = lab.ledger.merge(dream.actor, &dream.changes, receipt, &lab.image, &NoReconciler);
                let expected = if dream.changes.is_empty() { Ok(Outcome::default()) } else {
                    Err(Refusal::ParentNotMerged(parent, seen as u64))
                };
                prop_assert_eq!(refused, expected);
                continue;
            }
            take(&mut lab, dream.actor, &dream.changes[..upto], receipt);
        }
        for author in &prepared.authors {
            take(&mut lab, author.dream.actor, &author.dream.changes, receipt);
            prop_assert_eq!(take(&mut lab, author.dream.actor, &author.dream.changes, receipt), Outcome::default());
        }
        prop_assert_eq!(result(&lab), expected);
    }

    /// Against the model that reads the result off the whole set.
    #[test]
    fn the_result_is_a_function_of_the_set(script in any_script()) {
        let prepared = prepare(&script);
        let all: Vec<usize> = (0..prepared.authors.len()).collect();
        let lab = merged(&prepared, &all);
        let receipt = prepared.lab.clone().next_time();
        let model = Model::new(&prepared, receipt);
        let cast = &prepared.cast;
        for ((object, field), value) in model.fields() {
            prop_assert_eq!(lab.image.field(object, &field), value, "{:?} {:?}", object, field);
        }
        let counter = lab.image.get(cast.counter).expect("it is there");
        prop_assert_eq!(counter.counter(&Datum::Nil), model.count(cast.counter));
        for (member, rest) in [(Datum::Nil, 3), (Datum::text("m"), 0)] {
            prop_assert_eq!(lab.image.occurrences(cast.bag, &member) as usize, model.occurrences(cast.bag, &member, rest));
        }
        let units = model.line(cast.text, Line::Units, 5);
        let bytes: Vec<u8> = units.iter().map(|entry| unit(&prepared, *entry)).collect();
        prop_assert_eq!(lab.image.elements(cast.text, Line::Units, 0, u64::MAX), Run::bytes(&bytes));
        let (list, items) = (lab::items(&lab.image, cast.list), model.line(cast.list, Line::Items, 4));
        prop_assert_eq!(list.len(), items.len());
        for (item, entry) in list.iter().zip(&items) {
            let set = model.item(cast.list, *entry);
            prop_assert_eq!(item, &set.unwrap_or_else(|| brought(&prepared, *entry)), "{:?}", entry);
        }
        for (object, protos) in model.protos(&cast.plain) {
            prop_assert_eq!(lab::protos(&lab.image, object), protos);
        }
    }

    /// What nobody else wrote to is as its author left it, without a conflict; what lost is named in one.
    #[test]
    fn no_write_is_lost(script in any_script()) {
        let prepared = prepare(&script);
        let all: Vec<usize> = (0..prepared.authors.len()).collect();
        let lab = merged(&prepared, &all);
        let conflicts = lab.ledger.conflicts();
        let model = Model::new(&prepared, prepared.lab.clone().next_time());
        for ((object, field), heads) in model.heads_of_fields() {
            let place = Place { object, position: Position::Field(field.clone()) };
            let found = conflicts.iter().filter(|conflict| conflict.place == place && conflict.status != Status::Superseded);
            let found: Vec<_> = found.collect();
            let shown = lab.image.field(object, &field);
            if heads.iter().all(|(_, value)| *value == heads[0].1) {
                prop_assert_eq!(&shown, &heads[0].1, "{:?}", place);
                prop_assert!(found.is_empty(), "{:?}", found);
                continue;
            }
            let [conflict] = found[..] else { panic!("one conflict for {place:?}, not {found:?}") };
            prop_assert_eq!(&shown, &conflict.shown);
            let siblings: Vec<_> = conflict.siblings.iter().map(|it| (it.change, it.value.clone())).collect();
            prop_assert_eq!(siblings, heads);
        }
    }

    /// The same for items that were set, as long as nobody deleted them.
    #[test]
    fn no_setting_is_lost(script in any_script()) {
        let prepared = prepare(&script);
        let all: Vec<usize> = (0..prepared.authors.len()).collect();
        let lab = merged(&prepared, &all);
        let conflicts = lab.ledger.conflicts();
        let model = Model::new(&prepared, prepared.lab.clone().next_time());
        for (index, entry) in model.line(prepared.cast.list, Line::Items, 4).into_iter().enumerate() {
            let place = Place { object: prepared.cast.list, position: Position::Item(index as u64) };
            let heads = model.heads_of_item(prepared.cast.list, entry);
            let mut found = conflicts.iter().filter(|conflict| conflict.place == place);
            let found = found.find(|conflict| conflict.status != Status::Superseded);
            let siblings: Vec<_> = found.iter().flat_map(|it| &it.siblings).map(|it| (it.change, it.value.clone())).collect();
            prop_assert_eq!(siblings, if heads.len() > 1 { heads } else { Vec::new() });
        }
    }

    #[test]
    fn references_lead_somewhere_and_protos_in_no_circle(script in any_script()) {
        let prepared = prepare(&script);
        let all: Vec<usize> = (0..prepared.authors.len()).collect();
        let lab = merged(&prepared, &all);
        prop_assert!(is_acyclic(&lab.image));
        for object in lab.image.objects().values() {
            let mut dangling = Vec::new();
            object.references(&mut |object| {
                if lab.image.presence(object) == Presence::Never {
                    dangling.push(object);
                }
            });
            prop_assert_eq!(dangling, Vec::<ObjectId>::new());
        }
    }

    /// Nothing depends on the seed of the hash tables, nor on the process.
    #[test]
    fn the_seed_of_the_tables_does_not_matter(script in any_script(), seed in any::<u64>()) {
        let outcomes = |seed| {
            let prepared = prepare_with_seed(&script, seed);
            let mut lab = prepared.lab.clone();
            let receipt = lab.next_time();
            let dreams = prepared.authors.iter().map(|author| &author.dream);
            dreams.map(|dream| take(&mut lab, dream.actor, &dream.changes, receipt)).collect::<Vec<_>>()
        };
        prop_assert_eq!(outcomes(7), outcomes(seed));
    }

    /// A dream alone leaves the image as it saw it itself.
    #[test]
    fn a_dream_alone_gets_all_it_did(steps in proptest::collection::vec(any_step(), 0..12), policy in 0..4u8) {
        let prepared = prepare(&alone(policy, steps));
        let lab = merged(&prepared, &[0]);
        prop_assert_eq!(lab.image.objects(), prepared.authors[0].view.objects());
        prop_assert_eq!(lab.ledger.conflicts(), vec![]);
    }

    /// A dream in a dream in a dream, each from where the one around it stopped, leaves what the innermost saw.
    #[test]
    fn a_dream_in_a_dream_goes_on_from_where_it_forked(
        stories in proptest::collection::vec((proptest::collection::vec(any_step(), 0..6), 0..4usize), 1..4),
        at_once in any::<bool>(),
    ) {
        let Prepared { mut lab, cast, .. } = prepare(&alone(0, Vec::new()));
        let mut authors: Vec<Author> = Vec::new();
        for (number, (steps, policy)) in stories.into_iter().enumerate() {
            let (actor, policy) = (number as u64 + 20, Policy::ALL[policy]);
            let mut author = match authors.last() {
                None => Author::new(&mut lab, actor, policy),
                Some(outer) => outer.inside(&mut lab, actor, policy),
            };
            steps.into_iter().for_each(|step| author.does(step, &cast));
            if !at_once {
                let receipt = lab.next_time();
                take(&mut lab, author.dream.actor, &author.dream.changes, receipt);
            }
            authors.push(author);
        }
        if at_once {
            let receipt = lab.next_time();
            authors.iter().for_each(|author| drop(take(&mut lab, author.dream.actor, &author.dream.changes, receipt)));
        }
        prop_assert_eq!(lab.image.objects(), authors[authors.len() - 1].view.objects());
        prop_assert_eq!(lab.ledger.conflicts(), vec![]);
        prop_assert_eq!(lab.ledger.violations(), vec![]);
    }

    /// Nobody notices that it was open, nor that it was merged.
    #[test]
    fn an_empty_dream_changes_nothing(script in any_script(), policy in 0..4usize) {
        let mut prepared = prepare(&script);
        let all: Vec<usize> = (0..prepared.authors.len()).collect();
        let expected = result(&merged(&prepared, &all));
        let (empty, time) = (ActorId(90), Time(0));
        prepared.lab.ledger.fork(empty, time, Policy::ALL[policy]).expect("the actor is new");
        prop_assert_eq!(take(&mut prepared.lab, empty, &[], time), Outcome::default());
        let mut lab = merged(&prepared, &all);
        prop_assert_eq!(take(&mut lab, empty, &[], time), Outcome::default());
        prop_assert_eq!(result(&lab), expected);
    }

    #[test]
    fn journals_come_back_as_they_were_written(script in any_script()) {
        for author in prepare(&script).authors {
            let bytes = encode(&author.dream.changes).expect("the journal can be written");
            let journal = decode(&bytes).expect("and read");
            prop_assert_eq!(encode(&journal), Ok(bytes));
            prop_assert_eq!(journal, author.dream.changes);
        }
    }

    /// Doing and undoing is doing nothing, but for objects that nobody refers to.
    #[test]
    fn undo_takes_back_what_nobody_contended(steps in proptest::collection::vec(any_step(), 0..12), policy in 0..4u8) {
        let prepared = prepare(&alone(policy, steps));
        let mut lab = merged(&prepared, &[0]);
        let time = lab.next_time();
        lab.ledger.fork_for_undo(ActorId(99), time, Policy::ForkWins).expect("the actor is new");
        let undo = lab.ledger.undo(&prepared.authors[0].dream.changes, &[], ActorId(99), time);
        let undo = decode(&encode(&undo).expect("an undo is a journal")).expect("like any other");
        let receipt = lab.next_time();
        take(&mut lab, ActorId(99), &undo, receipt);
        let after = lab.image.objects();
        for (object, before) in prepared.lab.image.objects() {
            prop_assert_eq!(&after[&object], &before, "{:?}", undo);
        }
    }
}

/// A number for all that a few merges said.
fn digest() -> u64 {
    let mut random = Random::new(3);
    let mut step = || {
        let [what, a, b, c] = [random.below(23), random.below(256), random.below(256), random.below(256)];
        Step { what: what as u8, a: a as u8, b: b as u8, c: c as u8 }
    };
    let story = |fork, policy, step: &mut dyn FnMut() -> Step| Story {
        fork,
        policy,
        steps: (0..12).map(|_| step()).collect(),
        inner: None,
    };
    let dreams = (0..4).map(|policy| story(policy * 2, policy, &mut step)).collect();
    let prepared = prepare(&Script { live: (0..8).map(|_| step()).collect(), dreams });
    let mut lab = prepared.lab.clone();
    let receipt = lab.next_time();
    let dreams = prepared.authors.iter().map(|author| &author.dream);
    let said: Vec<Outcome> = dreams.map(|dream| take(&mut lab, dream.actor, &dream.changes, receipt)).collect();
    let text = format!("{said:?} {:?}", result(&lab));
    text.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(1_000_003).wrapping_add(u64::from(byte)))
}

/// Where this is set, the digest is only to be told.
const TELL: &str = "TELOS_TELL_DIGEST";

#[test]
fn another_process_comes_to_the_same() {
    let digest = format!("digest {:016x}", digest());
    if std::env::var_os(TELL).is_some() {
        println!("{digest}");
        return;
    }
    let program = std::env::current_exe().expect("this test is a program");
    let mut command = std::process::Command::new(program);
    command.args(["another_process_comes_to_the_same", "--exact", "--nocapture"]).env(TELL, "1");
    let output = command.output().expect("it can be started again");
    assert!(String::from_utf8_lossy(&output.stdout).contains(&digest), "{output:?}");
}

fn find(prepared: &Prepared, id: ChangeId) -> &Change {
    let dreams = prepared.authors.iter().flat_map(|author| &author.dream.changes);
    let mut all = prepared.lab.done.iter().chain(dreams);
    all.find(|change| change.id == id).expect("the model names changes that are there")
}

/// The byte that an entry of the model stands for.
fn unit(prepared: &Prepared, (source, number): (Option<ChangeId>, u64)) -> u8 {
    let Some(id) = source else { return b"hello"[number as usize] };
    let Operation::Insert { run: Run::Units { bytes, .. }, .. } = &find(prepared, id).operation else {
        panic!("only insertions bring units")
    };
    bytes[number as usize]
}

/// The item that an entry of the model came as.
fn brought(prepared: &Prepared, (source, number): (Option<ChangeId>, u64)) -> Datum {
    let Some(id) = source else { return Datum::number(number as f64) };
    let Operation::Insert { run: Run::Items(items), .. } = &find(prepared, id).operation else {
        panic!("only insertions bring items")
    };
    items[number as usize].clone()
}
