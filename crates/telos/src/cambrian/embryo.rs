//! An image on its way to being awake, as the object `Embryo` of `genesis/cambrian.io`. Each step takes what the one before
//! left; out of order it refuses.

use super::waking::{awake, has_root, record};
use super::{Conditions, GENESIS, Step};
use crate::holder::patiently;
use crate::host::StandardOutput;
use crate::host::outside::Line;
use crate::options::MachineOptions;
use crate::progress::Bar;
use crate::resident::locks::Locks;
use crate::session::equipped;
use image::{Embedder, Image, Options};
use language::{Args, Eagerness, Function, NONE, ONE, Outcome, Value, Vm};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Opened, Recovered, Store, Ticket};

/// What takes longer shows how far it is.
const LONG: Duration = Duration::from_millis(500);

/// Makes the machines of an image, with what the options grant.
#[derive(Clone)]
struct Maker {
    options: MachineOptions,
    output: StandardOutput,
    outside: Option<Line>,
}

impl Embedder for Maker {
    fn newborn(&self) -> Vm {
        equipped(&self.options, &self.output, self.outside.clone(), Vm::new)
    }

    fn bare(&self) -> Vm {
        equipped(&self.options, &self.output, self.outside.clone(), Vm::bare)
    }
}

pub struct Embryo {
    directory: PathBuf,
    options: Options,
    maker: Maker,
    stage: Stage,
    is_asleep: bool,
    steps: Vec<Step>,
    /// Why the root object could not be told that it is awake.
    failure: Option<String>,
    /// The commit of what it did then.
    unsettled: Option<Ticket>,
    /// Why a step could not be done.
    trouble: Option<String>,
}

/// How far it is.
enum Stage {
    Asleep,
    Opened(Box<Opened>),
    Recovered(Box<Recovered>),
    Replayed(Arc<Store>),
    Alive(Box<Image>),
}

/// What is left of an embryo in the end.
pub struct Born {
    pub image: Image,
    pub steps: Vec<Step>,
    pub failure: Option<String>,
    pub unsettled: Option<Ticket>,
}

/// What a step answers.
enum Told {
    Done(String),
    Truth(bool),
    /// A failure that is no end.
    Failure(Option<String>),
}

