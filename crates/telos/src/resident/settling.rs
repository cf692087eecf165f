//! What is left to people after a merge: conflicts to decide on, where a value comes from, and taking a merge back.

use super::names::{LiveNames, slot_of};
use super::places::Place;
use super::{Resident, cause_of, evidence};
use dream::DreamId;
use dream::show::Names;
use image::{Choice, Dreamt, Part, Search, Writing};
use keeper::Begun;
use keeper::protocol::{ConflictChoice, Failure, FailureKind, Request, Shown};
use language::Value as IoValue;
use object::change::{Body, Creation, Datum, ObjectId, Run};
use serde_json::{Value, json};
use std::convert::Infallible;
use store::Ticket;

/// So many commits are looked at for where a value comes from.
const COMMITS_MAX: u64 = 100_000;
/// So many conflicts are told at once: that fits into an answer.
pub const CONFLICTS_MAX: u64 = 500;
/// What is shown of a value.
const TEXT_CHARS_MAX: usize = 2_000;

type Settled = Result<(Shown, Option<Ticket>), Failure>;

impl Resident {
    /// So many conflicts behind the one of a number, the oldest first.
    pub(super) fn conflicts(&mut self, after: u64, count: u64, is_all: bool) -> Settled {
        let records = self.records_of_telos("conflicts").map_err(refused)?;
        let is_meant = |(number, (_, record)): &(usize, (ObjectId, Creation))| {
            *number as u64 > after && (is_all || word(record, "status").as_deref() == Some("open"))
        };
        let meant = (1..).zip(records).filter(is_meant).take(count.min(CONFLICTS_MAX) as usize);
        let meant: Vec<(usize, (ObjectId, Creation))> = meant.collect();
        let names = self.live_names(meant.iter().filter_map(|(_, (_, record))| slot_of(record, "object")).collect());
        let told = meant.into_iter().map(|(number, (id, record))| self.conflict(number, id, &record, &names));
        Ok((listed(told.collect()), None))
    }

    fn conflict(&mut self, number: usize, id: ObjectId, record: &Creation, names: &[(ObjectId, String)]) -> Value {
        let object = slot_of(record, "object");
        let name = object.and_then(|object| names.iter().find(|(id, _)| *id == object)).map(|(_, name)| name.clone());
        let siblings = slot_of(record, "siblings").map(|list| self.items_of(list)).unwrap_or_default();
        let siblings: Vec<Value> = siblings
            .into_iter()
            .enumerate()
            .map(|(side, (_, sibling))| {
                json!({
                    "side": side,
                    "who": word(&sibling, "who"),
                    "value": self.text_in(&sibling, "value", "isAbsent"),
                    "time_ms": number_in(&sibling, "time"),
                    "change": word(&sibling, "change"),
                })
            })
            .collect();
        json!({
            "conflict": number,
            "id": id.to_string(),
            "object_id": object.map(|object| object.to_string()),
            "object_name": name,
            "part": word(record, "part"),
            "key": self.text_in(record, "key", ""),
            "base": self.text_in(record, "base", ""),
            "shown": self.text_in(record, "shown", "isShownAbsent"),
            "policy": word(record, "policy"),
            "status": word(record, "status"),
            "reason": word(record, "why"),
            "dream": word(record, "dream"),
            "siblings": siblings,
        })
    }

    pub(super) fn resolve(
        &mut self,
        number: u64,
        choice: &ConflictChoice,
        is_forced: bool,
        request: &Request,
    ) -> Settled {
        let records = self.records_of_telos("conflicts").map_err(refused)?;
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let Some((id, _)) = at.and_then(|at| records.get(at)) else {
            return Err(refused(format!("there is no conflict {number}; `telos conflicts` has them")));
        };
        if let ConflictChoice::Side(side) = choice
            && !is_forced
        {
            self.check_unwritten(number, *id, *side)?;
        }
        let cause = cause_of(request, &format!("resolve conflict {number}"));
        let choice = match choice {
            ConflictChoice::Side(side) => Choice::Sibling(*side as usize),
            ConflictChoice::Keep => Choice::Keep,
        };
        let ticket = self.image.resolve_conflict(*id, &choice, &cause).map_err(|error| self.fail(error))?;
        self.renew_guard_after(&cause);
        Ok((
            Shown {
                text: json!({ "conflict": number, "commit": ticket.map(|ticket| ticket.number) }).to_string(),
                kind: "Map".into(),
            },
            ticket,
        ))
    }

