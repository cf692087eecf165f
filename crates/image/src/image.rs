//! The living image: a machine on a heap whose objects are in a store. Owns the border between the two: what a top-level
//! message did is committed whole, or memory is as it was before.

use crate::capture::Language;
use crate::commit::{Commitment, commitment};
use crate::error::ImageError;
use crate::evict::Evictor;
use crate::guard::Guard;
use crate::identity::Identities;
use crate::load::{Records, StoreLoader};
use crate::speech::{self, Io};
use language::Vm;
use object::change::{Change, ChangeId, Clock, ObjectId, Operation, Time};
use object::{Handle, Heap, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use store::{Durability, Found, NewCommit, Store, Ticket};

/// Makes machines for an image, with the host's capabilities.
pub trait Embedder {
    /// A machine with the whole library, for an image that is born.
    fn newborn(&self) -> Vm;
    /// One with primitives only, for an image that has the rest.
    fn bare(&self) -> Vm;
}

#[derive(Clone, Debug)]
pub struct Options {
    pub store: store::Options,
    /// Bytes of objects in memory beyond which those are forgotten that are as the store has them.
    pub cache_bytes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { store: store::Options::default(), cache_bytes: 256 << 20 }
    }
}

/// Who wants a transaction, and why; how safe it must be when it is acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Cause {
    pub author: String,
    pub cause: String,
    pub durability: Durability,
    /// A person allows that it changes what the guard holds.
    pub is_allowed: bool,
}

pub struct Image {
    pub(crate) vm: Vm,
    pub(crate) store: Arc<Store>,
    pub(crate) identities: Rc<Identities>,
    /// The same in every copy, whose changes have another actor.
    root_id: ObjectId,
    io: Rc<Io>,
    clock: Clock,
    evictor: Evictor,
    embedder: Box<dyn Embedder>,
    /// The last commit that is to survive a power failure, whether somebody waits for it or not.
    last: Option<Ticket>,
    /// The memory of live, in a copy that notes what programs read.
    pub(crate) shelved: Option<Heap>,
    guard: Guard,
}

/// A heap in which nothing is loaded yet.
pub(crate) struct Memory {
    pub heap: Heap,
    pub root: Handle,
    pub identities: Rc<Identities>,
}

struct StoreRecords(Arc<Store>);

impl Records for StoreRecords {
    fn look_at<A>(&self, id: ObjectId, look: impl FnOnce(Found<'_>) -> A) -> Result<Option<A>, String> {
        self.0.look_at(id, look).map_err(|error| error.to_string())
    }
}

impl Image {
    /// A new image in a directory that has none, with all that the machine holds.
    pub fn create(directory: &Path, options: &Options, embedder: Box<dyn Embedder>) -> Result<Image, ImageError> {
        let store = Arc::new(Store::create(directory, options.store.clone())?);
        Image::bear(store, options, embedder, |_| Ok(()))
    }

    /// A new image in a store without a commit. What `genesis` makes is in the first commit too, or there is none.
    pub fn bear(
        store: Arc<Store>,
        options: &Options,
        embedder: Box<dyn Embedder>,
        genesis: impl FnOnce(&mut Vm) -> Result<(), language::Error>,
    ) -> Result<Image, ImageError> {
        let mut vm = embedder.newborn();
        let (io, identities) = (Rc::new(Io::of(&mut vm)), Rc::default());
        vm.set_loader(loader(&store, &identities, &io));
        let mut image = Image::with(vm, store, identities, io, options, embedder);
        image.vm.open_level();
        genesis(&mut image.vm)?;
        let cause = Cause { author: "telos".into(), cause: "genesis".into(), ..Cause::default() };
        if let Some(ticket) = image.commit(&cause)? {
            image.store.wait(ticket)?;
        }
        Ok(image)
    }

    /// The image that is in a directory. Recovers what a crash left, and loads nothing but the root.
    pub fn open(directory: &Path, options: &Options, embedder: Box<dyn Embedder>) -> Result<Image, ImageError> {
        let store = Arc::new(Store::open(directory, options.store.clone())?);
        Image::on(store, options, embedder)
    }

