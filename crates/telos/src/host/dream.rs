//! Dreams, asked for by programs of the image. A program only asks: the dream begins when what the program did is committed, and
//! never if that is taken back. What is kept of it is read from its file.

use super::{Row, Shared};
use dream::{DreamError, DreamId, Dreams};
use language::{Args, ONE, Outcome, Signal, TWO, Value, Vm};
use object::change::ActorId;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};
use store::Store;

pub const TABLE: &[Row] = &[
    ("order", TWO, order),
    ("pageOf", ONE, page_of),
    ("keepOf", ONE, |vm, args| change(vm, &args, |dreams, id| dreams.set_kept(id, true))),
    ("discardOf", ONE, |vm, args| change(vm, &args, Dreams::remove)),
];

/// So many may be asked for in one transaction.
const ASKED_MAX: usize = 256;

/// A dream that was asked for.
pub struct Asked {
    pub actor: ActorId,
    pub mandate: String,
    pub source: String,
}

/// Where they are asked for. Shared by a machine and whoever owns it.
#[derive(Clone)]
pub struct Desk(Rc<RefCell<Inside>>);

struct Inside {
    /// None in a dream.
    store: Option<Weak<Store>>,
    asked: Vec<Asked>,
}

impl Desk {
    pub fn of(store: &Arc<Store>) -> Desk {
        Desk(Rc::new(RefCell::new(Inside { store: Some(Arc::downgrade(store)), asked: Vec::new() })))
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

    /// Nobody asks here any more.
    pub fn close(&self) {
        self.0.borrow_mut().store = None;
    }

    fn store(&self) -> Option<Arc<Store>> {
        self.0.borrow().store.as_ref()?.upgrade()
    }
}

fn desk(vm: &mut Vm) -> Result<(Desk, Arc<Store>), Signal> {
    let desk = vm.extra::<Shared>().and_then(|shared| shared.dreams.clone());
    let Some(desk) = desk else { return Err(vm.raise("dreams are of an image that is up: start it with `telos up`")) };
    match desk.store() {
        Some(store) => Ok((desk, store)),
        None => Err(vm.raise("a dream cannot begin another one, nor look at those there are")),
    }
}

/// The name of a dream that will begin when this is committed.
fn order(vm: &mut Vm, args: Args) -> Outcome {
    let (mandate, source) = (args.text(vm, 0)?, args.text(vm, 1)?);
    let (desk, store) = desk(vm)?;
    if desk.0.borrow().asked.len() >= ASKED_MAX {
        return Err(vm.raise(format!("{ASKED_MAX} dreams were asked for already, in one transaction")));
    }
    let actor = store.mint_actor().map_err(|error| vm.raise(error.to_string()))?;
    desk.0.borrow_mut().asked.push(Asked { actor, mandate, source });
    Ok(vm.symbol(&DreamId(actor).to_string()))
}

fn dream_of(vm: &mut Vm, args: &Args) -> Result<(Dreams, DreamId), Signal> {
    let name = args.text(vm, 0)?;
    let (_, store) = desk(vm)?;
    let dreams = Dreams::open(store.directory(), store.id());
    let found = dreams.and_then(|dreams| Ok((dreams, name.parse()?)));
    found.map_err(|error: DreamError| vm.raise(error.to_string()))
}

/// What is known of a dream, as JSON; nil if there is nothing yet.
fn page_of(vm: &mut Vm, args: Args) -> Outcome {
    let (dreams, id) = dream_of(vm, &args)?;
    match dreams.read(id) {
        Ok(kept) => {
            let page = crate::resident::page_of(&kept, &dream::show::Nameless);
            Ok(vm.symbol(&page.to_string()))
        }
        Err(DreamError::Missing(_)) => Ok(Value::NIL),
        Err(error) => Err(vm.raise(error.to_string())),
    }
}

fn change(vm: &mut Vm, args: &Args, change: impl FnOnce(&Dreams, DreamId) -> Result<(), DreamError>) -> Outcome {
    let (dreams, id) = dream_of(vm, args)?;
    match change(&dreams, id) {
        Ok(()) => Ok(args.target),
        Err(error) => Err(vm.raise(error.to_string())),
    }
}
