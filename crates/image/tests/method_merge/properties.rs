//! Properties of any trees: what one side did alone is done, which side is which does not matter, and nothing new is lost.

use image::reconcile::{Chain, Found, Head, Origin, Shell, Tree, three_way};
use object::change::{Datum, Text};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeMap;

/// Code as nested lists: chains of statements of messages. A name of none ends a line.
#[derive(Clone, Debug)]
struct Code {
    name: &'static str,
    arguments: Vec<Vec<Vec<Code>>>,
}

const NAMES: &[&str] = &["a", "b", "c", "d", "setSlot", "return", "self", "x"];

fn chains() -> impl Strategy<Value = Vec<Vec<Code>>> {
    let leaf = proptest::sample::select(NAMES).prop_map(|name| Code { name, arguments: Vec::new() });
    let code = leaf.prop_recursive(3, 24, 4, |inner| {
        let chain = vec(vec(inner, 1..3), 1..3);
        (proptest::sample::select(NAMES), vec(chain, 0..3)).prop_map(|(name, arguments)| Code { name, arguments })
    });
    vec(vec(code, 1..4), 1..7)
}

/// What is found one after the other: a message or an end of line, from a place in a chain.
#[derive(Clone, Copy)]
struct Spot<'c> {
    chain: &'c [Vec<Code>],
    statement: usize,
    message: usize,
    is_end: bool,
}

fn tree(chain: &[Vec<Code>], label: &str) -> Tree {
    let start = |chain| Spot { chain, statement: 0, message: 0, is_end: false };
    let grown = Tree::grow(start(chain), |spot| {
        let Spot { chain, statement, message, is_end } = spot;
        let code = &chain[statement][message];
        let next = if is_end {
            Some(Spot { statement: statement + 1, message: 0, is_end: false, ..spot })
        } else if message + 1 < chain[statement].len() {
            Some(Spot { message: message + 1, ..spot })
        } else if statement + 1 < chain.len() {
            Some(Spot { is_end: true, ..spot })
        } else {
            None
        };
        let name = Text::from(if is_end { ";" } else { code.name });
        let arguments = if is_end { Vec::new() } else { code.arguments.iter().map(|chain| start(chain)).collect() };
        let origin = Origin { label: Datum::text(label), line: Datum::Nil, column: Datum::Nil };
        Some(Found { head: Head { name, value: Datum::Absent, shell: Shell::default() }, origin, arguments, next })
    });
    grown.expect("it is a tree")
}

#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, Vec<Code>),
    Delete(Index),
    Replace(Index, Vec<Code>),
    Rename(Index, Index, &'static str),
    Swap(Index, Index),
    /// The first argument of a message.
    Inside(Index, Index, Vec<Vec<Code>>),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let statement = || chains().prop_map(|mut chain| chain.remove(0));
    let at = any::<Index>;
    vec(
        prop_oneof![
            (at(), statement()).prop_map(|(at, statement)| Edit::Insert(at, statement)),
            at().prop_map(Edit::Delete),
            (at(), statement()).prop_map(|(at, statement)| Edit::Replace(at, statement)),
            (at(), at(), proptest::sample::select(NAMES))
                .prop_map(|(at, message, name)| Edit::Rename(at, message, name)),
            (at(), at()).prop_map(|(left, right)| Edit::Swap(left, right)),
            (at(), at(), chains()).prop_map(|(at, message, chain)| Edit::Inside(at, message, chain)),
        ],
        0..3,
    )
}

fn edited(base: &[Vec<Code>], edits: &[Edit]) -> Vec<Vec<Code>> {
    let mut chain = base.to_vec();
    for edit in edits {
        let count = chain.len();
        match edit {
            Edit::Insert(at, statement) => chain.insert(at.index(count + 1), statement.clone()),
            Edit::Delete(at) if count > 1 => drop(chain.remove(at.index(count))),
            Edit::Delete(_) => {}
            Edit::Replace(at, statement) => chain[at.index(count)] = statement.clone(),
            Edit::Rename(at, message, name) => {
                let statement = &mut chain[at.index(count)];
                let message = message.index(statement.len());
                statement[message].name = name;
            }
            Edit::Swap(left, right) => chain.swap(left.index(count), right.index(count)),
            Edit::Inside(at, message, inside) => {
                let statement = &mut chain[at.index(count)];
                let message = message.index(statement.len());
                statement[message].arguments.truncate(1);
                statement[message].arguments.insert(0, inside.clone());
            }
        }
    }
    chain
}

