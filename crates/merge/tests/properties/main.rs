//! The properties of the merge, over scripts of live and several dreams. Case counts come from `TELOS_CASES`.

#![allow(clippy::disallowed_methods, reason = "the number of cases comes from the environment")]

mod exhaustive;
#[path = "../scenarios/lab.rs"]
mod lab;
mod model;
mod script;
mod timeline;

use merge::*;
use model::Model;
use object::change::*;
use proptest::prelude::*;
use script::*;
use std::collections::BTreeMap;
use testkit::Random;

pub fn cases() -> ProptestConfig {
    let cases = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}

/// All that can be seen of the result.
fn result(lab: &lab::Lab) -> (BTreeMap<ObjectId, Thing>, Vec<Conflict>, Vec<Violation>) {
    let things = lab.image.things().into_iter().map(|(object, thing)| (object, thing.clone())).collect();
    (things, lab.ledger.conflicts(), lab.ledger.violations())
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
    lab.image.take(&outcome);
    outcome
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
        let mut orders = orders(prepared.authors.len()).into_iter();
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
            let dream = &prepared.authors[random.below(prepared.authors.len())].dream;
            let upto = random.below(dream.changes.len() + 1);
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
        let bag = lab.image.get(cast.bag).expect("it is there");
        prop_assert_eq!(bag.counter(&Datum::Nil), model.count(cast.bag));
        for (member, rest) in [(Datum::Nil, 3), (Datum::text("m"), 0)] {
            prop_assert_eq!(lab.image.occurrences(cast.bag, &member) as usize, model.occurrences(cast.bag, &member, rest));
        }
        let text = lab.image.get(cast.text).expect("it is there");
        let units = model.line(cast.text, Line::Units, 5);
        prop_assert_eq!(text.units().len(), units.len());
        prop_assert_eq!(text.units(), &units.iter().map(|entry| unit(&prepared, *entry)).collect::<Vec<u8>>());
        let list = lab.image.get(cast.list).expect("it is there");
        let items = model.line(cast.list, Line::Items, 4);
        prop_assert_eq!(list.items().len(), items.len());
        for (item, entry) in list.items().iter().zip(&items) {
            let is_set = matches!(item, Datum::Number(number) if *number >= 1000.0);
            prop_assert!(is_set || *item == brought(&prepared, *entry), "{:?}", (item, entry));
        }
    }

    /// What nobody else wrote to is as its author left it; what lost is named in a conflict.
    #[test]
    fn no_write_is_lost(script in any_script()) {
        let prepared = prepare(&script);
        let all: Vec<usize> = (0..prepared.authors.len()).collect();
        let lab = merged(&prepared, &all);
        let conflicts = lab.ledger.conflicts();
        for author in &prepared.authors {
            for change in &author.dream.changes {
                let Operation::Put { field, .. } = &change.operation else { continue };
                let left = author.view.field(change.object, field);
                let place = Place { object: change.object, position: Position::Field(field.clone()) };
                let recovered = conflicts.iter().filter(|conflict| conflict.place == place);
                let is_recovered = recovered.flat_map(|conflict| &conflict.siblings).any(|sibling| sibling.value == left);
                prop_assert!(lab.image.field(change.object, field) == left || is_recovered, "{:?} {:?}", change, left);
            }
        }
    }

    #[test]
    fn references_lead_somewhere_and_protos_in_no_circle(script in any_script()) {
        let prepared = prepare(&script);
        let all: Vec<usize> = (0..prepared.authors.len()).collect();
        let lab = merged(&prepared, &all);
        prop_assert!(is_acyclic(&lab.image));
        for thing in lab.image.things().values() {
            let values = thing.fields.iter().map(|(_, value)| value).chain(thing.items()).chain(thing.protos());
            let mut dangling = Vec::new();
            values.for_each(|value| value.references(&mut |object| {
                if lab.image.presence(object) == Presence::Never {
                    dangling.push(object);
                }
            }));
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
        let script = Script { live: Vec::new(), dreams: vec![(0, policy, steps)] };
        let prepared = prepare(&script);
        let lab = merged(&prepared, &[0]);
        prop_assert_eq!(lab.image.things(), prepared.authors[0].view.things());
        prop_assert_eq!(lab.ledger.conflicts(), vec![]);
    }

    /// Doing and undoing is doing nothing, but for objects that nobody refers to.
    #[test]
    fn undo_takes_back_what_nobody_contended(steps in proptest::collection::vec(any_step(), 0..12), policy in 0..4u8) {
        let script = Script { live: Vec::new(), dreams: vec![(0, policy, steps)] };
        let prepared = prepare(&script);
        let mut lab = merged(&prepared, &[0]);
        let time = lab.next_time();
        lab.ledger.fork_for_undo(ActorId(99), time, Policy::ForkWins).expect("the actor is new");
        let undo = lab.ledger.undo(&prepared.authors[0].dream.changes, ActorId(99), time);
        let undo = decode(&encode(&undo).expect("an undo is a journal")).expect("like any other");
        let receipt = lab.next_time();
        take(&mut lab, ActorId(99), &undo, receipt);
        for (object, before) in prepared.lab.image.things() {
            let after = lab.image.get(object).expect("nothing was deleted");
            prop_assert_eq!(after, before, "{:?}", undo);
        }
    }
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
