//! Runs through an image that is up: what they say, what stops them, and that nothing is left of them.

use crate::launch::up::{Up, wait_for};
use keeper::protocol::{RunEnd, RunFailure, RunOrder, RunStream, RunVerdict, Word};
use keeper::{Client, RunEvent};
use std::process::Command;

fn order(program: &[&str]) -> RunOrder {
    let mut order = RunOrder::new(program);
    order.environment = vec![(Word::Text("PATH".into()), Word::Text("/usr/local/bin:/usr/bin:/bin".into()))];
    order
}

fn shell(code: &str) -> RunOrder {
    order(&["sh", "-c", code])
}

/// What it wrote to standard output, and how it ended.
fn run(client: &mut Client, order: &RunOrder) -> (String, RunEnd) {
    let mut output = Vec::new();
    let end = client.run(order, &[], |event| {
        if let RunEvent::Output(RunStream::Output, bytes) = event {
            output.extend(bytes);
        }
    });
    (String::from_utf8_lossy(&output).into_owned(), end.unwrap())
}

fn has_exited(end: &RunEnd, code: i32) -> bool {
    matches!(end, RunEnd::Ended { verdict: RunVerdict::Exited(exited), .. } if *exited == code)
}

/// Waits until one of the runs under way says something on standard output; its id.
fn next_output(client: &mut Client) -> u64 {
    loop {
        match client.receive_run().unwrap() {
            (id, RunEvent::Output(RunStream::Output, _)) => return id,
            (_, RunEvent::Ended(end)) => panic!("ended instead: {end:?}"),
            _ => {}
        }
    }
}

/// Whether a process of this host has the word in its command line.
fn is_running(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        std::fs::read(entry.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).split('\0').any(|each| each == word))
    })
}

#[test]
fn a_run_is_streamed_and_says_how_it_ended() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let (output, end) = run(&mut client, &shell("echo hello; exit 3"));
    assert_eq!(output, "hello\n");
    assert!(has_exited(&end, 3), "{end:?}");
    let (_, end) = run(&mut client, &order(&["there-is-no-such-program"]));
    assert!(matches!(end, RunEnd::Failed { kind: RunFailure::NoProgram, .. }), "{end:?}");
}

#[test]
fn what_a_run_wrote_is_not_there_for_the_next() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let code = "ls -A /tmp /home/user /dev/shm /mnt | grep -v : ; cat /etc/machine-id; touch /tmp/a /home/user/b /dev/shm/c; \
                touch /etc/d /x /usr/y 2>/dev/null; true";
    let outputs: Vec<String> = (0..4).map(|_| run(&mut client, &shell(code)).0).collect();
    for output in &outputs {
        assert_eq!(output.split_whitespace().count(), 1, "only a machine id: {output}");
        assert_eq!(outputs.iter().filter(|other| *other == output).count(), 1, "which is another each time");
    }
}

/// A run that used the network of its cell costs the cell: the next one sees counters that are zero.
#[test]
fn what_a_run_sent_over_its_loopback_is_not_counted_in_the_next() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let code = "grep lo: /proc/self/net/dev; command -v perl > /dev/null && perl -MSocket -e \
                'socket(S, PF_INET, SOCK_DGRAM, 0); send(S, \"x\", 0, sockaddr_in(9, inet_aton(\"127.0.0.1\")))'; true";
    for _ in 0..3 {
        let (output, end) = run(&mut client, &shell(code));
        assert!(has_exited(&end, 0), "{end:?}");
        assert!(output.split_whitespace().skip(1).all(|count| count == "0"), "{output}");
    }
}

#[test]
fn a_run_that_is_cancelled_is_stopped_and_the_others_go_on() {
    let up = Up::start(&[]);
    let mut client = up.client();
    let stopped = client.post_run(&shell("echo begun; sleep 1000"), &[]).unwrap();
    client.flush().unwrap();
    assert_eq!(next_output(&mut client), stopped);
    client.canceller().unwrap().cancel(stopped).unwrap();
    let (id, event) = client.receive_run().unwrap();
    assert_eq!(id, stopped);
    assert!(matches!(event, RunEvent::Ended(RunEnd::Ended { verdict: RunVerdict::Stopped, .. })), "{event:?}");
    assert!(has_exited(&run(&mut client, &shell("true")).1, 0));
}

#[test]
fn a_run_ends_with_its_client() {
    let up = Up::start(&[]);
    let mut client = up.client();
    client.post_run(&shell("echo begun; exec sleep 1000.0625"), &[]).unwrap();
    client.flush().unwrap();
    next_output(&mut client);
    wait_for("it runs", || is_running("1000.0625"));
    drop(client);
    wait_for("it has ended", || !is_running("1000.0625"));
}

