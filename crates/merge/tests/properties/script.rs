//! What live and dreams do, drawn as raw numbers that mean something only where they are done: so that every script is
//! valid, and a shorter one still is.

use crate::lab::{Dream, Lab, add_proto, protos};
use merge::*;
use object::change::*;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub what: u8,
    pub a: u8,
    pub b: u8,
    pub c: u8,
}

#[derive(Clone, Debug)]
pub struct Script {
    pub live: Vec<Step>,
    pub dreams: Vec<Story>,
}

/// One dream: after how many of live's steps it forks, under which policy, and what it does.
#[derive(Clone, Debug)]
pub struct Story {
    pub fork: u8,
    pub policy: u8,
    pub steps: Vec<Step>,
    /// A dream inside of it, which forks after so many of its steps.
    pub inner: Option<Box<Story>>,
}

pub fn any_step() -> impl Strategy<Value = Step> {
    (0..23u8, any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(what, a, b, c)| Step { what, a, b, c })
}

pub fn any_script() -> impl Strategy<Value = Script> {
    let story = || (any::<u8>(), 0..4u8, vec(any_step(), 0..7));
    let inner = || proptest::option::weighted(0.3, story());
    let dream = (story(), inner(), inner()).prop_map(|(outer, inner, innermost)| {
        let made =
            |(fork, policy, steps), inner: Option<Story>| Story { fork, policy, steps, inner: inner.map(Box::new) };
        let innermost = innermost.map(|story| made(story, None));
        made(outer, inner.map(|story| made(story, innermost)))
    });
    (vec(any_step(), 0..8), vec(dream, 1..4)).prop_map(|(live, dreams)| Script { live, dreams })
}

/// One dream and nobody else.
pub fn alone(policy: u8, steps: Vec<Step>) -> Script {
    Script { live: Vec::new(), dreams: vec![Story { fork: 0, policy, steps, inner: None }] }
}

/// The objects that every script starts with.
#[derive(Clone, Copy)]
pub struct Cast {
    pub plain: [ObjectId; 4],
    pub list: ObjectId,
    pub text: ObjectId,
    pub bag: ObjectId,
    pub map: ObjectId,
    pub counter: ObjectId,
}

pub fn cast(lab: &mut Lab) -> Cast {
    let plain = [(); 4].map(|()| lab.object());
    let body = |body| Creation { body, ..Creation::default() };
    let list = lab.create(body(Body::Elements(Run::items((0..4).map(|item| Datum::number(f64::from(item)))))));
    let text = lab.create(body(Body::Elements(Run::bytes(b"hello"))));
    let bag = lab.create(body(Body::Members(vec![(Datum::Nil, 3)])));
    let map = lab.create(body(Body::Map(vec![(Datum::text("k"), Datum::Nil)])));
    let counter = lab.create(body(Body::Counters(Vec::new())));
    Cast { plain, list, text, bag, map, counter }
}

/// What a step means in this view, for the changes that get ids from this one on.
pub fn operations(step: Step, cast: &Cast, view: &Image, id: ChangeId) -> Vec<(ObjectId, Operation)> {
    let (plain, other) = (cast.plain[usize::from(step.a % 4)], cast.plain[usize::from(step.b % 4)]);
    if step.what == 21 {
        return if reaches(view, other, plain) { Vec::new() } else { set_proto(view, plain, other) };
    }
    operation(step, cast, view, id).into_iter().collect()
}

/// One proto instead of all that there are.
pub fn set_proto(view: &Image, object: ObjectId, proto: ObjectId) -> Vec<(ObjectId, Operation)> {
    let count = view.length(object, Line::Protos);
    let delete = (count > 0).then_some(Operation::Delete { line: Line::Protos, index: 0, count });
    delete.into_iter().chain([add_proto(proto)]).map(|operation| (object, operation)).collect()
}

