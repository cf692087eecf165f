//! The merge as plainly as it can be said, slow and without runs, views or increments: every change knows the set of
//! changes that its author had seen, and the result is read off the whole set at once.

use crate::script::Prepared;
use merge::*;
use object::change::*;
use std::collections::{BTreeMap, BTreeSet};

/// One change, and all that its author had seen.
struct Known {
    change: Change,
    policy: Option<Policy>,
    seen: BTreeSet<ChangeId>,
}

impl Known {
    fn strength(&self) -> (u8, Time, ChangeId) {
        let rank = match self.policy {
            Some(Policy::LiveWins) => 0,
            Some(Policy::ForkWins) => 2,
            _ => 1,
        };
        (rank, self.change.time, self.change.id)
    }
}

pub struct Model {
    all: Vec<Known>,
}

impl Model {
    pub fn new(prepared: &Prepared, receipt: Time) -> Model {
        let live = &prepared.lab.done;
        let ids = |changes: &[Change]| changes.iter().map(|change| change.id).collect::<BTreeSet<_>>();
        let mut all = Vec::new();
        for (at, change) in live.iter().enumerate() {
            all.push(Known { change: change.clone(), policy: None, seen: ids(&live[..at]) });
        }
        for author in &prepared.authors {
            let own = &author.dream.changes;
            for (at, change) in own.iter().enumerate() {
                let mut seen = ids(&live[..author.fork]);
                seen.extend(ids(&own[..at]));
                for (parent, count) in prepared.parents(author) {
                    seen.extend(ids(&parent.dream.changes[..count]));
                }
                let mut change = change.clone();
                change.time = change.time.min(receipt);
                all.push(Known { change, policy: Some(author.policy), seen });
            }
        }
        Model { all }
    }

