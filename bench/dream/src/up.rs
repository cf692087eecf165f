//! `telos up` as users have it, and its processes.

use keeper::Client;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub struct Up {
    directory: PathBuf,
    keeper: Child,
    pub image_pid: u32,
}

impl Up {
    /// Returns when it says that it is ready.
    pub fn start(telos: &Path, directory: &Path) -> Up {
        let mut command = Command::new(telos);
        command.args(["up", "--json"]).arg(directory).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut keeper = command.spawn().expect("telos starts");
        let mut line = String::new();
        let stdout = keeper.stdout.as_mut().expect("standard output is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("it says when it is ready");
        let ready: Value = serde_json::from_str(&line).expect("it says so in JSON");
        let image_pid = ready["image_pid"].as_u64().expect("it names the image process") as u32;
        Up { directory: directory.into(), keeper, image_pid }
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.directory, "bench").expect("it is up")
    }

    /// An attendant and its dreamer, for each dream that is going on.
    pub fn dreams(&self) -> Vec<(u32, u32)> {
        let dreamer = |attendant| Some((attendant, *children(attendant).first()?));
        children(self.image_pid).into_iter().filter_map(dreamer).collect()
    }
}

fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

impl Drop for Up {
    fn drop(&mut self) {
        // In order, so that nothing of it is left when whoever comes next is measured.
        let _ = kill_process(Pid::from_child(&self.keeper), Signal::TERM);
        let _ = self.keeper.wait();
    }
}
