//! One machine and all that surrounds it: its output, its sources, its time. Owns how a program is run and how its end
//! becomes an exit code.

use crate::host::outside::Line;
use crate::host::{Capabilities, LocalZone, Shared, Sink, StandardOutput, end_all_commands, now};
use crate::options::MachineOptions;
use language::{Error, Exception, Halt, Host, Interrupt, Value, Vm};
use object::sequence::Encoding;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// What the exit code of this program means, beyond what the running program chose itself.
pub mod exit_code {
    pub const EXCEPTION: u8 = 1;
    /// It would change what only a person may.
    pub const NOT_ALLOWED: u8 = 3;
    pub const INTERNAL: u8 = 101;
    pub const FUEL: u8 = 122;
    pub const MEMORY: u8 = 123;
    pub const TIMEOUT: u8 = 124;
    pub const INTERRUPTED: u8 = 130;
    /// As if SIGPIPE had ended it: nobody reads what it writes.
    pub const OUTPUT_CLOSED: u8 = 141;
}

/// How long a primitive that does not look at the clock may go on after the time is up, and how long writing what is
/// buffered may take then.
const GRACE: Duration = Duration::from_millis(150);

/// Why a program ended without a value.
#[derive(Debug)]
pub enum Failure {
    Program(Error),
    /// An exception in a coroutine, which nobody waited for.
    Unhandled(Exception),
    TimedOut(Duration),
    OutputClosed,
    OutputFailed(std::io::Error),
}

impl Failure {
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Program(Error::Halted(Halt::Fuel { .. })) => exit_code::FUEL,
            Failure::Program(Error::Halted(Halt::Memory { .. })) => exit_code::MEMORY,
            Failure::Program(Error::Halted(Halt::Interrupted)) => exit_code::INTERRUPTED,
            Failure::Program(Error::Halted(Halt::Exit { code })) => *code,
            Failure::Program(_) | Failure::Unhandled(_) | Failure::OutputFailed(_) => exit_code::EXCEPTION,
            Failure::TimedOut(_) => exit_code::TIMEOUT,
            Failure::OutputClosed => exit_code::OUTPUT_CLOSED,
        }
    }
}

/// A machine that runs one program, or one dialogue.
pub struct Session {
    pub vm: Vm,
    pub output: StandardOutput,
    options: MachineOptions,
    /// Source texts by label, for error reports.
    sources: BTreeMap<String, String>,
    deadline: Option<Instant>,
    has_timed_out: Arc<AtomicBool>,
    /// Somebody else says when a stop was meant for an earlier program.
    is_kept: bool,
}

impl Session {
    pub fn new(options: &MachineOptions, sink: Sink) -> Session {
        let output = StandardOutput::new(sink);
        let mut vm = equipped(options, &output, None, Vm::new);
        if options.capabilities().clock {
            // As the prototype always did, it says when the program began.
            let date = vm.prototype("Date");
            vm.set_date_seconds(date, now());
        }
        Session::around(vm, options, output)
    }

    /// For a machine that lives elsewhere, and is lent.
    pub fn around(vm: Vm, options: &MachineOptions, output: StandardOutput) -> Session {
        let mut session = Session {
            vm,
            output,
            options: options.clone(),
            sources: BTreeMap::new(),
            deadline: None,
            has_timed_out: Arc::default(),
            is_kept: false,
        };
        session.refill();
        session
    }

    /// From now on stops stay in force until somebody takes them back who knows what they were meant for.
    pub fn keep_stops(&mut self) {
        self.is_kept = true;
    }

    /// Gives what follows the full limits: fuel and time are used up by all of it together.
    pub fn refill(&mut self) {
        self.vm.set_limits(self.options.limits());
        self.deadline = self.options.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    }

    /// What of the host its machine was given.
    pub fn capabilities(&self) -> Capabilities {
        self.options.capabilities()
    }

