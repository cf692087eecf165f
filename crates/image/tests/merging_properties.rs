//! What holds for all merges: the order of dreams does not count, an uncontended one can be taken back exactly, and a crash
//! leaves the image as it was before or after.

mod lab;

use image::{Arrival, Options};
use lab::bench::{Bench, at};
use lab::edits::{THINGS, edits, look};
use lab::{answer, cases, seed, try_open};
use merge::Policy;
use object::change::{ActorId, ChangeId, Datum, Line, ObjectId, Operation, Preds, Time};
use std::path::Path;
use store::{Checkpoints, IMAGE, LOG};
use tempfile::TempDir;
use testkit::Random;

/// A dream whose changes are of some time between its fork and now.
fn dream(bench: &mut Bench, random: &mut Random, source: &str) -> Arrival {
    let policy = Policy::ALL[random.below(4)];
    bench.dreams(source, policy)
}

fn some_time(bench: &mut Bench, random: &mut Random, mut dream: Arrival) -> Arrival {
    let now = bench.image().store().time();
    dream.receipt = Time(now.0 + 1 + random.below(3) as u64);
    let time = if random.below(2) == 0 { dream.forked } else { dream.receipt };
    at(dream, time)
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
}

/// What somebody does to the first objects, and sometimes to what they inherit from: the second may be below the first
/// then, or the first below the second. Nobody makes a circle that it sees, which could leave both with nothing else.
fn source(random: &mut Random) -> String {
    let edits = edits(random, 0);
    let (one, other) = [("o0", "o1"), ("o1", "o0")][random.below(2)];
    let link = match random.below(8) {
        0 => format!("{one} prependProto({other})"),
        1 => format!("{one} setProto({other})"),
        _ => return edits,
    };
    format!("{edits}; if({other} protos contains({one}), 1, {link}); 1")
}

/// Dreams, and what live did before and between and after them, and a bench for each order of merges.
struct Case {
    dreams: Vec<Arrival>,
    benches: Vec<Bench>,
    when: String,
}

impl Case {
    fn new(random: &mut Random, dreams: usize, orders: usize) -> Case {
        let mut bench = Bench::new(THINGS);
        let (mut arrivals, mut sources) = (Vec::new(), Vec::new());
        for _ in 0..dreams {
            let mut draw = |random: &mut Random| {
                sources.push(source(random));
                sources[sources.len() - 1].clone()
            };
            let source = draw(random);
            arrivals.push(dream(&mut bench, random, &source));
            if random.below(2) == 0 {
                bench.does(&draw(random));
            }
        }
        let dreams: Vec<Arrival> = arrivals.into_iter().map(|dream| some_time(&mut bench, random, dream)).collect();
        bench.image().store().checkpoint().expect("it can be applied");
        bench.closes();
        let copied = |_| {
            let directory = TempDir::new().expect("a directory");
            copy(bench.directory.path(), directory.path());
            Bench::of(directory)
        };
        let benches = (0..orders).map(copied).collect();
        let policies: Vec<Policy> = dreams.iter().map(|dream| dream.policy).collect();
        Case { dreams, benches, when: format!("{policies:?} {sources:#?}") }
    }

    /// Merges the dreams in one order, with a restart now and then.
    fn merges(&mut self, bench: usize, order: &[usize], random: &mut Random) -> [String; 2] {
        let (bench, when) = (&mut self.benches[bench], &self.when);
        for at in order {
            let merged = bench.tries(&self.dreams[*at]);
            merged.unwrap_or_else(|error| panic!("{order:?}, dream {at}: {error}: {when}"));
            if random.below(3) == 0 {
                bench.reopens();
            }
        }
        println!("{order:?} {when}");
        [0, 1].map(|which| bench.shows(&look(which)))
    }
}

/// Two dreams and what live did meanwhile; the image shows the same whichever is merged first, and the same again after a
/// restart in between.
#[test]
fn the_order_of_merges_does_not_count() {
    let seed = seed("merging_order");
    for number in 0..cases(25, 2000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let mut case = Case::new(&mut random, 2, 2);
        let one = case.merges(0, &[0, 1], &mut random);
        let other = case.merges(1, &[1, 0], &mut random);
        assert_eq!(one, other, "TELOS_SEED={seed}, case {number}: {}", case.when);
    }
}

