//! How much of everything there may be. Whoever connects may be hostile or broken, and must not make the keeper grow
//! without end, stand still, or forget the others.

use std::time::Duration;

/// The bounds of one keeper.
#[derive(Clone, Debug)]
pub struct Bounds {
    pub clients: usize,
    /// Requests of one client that are not answered; more are left unread until one is.
    pub requests_per_client: usize,
    /// Inquiries about the status of one client that are not answered; they take no room from requests.
    pub inquiries_per_client: usize,
    /// Requests of all clients that are not answered.
    pub requests: usize,
    /// Bytes of requests that were read and not handed on, of all clients.
    pub request_bytes: usize,
    /// Requests that the image process has and did not answer; as many share a flush.
    pub requests_ahead: usize,
    /// Runs of one client and of all that have not ended; more are left unread until one has.
    pub runs_per_client: usize,
    pub runs: usize,
    /// Runs that are under way at once; the others wait.
    pub runs_under_way: usize,
    /// Bytes of a run's output that its client did not take; then the run waits until it does.
    pub run_backlog_bytes: usize,
    /// Bytes of answers that one client did not take yet, and all together.
    pub answer_bytes_per_client: usize,
    pub answer_bytes: usize,
    /// How long a client may take to greet, to finish a frame that it began, and to take any of its answers.
    pub greeting: Duration,
    pub frame: Duration,
    pub answer: Duration,
    /// The longest time that a request may take, if there is one; a client may ask for less.
    pub timeout: Option<Duration>,
    /// How long the image process may take to stop a request that it was told to stop.
    pub grace: Duration,
    /// How long requests under way may go on after the keeper was told to stop,
    pub stop: Duration,
    /// and how long the image process may then take to close its files.
    pub close: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            clients: 2048,
            requests_per_client: 64,
            inquiries_per_client: 4,
            requests: 4096,
            request_bytes: 128 << 20,
            requests_ahead: 256,
            runs_per_client: 2048,
            runs: 4096,
            runs_under_way: 1024,
            run_backlog_bytes: 256 << 10,
            answer_bytes_per_client: 32 << 20,
            answer_bytes: 256 << 20,
            greeting: Duration::from_secs(10),
            frame: Duration::from_secs(30),
            answer: Duration::from_secs(30),
            timeout: None,
            grace: Duration::from_secs(2),
            stop: Duration::from_secs(10),
            close: Duration::from_secs(60),
        }
    }
}
