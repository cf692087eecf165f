//! Calls to the world outside, which the broker of an image that is up makes: the same primitives as elsewhere, with other
//! functions. Whoever asks here is answered by policy: the live image by the world itself, a dream as it was begun to be.
//!
//! What was asked and answered in a dream is noted, for its journal.

use super::file::path_of;
use super::stream::Stream;
use super::told::{datum, length, summed_up, told};
use super::{Capabilities, Row, Shared, bytes_for_host, bytes_to_write, open, os_argument, set_path};
use broker::{Answer, Call, Capability, Policies, Policy, Value as Told, Way};
use dream::Answered;
use keeper::protocol::Nest;
use keeper::{Outside, Unanswered};
use language::{ALL, Args, Function, Halt, NONE, ONE, Outcome, Signal, Value, Vm};
use object::change::{Datum, Operation};
use object::sequence::Sequence;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// So many refused files are noted of one request.
const REFUSALS_MAX: usize = 1_000;

/// The way out of a machine. Shared by all machines of a process, and whoever owns them.
#[derive(Clone)]
pub struct Line(Rc<RefCell<Inside>>);

struct Inside {
    outside: Option<Outside>,
    policies: Policies,
    /// Calls are noted.
    is_dream: bool,
    /// Where a dream may look for files: there nothing is refused, and what is missing is only missing.
    places: Vec<PathBuf>,
    noted: Vec<Operation>,
}

impl Line {
    /// Of the live image. With a recording its files, clock and randomness are the broker's
    /// too, so that they are in it.
    pub fn live(outside: Outside, is_recorded: bool) -> Line {
        let mut policies = Policies::default();
        if is_recorded {
            for capability in [Capability::Files, Capability::Clock, Capability::Randomness] {
                policies.ruling_mut(capability).policy = Policy::Redirected;
            }
        }
        policies.http.policy = Policy::Redirected;
        policies.commands.policy = Policy::Redirected;
        let (places, noted) = (Vec::new(), Vec::new());
        Line(Rc::new(RefCell::new(Inside { outside: Some(outside), policies, is_dream: false, places, noted })))
    }

    /// In a copy of this process: others are at the other end now, and other policies hold. The old end belongs to threads that
    /// are not here.
    pub fn become_dream(&self, policies: Policies, places: Vec<PathBuf>) {
        let mut inside = self.0.borrow_mut();
        std::mem::forget(inside.outside.take());
        *inside = Inside { outside: None, policies, is_dream: true, places, noted: Vec::new() };
    }

    pub fn lead_to(&self, outside: Outside) {
        self.0.borrow_mut().outside = Some(outside);
    }

    /// In a dream: asks something about dreams inside of it.
    pub fn nest(&self, nest: &Nest, is_stopped: &mut dyn FnMut() -> bool) -> Result<String, String> {
        let gone = || "nobody answers any more: the keeper has gone".to_string();
        let outside = self.0.borrow().outside.clone().ok_or_else(gone)?;
        match outside.nest(nest, is_stopped) {
            Ok(answer) => match answer.outcome {
                keeper::protocol::Outcome::Value(shown) => Ok(shown.text),
                keeper::protocol::Outcome::Failure(failure) => Err(failure.message),
            },
            Err(Unanswered::Stopped) => Err("stopped before it was answered".into()),
            Err(Unanswered::Gone) => Err(gone()),
        }
    }

    /// What was asked since this was last called, for a journal.
    pub fn take_noted(&self) -> Vec<Operation> {
        std::mem::take(&mut self.0.borrow_mut().noted)
    }

    /// Binds what the broker answers, of what was granted; all else is as it was.
    pub fn bind(&self, vm: &mut Vm, granted: Capabilities) {
        for &(capability, prototype, table) in TABLES {
            let is_granted = match capability {
                Capability::Http => granted.network,
                Capability::Commands => granted.processes,
                Capability::Files => granted.files,
                Capability::Environment => granted.environment,
                Capability::Clock => granted.clock,
                Capability::Randomness => granted.randomness,
            };
            if is_granted && self.0.borrow().policies.policy(capability) != Policy::Own {
                for &(name, eagerness, function) in table {
                    vm.bind(&format!("{prototype}.{name}"), eagerness, Function::Plain(function));
                }
            }
        }
    }

