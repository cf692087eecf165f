//! No merge closes a cycle of protos that neither side had. Which edge is left out follows from the set of edges alone:
//! they are taken in one by one, the strongest first but after what its author had seen (`edges`), and one that would close
//! a cycle is not taken. Cycles at rest stay, and so do those that live made before its own eyes.
//!
//! Nor does it leave an object without protos, unless somebody left it so: what was to replace others, and is left out, has
//! replaced nothing (`deeds`). What stays for that reason is an edge like others, and may close a cycle itself: so all are
//! taken in again, until no more deeds are void. That ends, for none ever counts again, and an object to which nobody did
//! anything has what it had at rest.
//!
//! All of this is a view of what was admitted. Nothing is written for it, but where live goes on from it (`hold`).

use crate::deeds::Deeds;
use crate::edges::{Edge, Pending};
use crate::fresh::Fresh;
use crate::graph::{Graph, Link};
use crate::ledger::Ledger;
use crate::line::{Element, Ruling, Sequence};
use crate::rest::Rest;
use crate::stamp::{Stamp, View};
use object::change::{Datum, Line, ObjectId};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of the protos of those objects of which some are left out, or kept.
pub(crate) type Rulings = BTreeMap<ObjectId, Ruling>;

type Family<'l> = BTreeMap<ObjectId, Deeds<'l>>;

/// Protos that would close a cycle.
type LeftOut = BTreeMap<ObjectId, BTreeSet<Element>>;

impl Ledger {
    pub(crate) fn proto_lines(&self) -> impl Iterator<Item = (ObjectId, &Sequence)> {
        let protos = self.lines.iter().filter(|((_, line), _)| *line == Line::Protos);
        protos.map(|((object, _), sequence)| (*object, sequence))
    }

    pub(crate) fn find_rulings<R: Rest>(&self, rest: &Fresh<'_, R>) -> Rulings {
        let deeds = |(object, sequence)| (object, Deeds::new(self, object, sequence));
        let mut family: Family<'_> = self.proto_lines().map(deeds).collect();
        loop {
            let (graph, left_out) = self.take_in(&family, rest);
            let mut is_more = false;
            for (object, deeds) in &mut family {
                let is_more_out = left_out.get(object).is_some_and(|out| deeds.void_those_left_out(out));
                let is_bare = graph.links.get(object).is_none_or(Vec::is_empty);
                is_more |= is_more_out || (is_bare && deeds.void_weakest());
            }
            if !is_more {
                return self.ruled(&family, &graph);
            }
        }
    }

    /// Takes in the edges that are wanted, one by one.
    fn take_in<'g, R: Rest>(&self, family: &Family<'_>, rest: &'g Fresh<'g, R>) -> (Graph<'g, R>, LeftOut) {
        let mut graph = Graph { rest, links: BTreeMap::new() };
        let mut edges = Vec::new();
        for (from, deeds) in family {
            graph.links.insert(*from, Vec::new());
            for at in deeds.wanted() {
                let (piece, value) = (&deeds.sequence.pieces[at], deeds.sequence.value(at, 0));
                let Some(Datum::Object(to)) = value else { continue };
                match piece.stamp {
                    None => graph.add(*from, Link { to, element: piece.element(0), stamp: None }),
                    Some(stamp) => edges.push(Edge { from: *from, to, element: piece.element(0), stamp }),
                }
            }
        }
        let mut pending = Pending::new(edges);
        let mut left_out = LeftOut::new();
        while let Some(edge) = pending.next(|edge, other| self.saw(&edge.stamp, &other.stamp)) {
            let Edge { from, to, element, stamp } = edge;
            if !graph.leads(to, from, |_| true) || self.is_knowing(&graph, &edge) {
                graph.add(from, Link { to, element, stamp: Some(stamp) });
            } else {
                left_out.entry(from).or_default().insert(element);
            }
        }
        (graph, left_out)
    }

    /// Whether live closed a cycle before its own eyes, which is still there.
    fn is_knowing<R: Rest>(&self, graph: &Graph<'_, R>, edge: &Edge) -> bool {
        let sequence = self.lines.get(&(edge.from, Line::Protos));
        sequence.is_some_and(|sequence| sequence.knowing.contains(&edge.element))
            && graph.leads(edge.to, edge.from, |other| self.saw(&edge.stamp, other))
    }

    /// How what is taken in differs from what was neither deleted nor left out.
    fn ruled<R: Rest>(&self, family: &Family<'_>, graph: &Graph<'_, R>) -> Rulings {
        let all = View::all();
        let mut rulings = Rulings::new();
        for (object, deeds) in family {
            let taken = graph.links.get(object).into_iter().flatten().map(|link| link.element);
            let taken: BTreeSet<Element> = taken.collect();
            let mut ruling = Ruling::default();
            for at in deeds.sequence.homes() {
                let element = deeds.sequence.pieces[at].element(0);
                match (deeds.sequence.exists(at, &all), taken.contains(&element)) {
                    (true, false) => {
                        ruling.left_out.insert(element);
                        ruling.given_up.extend(deeds.is_given_up(at).then_some(element));
                    }
                    (false, true) => {
                        ruling.kept.insert(element, self.order);
                    }
                    _ => {}
                }
            }
            if !ruling.is_empty() {
                rulings.insert(*object, ruling);
            }
        }
        rulings
    }

    /// Whether the author of one change had seen the other when it made it.
    fn saw(&self, by: &Stamp, other: &Stamp) -> bool {
        if by.id.actor == other.id.actor {
            return other.id.seq < by.id.seq;
        }
        match self.forks.get(&by.id.actor) {
            Some(fork) => fork.view.sees(other),
            None => other.order < by.order,
        }
    }
}
