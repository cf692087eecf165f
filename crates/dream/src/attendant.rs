//! The process that attends to a dream: a copy of the image process that has given up what it inherited. It makes the dreamer,
//! carries bytes between that and the keeper, writes its journal down, and sees it to its end.
//!
//! **Order.** The dreamer tells its journal what it committed before it answers. So whatever is answered was written down, as
//! long as the journal is emptied before an answer is carried on.

use crate::error::DreamError;
use crate::journal::{Decoder, Journaling, Writer};
use crate::kept::{Dreams, End, Header, KeptDream, Recording, Status, Usage};
use crate::layers::{Layers, Written};
use object::change::Time;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use sandbox::outcome::{Limit, Outcome, Verdict};
use sandbox::{Access, Grant, Order, Running, SandboxError, Sink, Stdin, Stop, Streams};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// How much is carried at once.
const PIECE_BYTES: usize = 16 << 10;

/// A copy of the image process, in which nothing has happened yet.
pub struct Forked {
    /// To the keeper: requests come from it, answers go to it, and its end is the end of the dream.
    pub line: OwnedFd,
    /// Where the image lies.
    pub directory: PathBuf,
    /// The id of its store.
    pub store: [u8; 16],
}

/// One that has given up all that it inherited but the line.
pub struct Alone(Forked);

/// What a dream is written down in.
pub enum Record {
    New(Box<Header>),
    /// It goes on with one that was kept.
    Again(Recording, Box<KeptDream>),
}

/// What a dreamer has, behind all walls.
pub struct Sealed {
    pub conversation: UnixStream,
    pub journal: Journaling,
}

impl Forked {
    pub fn give_up_all_else(self) -> Result<Alone, DreamError> {
        // Nobody reads what it would say, and another thread may have held the lock of standard error for ever.
        std::panic::set_hook(Box::new(|_| {}));
        let failed =
            |action| move |errno: Errno| DreamError::Seal(SandboxError::System { action, source: errno.into() });
        system::descriptor::close_all_but(&[self.line.as_raw_fd()]).map_err(failed("close what was inherited"))?;
        rustix::thread::set_name(c"dream-attendant").map_err(failed("name a process"))?;
        Ok(Alone(self))
    }
}

impl Alone {
    /// To the keeper.
    pub fn line(&self) -> BorrowedFd<'_> {
        self.0.line.as_fd()
    }

    pub fn dreams(&self) -> Result<Dreams, DreamError> {
        Dreams::open(&self.0.directory, self.0.store)
    }

    /// All of the attendant's life, to its exit code. `dream` is all of the dreamer's.
    pub fn attend(self, record: Record, order: &Order, dream: impl FnOnce(Sealed) -> i32) -> i32 {
        let said = Said::default();
        let sealed = self.layered(&record, order).and_then(|(layers, order)| {
            let (conversation, journal, running) = self.seal(&record, &order, &said, dream)?;
            Ok((conversation, journal, running, layers))
        });
        // The dreamer is on its way meanwhile.
        let (recording, decoder) = match self.recorded(record) {
            Ok(recorded) => recorded,
            Err(_) => return 1,
        };
        match sealed {
            Ok((conversation, journal, running, layers)) => {
                let line = UnixStream::from(self.0.line);
                Dreaming { line, conversation, journal, running, recording, decoder, said, layers }.see_to_its_end()
            }
            // There is no dreamer: whoever asks for it is told why, by the one file there is to read.
            Err(error) => {
                let _ = recording.end(&end(Status::Failed, error.to_string(), Usage::default()));
                1
            }
        }
    }

    fn recorded(&self, record: Record) -> Result<(Recording, Decoder), DreamError> {
        Ok(match record {
            Record::New(header) => (self.dreams()?.begin(&header)?, Decoder::new(header.fork(), header.bounds)),
            Record::Again(recording, dream) => {
                let decoder = Decoder::after(&dream.journal, dream.journal_bytes, dream.header.bounds);
                (recording, decoder)
            }
        })
    }

    /// Looks at the directories that it may write to, before it does. One that goes on sees those that it saw, as it left them.
    fn layered(&self, record: &Record, order: &Order) -> Result<(Layers, Order), DreamError> {
        let (mut order, mut left) = (order.clone(), Written::new());
        if let Record::Again(_, dream) = record {
            order.view.grants = dream
                .header
                .directories
                .iter()
                .map(|seen| Grant {
                    host: seen.host.clone(),
                    inside: seen.inside.clone(),
                    access: if seen.is_layered { Access::Layered } else { Access::Read },
                })
                .collect();
            left = self.dreams()?.written(dream.header.id())?;
        }
        Ok((Layers::new(&mut order, left)?, order))
    }

    fn seal(
        &self,
        record: &Record,
        order: &Order,
        said: &Said,
        dream: impl FnOnce(Sealed) -> i32,
    ) -> Result<(UnixStream, File, Box<dyn Running>), DreamError> {
        let no_pipe =
            |error: std::io::Error| DreamError::Seal(SandboxError::System { action: "make a pipe", source: error });
        let header = match record {
            Record::New(header) => header,
            Record::Again(_, dream) => &dream.header,
        };
        let (conversation, inside) = UnixStream::pair().map_err(no_pipe)?;
        let (journal, journal_inside) = std::io::pipe().map_err(no_pipe)?;
        let writer = Writer::new(header.fork(), header.bounds);
        let handed_on = [inside.as_fd(), journal_inside.as_fd()];
        let body = || {
            // Copies: the originals are dropped by a process that goes on elsewhere.
            match (inside.try_clone(), journal_inside.try_clone()) {
                (Ok(conversation), Ok(pipe)) => {
                    dream(Sealed { conversation, journal: Journaling::new(OwnedFd::from(pipe).into(), writer) })
                }
                _ => NO_DESCRIPTORS,
            }
        };
        let streams = Streams { stdin: Stdin::Empty, output: said.sink() };
        let running = sandbox::process::sealed(order, streams, &handed_on, body).map_err(DreamError::Seal)?;
        Ok((conversation, OwnedFd::from(journal).into(), running))
    }
}

