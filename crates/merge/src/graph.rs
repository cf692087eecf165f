//! Which object leads to which by its protos.

use crate::fresh::Fresh;
use crate::line::Element;
use crate::rest::Rest;
use crate::stamp::Stamp;
use crate::values::Values;
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
    /// Of the objects whose protos are not at rest.
    pub links: BTreeMap<ObjectId, Vec<Link>>,
}

impl<R: Rest> Graph<'_, R> {
    pub fn add(&mut self, from: ObjectId, link: Link) {
        self.links.entry(from).or_default().push(link);
    }

    /// Whether a way leads from one object to another, over what may be used of what is not at rest.
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
            let Some(links) = self.links.get(&object) else {
                let at_rest = self.at_rest(object).into_iter();
                pending.extend(at_rest.filter(|proto| !self.rest.is_ring(object, *proto)));
                continue;
            };
            let is_way = |link: &&Link| match &link.stamp {
                Some(stamp) => may_use(stamp),
                // But for the rings that the image was born with: every object would be below itself through them.
                None => !self.rest.is_ring(object, link.to),
            };
            pending.extend(links.iter().filter(is_way).map(|link| link.to));
        }
        false
    }

    fn at_rest(&self, object: ObjectId) -> Vec<ObjectId> {
        let length = self.rest.length(object, Line::Protos);
        objects(&self.rest.elements(object, Line::Protos, 0, length))
    }
}

fn objects(values: &Values) -> Vec<ObjectId> {
    let Run::Items(items) = values.to_run() else { return Vec::new() };
    items.iter().filter_map(|item| if let Datum::Object(object) = item { Some(*object) } else { None }).collect()
}