    /// The changes that nobody who wrote to the same place had seen.
    fn heads<'m>(writes: &[(&'m Known, Datum)]) -> Vec<(&'m Known, Datum)> {
        let is_seen = |id: ChangeId| writes.iter().any(|(other, _)| other.seen.contains(&id));
        writes.iter().filter(|(known, _)| !is_seen(known.change.id)).cloned().collect()
    }

    /// What was done to objects, step by step also where a container was made that others made too.
    fn operations(&self) -> Vec<(&Known, Operation)> {
        let steps = |known: &Known| match &known.change.operation {
            Operation::Create(creation) if creation.under.is_some() => creation.steps(),
            operation => vec![operation.clone()],
        };
        self.all.iter().flat_map(|known| steps(known).into_iter().map(move |step| (known, step))).collect()
    }

    /// The protos of these objects, which had none at rest.
    pub fn protos(&self, objects: &[ObjectId]) -> BTreeMap<ObjectId, Vec<ObjectId>> {
        let trees: BTreeMap<ObjectId, Tree> =
            objects.iter().map(|object| (*object, self.tree(*object, Line::Protos, 0))).collect();
        let order = self.order_of_edges(&trees);
        let mut deeds: Vec<Deed> = trees.iter().flat_map(|(object, tree)| self.deeds(*object, tree)).collect();
        loop {
            let (taken, left_out) = taken_in(&order, &trees, &deeds);
            let void: Vec<usize> = objects.iter().flat_map(|object| void(*object, &deeds, &taken, &left_out)).collect();
            if void.is_empty() {
                let edge = |from: ObjectId, entry: &Entry| {
                    taken.iter().find(|edge| edge.from == from && edge.entry == *entry).map(|edge| edge.to)
                };
                let protos = |tree: &Tree, from| tree.order().iter().filter_map(|entry| edge(from, entry)).collect();
                return trees.iter().map(|(object, tree)| (*object, protos(tree, *object))).collect();
            }
            void.into_iter().for_each(|at| deeds[at].is_void = true);
        }
    }

    /// What each fork did to an object's protos, and live in each of its commits, which have a time of their own.
    fn deeds(&self, object: ObjectId, tree: &Tree) -> Vec<Deed> {
        let mut deeds: BTreeMap<(ActorId, Option<Time>), Deed> = BTreeMap::new();
        for known in self.all.iter().filter(|known| known.change.object == object) {
            let (Operation::Insert { line: Line::Protos, .. } | Operation::Delete { line: Line::Protos, .. }) =
                known.change.operation
            else {
                continue;
            };
            let id = known.change.id;
            let author = (id.actor, known.policy.is_none().then_some(known.change.time));
            let mut changes = deeds.remove(&author).map_or(Vec::new(), |deed| deed.changes);
            changes.push(id);
            let seen: BTreeSet<ChangeId> = known.seen.iter().copied().chain([id]).collect();
            let left = tree.shown_to(&seen);
            deeds.insert(author, Deed { object, changes, strength: known.strength(), seen, left, is_void: false });
        }
        deeds.into_values().collect()
    }

    fn known(&self, id: ChangeId) -> &Known {
        self.all.iter().find(|known| known.change.id == id).expect("it was made")
    }

    fn edge(&self, from: ObjectId, entry: Entry) -> Option<Edge> {
        let by = self.known(entry.0.expect("there were none at rest"));
        let Operation::Insert { run: Run::Items(items), .. } = &by.change.operation else { return None };
        let Datum::Object(to) = items[entry.1 as usize] else { return None };
        Some(Edge { from, to, entry, by: by.change.id })
    }

    /// All edges, wanted or not: the strongest first, but after what its author had seen.
    fn order_of_edges(&self, trees: &BTreeMap<ObjectId, Tree>) -> Vec<Edge> {
        let known = |id: ChangeId| self.known(id);
        let all = trees.iter().flat_map(|(object, tree)| tree.order().into_iter().map(|entry| (*object, entry)));
        let mut pending: Vec<Edge> = all.filter_map(|(object, entry)| self.edge(object, entry)).collect();
        let mut order = Vec::new();
        while !pending.is_empty() {
            let key = |edge: &&Edge| (known(edge.by).strength(), edge.from, edge.entry);
            let mut edge = *pending.iter().max_by_key(key).expect("there is one");
            while let Some(seen) =
                pending.iter().filter(|other| known(edge.by).seen.contains(&other.by)).max_by_key(key)
            {
                edge = *seen;
            }
            pending.retain(|other| *other != edge);
            order.push(edge);
        }
        order
    }

    pub fn fields(&self) -> BTreeMap<(ObjectId, Field), Datum> {
        let heads = self.heads_of_fields().into_iter();
        heads.map(|(place, heads)| (place, heads[0].1.clone())).collect()
    }

    /// What each place was left as by those whose write nobody had seen, the strongest first.
    pub fn heads_of_fields(&self) -> BTreeMap<(ObjectId, Field), Vec<(ChangeId, Datum)>> {
        let mut writes: BTreeMap<(ObjectId, Field), Vec<(&Known, Datum)>> = BTreeMap::new();
        for (known, operation) in self.operations() {
            if let Operation::Put { field, value } = operation {
                writes.entry((known.change.object, field)).or_default().push((known, value));
            }
        }
        writes.into_iter().map(|(place, writes)| (place, named(Model::heads(&writes)))).collect()
    }

    /// The same for an item of a list.
    pub fn heads_of_item(&self, object: ObjectId, entry: Entry) -> Vec<(ChangeId, Datum)> {
        let mut tree = Tree::new(4);
        let mut writes = Vec::new();
        for known in self.all.iter().filter(|known| known.change.object == object) {
            if let Operation::Set { index, value } = &known.change.operation {
                let place = tree.shown_to(&known.seen)[*index as usize];
                if tree.nodes[&place].moved.unwrap_or(place) == entry {
                    writes.push((known, value.clone()));
                }
            }
            tree.apply(known, Line::Items);
        }
        named(Model::heads(&writes))
    }

    /// What an item was set to, if it was.
    pub fn item(&self, object: ObjectId, entry: Entry) -> Option<Datum> {
        self.heads_of_item(object, entry).into_iter().next().map(|(_, value)| value)
    }

    pub fn count(&self, object: ObjectId) -> i64 {
        let deltas = self.all.iter().filter_map(|known| match &known.change.operation {
            Operation::Count { delta, .. } if known.change.object == object => Some(*delta),
            _ => None,
        });
        deltas.fold(0, i64::wrapping_add)
    }

    /// How often the bag holds a member, occurrence by occurrence.
    pub fn occurrences(&self, object: ObjectId, member: &Datum, rest: u64) -> usize {
        let mut there: BTreeSet<(Option<ChangeId>, u64)> = (0..rest).map(|number| (None, number)).collect();
        for known in self.all.iter().filter(|known| known.change.object == object) {
            if let Operation::Add { member: other, count } = &known.change.operation
                && other == member
            {
                there.extend((0..*count).map(|number| (Some(known.change.id), number)));
            }
        }
        let mut taken_by: BTreeMap<(Option<ChangeId>, u64), BTreeSet<ChangeId>> = BTreeMap::new();
        for known in self.all.iter().filter(|known| known.change.object == object) {
            let Operation::Remove { member: other, count } = &known.change.operation else { continue };
            if other != member {
                continue;
            }
            let is_shown = |occurrence: &&(Option<ChangeId>, u64)| {
                let is_known = occurrence.0.is_none_or(|id| known.seen.contains(&id));
                is_known && taken_by.get(occurrence).is_none_or(|by| by.is_disjoint(&known.seen))
            };
            let most = usize::try_from(*count).unwrap_or(usize::MAX);
            let taken: Vec<_> = there.iter().filter(is_shown).take(most).copied().collect();
            for occurrence in taken {
                taken_by.entry(occurrence).or_default().insert(known.change.id);
            }
        }
        there.len() - taken_by.len()
    }

    pub fn line(&self, object: ObjectId, line: Line, rest: usize) -> Vec<Entry> {
        self.tree(object, line, rest).shown()
    }

    fn tree(&self, object: ObjectId, line: Line, rest: usize) -> Tree {
        let mut tree = Tree::new(rest);
        for known in self.all.iter().filter(|known| known.change.object == object) {
            tree.apply(known, line);
        }
        tree
    }
}

