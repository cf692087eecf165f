//! No merge closes a cycle of protos that neither side had. Which edge is left out follows from the set of edges alone:
//! they are taken in one by one, the strongest first but after what its author had seen, and one that would close a cycle
//! is not taken. Cycles at rest stay, and so do those that the live image made knowingly.

use crate::fresh::Fresh;
use crate::ledger::Ledger;
use crate::line::Element;
use crate::rest::Rest;
use crate::stamp::{Stamp, View};
use crate::values::Values;
use object::change::{ActorId, Datum, Line, ObjectId, Run};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

#[derive(Clone, Copy)]
struct Edge {
    from: ObjectId,
    to: ObjectId,
    element: Element,
    stamp: Stamp,
}

impl Edge {
    /// Among those of its author.
    fn place(&self) -> (u64, Reverse<(ObjectId, Element)>) {
        (self.stamp.id.seq, Reverse((self.from, self.element)))
    }
}

impl Ledger {
    /// For each object the protos that are left out in this view.
    pub(crate) fn suppressed<R: Rest>(
        &self,
        view: &View,
        rest: &Fresh<'_, R>,
    ) -> BTreeMap<ObjectId, BTreeSet<Element>> {
        let mut pending = Pending::new(self.new_edges(view));
        let mut graph = Graph { ledger: self, view, rest, accepted: BTreeMap::new() };
        let mut suppressed: BTreeMap<ObjectId, BTreeSet<Element>> = BTreeMap::new();
        while let Some(edge) = pending.next(|edge, other| self.saw(edge, other)) {
            let is_deliberate = edge.stamp.id.actor == self.live && graph.leads(&edge, |other| self.saw(&edge, other));
            if is_deliberate || !graph.leads(&edge, |_| true) {
                graph.accepted.entry(edge.from).or_default().push(edge);
            } else {
                suppressed.entry(edge.from).or_default().insert(edge.element);
            }
        }
        suppressed
    }

    /// Edges made since the oldest open fork that the view shows.
    fn new_edges(&self, view: &View) -> Vec<Edge> {
        let none = BTreeSet::new();
        let mut edges = Vec::new();
        for ((from, _), sequence) in self.lines.iter().filter(|((_, line), _)| *line == Line::Protos) {
            for (at, piece) in sequence.pieces.iter().enumerate() {
                let Some(stamp) = piece.stamp.filter(|_| piece.moved.is_none() && sequence.exists(at, view, &none))
                else {
                    continue;
                };
                for offset in 0..piece.count {
                    if let Some(Datum::Object(to)) = sequence.value(at, offset) {
                        edges.push(Edge { from: *from, to, element: piece.element(offset), stamp });
                    }
                }
            }
        }
        edges
    }

    /// Whether the author of `edge` had seen `other` when it made it.
    fn saw(&self, edge: &Edge, other: &Edge) -> bool {
        let (id, before) = (edge.stamp.id, other.stamp.id);
        if id.actor == before.actor {
            return before.seq < id.seq;
        }
        match self.forks.get(&id.actor) {
            Some(fork) => fork.view.sees(&other.stamp),
            None => other.stamp.order < edge.stamp.order,
        }
    }
}

/// Edges to be taken in, those of each author in the order of its changes. Who saw a change saw those before it, so only
/// the next one of each author can be the next of all.
struct Pending {
    authors: BTreeMap<ActorId, VecDeque<Edge>>,
    /// The weakest first.
    all: Vec<Edge>,
}

impl Pending {
    fn new(mut edges: Vec<Edge>) -> Pending {
        edges.sort_by_key(|edge| (edge.stamp.id.actor, edge.place()));
        let mut authors: BTreeMap<ActorId, VecDeque<Edge>> = BTreeMap::new();
        for edge in &edges {
            authors.entry(edge.stamp.id.actor).or_default().push_back(*edge);
        }
        edges.sort_by_key(|edge| (edge.stamp.strength(), edge.from, edge.element));
        Pending { authors, all: edges }
    }

    /// The strongest of all, or what comes before it: the strongest of those that its author saw and whose authors saw
    /// no other that is still to come.
    fn next(&mut self, saw: impl Fn(&Edge, &Edge) -> bool) -> Option<Edge> {
        let is_to_come = |edge: &Edge| {
            let next = self.authors.get(&edge.stamp.id.actor).and_then(VecDeque::front);
            next.is_some_and(|next| next.place() <= edge.place())
        };
        while self.all.pop_if(|edge| !is_to_come(edge)).is_some() {}
        let strongest = *self.all.last()?;
        let first: Vec<Edge> = self.authors.values().filter_map(|edges| edges.front().copied()).collect();
        let is_free = |edge: &&Edge| {
            let is_before = edge.place() == strongest.place() || saw(&strongest, edge);
            is_before && !first.iter().any(|other| saw(edge, other))
        };
        let free = first.iter().filter(is_free).max_by_key(|edge| edge.stamp.strength());
        let author = free.or(first.first())?.stamp.id.actor;
        let edges = self.authors.get_mut(&author)?;
        let edge = edges.pop_front();
        if edges.is_empty() {
            self.authors.remove(&author);
        }
        edge
    }
}

struct Graph<'g, R> {
    ledger: &'g Ledger,
    view: &'g View,
    rest: &'g Fresh<'g, R>,
    accepted: BTreeMap<ObjectId, Vec<Edge>>,
}

impl<R: Rest> Graph<'_, R> {
    /// Whether a way leads back from where the edge goes to where it comes from.
    fn leads(&self, edge: &Edge, may_use: impl Fn(&Edge) -> bool) -> bool {
        let mut seen = BTreeSet::new();
        let mut pending = vec![edge.to];
        while let Some(object) = pending.pop() {
            if object == edge.from {
                return true;
            }
            if seen.insert(object) {
                let new = self.accepted.get(&object).into_iter().flatten().filter(|other| may_use(other));
                pending.extend(new.map(|other| other.to));
                pending.extend(self.at_rest(object));
            }
        }
        false
    }

    /// But for the rings that the image was born with: every object would be below itself through them.
    fn at_rest(&self, object: ObjectId) -> Vec<ObjectId> {
        let mut protos = self.all_at_rest(object);
        protos.retain(|proto| !self.rest.is_ring(object, *proto));
        protos
    }

    fn all_at_rest(&self, object: ObjectId) -> Vec<ObjectId> {
        let Some(sequence) = self.ledger.lines.get(&(object, Line::Protos)) else {
            let length = self.rest.length(object, Line::Protos);
            let values = self.rest.elements(object, Line::Protos, 0, length);
            return objects(&values);
        };
        let none = BTreeSet::new();
        let at_rest = sequence.pieces.iter().enumerate().filter(|(_, piece)| piece.stamp.is_none());
        let shown = at_rest.filter(|(at, _)| sequence.exists(*at, self.view, &none));
        shown.flat_map(|(_, piece)| piece.values.as_ref().map(objects).unwrap_or_default()).collect()
    }
}

fn objects(values: &Values) -> Vec<ObjectId> {
    let Run::Items(items) = values.to_run() else { return Vec::new() };
    items.iter().filter_map(|item| if let Datum::Object(object) = item { Some(*object) } else { None }).collect()
}