    /// Whether a dream with these policies has to be bound anew.
    pub fn differs_from(&self, policies: &Policies) -> bool {
        let own = |policies: &Policies, capability| policies.policy(capability) == Policy::Own;
        Capability::ALL.into_iter().any(|each| own(&self.0.borrow().policies, each) != own(policies, each))
    }

    /// A dream asked for a file that it was not given. Its walls refused that without anybody to tell of it.
    pub fn note_refused(&self, what: &str, path: &Path, error: &std::io::Error) {
        use std::io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
        let mut inside = self.0.borrow_mut();
        let is_refusal = matches!(error.kind(), NotFound | PermissionDenied | ReadOnlyFilesystem);
        let path = super::own_process::whole(path);
        let is_elsewhere = !inside.places.iter().any(|place| path.starts_with(place));
        if inside.is_dream && is_refusal && is_elsewhere && inside.noted.len() < REFUSALS_MAX {
            let path = Datum::text(&path.to_string_lossy());
            let why = Datum::text(&super::file::reason(error));
            inside.noted.push(dream::Call::operation(call_of(what), &[path], Answered::Blocked, why));
        }
    }

    fn note(&self, call: &Call, answer: &Answer) {
        let mut inside = self.0.borrow_mut();
        if inside.is_dream {
            let arguments: Vec<Datum> = call.arguments.iter().map(datum).collect();
            inside.noted.push(dream::Call::operation(
                &call.name,
                &arguments,
                way(answer.way),
                summed_up(&answer.values),
            ));
        }
    }
}

/// The call that the broker would have been asked for, of what a program wanted to do with a file, in words.
fn call_of(what: &str) -> &'static str {
    match what {
        "read the directory" => "Directory.list",
        "look at" => "File.exists",
        "remove" => "File.remove",
        "open" | "read" => "File.read",
        _ => "File.write",
    }
}

fn way(way: Way) -> Answered {
    match way {
        Way::Redirected => Answered::Redirected,
        Way::Simulated => Answered::Simulated,
        Way::Deferred => Answered::Deferred,
        Way::Blocked => Answered::Blocked,
        Way::Failed => Answered::Failed,
    }
}

/// Makes a call and waits for its answer. What is blocked or fails is raised.
fn ask(vm: &mut Vm, name: &str, arguments: Vec<Told>) -> Result<Vec<Told>, Signal> {
    let Some(shared) = vm.extra::<Shared>() else { return Err(nobody(vm)) };
    shared.output.flush();
    let interrupt = shared.interrupt.clone();
    let Some(line) = shared.outside.clone() else { return Err(nobody(vm)) };
    let Some(outside) = line.0.borrow().outside.clone() else { return Err(nobody(vm)) };
    let call = Call::new(name, arguments);
    vm.charge(call.arguments.iter().map(length).sum::<usize>() / 16)?;
    let answer = match outside.call(&call, &mut || interrupt.take()) {
        Ok(body) => serde_json::from_slice(&body).unwrap_or_else(|error| Answer {
            way: Way::Failed,
            values: vec![Told::Text(format!("the broker's answer cannot be read: {error}"))],
        }),
        Err(Unanswered::Stopped) => {
            let stopped = Told::Text("stopped before it was answered; whether it was done is not known".into());
            line.note(&call, &Answer { way: Way::Failed, values: vec![stopped] });
            return Err(Halt::Interrupted.into());
        }
        Err(Unanswered::Gone) => return Err(vm.raise("nobody answers calls any more: the keeper has gone")),
    };
    line.note(&call, &answer);
    vm.charge(answer.values.iter().map(length).sum::<usize>() / 16)?;
    match answer.way {
        Way::Redirected | Way::Simulated | Way::Deferred => Ok(answer.values),
        Way::Blocked | Way::Failed => {
            let reason = answer.values.into_iter().next();
            let reason = if let Some(Told::Text(text)) = reason { text } else { "no reason was given".into() };
            Err(vm.raise(format!("{name}: {reason}")))
        }
    }
}

