//! No merge closes a cycle of protos that neither side had. Which edge is left out follows from the set of edges alone:
//! they are taken in one by one, the strongest first but after what its author had seen (`edges`), and one that would close
//! a cycle is not taken. Cycles at rest stay, and so do those that live agreed to.
//!
//! Nor does it leave an object without protos, unless somebody left it so: what was to replace others, and is left out, has
//! replaced nothing (`deeds`). What stays for that reason is an edge like others, and may close a cycle itself: so edges are
//! taken in again, until no more deeds are void. That ends, for none ever counts again, and an object to which nobody did
//! anything has what it had at rest. Only edges of one knot hang on each other: those of others are not looked at again.
//!
//! All of this is a view of what was admitted. Nothing is written for it, but what live goes by (`hold`).

use crate::deeds::Deeds;
use crate::edges::{Edge, Pending};
use crate::fresh::Fresh;
use crate::graph::{Graph, Link};
use crate::ledger::Ledger;
use crate::line::{Element, Ruling, Sequence};
use crate::rest::Rest;
use crate::stamp::{Stamp, View};
use crate::steps::Steps;
use object::change::{Datum, Line, ObjectId};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What becomes of the protos of those objects of which some are left out, or kept.
pub(crate) type Rulings = BTreeMap<ObjectId, Ruling>;

/// In which order edges are taken in.
type Order = BTreeMap<(ObjectId, Element), usize>;

impl Ledger {
    pub(crate) fn proto_lines(&self) -> impl Iterator<Item = (ObjectId, &Sequence)> {
        let protos = self.lines.iter().filter(|((_, line), _)| *line == Line::Protos);
        protos.map(|((object, _), sequence)| (*object, sequence))
    }

    /// Breaks off when the steps are used up.
    pub(crate) fn find_rulings<R: Rest>(&self, rest: &Fresh<'_, R>, steps: &Steps) -> Rulings {
        let deeds = |(object, sequence)| (object, Deeds::new(self, object, sequence));
        let mut circles = Circles {
            ledger: self,
            deeds: self.proto_lines().map(deeds).collect(),
            wanted: Graph { rest, links: BTreeMap::new(), steps },
            left_out: BTreeMap::new(),
            knots: BTreeMap::new(),
            order: OnceCell::new(),
        };
        let mut changed: BTreeSet<ObjectId> = circles.deeds.keys().copied().collect();
        changed.iter().for_each(|object| circles.want(*object));
        while !changed.is_empty() && !steps.are_used_up() {
            let looked_at = circles.untie(&changed);
            changed = circles.void(&looked_at);
        }
        circles.rulings()
    }

    /// Of all edges, wanted or not: so none comes before another one because a third is wanted.
    fn order_of_edges(&self) -> Order {
        let mut edges = Vec::new();
        for (from, sequence) in self.proto_lines() {
            let of = |at: usize| Some((sequence.pieces[at].element(0), sequence.pieces[at].stamp?));
            edges.extend(sequence.homes().filter_map(of).map(|(element, stamp)| Edge { from, element, stamp }));
        }
        let mut pending = Pending::new(edges);
        let mut order = Order::new();
        while let Some(edge) = pending.next(|edge, other| self.saw(&edge.stamp, &other.stamp)) {
            order.insert((edge.from, edge.element), order.len());
        }
        order
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

struct Circles<'l, R> {
    ledger: &'l Ledger,
    deeds: BTreeMap<ObjectId, Deeds<'l>>,
    wanted: Graph<'l, R>,
    /// Of what is wanted.
    left_out: BTreeMap<ObjectId, BTreeSet<Element>>,
    /// Of the objects that are in one.
    knots: BTreeMap<ObjectId, Rc<BTreeSet<ObjectId>>>,
    order: OnceCell<Order>,
}

impl<R: Rest> Circles<'_, R> {
    /// Finds out what is wanted for an object.
    fn want(&mut self, object: ObjectId) {
        let Some(deeds) = self.deeds.get(&object) else { return };
        let link = |at: usize| match deeds.sequence.value(at, 0) {
            Some(Datum::Object(to)) => {
                let piece = &deeds.sequence.pieces[at];
                Some(Link { to, element: piece.element(0), stamp: piece.stamp })
            }
            _ => None,
        };
        self.wanted.links.insert(object, deeds.wanted().filter_map(link).collect());
    }