#[test]
fn a_client_that_does_not_read_stops_its_own_run_only() {
    let up = Up::start(&[]);
    let mut slow = up.client();
    let mut flood = shell("yes");
    flood.limits.output_bytes = None;
    slow.post_run(&flood, &[]).unwrap();
    slow.flush().unwrap();
    let mut quick = up.client();
    for _ in 0..5 {
        assert!(has_exited(&run(&mut quick, &shell("true")).1, 0));
    }
    assert_eq!(quick.status().unwrap().runs_under_way, 1);
}

#[test]
fn runs_end_with_the_warden_and_the_next_one_gets_another() {
    let up = Up::start(&[]);
    let mut client = up.client();
    client.post_run(&shell("echo begun; exec sleep 1000.125"), &[]).unwrap();
    client.flush().unwrap();
    next_output(&mut client);
    let warden = client.status().unwrap().warden_pid.unwrap();
    assert!(Command::new("kill").args(["-9", &warden.to_string()]).status().unwrap().success());
    let (_, event) = client.receive_run().unwrap();
    assert!(matches!(event, RunEvent::Ended(RunEnd::Failed { kind: RunFailure::Lost, .. })), "{event:?}");
    wait_for("it has ended", || !is_running("1000.125"));
    assert!(has_exited(&run(&mut client, &shell("true")).1, 0));
}

#[test]
fn runs_end_with_the_keeper() {
    let up = Up::start(&[]);
    let mut client = up.client();
    client.post_run(&shell("echo begun; exec sleep 1000.1875"), &[]).unwrap();
    client.flush().unwrap();
    next_output(&mut client);
    let status = client.status().unwrap();
    assert!(Command::new("kill").args(["-9", &status.keeper_pid.to_string()]).status().unwrap().success());
    wait_for("it has ended", || !is_running("1000.1875"));
    let warden = format!("/proc/{}", status.warden_pid.unwrap());
    wait_for("the warden has ended", || !std::path::Path::new(&warden).exists());
}

#[test]
fn a_burst_is_taken_and_none_of_it_fails() {
    const COUNT: usize = 200;
    let up = Up::start(&[]);
    let mut client = up.client();
    for _ in 0..COUNT {
        client.post_run(&order(&["true"]), &[]).unwrap();
    }
    client.flush().unwrap();
    let mut ended = 0;
    while ended < COUNT {
        if let (_, RunEvent::Ended(end)) = client.receive_run().unwrap() {
            assert!(has_exited(&end, 0), "{end:?}");
            ended += 1;
        }
    }
}

/// It was told that its process had gone, though there never was one.
#[test]
fn a_run_that_no_process_can_be_started_for_is_told_what_to_do() {
    let up = Up::start(&[]);
    let mut client = up.client();
    client.post_run(&shell("echo begun; exec sleep 1000"), &[]).unwrap();
    client.flush().unwrap();
    next_output(&mut client);
    leave_one_descriptor(client.status().unwrap().warden_pid.unwrap());
    let (_, end) = run(&mut up.client(), &shell("true"));
    let RunEnd::Failed { kind: RunFailure::Refused, message } = &end else { panic!("{end:?}") };
    assert!(
        message.contains("raise the limit of processes, open files") && message.contains("nothing was run"),
        "{message}"
    );
}

/// For the socket of the next run; a process for that needs more.
fn leave_one_descriptor(process: u32) {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().flatten();
    let open: Vec<u64> = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let limit = (0..).filter(|number| !open.contains(number)).nth(1).unwrap();
    let set = Command::new("prlimit").args([format!("--pid={process}"), format!("--nofile={limit}:{limit}")]).status();
    assert!(set.is_ok_and(|status| status.success()));
}

/// They were kept for ever, with the memory of all that they had prepared.
#[test]
fn sandboxes_that_are_ready_are_given_up_when_nothing_is_run() {
    let up = Up::start_with(&[], &["--keep-ready", "200ms"]);
    let mut client = up.client();
    assert!(has_exited(&run(&mut client, &shell("true")).1, 0));
    let warden = client.status().unwrap().warden_pid.unwrap();
    wait_for("nothing is ready any more", || children_of(warden).is_empty());
    assert!(has_exited(&run(&mut client, &shell("true")).1, 0));
    assert_eq!(client.status().unwrap().warden_pid, Some(warden));
}

fn children_of(process: u32) -> String {
    std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap()
}
