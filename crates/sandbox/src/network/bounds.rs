//! How much a run may make its proxy hold, and how long it may make it wait. Nothing of a run is waited for without end.

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Bounds {
    /// At once.
    pub connections: usize,
    /// Of all connections of a run together, both ways.
    pub bytes: u64,
    /// For whom it wants, from when it connected.
    pub greeting: Duration,
    /// For the other side to take the connection, its name resolved.
    pub connecting: Duration,
    /// Without a byte in either direction.
    pub idle: Duration,
    /// Calls that are remembered; of the rest only how many there were.
    pub calls: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            connections: 64,
            bytes: 1 << 30,
            greeting: Duration::from_secs(10),
            connecting: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            calls: 1_000,
        }
    }
}