fn operation(step: Step, cast: &Cast, view: &Image, id: ChangeId) -> Option<(ObjectId, Operation)> {
    let Step { what, a, b, c } = step;
    let plain = cast.plain[usize::from(a % 4)];
    let place = cast.plain[usize::from(a % 2)];
    let name = ["x", "x", "x", "y"][usize::from(b % 4)];
    let fresh = Datum::number((id.actor.0 * 1000 + id.seq) as f64);
    let within = |line, object| view.length(object, line).checked_sub(1).map(|last| u64::from(a) % (last + 1));
    let list_end = view.length(cast.list, Line::Items);
    Some(match what {
        0..=3 => (place, Operation::set_slot(name, f64::from(c % 3))),
        4 => (plain, Operation::set_slot(name, cast.plain[usize::from(c % 4)])),
        5 => (place, Operation::remove_slot(name)),
        6..=8 => {
            let run =
                Run::items((0..=c % 2).map(|offset| Datum::record([fresh.clone(), Datum::number(f64::from(offset))])));
            (cast.list, Operation::Insert { line: Line::Items, index: u64::from(a) % (list_end + 1), run })
        }
        9 | 10 => {
            let index = within(Line::Items, cast.list)?;
            (
                cast.list,
                Operation::Delete { line: Line::Items, index, count: (u64::from(b % 3) + 1).min(list_end - index) },
            )
        }
        11 => (cast.list, Operation::Set { index: within(Line::Items, cast.list)?, value: fresh }),
        12 => (
            cast.list,
            Operation::Move { line: Line::Items, from: within(Line::Items, cast.list)?, to: u64::from(b) % list_end },
        ),
        13 => {
            let index = u64::from(a) % (view.length(cast.text, Line::Units) + 1);
            (
                cast.text,
                Operation::Insert { line: Line::Units, index, run: Run::bytes(&[b'A' + b % 26, b'a' + c % 26]) },
            )
        }
        14 => (cast.text, Operation::Delete { line: Line::Units, index: within(Line::Units, cast.text)?, count: 1 }),
        15 => (cast.bag, Operation::Add { member: member(a), count: u64::from(b % 2) + 1 }),
        16 => (cast.bag, Operation::Remove { member: member(a), count: if b % 2 == 0 { 1 } else { u64::MAX } }),
        17 => (cast.counter, Operation::Count { key: Datum::Nil, delta: i64::from(c) - 128 }),
        18 => (
            cast.map,
            Operation::Put { field: Field::Entry(Datum::text(["k", "l"][usize::from(a % 2)])), value: fresh },
        ),
        19 => {
            let other = cast.plain[usize::from(b % 4)];
            (!reaches(view, other, plain)).then(|| (plain, add_proto(other)))?
        }
        20 => (plain, Operation::Delete { line: Line::Protos, index: within(Line::Protos, plain)?, count: 1 }),
        _ => create(step, cast, view, id)?,
    })
}

fn member(number: u8) -> Datum {
    if number.is_multiple_of(2) { Datum::Nil } else { Datum::text("m") }
}

/// A new object, or a container that others may make too.
fn create(step: Step, cast: &Cast, view: &Image, id: ChangeId) -> Option<(ObjectId, Operation)> {
    let under = step.b.is_multiple_of(2).then(|| (cast.map, Field::Entry(Datum::text("shared"))));
    let entry = (Datum::text(["p", "q"][usize::from(step.c % 2)]), Datum::number(f64::from(step.a)));
    let protos = vec![cast.plain[0]];
    let creation = Creation { protos, body: Body::Map(vec![entry]), under, ..Creation::default() };
    let object = creation.object(id);
    (view.presence(object) == Presence::Never).then(|| (object, Operation::Create(Box::new(creation))))
}

/// Whether the protos lead from one object to another.
pub fn reaches(image: &Image, from: ObjectId, to: ObjectId) -> bool {
    let mut seen = Vec::new();
    let mut pending = vec![from];
    while let Some(object) = pending.pop() {
        if object == to {
            return true;
        }
        if !seen.contains(&object) {
            seen.push(object);
            pending.extend(protos(image, object));
        }
    }
    false
}

/// Nobody inherits from itself.
pub fn is_acyclic(image: &Image) -> bool {
    image.objects().into_keys().all(|object| protos(image, object).iter().all(|proto| !reaches(image, *proto, object)))
}

/// An author outside of the live image: its journal, and the image as it sees it.
#[derive(Clone)]
pub struct Author {
    pub dream: Dream,
    pub view: Image,
    /// How many of live's changes it has seen.
    pub fork: usize,
    pub policy: Policy,
    /// The dream that it was forked inside of, and how many of its changes it has seen.
    pub parent: Option<(ActorId, usize)>,
}

