//! A host that lacks a wall: refused, unless whoever gave the order said that less will do. The host is a user namespace in
//! which some kinds of namespaces are used up, which this program enters by starting itself again.

use sandbox::process::Process;
use sandbox::{Backend, Order, SandboxError, Streams, Strength, Verdict, Wall};
use std::process::Command;

const INSIDE: &str = "TELOS_TEST_LACKS";

/// Runs one test of this file, which otherwise does nothing, where namespaces of a kind cannot be had.
fn where_there_are_no(kind: &str, test: &str) {
    in_a_container(&format!("echo 0 > /proc/sys/user/max_{kind}_namespaces"), test);
}

/// The same after a script, in namespaces as a container has them.
fn in_a_container(script: &str, test: &str) {
    let program = std::env::current_exe().unwrap();
    let script = format!("{script} && exec \"$0\" --exact {test} --nocapture");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "sh", "-c", &script])
        .arg(program)
        .env(INSIDE, "yes")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

fn order(allows_weaker: bool) -> Order {
    let script = "cat /proc/self/status > /dev/null && echo > /dev/tcp/127.0.0.1/1";
    Order { program: ["bash", "-c", script].map(Into::into).to_vec(), allows_weaker, ..Order::default() }
}

#[test]
fn without_network_namespaces_it_is_refused_or_has_no_sockets() {
    if !is_inside() {
        return where_there_are_no("net", "without_network_namespaces_it_is_refused_or_has_no_sockets");
    }
    let refusal = Process::new().start(&order(false), Streams::nowhere()).err().unwrap();
    assert!(matches!(&refusal, SandboxError::TooWeak(lacks) if lacks[0].wall == Wall::NetworkNamespace), "{refusal}");
    assert!(refusal.to_string().contains("--allow-weaker"), "{refusal}");
    let outcome = Process::new().start(&order(true), Streams::nowhere()).unwrap().wait().unwrap();
    assert!(outcome.lacks.iter().any(|lack| lack.wall == Wall::NetworkNamespace), "{:?}", outcome.lacks);
    assert_eq!(outcome.verdict, Verdict::Exited(1));
    let survey = Process::new().survey();
    assert!(survey.iter().any(|(wall, strength)| {
        *wall == Wall::NetworkNamespace && matches!(strength, Strength::Missing(lack) if !lack.remedy.is_empty())
    }));
}

#[test]
fn without_user_namespaces_it_is_always_refused() {
    if !is_inside() {
        return where_there_are_no("user", "without_user_namespaces_it_is_always_refused");
    }
    for allows_weaker in [false, true] {
        let refusal = Process::new().start(&order(allows_weaker), Streams::nowhere()).err().unwrap();
        assert!(matches!(&refusal, SandboxError::TooWeak(_)), "{refusal}");
    }
}

#[test]
fn without_time_namespaces_the_outcome_says_so() {
    if !is_inside() {
        return where_there_are_no("time", "without_time_namespaces_the_outcome_says_so");
    }
    let refusal = Process::new().start(&order(false), Streams::nowhere()).err().unwrap();
    assert!(matches!(&refusal, SandboxError::TooWeak(lacks) if lacks[0].wall == Wall::TimeNamespace), "{refusal}");
    let outcome = Process::new().start(&order(true), Streams::nowhere()).unwrap().wait().unwrap();
    assert_eq!(outcome.lacks.len(), 1);
}

fn runs(script: &str) -> Verdict {
    let order = Order { program: ["sh", "-c", script].map(Into::into).to_vec(), ..Order::default() };
    Process::new().start(&order, Streams::nowhere()).unwrap().wait().unwrap().verdict
}

#[test]
fn inside_a_container_all_walls_stand() {
    if !is_inside() {
        return in_a_container("true", "inside_a_container_all_walls_stand");
    }
    let survey = Process::new().survey();
    let missing: Vec<_> = survey.iter().filter(|(_, strength)| matches!(strength, Strength::Missing(_))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(runs("test $(id -u) = 1000 && test $$ = 2"), Verdict::Exited(0));
}

/// The kernel puts no overlay over a directory in which it would show what something else was mounted to hide.
#[test]
fn a_system_in_which_something_is_mounted_is_shown_as_it_is_and_that_is_told() {
    if !is_inside() {
        let test = "a_system_in_which_something_is_mounted_is_shown_as_it_is_and_that_is_told";
        return in_a_container("mount -t tmpfs none /usr/share && echo there > /usr/share/note", test);
    }
    let overlay = Process::new().survey().into_iter().find(|(wall, _)| *wall == Wall::Overlay);
    assert!(matches!(&overlay, Some((_, Strength::Substitute(how))) if how.contains("lock and watch")), "{overlay:?}");
    assert_eq!(runs("test $(cat /usr/share/note) = there"), Verdict::Exited(0));
}
