//! The image process: three threads around one [`Living`], and in a dream one. The main thread reads requests, runs them, and
//! takes turns; the listener beside it reads while that is busy, so that it can be interrupted; the third waits for durability
//! and answers. Long work such as a backup has threads of its own, a few at most.
//!
//! It ends when the keeper says so or has gone, never on a signal: whoever stops a group of processes means the keeper.

mod answers;
mod apart;
mod desk;
mod ear;
mod living;
mod outside;
mod reader;

pub use living::{Begun, Birth, Conclusion, Listen, Living, Posted, Wait, Watch};
pub use outside::{Outside, Unanswered};

use crate::error::KeeperError;
use crate::protocol::{Answer, DreamName, FailureKind, Kind, Outbox, Outcome, Reason, Refusal};
use answers::Answers;
use apart::{Apart, Aside};
use desk::{Desk, Work};
use ear::Ear;
use reader::Reader;
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Runs this process as the image process: takes the connection to the keeper from the standard input, opens the image,
/// and serves until it is told to stop.
pub fn live<L: Living>(open: impl FnOnce(Outside) -> Result<L, String>) -> Result<(), KeeperError> {
    let pair = take_pair()?;
    catch_signals()?;
    serve(pair, open, |code| std::process::exit(code))
}

/// A file grew beyond what the process may write (`ulimit -f`). Caught, the write fails and is told; else the process ends
/// without a word.
const SIGXFSZ: i32 = 25;

/// Programs that this process starts shall not be deaf to them, so the signals are caught, not ignored.
pub(crate) fn catch_signals() -> Result<(), KeeperError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGXFSZ] {
        let caught = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
        caught.map_err(KeeperError::system("catch signals"))?;
    }
    Ok(())
}

/// The standard input becomes empty, so that no program in the image reads what the keeper says.
pub(crate) fn take_pair() -> Result<UnixStream, KeeperError> {
    let standard_input = std::io::stdin();
    if rustix::net::sockopt::socket_type(&standard_input).is_err() {
        return Err(KeeperError::NoPair);
    }
    let pair = rustix::io::fcntl_dupfd_cloexec(&standard_input, 3).map_err(KeeperError::system("take the pair"))?;
    let nothing = std::fs::File::open("/dev/null").map_err(KeeperError::system("open /dev/null"))?;
    rustix::stdio::dup2_stdin(&nothing).map_err(KeeperError::system("empty the standard input"))?;
    Ok(UnixStream::from(pair))
}

/// The same on any connection. `exit` ends the process where the machine does not.
fn serve<L: Living>(
    pair: UnixStream,
    open: impl FnOnce(Outside) -> Result<L, String>,
    exit: fn(i32),
) -> Result<(), KeeperError> {
    let desk = Arc::new(Desk::default());
    let answers = Answers::start(share(&pair)?)?;
    let reader = Reader::new(share(&pair)?, desk.clone(), answers.sender());
    let outside = reader.outside.clone();
    let ear = Arc::new(Ear::new(reader, desk.clone(), exit));
    ear.listen()?;
    listening(&ear, &outside);
    let mut living = match open(outside) {
        Ok(living) => living,
        Err(message) => {
            say_failed(&pair, &message);
            return Err(KeeperError::ImageFailed { message });
        }
    };
    // Not told of long programs, which it finds out by itself: a dream inherits the watch, and has its own ear told.
    desk.set_watch(living.watch());
    answers.tell(Kind::Ready);
    run(&mut living, &desk, answers, |next_turn| ear.next(next_turn));
    living.close().map_err(|message| {
        say_failed(&pair, &message);
        KeeperError::ImageFailed { message }
    })
}

/// Serves as a dream of an image that lives in another process: `pair` leads to whoever attends to it. Returns when it is told to
/// end, or nobody attends any more.
///
/// It says nothing before it is asked, and has one thread until a program takes long: most dreams are asked little, and each
/// thread and each word costs them more than what they do.
pub fn dream<L: Living>(pair: UnixStream, begin: impl FnOnce(Outside) -> L, exit: fn(i32)) -> Result<(), KeeperError> {
    let desk = Arc::new(Desk::default());
    let answers = Answers::at_once(share(&pair)?);
    let reader = Reader::new(pair, desk.clone(), answers.sender());
    let outside = reader.outside.clone();
    let ear = Arc::new(Ear::new(reader, desk.clone(), exit));
    let listen = listening(&ear, &outside);
    let mut living = begin(outside);
    let watch = living.watch();
    watch.when_long(listen);
    desk.set_watch(watch);
    run(&mut living, &desk, answers, |next_turn| ear.next(next_turn));
    living.close().map_err(|message| KeeperError::ImageFailed { message })
}

/// How the machine's thread says that it will be busy for longer; calls to the world outside do.
fn listening(ear: &Arc<Ear>, outside: &Outside) -> Listen {
    let ear = ear.clone();
    // Without a thread it hears what it is asked all the same, only later.
    let listen: Listen = Arc::new(move || drop(ear.listen()));
    outside.listen_by(listen.clone());
    listen
}

