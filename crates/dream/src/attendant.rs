//! The process that attends to a dream: a copy of the image process that has given up what it inherited. It makes the dreamer,
//! carries bytes between that and the keeper (`carry`), writes its journal down, and sees it to its end. It has one thread: each
//! would cost a dream more than what it does.

use crate::carry::{Carrier, Piece};
use crate::error::DreamError;
use crate::journal::{Bounds, Decoder, ForkPoint, Journaling, Writer};
use crate::kept::{Dreams, End, Header, KeptDream, Recording, Status, Usage};
use crate::layers::{Layers, Written};
use image::now_ms;
use rustix::io::Errno;
use sandbox::outcome::{Limit, Outcome, Verdict};
use sandbox::process::Dreamer;
use sandbox::{Access, Grant, Order, SandboxError, Sink, Stdin, Streams};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

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

impl Record {
    /// What its journal begins with.
    fn beginning(&self) -> (ForkPoint, Bounds) {
        let header = match self {
            Record::New(header) => header,
            Record::Again(_, dream) => &dream.header,
        };
        (header.fork(), header.bounds)
    }
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
        sandbox::process::seclude();
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

    /// All of the attendant's life, to its exit code. `dream` is all of the dreamer's. What cannot be read in the dream's file, for
    /// there is none, is `told` over the line.
    pub fn attend(
        self,
        record: Record,
        order: &Order,
        dream: impl FnOnce(Sealed) -> i32,
        told: impl FnOnce(BorrowedFd<'_>, &DreamError),
    ) -> i32 {
        let said = Said::default();
        let (fork, bounds) = record.beginning();
        let layered = self.layered(&record, order);
        let (mut record, mut recorded, mut down) = (Some(record), None, None);
        let sealed = layered.and_then(|(layers, order)| {
            let sealed = self.seal(Writer::new(fork, bounds), &order, &said, dream, |conversation| {
                recorded = record.take().map(|record| self.recorded(record));
                down = Some(Piece::ahead(self.line(), conversation));
            });
            Ok((sealed?, layers))
        });
        let recorded = recorded.or_else(|| record.map(|record| self.recorded(record)));
        let (recording, decoder) = match recorded {
            Some(Ok(recorded)) => recorded,
            Some(Err(error)) => {
                told(self.line(), &error);
                return 1;
            }
            None => return 1,
        };
        match sealed {
            Ok(((conversation, journal, dreamer), layers)) => {
                let ways = (UnixStream::from(self.0.line), conversation, down.unwrap_or_default());
                let Ok(carrier) = Carrier::new(ways, journal, (recording, decoder)) else { return 1 };
                Dreaming { carrier, dreamer, said, layers }.see_to_its_end()
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

    /// Makes the dreamer, and does something `meanwhile`, with the way to it, unless there is none.
    fn seal(
        &self,
        writer: Writer,
        order: &Order,
        said: &Said,
        dream: impl FnOnce(Sealed) -> i32,
        meanwhile: impl FnOnce(&UnixStream),
    ) -> Result<(UnixStream, OwnedFd, Box<Dreamer>), DreamError> {
        let no_pipe =
            |error: std::io::Error| DreamError::Seal(SandboxError::System { action: "make a pipe", source: error });
        let (conversation, inside) = UnixStream::pair().map_err(no_pipe)?;
        let (journal, journal_inside) = std::io::pipe().map_err(no_pipe)?;
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
        let dreamer = sandbox::process::sealed_meanwhile(order, streams, &handed_on, body, || meanwhile(&conversation));
        Ok((conversation, journal.into(), dreamer.map_err(DreamError::Seal)?))
    }
}

/// The exit code of a dreamer that could not begin.
const NO_DESCRIPTORS: i32 = 71;

/// A dreamer that is behind its walls, and all that leads to it.
struct Dreaming {
    carrier: Carrier,
    dreamer: Box<Dreamer>,
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
        let Dreaming { mut carrier, dreamer, said, layers } = self;
        let mut outcome = dreamer.wait_with(&mut carrier);
        let (line, mut recording, failure) = carrier.finish();
        let changes = outcome.as_mut().map(|outcome| std::mem::take(&mut outcome.changes)).unwrap_or_default();
        let written = layers.write_down(changes, &mut recording);
        let end = with_files(ending(outcome, failure), written);
        let recorded = recording.end(&End { output: said.text(), ..end });
        // The keeper takes this for the end, and the file says all by then.
        let _ = line.shutdown(std::net::Shutdown::Both);
        i32::from(recorded.is_err())
    }
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