fn named(mut heads: Vec<(&Known, Datum)>) -> Vec<(ChangeId, Datum)> {
    heads.sort_by_key(|(known, _)| std::cmp::Reverse(known.strength()));
    heads.into_iter().map(|(known, value)| (known.change.id, value)).collect()
}

/// One object has another as a proto, since this change.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Edge {
    from: ObjectId,
    to: ObjectId,
    entry: Entry,
    by: ChangeId,
}

/// What one author did to the protos of one object.
struct Deed {
    object: ObjectId,
    changes: Vec<ChangeId>,
    /// Of the last change.
    strength: (u8, Time, ChangeId),
    seen: BTreeSet<ChangeId>,
    /// What the author saw there in the end.
    left: Vec<Entry>,
    is_void: bool,
}

/// The edges of protos that are wanted and taken in, one after the other, and those that are left out.
fn taken_in(order: &[Edge], trees: &BTreeMap<ObjectId, Tree>, deeds: &[Deed]) -> (Vec<Edge>, Vec<Edge>) {
    let (mut taken, mut left_out): (Vec<Edge>, Vec<Edge>) = (Vec::new(), Vec::new());
    for edge in order {
        let standing = || deeds.iter().filter(|deed| deed.object == edge.from && !deed.is_void);
        let mut by = trees[&edge.from].deleted.get(&edge.entry).into_iter().flatten();
        let is_deleted = by.any(|id| standing().any(|deed| deed.changes.contains(id)));
        let is_wanted = !is_deleted && standing().any(|deed| deed.left.contains(&edge.entry));
        match leads(&taken, edge.to, edge.from) {
            true if is_wanted => left_out.push(*edge),
            false if is_wanted => taken.push(*edge),
            _ => {}
        }
    }
    (taken, left_out)
}

