//! Runs that are children of Python's zygote: as sealed as any program, as fresh, and as ignorant of each other. Where there
//! is no Python of the system, nothing here has a zygote, and all is still true.

use crate::launch::up::Up;
use keeper::protocol::{RunEnd, RunLimit, RunOrder, RunStream, RunVerdict, Word};
use keeper::{Client, RunEvent};

/// Whether a zygote serves here: where there is no Python of the system, all below is true of interpreters of their own.
fn is_hosted(client: &mut Client) -> bool {
    let has_python = std::path::Path::new("/usr/bin/python3").exists();
    let (output, _) = run(client, &python("import gc; print(gc.get_freeze_count() > 0)", &[]));
    assert_eq!(output, if has_python { "True\n" } else { "False\n" });
    has_python
}

fn python(code: &str, variables: &[(&str, &str)]) -> RunOrder {
    let mut order = RunOrder::new(["python3", "-c", code]);
    let own = [("PATH", "/usr/bin:/bin"), ("HOME", "/home/user"), ("LANG", "C.UTF-8")];
    let word = |text: &str| Word::Text(text.into());
    order.environment = own.iter().chain(variables).map(|(name, value)| (word(name), word(value))).collect();
    order
}

/// What it wrote, to standard error as well, and its exit code.
fn run(client: &mut Client, order: &RunOrder) -> (String, i32) {
    let mut output = Vec::new();
    let end = client.run(order, &[], |event| {
        if let RunEvent::Output(RunStream::Output | RunStream::Error, bytes) = event {
            output.extend(bytes);
        }
    });
    match end.unwrap() {
        RunEnd::Ended { verdict: RunVerdict::Exited(code), .. } => {
            (String::from_utf8_lossy(&output).into_owned(), code)
        }
        end => panic!("{end:?}: {}", String::from_utf8_lossy(&output)),
    }
}

/// Everything that a process can find out about its walls. Its parent is another one, which makes a difference in the number of
/// processes as well, and in who may be signalled.
const LOOK: &str = r#"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
kept = ("Cap", "NoNewPrivs", "Seccomp", "Uid", "Gid", "Groups", "NSpid", "SigIgn", "SigBlk")
print([line.split() for line in open("/proc/self/status") if line.startswith(kept)])
print(sorted(os.listdir("/proc/self/fd")))
print(os.getpid(), os.getsid(0) == os.getpid(), os.umask(0), os.getcwd(), dict(os.environ))
print([line.split()[4:6] for line in open("/proc/self/mountinfo")])
print([line.split() for line in open("/proc/self/limits") if "processes" not in line])
print(sorted(name for name in os.listdir("/proc") if name.isdigit()))
for path in ("/etc/shadow", "/root", "/home/user/../../run/tmp/x", "/proc/1/mem", "/proc/1/environ", "/usr/made", "/code/made"):
    try:
        print(path, os.open(path, os.O_RDWR | os.O_CREAT))
    except OSError as error:
        print(path, error.errno)
for name, arguments in (
    ("unshare", (0x10000000,)), ("mount", (0, b"/tmp", b"tmpfs", 0, 0)), ("ptrace", (16, 1, 0, 0)), ("chroot", (b"/tmp",)),
    ("setns", (0, 0)), ("sethostname", (b"x", 1)), ("personality", (8,)),
):
    print(name, getattr(libc, name)(*arguments), ctypes.get_errno())
import socket
for family, kind in ((17, 3), (16, 3), (2, 3)):
    try:
        print(socket.socket(family, kind))
    except OSError as error:
        print(error.errno)
"#;

/// It was as if there were no languages, and nobody knew.
#[test]
fn languages_that_cannot_be_read_are_told_and_those_of_telos_are_used() {
    let configuration = tempfile::tempdir().unwrap();
    std::fs::create_dir(configuration.path().join("telos")).unwrap();
    std::fs::write(configuration.path().join("telos/languages.toml"), "[python\n").unwrap();
    let mut up = Up::start_with(&[("XDG_CONFIG_HOME", configuration.path())], &[]);
    is_hosted(&mut up.client());
    let (_, errors) = up.stop();
    assert!(
        errors.contains("only the languages that telos brings along are used") && errors.contains("languages.toml"),
        "{errors}"
    );
}

#[test]
fn a_child_of_the_zygote_is_as_sealed_as_any_program() {
    let up = Up::start(&[]);
    let mut client = up.client();
    // It was started with another seed, so that the zygote cannot serve it.
    let (alone, code) = run(&mut client, &python(LOOK, &[("PYTHONHASHSEED", "random")]));
    assert_eq!(code, 0, "{alone}");
    is_hosted(&mut client);
    let (hosted, code) = run(&mut client, &python(LOOK, &[]));
    assert_eq!(code, 0, "{hosted}");
    let alone = alone.replace(", 'PYTHONHASHSEED': 'random'", "");
    assert_eq!(hosted, alone);
}

#[test]
fn nothing_of_a_run_is_in_the_memory_of_the_next_child() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let secret = "correct-horse-battery-staple";
    let (_, code) = run(&mut client, &python(&format!("word = '{secret}'"), &[("SECRET", secret)]));
    assert_eq!(code, 0);
    let backwards: String = secret.chars().rev().collect();
    let search = format!(
        "import re\nword = '{backwards}'[::-1].encode()\nfound = 0\nmemory = open('/proc/self/mem', 'rb', 0)\n\
         for line in open('/proc/self/maps'):\n    first, last = (int(x, 16) for x in line.split()[0].split('-'))\n    \
         try:\n        memory.seek(first)\n        found += memory.read(last - first).count(word)\n    \
         except (OSError, OverflowError, ValueError): pass\nprint(found)"
    );
    for _ in 0..3 {
        // Its own copies of the word are few: as many as if there had been no other run.
        let (output, code) = run(&mut client, &python(&search, &[]));
        let found: usize = output.trim().parse().unwrap();
        assert!(code == 0 && (1..=4).contains(&found), "{output}");
    }
}

