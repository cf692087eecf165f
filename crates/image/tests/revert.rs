//! One commit taken back: what it did is undone, what others did since stays, and where both wrote is told.

mod lab;

use image::{Cause, Image, ImageError};
use lab::edits::{THINGS, edits, look};
use lab::{answer, cases, create, open, seed};
use tempfile::TempDir;
use testkit::Random;

struct Bench {
    directory: TempDir,
    image: Option<Image>,
}

impl Bench {
    fn new(state: &str) -> Bench {
        let directory = TempDir::new().expect("a directory");
        let image = Some(create(directory.path()));
        let mut bench = Bench { directory, image };
        bench.does(state);
        bench
    }

    fn image(&mut self) -> &mut Image {
        self.image.as_mut().expect("it is open")
    }

    /// The number of the commit that came of it.
    fn does(&mut self, source: &str) -> u64 {
        answer(self.image(), source);
        self.image().store().last_commit()
    }

    fn shows(&mut self, source: &str) -> String {
        answer(self.image(), source)
    }

    /// Which places were left alone.
    fn reverts(&mut self, commit: u64) -> Vec<String> {
        let reverted = self.image().revert(commit, &Cause::default()).expect("it can be taken back");
        if let Some(ticket) = reverted.ticket {
            self.image().wait(ticket).expect("it is durable");
        }
        reverted.contended.into_iter().map(|(_, place)| place).collect()
    }

    fn reopens(&mut self) {
        self.image.take().expect("it is open").close().expect("it closes");
        self.image = Some(open(self.directory.path()));
    }
}

/// Does something, takes it back, and looks, in this process and in the next; with the log applied or not.
fn comes_back(state: &str, doing: &str, look: &str) {
    for applied in [false, true] {
        let mut bench = Bench::new(state);
        let before = bench.shows(look);
        let commit = bench.does(doing);
        assert_ne!(bench.shows(look), before, "{doing}");
        if applied {
            bench.image().store().checkpoint().expect("it can be applied");
        }
        assert_eq!(bench.reverts(commit), [""; 0], "{doing}");
        assert_eq!(bench.shows(look), before, "{doing}");
        bench.reopens();
        assert_eq!(bench.shows(look), before, "{doing}, reopened");
    }
}

#[test]
fn a_slot_comes_back() {
    comes_back("x := 1", "x = 2", "x");
    comes_back("x := 1", "y := 2", "list(x, hasSlot(\"y\"))");
    comes_back("x := 1", "removeSlot(\"x\")", "hasSlot(\"x\")");
    comes_back("greet := method(\"hello\"); 1", "greet = method(\"goodbye\"); 1", "greet");
    comes_back(
        "greet := method(\"hello\"); 1",
        "getSlot(\"greet\") message setName(\"nil\"); 1",
        "getSlot(\"greet\") code",
    );
}

#[test]
fn the_edits_of_a_list_come_back() {
    let state = "items := list(1, 2, 3, 4, 5); 1";
    for doing in [
        "items append(6); 1",
        "items removeAt(1); 1",
        "items atInsert(2, 9); 1",
        "items atPut(0, 7); items atPut(4, 8); 1",
        "items sortInPlaceBy(block(a, b, a > b)); 1",
        "items removeAll; 1",
        "items removeAt(0); items append(list(7)); items atPut(1, nil); 1",
        "items = list(); 1",
    ] {
        comes_back(state, doing, "items");
    }
    let long = "items := list(); 500 repeat(i, items append(i)); 1";
    comes_back(long, "items removeAt(250); items atInsert(3, \"new\"); items append(9); 1", "items");
}

#[test]
fn the_edits_of_a_map_come_back() {
    let state = "phone := Map clone atPut(\"a\", 1) atPut(\"b\", 2); 1";
    for doing in ["phone atPut(\"a\", 5); 1", "phone atPut(\"c\", 5); 1", "phone removeAt(\"b\"); 1", "phone empty; 1"]
    {
        comes_back(state, doing, "phone keys sort map(key, list(key, phone at(key)))");
    }
}

