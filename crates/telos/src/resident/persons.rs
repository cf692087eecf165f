//! What needs a person's token: locking is for everybody who may talk to the image, and makes it safer; unlocking, and whatever
//! changes what is locked or protected, is for a person. That one allows it, the keeper has found out, and the request says so.

use super::candidate::verification_of;
use super::locks::{self, Held, Locks, WHOLE, covered, dream_is_locked};
use super::names::{LiveNames, slot_of};
use super::protection::{Belonging, OF_MACHINE, Protected};
use super::{Resident, cause_of};
use dream::DreamId;
use dream::path::{names_in, written};
use dream::show::Names;
use image::{Cause, MergePlan};
use keeper::protocol::{Failure, FailureKind, LockReport, LockTarget, MergeOrder, Request, Shown};
use language::{Value, Vm};
use merge::Effect;
use object::change::{Change, ChangeId, Field, ObjectId, Operation, Time};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use store::Ticket;

/// What the history says of a commit that a person allowed.
pub const ALLOWED: &str = " (allowed by a person)";
/// So many places are told that a person allowed to change.
const PLACES_MAX: usize = 100;
/// So many locks there may be.
const LOCKS_MAX: usize = 1000;
const HINT: &str =
    "--token-file FILE shows the token, which `telos token new` makes; `telos locks` tells what else is locked";

type Settled = Result<(Shown, Option<Ticket>), Failure>;

/// The failure of what only a person may do.
pub fn locked(message: String) -> Failure {
    Failure { hint: Some(HINT.into()), ..Failure::new(FailureKind::Locked, message) }
}

fn refused(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Refused, message)
}

/// What a target is in the image as it is now.
struct Found {
    held: Held,
    name: String,
}

impl Resident {
    /// Finds out what is locked, and holds it.
    pub(super) fn renew_guard(&mut self) {
        self.locks = Locks::of(self.image.store());
        self.image.set_guard(self.locks.guard().clone());
        self.desk.set_locked(self.locks.dreams().map(String::from).collect());
        self.watch.locks.store(self.locks.all.len() as u64, Ordering::Relaxed);
    }

    /// The same, if what is locked may hold other things now.
    pub(super) fn renew_guard_after(&mut self, cause: &Cause) {
        if cause.is_allowed && !self.is_dream {
            self.renew_guard();
        }
    }

    /// Whether this request may touch a dream.
    pub(super) fn check_dream(&self, name: &str, request: &Request) -> Result<(), Failure> {
        match self.locks.holds_dream(name) && !request.is_allowed {
            true => Err(locked(dream_is_locked(name))),
            false => Ok(()),
        }
    }

    /// Whether a dream may be merged, as far as that is known before it is judged. Judging alone changes nothing.
    pub(super) fn check_merge(&self, order: &MergeOrder, request: &Request) -> Result<(), Failure> {
        if order.is_trial {
            return Ok(());
        }
        self.check_dream(&order.dream, request)?;
        match self.image.guard().is_whole() && !request.is_allowed {
            true => Err(locked(image::ImageError::Locked(WHOLE.into()).to_string())),
            false => Ok(()),
        }
    }

    pub(super) fn list_locks(&self) -> Result<String, String> {
        let lines: Vec<_> = self.locks.all.iter().map(locks::Lock::line).collect();
        serde_json::to_string(&lines).map_err(|error| error.to_string())
    }

    /// Locks something. Whoever may talk to the image may do that, unless it is locked itself.
    pub(super) fn lock(&mut self, target: &LockTarget, request: &Request) -> Settled {
        if self.is_dream {
            return Err(refused("a dream locks nothing; ask the live image"));
        }
        let found = self.found(target).map_err(refused)?;
        if let Some(index) = self.index_of(&found) {
            return Ok((self.report(index, None), None));
        }
        if self.locks.all.len() >= LOCKS_MAX {
            return Err(refused(format!("there are {LOCKS_MAX} locks, and no more may be")));
        }
        if self.image.guard().is_whole() && !request.is_allowed {
            return Err(locked(image::ImageError::Locked(WHOLE.into()).to_string()));
        }
        self.get_ready(&found).map_err(refused)?;
        let cause = cause_of(request, &format!("lock {}", found.name));
        let entry = self.entry_of(&found, &cause);
        let ticket = self.write_locks(cause, |vm, mut locks| {
            locks.push(entry.to_map(vm));
            locks
        })?;
        let Some(index) = self.index_of(&found) else { return Err(refused("it could not be locked")) };
        Ok((self.report(index, ticket), ticket))
    }

