//! What a candidate is made of, in the copy of the image process that becomes one: the plan of the merge, which live made at the
//! moment of the fork, and all that the judge is told of the dream.

use super::Resident;
use super::archive::{archived, sources};
use super::judgement::Judgement;
use super::judging::Case;
use super::known::Kept;
use super::names::LiveNames;
use super::names::slot_of;
use super::protection::{Belonging, Genesis, Protected};
use super::resting::Resting;
use super::unit::Allotment;
use dream::show::Names;
use dream::{Alone, Answered, DreamId, KeptDream, Status};
use image::MergePlan;
use object::Kind;
use object::change::{Change, Field, ObjectId, Operation};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use store::Store;

/// So many objects are surveyed.
const TOUCHED_MAX: usize = 5_000;
/// So many changes are told one by one; a larger journal is refused, whatever the rule about sizes says.
const CHANGES_MAX: usize = image::PLANNED_MOST;

const SMALLER: &str = "have several dreams do it, one after the other, or merge parts of it with --only";

/// So many names are told of what was changed.
const NAMES_MAX: usize = 1_000;

/// A candidate that is to be made.
pub struct Candidate {
    pub plan: MergePlan,
    /// What earlier ones found, which still holds.
    pub held: Judgement,
    /// What earlier merges found.
    pub kept: Option<Kept>,
    pub genesis: Genesis,
    /// Names of tests that the mandate asks for, as whoever gave it says.
    pub tests: Vec<String>,
    /// A person's token came with the order: nothing is protected from it.
    pub is_allowed: bool,
    /// By which it hides where objects lie.
    pub places: u64,
    pub allotment: Allotment,
}

impl Resident {
    pub(super) fn case(&self, alone: &Alone, candidate: Candidate) -> Result<Case, String> {
        let Candidate { plan, held, kept: known, genesis, tests, is_allowed, places, allotment } = candidate;
        let id: DreamId = plan.arrival.name.parse().map_err(|error: dream::DreamError| error.to_string())?;
        let dreams = alone.dreams().map_err(|error| error.to_string())?;
        let kept = dreams.read(id).map_err(|error| error.to_string())?;
        let (store, roots) = (self.image.store(), self.desk.roots());
        let names = LiveNames::of(store, &roots);
        let verification = verification_of(store, roots.lobby, roots.core)?;
        let belonging = known.as_ref().and_then(|kept| kept.belonging(store, verification));
        let belonging = belonging.map_or(Belonging::Unknown(Some(verification)), Belonging::Known);
        let protected = Protected::of(store, &roots, genesis, belonging, self.image.guard());
        let keeps = |change: &Change| !is_allowed && protected.keeps(store, change);
        let merged = Merged::of(&kept, &plan);
        let told = told_changes(&kept, &merged, &names, &keeps);
        let touched = touched(&told, &plan, store);
        let unseen = unseen(&merged, &touched);
        let kept_back = merged.changes.iter().filter(|change| keeps(change));
        let refused = Refused { unseen, protected: kept_back.map(|change| place_of(change, &names)).collect() };
        let named = touched.iter().map(|(name, id)| (*id, name.clone())).collect();
        let resting = Resting { ways: names.into_ways(), names: named };
        let held = Judgement { methods: sources(&told, &touched), names: told_names(&told), ..held };
        let mut facts = facts_of(&kept, &merged, told);
        facts.insert("archive".into(), json!(archived(store, &roots)));
        facts.insert("mandateTests".into(), json!(tests));
        Ok(Case { facts, plan, touched, verification, held, known, refused, protected, places, resting, allotment })
    }
}

/// The changes of a journal that are merged if nothing speaks against it: all but those to what the machine keeps for itself. So
/// nothing is merged that was not looked at.
struct Merged<'j> {
    changes: Vec<&'j Change>,
}