#[test]
fn runs_of_one_zygote_differ_in_all_that_is_random() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let code =
        "import random, os, uuid, tempfile\nprint(random.random(), os.urandom(8), uuid.uuid4(), tempfile.mktemp())";
    let runs: Vec<String> = (0..3).map(|_| run(&mut client, &python(code, &[])).0).collect();
    let (one, two) = (runs[0].split(' ').next(), runs[1].split(' ').next());
    assert!(one != two && one.is_some(), "{runs:?}");
    assert!(runs[1] != runs[2], "{runs:?}");
}

#[test]
fn a_program_in_the_zygote_ends_as_in_an_interpreter_of_its_own() {
    let up = Up::start(&[]);
    let mut client = up.client();
    for (code, words, exit) in [
        ("import sys; sys.exit(7)", "", 7),
        ("import sys; sys.exit('no')", "no\n", 1),
        ("raise KeyError(1)", "KeyError: 1", 1),
        ("1 +", "SyntaxError", 1),
        ("import atexit; atexit.register(print, 'bye')", "bye\n", 0),
        (
            "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()",
            "late\n",
            0,
        ),
        ("import subprocess; print(subprocess.run(['echo', 'hi'], capture_output=True).stdout)", "b'hi\\n'\n", 0),
        (
            "import multiprocessing as m\nq = m.Queue(); p = m.Process(target=q.put, args=(5,)); p.start(); print(q.get()); p.join()",
            "5\n",
            0,
        ),
        ("import sys; print('word'); sys.stdout.close()", "word\n", 0),
        ("import sys; sys.stdout = None", "", 0),
        ("import sys; print(sys.argv, sys.orig_argv[:2], sys.path[0])", "['-c'] ['python3', '-c'] \n", 0),
        ("import __main__; print(__name__, __main__.__dict__.get('x')); x = 1", "__main__ None\n", 0),
    ] {
        let (output, ended) = run(&mut client, &python(code, &[]));
        assert!(output.contains(words) && ended == exit, "{code}: {output} {ended}");
        let (alone, ended_alone) = run(&mut client, &python(code, &[("PYTHONHASHSEED", "random")]));
        assert_eq!((output, ended), (alone, ended_alone), "{code}");
    }
}

/// A zygote is told how to seal a run only if it was otherwise before, and a child keeps the variables of the zygote where they
/// are those that it is given.
#[test]
fn a_run_has_its_own_limits_and_variables_whatever_the_one_before_had() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let usual = [
        ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        ("HOME", "/home/user"),
        ("USER", "user"),
        ("LANG", "C.UTF-8"),
    ];
    let code = "import os, resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE)[1], sorted(os.environ))";
    let word = |text: &str| Word::Text(text.into());
    for (files, variable) in [(100, None), (100, None), (200, Some(("A", "b"))), (200, None), (100, Some(("Z", "")))] {
        let mut order = RunOrder::new(["python3", "-c", code]);
        order.environment = usual.iter().chain(&variable).map(|(name, value)| (word(name), word(value))).collect();
        order.limits.open_files = Some(files);
        let mut names: Vec<&str> = usual.iter().chain(&variable).map(|(name, _)| *name).collect();
        names.sort_unstable();
        let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        assert_eq!(run(&mut client, &order), (format!("{files} [{}]\n", names.join(", ")), 0));
    }
}

#[test]
fn a_child_that_nobody_waits_for_holds_up_nothing() {
    let up = Up::start(&[]);
    let mut client = up.client();
    is_hosted(&mut client);
    // A process that would be the zygote's child, not the program's.
    let code = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                if libc.syscall(56, 0x8000 | 17, 0, 0, 0, 0) == 0: os._exit(0)\nprint(ctypes.get_errno())";
    if cfg!(target_arch = "x86_64") {
        assert_eq!(run(&mut client, &python(code, &[])), ("1\n".into(), 0));
    }
    assert_eq!(run(&mut client, &python("print(2)", &[])), ("2\n".into(), 0));
}

#[test]
fn a_run_that_uses_up_its_memory_takes_nobody_with_it() {
    let up = Up::start(&[]);
    let mut client = up.client();
    is_hosted(&mut client);
    // The program is smaller than the zygote, so that the kernel may end that one first.
    let fill = "exec 3>/tmp/x; while :; do head -c 1000000 /dev/zero >&3 || sleep 0.2; done";
    let code = format!("import os; os.execv('/bin/sh', ['sh', '-c', '{fill}'])");
    let mut order = python(&code, &[]);
    order.limits.memory_bytes = Some(128 << 20);
    for _ in 0..3 {
        let end = client.run(&order, &[], |_| {}).unwrap();
        let is_limited = matches!(end, RunEnd::Ended { verdict: RunVerdict::Limited(RunLimit::Memory), .. });
        assert!(is_limited, "{end:?}");
        assert_eq!(run(&mut client, &python("print(3)", &[])), ("3\n".into(), 0));
    }
}