/// How often each statement of the body is there.
fn statements(tree: &Tree) -> BTreeMap<String, usize> {
    fn chain(tree: &Tree, statements: &Chain) -> String {
        statements.iter().map(|ids| statement(tree, ids) + ";").collect()
    }
    fn statement(tree: &Tree, ids: &[usize]) -> String {
        let message = |&id: &usize| {
            let message = &tree.messages()[id];
            let arguments: String = message.arguments.iter().map(|each| chain(tree, each) + ",").collect();
            format!("{}({arguments}) ", message.head.name)
        };
        ids.iter().map(message).collect()
    }
    let mut found = BTreeMap::new();
    tree.root().iter().for_each(|ids| *found.entry(statement(tree, ids)).or_default() += 1);
    found
}

#[allow(clippy::disallowed_methods, reason = "how many cases to run is the tester's choice")]
fn config() -> ProptestConfig {
    let cases = std::env::var("TELOS_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_one_side_did_alone_is_done(base in chains(), side in edits()) {
        let side = tree(&edited(&base, &side), "side");
        let (base, untouched) = (tree(&base, "base"), tree(&base, "other"));
        for (one, other) in [(&side, &base), (&base, &side), (&side, &side), (&side, &untouched)] {
            prop_assert!(three_way(&base, one, other).is_some_and(|merged| merged.same_code(&side)));
        }
    }

    #[test]
    fn any_three_trees_are_merged_or_not_whichever_side_is_which(base in chains(), one in chains(), other in chains()) {
        let (base, one, other) = (tree(&base, "base"), tree(&one, "one"), tree(&other, "other"));
        prop_assert_eq!(three_way(&base, &one, &other), three_way(&base, &other, &one));
    }

    #[test]
    fn edits_are_merged_or_not_whichever_side_is_which(base in chains(), one in edits(), other in edits()) {
        let (one, other) = (tree(&edited(&base, &one), "one"), tree(&edited(&base, &other), "other"));
        let base = tree(&base, "base");
        prop_assert_eq!(three_way(&base, &one, &other), three_way(&base, &other, &one));
    }

    /// Where both sides only add, all that they added is in the result, and all that was there.
    #[test]
    fn nothing_new_is_lost(base in chains(), one in edits(), other in edits()) {
        let only_new = |edits: Vec<Edit>| -> Vec<Edit> {
            edits.into_iter().filter(|edit| matches!(edit, Edit::Insert(..))).collect()
        };
        let sides = [tree(&edited(&base, &only_new(one)), "one"), tree(&edited(&base, &only_new(other)), "other")];
        if let Some(merged) = three_way(&tree(&base, "base"), &sides[0], &sides[1]) {
            let merged = statements(&merged);
            for (statement, count) in sides.iter().flat_map(statements) {
                prop_assert!(merged.get(&statement).is_some_and(|found| *found >= count), "{statement} is lost");
            }
        }
    }

    /// A statement that only one side has, and that it did not make of another, is in the result.
    #[test]
    fn a_new_first_statement_of_one_side_survives_whatever_the_other_does(base in chains(), other in edits()) {
        let mut one = base.clone();
        one.insert(0, vec![Code { name: "new", arguments: Vec::new() }]);
        let one = tree(&one, "one");
        let other = tree(&edited(&base, &other), "other");
        if let Some(merged) = three_way(&tree(&base, "base"), &one, &other) {
            prop_assert!(merged.messages().iter().any(|message| message.head.name == Text::from("new")));
        }
    }
}