    /// The image that is in a store. Fails if it has no root, and looks at no more than that.
    pub fn on(store: Arc<Store>, options: &Options, embedder: Box<dyn Embedder>) -> Result<Image, ImageError> {
        let mut machine = embedder.bare();
        let io = Rc::new(Io::of(&mut machine));
        let (vm, identities) = woken(&store, root_id(&store), &io, machine)?;
        let mut image = Image::with(vm, store, identities, io, options, embedder);
        image.vm.open_level();
        Ok(image)
    }

    fn with(
        vm: Vm,
        store: Arc<Store>,
        identities: Rc<Identities>,
        io: Rc<Io>,
        options: &Options,
        embedder: Box<dyn Embedder>,
    ) -> Image {
        let (clock, evictor) = (Clock::after(store.time()), Evictor::new(options.cache_bytes));
        let root_id = root_id(&store);
        Image {
            vm,
            store,
            identities,
            root_id,
            io,
            clock,
            evictor,
            embedder,
            last: None,
            shelved: None,
            guard: Guard::default(),
        }
    }

    /// Goes on with another machine, from what was committed.
    fn wake(&mut self) -> Result<(), ImageError> {
        let mut machine = self.embedder.bare();
        speech::prepare(&mut machine);
        (self.vm, self.identities) = woken(&self.store, self.root_id, &self.io, machine)?;
        self.vm.open_level();
        Ok(())
    }

    /// Does something to the machine, and commits what came of it, or takes it back. The commit is visible at once;
    /// whoever promises it to somebody waits for the ticket first. None if nothing changed.
    pub fn transact<T>(
        &mut self,
        cause: &Cause,
        run: impl FnOnce(&mut Vm) -> Result<T, language::Error>,
    ) -> Result<(T, Option<Ticket>), ImageError> {
        Ok(self.attempt(cause, run)??)
    }

    /// The same for what may fail in ways of its own; the inner error is that, with everything taken back. Panics if the
    /// program did and no other machine can be made: then the process has to end.
    pub fn attempt<T, E>(
        &mut self,
        cause: &Cause,
        run: impl FnOnce(&mut Vm) -> Result<T, E>,
    ) -> Result<Result<(T, Option<Ticket>), E>, ImageError> {
        self.attempt_with(run, |image, value| Ok((value, image.commit(cause)?)))
    }

    /// Runs something, and lets `end` see to what it left behind, if it did not fail.
    pub(crate) fn attempt_with<T, E, R>(
        &mut self,
        run: impl FnOnce(&mut Vm) -> Result<T, E>,
        end: impl FnOnce(&mut Image, T) -> Result<R, ImageError>,
    ) -> Result<Result<R, E>, ImageError> {
        let ended = catch_unwind(AssertUnwindSafe(|| run(&mut self.vm)));
        let value = match ended {
            Ok(Ok(value)) => value,
            Ok(Err(error)) => {
                self.take_back();
                self.check_loads()?;
                return Ok(Err(error));
            }
            // Nobody knows what the machine was in the middle of: another one goes on from what was committed.
            Err(panic) => {
                let reason = panic_text(&*panic);
                if let Err(error) = self.wake() {
                    // Whoever ran may have lent the machine away and not got it back: there is none to go on with.
                    panic!("the program brought the machine down ({reason}), and no other can go on: {error}");
                }
                return Err(ImageError::Panicked(reason));
            }
        };
        if self.vm.heap().has_failed() {
            self.take_back();
            self.check_loads()?;
        }
        end(self, value).map(Ok)
    }

    /// Commits changes that were made elsewhere, and lets the objects be loaded anew. Between transactions only.
    pub fn adopt(&mut self, cause: &Cause, changes: Vec<(ObjectId, Operation)>) -> Result<Option<Ticket>, ImageError> {
        if changes.is_empty() {
            return Ok(None);
        }
        let (time, next) = (self.tick(), self.store.next_change());
        let number = |(index, (object, operation))| {
            Change::new(ChangeId::new(next.actor, next.seq + index as u64), time, object, operation)
        };
        let changes = changes.into_iter().enumerate().map(number).collect();
        self.take_in(cause, time, changes).map(Some)
    }