/// The exit code of a dreamer that could not begin.
const NO_DESCRIPTORS: i32 = 71;

/// A dreamer that is behind its walls, and all that leads to it.
struct Dreaming {
    line: UnixStream,
    conversation: UnixStream,
    journal: File,
    running: Box<dyn Running>,
    recording: Recording,
    decoder: Decoder,
    said: Said,
    layers: Layers,
}

/// What a dreamer wrote to its streams, up to a bound.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

const SAID_BYTES_MAX: usize = 64 << 10;

impl Said {
    fn sink(&self) -> Sink {
        let said = self.0.clone();
        Box::new(move |_, bytes| {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            let room = SAID_BYTES_MAX.saturating_sub(said.len());
            said.extend(&bytes[..bytes.len().min(room)]);
        })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Dreaming {
    fn see_to_its_end(self) -> i32 {
        let Dreaming { line, conversation, journal, running, recording, decoder, said, layers } = self;
        let (Ok(down_line), Ok(down_conversation)) = (line.try_clone(), conversation.try_clone()) else { return 1 };
        let (down_stop, up_stop) = (running.stop(), running.stop());
        // Not joined: it waits for the keeper, which may have nothing to say for ever.
        let down = spawn("down", move || carry_down(down_line, down_conversation, &down_stop));
        let mut up = Up { line, conversation, journal, recording, decoder, failure: None };
        let up = spawn("up", move || {
            up.carry(&up_stop);
            up
        });
        let (Ok(_), Ok(up)) = (down, up) else { return 1 };
        let mut outcome = running.wait();
        let Ok(Up { mut recording, failure, line, .. }) = up.join() else { return 1 };
        let changes = outcome.as_mut().map(|outcome| std::mem::take(&mut outcome.changes)).unwrap_or_default();
        let written = layers.write_down(changes, &mut recording);
        let end = with_files(ending(outcome, failure), written);
        let recorded = recording.end(&End { output: said.text(), ..end });
        // The keeper takes this for the end, and the file says all by then.
        let _ = line.shutdown(std::net::Shutdown::Both);
        i32::from(recorded.is_err())
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<std::thread::JoinHandle<T>> {
    // They hold a piece and call a decoder.
    const STACK_BYTES: usize = 512 << 10;
    std::thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(work)
}

/// From the keeper to the dreamer, until the keeper has gone: then the dream is over.
fn carry_down(mut line: UnixStream, mut conversation: UnixStream, stop: &Stop) {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match line.read(&mut piece) {
            Ok(count @ 1..) if conversation.write_all(&piece[..count]).is_ok() => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // One that does not listen any more has ended, or is about to.
            Ok(1..) => return,
            Ok(0) | Err(_) => return stop.stop(),
        }
    }
}

/// From the dreamer outwards.
struct Up {
    line: UnixStream,
    conversation: UnixStream,
    journal: File,
    recording: Recording,
    decoder: Decoder,
    /// Why nothing more is taken from it.
    failure: Option<DreamError>,
}

impl Up {
    /// Until both ends of the dreamer are closed, which they are when it is gone.
    fn carry(&mut self, stop: &Stop) {
        let mut piece = vec![0; PIECE_BYTES];
        let (mut hears, mut records) = (true, true);
        while hears || records {
            let Some((is_said, is_told)) = self.wait(hears, records) else { return stop.stop() };
            let said = match is_said {
                true => self.conversation.read(&mut piece).unwrap_or(0),
                false => 0,
            };
            hears &= !is_said || said > 0;
            // What was told before it was said is in the journal's pipe by now.
            if is_told || said > 0 {
                records &= self.record();
            }
            if self.failure.is_some() {
                // What it did is not known any more, and nothing that it says counts.
                return stop.stop();
            }
            if said > 0 && self.line.write_all(&piece[..said]).is_err() {
                return stop.stop();
            }
        }
    }

    /// Which of the two have something, or have ended. Who has ended is not asked again: it would say so for ever.
    fn wait(&self, hears: bool, records: bool) -> Option<(bool, bool)> {
        let conversation = hears.then(|| PollFd::new(&self.conversation, PollFlags::IN));
        let journal = records.then(|| PollFd::new(&self.journal, PollFlags::IN));
        let mut waited: Vec<PollFd<'_>> = conversation.into_iter().chain(journal).collect();
        loop {
            match poll(&mut waited, None) {
                Err(Errno::INTR) => {}
                Err(_) => return None,
                Ok(_) => break,
            }
        }
        let mut has_some = waited.iter().map(|waited| !waited.revents().is_empty());
        let mut next = |is_wanted: bool| is_wanted && has_some.next().unwrap_or(false);
        Some((next(hears), next(records)))
    }

    /// Writes down all that the journal's pipe holds. False when nothing more will come.
    fn record(&mut self) -> bool {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let mut waited = [PollFd::new(&self.journal, PollFlags::IN)];
            let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
            if !matches!(poll(&mut waited, Some(&now)), Ok(1..)) {
                return true;
            }
            let Ok(count @ 1..) = self.journal.read(&mut piece) else { return false };
            let (recording, mut failure) = (&mut self.recording, None);
            let fed = self.decoder.feed(&piece[..count], now_time(), &mut |received| {
                if failure.is_none() {
                    failure = recording.append(&received).err();
                }
            });
            self.failure = failure.or(fed.err().map(DreamError::from));
            if self.failure.is_some() {
                return false;
            }
        }
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

fn now_time() -> Time {
    // To its end: commits of one millisecond are told apart by more than that.
    Time::from_ms(now_ms() + 1)
}

/// The end of a dream that used nothing.
pub fn ended(status: Status, reason: String) -> End {
    end(status, reason, Usage::default())
}

fn end(status: Status, reason: String, usage: Usage) -> End {
    End { status, reason, ended_ms: now_ms(), usage, is_kept: false, output: String::new() }
}

fn ending(outcome: Result<Outcome, SandboxError>, failure: Option<DreamError>) -> End {
    let (verdict, usage) = match outcome {
        Ok(outcome) => (Ok(outcome.verdict), outcome.usage),
        Err(error) => (Err(error), sandbox::Usage::default()),
    };
    let usage = Usage {
        time_ms: usage.time.as_millis() as u64,
        cpu_ms: (usage.user + usage.system).as_millis() as u64,
        memory_bytes: usage.memory_bytes,
        fuel: 0,
    };
    let (status, reason) = match (failure, verdict) {
        (Some(failure), _) => (Status::Failed, format!("its journal was refused: {failure}")),
        (None, Err(error)) => (Status::Failed, error.to_string()),
        (None, Ok(Verdict::Exited(0))) => (Status::Ended, String::new()),
        (None, Ok(Verdict::Exited(NO_DESCRIPTORS))) => (Status::Failed, "it had no descriptors to begin with".into()),
        (None, Ok(Verdict::Exited(1))) => (Status::Failed, "its program failed".into()),
        (None, Ok(Verdict::Exited(code))) => (Status::Failed, format!("it ended with code {code}")),
        (None, Ok(Verdict::Signalled(signal))) => (Status::Killed, format!("signal {signal} ended it")),
        (None, Ok(Verdict::Limited(limit))) => (Status::Killed, format!("it had {}", excess(limit))),
        (None, Ok(Verdict::Stopped)) => (Status::Killed, "it was stopped".into()),
    };
    end(status, reason, usage)
}

/// Adds what became of the files that it wrote.
fn with_files(end: End, written: Result<Option<String>, DreamError>) -> End {
    let (status, lost) = match written {
        Ok(None) => return end,
        Ok(Some(lost)) => (end.status, lost),
        Err(error) => (Status::Failed, format!("what it wrote to files could not be written down: {error}")),
    };
    let reason = if end.reason.is_empty() { lost } else { format!("{}; {lost}", end.reason) };
    End { status, reason, ..end }
}

fn excess(limit: Limit) -> &'static str {
    match limit {
        Limit::Time => "no time left",
        Limit::Cpu => "no processor time left",
        Limit::Memory => "more memory than it may",
        Limit::Output => "more to say than it may",
    }
}
