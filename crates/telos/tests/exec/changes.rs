//! `telos exec --diff` and `--apply`: what a program changed is shown, and kept only where nobody else was.

use crate::launch::exec::Bench;
use crate::launch::write;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// Changes something of every kind.
const SCRIPT: &str = "set -e
    sed -i s/two/TWO/ text; printf 'no newline' > new; rm gone; chmod +x tool; mkdir -p deep/er; echo x > deep/er/file
    ln -s text link; printf '\\0\\1' > binary; rm -r tree; mkdir tree; echo again > tree/kept; touch untouched
    echo in the program; echo 'name' > 'ein Name mit ä'";

fn garden() -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path().join("tree")).unwrap();
    for (name, text) in [("text", "one\ntwo\nthree\n"), ("gone", "g\n"), ("tool", "#!\n"), ("untouched", "u\n")] {
        write(bench.path(), name, text);
    }
    write(bench.path(), "tree/kept", "before\n");
    write(bench.path(), "tree/lost", "lost\n");
    bench
}

/// Every file, with whether it may be run, and what it holds.
fn contents(bench: &Bench) -> Vec<String> {
    let script = "find . -not -type d -not -path './.git/*' | LC_ALL=C sort | while read -r name; do \
                  printf '%s %s %s\\n' \"$name\" \"$([ -x \"$name\" ] && echo x)\" \"$(od -An -c \"$name\" | tr -d '\\n')\"; done";
    let listed = Command::new("bash").args(["-c", script]).current_dir(bench.path()).output().unwrap();
    String::from_utf8_lossy(&listed.stdout).lines().map(String::from).collect()
}

#[test]
fn the_diff_is_a_patch_and_nothing_is_changed() {
    let bench = garden();
    let before = contents(&bench);
    let ran = bench.bash(&["--write", ".", "--diff"], SCRIPT);
    assert_eq!(ran.errors, "in the program\n", "standard output is for the patch");
    let patch = ran.ok();
    assert_eq!(contents(&bench), before);
    for part in [
        "--- a/text\n+++ b/text\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
        "new file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+no newline\n\\ No newline at end of file\n",
        "deleted file mode 100644\n--- a/gone\n+++ /dev/null\n",
        "old mode 100644\nnew mode 100755\n",
        "new file mode 120000\n--- /dev/null\n+++ b/link\n",
        "Binary files /dev/null and b/binary differ\n",
        "--- a/tree/kept\n+++ b/tree/kept\n@@ -1 +1 @@\n-before\n+again\n",
        "--- a/tree/lost\n+++ /dev/null\n",
        "+++ \"b/ein Name mit \\303\\244\"\n",
    ] {
        assert!(patch.contains(part), "{part}\nis not in\n{patch}");
    }
    assert!(!patch.contains("untouched"), "{patch}");
}

/// Git makes of the directory what `--apply` makes of it; binary files are not in the patch.
#[test]
fn git_applies_the_diff() {
    let script = SCRIPT.replace("printf '\\0\\1' > binary;", "");
    let (patched, applied) = (garden(), garden());
    let patch = patched.bash(&["--write", ".", "--diff"], &script).ok();
    let mut git = Command::new("git");
    let mut git = git.args(["apply", "-"]).current_dir(patched.path()).stdin(Stdio::piped()).spawn().unwrap();
    git.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    assert!(git.wait().unwrap().success(), "{patch}");
    assert_eq!(applied.bash(&["--write", ".", "--apply"], &script).code, Some(0));
    assert_eq!(contents(&patched), contents(&applied));
}

#[test]
fn what_is_applied_is_there_and_belongs_to_the_user() {
    use std::os::unix::fs::MetadataExt;
    let bench = garden();
    let ran = bench.bash(&["--write", ".", "--apply"], SCRIPT);
    assert_eq!((ran.code, ran.output.as_str()), (Some(0), "in the program\n"), "{ran:?}");
    assert!(ran.errors.contains("telos: applied: "), "{ran:?}");
    let at = |name: &str| bench.path().join(name);
    assert_eq!(fs::read_to_string(at("text")).unwrap(), "one\nTWO\nthree\n");
    assert_eq!(fs::read_to_string(at("link")).unwrap(), "one\nTWO\nthree\n");
    assert_eq!(fs::read(at("binary")).unwrap(), [0, 1]);
    assert_eq!(fs::metadata(at("tool")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!at("gone").exists() && !at("tree/lost").exists() && at("deep/er/file").is_file());
    let owner = fs::metadata(bench.path()).unwrap().uid();
    assert!(["text", "new", "deep", "deep/er/file"].iter().all(|name| fs::metadata(at(name)).unwrap().uid() == owner));
    let left: Vec<_> = fs::read_dir(bench.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".telos")), "{left:?}");
}