    /// Commits changes of any actor, and lets their objects be loaded anew. Between transactions only.
    pub(crate) fn take_in(&mut self, cause: &Cause, time: Time, changes: Vec<Change>) -> Result<Ticket, ImageError> {
        self.guard.check(&self.store, &changes, cause.is_allowed)?;
        let touched: Vec<ObjectId> = changes.iter().map(|change| change.object).collect();
        let Cause { author, cause, durability, .. } = cause.clone();
        let ticket = self.store.commit(NewCommit { time, author, cause, changes, durability })?;
        self.remember(ticket, durability);
        self.load_anew(touched);
        Ok(ticket)
    }

    /// These objects may be others in the store than in memory.
    pub(crate) fn load_anew(&mut self, mut touched: Vec<ObjectId>) {
        touched.sort_unstable();
        touched.dedup();
        let touched: Vec<Handle> = touched.into_iter().filter_map(|object| self.identities.handle(object)).collect();
        self.vm.hollow_out(touched);
        self.vm.code_may_have_changed();
    }

    /// Commits that calls to the world outside were made, whatever became of the transaction that made them. Between
    /// transactions only.
    pub fn note_calls(&mut self, calls: Vec<Operation>) -> Result<Option<Ticket>, ImageError> {
        let Some(root) = self.id_of(Value::object(self.vm.root())) else { return Ok(None) };
        if calls.is_empty() {
            return Ok(None);
        }
        let (time, next) = (self.tick(), self.store.next_change());
        let number =
            |(index, operation)| Change::new(ChangeId::new(next.actor, next.seq + index as u64), time, root, operation);
        let changes = calls.into_iter().enumerate().map(number).collect();
        let (author, cause, durability) = ("broker".into(), "calls".into(), Durability::Os);
        Ok(Some(self.store.commit(NewCommit { time, author, cause, changes, durability })?))
    }

    pub(crate) fn take_back(&mut self) {
        self.vm.roll_back_level();
        self.vm.open_level();
    }

    pub(crate) fn check_loads(&mut self) -> Result<(), ImageError> {
        check_loads(&mut self.vm)
    }

    /// The time of a commit that is made now.
    pub(crate) fn tick(&mut self) -> Time {
        self.clock.tick(now_ms())
    }

    pub(crate) fn empty_memory(&self) -> Result<Memory, ImageError> {
        Memory::empty(&self.store, self.root_id, &self.io)
    }

    pub(crate) fn language(&self) -> &dyn Language {
        &*self.io
    }

    fn commit(&mut self, cause: &Cause) -> Result<Option<Ticket>, ImageError> {
        let time = self.tick();
        let next = self.store.next_change();
        let root = [self.vm.root()];
        let Commitment { changes, found } =
            commitment(self.vm.heap(), &self.identities, self.language(), &root, next, time);
        let mut ticket = None;
        if !changes.is_empty() {
            let Cause { author, cause, durability, is_allowed } = cause.clone();
            let committed = self
                .guard
                .check(&self.store, &changes, is_allowed)
                .and_then(|()| Ok(self.store.commit(NewCommit { time, author, cause, changes, durability })?));
            match committed {
                Ok(taken) => {
                    self.remember(taken, durability);
                    ticket = Some(taken);
                }
                Err(error) => {
                    found.into_iter().for_each(|handle| self.identities.release(handle));
                    self.take_back();
                    return Err(error);
                }
            }
        }
        self.vm.keep_level();
        self.vm.open_level();
        self.evictor.run(&mut self.vm, &self.identities);
        Ok(ticket)
    }

    fn remember(&mut self, ticket: Ticket, durability: Durability) {
        if durability == Durability::Flush {
            self.last = Some(ticket);
        }
    }

    /// Returns when a commit is as durable as it asked to be.
    pub fn wait(&self, ticket: Ticket) -> Result<(), ImageError> {
        Ok(self.store.wait(ticket)?)
    }