#[test]
fn the_edits_of_a_sequence_come_back() {
    let state = "text := \"hello world\" asMutable; 1";
    for doing in [
        "text appendSeq(\"!\"); 1",
        "text replaceSeq(\"world\", \"there\"); 1",
        "text removeSlice(0, 4); 1",
        "text atPut(0, 72); 1",
        "text setSize(0); 1",
        // Units of another width: the kernel cannot say this, the history can.
        "text appendSeq(\"é\"); 1",
        "text setItemType(\"uint16\"); 1",
    ] {
        comes_back(state, doing, "text asString .. text itemType");
    }
}

#[test]
fn an_object_that_was_made_is_let_go() {
    comes_back(
        "kept := list(); 1",
        "made := Object clone do(x := 1); kept append(made); 1",
        "list(kept, hasSlot(\"made\"))",
    );
}

#[test]
fn protos_and_what_an_object_became_come_back() {
    let state = "A := Object clone do(x := 1); B := Object clone do(x := 2); o := A clone; 1";
    comes_back(state, "o setProto(B); 1", "o x");
    comes_back(state, "o appendProto(B); 1", "o protos size");
    comes_back(state, "A setProtos(list(B, Object)); 1", "A protos size .. (A protos first == B)");
    comes_back("o := list(1, 2); 1", "o become(Map clone atPut(\"a\", 1)); 1", "o type .. o size");
    comes_back("o := Object clone; 1", "o become(list(1, 2)); 1", "o type");
}

#[test]
fn a_revert_can_be_reverted() {
    let mut bench = Bench::new("x := 1; items := list(1, 2, 3); phone := Map clone atPut(\"a\", 1); 1");
    let look = "list(x, items, phone at(\"a\"), phone at(\"b\"))";
    let before = bench.shows(look);
    let commit = bench.does("x = 2; items append(4); items removeAt(0); phone atPut(\"a\", 2) atPut(\"b\", 3); 1");
    let after = bench.shows(look);
    let mut last = commit;
    for expected in [&before, &after, &before, &after] {
        assert_eq!(bench.reverts(last), [""; 0]);
        last = bench_last(&mut bench);
        assert_eq!(bench.shows(look), **expected);
        bench.reopens();
        assert_eq!(bench.shows(look), **expected);
    }
}

fn bench_last(bench: &mut Bench) -> u64 {
    bench.image().store().last_commit()
}

#[test]
fn a_slot_that_was_written_since_is_left_alone_and_told() {
    let mut bench = Bench::new("a := 1; b := 1; phone := Map clone atPut(\"k\", 1); 1");
    let commit = bench.does("a = 2; b = 2; phone atPut(\"k\", 2); 1");
    bench.does("b = 3; phone atPut(\"k\", 3); 1");
    assert_eq!(bench.reverts(commit), ["slot \"b\"", "key \"k\""]);
    assert_eq!(bench.shows("list(a, b, phone at(\"k\"))"), "list(1, 3, 3)");
    bench.reopens();
    assert_eq!(bench.shows("list(a, b, phone at(\"k\"))"), "list(1, 3, 3)");
}

/// Others' elements stay where they are; only the commit's own go, and those that it took out come back.
#[test]
fn a_list_that_was_edited_since_keeps_what_others_did() {
    let mut bench = Bench::new("items := list(\"a\", \"b\", \"c\"); 1");
    let commit = bench.does("items atInsert(1, \"mine\"); items remove(\"c\"); 1");
    bench.does("items append(\"yours\"); items atInsert(0, \"first\"); 1");
    assert_eq!(bench.reverts(commit), [""; 0]);
    assert_eq!(bench.shows("items join(\" \")"), "first a b yours c");
}

#[test]
fn an_item_that_was_set_since_is_left_alone_and_told() {
    let mut bench = Bench::new("items := list(1, 2, 3, 4, 5); 1");
    let commit = bench.does("items atPut(1, 20); items atPut(3, 40); 1");
    bench.does("items atPut(3, 44); 1");
    assert_eq!(bench.reverts(commit), ["item 3"]);
    assert_eq!(bench.shows("items"), "list(1, 2, 3, 44, 5)");
    let commit = bench.does("items append(6); 1");
    bench.does("items atPut(5, 66); 1");
    assert_eq!(bench.reverts(commit), ["items"]);
    assert_eq!(bench.shows("items"), "list(1, 2, 3, 44, 5, 66)");
}