    /// Whoever takes a side saw what the record shows, and nothing that came later.
    fn check_unwritten(&mut self, number: u64, conflict: ObjectId, side: u64) -> Result<(), Failure> {
        let Some(now) = self.image.written_since(conflict).map_err(|error| self.fail(error))? else { return Ok(()) };
        let now = self.text_of(&now);
        Err(refused(format!(
            "its place was written to since, and holds {now} now: `telos conflicts resolve {number} --keep` leaves that, \
             `--side {side} --force` takes side {side} over it"
        )))
    }

    /// Which commits wrote a place, the newest first.
    pub(super) fn history_of(&mut self, path: &str, count: u64) -> Settled {
        let (object, slot) = self.object_or_slot(path).map_err(refused)?;
        let search = Search { commits: COMMITS_MAX, writings: count as usize };
        let found = self.image.provenance(object, slot.as_deref(), search).map_err(|error| self.fail(error))?;
        let writings: Vec<Value> = found.writings.into_iter().map(|writing| self.writing(&writing)).collect();
        let told = json!({
            "object_id": object.to_string(),
            "slot": slot,
            "writings": writings,
            "is_whole": found.is_whole,
        });
        Ok((Shown { text: told.to_string(), kind: "Map".into() }, None))
    }

    fn writing(&mut self, writing: &Writing) -> Value {
        let merge = writing.dream.as_ref().map(|dreamt| self.evidence(dreamt));
        json!({
            "commit": writing.commit,
            "time_ms": writing.time.ms(),
            "author": writing.author,
            "cause": writing.cause,
            "change": writing.change.to_string(),
            "value": writing.value.as_ref().map(|value| self.text_of(value)),
            "merge": merge,
        })
    }

    /// What a merge rested on.
    fn evidence(&self, dreamt: &Dreamt) -> Value {
        let record = self.image.store().read(dreamt.record).ok().flatten().unwrap_or_default();
        let verdict = slot_of(&record, "verdict").and_then(|verdict| evidence::read(self.image.store(), verdict));
        json!({
            "dream": dreamt.name,
            "fork_commit": dreamt.fork_commit,
            "mandate": word(&record, "mandate"),
            "agent": word(&record, "agent"),
            "policy": word(&record, "policy"),
            "status": word(&record, "status"),
            "verdict": verdict,
            "is_effect": dreamt.is_effect,
        })
    }

