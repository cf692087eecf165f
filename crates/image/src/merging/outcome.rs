//! What the kernel said, as a plan: in the image's own terms, with what the kernel cannot say put in its place.

use super::arrival::{Arrival, BroughtFiles, Left, MergePlan};
use super::container::{Classes, Made, Sight, made};
use super::delivery::APPLY_FILES;
use super::ledger::{Said, Teller, raw};
use super::policies;
use super::renaming::{Renaming, renamed, renamed_datum};
use super::select::{Selected, select};
use super::story::{Story, Subject, Told, tell};
use crate::error::ImageError;
use crate::landmarks::Landmarks;
use crate::past::Past;
use crate::retell::{Trouble, line_of};
use language::Interrupt;
use merge::{Conflict, Effect, Outcome, Place, Violation};
use object::change::{ActorId, Change, ChangeId, Datum, Line, ObjectId, Operation, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use store::Store;

/// A journal of more changes is not planned: nobody could look at all of it, and planning it would hold up live.
pub const PLANNED_MOST: usize = 20_000;

/// How a call in a journal says that it is to be made when the dream is merged.
pub const DEFERRED: &str = "deferred";

pub fn plan(store: &Store, arrival: &Arrival, interrupt: &Interrupt) -> Result<MergePlan, ImageError> {
    let at = store.last_commit();
    if arrival.fork_commit > at {
        return Err(ImageError::NotMerged(format!(
            "it was forked at commit {}, which is not there",
            arrival.fork_commit
        )));
    }
    let landmarks = Landmarks::of(store)?;
    let Selected { mut journal, left_out, of_machine } = select(store, &landmarks, arrival)?;
    if selected_count(arrival, &of_machine) > PLANNED_MOST {
        return Ok(MergePlan { left_out, of_machine, is_too_much: true, ..MergePlan::nothing(arrival, at, None) });
    }
    let mut subject = subject(arrival, &journal);
    let mut is_known = false;
    let (mut story, at_fork, classes) = loop {
        let story = match tell(store, &landmarks, &subject, interrupt)? {
            Told::Before(commit, note) => return merged_before(arrival, at, commit, note.journal.len()),
            Told::Story(story) => *story,
        };
        if !std::mem::replace(&mut is_known, true) {
            check_known(arrival, &journal, &story)?;
        }
        let real: FxHashMap<ObjectId, ObjectId> = story.owns().collect();
        if take_real(&mut journal, &mut subject, &real) {
            continue;
        }
        let at_fork = story.after(arrival.fork_commit)?;
        let own = made(&journal, |object| subject.objects.contains(&object));
        let classes = classes(arrival, &story, &own)?;
        // What declares policies, and what others made in the same places, is of the story too.
        let declaring = subject.objects.iter().filter_map(|object| policies::declaring(&at_fork, *object));
        let beside = own.iter().flat_map(|made| classes.beside(made.object)).filter(|other| !is_own(arrival, **other));
        let others = declaring.chain(beside.map(|other| real.get(other).copied().unwrap_or(*other)));
        let others: Vec<ObjectId> = others.filter(|object| !at_fork.holds(*object)).collect();
        if others.is_empty() {
            break (story, at_fork, classes);
        }
        subject.objects.extend(others);
    };
    check_parents(arrival, &story)?;
    let exceptions = policies::declared(&at_fork, &journal);
    let renaming = Renaming::new(&story, &classes);
    let journal: Vec<Change> = journal.iter().map(|change| renaming.told(change)).collect();
    if !renaming.is_empty() {
        renaming.retitle(&mut story);
    }
    let teller = Teller {
        store,
        arrival,
        story: &story,
        at_fork: &at_fork,
        journal,
        exceptions: &exceptions,
        reshaped: FxHashSet::default(),
    };
    let (said, Teller { journal, reshaped, .. }) = settle(teller)?;
    let mut names = story.names.clone();
    names.push((arrival.actor, arrival.name.clone()));
    let Said { outcome, decided, woven } = said;
    let mut plan =
        MergePlan { left_out, of_machine, names, woven, decided, exceptions, ..MergePlan::nothing(arrival, at, None) };
    put_outcome(&mut plan, outcome, &renaming);
    put_raw(&mut plan, &journal, &story, &at_fork, &reshaped)?;
    put_files(&mut plan, landmarks.root);
    plan.is_idle = journal.iter().all(|change| matches!(change.operation, Operation::Call { .. }));
    plan.aliases = renaming.aliases;
    plan.journal = journal;
    Ok(plan)
}

/// How many changes there are beside those that are the machine's own, and calls.
fn selected_count(arrival: &Arrival, of_machine: &BTreeSet<u64>) -> usize {
    let is_one =
        |change: &&Change| !of_machine.contains(&change.id.seq) && !matches!(change.operation, Operation::Call { .. });
    arrival.changes.iter().filter(is_one).count()
}

fn subject(arrival: &Arrival, journal: &[Change]) -> Subject {
    let is_change = |change: &&Change| !matches!(change.operation, Operation::Call { .. });
    let objects = journal.iter().filter(is_change).map(|change| change.object);
    Subject {
        actor: arrival.actor,
        fork_commit: arrival.fork_commit,
        parents: arrival.parents.iter().map(|(parent, _)| *parent).collect(),
        objects: objects.filter(|object| !is_own(arrival, *object)).collect(),
        relinks: journal.iter().any(|change| line_of(&change.operation) == Some(Line::Protos)),
    }
}

fn is_own(arrival: &Arrival, object: ObjectId) -> bool {
    object.minted_by().is_some_and(|change| change.actor == arrival.actor)
}

/// What a dream knows by the id that the dream around it gave is another in the image, if somebody else had made it there.
/// Says whether there was such a thing.
fn take_real(journal: &mut [Change], subject: &mut Subject, real: &FxHashMap<ObjectId, ObjectId>) -> bool {
    let name = |object: ObjectId| real.get(&object).copied().unwrap_or(object);
    let mut found = Vec::new();
    for change in journal.iter_mut() {
        let before = found.len();
        found.extend(real.get(&change.object));
        change.operation.references(&mut |object| found.extend(real.get(&object)));
        if found.len() > before {
            (change.object, change.operation) = (name(change.object), renamed(&change.operation, &name));
        }
    }
    subject.objects.retain(|object| !real.contains_key(object));
    subject.objects.extend(&found);
    !found.is_empty()
}

fn classes(arrival: &Arrival, story: &Story<'_>, own: &[Made]) -> Result<Classes, ImageError> {
    let Arrival { actor, fork_commit, parents, .. } = arrival;
    Classes::new(story, own, Sight { author: Some(*actor), upto: *fork_commit, parents })
}

fn merged_before(arrival: &Arrival, at: u64, commit: u64, merged: usize) -> Result<MergePlan, ImageError> {
    if arrival.changes.len() > merged {
        let why = format!("commit {commit} has merged it up to its change {merged}, and it has gone on since");
        return Err(ImageError::NotMerged(why));
    }
    Ok(MergePlan::nothing(arrival, at, Some(commit)))
}

/// Whoever was dreamt inside of another stands on what that one did.
fn check_parents(arrival: &Arrival, story: &Story<'_>) -> Result<(), ImageError> {
    for (parent, seq) in &arrival.parents {
        let why = match story.notes().find(|note| note.actor == *parent) {
            // The rest of a dream stands on what was merged of it.
            Some(note) if note.is_partial && note.name != arrival.name => "was merged only in part",
            Some(note) if (note.journal.len() as u64) < *seq => "was merged before it came so far",
            Some(_) => continue,
            None => "is not merged",
        };
        let why = format!("it was dreamt inside of dream {}, which {why}", parent.0);
        return Err(ImageError::NotMerged(why));
    }
    Ok(())
}

/// Asks until the kernel has an answer; each time without one more object.
fn settle<'t, 's>(mut teller: Teller<'t, 's>) -> Result<(Said, Teller<'t, 's>), ImageError> {
    loop {
        match teller.attempt() {
            Ok(said) => return Ok((said, teller)),
            Err(Trouble::Reshaped(object)) if teller.give_up(object) => {}
            Err(Trouble::Reshaped(object)) => {
                return Err(ImageError::NotMerged(format!("nobody knows what object {object} was")));
            }
            Err(Trouble::Store(error)) => return Err(error.into()),
            Err(Trouble::Refused(refusal)) => return Err(ImageError::NotMerged(refusal.to_string())),
        }
    }
}

fn put_outcome(plan: &mut MergePlan, outcome: Outcome, renaming: &Renaming) {
    let real = |object| renaming.real(object);
    let datum = |value: &Datum| renamed_datum(value, &real);
    let place = |place: Place| Place { object: real(place.object), ..place };
    let effects = outcome.effects.into_iter();
    plan.effects = effects
        .map(|Effect { object, operation }| Effect { object: real(object), operation: renamed(&operation, &real) })
        .collect();
    let conflict = |mut conflict: Conflict| {
        conflict.siblings.iter_mut().for_each(|sibling| sibling.value = datum(&sibling.value));
        let (base, shown) = (datum(&conflict.base), datum(&conflict.shown));
        Conflict { place: place(conflict.place), base, shown, ..conflict }
    };
    // What others wrote over long ago has its record already.
    let takes_part = |conflict: &Conflict| {
        let is_own = |sibling: &merge::Sibling| sibling.change.actor == plan.arrival.actor;
        conflict.status != merge::Status::Superseded && conflict.siblings.iter().any(is_own)
    };
    plan.conflicts = outcome.conflicts.into_iter().filter(takes_part).map(conflict).collect();
    let violation = |Violation::ProtoCycle { object, proto, change }| Violation::ProtoCycle {
        object: real(object),
        proto: real(proto),
        change,
    };
    plan.violations = outcome.violations.into_iter().map(violation).collect();
    plan.reconciled = outcome.reconciled.into_iter().map(place).collect();
    plan.outbox = outcome.outbox.iter().filter_map(deferred).collect();
}

/// Files are applied before any call is made. Whoever wants only some slots wants none of them.
fn put_files(plan: &mut MergePlan, root: ObjectId) {
    let Some(BroughtFiles { count, digest }) = plan.arrival.files.clone() else { return };
    if plan.arrival.only.is_some() {
        plan.left_out.push(Left { object: root, place: format!("{count} changed files") });
        return;
    }
    let arguments = vec![Datum::text(&plan.arrival.name), Datum::text(&digest)];
    plan.outbox.insert(0, (ChangeId::new(plan.arrival.actor, 0), APPLY_FILES.into(), arguments));
}

/// A call that nobody has answered yet. All others were answered in the dream, and are not made again.
fn deferred((id, _, name, payload): &(ChangeId, ObjectId, Text, Datum)) -> Option<(ChangeId, Text, Vec<Datum>)> {
    let Datum::Record(fields) = payload else { return None };
    match &fields[..] {
        [arguments @ .., Datum::Text(way), _] if way.as_bytes() == DEFERRED.as_bytes() => {
            Some((*id, name.clone(), arguments.to_vec()))
        }
        _ => None,
    }
}

/// What the journal did to objects that became others, if the image left them alone.
fn put_raw(
    plan: &mut MergePlan,
    journal: &[Change],
    story: &Story<'_>,
    at_fork: &Past<'_>,
    reshaped: &FxHashSet<ObjectId>,
) -> Result<(), ImageError> {
    let mut reshaped: Vec<ObjectId> = reshaped.iter().copied().collect();
    reshaped.sort_unstable();
    for object in reshaped {
        if raw(journal, object).next().is_none() {
            continue;
        }
        if story.touched.contains(&object) {
            let why = format!("object {object} became one of another kind, and the image wrote to it meanwhile");
            return Err(ImageError::NotMerged(why));
        }
        for operation in raw(journal, object) {
            check_there(operation, at_fork, plan.arrival.actor)?;
            plan.effects.push(Effect { object, operation: operation.clone() });
        }
    }
    Ok(())
}

/// Nobody refers to what others made since the fork, but to what was made by those inside of whom it was dreamt.
fn check_known(arrival: &Arrival, journal: &[Change], story: &Story<'_>) -> Result<(), ImageError> {
    let is_parent = |actor: ActorId| arrival.parents.iter().any(|(parent, _)| *parent == actor);
    let is_theirs = |object: ObjectId| object.minted_by().is_some_and(|change| is_parent(change.actor));
    let became: FxHashSet<ObjectId> = story.owns().map(|(own, _)| own).collect();
    for change in journal {
        let mut unknown = None;
        let mut look = |object: ObjectId| {
            if (story.newborn.contains(&object) || became.contains(&object)) && !is_theirs(object) {
                unknown = Some(object);
            }
        };
        change.operation.references(&mut look);
        if let Some(object) = unknown {
            let why = format!("change {} refers to object {object}, which its author cannot know", change.id);
            return Err(ImageError::NotMerged(why));
        }
    }
    Ok(())
}

/// The same for what the kernel does not look at: there is such an object.
fn check_there(operation: &Operation, at_fork: &Past<'_>, own: ActorId) -> Result<(), ImageError> {
    let mut missing = None;
    operation.references(&mut |object| {
        let is_own = object.minted_by().is_some_and(|change| change.actor == own);
        if !is_own && merge::Rest::presence(at_fork, object) == merge::Presence::Never {
            missing = Some(object);
        }
    });
    match missing {
        Some(object) => Err(ImageError::NotMerged(format!("it refers to object {object}, which is not there"))),
        None => Ok(()),
    }
}