impl<'j> Merged<'j> {
    fn of(kept: &'j KeptDream, plan: &MergePlan) -> Merged<'j> {
        let is_one = |change: &&Change| {
            !plan.of_machine.contains(&change.id.seq) && !matches!(change.operation, Operation::Call { .. })
        };
        Merged { changes: kept.journal.changes().filter(is_one).collect() }
    }

    fn object_count(&self) -> usize {
        self.changes.iter().map(|change| change.object).collect::<BTreeSet<_>>().len()
    }
}

/// What is refused whatever the rules of the image say.
#[derive(Default)]
pub struct Refused {
    /// Why not all of it can be looked at.
    pub unseen: Option<String>,
    /// Places that are protected, in words.
    pub protected: BTreeSet<String>,
}

impl Refused {
    pub fn is_empty(&self) -> bool {
        self.unseen.is_none() && self.protected.is_empty()
    }
}

fn unseen(merged: &Merged<'_>, touched: &BTreeMap<String, ObjectId>) -> Option<String> {
    match (merged.changes.len(), touched.len()) {
        (changes, _) if changes > CHANGES_MAX => Some(format!(
            "it makes {changes} changes, more than the {CHANGES_MAX} that are looked at in one merge; {SMALLER}"
        )),
        (_, touched) if touched > TOUCHED_MAX => Some(format!(
            "it touches more than the {TOUCHED_MAX} objects with methods that are looked at in one merge; {SMALLER}"
        )),
        _ => None,
    }
}

/// A place that no dream changes, and that it does not.
fn place_of(change: &Change, names: &LiveNames<'_>) -> String {
    let object = names.name(change.object).unwrap_or_else(|| format!("object {}", change.object));
    let place = match &change.operation {
        Operation::Put { field: Field::Slot(slot), .. } => format!("{object} {slot}"),
        _ => object,
    };
    format!("{place}: this is protected, and changes only with a person's token")
}

/// Live's own: that of Telos, or the one that the image was born with.
pub fn verification_of(store: &Store, lobby: Option<ObjectId>, core: Option<ObjectId>) -> Result<ObjectId, String> {
    let record = |id: Option<ObjectId>| store.read(id?).ok().flatten();
    let telos = record(lobby).and_then(|lobby| slot_of(&lobby, "Telos"));
    let own = record(telos).and_then(|telos| slot_of(&telos, "verification"));
    let of_core = || record(core).and_then(|core| slot_of(&core, "Verification"));
    own.or_else(of_core).ok_or_else(|| {
        "the image has no Verification, so nothing can be judged: it was born before there was one; \
         put one into Telos verification"
            .to_string()
    })
}

/// The changes as `Dream journal` has them, each with whether it is to something protected, if anything is.
fn told_changes(
    kept: &KeptDream,
    merged: &Merged<'_>,
    names: &LiveNames<'_>,
    keeps: &dyn Fn(&Change) -> bool,
) -> Vec<Value> {
    let is_protected: BTreeMap<String, bool> =
        merged.changes.iter().map(|change| (change.id.to_string(), keeps(change))).collect();
    let mut told = Vec::new();
    dream::show::to_json(&kept.journal, names, &mut |mut change| {
        if let Some(is_protected) = change["change_id"].as_str().and_then(|id| is_protected.get(id)) {
            change["isProtected"] = json!(is_protected);
            told.push(change);
        }
        if told.len() < CHANGES_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    told
}

/// What objects of the changes are called, by their numbers.
fn told_names(told: &[Value]) -> BTreeMap<String, String> {
    let named =
        |change: &Value| Some((change["object_id"].as_str()?.to_string(), change["object_name"].as_str()?.to_string()));
    told.iter().filter_map(named).take(NAMES_MAX).collect()
}

/// Objects with methods that the dream made or changed, each by a name of its own: an object and another one that was put into its
/// slot are called the same, and both are looked at.
fn touched(told: &[Value], plan: &MergePlan, store: &Store) -> BTreeMap<String, ObjectId> {
    let named: BTreeMap<&str, &str> = told
        .iter()
        .filter_map(|change| Some((change["object_id"].as_str()?, change["object_name"].as_str()?)))
        .collect();
    let made: BTreeMap<ObjectId, u32> = plan
        .effects
        .iter()
        .filter_map(|effect| match &effect.operation {
            Operation::Create(creation) => Some((effect.object, creation.kind)),
            _ => None,
        })
        .collect();
    let objects: BTreeSet<ObjectId> = plan.effects.iter().map(|effect| effect.object).collect();
    let kind = |id: &ObjectId| made.get(id).copied().or_else(|| Some(store.read(*id).ok()??.kind));
    let is_looked_at = |id: &ObjectId| kind(id).is_some_and(|kind| image::is_one_of(kind, &LOOKED_AT));
    let mut objects: Vec<ObjectId> = objects.into_iter().filter(is_looked_at).take(TOUCHED_MAX + 1).collect();
    // What was there before keeps the name.
    objects.sort_by_key(|id| (made.contains_key(id), *id));
    let mut touched = BTreeMap::new();
    for id in objects {
        let number = id.to_string();
        let mut name = named.get(number.as_str()).map_or_else(|| format!("object {number}"), ToString::to_string);
        while touched.contains_key(&name) {
            name = format!("{name} (object {number})");
        }
        touched.insert(name, id);
    }
    touched
}

/// Plain objects, and locals: those of no stack are what blocks remember.
const LOOKED_AT: [Kind; 2] = [Kind::Object, Kind::Locals];

fn facts_of(kept: &KeptDream, merged: &Merged<'_>, told: Vec<Value>) -> Map<String, Value> {
    let KeptDream { header, journal, journal_bytes, end, .. } = kept;
    let call = |call: dream::Call<'_>| json!({ "call": call.name.to_string(), "answered": call.answered.name() });
    let calls: Vec<Value> = journal.calls().map(call).collect();
    // What its policy allowed is what it was answered.
    let granted = |call: &dream::Call<'_>| call.answered != Answered::Blocked;
    let grants: BTreeSet<String> = journal.calls().filter(granted).map(|call| call.name.to_string()).collect();
    let refusals: Vec<String> = end
        .iter()
        .filter(|end| end.status == Status::Killed)
        .map(|end| format!("the dream did not come to its end: {}", end.reason))
        .collect();
    let (changes, objects) = (merged.changes.len(), merged.object_count());
    let sizes = json!({ "changes": changes, "objects": objects, "bytes": journal_bytes });
    let facts = json!({
        "dream": header.id().to_string(),
        "mandate": header.mandate,
        "agent": header.agent,
        "calls": calls,
        "refusals": refusals,
        "sizes": sizes,
        "rules": { "grants": grants },
        "journal": told,
    });
    match facts {
        Value::Object(facts) => facts,
        _ => Map::new(),
    }
}