    /// When the time is up, if there is a limit.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub fn timed_out(&self) -> Failure {
        Failure::TimedOut(self.options.timeout.unwrap_or_default())
    }

    pub fn set_arguments(&mut self, arguments: &[String]) {
        if let Some(shared) = self.vm.extra::<Shared>() {
            shared.arguments = arguments.to_vec();
        }
    }

    /// Tells the program which file it was started from.
    pub fn set_launch_file(&mut self, path: &Path) {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let directory = absolute.parent().unwrap_or(&absolute).to_string_lossy().into_owned();
        if let Some(shared) = self.vm.extra::<Shared>() {
            shared.launch_file = Some((path.to_string_lossy().into_owned(), directory));
        }
    }

    /// Evaluates source in the Lobby.
    pub fn evaluate(&mut self, source: &str, label: &str) -> Result<Value, Failure> {
        self.remember(label, source);
        self.watched(|vm| vm.evaluate(source, label))
    }

    /// Sends a message with arguments that are values already.
    pub fn send(&mut self, target: Value, name: &str, arguments: &[Value]) -> Result<Value, Failure> {
        self.watched(|vm| vm.send(target, name, arguments))
    }

    /// Keeps a source for error reports.
    pub fn remember(&mut self, label: &str, source: &str) {
        self.sources.insert(label.to_string(), source.to_string());
    }

    pub fn forget(&mut self, label: &str) {
        self.sources.remove(label);
    }

    /// Lets coroutines that are still at work come to their end.
    pub fn drain(&mut self) -> Result<(), Failure> {
        let lobby = self.vm.lobby();
        let Some(scheduler) = self.vm.get_slot(lobby, "Scheduler") else { return Ok(()) };
        self.watched(|vm| vm.send(scheduler, "waitForCorosToComplete", &[])).map(|_| ())
    }

    /// What went wrong in coroutines without anybody noticing, since this was last asked.
    pub fn take_unhandled(&mut self) -> Vec<Failure> {
        self.vm.take_unhandled().into_iter().map(Failure::Unhandled).collect()
    }

    /// The text of a value, as the program itself would print it.
    pub fn text_of(&mut self, value: Value) -> Result<String, Failure> {
        if let Some(text) = self.vm.simple_text(value) {
            return Ok(text);
        }
        let text = self.watched(|vm| vm.send(value, "asString", &[]))?;
        Ok(self.vm.simple_text(text).unwrap_or_else(|| self.vm.type_name(value)))
    }

    /// A value as a dialogue shows it: text in quotes, so that "1" is no number.
    pub fn shown(&mut self, value: Value) -> Result<String, Failure> {
        match self.vm.sequence_of(value) {
            Some(text) if text.encoding() != Encoding::Number => {
                let mut text = text.clone();
                text.escape();
                Ok(format!("\"{}\"", text.to_text()))
            }
            _ => self.text_of(value),
        }
    }

    /// The source that a label stands for, as far as it is known.
    pub fn source_of(&self, label: &str) -> Option<String> {
        self.sources.get(label).cloned().or_else(|| common_source_of(label))
    }

    /// Writes out everything that is still buffered, and says if that failed.
    pub fn finish(&mut self) -> Result<(), Failure> {
        if let Some(shared) = self.vm.extra::<Shared>() {
            shared.flush_all();
        }
        match self.output.take_failure() {
            None => Ok(()),
            Some(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::OutputClosed),
            Some(error) => Err(Failure::OutputFailed(error)),
        }
    }

    /// Runs something in the machine and looks at the clock from beside it.
    fn watched(&mut self, run: impl FnOnce(&mut Vm) -> Result<Value, Error>) -> Result<Value, Failure> {
        // A stop that came too late for the last program is not meant for this one.
        if !self.is_kept {
            self.vm.interrupt().take();
        }
        let Some(deadline) = self.deadline else {
            return run(&mut self.vm).map_err(|error| self.failure(error));
        };
        let (done, waiting) = channel::<()>();
        let watch = Watch {
            deadline,
            timeout: self.options.timeout.unwrap_or_default(),
            interrupt: self.vm.interrupt(),
            output: self.output.clone(),
            has_timed_out: self.has_timed_out.clone(),
        };
        let watcher = std::thread::spawn(move || watch.until(waiting));
        let result = run(&mut self.vm);
        drop(done);
        // It panics only if the process is out of everything; the result stands either way.
        let _ = watcher.join();
        result.map_err(|error| self.failure(error))
    }

    fn failure(&mut self, error: Error) -> Failure {
        // A program that was stopped takes the commands that it has started with it.
        if matches!(error, Error::Halted(Halt::Fuel { .. } | Halt::Memory { .. } | Halt::Interrupted)) {
            end_all_commands();
        }
        let is_interrupted = matches!(error, Error::Halted(Halt::Interrupted));
        if is_interrupted && let Err(failure) = self.finish() {
            return failure;
        }
        match is_interrupted && self.has_timed_out.swap(false, Ordering::SeqCst) {
            true => self.timed_out(),
            false => Failure::Program(error),
        }
    }
}

