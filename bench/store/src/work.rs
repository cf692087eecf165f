//! The work that all contenders do: small transactions of four puts of 150 bytes to random ones of the same keys.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

pub const KEYS: u64 = 20_000;
pub const PUTS: usize = 4;
pub const VALUE_BYTES: usize = 150;

/// SplitMix64.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn value(&mut self) -> [u8; VALUE_BYTES] {
        let mut value = [0; VALUE_BYTES];
        value.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]));
        value
    }

    /// One transaction: keys from 1 on, and their new values.
    pub fn puts(&mut self) -> Puts {
        std::array::from_fn(|_| (1 + self.next() % KEYS, self.value()))
    }
}

pub type Puts = [(u64, [u8; VALUE_BYTES]); PUTS];

pub fn key_bytes(key: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&key.to_be_bytes());
    bytes
}

/// Bytes written so far to the device that holds this path, by whomever. (What the kernel counts for a process is what it
/// dirtied, in folios that may be much larger than what was written.)
pub fn device_bytes(path: &Path) -> f64 {
    let device = std::fs::metadata(path).map_or(0, |metadata| metadata.dev());
    let name = format!("/sys/dev/block/{}:{}/stat", rustix::fs::major(device), rustix::fs::minor(device));
    let text = std::fs::read_to_string(name).unwrap_or_default();
    text.split_whitespace().nth(6).and_then(|sectors| sectors.parse::<f64>().ok()).unwrap_or(0.0) * 512.0
}

/// Keeps one processor awake while it lives, at the lowest priority: when all are idle, a flush takes a tick of the kernel
/// on virtual machines, whoever asks for it.
pub struct Awake {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Awake {
    pub fn new() -> Awake {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = is_over.clone();
        let spin = move || {
            let _ = rustix::process::setpriority_process(None, 19);
            while !seen.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        Awake { is_over, thread: Some(std::thread::spawn(spin)) }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

pub fn quantile(samples: &mut [f64], part: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[((samples.len() - 1) as f64 * part) as usize]
}

pub fn argument(name: &str, default: u64) -> u64 {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == name);
    at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
}

pub fn text_argument(name: &str) -> Option<String> {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|argument| argument == name)?;
    arguments.get(at + 1).cloned()
}
