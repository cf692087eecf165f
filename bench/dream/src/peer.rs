//! bwrap, with a view like a dream's: nothing of the host but two devices, `/proc`, a `/tmp` and a file in `/etc`; and the programs
//! and libraries that `true` needs, which a dream does not have.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WORDS: &str = "--unshare-all --die-with-parent --new-session --uid 1000 --gid 1000 --hostname dream \
                     --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
                     --proc /proc --dev-bind /dev/null /dev/null --dev-bind /dev/urandom /dev/urandom --dir /etc \
                     --tmpfs /tmp --remount-ro / --chdir /tmp true";

/// From its start to its end.
pub fn run() -> Result<Duration, String> {
    let mut command = Command::new("bwrap");
    command.args(WORDS.split_whitespace()).env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
    let start = Instant::now();
    let output = command.output().map_err(|error| error.to_string())?;
    let taken = start.elapsed();
    match output.status.success() {
        true => Ok(taken),
        false => Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}
