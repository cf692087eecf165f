//! `telos dream run --command`: an outside program, itself in a sandbox, that is given a dream over its standard input and output.
//!
//! - `job`: from options to the order of its sandbox
//! - `intake`: what it wrote; `talk`: the thread that answers; `inside`: what it asks for, done in the dream, by `phrases` of Io
//! - `ending`: how it ended, for people and programs
//!
//! What an agent may say, byte by byte, is in `dream::agent`. No thread is started before the sandbox, which forks.

mod ending;
mod inside;
mod intake;
mod job;
mod phrases;
mod talk;

pub use job::AgentOptions;

use self::ending::{Asked, Ending};
use self::inside::Inside;
use self::intake::Intake;
use self::job::Job;
use self::talk::Talk;
use super::merging::Wish;
use super::{begin, tell};
use crate::command::exec::outlet::Patience;
use crate::command::exec::{backend, signals};
use crate::options::Color;
use anyhow::Context;
use keeper::Client;
use keeper::protocol::{Command, DreamOrder, Request};
use sandbox::{Backend, Outcome, Running, SandboxError, Stdin, Streams, Verdict};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often it is looked whether somebody pressed Ctrl-C, after the agent has ended and before all it asked for is done.
const LOOK: Duration = Duration::from_millis(100);

/// An agent that is to be started.
pub struct Agent<'w> {
    pub job: Job,
    pub dream: DreamOrder,
    /// What becomes of the dream; its options are also the limits of what the agent asks for.
    pub wish: Wish<'w>,
    pub is_json: bool,
}

impl Agent<'_> {
    pub fn run(self, mut client: Client, color: Color) -> anyhow::Result<ExitCode> {
        let Agent { job, dream, wish, is_json } = self;
        let since = Instant::now();
        let lifetime = job.order.limits.time;
        let begun = begin::begin(&mut client, dream.clone())?;
        let (ours, theirs) = UnixStream::pair().context("cannot make a socket for the agent")?;
        let intake = Intake::new(is_json);
        let sink = intake.sink().context("there is nowhere to write what the agent complains of");
        let started = sink.and_then(|output| {
            let streams = Streams { stdin: Stdin::Descriptor(theirs.into()), output };
            Ok(backend().start(&job.order, streams)?)
        });
        let running = match started {
            Ok(running) => running,
            Err(error) => {
                ending::record_refusal(&begun.dream, &job, &error);
                wake(&mut client, &begun.dream)?;
                return Err(error.context("the agent was not started"));
            }
        };
        let greeting = talk::greeting(&begun.dream, begun.commit, &dream.mandate);
        let talk = Talk::new(Inside::new(client, begun.dream.clone(), wish.options.clone(), !is_json)?);
        let until = lifetime.and_then(|lifetime| Instant::now().checked_add(lifetime));
        let (mut talk, outcome, signal) = accompany(talk, running, greeting, ours, &intake, until)?;
        wake(&mut talk.inside.client, &begun.dream)?;
        let is_late = lifetime.is_some_and(|lifetime| since.elapsed() >= lifetime);
        let page = tell::page(&mut talk.inside.client, &begun.dream)?;
        let outcome = outcome.context("the agent could not be watched to its end")?;
        let (is_flooded, errors, digests) = (intake.is_flooded(), intake.errors(), intake.digests());
        let ending = Ending { talk, outcome, signal, is_late, is_flooded, errors, digests };
        let asked = Asked { dream: &begun.dream, page, job: &job, wish, is_kept: dream.is_kept, is_json };
        ending.finish(asked, color)
    }
}

/// From the agent's start to its end, and that of all that it asked for. The signal is the one that somebody ended it with.
fn accompany(
    mut talk: Talk,
    mut running: Box<dyn Running>,
    greeting: Vec<u8>,
    to: UnixStream,
    intake: &Intake,
    until: Option<Instant>,
) -> anyhow::Result<(Talk, Result<Outcome, SandboxError>, usize)> {
    let (stop, interruption) = (running.stop(), talk.inside.interruption());
    let signals = signals::stop_on_signals(&mut *running);
    intake.stop_with(stop.clone(), Patience { until, lifeline: signals.lifeline() });
    let received = &signals.received;
    let (finished, is_finished) = channel();
    let taken = intake.clone();
    let talking = std::thread::Builder::new().name("agent".into()).spawn(move || {
        talk.go_on(&greeting, to, &taken, &stop);
        // Nobody listens if the other thread has failed.
        let _ = finished.send(());
        talk
    })?;
    let outcome = running.wait();
    intake.close();
    // What an agent asked for before it ended by itself is done; nobody waits for that of one that was ended.
    if !matches!(&outcome, Ok(Outcome { verdict: Verdict::Exited(_), .. })) {
        interruption.interrupt();
    }
    while is_finished.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if received.load(Ordering::SeqCst) != 0 {
            interruption.interrupt();
        }
    }
    let talk = talking.join().map_err(|_| anyhow::anyhow!("the thread that talks with the agent failed"))?;
    Ok((talk, outcome, received.load(Ordering::SeqCst)))
}

/// Ends a dream. The answer is that it is over, in one way or another; then all of it is written down.
fn wake(client: &mut Client, dream: &str) -> anyhow::Result<()> {
    client.send(&Request { dream: Some(dream.into()), ..Request::new(Command::Wake) })?;
    Ok(())
}
