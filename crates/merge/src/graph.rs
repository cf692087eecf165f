//! Which object leads to which by its protos.

use crate::fresh::Fresh;
use crate::line::{Element, Source};
use crate::rest::Rest;
use crate::stamp::Stamp;
use crate::steps::Steps;
use object::change::{Datum, Line, ObjectId, Run};
use std::collections::{BTreeMap, BTreeSet};

/// A proto of some object.
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub to: ObjectId,
    pub element: Element,
    /// None for what is at rest.
    pub stamp: Option<Stamp>,
}

pub(crate) struct Graph<'g, R> {
    pub rest: &'g Fresh<'g, R>,
    /// Of objects whose protos are not at rest, and of others that were looked at.
    pub links: BTreeMap<ObjectId, Vec<Link>>,
    pub steps: &'g Steps,
}

impl<R: Rest> Graph<'_, R> {
    /// Whether these links lead from one object to another, over what may be used of what is not at rest.
    pub fn leads(&self, from: ObjectId, to: ObjectId, may_use: impl Fn(&Stamp) -> bool) -> bool {
        let mut seen = BTreeSet::new();
        let mut pending = vec![from];
        while let Some(object) = pending.pop() {
            if object == to {
                return true;
            }
            if !seen.insert(object) {
                continue;
            }
            let links = self.links.get(&object).map_or(&[][..], Vec::as_slice);
            self.steps.take(1 + links.len());
            pending.extend(links.iter().filter(|link| link.stamp.as_ref().is_none_or(&may_use)).map(|link| link.to));
        }
        false
    }

    pub fn ways(&self, object: ObjectId) -> Vec<Link> {
        let mut links = self.links.get(&object).cloned().unwrap_or_else(|| self.at_rest(object));
        self.steps.take(1 + links.len());
        links.retain(|link| self.is_way(object, link));
        links
    }

    /// All but the rings that the image was born with: every object would be below itself through them.
    fn is_way(&self, object: ObjectId, link: &Link) -> bool {
        link.stamp.is_some() || !self.rest.is_ring(object, link.to)
    }

    fn at_rest(&self, object: ObjectId) -> Vec<Link> {
        let length = self.rest.length(object, Line::Protos);
        let Run::Items(items) = self.rest.elements(object, Line::Protos, 0, length).to_run() else { return Vec::new() };
        let link = |(offset, item): (u64, &Datum)| match item {
            Datum::Object(to) => Some(Link { to: *to, element: Element { source: Source::Rest, offset }, stamp: None }),
            _ => None,
        };
        (0..).zip(items.iter()).filter_map(link).collect()
    }

    /// Objects that all lead to each other, as many as there are, above these: only in such a *knot* is a cycle.
    pub fn knots(&self, from: &BTreeSet<ObjectId>) -> Vec<BTreeSet<ObjectId>> {
        let (mut open, mut bounds, mut calls, mut knots) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        // Where an object is among the open ones; none if all that it leads to has been seen.
        let mut places: BTreeMap<ObjectId, Option<usize>> = BTreeMap::new();
        for start in from {
            let mut next = (!places.contains_key(start)).then_some(*start);
            loop {
                if let Some(object) = next.take() {
                    places.insert(object, Some(open.len()));
                    bounds.push(open.len());
                    calls.push((open.len(), self.ways(object)));
                    open.push(object);
                }
                let Some((place, ways)) = calls.last_mut() else { break };
                match ways.pop().map(|way| (way.to, places.get(&way.to))) {
                    Some((way, None)) => next = Some(way),
                    // All that was opened since leads back there.
                    Some((_, Some(Some(back)))) => while bounds.pop_if(|bound| *bound > *back).is_some() {},
                    Some((_, Some(None))) => {}
                    None => {
                        if bounds.pop_if(|bound| *bound == *place).is_some() {
                            let knot: BTreeSet<ObjectId> = open.drain(*place..).collect();
                            places.extend(knot.iter().map(|object| (*object, None)));
                            knots.push(knot);
                        }
                        calls.pop();
                    }
                }
            }
        }
        knots.retain(|knot| knot.len() > 1 || knot.iter().any(|one| self.ways(*one).iter().any(|way| way.to == *one)));
        knots
    }
}