    /// Takes in edges again where something has changed. Returns the objects that this concerns.
    fn untie(&mut self, changed: &BTreeSet<ObjectId>) -> BTreeSet<ObjectId> {
        let mut concerned = changed.clone();
        for object in changed {
            self.left_out.remove(object);
            self.knots.remove(object);
        }
        for knot in self.wanted.knots(changed) {
            if knot.is_disjoint(changed) {
                continue;
            }
            knot.iter().for_each(|object| drop(self.left_out.remove(object)));
            self.take_in(&knot);
            concerned.extend(&knot);
            let knot = Rc::new(knot);
            self.knots.extend(knot.iter().map(|object| (*object, knot.clone())));
        }
        concerned
    }

    /// Takes in the edges of a knot, one by one.
    fn take_in(&mut self, knot: &BTreeSet<ObjectId>) {
        let mut taken = Graph { links: BTreeMap::new(), ..self.wanted };
        let mut edges: Vec<(usize, ObjectId, Link)> = Vec::new();
        let order = self.order.get_or_init(|| self.ledger.order_of_edges());
        for from in knot {
            let mut ways = self.wanted.ways(*from);
            ways.retain(|link| knot.contains(&link.to));
            let new = ways.iter().filter(|link| link.stamp.is_some());
            edges.extend(new.map(|link| (order[&(*from, link.element)], *from, *link)));
            ways.retain(|link| link.stamp.is_none());
            taken.links.insert(*from, ways);
        }
        edges.sort_unstable_by_key(|(place, ..)| *place);
        for (_, from, link) in edges {
            if taken.steps.are_used_up() {
                return;
            }
            let agreed = self.deeds.get(&from).and_then(|deeds| deeds.sequence.agreed.get(&link.element));
            let is_agreed = |order: &u64| taken.leads(link.to, from, |other| other.order <= *order);
            if !taken.leads(link.to, from, |_| true) || agreed.is_some_and(is_agreed) {
                taken.links.entry(from).or_default().push(link);
            } else {
                self.left_out.entry(from).or_default().insert(link.element);
            }
        }
    }

    /// Makes deeds void that do not count any more. Returns the objects whose edges are to be taken in again: what is in one
    /// knot with such a deed hangs on it.
    fn void(&mut self, looked_at: &BTreeSet<ObjectId>) -> BTreeSet<ObjectId> {
        let mut changed = BTreeSet::new();
        for object in looked_at {
            let is_bare = self.taken(*object).next().is_none();
            let Some(deeds) = self.deeds.get_mut(object) else { continue };
            let left_out = self.left_out.get(object);
            self.wanted.steps.take(deeds.weight());
            let is_out = left_out.is_some_and(|left_out| deeds.void_those_left_out(left_out));
            if is_out || (is_bare && deeds.void_weakest()) {
                self.want(*object);
                changed.insert(*object);
                changed.extend(self.knots.get(object).into_iter().flat_map(|knot| knot.iter()));
            }
        }
        changed
    }

    fn taken(&self, object: ObjectId) -> impl Iterator<Item = Element> {
        let left_out = self.left_out.get(&object);
        let wanted = self.wanted.links.get(&object).into_iter().flatten().map(|link| link.element);
        wanted.filter(move |element| !left_out.is_some_and(|left_out| left_out.contains(element)))
    }

    /// How what is taken in differs from what was not deleted.
    fn rulings(&self) -> Rulings {
        let all = View::all();
        let mut rulings = Rulings::new();
        for (object, deeds) in &self.deeds {
            let taken: BTreeSet<Element> = self.taken(*object).collect();
            let left_out = self.left_out.get(object);
            let mut ruling = Ruling::default();
            for at in deeds.sequence.homes() {
                let (element, exists) = (deeds.sequence.pieces[at].element(0), deeds.sequence.exists(at, &all));
                let is_out = exists || left_out.is_some_and(|left_out| left_out.contains(&element));
                match taken.contains(&element) {
                    true if !exists => drop(ruling.kept.insert(element, self.ledger.order)),
                    // Also if it was deleted: that did not count.
                    false if is_out => {
                        ruling.left_out.insert(element);
                        ruling.given_up.extend(deeds.is_given_up(at).then_some(element));
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
}
