//! A commit of the live image does what it says and nothing else. Whatever became of protos that would close cycles, live has
//! seen it and goes on from there: where it says something of an object's protos, it has said all of them. If something
//! would come back or go elsewhere by its commit, it has said everything, as it sees it.

use crate::apply::Application;
use crate::graph::{Graph, Link};
use crate::line::{Ruling, Sequence};
use crate::rest::Rest;
use crate::stamp::{Stamp, View};
use crate::steps::Steps;
use object::change::{Change, Datum, Line, ObjectId};

impl<R: Rest> Application<'_, R> {
    /// Makes the ledger's protos those that the image shows after a commit, of which this is the last change.
    pub(crate) fn hold_protos(&mut self, last: &Change) {
        let touched = self.touched.lines.keys().filter(|(_, line)| *line == Line::Protos);
        let touched: Vec<ObjectId> = touched.map(|(object, _)| *object).collect();
        if touched.is_empty() {
            return;
        }
        let stamp = Stamp { id: last.id, order: self.order, time: last.time, policy: None };
        for object in &touched {
            self.ledger.lines.get_mut(&(*object, Line::Protos)).into_iter().for_each(|sequence| sequence.state(stamp));
        }
        self.agree();
        let rulings = self.ledger.find_rulings(&self.rest, &Steps::unbounded());
        let is_otherwise = |(object, sequence): (ObjectId, &Sequence)| {
            sequence.would_change(rulings.get(&object).unwrap_or(&Ruling::NONE))
        };
        if self.ledger.proto_lines().any(is_otherwise) {
            let protos = self.ledger.lines.iter_mut().filter(|((_, line), _)| *line == Line::Protos);
            protos.for_each(|(_, sequence)| sequence.state(stamp));
        } else {
            self.rulings = Some(rulings);
        }
    }

    /// A cycle that is before live's eyes is one that it made, or goes on with.
    fn agree(&mut self) {
        let links = self.ledger.proto_lines().map(|(object, sequence)| (object, sequence.shown_links())).collect();
        let graph = Graph { rest: &self.rest, links, steps: &Steps::unbounded() };
        for knot in graph.knots(&graph.links.keys().copied().collect()) {
            for object in &knot {
                let Some(sequence) = self.ledger.lines.get_mut(&(*object, Line::Protos)) else { continue };
                let links = graph.links.get(object).into_iter().flatten().filter(|link| knot.contains(&link.to));
                sequence.agreed.extend(links.map(|link| (link.element, self.order)));
            }
        }
    }
}

impl Sequence {
    fn shown_links(&self) -> Vec<Link> {
        let all = View::all();
        let link = |at: usize| match self.value(at, 0) {
            Some(Datum::Object(to)) => {
                Some(Link { to, element: self.pieces[at].element(0), stamp: self.pieces[at].stamp })
            }
            _ => None,
        };
        self.homes().filter(|at| self.has(*at, &all, &self.ruling)).filter_map(link).collect()
    }

    /// Whether this ruling would show something else than the image does.
    fn would_change(&self, ruling: &Ruling) -> bool {
        let all = View::all();
        self.homes().any(|at| self.has(at, &all, &self.ruling) != self.has(at, &all, ruling))
    }

    /// Notes that live goes by what it sees here.
    fn state(&mut self, stamp: Stamp) {
        if self.stated.last().is_none_or(|(last, _)| last.order != stamp.order) {
            self.stated.push((stamp, self.ruling.clone()));
        }
    }
}