fn nobody(vm: &mut Vm) -> Signal {
    vm.raise("calls to the world outside are made by the broker of an image that is up: start it with `telos up`")
}

fn value(vm: &mut Vm, told: Told) -> Value {
    match told {
        Told::Nil => Value::NIL,
        Told::Number(number) => Value::number(number),
        Told::Text(text) => vm.immutable(Sequence::from_vec(text.into_bytes())),
        Told::Bytes(bytes) => vm.buffer(Sequence::from_vec(bytes)),
    }
}

fn bytes_of(told: Option<Told>) -> Vec<u8> {
    match told {
        Some(Told::Text(text)) => text.into_bytes(),
        Some(Told::Bytes(bytes)) => bytes,
        _ => Vec::new(),
    }
}

fn number_of(told: Option<Told>) -> f64 {
    if let Some(Told::Number(number)) = told { number } else { -1.0 }
}

/// What a broker answers in the place of this process.
const TABLES: &[(Capability, &str, &[Row])] = &[
    (Capability::Http, "Http", HTTP),
    (Capability::Commands, "System", COMMANDS),
    (Capability::Commands, "File", &[("popen", ONE, popen)]),
    (Capability::Files, "File", FILE),
    (Capability::Files, "Directory", DIRECTORY),
    (Capability::Environment, "System", &[("getEnvironmentVariable", ONE, variable)]),
    (Capability::Clock, "Date", DATE),
    (Capability::Randomness, "Random", &[("systemValue", NONE, random)]),
];

const HTTP: &[Row] = &[("ask", ALL, |vm, args| {
    let mut arguments = Vec::with_capacity(args.count);
    for index in 0..args.count {
        let is_nil = args.value(vm, index).is_nil();
        arguments.push(if is_nil { Told::Nil } else { told(bytes_for_host(vm, &args, index)?) });
    }
    let answer = ask(vm, "Http.request", arguments)?;
    let answer: Vec<Value> = answer.into_iter().map(|told| value(vm, told)).collect();
    Ok(vm.list(answer))
})];

// ---- commands

const COMMANDS: &[Row] = &[
    ("system", ONE, |vm, args| {
        let command = bytes_for_host(vm, &args, 0)?;
        let (status, output, errors) = run(vm, "System.system", command)?;
        // As a command of this process would have written; whoever does not read it has no use for it.
        let _ = std::io::stdout().write_all(&output);
        let _ = std::io::stderr().write_all(&errors);
        Ok(Value::number(status))
    }),
    ("systemOutput", ONE, |vm, args| {
        let command = bytes_for_host(vm, &args, 0)?;
        let (status, output, errors) = run(vm, "System.systemOutput", command)?;
        let [output, errors] = [output, errors].map(|bytes| vm.buffer(Sequence::from_vec(bytes)));
        Ok(vm.list([Value::number(status), output, errors]))
    }),
];

/// Exit status, output and errors of a command, with the variables and the directory of this program.
fn run(vm: &mut Vm, name: &str, command: Vec<u8>) -> Result<(f64, Vec<u8>, Vec<u8>), Signal> {
    let mut arguments = vec![told(command)];
    let is_dream =
        vm.extra::<Shared>().and_then(|shared| shared.outside.clone()).is_none_or(|line| line.0.borrow().is_dream);
    // A dream's are its own, and nothing to a process elsewhere.
    if !is_dream {
        let set = vm.extra::<Shared>().map(|shared| shared.environment.clone());
        arguments.extend(surroundings(set));
    }
    let mut answer = ask(vm, name, arguments)?.into_iter();
    Ok((number_of(answer.next()), bytes_of(answer.next()), bytes_of(answer.next())))
}

