//! The scheduler of a living image: coroutines have their turns between requests, and none of them can hold up the rest.

use crate::launch::up::{Up, wait_for};
use serde_json::Value;

fn image(up: &Up) -> Value {
    let status: Value = serde_json::from_str(&up.run(&["status", "--json"], "").ok()).unwrap();
    status["image"].clone()
}

/// A turn that runs out of fuel is taken back, and with it that its coroutine was taken out of the queue: the same turn was
/// taken again and again, at full speed, and no other coroutine ever had one.
#[test]
fn a_coroutine_that_cannot_end_its_turn_loses_its_place_in_the_queue() {
    let mut up = Up::start(&[]);
    up.send("Lobby seen := 0; Bad := Object clone do(spin := method(loop(nil)); leave := method(System exit(3)))").ok();
    up.send("Good := Object clone do(work := method(3 repeat(Lobby seen = Lobby seen + 1; yield)))").ok();
    // The last one is first in the queue.
    up.send("Good @@work; Bad clone @@leave; Bad clone @@spin; nil").ok();
    wait_for("the others had their turns", || up.send("seen").ok() == "3\n");
    wait_for("the queue is empty", || up.send("Scheduler yieldingCoros size").ok() == "0\n");
    let turns = image(&up)["turns"].as_u64().unwrap();
    assert_eq!(up.send("1 + 2").ok(), "3\n");
    assert_eq!(image(&up)["turns"], turns, "there is nothing left to do");
    let failures = up.send("Telos failures join(\"|\")").ok();
    assert!(failures.contains("fuel") && failures.contains("exit"), "{failures}");
    // The queue is still the one that the library uses.
    up.send("Good clone @@work; nil").ok();
    wait_for("newcomers have their turns", || up.send("seen").ok() == "6\n");
    let (code, errors) = up.stop();
    assert_eq!((code, errors.matches("could not have its turn").count()), (Some(0), 2), "{errors}");
}

/// The same for one whose timer is due.
#[test]
fn a_sleeper_that_cannot_end_its_turn_loses_its_timer() {
    let up = Up::start(&[]);
    up.send("Bad := Object clone do(spin := method(wait(0.01); loop(nil))); Bad @@spin; nil").ok();
    wait_for("it is told", || up.send("Telos failures size").ok() == "1\n");
    assert_eq!(up.send("list(Scheduler yieldingCoros size, Scheduler timers size)").ok(), "list(0, 0)\n");
}

/// In an image no program ever ends, so there was nobody to report what went wrong in a coroutine.
#[test]
fn what_goes_wrong_in_a_coroutine_is_told_once_where_the_image_is_looked_after() {
    let mut up = Up::start(&[]);
    up.send("coroDo(1 foo); nil").ok();
    up.send("Bad := Object clone do(work := method(1 bar)); Bad @@work; nil").ok();
    wait_for("it had its turn", || up.send("Bad actorQueue size").ok() == "0\n");
    assert_eq!(up.send("Scheduler unhandledExceptions size").ok(), "0\n");
    up.send("coroDo(1 lost); nobody").output.clear();
    let (_, errors) = up.stop();
    for (word, times) in [("respond to 'foo'", 1), ("respond to 'bar'", 1), ("respond to 'lost'", 0)] {
        assert_eq!(errors.matches(word).count(), times, "{errors}");
    }
}

/// What a coroutine does that never gives way: one acknowledged request made the image deaf, over restarts too.
const DEAF: [&str; 4] = [
    "System idle(3600)",
    "loop(System idle(0.05))",
    "System system(\"sleep 3600\")",
    "File with(\"fifo\") openForReading readLine",
];

#[test]
fn a_coroutine_that_waits_for_the_host_does_not_make_the_image_deaf() {
    let mut up = Up::start(&["--timeout", "20s"]);
    std::process::Command::new("mkfifo").arg(up.directory.join("fifo")).status().unwrap();
    for (number, deaf) in DEAF.into_iter().enumerate() {
        up.send("Lobby touched := nil").ok();
        up.send(&format!("Object clone do(h := method(Lobby touched = 1; {deaf})) @@h; nil")).ok();
        assert_eq!(up.send("1 + 2").ok(), "3\n", "{deaf}");
        wait_for("it is told", || up.send("Telos failures size").ok() == format!("{}\n", number + 1));
        assert_eq!(up.send("touched").ok(), "", "what it did was taken back");
    }
    let failures = up.send("Telos failures join(\"|\")").ok();
    assert_eq!(failures.matches("it took longer than 1 s").count(), DEAF.len(), "{failures}");
    assert_eq!(up.send("Scheduler yieldingCoros size").ok(), "0\n");
    assert_eq!(up.stop().0, Some(0));
}

/// It goes on first after a restart, before any request.
#[test]
fn an_image_that_was_stopped_in_a_long_turn_wakes_up_well() {
    let mut up = Up::start(&[]);
    up.send("File with(\"begun\") open close; h := method(File with(\"begun\") open close; System idle(3600))").ok();
    std::fs::remove_file(up.directory.join("begun")).unwrap();
    up.send("@@h; nil").ok();
    wait_for("it has its turn", || up.directory.join("begun").exists());
    up.signal("KILL");
    up.ended();
    up.start_again(&["--timeout", "20s"]);
    assert_eq!(up.send("1 + 2").ok(), "3\n");
    wait_for("it is set aside", || up.send("Scheduler yieldingCoros size").ok() == "0\n");
    assert_eq!(up.send("1 + 2").ok(), "3\n");
}

/// Each of its turns is short, and what it does is there between them.
#[test]
fn a_coroutine_that_sleeps_lets_others_run_meanwhile() {
    let up = Up::start(&[]);
    up.send("Cnt := 0; g := method(loop(Cnt = Cnt + 1; System sleep(0.05))); @@g; nil").ok();
    up.send("Object clone do(h := method(System sleep(3600))) @@h; nil").ok();
    wait_for("it counts", || up.send("Cnt").ok().trim().parse::<u64>().unwrap() > 3);
    assert_eq!(up.send("Telos failures size").ok(), "0\n");
    // Inside of a transaction it cannot be left, and sleeps as it always did.
    up.send("Quiet := Object clone do(work := method(transaction(System sleep(0.01); Lobby slept := 1)))").ok();
    up.send("Quiet @@work; nil").ok();
    wait_for("it slept", || up.send("slept").output == "1\n");
}