/// With a third one, what the first two made of each other is told again.
#[test]
fn the_order_of_three_merges_does_not_count() {
    let seed = seed("merging_order_of_three");
    for number in 0..cases(10, 1000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_033).wrapping_add(number));
        let mut case = Case::new(&mut random, 3, 3);
        let first = case.merges(0, &[0, 1, 2], &mut random);
        for (bench, order) in [(1, [2, 0, 1]), (2, [1, 2, 0])] {
            let shown = case.merges(bench, &order, &mut random);
            assert_eq!(first, shown, "TELOS_SEED={seed}, case {number}, {order:?}: {}", case.when);
        }
    }
}

#[test]
fn an_uncontended_merge_taken_back_leaves_what_was() {
    let seed = seed("merging_undo");
    let mut bench = Bench::new(THINGS);
    for number in 0..cases(40, 3000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let which = random.below(2);
        let before = bench.shows(&look(which));
        let source = edits(&mut random, which);
        let dream = dream(&mut bench, &mut random, &source);
        bench.does(&edits(&mut random, 1 - which));
        let merged = bench.merges(&dream);
        let Some(commit) = merged.commit else { continue };
        let when = format!("TELOS_SEED={seed}, case {number}: {source}");
        bench.does(&edits(&mut random, 1 - which));
        let theirs = bench.shows(&look(1 - which));
        if random.below(3) == 0 {
            bench.reopens();
        }
        assert_eq!(bench.shows("Telos merges last status"), "merged", "{when}");
        assert_eq!(bench.reverts(commit), [""; 0], "{when}");
        assert_eq!(bench.shows(&look(which)), before, "{when}");
        assert_eq!(bench.shows(&look(1 - which)), theirs, "{when}");
        assert_eq!(bench.shows("Telos merges last status"), "undone", "{when}");
    }
}

/// Each writes over what the ones before it left, and they are taken back in any order.
#[test]
fn merges_taken_back_in_any_order_leave_what_was() {
    let seed = seed("merging_undo_order");
    let mut bench = Bench::new(THINGS);
    for number in 0..cases(30, 3000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_037).wrapping_add(number));
        let (mut commits, mut sources) = (Vec::new(), Vec::new());
        let before = bench.shows(&look(0));
        for _ in 0..2 + random.below(2) {
            sources.push(edits(&mut random, 0));
            let dream = bench.dreams(&sources[sources.len() - 1], Policy::ForkWins);
            commits.extend(bench.merges(&dream).commit);
        }
        let mut order = Vec::new();
        while !commits.is_empty() {
            order.push(commits.remove(random.below(commits.len())));
        }
        let when = format!("TELOS_SEED={seed}, case {number}: {order:?} {sources:#?}");
        for commit in &order {
            bench.reverts(*commit);
        }
        assert_eq!(bench.shows(&look(0)), before, "{when}");
        let statuses = format!("Telos merges slice(-{}) map(status) unique join(\" \")", order.len());
        assert_eq!(bench.shows(&statuses), "undone", "{when}");
    }
}

/// A journal is hostile: whatever is in there, it is merged or refused, and the image goes on whole.
#[test]
fn no_forged_journal_harms_the_image() {
    let seed = seed("merging_forged");
    let mut bench = Bench::new(THINGS);
    let (mut merged, mut refused) = (0, 0);
    for number in 0..cases(150, 20_000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_039).wrapping_add(number));
        let source = source(&mut random);
        let mut dream = dream(&mut bench, &mut random, &source);
        if random.below(2) == 0 {
            bench.does(&edits(&mut random, 0));
        }
        for _ in 0..1 + random.below(4) {
            forge(&mut dream, &mut random);
        }
        let before = [0, 1].map(|which| bench.shows(&look(which)));
        let when = format!("TELOS_SEED={seed}, case {number}: {:#?}", dream.changes);
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| bench.tries(&dream)));
        match tried.unwrap_or_else(|_| panic!("it panicked: {when}")) {
            Ok(done) => {
                merged += 1;
                // What a program may do to its own protos, a forger may do too; the next case begins anew.
                if let Some(commit) = done.commit {
                    bench.reverts(commit);
                }
                let report = bench.image().store().check(&mut |_| ()).expect("it can be checked");
                assert!(report.is_clean(), "{:?}: {when}", report.findings);
                bench = Bench::new(THINGS);
            }
            Err(_) => {
                refused += 1;
                assert_eq!([0, 1].map(|which| bench.shows(&look(which))), before, "{when}");
            }
        }
    }
    assert!(merged > 0 && refused > 0, "{merged} merged, {refused} refused");
}