/// What a command of the live image finds: the directory and the variables of this process, with those that programs set.
pub fn surroundings(set: Option<BTreeMap<OsString, OsString>>) -> Vec<Told> {
    let set = set.unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let all = std::env::vars_os().filter(|(name, _)| !set.contains_key(name)).chain(set.clone());
    // Those that are no text are nothing that a program could have set on purpose.
    let texts = all.filter_map(|(name, text)| Some(format!("{}={}", name.to_str()?, text.to_str()?)));
    [told(here.into_os_string().as_bytes().to_vec())].into_iter().chain(texts.map(Told::Text)).collect()
}

/// The command has ended when its output can be read.
fn popen(vm: &mut Vm, args: Args) -> Outcome {
    if args.count > 0 {
        set_path(vm, &args)?;
    }
    let command = path_of(vm, &args)?.into_os_string();
    let (status, output, errors) = run(vm, "System.systemOutput", command.as_bytes().to_vec())?;
    let _ = std::io::stderr().write_all(&errors);
    match in_memory(&output) {
        Ok(file) => open::attach(vm, args.target, Stream::disk(file)),
        Err(error) => return Err(vm.raise(format!("cannot hold what the command wrote: {error}"))),
    }
    vm.set_slot(args.target, "exitStatus", Value::number(status));
    Ok(args.target)
}