    /// Takes one merge back: that of a dream, or of the commit of this number.
    pub(super) fn undo(&mut self, merge: &str, request: &Request) -> Result<Settled, Box<Begun>> {
        match self.merge_to_undo(merge, request) {
            Ok(number) => self.revert(number, request),
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// Its number, if it is one, and this request may take it back.
    fn merge_to_undo(&self, merge: &str, request: &Request) -> Result<u64, Failure> {
        let failed = |error: image::ImageError| refused(error.to_string());
        let Ok(number) = merge.parse::<u64>() else {
            let id: DreamId = merge.parse().map_err(|error: dream::DreamError| refused(error.to_string()))?;
            self.check_dream(&id.to_string(), request)?;
            return self.commit_of_dream(&id.to_string()).map_err(refused);
        };
        let commit = self.image.store().commit_at(number).map_err(|error| refused(error.to_string()))?;
        if commit.is_none() {
            return Err(refused(format!("there is no commit {number}")));
        }
        let Some(dream) = self.image.dream_merged_by(number).map_err(failed)? else {
            return Err(refused(format!("commit {number} is no merge; `telos revert {number}` takes it back")));
        };
        self.check_dream(&dream, request)?;
        let later = self.image.merges_of(&dream, number).map_err(failed)?;
        match later.iter().find(|part| part.taken_back_by.is_none()) {
            None => Ok(number),
            Some(Part { commit, .. }) => Err(refused(format!(
                "commit {commit} merged another part of {dream}, which stands on this one: `telos undo {commit}` first"
            ))),
        }
    }

    /// Of a dream that was merged part by part the last one that was not taken back.
    fn commit_of_dream(&self, name: &str) -> Result<u64, String> {
        let parts = self.image.merges_of(name, 0).map_err(|error| error.to_string())?;
        let standing = parts.iter().rfind(|part| part.taken_back_by.is_none());
        standing.or(parts.last()).map(|part| part.commit).ok_or_else(|| format!("{name} was not merged"))
    }

    /// The objects in a list of Telos.
    pub(super) fn records_of_telos(&self, list: &str) -> Result<Vec<(ObjectId, Creation)>, String> {
        let read = |id: Option<ObjectId>| self.image.store().read(id?).ok().flatten();
        let telos = read(self.desk.roots().lobby).and_then(|lobby| slot_of(&lobby, "Telos"));
        let telos = read(telos).ok_or("the image has no Telos")?;
        Ok(slot_of(&telos, list).map(|list| self.items_of(list)).unwrap_or_default())
    }

    pub(super) fn items_of(&self, list: ObjectId) -> Vec<(ObjectId, Creation)> {
        let read = |id: ObjectId| self.image.store().read(id).ok().flatten();
        let Some(Body::Elements(Run::Items(items))) = read(list).map(|list| list.body) else { return Vec::new() };
        let objects = items.iter().filter_map(|item| if let Datum::Object(id) = item { Some(*id) } else { None });
        objects.filter_map(|id| Some((id, read(id)?))).collect()
    }

    fn live_names(&self, objects: Vec<ObjectId>) -> Vec<(ObjectId, String)> {
        let names = LiveNames::of(self.image.store(), &self.desk.roots());
        objects.into_iter().filter_map(|object| Some((object, names.name(object)?))).collect()
    }

    fn text_in(&mut self, record: &Creation, slot: &str, absent: &str) -> Option<String> {
        let value = |name: &str| record.slots.iter().find(|(each, _)| each.as_bytes() == name.as_bytes());
        if matches!(value(absent), Some((_, Datum::Boolean(true)))) {
            return None;
        }
        value(slot).map(|(_, value)| value.clone()).map(|value| self.text_of(&value))
    }

    /// A value as a person would write it; of code its source.
    fn text_of(&mut self, datum: &Datum) -> String {
        let text = match datum {
            Datum::Absent => return "nothing".into(),
            Datum::Nil => return "nil".into(),
            Datum::Boolean(value) => return value.to_string(),
            Datum::Number(number) => return number.to_string(),
            Datum::Text(text) => format!("{:?}", image::readable_text(text.as_bytes())),
            Datum::Object(id) => {
                let value = self.image.value_of(*id);
                self.shown_value(value)
            }
            Datum::Bytes(_) | Datum::Record(_) => "content".into(),
        };
        text.chars().take(TEXT_CHARS_MAX).collect()
    }

    fn shown_value(&mut self, value: IoValue) -> String {
        let shown = self.image.attempt(&image::Cause::default(), |vm| {
            let is_code = vm.type_name(value) == "Block";
            let said = vm.send(value, if is_code { "code" } else { "asSimpleString" }, &[]);
            let text = said.ok().and_then(|said| vm.simple_text(said));
            Err::<Infallible, String>(text.unwrap_or_else(|| vm.type_name(value)))
        });
        match shown {
            Ok(Err(text)) => text,
            Err(error) => self.fail(error).message,
        }
    }

    /// An object, or a slot of one: the last name is a slot unless there is none, and a whole path may be an object.
    fn object_or_slot(&self, path: &str) -> Result<(ObjectId, Option<String>), String> {
        let Place { object, slot, value, is_plain } = self.place_at(path)?;
        match value {
            // `Garden` alone is the object, `Garden.trees` the slot.
            Some(Datum::Object(inner)) if is_plain => Ok((inner, None)),
            _ => Ok((object, Some(image::readable_text(slot.as_bytes())))),
        }
    }
}

pub(super) fn word(record: &Creation, name: &str) -> Option<String> {
    match record.slots.iter().find(|(each, _)| each.as_bytes() == name.as_bytes())? {
        (_, Datum::Text(text)) => Some(image::readable_text(text.as_bytes())),
        _ => None,
    }
}

fn number_in(record: &Creation, name: &str) -> Option<f64> {
    match record.slots.iter().find(|(each, _)| each.as_bytes() == name.as_bytes())? {
        (_, Datum::Number(number)) => Some(*number),
        _ => None,
    }
}

fn refused(message: String) -> Failure {
    Failure::new(FailureKind::Refused, message)
}

fn listed(values: Vec<Value>) -> Shown {
    Shown { text: Value::Array(values).to_string(), kind: "List".into() }
}
