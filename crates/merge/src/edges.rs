//! In which order edges of protos are taken in: the strongest first, but after those that its author had seen, and those in
//! the same order among themselves. So whoever has seen everything changes nothing of what was decided before.

use crate::line::Element;
use crate::stamp::Stamp;
use object::change::{ActorId, ObjectId};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One object has another as a proto.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub from: ObjectId,
    pub element: Element,
    pub stamp: Stamp,
}

impl Edge {
    /// Among those of its author.
    fn place(&self) -> (u64, Reverse<(ObjectId, Element)>) {
        (self.stamp.id.seq, Reverse((self.from, self.element)))
    }

    fn strength(&self) -> impl Ord + use<> {
        (self.stamp.strength(), self.from, self.element)
    }
}

pub(crate) struct Pending {
    authors: BTreeMap<ActorId, Queue>,
    /// The weakest first.
    all: Vec<Edge>,
    /// The strongest that is left, the strongest of those that its author saw, and so on.
    chain: Vec<Edge>,
}

impl Pending {
    pub fn new(mut edges: Vec<Edge>) -> Pending {
        edges.sort_by_key(|edge| (edge.stamp.id.actor, edge.place()));
        let of_authors = edges.chunk_by(|one, other| one.stamp.id.actor == other.stamp.id.actor);
        let authors = of_authors.map(|edges| (edges[0].stamp.id.actor, Queue::new(edges.to_vec()))).collect();
        edges.sort_by_key(Edge::strength);
        Pending { authors, all: edges, chain: Vec::new() }
    }

    /// `saw` says of one edge whether its author had seen another. Who saw a change saw those before it.
    pub fn next(&mut self, saw: impl Fn(&Edge, &Edge) -> bool) -> Option<Edge> {
        loop {
            let Some(last) = self.chain.last().copied() else {
                let authors = &self.authors;
                while self.all.pop_if(|edge| authors[&edge.stamp.id.actor].is_done(edge)).is_some() {}
                self.chain.push(*self.all.last()?);
                continue;
            };
            let seen = self.authors.values().filter_map(|queue| queue.strongest(|other| saw(&last, other)));
            if let Some(before) = seen.max_by_key(Edge::strength) {
                self.chain.push(before);
                continue;
            }
            self.chain.pop();
            self.authors.get_mut(&last.stamp.id.actor)?.done += 1;
            return Some(last);
        }
    }
}

/// The edges of one author in the order of its changes, of which the first ones are done. Those of one change have not seen
/// each other; the strongest of them is the first.
struct Queue {
    edges: Vec<Edge>,
    done: usize,
    /// Where the strongest of 2, 4, 8 … edges is, from each of them on.
    strongest: Vec<Vec<usize>>,
}

impl Queue {
    fn new(edges: Vec<Edge>) -> Queue {
        let mut strongest: Vec<Vec<usize>> = vec![(0..edges.len()).collect()];
        let mut width = 1;
        while width * 2 <= edges.len() {
            let half = &strongest[strongest.len() - 1];
            let whole = (0..=edges.len() - width * 2).map(|at| stronger(&edges, half[at], half[at + width]));
            strongest.push(whole.collect());
            width *= 2;
        }
        Queue { edges, done: 0, strongest }
    }

    fn is_done(&self, edge: &Edge) -> bool {
        self.edges[..self.done].last().is_some_and(|last| edge.place() <= last.place())
    }

    /// The strongest that is not done, of those that somebody saw.
    fn strongest(&self, is_seen: impl Fn(&Edge) -> bool) -> Option<Edge> {
        let count = self.edges[self.done..].partition_point(is_seen);
        let level = count.checked_ilog2()? as usize;
        let best = &self.strongest[level];
        let (first, last) = (best[self.done], best[self.done + count - (1 << level)]);
        Some(self.edges[stronger(&self.edges, first, last)])
    }
}

fn stronger(edges: &[Edge], one: usize, other: usize) -> usize {
    if edges[one].strength() < edges[other].strength() { other } else { one }
}
