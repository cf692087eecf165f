//! A cgroup (of the first version) that a thread is in, so that the runs which it starts are born there, one after another.
//! Moving a process into a cgroup makes the whole host wait, and so does removing one.

use super::{Cgroup, Layout, number, set, word};
use crate::limits::Limits;
use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// If more is left of the runs before, it is not used again.
const LEFT_BYTES: u64 = 64 << 20;

thread_local! {
    /// Where the next run of this thread can be born.
    static HOME: Cell<Option<Home>> = const { Cell::new(None) };
}

/// Goes with its thread.
pub struct Home {
    memory: PathBuf,
    time: Option<PathBuf>,
    limit_bytes: Option<u64>,
    thread: i32,
}

/// What was used before a run began.
#[derive(Default)]
pub struct Before {
    pub user: Duration,
    pub system: Duration,
    pub kills: u64,
}

impl Cgroup {
    /// One that a process of this thread is born in, also where the kernel cannot make it there.
    pub fn of_thread(limits: &Limits) -> io::Result<Option<Cgroup>> {
        if !matches!(Layout::of_host(), Layout::First { .. }) {
            return Cgroup::make(limits);
        }
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let kept = HOME.take().filter(|home| home.thread == thread && home.can_serve(limits));
        let home = match kept {
            Some(home) => home,
            None => Home::make(limits, thread)?,
        };
        let mut cgroup = Cgroup {
            memory: home.memory.clone(),
            time: home.time.clone(),
            is_second: false,
            opened: None,
            before: Before::default(),
            home: Some(home),
        };
        set(&cgroup.memory.join("memory.max_usage_in_bytes"), 0)?;
        let (user, system) = cgroup.times().unwrap_or_default();
        cgroup.before = Before { user, system, kills: cgroup.kills() };
        Ok(Some(cgroup))
    }
}

impl Home {
    fn make(limits: &Limits, thread: i32) -> io::Result<Home> {
        let made = Cgroup::make(limits)?.ok_or(io::ErrorKind::NotFound)?;
        let home =
            Home { memory: made.memory.clone(), time: made.time.clone(), limit_bytes: limits.memory_bytes, thread };
        // It is removed by its home from now on.
        std::mem::forget(made);
        for directory in home.directories() {
            set(&directory.join("tasks"), thread as u64)?;
        }
        Ok(home)
    }

    fn can_serve(&self, limits: &Limits) -> bool {
        let left = number(&self.memory.join("memory.usage_in_bytes"));
        self.limit_bytes == limits.memory_bytes && left.is_some_and(|bytes| bytes < LEFT_BYTES)
    }

    fn directories(&self) -> impl Iterator<Item = &Path> {
        [Some(&self.memory), self.time.as_ref()].into_iter().flatten().map(PathBuf::as_path)
    }

    /// For the next run of the thread; one that it cannot be kept for goes.
    pub fn keep(self) {
        // A thread that ends keeps nothing.
        let _ = HOME.try_with(|home| home.set(Some(self)));
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for directory in self.directories() {
            if fs::remove_dir(directory).is_err() {
                // The thread is in it still.
                let above = directory.parent().unwrap_or(directory).join("tasks");
                let _ = set(&above, self.thread as u64);
                let _ = fs::remove_dir(directory);
            }
        }
    }
}

/// How often something in it was ended for want of memory.
pub fn kills(memory: &Path, name: &str) -> u64 {
    let text = fs::read_to_string(memory.join(name)).unwrap_or_default();
    word(&text, "oom_kill").unwrap_or(0)
}
