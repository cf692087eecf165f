//! What is committed comes back: random writes in transactions, some of which are rolled back, with objects taken out of
//! memory and the whole heap made anew in between. The same graph must be seen from the root at every moment.

mod graph;
mod shelf;
mod step;

use graph::picture;
use proptest::prelude::*;
use shelf::Shelf;
use step::{Step, steps};

#[allow(clippy::disallowed_methods, reason = "how many cases to run is the tester's choice")]
fn config() -> ProptestConfig {
    let cases = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_committed_comes_back(steps in steps(80)) {
        let mut shelf = Shelf::new();
        let mut committed = picture(&shelf.heap, shelf.root);
        for step in &steps {
            match step {
                Step::Commit => {
                    shelf.commit();
                    committed = picture(&shelf.heap, shelf.root);
                }
                Step::RollBack => {
                    shelf.roll_back();
                    prop_assert_eq!(&picture(&shelf.heap, shelf.root), &committed);
                }
                Step::Reopen => {
                    shelf.reopen();
                    prop_assert_eq!(&picture(&shelf.heap, shelf.root), &committed);
                    shelf.hold_all();
                }
                _ => shelf.apply(step),
            }
            prop_assert_eq!(shelf.heap.take_failure(), None);
        }
        shelf.commit();
        let before = picture(&shelf.heap, shelf.root);
        shelf.reopen();
        prop_assert_eq!(picture(&shelf.heap, shelf.root), before);
    }

    /// A batch of changes says what is new and what is different, and nothing else.
    #[test]
    fn a_transaction_that_changed_nothing_has_no_changes(steps in steps(60)) {
        let mut shelf = Shelf::new();
        steps.iter().filter(|step| !step.is_boundary()).for_each(|step| shelf.apply(step));
        shelf.commit();
        shelf.touch_everything();
        prop_assert_eq!(shelf.commit(), 0);
    }
}

#[test]
fn an_object_that_is_nowhere_is_an_error() {
    let mut shelf = Shelf::new();
    let lost = shelf.heap.mint();
    shelf.identities.bind(lost, shelf.next_id());
    assert_eq!(shelf.heap.object(lost).kind(), object::Kind::Object);
    let failure = shelf.heap.take_failure().expect("the record is missing");
    assert!(failure.contains("is referred to, but not in the image"), "{failure}");
}
