//! Every run through an image that is up is in the log of runs, once, whoever asked for it.

use crate::launch::exec::Bench;
use crate::launch::up::{Up, signal, wait_for};
use keeper::protocol::{RunEnd, RunFailure, RunOrder};
use serde_json::Value;

fn up(bench: &Bench) -> Up {
    Up::start_with(&[("XDG_STATE_HOME", bench.state.path())], &[])
}

fn runs(bench: &Bench) -> Vec<Value> {
    serde_json::from_str(&bench.telos(&["runs", "--json", "-n", "100"]).ok()).unwrap()
}

#[test]
fn a_run_of_any_client_is_recorded_with_who_and_what() {
    let bench = Bench::new();
    let up = up(&bench);
    let mut order = RunOrder::new(["sh", "-c", "printf abc; exit 3"]);
    order.limits.memory_bytes = Some(100 << 20);
    up.client().run(&order, &[], |_| {}).unwrap();
    let runs = runs(&bench);
    let [run] = runs.as_slice() else { panic!("{runs:?}") };
    assert_eq!((&run["verdict"], &run["exit_code"], &run["client"]), (&"exited".into(), &3.into(), &"test".into()));
    assert_eq!(
        (&run["program"][2], &run["limits"]["memory_bytes"]),
        (&"printf abc; exit 3".into(), &(100 << 20).into())
    );
    assert_eq!(run["process"], std::process::id());
    let digest = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(run["digest"]["stdout"], digest, "{run}");
    assert!(run["usage"]["time_ms"].is_number() && run["at"].is_string() && run["user"].is_number(), "{run}");
}

#[test]
fn a_run_of_telos_exec_is_recorded_once() {
    let bench = Bench::new();
    let up = up(&bench);
    let directory = up.directory.to_str().unwrap();
    assert_eq!(bench.exec(&["--image", directory, "--lang", "sh", "-e", "exit 4"]).code, Some(4));
    assert_eq!(bench.exec(&["--image", directory, "--", "there-is-none"]).code, Some(127));
    let runs = runs(&bench);
    let seen: Vec<_> = runs.iter().map(|run| (&run["verdict"], &run["language"], &run["telos_exit_code"])).collect();
    assert_eq!(seen, [(&"exited".into(), &"sh".into(), &4.into()), (&"refused".into(), &Value::Null, &127.into())]);
}

#[test]
fn a_run_whose_telos_exec_was_killed_is_recorded_all_the_same() {
    let bench = Bench::new();
    let up = up(&bench);
    let directory = up.directory.to_str().unwrap();
    let mut exec = bench.command(&["exec", "--image", directory, "--", "sleep", "1000"]).spawn().unwrap();
    wait_for("it runs", || up.client().status().unwrap().runs_under_way == 1);
    signal(exec.id(), "KILL");
    exec.wait().unwrap();
    wait_for("it is recorded", || !runs(&bench).is_empty());
    let run = bench.last_run();
    assert_eq!((&run["verdict"], &run["program"][0]), (&"stopped".into(), &"sleep".into()), "{run}");
    assert_eq!(runs(&bench).len(), 1);
}

#[test]
fn runs_that_were_refused_or_lost_are_recorded_too() {
    let bench = Bench::new();
    let up = up(&bench);
    let mut client = up.client();
    let end = client.run(&RunOrder::new(["there-is-none"]), &[], |_| {}).unwrap();
    assert!(matches!(end, RunEnd::Failed { kind: RunFailure::NoProgram, .. }), "{end:?}");
    assert_eq!(bench.last_run()["verdict"], "refused");
    client.post_run(&RunOrder::new(["sleep", "1000"]), &[]).unwrap();
    client.flush().unwrap();
    wait_for("it runs", || up.client().status().unwrap().runs_under_way == 1);
    signal(up.client().status().unwrap().warden_pid.unwrap(), "KILL");
    wait_for("it is lost", || up.client().status().unwrap().runs_under_way == 0);
    wait_for("it is recorded", || runs(&bench).len() == 2);
    assert_eq!((&bench.last_run()["verdict"], &bench.last_run()["client"]), (&"lost".into(), &"test".into()));
}
