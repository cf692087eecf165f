//! What the warden does with an order: runs it, writes that down, and tells what comes of it.

use super::record::{self, Digests, Record};
use super::{calls, translate};
use keeper::protocol::{RunEnd, RunFailure, RunInput, RunStream};
use keeper::{Conversation, Ordered, Warding};
use sandbox::network::sockets::Sockets;
use sandbox::{Backend, Order, Outcome, SandboxError, Stdin, Stream, Streams};
use std::sync::Arc;
use std::time::Instant;

/// Runs orders on a backend.
pub struct Warded<B>(pub B);

impl<B: Backend + 'static> Warding for Warded<B> {
    fn run(&self, ordered: Ordered<'_>, conversation: &Arc<Conversation>) -> RunEnd {
        let input = ordered.order.input;
        let mut record = Record::new(&ordered.client, ordered.order.records_itself);
        let (order, rest) = match translate::to_order(ordered.order, ordered.bytes) {
            Ok(order) => order,
            Err(error) => {
                let why = format!("{error:#}");
                record.refused(&why, conversation);
                return RunEnd::failed(RunFailure::Refused, why);
            }
        };
        let stdin = match (input, ordered.input) {
            (RunInput::Descriptor, Some(descriptor)) => Stdin::Descriptor(descriptor),
            (RunInput::Bytes(_), _) => Stdin::Bytes(rest.to_vec()),
            _ => Stdin::Empty,
        };
        record.describe(&order);
        let ended = self.perform(&order, stdin, conversation, record.digests.clone());
        record.ended(&ended, conversation);
        match ended {
            Ok(outcome) => told(&order, outcome, conversation),
            Err(SandboxError::NoProgram { program }) => RunEnd::failed(RunFailure::NoProgram, program),
            Err(error) => RunEnd::failed(RunFailure::Refused, error.to_string()),
        }
    }

    fn is_fit(&self) -> bool {
        sandbox::network::threads_left() == 0
    }

    fn clear(&self) {
        self.0.clear();
    }
}

impl<B: Backend> Warded<B> {
    fn perform(
        &self,
        order: &Order,
        stdin: Stdin,
        conversation: &Arc<Conversation>,
        digests: Option<Digests>,
    ) -> Result<Outcome, SandboxError> {
        let until = order.limits.time.and_then(|time| Instant::now().checked_add(time));
        let teller = conversation.clone();
        let output = move |stream, bytes: &[u8]| {
            if let Some(digests) = &digests {
                record::add(digests, stream, bytes);
            }
            let stream = match stream {
                Stream::Output => RunStream::Output,
                Stream::Error => RunStream::Error,
            };
            teller.output(stream, bytes, until);
        };
        let mut running = self.0.start(order, Streams { stdin, output: Box::new(output) })?;
        let lifeline = conversation.lifeline().map_err(SandboxError::system("share a socket"))?;
        running.stop_when_readable(lifeline);
        running.wait()
    }
}

fn told(order: &Order, outcome: Outcome, conversation: &Conversation) -> RunEnd {
    if let Sockets::Redirected(Some(recorder)) = &order.sockets {
        conversation.output(RunStream::Recording, recorder.recording().to_string().as_bytes(), None);
    }
    for change in outcome.changes {
        let (change, bytes) = translate::to_run_change(change);
        conversation.change(&change, &bytes);
    }
    RunEnd::Ended {
        verdict: translate::to_run_verdict(&outcome.verdict),
        usage: translate::to_run_usage(&outcome.usage),
        lacks: outcome.lacks.iter().map(translate::to_run_lack).collect(),
        calls: calls::to_run_calls(outcome.calls),
    }
}
