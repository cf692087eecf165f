//! `telos exec --write` where the kernel's overlay refuses a directory, and fuse-overlayfs takes its place.
//!
//! The kernel puts no overlay over two others: so they are made here, in a mount namespace of the test's own, which needs root. As
//! on most hosts, though not on all, everybody may open /dev/fuse there. Who runs telos is an ordinary user: owners of files below
//! overlays cannot be mapped, so that root's runs may change none of them.

use crate::launch::exec::Bench;
use crate::launch::{Ran, write};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Makes `deep` a directory below two overlays, then becomes what it is told.
const PREPARE: &str = "set -e
    mount -t tmpfs none memory; mkdir memory/one memory/empty; mknod -m 666 memory/fuse c 10 229
    mount --bind memory/fuse /dev/fuse
    mount -t overlay -o lowerdir=tree:memory/empty none memory/one
    mount -t overlay -o lowerdir=memory/one:memory/empty none deep
    chown -R 61234:61234 tree; exec setpriv --reuid 61234 --regid 61234 --clear-groups \"$@\"";

/// Changes something of every kind, and says what it finds afterwards.
const SCRIPT: &str = "set -e
    sed -i s/two/TWO/ text; rm gone; rm -r old; mkdir old; echo again > old/kept; mkdir new; echo x > new/file; ln -s text link
    mv moved elsewhere; find . | LC_ALL=C sort";

/// `None`, and a word of it, where it cannot be tried.
fn garden() -> Option<Bench> {
    let is_root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
    let is_there = |path: &str| std::path::Path::new(path).exists();
    if !is_root || !is_there("/usr/bin/fuse-overlayfs") || !is_there("/dev/fuse") {
        println!("not tried: it needs root, fuse-overlayfs and /dev/fuse");
        return None;
    }
    let bench = Bench::new();
    for (directory, mode) in [(bench.path(), 0o755), (bench.state.path(), 0o777)] {
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let telos = bench.path().join("telos");
    std::fs::copy(env!("CARGO_BIN_EXE_telos"), telos).unwrap();
    for directory in ["memory", "deep", "tree", "tree/old"] {
        std::fs::create_dir(bench.path().join(directory)).unwrap();
    }
    for (name, text) in
        [("text", "one\ntwo\n"), ("gone", "g\n"), ("moved", "m\n"), ("old/kept", "before\n"), ("old/lost", "lost\n")]
    {
        write(bench.path(), &format!("tree/{name}"), text);
    }
    Some(bench)
}

fn exec(bench: &Bench, options: &[&str], script: &str) -> Ran {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "bash", "-c", PREPARE, "bash", "./telos"]);
    command.args(["exec", "--write", "deep"]).args(options).args(["--", "bash", "-c", script]);
    let ended = command.env("XDG_STATE_HOME", bench.state.path()).current_dir(bench.path()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code: ended.status.code(), output: text(ended.stdout), errors: text(ended.stderr) }
}

#[test]
fn a_layer_is_had_where_the_kernel_puts_none() {
    let Some(bench) = garden() else { return };
    let ran = exec(&bench, &["--diff"], SCRIPT);
    assert_eq!(
        ran.errors, ".\n./elsewhere\n./link\n./new\n./new/file\n./old\n./old/kept\n./text\n",
        "what it finds: {ran:?}"
    );
    let patch = ran.ok();
    for part in [
        "-two\n+TWO\n",
        "deleted file mode 100644\n--- a/gone\n",
        "+++ b/new/file\n",
        "-before\n+again\n",
        "--- a/old/lost\n+++ /dev/null\n",
        "+++ b/link\n",
        "--- a/moved\n+++ /dev/null\n",
        "+++ b/elsewhere\n",
    ] {
        assert!(patch.contains(part), "{part}\nis not in\n{patch}");
    }
    assert!(!patch.contains(".wh."), "marks are no files: {patch}");
    assert_eq!(std::fs::read_to_string(bench.path().join("tree/text")).unwrap(), "one\ntwo\n");
}

/// The program that serves the layer has the host's directory open, below any overlay.
#[test]
fn nobody_looks_into_who_serves_the_layer() {
    let Some(bench) = garden() else { return };
    let script = "cat /proc/2/comm; for each in root cwd exe fd/3 fd/4; do readlink /proc/2/$each; done
        head -c 1 /proc/2/mem; head -c 1 /proc/2/maps; echo over";
    let ran = exec(&bench, &[], script);
    assert_eq!((ran.code, ran.output.as_str()), (Some(0), "fuse-overlayfs\nover\n"), "{ran:?}");
    assert!(ran.errors.contains("Permission denied"), "{ran:?}");
}
