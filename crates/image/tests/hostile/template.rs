//! An image with something of everything in it, and copies of it in which some records were made worse.

use crate::lab::{answer, create, open};
use crate::mutate::Mutator;
use crate::options;
use object::change::{
    ActorId, Change, ChangeId, Creation, Datum, Draft, Field, ObjectId, Operation, Text, Time, encode,
};
use std::path::Path;
use store::{IMAGE, LOG, NewCommit, Store};
use tempfile::TempDir;
use testkit::Random;

/// How many objects are made worse in a case, at the most; as many have a name in the Lobby.
pub const VICTIMS: usize = 6;

const STATE: &[&str] = &[
    "fib := method(n, if(n < 2, n, fib(n - 1) + fib(n - 2))); fib(10)",
    "counter := method(n := 0; block(n = n + 1)); next := counter; next call",
    "Account := Object clone do(balance := 0; deposit := method(n, balance = balance + n)); account := Account clone",
    "words := list(\"one\", 2, list(nil, true), Object clone); words size",
    "phone := Map clone atPut(\"a\", 1) atPut(\"b\", Map clone atPut(\"c\", list())); phone size",
    "text := \"abc\" asMutable appendSeq(\"déf\"); bytes := text clone setEncoding(\"number\"); text size",
    "kept := method(call) ; keptCall := kept(1, 2); link := WeakLink clone setLink(words); link type",
    "then := Date clone; long := Duration clone; sum := Number clone; program := message(foo(1, bar) baz; zap); 1",
    "waiting := list(); pause := method(Coroutine currentCoroutine parentCoroutine resume); 1",
    "wait := method(waiting append(coroFor(call evalArgAt(0))); waiting last resume); 1",
    "wait(for(i, 1, 3, pause)); wait(3 repeat(i, pause)); wait(list(1, 2) foreach(v, pause)); 1",
    "wait(list(3, 1, 2) sortBy(block(a, b, pause; a < b))); wait(try(pause; 1 nonsense)); 1",
    "wait(\"a #{pause} b\" interpolate); wait(fib(pause; 3)); wait(x := list(1, 2) map(v, pause; v)); 1",
    "worker := Object clone do(work := method(for(i, 1, 3, yield))); worker @@work; worker @@work; 1",
    "future := Object clone do(slow := method(yield; yield; 42)) @slow; 1",
];

pub struct Template {
    directory: TempDir,
    /// Those that the program made.
    first_own: u64,
    next: ChangeId,
    lobby: ObjectId,
    /// What the root leads to at once, and itself.
    central: Vec<ObjectId>,
}

/// A copy in which some records are worse.
pub struct Case {
    directory: TempDir,
    pub victims: Vec<ObjectId>,
    /// What was done to it.
    pub told: String,
}

impl Case {
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Template {
    pub fn new() -> Template {
        let directory = TempDir::new().expect("a directory");
        create(directory.path()).close().expect("it closes");
        let mut image = open(directory.path());
        let first_own = image.store().next_change().seq;
        STATE.iter().for_each(|source| drop(answer(&mut image, source)));
        let next = image.store().next_change();
        let root_id = ObjectId::minted(ChangeId::new(next.actor, 1));
        let root = image.store().read(root_id).expect("it is whole").expect("there is a root");
        let mut central = vec![root_id];
        root.references(&mut |object| central.push(object));
        let lobby = root.field(&Field::Slot("lobby".into()));
        let Datum::Object(lobby) = lobby else { panic!("the root knows the Lobby") };
        image.store().checkpoint().expect("it can be applied");
        image.close().expect("it closes");
        Template { directory, first_own, next, lobby, central }
    }

    /// Any object: those on which everything stands, and the program's own, more often than others.
    pub fn any(&self, random: &mut Random) -> ObjectId {
        let between = |random: &mut Random, first: u64, end: u64| {
            let seq = first + random.below((end - first) as usize) as u64;
            ObjectId::minted(ChangeId::new(self.next.actor, seq))
        };
        match random.below(10) {
            0..3 => self.central[random.below(self.central.len())],
            3..8 => between(random, self.first_own, self.next.seq),
            _ => between(random, 1, self.next.seq + 3),
        }
    }

    pub fn case(&self, random: &mut Random) -> Case {
        self.worse(|store| {
            let mut changes = Vec::new();
            let mut victims = Vec::new();
            let mut told = String::new();
            for _ in 0..1 + random.below(VICTIMS) {
                let object = self.any(random);
                if victims.contains(&object) {
                    continue;
                }
                let Some(creation) = store.read(object).expect("it is whole") else { continue };
                victims.push(object);
                let mut mutator = Mutator { random, template: self, object };
                let operations = fitting(object, &creation, mutator.operations(&creation));
                told.push_str(&format!("{object}: {operations:?}; "));
                changes.extend(operations.into_iter().map(|operation| (object, operation)));
            }
            (changes, victims, told)
        })
    }

    pub fn with_short_message(&self) -> Case {
        self.worse(|store| {
            let own = (self.first_own..self.next.seq).map(|seq| ObjectId::minted(ChangeId::new(self.next.actor, seq)));
            // Six are the kind's number in the flags.
            let is_message = |object: &ObjectId| {
                store.read(*object).expect("it is whole").is_some_and(|creation| creation.flags >> 1 & 0xF == 6)
            };
            let message = own.rev().find(is_message).expect("a program is made of messages");
            let value = Datum::record([Datum::text("foo"), Datum::Nil]);
            (vec![(message, Operation::Put { field: Field::Data, value })], vec![message], String::new())
        })
    }

    /// `v0` is an object that nobody made.
    pub fn with_a_reference_to_nowhere(&self) -> Case {
        let nobody = ObjectId::minted(ChangeId::new(ActorId(7), 7));
        self.worse(|_| (Vec::new(), vec![nobody], String::new()))
    }

    fn worse(&self, choose: impl FnOnce(&Store) -> (Vec<(ObjectId, Operation)>, Vec<ObjectId>, String)) -> Case {
        let directory = TempDir::new().expect("a directory");
        for name in [LOG, IMAGE] {
            std::fs::copy(self.directory.path().join(name), directory.path().join(name)).expect("it can be copied");
        }
        let store = Store::open(directory.path(), options().store).expect("the store is whole");
        let (mut operations, victims, told) = choose(&store);
        for (number, victim) in victims.iter().enumerate() {
            let field = Field::Slot(Text::from(format!("v{number}").as_str()));
            operations.push((self.lobby, Operation::Put { field, value: Datum::Object(*victim) }));
        }
        let numbered = operations.into_iter().enumerate().map(|(index, (object, operation))| {
            Change::new(ChangeId::new(self.next.actor, self.next.seq + index as u64), store.time(), object, operation)
        });
        let commit = NewCommit { changes: numbered.collect(), ..NewCommit::default() };
        store.commit(commit).expect("each of them fits");
        store.close().expect("it closes");
        Case { directory, victims, told }
    }
}

/// The operations that can be written, and done one after the other.
fn fitting(object: ObjectId, creation: &Creation, operations: Vec<Operation>) -> Vec<Operation> {
    let mut draft = Draft::from(creation.clone());
    let can_be_written = |operation: &Operation| {
        let id = ChangeId::new(ActorId(1), 1);
        encode(&[Change::new(id, Time(1), object, operation.clone())]).is_ok()
    };
    let operations = operations.into_iter().filter(can_be_written);
    operations.filter(|operation| draft.apply(operation).is_ok()).collect()
}
