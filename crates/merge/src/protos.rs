//! No merge closes a cycle of protos that neither side had. Which edge is left out follows from the set of edges alone:
//! they are taken in one by one, the strongest first but after what its author had seen (`edges`), and one that would close
//! a cycle is not taken. Cycles at rest stay, and so do those that the live image made knowingly.
//!
//! Nor does it leave an object without protos, unless somebody took them away: if all that an object would inherit from is
//! left out, or was added beside that, it keeps what had been replaced, as it was at the fork point. What is kept stands above what is new: edges
//! that would close a cycle with it are left out too.

use crate::edges::{Edge, Pending};
use crate::fresh::Fresh;
use crate::ledger::Ledger;
use crate::line::{Element, Ruling, Sequence};
use crate::rest::Rest;
use crate::stamp::{Stamp, View};
use crate::values::Values;
use object::change::{ActorId, Datum, Line, ObjectId, Run};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Elements of the protos of some objects.
type Elements = BTreeMap<ObjectId, BTreeSet<Element>>;

type Rulings = BTreeMap<ObjectId, Ruling>;

/// What was found of views that others rest on. Each is asked for again and again: without it, every circle that live closed
/// would double the work.
type Known = RefCell<BTreeMap<View, Rc<Rulings>>>;

impl Ledger {
    /// What becomes in this view of the protos of those objects of which some are left out.
    pub(crate) fn rulings<R: Rest>(&self, view: &View, rest: &Fresh<'_, R>) -> Rulings {
        Rc::unwrap_or_clone(self.known_rulings(view, rest, &Known::default()))
    }

    fn known_rulings<R: Rest>(&self, view: &View, rest: &Fresh<'_, R>, known: &Known) -> Rc<Rulings> {
        if let Some(found) = known.borrow().get(view) {
            return found.clone();
        }
        let found = Rc::new(self.find_rulings(view, rest, known));
        known.borrow_mut().insert(view.clone(), found.clone());
        found
    }

    fn find_rulings<R: Rest>(&self, view: &View, rest: &Fresh<'_, R>, known: &Known) -> Rulings {
        let edges = self.new_edges(view);
        let mut graph = Graph { ledger: self, view, rest, known, accepted: BTreeMap::new(), kept: Elements::new() };
        let mut left_out = self.take_in(&mut graph, &edges);
        while self.keep_replaced(&mut graph, &left_out) {
            left_out = self.take_in(&mut graph, &edges);
        }
        let mut rulings = BTreeMap::new();
        for (object, edges) in left_out {
            let is_bereft = graph.is_bereft(object, &edges);
            let kept = if is_bereft { graph.kept_of(object) } else { BTreeMap::new() };
            let left_out = edges.into_iter().map(|edge| edge.element).collect();
            rulings.insert(object, Ruling { left_out, kept });
        }
        rulings
    }

    /// Takes the edges in one by one; returns those that are left out.
    fn take_in<R: Rest>(&self, graph: &mut Graph<'_, R>, edges: &[Edge]) -> BTreeMap<ObjectId, Vec<Edge>> {
        let mut pending = Pending::new(edges.to_vec());
        let mut left_out: BTreeMap<ObjectId, Vec<Edge>> = BTreeMap::new();
        graph.accepted.clear();
        while let Some(edge) = pending.next(|edge, other| self.saw(edge, other)) {
            if !graph.leads(edge.to, edge.from, |_| true) || self.is_deliberate(graph, &edge) {
                graph.accepted.entry(edge.from).or_default().push(edge);
            } else {
                left_out.entry(edge.from).or_default().push(edge);
            }
        }
        left_out
    }

    /// Whether the live image closed a cycle over what it was shown. What was left out then it has not seen, nor what is
    /// kept only now.
    fn is_deliberate<R: Rest>(&self, graph: &Graph<'_, R>, edge: &Edge) -> bool {
        if edge.stamp.id.actor != self.live {
            return false;
        }
        let graph = Graph { accepted: graph.accepted.clone(), kept: Elements::new(), ..*graph };
        if !graph.leads(edge.to, edge.from, |other| self.saw(edge, other)) {
            return false;
        }
        let rulings = self.known_rulings(&View::at(edge.stamp.order - 1), graph.rest, graph.known);
        let is_shown = |other: &Edge| {
            let ruling = rulings.get(&other.from);
            self.saw(edge, other) && !ruling.is_some_and(|ruling| ruling.left_out.contains(&other.element))
        };
        graph.leads(edge.to, edge.from, is_shown)
    }

