//! The work that all contenders do: small transactions of four puts of 150 bytes to random ones of the same keys.

use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use thread_priority::ThreadPriority;
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

pub const KEYS: u64 = 20_000;
pub const PUTS: usize = 4;
pub const VALUE_BYTES: usize = 150;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

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

    /// Letters and digits, so that it can be a text of Io, too.
    pub fn value(&mut self) -> [u8; VALUE_BYTES] {
        let mut value = [0; VALUE_BYTES];
        value.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]));
        value.map(|byte| LETTERS[usize::from(byte % 64)])
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

/// What this process has used of the processors, all its threads together.
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Memory of a process that is resident, pages of mapped files included; and those that belong to no file.
pub fn resident_bytes(pid: u32) -> (f64, f64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let row = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().nth(0));
    let bytes = |name: &str| row(name).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0;
    (bytes("VmRSS:"), bytes("RssAnon:"))
}

/// Keeps one processor awake while it lives: when all are idle, a flush takes a tick of the kernel on virtual machines,
/// whoever asks for it. It has the policy under which the kernel counts a processor as idle: whoever wakes up runs there at
/// once. (The lowest priority of the usual policy takes a processor's share from contenders with many threads.)
pub struct Awake {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Awake {
    pub fn new() -> Awake {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = is_over.clone();
        let spin = move || {
            let lowest = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
            // Where it may not be had, all contenders have less in the same way.
            let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, lowest);
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

/// An argument that this part cannot do without.
pub fn required(name: &str) -> PathBuf {
    text_argument(name).map(PathBuf::from).unwrap_or_else(|| panic!("{name} is missing"))
}

/// Runs this program again, in a process of its own that takes one sample and prints it as JSON.
pub fn again(role: &str, arguments: &[(&str, &OsStr)]) -> Value {
    let program = std::env::current_exe().expect("this program is somewhere");
    let mut command = Command::new(program);
    command.args(["--role", role]);
    for (name, value) in arguments {
        command.arg(name).arg(value);
    }
    let output = command.stderr(Stdio::inherit()).output().expect("it starts");
    assert!(output.status.success(), "{command:?} failed ({})", output.status);
    let text = String::from_utf8(output.stdout).expect("it prints text");
    serde_json::from_str(text.lines().last().unwrap_or_default()).expect("it prints JSON")
}
