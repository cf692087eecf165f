//! What the image wrote down about merges and rejections, verdicts among it: no dream changes it. Such an object is known by its
//! proto, so that nobody has to go through all that was ever written down.

use super::Roots;
use super::names::slot_of;
use object::change::{Creation, ObjectId};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use store::Store;

/// In prototypes of Core.
const PROTOS: &[(&str, &[&str])] = &[
    ("Dream", &["Record", "Merge", "Conflict", "Sibling", "Violation", "Delivery", "Records", "Rejection"]),
    ("Verification", &["Verdict", "Result", "TestResult"]),
];

pub struct KnownRecords {
    protos: BTreeSet<ObjectId>,
    /// What was found out: thousands of changes may be to one large object.
    asked: RefCell<HashMap<ObjectId, bool>>,
}

impl KnownRecords {
    pub fn of(store: &Store, roots: &Roots) -> KnownRecords {
        let read = |id: ObjectId| store.read(id).ok().flatten();
        let core = roots.core.and_then(read).unwrap_or_default();
        let mut protos = BTreeSet::new();
        for (holder, names) in PROTOS {
            let holder = slot_of(&core, holder).and_then(read).unwrap_or_default();
            protos.extend(names.iter().filter_map(|name| slot_of(&holder, name)));
        }
        KnownRecords { protos, asked: RefCell::default() }
    }

    /// Whether the image has this object, and it is one of them.
    pub fn have(&self, store: &Store, object: ObjectId) -> bool {
        let is_one = |record: &Creation| record.protos.iter().any(|proto| self.protos.contains(proto));
        let find = || store.read(object).ok().flatten().as_ref().is_some_and(is_one);
        *self.asked.borrow_mut().entry(object).or_insert_with(find)
    }
}