/// Makes a journal another one that no machine would write.
fn forge(dream: &mut Arrival, random: &mut Random) {
    let count = dream.changes.len();
    if count == 0 {
        return;
    }
    let at = random.below(count);
    let other = dream.changes[random.below(count)].clone();
    let some_id = |random: &mut Random, own: ActorId| {
        let actor = [own, store::LIVE_ACTOR, ActorId(3)][random.below(3)];
        ChangeId::new(actor, random.below(count + 3) as u64)
    };
    let actor = dream.actor;
    let change = &mut dream.changes[at];
    match random.below(9) {
        0 => change.object = other.object,
        1 => change.object = ObjectId::minted(some_id(random, actor)),
        2 => change.operation = other.operation,
        3 => change.preds = Preds::Named((0..random.below(3)).map(|_| some_id(random, actor)).collect()),
        4 => change.time = Time(random.next()),
        5 => drop(dream.changes.remove(at)),
        6 => dream.changes.insert(at, other),
        _ => forge_operation(&mut change.operation, random, |random| {
            Datum::Object(ObjectId::minted(some_id(random, actor)))
        }),
    }
    for (change, seq) in dream.changes.iter_mut().zip(1..) {
        change.id = ChangeId::new(actor, seq);
    }
}

fn forge_operation(operation: &mut Operation, random: &mut Random, object: impl Fn(&mut Random) -> Datum) {
    let number = [0, 1, 7, 1 << 40, u64::MAX][random.below(5)];
    match operation {
        Operation::Put { value, .. } | Operation::Set { value, .. } => *value = object(random),
        Operation::Insert { index, .. } => *index = number,
        Operation::Delete { count, .. } => *count = number,
        Operation::Create(creation) => {
            creation.kind = random.below(20) as u32;
            creation.protos.extend(if let Datum::Object(proto) = object(random) { Some(proto) } else { None });
        }
        operation => {
            let line = [Line::Items, Line::Protos, Line::Units][random.below(3)];
            *operation = Operation::Move { line, from: number, to: number };
        }
    }
}

/// The log as it is when the power fails after so many bytes of the merge's frame.
#[test]
fn a_crash_at_any_byte_of_the_commit_leaves_the_old_image_or_the_new_one() {
    let mut bench = Bench::new("A := Object clone do(x := 1); items := list(1); 1");
    let dream = bench.dreams("A x = 3; items append(2); made := Object clone do(y := 4); 1", Policy::KeepBoth);
    bench.does("A x = 2");
    bench.image().store().checkpoint().expect("it can be applied");
    bench.closes();
    let options = Options {
        store: store::Options { checkpoints: Checkpoints::OnRequest, ..store::Options::default() },
        ..Options::default()
    };
    bench.opens_with(&options);
    let look = "list(A x, items size, Lobby hasLocalSlot(\"made\"), Lobby hasLocalSlot(\"Telos\")) join(\" \")";
    bench.does("Lobby last := 1");
    let path = bench.directory.path().join(LOG);
    let before = std::fs::read(&path).expect("the log");
    let image = std::fs::read(bench.directory.path().join(IMAGE)).expect("the image");
    bench.merges(&dream);
    let after = std::fs::read(&path).expect("the log");
    assert_eq!(std::fs::read(bench.directory.path().join(IMAGE)).expect("the image"), image);
    bench.closes();
    let differs: Vec<usize> = (0..after.len()).filter(|at| before.get(*at) != after.get(*at)).collect();
    let (first, last) = (differs[0], differs[differs.len() - 1]);
    let step = (last - first).div_ceil(cases(60, 100_000)).max(1);
    let (mut old, mut new) = (0, 0);
    for cut in (first..=last).step_by(step).chain([last + 1]) {
        let directory = TempDir::new().expect("a directory");
        copy(bench.directory.path(), directory.path());
        let log = [&after[..cut], &before[cut..]].concat();
        std::fs::write(directory.path().join(LOG), log).expect("the log is written");
        std::fs::write(directory.path().join(IMAGE), &image).expect("the image is written");
        let mut image = try_open(directory.path(), &options).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        match &*answer(&mut image, look) {
            "2 1 false false" => old += 1,
            "2 2 true true" => new += 1,
            other => panic!("cut at {cut}: {other}"),
        }
    }
    assert!(old > 0 && new > 0, "{old} old, {new} new");
}