type Row = (&'static str, Eagerness, fn(&mut Vm, Args) -> Outcome);

const STEPS: &[Row] = &[
    ("isThere", NONE, |vm, _| step(vm, "isThere", Embryo::is_there)),
    ("make", NONE, |vm, _| step(vm, "make", Embryo::make)),
    ("open", NONE, |vm, _| step(vm, "open", Embryo::open)),
    ("recover", NONE, |vm, _| step(vm, "recover", Embryo::recover)),
    ("replay", NONE, |vm, _| step(vm, "replay", Embryo::replay)),
    ("isUnborn", NONE, |vm, _| step(vm, "isUnborn", Embryo::is_unborn)),
    ("genesis", NONE, |vm, _| step(vm, "genesis", Embryo::genesis)),
    ("check", NONE, |vm, _| step(vm, "check", Embryo::check)),
    ("isAsleep", NONE, |vm, _| step(vm, "isAsleep", |embryo| Ok(Told::Truth(embryo.is_asleep)))),
    ("find", ONE, |vm, args| {
        let name = args.text(vm, 0)?;
        step(vm, "find", |embryo| embryo.find(&name))
    }),
    ("awake", NONE, |vm, _| step(vm, "awake", Embryo::awake)),
    ("record", ONE, |vm, args| {
        let failure = args.text(vm, 0)?;
        step(vm, "record", |embryo| embryo.record(&failure))
    }),
];

pub fn install(vm: &mut Vm) {
    let embryo = vm.prototype("Embryo");
    for &(name, eagerness, function) in STEPS {
        vm.define(embryo, name, eagerness, Function::Plain(function));
    }
}

fn step(vm: &mut Vm, name: &'static str, run: impl FnOnce(&mut Embryo) -> Result<Told, String>) -> Outcome {
    let Some(embryo) = vm.extra::<Embryo>() else { return Err(vm.raise("there is no embryo")) };
    let begun = Instant::now();
    let ended = run(embryo);
    let took = begun.elapsed();
    match ended {
        Ok(Told::Truth(truth)) => Ok(Value::boolean(truth)),
        Ok(Told::Done(told)) => {
            embryo.steps.push(Step { name, told, took });
            Ok(Value::TRUE)
        }
        Ok(Told::Failure(failure)) => {
            let told = if failure.is_some() { "failed" } else { "" }.to_string();
            embryo.steps.push(Step { name, told, took });
            Ok(failure.map_or(Value::NIL, |failure| vm.symbol(&failure)))
        }
        Err(message) => {
            embryo.trouble = Some(message.clone());
            Err(vm.raise(message))
        }
    }
}

/// A log that is long enough to be waited for is shown to whoever waits.
fn replayed(recovered: Recovered) -> Result<Store, String> {
    let (begun, is_seen, mut bar) = (Instant::now(), Bar::is_seen(), None);
    let store = recovered.replay_telling(&mut |progress| {
        if is_seen && begun.elapsed() > LONG {
            bar.get_or_insert_with(Bar::of_bytes).tell("replaying", progress.done, progress.total);
        }
    });
    bar.iter().for_each(Bar::end);
    store.map_err(|error| error.to_string())
}

fn out_of_order<T>() -> Result<T, String> {
    Err("the steps of the waking are out of order".to_string())
}

impl Embryo {
    pub fn of(conditions: &Conditions<'_>) -> Embryo {
        let mut options = Options::default();
        if let Some(bytes) = conditions.cache_bytes {
            options.cache_bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        }
        Embryo {
            directory: conditions.directory.into(),
            options,
            maker: Maker {
                options: conditions.machine.clone(),
                output: conditions.output.clone(),
                outside: conditions.outside.clone(),
            },
            stage: Stage::Asleep,
            is_asleep: conditions.is_asleep,
            steps: Vec::new(),
            failure: None,
            unsettled: None,
            trouble: None,
        }
    }

    /// The image, if all went well; `end` is how the text itself ended otherwise.
    pub fn leave(&mut self, end: Option<String>) -> Result<Born, String> {
        let stage = std::mem::replace(&mut self.stage, Stage::Asleep);
        match (self.trouble.take().or(end), stage) {
            (Some(trouble), _) => Err(trouble),
            (None, Stage::Alive(image)) => {
                let steps = std::mem::take(&mut self.steps);
                Ok(Born { image: *image, steps, failure: self.failure.take(), unsettled: self.unsettled.take() })
            }
            (None, _) => out_of_order(),
        }
    }

    fn is_there(&mut self) -> Result<Told, String> {
        Ok(Told::Truth(self.directory.join(store::LOG).exists()))
    }

    fn make(&mut self) -> Result<Told, String> {
        Store::make(&self.directory, &self.options.store).map_err(|error| error.to_string())?;
        Ok(Told::Done(String::new()))
    }

    fn open(&mut self) -> Result<Told, String> {
        let opened = patiently(|| Opened::at(&self.directory, self.options.store.clone()));
        let opened = opened.map_err(|error| error.to_string())?;
        self.stage = Stage::Opened(Box::new(opened));
        Ok(Told::Done(String::new()))
    }

    fn recover(&mut self) -> Result<Told, String> {
        let Stage::Opened(opened) = std::mem::replace(&mut self.stage, Stage::Asleep) else { return out_of_order() };
        self.stage = Stage::Recovered(Box::new(opened.recover().map_err(|error| error.to_string())?));
        Ok(Told::Done(String::new()))
    }

    fn replay(&mut self) -> Result<Told, String> {
        let Stage::Recovered(recovered) = std::mem::replace(&mut self.stage, Stage::Asleep) else {
            return out_of_order();
        };
        let store = Arc::new(replayed(*recovered)?);
        let status = store.status().map_err(|error| error.to_string())?;
        self.stage = Stage::Replayed(store);
        let torn = if status.was_torn { ", a torn end cut off" } else { "" };
        Ok(Told::Done(format!("{} commits{torn}", status.pending_commits)))
    }

    fn is_unborn(&mut self) -> Result<Told, String> {
        let Stage::Replayed(store) = &self.stage else { return out_of_order() };
        Ok(Told::Truth(store.last_commit() == 0))
    }

    fn genesis(&mut self) -> Result<Told, String> {
        let Stage::Replayed(store) = &self.stage else { return out_of_order() };
        let bear = |vm: &mut Vm| vm.evaluate(GENESIS, "genesis:genesis.io").map(|_| ());
        let image = Image::bear(store.clone(), &self.options, Box::new(self.maker.clone()), bear);
        self.stage = Stage::Alive(Box::new(image.map_err(|error| error.to_string())?));
        Ok(Told::Done(String::new()))
    }

    /// Finds the root and what every machine must know; never walks the image.
    fn check(&mut self) -> Result<Told, String> {
        let Stage::Replayed(store) = &self.stage else { return out_of_order() };
        let image = Image::on(store.clone(), &self.options, Box::new(self.maker.clone()));
        let mut image = image.map_err(|error| error.to_string())?;
        // Before any program runs: what is locked is locked for `awake` too, which a locked image is not sent.
        image.set_guard(Locks::of(store).guard().clone());
        self.is_asleep |= image.guard().is_whole();
        self.stage = Stage::Alive(Box::new(image));
        Ok(Told::Done(String::new()))
    }

    fn find(&mut self, name: &str) -> Result<Told, String> {
        let Stage::Alive(image) = &mut self.stage else { return out_of_order() };
        Ok(Told::Truth(has_root(image, name)))
    }

    fn awake(&mut self) -> Result<Told, String> {
        let Stage::Alive(image) = &mut self.stage else { return out_of_order() };
        Ok(Told::Failure(match awake(image, &self.maker.options) {
            Ok(ticket) => {
                self.unsettled = ticket;
                None
            }
            Err(failure) => Some(failure),
        }))
    }

    fn record(&mut self, failure: &str) -> Result<Told, String> {
        let Stage::Alive(image) = &mut self.stage else { return out_of_order() };
        let (place, failure) = match record(image, failure) {
            Ok(place) => (format!("in {place}"), failure.to_string()),
            Err(error) => ("nowhere".to_string(), format!("{failure}; and this could not be kept: {error}")),
        };
        self.failure = Some(failure);
        Ok(Told::Done(place))
    }
}
