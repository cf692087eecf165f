//! Dreams, asked for by programs of the image. A program only asks: the dream begins when what the program did is committed, and
//! never if that is taken back. What is kept of it is read from its file.

use super::outside::Line;
use super::{Row, Shared};
use crate::resident::locks::dream_is_locked;
use crate::resident::{Roots, check_delivered, check_mandate, policy_of};
use dream::{DreamError, DreamId, Dreams};
use keeper::protocol::{Budget, MergeOrder, Nest};
use language::{ALL, Args, Halt, ONE, Outcome, Signal, Value, Vm};
use object::change::ActorId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, Weak};
use store::Store;

pub const TABLE: &[Row] = &[
    ("order", ALL, order),
    ("mergeOf", ALL, merge_of),
    ("pageOf", ONE, page_of),
    ("keepOf", ONE, |vm, args| change(vm, &args, Nest::Keep, |dreams, id| dreams.set_kept(id, true))),
    ("discardOf", ONE, discard_of),
];

/// So many may be asked for in one transaction.
const ASKED_MAX: usize = 256;

/// A dream that was asked for.
pub struct Asked {
    pub actor: ActorId,
    pub mandate: String,
    pub source: String,
    pub budget: Budget,
}

/// Where they are asked for. Shared by a machine and whoever owns it.
#[derive(Clone)]
pub struct Desk(Rc<RefCell<Inside>>);

struct Inside {
    whose: Whose,
    roots: Roots,
    asked: Vec<Asked>,
    /// Dreams that are to be merged when they are over, and how long judging may take.
    to_merge: Vec<(MergeOrder, Option<u64>)>,
    going_on: BTreeMap<String, GoingOn>,
    /// Names that a dream was given, and that nothing came of.
    spare: VecDeque<ActorId>,
    /// Those that no program discards.
    locked: BTreeSet<String>,
}

/// A dream that is going on: from when to when, by the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct GoingOn {
    pub since_ms: u64,
    pub ends_by_ms: u64,
}

/// Who asks here.
#[derive(Clone)]
enum Whose {
    Live(Weak<Store>),
    /// A dream, which asks the live image.
    Dream(Line),
    Nobody,
}

impl Desk {
    pub fn of(store: &Arc<Store>, roots: Roots) -> Desk {
        let whose = Whose::Live(Arc::downgrade(store));
        Desk(Rc::new(RefCell::new(Inside {
            whose,
            roots,
            asked: Vec::new(),
            to_merge: Vec::new(),
            going_on: BTreeMap::new(),
            spare: VecDeque::new(),
            locked: BTreeSet::new(),
        })))
    }

    pub fn roots(&self) -> Roots {
        self.0.borrow().roots
    }

    pub fn begun(&self, dream: &str, going_on: GoingOn) {
        self.0.borrow_mut().going_on.insert(dream.into(), going_on);
    }

    pub fn over(&self, dream: &str) {
        self.0.borrow_mut().going_on.remove(dream);
    }

    pub fn set_locked(&self, dreams: BTreeSet<String>) {
        self.0.borrow_mut().locked = dreams;
    }

    pub fn going_on(&self, dream: &str) -> Option<GoingOn> {
        self.0.borrow().going_on.get(dream).copied()
    }

    /// Lets the programs of a machine ask here.
    pub fn hand_to(&self, vm: &mut Vm) {
        if let Some(shared) = vm.extra::<Shared>() {
            shared.dreams = Some(self.clone());
        }
    }

    /// What was asked for since this was last called.
    pub fn take(&self) -> Vec<Asked> {
        std::mem::take(&mut self.0.borrow_mut().asked)
    }

    /// Nothing of it counts: what asked for it was taken back.
    pub fn forget(&self) {
        drop(self.take_to_merge());
        let asked = self.take();
        let inside = &mut *self.0.borrow_mut();
        // Live counts those that it gave to a dream; of its own there are enough.
        if matches!(inside.whose, Whose::Dream(_)) {
            inside.spare.extend(asked.into_iter().map(|asked| asked.actor));
        }
    }

