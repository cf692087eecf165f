//! The checkpoint: moves committed changes from the log into the image, a step at a time. A step takes the oldest commits,
//! brings each object that they touch up to date, puts the commits with what takes them back into the history, notes how
//! far that is, and hands it all to the kernel as one transaction of the image.
//!
//! **Order.** The image's pages are flushed; then the log's label, which names the transaction, is; only then is the log's
//! room free, do readers move on, and may the next transaction begin. A crash at any moment finds the label with a
//! transaction that is whole: the newest, or the one before it, whose pages the newest has not touched.

use crate::error::StoreError;
use crate::image::Image;
use crate::journal::Journal;
use crate::pace::Pace;
use crate::pending::Committed;
use crate::reader::{Reader, apply};
use crate::record::encode_history;
use crate::state::{self, State};
use object::change::{Change, ChangeId, Creation, Draft, ObjectId, Preds, encode_stored};
use std::sync::Arc;
use system::lmdb::Editor;

/// Commits taken out of the pending ones while nobody else can commit.
const RELEASED_TOGETHER: usize = 16;

pub struct Checkpoint<'s> {
    pub image: &'s Image,
    pub journal: &'s Journal,
    pub reader: &'s Reader,
    pub pace: &'s Pace,
    pub step_changes: usize,
}

impl Checkpoint<'_> {
    /// Applies the oldest commits; tells how many there were.
    pub fn step(&self) -> Result<usize, StoreError> {
        self.journal.flush()?;
        let inside = self.journal.lock();
        inside.check_open()?;
        let commits = inside.pending.oldest(inside.durable, self.step_changes);
        let next_actor = inside.counters.reserved_actor;
        drop(inside);
        let (Some(first), Some(last)) = (commits.first(), commits.last()) else { return Ok(0) };
        let (first, applied) = (first.number, last.end);
        let state = self.write(&commits, |state| state.next_actor = next_actor.max(state.next_actor))?;
        debug_assert_eq!(state.number, first + commits.len() as u64 - 1);
        self.pace.flush(|| self.is_urgent())?;
        let (image_number, image_checksum) = self.image.stamp()?;
        self.journal.relabel(|label| {
            label.applied = applied;
            label.image_number = image_number;
            label.image_checksum = image_checksum;
        })?;
        self.release(state.number, applied)?;
        Ok(commits.len())
    }

    /// Commits would soon have to wait for room.
    fn is_urgent(&self) -> bool {
        let inside = self.journal.lock();
        inside.end() - inside.applied > self.journal.log.capacity() / 2
    }

    /// One transaction of the image.
    fn write(&self, commits: &[Arc<Committed>], note: impl FnOnce(&mut State)) -> Result<State, StoreError> {
        let mut transaction = self.image.environment.write()?;
        let about = transaction.get(self.image.about, state::KEY)?;
        let mut state = State::from_bytes(about.unwrap_or_default(), self.image.path())?;
        let mut undo: Vec<Vec<Change>> = commits.iter().map(|_| Vec::new()).collect();
        let mut buffer = Vec::new();
        let mut objects = transaction.editor(self.image.objects)?;
        for work in by_object(commits).chunk_by(|one, other| one.object == other.object) {
            state.objects += u64::from(self.update(&mut objects, commits, work, &mut undo, &mut buffer)?);
        }
        drop(objects);
        for (commit, undo) in commits.iter().zip(undo) {
            encode_history(commit, &in_order(undo), &mut buffer)?;
            transaction.append(self.image.history, &commit.number.to_be_bytes(), &buffer)?;
            note_commit(&mut state, commit);
        }
        note(&mut state);
        transaction.put(self.image.about, state::KEY, &state.to_bytes())?;
        transaction.commit()?;
        Ok(state)
    }

    /// Brings one object up to date; tells whether it is new.
    fn update(
        &self,
        objects: &mut Editor<'_>,
        commits: &[Arc<Committed>],
        work: &[Work],
        undo: &mut [Vec<Change>],
        buffer: &mut Vec<u8>,
    ) -> Result<bool, StoreError> {
        let object = work[0].object;
        let key = object.to_bytes();
        let stored = objects.get(&key)?;
        let is_new = stored.is_none();
        let mut draft = match stored {
            Some(value) => Some(Draft::from(self.image.object(object, value)?)),
            None => None,
        };
        for Work { commit, change, .. } in work {
            let number = commits[*commit].number;
            let change = &commits[*commit].changes[*change];
            if let Some(operation) = apply(&mut draft, object, number, &change.operation)? {
                let preds = Preds::Named([change.id].into());
                undo[*commit].push(Change { id: change.id, time: change.time, object, operation, preds });
            }
        }
        let Some(draft) = draft else { return Ok(false) };
        encode_stored(object, &Creation::from(draft), buffer)?;
        objects.put(&key, buffer)?;
        Ok(is_new)
    }

    /// Readers move on to the image that has these commits, at the moment when they are pending no more. Taking them out is what
    /// takes time, so nobody waits for more of that than a few of them.
    fn release(&self, number: u64, applied: u64) -> Result<(), StoreError> {
        let mut snapshot = self.reader.lock();
        snapshot.renew()?;
        let mut inside = self.journal.lock();
        inside.pending.pass(number);
        inside.waiting_since = (inside.pending.len() > 0).then(std::time::Instant::now);
        self.journal.free(&mut inside, applied);
        drop((snapshot, inside));
        while self.take_out() {
            self.pace.rest(|| self.is_urgent());
        }
        Ok(())
    }

    /// Takes out a few of those that readers have passed; tells whether there may be more. They are dropped where nobody waits.
    fn take_out(&self) -> bool {
        let mut gone = Vec::with_capacity(RELEASED_TOGETHER);
        let mut inside = self.journal.lock();
        gone.extend(std::iter::from_fn(|| inside.pending.pop()).take(RELEASED_TOGETHER));
        gone.len() == RELEASED_TOGETHER
    }
}

/// One change to be applied: of which object, of which commit of the step, and which of its changes.
struct Work {
    object: ObjectId,
    commit: usize,
    change: usize,
}

/// All changes of the commits, object by object in the order of the table's keys, each object's in their own order.
fn by_object(commits: &[Arc<Committed>]) -> Vec<Work> {
    let mut work: Vec<Work> = commits
        .iter()
        .enumerate()
        .flat_map(|(commit, committed)| {
            let changes = committed.changes.iter().enumerate();
            changes.map(move |(change, each)| Work { object: each.object, commit, change })
        })
        .collect();
    work.sort_by_key(|work| work.object);
    work
}

fn note_commit(state: &mut State, commit: &Committed) {
    state.number = commit.number;
    state.applied = commit.end;
    state.time = state.time.max(commit.time);
    if let Some(last) = commit.changes.last().filter(|change| change.id.actor == state.actor) {
        state.next_change = last.id.seq + 1;
    }
}

/// The last change is taken back first.
pub fn in_order(mut undo: Vec<Change>) -> Vec<Change> {
    let undone = |change: &Change| match &change.preds {
        Preds::Named(ids) => ids.first().map_or(0, |id| id.seq),
        Preds::Seen => 0,
    };
    undo.sort_by_key(|change| std::cmp::Reverse(undone(change)));
    for (index, change) in undo.iter_mut().enumerate() {
        change.id = ChangeId::new(change.id.actor, index as u64 + 1);
    }
    undo
}
