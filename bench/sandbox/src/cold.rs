//! One program in a sandbox that is made for it: runs a second with two workers, of `bash -c true`.

use crate::Setting;
use crate::contender::{Bundle, Contender, all_rates};
use serde_json::Value;
use std::process::Command;

const PROGRAM: [&str; 3] = ["bash", "-c", "true"];
/// Far less than our view: the system's programs, /proc, /dev and a /tmp. No bar hangs on it; it says what a view costs bwrap.
const BWRAP_USR: &str = "bwrap --unshare-all --die-with-parent --new-session --ro-bind /usr /usr --symlink usr/bin /bin \
                         --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp";
const UNSHARE: [&str; 9] =
    ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--net", "--ipc", "--uts"];
/// It is a library, with no command of its own: it runs in a process that lives on, which is more than the others have.
const SANDLOCK: &str = "
import sys, time
from sandlock import Sandbox
seconds = float(sys.argv[1])
sandbox = Sandbox(fs_readable=['/usr', '/lib', '/lib64', '/bin', '/etc'])
assert sandbox.run(['bash', '-c', 'true']).success
start, runs = time.time(), 0
while time.time() - start < seconds:
    assert sandbox.run(['bash', '-c', 'true']).success
    runs += 1
print(runs)
";

pub fn measure(setting: &Setting) -> Value {
    let telos = setting.telos.to_str().expect("its path is text");
    let mut contenders = vec![
        ("telos", Contender::command(&[&[telos, "exec", "--"], &PROGRAM[..]].concat())),
        ("plain", Contender::command(&PROGRAM)),
    ];
    if is_installed("bwrap") {
        contenders.push(("bwrap", Contender::bwrap(&PROGRAM)));
        let words: Vec<&str> = BWRAP_USR.split_whitespace().chain(PROGRAM).collect();
        contenders.push(("bwrap, /usr", Contender::command(&words)));
    }
    if is_installed("unshare") {
        contenders.push(("unshare", Contender::command(&[&UNSHARE[..], &PROGRAM].concat())));
    }
    if let Some(bundle) = Bundle::of(&PROGRAM) {
        contenders.push(("runc", Contender::Runc(bundle)));
    }
    if let Some(python) = setting.sandlock.as_ref().and_then(|path| path.to_str()) {
        let words = [python, "-c", SANDLOCK].map(String::from).to_vec();
        contenders.push(("sandlock", Contender::Loop(words)));
    }
    all_rates(setting, &contenders)
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