    pub fn vm(&self) -> &Vm {
        &self.vm
    }

    /// To set limits, or to remember an interrupt. What a program is to do goes through `transact`.
    pub fn vm_mut(&mut self) -> &mut Vm {
        &mut self.vm
    }

    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// What nothing writes to from now on, unless a person allows it. Gives the one that there was.
    pub fn set_guard(&mut self, guard: Guard) -> Guard {
        std::mem::replace(&mut self.guard, guard)
    }

    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// A persistent object, to be loaded when it is first touched. Whether there is one of this id is then found out.
    pub fn value_of(&mut self, id: ObjectId) -> Value {
        let identities = self.identities.clone();
        Value::object(identities.handle_or_mint(id, self.vm.nest()))
    }

    /// The id of a value that is persistent.
    pub fn id_of(&self, value: Value) -> Option<ObjectId> {
        self.identities.id(value.as_handle()?)
    }

    /// Flushes and ends. Whoever still reads from the store, such as a backup, keeps it open; what was committed is durable
    /// all the same when this returns.
    pub fn close(self) -> Result<(), ImageError> {
        let Image { vm, store, last, .. } = self;
        drop(vm);
        match (Arc::try_unwrap(store), last) {
            (Ok(store), _) => Ok(store.close()?),
            (Err(store), Some(last)) => Ok(store.wait(last)?),
            (Err(_), None) => Ok(()),
        }
    }
}

/// Puts a machine on a heap in which nothing is loaded yet.
fn woken(store: &Arc<Store>, root_id: ObjectId, io: &Rc<Io>, machine: Vm) -> Result<(Vm, Rc<Identities>), ImageError> {
    let Memory { heap, root, identities } = Memory::empty(store, root_id, io)?;
    let mut vm = machine.onto(heap, root).ok_or(ImageError::Unborn)?;
    check_loads(&mut vm)?;
    Ok((vm, identities))
}

impl Memory {
    fn empty(store: &Arc<Store>, root_id: ObjectId, io: &Rc<Io>) -> Result<Memory, ImageError> {
        let identities: Rc<Identities> = Rc::default();
        let mut heap = Heap::new();
        heap.set_loader(loader(store, &identities, io));
        for (number, &constant) in constants(store, root_id)?.iter().enumerate() {
            let handle = Handle(number as u32);
            identities.bind(handle, constant);
            heap.hollow_out(handle);
        }
        let root = identities.handle_or_mint(root_id, &mut heap);
        Ok(Memory { heap, root, identities })
    }
}

/// The root of a store's image; not of a copy's, whose actor is another.
fn root_id(store: &Store) -> ObjectId {
    ObjectId::minted(ChangeId::new(store.actor(), 1))
}

/// Who nil, true and false are, which must be known before anything refers to them.
fn constants(store: &Store, root_id: ObjectId) -> Result<Vec<ObjectId>, ImageError> {
    let root = store.read(root_id)?.ok_or(ImageError::Unborn)?;
    let constants = root.slots.iter().find(|(name, _)| name.as_bytes() == b"constants");
    let Some((_, object::change::Datum::Object(id))) = constants else { return Err(ImageError::Unborn) };
    let constants = store.read(*id)?.ok_or(ImageError::Unborn)?.protos;
    match constants[..] {
        [nil, yes, no] if nil != yes && nil != no && yes != no && !constants.contains(&root_id) => Ok(constants),
        _ => Err(ImageError::Unborn),
    }
}

fn check_loads(vm: &mut Vm) -> Result<(), ImageError> {
    vm.take_load_failure().map_or(Ok(()), |failure| Err(ImageError::Damaged(failure)))
}

fn loader(store: &Arc<Store>, identities: &Rc<Identities>, io: &Rc<Io>) -> Box<dyn object::Loader> {
    let records = Rc::new(StoreRecords(store.clone()));
    Box::new(StoreLoader { records, identities: identities.clone(), language: io.clone() })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "for no reason told".into())
}

/// By the wall clock.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