impl Author {
    pub fn new(lab: &mut Lab, actor: u64, policy: Policy) -> Author {
        let dream = lab.fork(actor, policy);
        Author { dream, view: lab.image.clone(), fork: lab.done.len(), policy, parent: None }
    }

    pub fn inside(&self, lab: &mut Lab, actor: u64, policy: Policy) -> Author {
        let (time, seen) = (lab.next_time(), self.dream.changes.len());
        let forked = lab.ledger.fork_inside(self.dream.actor, seen as u64, ActorId(actor), time, policy);
        forked.expect("the parent is open and has not moved on");
        let dream = Dream { actor: ActorId(actor), changes: Vec::new(), time };
        Author { dream, view: self.view.clone(), fork: self.fork, policy, parent: Some((self.dream.actor, seen)) }
    }

    pub fn does(&mut self, step: Step, cast: &Cast) {
        let id = ChangeId::new(self.dream.actor, self.dream.changes.len() as u64 + 1);
        let time = Time(self.dream.time.0 + (u64::from(step.c % 8) << 16));
        self.does_all(operations(step, cast, &self.view, id), time);
    }

    pub fn does_all(&mut self, operations: Vec<(ObjectId, Operation)>, time: Time) {
        for (object, operation) in operations {
            self.view.apply(object, &operation).expect("the author does what its objects can hold");
            self.dream.does(object, operation);
            self.dream.changes.last_mut().expect("it was just added").time = time;
        }
    }
}

pub fn live_does(lab: &mut Lab, step: Step, cast: &Cast) {
    let id = lab.next_id();
    let operations = operations(step, cast, &lab.image.clone(), id);
    lab.live_all(operations);
}

/// Live has done all that it does, the dreams have written their journals, and nothing has been merged.
#[derive(Clone)]
pub struct Prepared {
    pub lab: Lab,
    pub cast: Cast,
    pub authors: Vec<Author>,
}

impl Prepared {
    /// The dreams that one was forked inside of, the outermost first, and how many changes each had made by then.
    pub fn parents(&self, author: &Author) -> Vec<(&Author, usize)> {
        let mut parents = Vec::new();
        let mut next = author.parent;
        while let Some((actor, count)) = next {
            let outer = self.authors.iter().find(|author| author.dream.actor == actor).expect("it is there");
            parents.insert(0, (outer, count));
            next = outer.parent;
        }
        parents
    }
}

pub fn prepare(script: &Script) -> Prepared {
    prepare_with_seed(script, 7)
}

pub fn prepare_with_seed(script: &Script, seed: u64) -> Prepared {
    let mut lab = Lab::with_seed(seed);
    let cast = cast(&mut lab);
    lab.done.clear();
    let mut authors = Vec::new();
    for at in 0..=script.live.len() {
        for (number, story) in script.dreams.iter().enumerate() {
            if usize::from(story.fork) % (script.live.len() + 1) == at {
                dream(story, number as u64 + 2, &mut lab, &cast, &mut authors);
            }
        }
        if let Some(step) = script.live.get(at) {
            live_does(&mut lab, *step, &cast);
        }
    }
    Prepared { lab, cast, authors }
}

fn dream(story: &Story, actor: u64, lab: &mut Lab, cast: &Cast, authors: &mut Vec<Author>) {
    let author = Author::new(lab, actor, Policy::ALL[usize::from(story.policy)]);
    go_on(story, author, lab, cast, authors);
}

/// Does what the story says, and lets the dream inside of it begin on the way. Outer ones come first.
fn go_on(story: &Story, mut author: Author, lab: &mut Lab, cast: &Cast, authors: &mut Vec<Author>) {
    let mut inner = None;
    for at in 0..=story.steps.len() {
        if let Some(story) = &story.inner
            && usize::from(story.fork) % (at.max(1) + 1) == 0
            && inner.is_none()
        {
            let actor = author.dream.actor.0 + 10;
            inner = Some((story, author.inside(lab, actor, Policy::ALL[usize::from(story.policy)])));
        }
        if let Some(step) = story.steps.get(at) {
            author.does(*step, cast);
        }
    }
    authors.push(author);
    if let Some((story, inner)) = inner {
        go_on(story, inner, lab, cast, authors);
    }
}