fn share(pair: &UnixStream) -> Result<UnixStream, KeeperError> {
    pair.try_clone().map_err(KeeperError::system("share the pair"))
}

/// Tells the keeper why there is no image, or no dream.
pub fn say_failed(pair: impl AsFd, message: &str) {
    let mut outbox = Outbox::default();
    outbox.push_json(Kind::Failed, 0, &Refusal { message: message.to_string() });
    // If nobody hears it, the exit code still tells.
    let _ = outbox.drain(pair);
}

/// Does what is to be done next, to the end. What was begun is answered when this returns.
fn run<L: Living>(living: &mut L, desk: &Desk, answers: Answers, next: impl Fn(Option<Instant>) -> Work) {
    let apart = Apart::default();
    work(living, desk, &answers, &apart, next);
    apart.finish(apart::GRACE, &answers.sender());
    answers.finish();
}

fn work<L: Living>(
    living: &mut L,
    desk: &Desk,
    answers: &Answers,
    apart: &Apart,
    next: impl Fn(Option<Instant>) -> Work,
) {
    let (aside, mut next_turn) = (Aside::default(), desk.turn(|| living.turn()));
    living.posted().into_iter().for_each(|posted| answers.post(posted));
    let mut later = Later::default();
    loop {
        match next(next_turn) {
            Work::Request(token, request) => match living.begin(&request) {
                Begun::Done { mut answer, wait } => {
                    tell_births(living, answers);
                    if let Some(reason) = desk.finish() {
                        desk::explain(&mut answer, reason);
                    }
                    answers.push_with_others(token, answer, wait, desk.is_empty());
                }
                Begun::Apart(job) => {
                    desk.finish();
                    apart.start(token, job, answers.sender());
                }
                Begun::Aside(job) => {
                    desk.finish();
                    aside.start(token, job, answers.sender());
                }
                Begun::Later(number) => {
                    desk.put_off(token);
                    later.tokens.insert(number, token);
                }
                Begun::Last(answer) => {
                    let reason = desk.finish();
                    if let Some(mut answer) = answer {
                        reason.into_iter().for_each(|reason| desk::explain(&mut answer, reason));
                        answers.push(token, answer, None);
                    }
                    return;
                }
            },
            Work::Cancel(token, reason) => later.cancel(token, reason, living),
            Work::Over(dream) => living.over(&dream),
            Work::Returned(number, answer) => living.returned(number, &answer),
            Work::Turn => {}
            Work::Stop => return later.give_up(answers),
        }
        // Whom it waits for must have a line first: it may ask for something.
        tell_births(living, answers);
        while living.stand_still(&|| desk.has_cancelled()) {
            tell_births(living, answers);
        }
        tell_unwanted(living, answers);
        // Also after each request: it may have left something for the scheduler, and a busy socket must not starve it.
        next_turn = desk.turn(|| living.turn());
        tell_births(living, answers);
        living.posted().into_iter().for_each(|posted| answers.post(posted));
        later.answer(living, desk, answers);
    }
}

/// Requests that are answered when something that they began is over: their tokens, by the number that the image gave them.
#[derive(Default)]
struct Later {
    tokens: BTreeMap<u64, u64>,
    /// Why those were told to stop that were, by their tokens.
    stopped: BTreeMap<u64, Reason>,
}

impl Later {
    fn cancel<L: Living>(&mut self, token: u64, reason: Reason, living: &mut L) {
        let number = self.tokens.iter().find(|(_, other)| **other == token).map(|(number, _)| *number);
        if let Some(number) = number {
            self.stopped.insert(token, reason);
            living.cancel(number);
        }
    }

    fn answer<L: Living>(&mut self, living: &mut L, desk: &Desk, answers: &Answers) {
        for Conclusion { number, mut answer, wait } in living.concluded() {
            // Nobody asked for what the image began by itself.
            if let Some(token) = self.tokens.remove(&number) {
                desk.answered(token);
                if let Some(reason) = self.stopped.remove(&token) {
                    desk::explain(&mut answer, reason);
                }
                answers.push(token, answer, wait);
            }
        }
    }

    fn give_up(self, answers: &Answers) {
        for token in self.tokens.into_values() {
            let message = "the image is stopping before all of it was done; `telos log` says whether it was merged";
            answers.push(token, Answer::failed(FailureKind::Interrupted, message), None);
        }
    }
}

/// Before the answer that names them.
fn tell_births<L: Living>(living: &mut L, answers: &Answers) {
    for Birth { dream, policies, line } in living.born() {
        answers.sender().send_with(Kind::Born, 0, &DreamName { dream, policies }, &line);
    }
}

/// The keeper has their lines.
fn tell_unwanted<L: Living>(living: &mut L, answers: &Answers) {
    for dream in living.unwanted() {
        answers.sender().send(Kind::Over, 0, &DreamName { dream, policies: None });
    }
}

/// Whether a program was stopped from outside.
fn is_interrupted(answer: &Answer) -> bool {
    matches!(&answer.outcome, Outcome::Failure(failure) if failure.kind == FailureKind::Interrupted)
}

#[cfg(test)]
mod tests;
