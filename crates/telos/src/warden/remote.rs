//! A backend that runs nothing itself: it sends orders to an image that is up, whose warden runs them.

use super::{calls, translate};
use keeper::protocol::{RunEnd, RunFailure, RunInput, RunStream};
use keeper::{Client, KeeperError, RunEvent};
use rustix::pipe::{PipeFlags, pipe_with};
use sandbox::network::sockets::{Recorder, Sockets};
use sandbox::{Backend, Order, Outcome, Running, SandboxError, Stdin, Stop, Stream, Streams, Strength, Verdict, Wall};
use std::io::IsTerminal;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub struct Remote {
    pub directory: PathBuf,
}

impl Backend for Remote {
    fn name(&self) -> &'static str {
        "up"
    }

    /// It is the same host.
    fn survey(&self) -> Vec<(Wall, Strength)> {
        sandbox::process::Process::new().survey()
    }

    fn start(&self, order: &Order, streams: Streams) -> Result<Box<dyn Running>, SandboxError> {
        let mut client =
            Client::connect(&self.directory, concat!("telos exec ", env!("CARGO_PKG_VERSION"))).map_err(told)?;
        let mut bytes: Vec<&[u8]> = order.view.files.iter().map(|file| file.bytes.as_slice()).collect();
        let id = match &streams.stdin {
            Stdin::Empty => client.post_run(&translate::to_run_order(order, RunInput::Empty), &bytes),
            Stdin::Bytes(input) => {
                bytes.push(input);
                client.post_run(&translate::to_run_order(order, RunInput::Bytes(input.len())), &bytes)
            }
            Stdin::Descriptor(input) => {
                let input = readable_from_afar(input)?;
                let order = translate::to_run_order(order, RunInput::Descriptor);
                client.send_run_reading(&order, &bytes, input.as_fd())
            }
        };
        let id = id.map_err(told)?;
        client.flush().map_err(told)?;
        let recorder = match &order.sockets {
            Sockets::Redirected(recorder) => recorder.clone(),
            _ => None,
        };
        Ok(Box::new(Sent { client, id, output: streams.output, recorder }))
    }
}

/// Of a terminal only its own processes may read, so what is typed is carried over.
fn readable_from_afar(input: &OwnedFd) -> Result<OwnedFd, SandboxError> {
    let share = || input.try_clone().map_err(SandboxError::system("hand standard input in"));
    if !input.is_terminal() {
        return share();
    }
    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC).map_err(SandboxError::system("make a pipe"))?;
    let (mut from, mut to) = (std::fs::File::from(share()?), std::fs::File::from(ours));
    std::thread::spawn(move || std::io::copy(&mut from, &mut to));
    Ok(theirs)
}

fn told(error: KeeperError) -> SandboxError {
    SandboxError::Told(match error {
        // A run commits nothing; its record is elsewhere.
        KeeperError::KeeperGone => {
            "the keeper went away, and the run with it; `telos runs` shows what was recorded of it".to_string()
        }
        error => error.to_string(),
    })
}

struct Sent {
    client: Client,
    id: u64,
    output: sandbox::Sink,
    /// Where what was said is to be kept.
    recorder: Option<Arc<Recorder>>,
}

impl Running for Sent {
    fn stop(&self) -> Stop {
        let (canceller, id) = (Mutex::new(self.client.canceller().ok()), self.id);
        Stop::new(Arc::new(move || {
            if let Some(canceller) = &*canceller.lock().unwrap_or_else(PoisonError::into_inner) {
                // If the keeper has gone, so has the run.
                let _ = canceller.cancel(id);
            }
        }))
    }

    fn stop_when_readable(&mut self, lifeline: OwnedFd) {
        let stop = self.stop();
        std::thread::spawn(move || {
            let mut waited = [rustix::event::PollFd::new(&lifeline, rustix::event::PollFlags::IN)];
            let _ = rustix::event::poll(&mut waited, None);
            stop.stop();
        });
    }

    fn wait(mut self: Box<Self>) -> Result<Outcome, SandboxError> {
        let (mut changes, mut recording) = (Vec::new(), Vec::new());
        loop {
            match self.client.receive_run().map_err(told)?.1 {
                RunEvent::Output(RunStream::Output, bytes) => (self.output)(Stream::Output, &bytes),
                RunEvent::Output(RunStream::Error, bytes) => (self.output)(Stream::Error, &bytes),
                RunEvent::Output(RunStream::Recording, bytes) => recording.extend(bytes),
                RunEvent::Change(change, bytes) => translate::add_change(&mut changes, change, bytes),
                RunEvent::Ended(RunEnd::Ended { verdict, usage, lacks, calls }) => {
                    let verdict = translate::to_verdict(verdict);
                    // Of a run that was stopped it need not all have come.
                    let is_cut = verdict == Verdict::Stopped;
                    match (self.recorder, recorded(&recording)) {
                        (Some(recorder), Ok(recording)) => recorder.put(recording),
                        (Some(_), Err(error)) if !is_cut => return Err(error),
                        _ => {}
                    }
                    return Ok(Outcome {
                        verdict,
                        usage: translate::to_usage(&usage),
                        lacks: lacks.into_iter().filter_map(translate::to_lack).collect(),
                        changes,
                        calls: calls::to_kept(calls),
                    });
                }
                RunEvent::Ended(RunEnd::Failed { kind: RunFailure::NoProgram, message }) => {
                    return Err(SandboxError::NoProgram { program: message });
                }
                RunEvent::Ended(RunEnd::Failed { message, .. }) => return Err(SandboxError::Told(message)),
            }
        }
    }
}

fn recorded(text: &[u8]) -> Result<sandbox::network::sockets::Recording, SandboxError> {
    let text = String::from_utf8_lossy(text);
    text.parse().map_err(|error| SandboxError::Told(format!("what was said to whom it called did not arrive: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_keeper_was_killed_is_looked_for_among_runs() {
        let message = told(KeeperError::KeeperGone).to_string();
        assert!(message.contains("telos runs") && !message.contains("telos log"), "{message}");
    }
}