#[test]
fn nothing_is_applied_where_the_original_changed_meanwhile() {
    let bench = garden();
    let script = "echo mine >> text; echo x > other; echo ready; read line";
    let arguments = ["exec", "--write", ".", "--apply", "--", "bash", "-c", script];
    let mut child = bench.command(&arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    write(bench.path(), "text", "theirs\n");
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let ended = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(125), "{errors}");
    assert!(errors.contains("changed there meanwhile") && errors.contains("\"text\""), "{errors}");
    assert!(!errors.contains("other"), "only what is in the way is named: {errors}");
    assert_eq!(fs::read_to_string(bench.path().join("text")).unwrap(), "theirs\n");
    assert!(!bench.path().join("other").exists());
}

#[test]
fn nothing_is_applied_of_a_program_that_failed() {
    let bench = garden();
    let ran = bench.bash(&["--write", ".", "--apply"], "echo x > text; exit 7");
    assert_eq!(ran.code, Some(7));
    assert!(ran.errors.contains("nothing was applied, since the program did not end well"), "{ran:?}");
    assert_eq!(fs::read_to_string(bench.path().join("text")).unwrap(), "one\ntwo\nthree\n");
    let ran = bench.bash(&["--write", ".", "--apply", "--json"], "echo x > text; exit 7");
    let told: serde_json::Value = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(told["not_applied"], "the program did not end well", "{told}");
}

/// Every later run told a person to put back what is in it, by a list that the program had written.
#[test]
fn no_program_leaves_what_a_killed_apply_would() {
    let bench = garden();
    let ran =
        bench.bash(&["--write", ".", "--apply"], "mkdir .telos-apply-1; echo 0 write text > .telos-apply-1/steps");
    assert!(ran.code == Some(125) && ran.errors.contains("has a name that is kept"), "{ran:?}");
    assert!(!bench.path().join(".telos-apply-1").exists());
}

#[test]
fn a_link_that_leads_out_is_never_applied() {
    let bench = garden();
    for target in ["/etc/passwd", "../../x"] {
        let ran = bench.bash(&["--write", ".", "--apply"], &format!("ln -s {target} way; echo x > text"));
        assert_eq!(ran.code, Some(125), "{ran:?}");
        assert!(ran.errors.contains("\"way\": it is a link that leads out"), "{ran:?}");
        assert_eq!(fs::read_to_string(bench.path().join("text")).unwrap(), "one\ntwo\nthree\n");
    }
}

/// The program is let into a directory that holds a link out of it: what it writes there is refused or stays inside.
#[test]
fn a_link_out_of_the_directory_leads_nowhere() {
    let (bench, outside) = (garden(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(outside.path(), bench.path().join("out")).unwrap();
    let ran = bench.bash(&["--write", ".", "--apply"], "echo x > out/y || mkdir -p \"$(readlink out)\"; true");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn several_directories_are_all_kept_or_none() {
    let (one, two) = (garden(), garden());
    let second = format!("{}:/second", two.path().display());
    let options = ["--write", ".:/first", "--write", &second];
    let shown = one.bash(&[&options[..], &["--diff"]].concat(), "rm gone; rm /second/gone").ok();
    assert!(shown.contains("--- a/first/gone\n") && shown.contains("--- a/second/gone\n"), "{shown}");
    let ran = one.bash(&[&options[..], &["--apply"]].concat(), "rm gone; ln -s / /second/way");
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(one.path().join("gone").exists());
    let ran = one.bash(&[&options[..], &["--apply", "--json"]].concat(), "rm gone; rm /second/gone");
    let json: serde_json::Value = serde_json::from_str(&ran.ok()).unwrap();
    assert_eq!(json["applied"], 2);
    assert!(!one.path().join("gone").exists() && !two.path().join("gone").exists());
}

/// Whoever writes to an image's files is the image, and whoever reaches its socket may ask it for anything.
#[test]
fn no_program_is_given_the_directory_of_an_image() {
    let bench = garden();
    std::fs::create_dir_all(bench.path().join("image/dreams")).unwrap();
    std::fs::write(bench.path().join("image/telos.wal"), "").unwrap();
    for option in ["--read", "--write"] {
        for directory in ["image", "image/dreams", "image/telos.wal"] {
            if option == "--write" && directory.ends_with("wal") {
                continue;
            }
            let ran = bench.exec(&[option, directory, "--", "true"]);
            assert!(ran.code != Some(0) && ran.errors.contains("image"), "{option} {directory}: {ran:?}");
        }
    }
    let ran = bench.command(&["exec", "--read", ".", "--", "true"]).env("TELOS_IMAGE", "image").output().unwrap();
    assert!(ran.status.code() != Some(0) && String::from_utf8_lossy(&ran.stderr).contains("does not contain it"));
    std::fs::create_dir(bench.path().join("beside")).unwrap();
    assert_eq!(bench.exec(&["--read", "beside", "--", "true"]).code, Some(0));
}
