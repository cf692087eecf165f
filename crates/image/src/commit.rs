//! What a transaction did, as one batch of changes: first the objects that it made persistent, then what it changed in those
//! that were.

use crate::capture::{Capture, Language};
use crate::difference;
use crate::identity::Identities;
use object::change::{Change, ChangeId, ObjectId, Operation, Time};
use object::{Handle, Heap};

/// What one transaction did.
pub struct Commitment {
    pub changes: Vec<Change>,
    /// Objects that got an id, and lose it again if the commit fails.
    pub found: Vec<Handle>,
}

/// The changes of the innermost level, numbered from `next` on. `roots` are persistent from now on, if they were not.
pub fn commitment(
    heap: &Heap,
    identities: &Identities,
    language: &dyn Language,
    roots: &[Handle],
    next: ChangeId,
    time: Time,
) -> Commitment {
    let mut capture = Capture::new(heap, identities, language, next);
    let changed = changed(&mut capture);
    for &root in roots {
        capture.identity(root);
    }
    let mut made = Vec::new();
    while let Some((object, creation)) = capture.next() {
        made.push((object, Operation::Create(Box::new(creation))));
    }
    let links = capture.links();
    let operations = made.into_iter().chain(changed).chain(links);
    let number = |(index, (object, operation))| {
        let id = ChangeId::new(next.actor, next.seq + index as u64);
        Change::new(id, time, object, operation)
    };
    let changes = operations.enumerate().map(number).collect();
    Commitment { changes, found: capture.into_found() }
}

/// What became of the objects that were persistent before.
fn changed(capture: &mut Capture<'_>) -> Vec<(ObjectId, Operation)> {
    let mut changed = Vec::new();
    let Some(level) = capture.heap.level() else { return changed };
    // Those that become persistent on the way are told whole.
    let known = level.befores().filter_map(|(handle, before)| Some((handle, before, capture.identities.id(handle)?)));
    let known: Vec<_> = known.collect();
    let mut operations = Vec::new();
    for (handle, before, id) in known {
        capture.begin(id);
        difference::operations(capture, before, capture.heap.object(handle), &mut operations);
        changed.extend(operations.drain(..).map(|operation| (id, operation)));
    }
    changed
}