/// The clock beside a machine, on a thread of its own.
struct Watch {
    deadline: Instant,
    timeout: Duration,
    interrupt: Interrupt,
    output: StandardOutput,
    has_timed_out: Arc<AtomicBool>,
}

impl Watch {
    /// Stops the machine when the time is up, unless it is done before.
    fn until(self, done: Receiver<()>) {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if done.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        self.has_timed_out.store(true, Ordering::SeqCst);
        self.interrupt.set();
        if done.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
            self.end();
        }
    }

    /// Ends the process while a primitive is at work that does not look up. Nobody knows where the program is.
    fn end(self) {
        end_all_commands();
        let (done, flushed) = channel();
        // What the program has written is shown, if somebody reads it: else this waits as the program may do.
        std::thread::spawn(move || {
            self.output.flush();
            done.send(())
        });
        let _ = flushed.recv_timeout(GRACE);
        let seconds = self.timeout.as_secs_f64();
        crate::report::say(&format!("error: timed out after {seconds} s, in the midst of one long step"));
        std::process::exit(exit_code::TIMEOUT.into());
    }
}

/// A machine with what the options grant of the host.
pub fn equipped(options: &MachineOptions, output: &StandardOutput, outside: Option<Line>, make: fn(Host) -> Vm) -> Vm {
    let capabilities = options.capabilities();
    let mut shared = Shared::new(output.clone());
    shared.outside = outside;
    let host = Host {
        output: Some(Box::new(output.clone())),
        zone: if capabilities.clock { Some(Box::new(LocalZone::default())) } else { None },
        extra: Some(Box::new(shared)),
    };
    let mut vm = make(host);
    capabilities.install(&mut vm);
    let interrupt = vm.interrupt();
    output.stops(interrupt.clone());
    if let Some(shared) = vm.extra::<Shared>() {
        shared.interrupt = interrupt;
    }
    vm
}

/// The source that a label stands for in any machine: a part of the library, or a file.
pub fn common_source_of(label: &str) -> Option<String> {
    const LARGEST_BYTES: u64 = 16 << 20;
    let library = || language::library_sources().find(|(name, _)| *name == label).map(|(_, text)| text.to_string());
    let file = || {
        let metadata = std::fs::metadata(label).ok()?;
        let is_readable = metadata.is_file() && metadata.len() <= LARGEST_BYTES;
        if is_readable { std::fs::read_to_string(label).ok() } else { None }
    };
    library().or_else(file)
}

/// Makes Ctrl-C stop the machine at its next message; a second one ends the process.
pub fn stop_on_ctrl_c(session: &Session, is_final: bool) {
    let interrupt = session.vm.interrupt();
    let was_pressed = AtomicBool::new(false);
    // Without a handler Ctrl-C still ends the process.
    let _ = ctrlc::set_handler(move || {
        if is_final && was_pressed.swap(true, Ordering::SeqCst) {
            end_all_commands();
            std::process::exit(exit_code::INTERRUPTED.into());
        }
        interrupt.set();
    });
}