    /// Unlocks something. A person must allow it.
    pub(super) fn unlock(&mut self, target: &LockTarget, request: &Request) -> Settled {
        if self.is_dream {
            return Err(refused("a dream unlocks nothing; ask the live image"));
        }
        let name = match target {
            LockTarget::Object(path) => name_of(path).map_err(refused)?,
            LockTarget::Dream(name) => name.clone(),
            LockTarget::Whole => WHOLE.into(),
        };
        let kind = match target {
            LockTarget::Object(_) => "object",
            LockTarget::Dream(_) => "dream",
            LockTarget::Whole => "whole",
        };
        // By the name that it was locked by: the object may not be found by it any more.
        let index = self.locks.all.iter().position(|lock| lock.kind() == kind && lock.name == name);
        let Some(index) = index else {
            return Err(refused(format!("{name} is not locked; `telos locks` tells what is")));
        };
        if !request.is_allowed {
            return Err(locked(format!("{name} is unlocked only with a person's token; nothing was done")));
        }
        let cause = cause_of(request, &format!("unlock {name}"));
        let (report, place) = (self.report(index, None), self.locks.all[index].place);
        let ticket = self.write_locks(cause, |_, mut locks| {
            if place < locks.len() {
                locks.remove(place);
            }
            locks
        })?;
        let mut told: LockReport = serde_json::from_str(&report.text).map_err(|error| refused(error.to_string()))?;
        (told.is_locked, told.commit) = (false, ticket.map(|ticket| ticket.number));
        Ok((shown(&told), ticket))
    }

    fn report(&self, index: usize, ticket: Option<Ticket>) -> Shown {
        let line = self.locks.all[index].line();
        let commit = ticket.map(|ticket| ticket.number);
        shown(&LockReport { kind: line.kind, name: line.name, is_locked: true, covers: line.covers, commit })
    }

    fn index_of(&self, found: &Found) -> Option<usize> {
        let is_same = |held: &Held| match (held, &found.held) {
            (Held::Object { object, .. }, Held::Object { object: other, .. }) => object == other,
            (held, other) => held == other,
        };
        self.locks.all.iter().position(|lock| is_same(&lock.held) && lock.name == found.name)
    }

    fn found(&self, target: &LockTarget) -> Result<Found, String> {
        match target {
            LockTarget::Object(path) => {
                let (object, holder) = self.object_at(path)?;
                Ok(Found { held: Held::Object { object, holder }, name: name_of(path)? })
            }
            LockTarget::Dream(name) => {
                let id: DreamId = name.parse().map_err(|error: dream::DreamError| error.to_string())?;
                Ok(Found { held: Held::Dream, name: id.to_string() })
            }
            LockTarget::Whole => Ok(Found { held: Held::Whole, name: WHOLE.into() }),
        }
    }

    /// What must be so before something is locked.
    fn get_ready(&self, found: &Found) -> Result<(), String> {
        match &found.held {
            Held::Whole => Ok(()),
            // One that is kept is not expired.
            Held::Dream => {
                let id: DreamId = found.name.parse().map_err(|error: dream::DreamError| error.to_string())?;
                if self.dreams.is_going_on(&found.name) {
                    return Err(format!("dream {id} is going on; lock it when it is over"));
                }
                self.kept()?.set_kept(id, true).map_err(|error| error.to_string())
            }
            Held::Object { object, .. } => {
                if self.is_of_machine(*object) {
                    return Err(format!(
                        "{} cannot be locked: the image writes to it by itself; `telos lock --whole` locks everything",
                        found.name
                    ));
                }
                covered(self.image.store(), *object).map(drop)
            }
        }
    }

    /// Telos, which notes wakings and merges, and what the machine writes to while programs run.
    fn is_of_machine(&self, object: ObjectId) -> bool {
        let roots = self.desk.roots();
        let record = |id: Option<ObjectId>| self.image.store().read(id?).ok().flatten();
        let telos = record(roots.lobby).and_then(|lobby| slot_of(&lobby, "Telos"));
        let core = record(roots.core).unwrap_or_default();
        telos == Some(object) || OF_MACHINE.iter().any(|name| slot_of(&core, name) == Some(object))
    }