    /// Keeps what was replaced, where all that replaced it is left out. Says whether there is more than before.
    fn keep_replaced<R: Rest>(&self, graph: &mut Graph<'_, R>, left_out: &BTreeMap<ObjectId, Vec<Edge>>) -> bool {
        let winners: Vec<Edge> = graph.accepted.values().flatten().copied().collect();
        let mut is_more = false;
        for (object, edges) in left_out {
            if graph.kept.contains_key(object) || !graph.is_bereft(*object, edges) {
                continue;
            }
            let views = self.views_before(edges, &winners);
            for (element, proto) in self.replaced(*object, edges, &views, graph) {
                if !graph.is_below_at_rest(proto, *object) {
                    graph.kept.entry(*object).or_default().insert(element);
                    is_more = true;
                }
            }
        }
        is_more
    }

    /// What those saw who made these edges, before they did anything: forks at their fork point, and the live image, which
    /// has none, as those saw it who won.
    fn views_before(&self, edges: &[Edge], winners: &[Edge]) -> Vec<View> {
        let at_fork = |edge: &Edge| self.forks.get(&edge.stamp.id.actor).map(|fork| fork.view.at_fork());
        let mut views: Vec<View> = edges.iter().filter_map(at_fork).collect();
        for edge in edges.iter().filter(|edge| edge.stamp.id.actor == self.live) {
            let unseen = winners.iter().filter(|winner| !self.saw(edge, winner));
            views.extend(unseen.filter_map(at_fork));
        }
        views
    }

    /// Protos that one of the views before shows, and that only those have deleted by now, each once, who made the edges, or
    /// what these replaced, or left them there: who deletes what was kept means it.
    fn replaced<R: Rest>(
        &self,
        object: ObjectId,
        edges: &[Edge],
        before: &[View],
        graph: &Graph<'_, R>,
    ) -> Vec<(Element, ObjectId)> {
        let now = graph.view;
        let Some(sequence) = self.lines.get(&(object, Line::Protos)) else { return Vec::new() };
        let mut authors = replacing(sequence, edges, now);
        for stamp in (0..sequence.pieces.len()).flat_map(|at| sequence.deletions(at)).filter(|stamp| now.sees(stamp)) {
            if !authors.contains(&stamp.id.actor) && self.left_one_of(object, edges, stamp, graph) {
                authors.insert(stamp.id.actor);
            }
        }
        let mut found = Vec::new();
        for (at, piece) in sequence.pieces.iter().enumerate().filter(|(_, piece)| piece.moved.is_none()) {
            let mut by: BTreeSet<ActorId> = BTreeSet::new();
            let mut deletions =
                sequence.deletions(at).iter().filter(|stamp| now.sees(stamp)).map(|stamp| stamp.id.actor);
            let is_replaced = deletions.all(|actor| authors.contains(&actor) && by.insert(actor)) && !by.is_empty();
            let is_shown = before.iter().any(|view| sequence.exists(at, view));
            if let (true, true, Some(Datum::Object(proto))) = (is_replaced, is_shown, sequence.value(at, 0)) {
                found.push((piece.element(0), proto));
            }
        }
        found
    }

    /// Whether who deleted something there was shown one of these edges, and left it where it was.
    fn left_one_of<R: Rest>(&self, object: ObjectId, edges: &[Edge], by: &Stamp, graph: &Graph<'_, R>) -> bool {
        let mut seen = edges.iter().filter(|edge| self.saw(&Edge { stamp: *by, ..**edge }, edge)).peekable();
        if seen.peek().is_none() {
            return false;
        }
        let view = self.forks.get(&by.id.actor).map_or(View::at(by.order - 1), |fork| fork.view.at_fork());
        let rulings = self.known_rulings(&view, graph.rest, graph.known);
        let is_left_out =
            |edge: &Edge| rulings.get(&object).is_some_and(|ruling| ruling.left_out.contains(&edge.element));
        seen.any(|edge| !is_left_out(edge))
    }

