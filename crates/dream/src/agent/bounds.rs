//! How much an agent may say.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentBounds {
    /// Of one request.
    pub line_bytes: usize,
    /// Lines that are looked at, whatever they hold; with the last of them the conversation is over.
    pub requests: u64,
    /// Of all that it writes into its log, line ends included.
    pub log_bytes: usize,
    /// Of the words with which it says that it is done.
    pub summary_bytes: usize,
}

impl Default for AgentBounds {
    fn default() -> AgentBounds {
        AgentBounds { line_bytes: 1 << 20, requests: 100_000, log_bytes: 1 << 20, summary_bytes: 64 << 10 }
    }
}