    /// What was asked to be merged since this was last called.
    pub fn take_to_merge(&self) -> Vec<(MergeOrder, Option<u64>)> {
        std::mem::take(&mut self.0.borrow_mut().to_merge)
    }

    /// In a copy of the process, which is a dream now.
    pub fn become_dream(&self, line: Option<Line>) {
        self.0.borrow_mut().whose = line.map_or(Whose::Nobody, Whose::Dream);
    }

    /// In a dream: begins what was asked for, now that its journal says all that was done before.
    pub fn begin_inside(&self) {
        let Whose::Dream(line) = self.0.borrow().whose.clone() else { return };
        for Asked { actor, mandate, source, budget } in self.take() {
            let dream = DreamId(actor).to_string();
            // Whoever looks for it finds that it has not begun.
            let _ = line.nest(&Nest::Begin { dream, mandate, source, budget }, &mut || false);
        }
    }
}

/// One who can answer.
enum Asking {
    Live(Arc<Store>),
    Dream(Line),
}

fn desk(vm: &mut Vm) -> Result<(Desk, Asking), Signal> {
    let desk = vm.extra::<Shared>().and_then(|shared| shared.dreams.clone());
    let Some(desk) = desk else { return Err(vm.raise("dreams are of an image that is up: start it with `telos up`")) };
    let whose = desk.0.borrow().whose.clone();
    let asking = match whose {
        Whose::Live(store) => store.upgrade().map(Asking::Live),
        Whose::Dream(line) => Some(Asking::Dream(line)),
        Whose::Nobody => None,
    };
    match asking {
        Some(asking) => Ok((desk, asking)),
        None => Err(vm.raise("a dream of an image that is not up cannot begin another one")),
    }
}

/// Asks the live image, from a dream.
fn nest(vm: &mut Vm, line: &Line, nest: &Nest) -> Result<String, Signal> {
    let interrupt = vm.extra::<Shared>().map(|shared| shared.interrupt.clone()).unwrap_or_default();
    let mut is_stopped = false;
    let answer = line.nest(nest, &mut || {
        is_stopped |= interrupt.take();
        is_stopped
    });
    match answer {
        _ if is_stopped => Err(Halt::Interrupted.into()),
        Ok(text) => Ok(text),
        Err(message) => Err(vm.raise(message)),
    }
}

/// The name of a dream that will begin when this is committed.
fn order(vm: &mut Vm, args: Args) -> Outcome {
    let (mandate, source) = (args.text(vm, 0)?, args.text(vm, 1)?);
    check_mandate(&mandate).map_err(|message| vm.raise(message))?;
    let time_ms = time_of(vm, &args, 2)?;
    let (fuel, memory_bytes) = (count_of(vm, &args, 3, "fuel")?, count_of(vm, &args, 4, "memory")?);
    let budget = Budget { time_ms, fuel, memory_bytes };
    let (desk, asking) = desk(vm)?;
    if desk.0.borrow().asked.len() >= ASKED_MAX {
        return Err(vm.raise(format!("{ASKED_MAX} dreams were asked for already, in one transaction")));
    }
    let actor = match asking {
        Asking::Live(store) => store.mint_actor().map_err(|error| vm.raise(error.to_string()))?,
        Asking::Dream(line) => {
            let spare = desk.0.borrow_mut().spare.pop_front();
            match spare {
                Some(actor) => actor,
                None => {
                    let name = nest(vm, &line, &Nest::Name)?;
                    let id: DreamId = name.parse().map_err(|error: DreamError| vm.raise(error.to_string()))?;
                    id.0
                }
            }
        }
    };
    desk.0.borrow_mut().asked.push(Asked { actor, mandate, source, budget });
    Ok(vm.symbol(&DreamId(actor).to_string()))
}

/// A number of seconds, if one is given.
fn time_of(vm: &mut Vm, args: &Args, index: usize) -> Result<Option<u64>, Signal> {
    match args.optional_number(vm, index)? {
        None => Ok(None),
        Some(seconds) if seconds > 0.0 => Ok(Some((seconds * 1000.0).ceil() as u64)),
        Some(_) => Err(vm.raise("\"timeout\" is a number of seconds above 0")),
    }
}

