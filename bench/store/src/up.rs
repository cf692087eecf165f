//! `telos up` as users have it: started, talked to, and ended the hard way.

use keeper::Client;
use keeper::protocol::{Outcome, Request};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use system::file::Lock;

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

    /// Ends both processes at once, as a failure would, and waits until they are gone.
    pub fn kill(&mut self) {
        let image = Pid::from_raw(self.image_pid as i32).expect("no process has the number nought");
        // Whoever has ended already is what was wanted.
        let _ = kill_process(image, Signal::KILL);
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
        // A thread that waits for the disk holds the lock for a while yet.
        while Lock::take(&self.directory.join(store::LOCK)).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends one message, and tells what the answer was.
pub fn ask(client: &mut Client, request: &Request) -> String {
    match client.send(request).expect("it is answered").outcome {
        Outcome::Value(shown) => shown.text,
        Outcome::Failure(failure) => panic!("{:?}: {}", request.command, failure.message),
    }
}