fn in_memory(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create(c"output", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

// ---- files, as wholes: there is no stream between

const FILE: &[Row] = &[
    ("contents", NONE, read),
    ("asBuffer", NONE, read),
    ("exists", ONE, |vm, args| {
        let path = match args.count {
            0 => path_of(vm, &args)?,
            _ => os_argument(vm, &args, 0)?.into(),
        };
        let answer = on_path(vm, "File.exists", &path, None)?;
        Ok(Value::boolean(number_of(answer.into_iter().next()) > 0.0))
    }),
    ("remove", NONE, |vm, args| {
        let path = path_of(vm, &args)?;
        on_path(vm, "File.remove", &path, None).map(|_| args.target)
    }),
    ("truncateToSize", ONE, |vm, args| {
        if args.number(vm, 0)? > 0.0 {
            return Err(vm.raise("the broker writes files as wholes: they can be cut to nothing only"));
        }
        let path = path_of(vm, &args)?;
        on_path(vm, "File.write", &path, Some(Vec::new())).map(|_| args.target)
    }),
    ("write", ALL, |vm, args| {
        let path = path_of(vm, &args)?;
        let mut bytes = Vec::new();
        for index in 0..args.count {
            bytes.extend(bytes_to_write(vm, &args, index)?);
        }
        on_path(vm, "File.append", &path, Some(bytes)).map(|_| args.target)
    }),
    ("open", ONE, |_, args| Ok(args.target)),
    ("openForUpdating", ONE, |_, args| Ok(args.target)),
    ("openForAppending", ONE, |_, args| Ok(args.target)),
    ("openForReading", ONE, |_, args| Ok(args.target)),
    ("close", NONE, |_, args| Ok(args.target)),
    ("readLine", NONE, no_stream),
    ("readLines", NONE, no_stream),
    ("readBufferOfLength", ONE, no_stream),
    ("readStringOfLength", ONE, no_stream),
    ("readToBufferLength", ONE, no_stream),
    ("at", ONE, no_stream),
    ("atPut", ONE, no_stream),
    ("reopen", ONE, no_stream),
    ("moveTo", ONE, no_stream),
    ("temporaryFile", NONE, no_stream),
    ("stat", NONE, no_stream),
    ("size", NONE, |vm, args| {
        let path = path_of(vm, &args)?;
        let answer = on_path(vm, "File.read", &path, None)?;
        Ok(Value::number(bytes_of(answer.into_iter().next()).len() as f64))
    }),
];

const DIRECTORY: &[Row] = &[
    ("exists", ONE, |vm, args| {
        let path = match args.count {
            0 => path_of(vm, &args)?,
            _ => os_argument(vm, &args, 0)?.into(),
        };
        let answer = on_path(vm, "File.exists", &path, None)?;
        Ok(Value::boolean(number_of(answer.into_iter().next()) > 0.0))
    }),
    ("items", NONE, |vm, args| {
        let path = path_of(vm, &args)?;
        let mut items = Vec::new();
        for name in names(vm, &args)? {
            // What it is nobody asked: a File serves for both.
            let proto = vm.prototype("File");
            let item = vm.object(proto);
            let place = vm.symbol(&path.join(name).to_string_lossy());
            vm.set_slot(item, "path", place);
            items.push(item);
        }
        Ok(vm.list(items))
    }),
    ("size", NONE, |vm, args| Ok(Value::number(names(vm, &args)?.len() as f64))),
    ("at", ONE, no_stream),
    ("create", NONE, no_stream),
    ("createSubdirectory", ONE, no_stream),
    ("setCurrentWorkingDirectory", ONE, no_stream),
];

fn names(vm: &mut Vm, args: &Args) -> Result<Vec<String>, Signal> {
    let path = path_of(vm, args)?;
    let answer = on_path(vm, "Directory.list", &path, None)?;
    let text = bytes_of(answer.into_iter().next());
    Ok(String::from_utf8_lossy(&text).lines().map(String::from).collect())
}

fn no_stream(vm: &mut Vm, _: Args) -> Outcome {
    Err(vm.raise("the broker reads and writes files as wholes: use contents, setContents, appendToContents or remove"))
}

fn read(vm: &mut Vm, args: Args) -> Outcome {
    let path = path_of(vm, &args)?;
    // What a command wrote is here already.
    if open::stream_of(vm, args.target).is_some() {
        return super::file::contents(vm, args);
    }
    let answer = on_path(vm, "File.read", &path, None)?;
    let bytes = bytes_of(answer.into_iter().next());
    Ok(vm.buffer(Sequence::from_vec(bytes)))
}

/// Paths are told whole: the broker is elsewhere.
fn on_path(vm: &mut Vm, name: &str, path: &Path, contents: Option<Vec<u8>>) -> Result<Vec<Told>, Signal> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let mut arguments = vec![told(whole.into_os_string().as_bytes().to_vec())];
    arguments.extend(contents.map(told));
    ask(vm, name, arguments)
}

// ---- what needs no words

const DATE: &[Row] = &[
    ("now", NONE, |vm, args| {
        let now = now(vm)?;
        vm.set_date_seconds(args.target, now);
        Ok(args.target)
    }),
    ("secondsSinceNow", NONE, |vm, args| {
        let now = now(vm)?;
        Ok(Value::number(now - vm.date_seconds(args.target).unwrap_or(now)))
    }),
    ("isPast", NONE, |vm, args| {
        let now = now(vm)?;
        Ok(Value::boolean(vm.date_seconds(args.target).is_some_and(|seconds| now > seconds)))
    }),
];

fn now(vm: &mut Vm) -> Result<f64, Signal> {
    Ok(number_of(ask(vm, "Clock.now", Vec::new())?.into_iter().next()))
}

fn variable(vm: &mut Vm, args: Args) -> Outcome {
    let name = told(bytes_for_host(vm, &args, 0)?);
    let answer = ask(vm, "Environment.get", vec![name])?.into_iter().next().unwrap_or(Told::Nil);
    Ok(match answer {
        Told::Nil => Value::NIL,
        text => vm.symbol(&String::from_utf8_lossy(&bytes_of(Some(text)))),
    })
}

/// As the system's own: all 53 bits of a double by chance.
fn random(vm: &mut Vm, _: Args) -> Outcome {
    let answer = ask(vm, "Randomness.bytes", vec![Told::Number(8.0)])?;
    let bytes = bytes_of(answer.into_iter().next());
    match bytes.first_chunk::<8>() {
        Some(bytes) => Ok(Value::number((u64::from_le_bytes(*bytes) >> 11) as f64 / (1_u64 << 53) as f64)),
        None => Err(vm.raise("Randomness.bytes: eight bytes were asked for, and fewer came")),
    }
}