/// Deeds of which all that they left is left out; else, where they left nothing together, the weakest of the last ones.
fn void(object: ObjectId, deeds: &[Deed], taken: &[Edge], left_out: &[Edge]) -> Vec<usize> {
    let is_out = |entry: &Entry| left_out.iter().any(|edge| edge.from == object && edge.entry == *entry);
    let standing = (0..deeds.len()).filter(|at| deeds[*at].object == object && !deeds[*at].is_void);
    let standing: Vec<usize> = standing.collect();
    let is_void = |at: &usize| !deeds[*at].left.is_empty() && deeds[*at].left.iter().all(is_out);
    let void: Vec<usize> = standing.iter().copied().filter(is_void).collect();
    if !void.is_empty() || taken.iter().any(|edge| edge.from == object) {
        return void;
    }
    let is_seen = |at: usize, by: usize| at != by && deeds[by].seen.contains(&deeds[at].strength.2);
    let last = standing.iter().copied().filter(|at| !standing.iter().any(|by| is_seen(*at, *by)));
    let last: Vec<usize> = last.collect();
    if last.iter().any(|at| deeds[*at].left.is_empty()) {
        return Vec::new();
    }
    last.into_iter().min_by_key(|at| deeds[*at].strength).into_iter().collect()
}

fn leads(edges: &[Edge], from: ObjectId, to: ObjectId) -> bool {
    let mut reached = vec![from];
    let mut at = 0;
    while let Some(object) = reached.get(at).copied() {
        at += 1;
        let next: Vec<ObjectId> = edges.iter().filter(|edge| edge.from == object).map(|edge| edge.to).collect();
        reached.extend(next.into_iter().filter(|object| !reached.contains(object)).collect::<Vec<_>>());
    }
    reached.contains(&to)
}

/// An element: the change that brought it (none at rest), and which one of its run.
type Entry = (Option<ChangeId>, u64);

/// Fugue as a tree of single elements: each is a left or right child of another.
struct Tree {
    nodes: BTreeMap<Entry, Node>,
    top: Vec<Entry>,
    deleted: BTreeMap<Entry, BTreeSet<ChangeId>>,
    moves: Vec<Moved>,
}

struct Moved {
    by: ChangeId,
    element: Entry,
    strength: (u8, Time, ChangeId),
    seen: BTreeSet<ChangeId>,
}

struct Node {
    left: Vec<Entry>,
    right: Vec<Entry>,
    /// What was to the right when it was inserted.
    right_origin: Option<Entry>,
    moved: Option<Entry>,
}

impl Tree {
    fn new(rest: usize) -> Tree {
        let mut tree = Tree { nodes: BTreeMap::new(), top: Vec::new(), deleted: BTreeMap::new(), moves: Vec::new() };
        let mut before = None;
        for number in 0..rest as u64 {
            tree.insert((None, number), before, None, None);
            before = Some((None, number));
        }
        tree
    }

    fn order(&self) -> Vec<Entry> {
        fn walk(tree: &Tree, entry: Entry, order: &mut Vec<Entry>) {
            tree.nodes[&entry].left.iter().for_each(|child| walk(tree, *child, order));
            order.push(entry);
            tree.nodes[&entry].right.iter().for_each(|child| walk(tree, *child, order));
        }
        let mut order = Vec::new();
        self.top.iter().for_each(|entry| walk(self, *entry, &mut order));
        order
    }

    /// Under the left neighbour, unless the right one is below that already: then under the right one.
    fn insert(&mut self, entry: Entry, left: Option<Entry>, right: Option<Entry>, moved: Option<Entry>) {
        let order = self.order();
        let position =
            |of: Option<Entry>| of.and_then(|of| order.iter().position(|other| *other == of)).unwrap_or(usize::MAX);
        let is_below = right.is_some_and(|right| left.is_none_or(|left| self.is_right_descendant(right, left)));
        self.nodes.insert(entry, Node { left: Vec::new(), right: Vec::new(), right_origin: right, moved });
        if let Some(right) = right.filter(|_| is_below) {
            let siblings = &mut self.nodes.get_mut(&right).expect("it is there").left;
            let at = siblings.partition_point(|other| *other < entry);
            siblings.insert(at, entry);
            return;
        }
        let siblings = left.map_or(&self.top, |left| &self.nodes[&left].right);
        // What reaches further to the right comes first.
        let key = |of: Entry, origin: Option<Entry>| (std::cmp::Reverse(position(origin)), of);
        let at = siblings.partition_point(|other| key(*other, self.nodes[other].right_origin) < key(entry, right));
        match left {
            None => self.top.insert(at, entry),
            Some(left) => self.nodes.get_mut(&left).expect("it is there").right.insert(at, entry),
        }
    }