#[test]
fn what_became_another_kind_and_was_touched_since_is_left_alone_and_told() {
    let mut bench = Bench::new("o := list(1, 2); 1");
    let commit = bench.does("o become(Map clone atPut(\"a\", 1)); 1");
    bench.does("o atPut(\"b\", 2); 1");
    assert_eq!(bench.reverts(commit), ["content"]);
    assert_eq!(bench.shows("o size"), "2");
}

/// Two proto changes that nobody would have made together.
#[test]
fn a_revert_closes_no_circle_of_protos() {
    let mut bench = Bench::new("A := Object clone; B := Object clone; A setProto(B); 1");
    let commit = bench.does("A setProto(Object); 1");
    bench.does("B setProto(A); 1");
    let left = bench.reverts(commit);
    assert!(left.len() == 1 && left[0].starts_with("protos, which would lead back"), "{left:?}");
    assert_eq!(bench.shows("A proto == Object and B proto == A"), "true");
}

/// The Lobby inherits from what inherits from Object, and Object from the Lobby.
#[test]
fn a_revert_restores_a_ring_that_was_there_before() {
    let look = "list(Lobby protos size, Object proto isIdenticalTo(Lobby))";
    let mut bench = Bench::new("A := Object clone; 1");
    let before = bench.shows(look);
    for breaking in ["Lobby removeAllProtos; 1", "Object setProtos(list(nil)); 1"] {
        let commit = bench.does(breaking);
        assert!(bench.reverts(commit).is_empty(), "{breaking}");
        assert_eq!(bench.shows(look), before, "{breaking}");
        bench.reopens();
        assert_eq!(bench.shows(look), before, "{breaking}");
    }
}

/// It looked through a history of any length, and nobody could stop it.
#[test]
fn a_revert_can_be_interrupted_and_changes_nothing_then() {
    let mut bench = Bench::new("a := 1");
    let commit = bench.does("a = 2");
    bench.does("b := 3");
    bench.image().vm().interrupt().set();
    let interrupted = bench.image().revert(commit, &Cause::default());
    assert!(matches!(interrupted, Err(ImageError::Interrupted)));
    assert_eq!(bench.shows("a"), "2");
    assert!(bench.reverts(commit).is_empty());
    assert_eq!(bench.shows("a"), "1");
}

// ---- random

/// A commit taken back leaves what was before it, whatever was done since to other objects; and what was done since stays.
#[test]
fn an_uncontended_commit_taken_back_leaves_what_was() {
    let seed = seed("revert");
    let mut bench = Bench::new(THINGS);
    for number in 0..cases(60, 5000) as u64 {
        let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        let which = random.below(2);
        bench.does(&edits(&mut random, which));
        bench.does(&edits(&mut random, 1 - which));
        let before = bench.shows(&look(which));
        let last = bench.image().store().last_commit();
        let source = edits(&mut random, which);
        let commit = bench.does(&source);
        let after = bench.shows(&look(which));
        for _ in 0..random.below(3) {
            bench.does(&edits(&mut random, 1 - which));
        }
        let theirs = bench.shows(&look(1 - which));
        match random.below(4) {
            0 => bench.image().store().checkpoint().expect("it can be applied"),
            1 => bench.reopens(),
            _ => {}
        }
        let when = format!("TELOS_SEED={seed}, case {number}: {source}");
        if commit == last {
            continue;
        }
        assert_eq!(bench.reverts(commit), [""; 0], "{when}");
        assert_eq!(bench.shows(&look(which)), before, "{when}");
        assert_eq!(bench.shows(&look(1 - which)), theirs, "{when}");
        if before != after {
            let taken_back = bench_last(&mut bench);
            assert_eq!(bench.reverts(taken_back), [""; 0], "{when}");
            assert_eq!(bench.shows(&look(which)), after, "{when}, and taken back again");
        }
    }
}