/// A whole number above zero, if one is given.
fn count_of(vm: &mut Vm, args: &Args, index: usize, name: &str) -> Result<Option<u64>, Signal> {
    match args.optional_number(vm, index)? {
        None => Ok(None),
        Some(count) if count >= 1.0 => Ok(Some(count as u64)),
        Some(_) => Err(vm.raise(format!("\"{name}\" is a number above 0"))),
    }
}

/// Asks that a dream be judged and merged when it is over, and this is committed.
fn merge_of(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.text(vm, 0)?;
    let mut given = |index| if args.value(vm, index) == Value::NIL { Ok(None) } else { args.text(vm, index).map(Some) };
    let (policy, tests) = (given(1)?, given(2)?.unwrap_or_default());
    let timeout_ms = time_of(vm, &args, 3)?;
    policy.as_deref().map(policy_of).transpose().map_err(|message| vm.raise(message))?;
    let (desk, asking) = desk(vm)?;
    if matches!(asking, Asking::Dream(_)) {
        return Err(vm.raise("only the live image merges: whoever judges a dream must be outside of it"));
    }
    if let Err(error) = name.parse::<DreamId>() {
        return Err(vm.raise(error.to_string()));
    }
    if desk.0.borrow().to_merge.len() >= ASKED_MAX {
        return Err(vm.raise(format!("{ASKED_MAX} dreams are to be merged already, in one transaction")));
    }
    let tests = tests.lines().map(String::from).collect();
    desk.0.borrow_mut().to_merge.push((MergeOrder { dream: name, policy, tests, ..MergeOrder::default() }, timeout_ms));
    Ok(args.target)
}

fn dream_of(vm: &mut Vm, store: &Store, name: &str) -> Result<(Dreams, DreamId), Signal> {
    let dreams = Dreams::open(store.directory(), store.id());
    let found = dreams.and_then(|dreams| Ok((dreams, name.parse()?)));
    found.map_err(|error: DreamError| vm.raise(error.to_string()))
}

/// What is known of a dream, as JSON; nil if there is nothing yet.
fn page_of(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.text(vm, 0)?;
    let (desk, asking) = desk(vm)?;
    let page = match asking {
        Asking::Dream(line) => nest(vm, &line, &Nest::Page(name))?,
        Asking::Live(store) => {
            let (dreams, id) = dream_of(vm, &store, &name)?;
            match dreams.read(id) {
                Ok(kept) => crate::resident::page_of(&kept, &store, &desk.roots(), desk.going_on(&name)).to_string(),
                Err(DreamError::Missing(_)) => String::new(),
                Err(error) => return Err(vm.raise(error.to_string())),
            }
        }
    };
    Ok(if page.is_empty() { Value::NIL } else { vm.symbol(&page) })
}

fn discard_of(vm: &mut Vm, args: Args) -> Outcome {
    let name = args.text(vm, 0)?;
    let (desk, asking) = desk(vm)?;
    // A dream asks live, which knows what is locked now.
    if let Asking::Live(store) = &asking {
        if desk.0.borrow().locked.contains(&name) {
            return Err(vm.raise(dream_is_locked(&name)));
        }
        check_delivered(store, &name).map_err(|why| vm.raise(why))?;
    }
    change(vm, &args, Nest::Discard, Dreams::remove)
}

fn change(
    vm: &mut Vm,
    args: &Args,
    asked: fn(String) -> Nest,
    change: impl FnOnce(&Dreams, DreamId) -> Result<(), DreamError>,
) -> Outcome {
    let name = args.text(vm, 0)?;
    match desk(vm)?.1 {
        Asking::Dream(line) => drop(nest(vm, &line, &asked(name))?),
        Asking::Live(store) => {
            let (dreams, id) = dream_of(vm, &store, &name)?;
            change(&dreams, id).map_err(|error| vm.raise(error.to_string()))?;
        }
    }
    Ok(args.target)
}