    fn entry_of(&mut self, found: &Found, cause: &Cause) -> Entry {
        let (mut object, mut holder) = (None, None);
        if let Held::Object { object: id, holder: place } = &found.held {
            object = Some(self.image.value_of(*id));
            let place = place.clone().map(|(place, slot)| (self.image.value_of(place), slot));
            holder = place.map(|(place, slot)| (place, image::readable_text(slot.as_bytes())));
        }
        let kind = match found.held {
            Held::Object { .. } => "object",
            Held::Dream => "dream",
            Held::Whole => "whole",
        };
        let Cause { author, cause, .. } = cause.clone();
        Entry { kind, name: found.name.clone(), object, holder, author, cause }
    }

    /// Puts another list of locks into the place of the one that is there. No program runs for it.
    fn write_locks(
        &mut self,
        cause: Cause,
        change: impl FnOnce(&mut Vm, Vec<Value>) -> Vec<Value>,
    ) -> Result<Option<Ticket>, Failure> {
        let lobby = self.desk.roots().lobby.and_then(|lobby| self.image.store().read(lobby).ok().flatten());
        let Some(telos) = lobby.and_then(|lobby| slot_of(&lobby, "Telos")) else {
            return Err(refused("the image has no Telos, which keeps the locks"));
        };
        let telos = self.image.value_of(telos);
        let cause = Cause { is_allowed: true, ..cause };
        let ((), ticket) = self.transact(&cause, |session| {
            let vm = &mut session.vm;
            let slot = vm.get_slot(telos, locks::SLOT);
            let before = slot.and_then(|list| vm.list_of(list)).unwrap_or_default().to_vec();
            let after = change(vm, before);
            let list = vm.list(after);
            vm.set_slot(telos, locks::SLOT, list);
            Ok(())
        })?;
        Ok(ticket)
    }

    /// What of a merge would have been refused without a person, by names.
    pub(super) fn allowed_places(&self, plan: &MergePlan, request: &Request) -> Vec<String> {
        if !request.is_allowed {
            return Vec::new();
        }
        let (store, roots) = (self.image.store(), self.desk.roots());
        let verification = verification_of(store, roots.lobby, roots.core).ok();
        let belonging = Belonging::Unknown(verification);
        let protected = Protected::of(store, &roots, self.genesis(), belonging, self.image.guard());
        let names = LiveNames::of(store, &roots);
        let change = |Effect { object, operation }: &Effect| {
            Change::new(ChangeId::new(store::LIVE_ACTOR, 0), Time::from_ms(0), *object, operation.clone())
        };
        let kept = plan.effects.iter().map(change).filter(|change| protected.keeps(store, change));
        let places: BTreeSet<String> = kept
            .map(|change| {
                let object = names.name(change.object).unwrap_or_else(|| format!("object {}", change.object));
                match change.operation {
                    Operation::Put { field: Field::Slot(slot), .. } => format!("{object} {slot}"),
                    _ => object,
                }
            })
            .collect();
        places.into_iter().take(PLACES_MAX).collect()
    }
}

/// A place as a lock is called after it, however it was written.
fn name_of(path: &str) -> Result<String, String> {
    Ok(names_in(path)?.iter().map(|name| written(name)).collect::<Vec<_>>().join("."))
}

fn shown(report: &LockReport) -> Shown {
    Shown { text: serde_json::to_string(report).unwrap_or_default(), kind: "Map".into() }
}

/// A lock on its way into the image.
struct Entry {
    kind: &'static str,
    name: String,
    object: Option<Value>,
    holder: Option<(Value, String)>,
    author: String,
    cause: String,
}

impl Entry {
    fn to_map(&self, vm: &mut Vm) -> Value {
        let map = vm.map();
        let words = [
            ("kind", self.kind),
            ("name", self.name.as_str()),
            ("author", self.author.as_str()),
            ("cause", self.cause.as_str()),
        ];
        for (key, text) in words {
            let text = vm.symbol(text);
            vm.map_put(map, key, text);
        }
        vm.map_put(map, "time", Value::number(image::now_ms() as f64));
        self.object.iter().for_each(|object| vm.map_put(map, "object", *object));
        if let Some((holder, slot)) = &self.holder {
            let slot = vm.symbol(slot);
            vm.map_put(map, "holder", *holder);
            vm.map_put(map, "slot", slot);
        }
        map
    }
}
