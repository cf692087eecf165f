//! Programs in sandboxes, ordered through a client. Any number may be under way on one connection; what they say comes as it
//! comes, each with the id of its run.

use super::Client;
use crate::error::KeeperError;
use crate::protocol::{FRAME_BYTES_MAX, Frame, Kind, RunChange, RunEnd, RunOrder, RunStream, split_bytes, with_bytes};
use rustix::io::Errno;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use system::passing;

/// What a run says.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEvent {
    Output(RunStream, Vec<u8>),
    /// One thing that it changed; of a file, these bytes or more of them.
    Change(RunChange, Vec<u8>),
    /// Nothing comes after it.
    Ended(RunEnd),
}

impl Client {
    /// Runs a program in a sandbox and waits for its end; `heed` takes all that comes before. The files' bytes and those that
    /// it reads follow one another in `bytes`.
    pub fn run(
        &mut self,
        order: &RunOrder,
        bytes: &[&[u8]],
        mut heed: impl FnMut(RunEvent),
    ) -> Result<RunEnd, KeeperError> {
        let id = self.post_run(order, bytes)?;
        self.flush()?;
        loop {
            match self.receive_run()? {
                (run, RunEvent::Ended(end)) if run == id => return Ok(end),
                (run, event) if run == id => heed(event),
                _ => {}
            }
        }
    }

    /// Puts an order into the buffer, to be sent with others by [`Client::flush`]; gives its id.
    pub fn post_run(&mut self, order: &RunOrder, bytes: &[&[u8]]) -> Result<u64, KeeperError> {
        let body = with_bytes(order, bytes);
        if body.len() > FRAME_BYTES_MAX {
            let most = FRAME_BYTES_MAX >> 20;
            return Err(KeeperError::Protocol(format!(
                "an order of more than {most} MiB; grant a directory with the files instead"
            )));
        }
        self.last_id += 1;
        self.outbox.push(Kind::Run, self.last_id, &body);
        Ok(self.last_id)
    }

    /// Sends an order at once, with a descriptor that the program reads from; gives its id.
    pub fn send_run_reading(
        &mut self,
        order: &RunOrder,
        bytes: &[&[u8]],
        input: BorrowedFd<'_>,
    ) -> Result<u64, KeeperError> {
        self.flush()?;
        let id = self.post_run(order, bytes)?;
        {
            let _turn = self.writing.take();
            let sent = loop {
                let bytes = [IoSlice::new(self.outbox.bytes())];
                match passing::send(&self.stream, &bytes, &[input]) {
                    Err(Errno::AGAIN) => self.check_keeper()?,
                    sent => break sent.map_err(|_| KeeperError::KeeperGone)?,
                }
            };
            self.outbox.skip(sent);
        }
        self.flush()?;
        Ok(id)
    }

    /// Waits for whatever any run says next.
    pub fn receive_run(&mut self) -> Result<(u64, RunEvent), KeeperError> {
        self.next_frame(|frame| Ok(event(frame)?.map(|event| (frame.id, event))))
    }
}

fn event(frame: &Frame<'_>) -> Result<Option<RunEvent>, KeeperError> {
    Ok(match frame.kind {
        Kind::Output => {
            let (first, bytes) = frame.body.split_first().unwrap_or((&0, &[]));
            RunStream::of(*first).map(|stream| RunEvent::Output(stream, bytes.to_vec()))
        }
        Kind::Change => {
            let (change, bytes) = split_bytes(frame.body)?;
            Some(RunEvent::Change(change, bytes.to_vec()))
        }
        Kind::Ended => Some(RunEvent::Ended(super::decode(frame.body)?)),
        _ => None,
    })
}