    /// Edges made since the oldest open fork that the view shows.
    fn new_edges(&self, view: &View) -> Vec<Edge> {
        let mut edges = Vec::new();
        for ((from, _), sequence) in self.lines.iter().filter(|((_, line), _)| *line == Line::Protos) {
            for (at, piece) in sequence.pieces.iter().enumerate() {
                let Some(stamp) = piece.stamp.filter(|_| piece.moved.is_none() && sequence.exists(at, view)) else {
                    continue;
                };
                if let Some(Datum::Object(to)) = sequence.value(at, 0) {
                    edges.push(Edge { from: *from, to, element: piece.element(0), stamp });
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

struct Graph<'g, R> {
    ledger: &'g Ledger,
    view: &'g View,
    rest: &'g Fresh<'g, R>,
    known: &'g Known,
    accepted: BTreeMap<ObjectId, Vec<Edge>>,
    /// Deleted protos that are kept all the same.
    kept: Elements,
}

impl<R: Rest> Graph<'_, R> {
    /// Whether a way leads from one object to another, over what is at rest and what was taken in and may be used.
    fn leads(&self, from: ObjectId, to: ObjectId, may_use: impl Fn(&Edge) -> bool) -> bool {
        let mut seen = BTreeSet::new();
        let mut pending = vec![from];
        while let Some(object) = pending.pop() {
            if object == to {
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

    fn is_below_at_rest(&self, object: ObjectId, other: ObjectId) -> bool {
        self.leads(object, other, |_| false)
    }

    /// Whether an object has nothing but what was added beside those that are left out, by who had seen them.
    fn is_bereft(&self, object: ObjectId, left_out: &[Edge]) -> bool {
        let Some(sequence) = self.ledger.lines.get(&(object, Line::Protos)) else { return false };
        let mut at_rest = (0..sequence.pieces.len()).filter(|at| sequence.pieces[*at].stamp.is_none());
        let has_rest = at_rest.any(|at| sequence.exists(at, self.view));
        let is_beside = |edge: &Edge| left_out.iter().any(|other| self.ledger.saw(edge, other));
        !has_rest && self.accepted.get(&object).into_iter().flatten().all(is_beside)
    }

    /// The protos that an object keeps, and how often they were deleted.
    fn kept_of(&self, object: ObjectId) -> BTreeMap<Element, usize> {
        let (Some(kept), Some(sequence)) = (self.kept.get(&object), self.ledger.lines.get(&(object, Line::Protos)))
        else {
            return BTreeMap::new();
        };
        let deletions = |at: usize| sequence.deletions(at).iter().filter(|stamp| self.view.sees(stamp)).count();
        let elements = (0..sequence.pieces.len()).map(|at| (sequence.pieces[at].element(0), at));
        elements.filter(|(element, _)| kept.contains(element)).map(|(element, at)| (element, deletions(at))).collect()
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
        let kept = self.kept.get(&object);
        let is_kept = |element: Element| kept.is_some_and(|kept| kept.contains(&element));
        let is_there = |at: usize| {
            let piece = &sequence.pieces[at];
            (piece.stamp.is_none() && sequence.exists(at, self.view)) || is_kept(piece.element(0))
        };
        let there = (0..sequence.pieces.len()).filter(|at| is_there(*at));
        there.flat_map(|at| sequence.pieces[at].values.as_ref().map(objects).unwrap_or_default()).collect()
    }
}

/// Those who made the edges, and those who made what they replaced, and so on.
fn replacing(sequence: &Sequence, edges: &[Edge], now: &View) -> BTreeSet<ActorId> {
    let mut authors: BTreeSet<ActorId> = edges.iter().map(|edge| edge.stamp.id.actor).collect();
    loop {
        let is_replaced = |at: &usize| {
            let mut deletions = sequence.deletions(*at).iter().filter(|stamp| now.sees(stamp)).peekable();
            deletions.peek().is_some() && deletions.all(|stamp| authors.contains(&stamp.id.actor))
        };
        let replaced = (0..sequence.pieces.len()).filter(is_replaced);
        let more: Vec<ActorId> =
            replaced.filter_map(|at| sequence.pieces[at].stamp).map(|stamp| stamp.id.actor).collect();
        let before = authors.len();
        authors.extend(more);
        if authors.len() == before {
            return authors;
        }
    }
}

fn objects(values: &Values) -> Vec<ObjectId> {
    let Run::Items(items) = values.to_run() else { return Vec::new() };
    items.iter().filter_map(|item| if let Datum::Object(object) = item { Some(*object) } else { None }).collect()
}
