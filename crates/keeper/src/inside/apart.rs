//! Long work beside the machine: each on a thread of its own, so many at once, and waited for when the process ends.

use super::answers::Sender;
use crate::protocol::{Answer, FailureKind};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// So many run at once: they share disk and processor with the machine.
pub const APART_MAX: usize = 4;
/// How long they may go on after the machine was told to stop. The keeper has waited for them before it says so.
pub const GRACE: Duration = Duration::from_secs(2);

pub type Job = Box<dyn FnOnce() -> Answer + Send>;

/// Work that is done one after the other, on one thread, which is made with the first.
#[derive(Default)]
pub struct Aside(OnceCell<mpsc::Sender<(u64, Job, Sender)>>);

impl Aside {
    pub fn start(&self, token: u64, job: Job, answers: Sender) {
        let queue = self.0.get_or_init(|| {
            let (queue, jobs) = mpsc::channel::<(u64, Job, Sender)>();
            // Where there is no thread, nobody takes what is sent, and whoever sends does it.
            let _ = std::thread::Builder::new().name("aside".into()).spawn(move || {
                jobs.into_iter().for_each(|(token, job, answers)| answers.push(token, done(job), None));
            });
            queue
        });
        if let Err(mpsc::SendError((token, job, answers))) = queue.send((token, job, answers)) {
            answers.push(token, done(job), None);
        }
    }
}

/// Whoever waits is told; the panic itself was reported by the thread.
fn done(job: Job) -> Answer {
    catch_unwind(AssertUnwindSafe(job))
        .unwrap_or_else(|_| Answer::failed(FailureKind::Lost, "it panicked; the image goes on"))
}

/// What is under way.
#[derive(Clone, Default)]
pub struct Apart(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The tokens of the requests.
    under_way: Mutex<BTreeSet<u64>>,
    done: Condvar,
}

impl Shared {
    /// Jobs run without it, so no panic leaves it half changed.
    fn lock(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Apart {
    /// Runs a job and answers when it is done, or says at once why not.
    pub fn start(&self, token: u64, job: Job, answers: Sender) {
        {
            let mut under_way = self.0.lock();
            if under_way.len() >= APART_MAX {
                let message = format!("{APART_MAX} backups or checks are under way; try again when one is done");
                return answers.push(token, Answer::failed(FailureKind::Refused, message), None);
            }
            under_way.insert(token);
        }
        let (its_own, its_answers) = (self.clone(), answers.clone());
        let work = move || its_own.end(token, done(job), &its_answers);
        if std::thread::Builder::new().name("apart".into()).spawn(work).is_err() {
            let refused = Answer::failed(FailureKind::Refused, "the system has no thread left for this");
            self.end(token, refused, &answers);
        }
    }

    /// Whoever has the answer finds room for another, and whoever finds nothing under way finds all answers.
    fn end(&self, token: u64, answer: Answer, answers: &Sender) {
        let mut under_way = self.0.lock();
        answers.push(token, answer, None);
        under_way.remove(&token);
        self.0.done.notify_all();
    }

    /// Waits until all is done, at most so long; answers for what is not.
    pub fn finish(&self, grace: Duration, answers: &Sender) {
        let waited = self.0.done.wait_timeout_while(self.0.lock(), grace, |under_way| !under_way.is_empty());
        let (under_way, _) = waited.unwrap_or_else(PoisonError::into_inner);
        for token in under_way.iter() {
            let message = "interrupted before it was done: the image is stopping";
            answers.push(*token, Answer::failed(FailureKind::Interrupted, message), None);
        }
    }
}