    fn is_right_descendant(&self, entry: Entry, of: Entry) -> bool {
        let mut pending = self.nodes[&of].right.clone();
        while let Some(each) = pending.pop() {
            if each == entry {
                return true;
            }
            pending.extend(self.nodes[&each].left.iter().chain(&self.nodes[&each].right));
        }
        false
    }

    fn is_seen(entry: Entry, seen: &BTreeSet<ChangeId>) -> bool {
        entry.0.is_none_or(|id| seen.contains(&id))
    }

    /// The place at which an element stands for who has seen these changes.
    fn place(&self, element: Entry, seen: &BTreeSet<ChangeId>) -> Entry {
        let is_meant = |moved: &&Moved| moved.element == element && seen.contains(&moved.by);
        let moves: Vec<&Moved> = self.moves.iter().filter(is_meant).collect();
        let heads = moves.iter().filter(|moved| !moves.iter().any(|other| other.seen.contains(&moved.by)));
        heads.max_by_key(|moved| moved.strength).map_or(element, |moved| (Some(moved.by), 0))
    }

    fn shown_to(&self, seen: &BTreeSet<ChangeId>) -> Vec<Entry> {
        let is_shown = |entry: &Entry| {
            let element = self.nodes[entry].moved.unwrap_or(*entry);
            let is_deleted = self.deleted.get(&element).is_some_and(|by| !by.is_disjoint(seen));
            Tree::is_seen(*entry, seen) && !is_deleted && self.place(element, seen) == *entry
        };
        self.order().into_iter().filter(is_shown).collect()
    }

    fn shown(&self) -> Vec<Entry> {
        let mut all: BTreeSet<ChangeId> = self.nodes.keys().filter_map(|entry| entry.0).collect();
        all.extend(self.deleted.values().flatten());
        self.shown_to(&all).into_iter().map(|entry| self.nodes[&entry].moved.unwrap_or(entry)).collect()
    }

    fn apply(&mut self, known: &Known, of: Line) {
        let id = known.change.id;
        match &known.change.operation {
            Operation::Insert { line, index, run } if *line == of => {
                let mut left = index.checked_sub(1).map(|index| self.shown_to(&known.seen)[index as usize]);
                let right = self.next(left, &known.seen);
                for number in 0..run.len() as u64 {
                    self.insert((Some(id), number), left, right, None);
                    left = Some((Some(id), number));
                }
            }
            Operation::Delete { line, index, count } if *line == of => {
                let shown = self.shown_to(&known.seen);
                for entry in &shown[*index as usize..(*index + *count) as usize] {
                    let element = self.nodes[entry].moved.unwrap_or(*entry);
                    self.deleted.entry(element).or_default().insert(id);
                }
            }
            Operation::Move { line, from, to } if *line == of => {
                let shown = self.shown_to(&known.seen);
                let element = self.nodes[&shown[*from as usize]].moved.unwrap_or(shown[*from as usize]);
                let before = if to <= from { *to } else { to + 1 };
                let left = before.checked_sub(1).map(|index| shown[index as usize]);
                let right = self.next(left, &known.seen);
                self.insert((Some(id), 0), left, right, Some(element));
                self.moves.push(Moved { by: id, element, strength: known.strength(), seen: known.seen.clone() });
            }
            _ => {}
        }
    }

    fn next(&self, left: Option<Entry>, seen: &BTreeSet<ChangeId>) -> Option<Entry> {
        let order = self.order();
        let from = left.map_or(0, |left| order.iter().position(|entry| *entry == left).map_or(0, |at| at + 1));
        order[from..].iter().find(|entry| Tree::is_seen(**entry, seen)).copied()
    }
}
