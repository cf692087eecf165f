//! Asks a program of the host, outside of any sandbox, where it is. What it does must hang on the host and its user alone:
//! version managers look into the directory that they are called in, where whatever was downloaded may choose for them what
//! runs and what is let in. So it is called at the root, with few variables, and not waited for long.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Who takes longer is not installed, as far as we are concerned.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// A longer answer is no path.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// What tells programs where they are; nothing else of our environment is theirs.
const VARIABLES: [&str; 4] = ["PATH", "HOME", "RUSTUP_HOME", "CARGO_HOME"];

/// All that it prints, if it ends well and in time.
pub fn ask(program: &str, arguments: &[String], patience: Duration) -> Option<String> {
    let variables = VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(variables)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // All that it starts ends with it.
        .process_group(0)
        .spawn()
        .ok()?;
    let answer = listen(&mut child, Instant::now() + patience);
    // It is not waited for before: its number would be another's.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let status = child.wait().ok()?;
    answer.filter(|_| status.success()).and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Until it has ended.
fn listen(child: &mut Child, until: Instant) -> Option<Vec<u8>> {
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok()?;
    let output = OwnedFd::from(child.stdout.take()?);
    fcntl_setfl(&output, OFlags::NONBLOCK).ok()?;
    let mut answer = Vec::new();
    let mut is_open = true;
    loop {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok()?;
        let mut waited = vec![PollFd::new(&end, PollFlags::IN)];
        waited.extend(is_open.then(|| PollFd::new(&output, PollFlags::IN)));
        match poll(&mut waited, Some(&left)) {
            Err(Errno::INTR) => continue,
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        let has_ended = !waited[0].revents().is_empty();
        is_open = is_open && take(&output, &mut answer);
        if answer.len() > ANSWER_BYTES_MAX {
            return None;
        }
        if has_ended {
            return Some(answer);
        }
    }
}

/// What is there now; whether more may come.
fn take(output: &OwnedFd, answer: &mut Vec<u8>) -> bool {
    let mut piece = [0; 4096];
    while answer.len() <= ANSWER_BYTES_MAX {
        match rustix::io::read(output, &mut piece) {
            Ok(0) => return false,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
            Err(Errno::INTR) => {}
            Err(errno) => return errno == Errno::AGAIN,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(script: &str, patience: Duration) -> Option<String> {
        ask("sh", &["-c".into(), script.into()], patience)
    }

    #[test]
    fn what_it_says_is_heard_if_it_ends_well() {
        assert_eq!(told("echo /usr; pwd", PATIENCE).as_deref(), Some("/usr\n/\n"));
        assert_eq!(told("echo /usr; exit 1", PATIENCE), None);
        assert_eq!(ask("no-such-program-anywhere", &[], PATIENCE), None);
        assert_eq!(told("exec head -c 1000000 /dev/zero", PATIENCE), None);
    }

    #[test]
    fn it_knows_little_of_our_environment() {
        let variables = told("env", PATIENCE).unwrap();
        let names = variables.lines().filter_map(|line| line.split('=').next());
        // What the shell itself adds.
        let others: Vec<&str> =
            names.filter(|name| !VARIABLES.contains(name) && !["PWD", "SHLVL", "_"].contains(name)).collect();
        assert!(others.is_empty(), "{others:?}");
    }

    #[test]
    fn who_does_not_answer_is_not_waited_for() {
        let brief = Duration::from_millis(50);
        assert_eq!(told("sleep 1000", brief), None);
        assert_eq!(told("exec >&-; sleep 1000", brief), None);
        assert_eq!(told("sleep 1000 & echo /usr", PATIENCE).as_deref(), Some("/usr\n"), "its child holds nobody up");
    }
}
