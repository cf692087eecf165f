//! What an order asks for and an outcome tells: streams, codes, files in and out, stopping, usage.

use crate::ground::{GRANTED, WORK};
use crate::play::Stage;
use crate::table::{Judged, Row};
use sandbox::outcome::{ChangeKind, Changed};
use sandbox::{Access, FileIn, Grant, Order, SandboxError, Stdin, Stream, Streams, Verdict, Wall};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn must(is_right: bool, why: impl FnOnce() -> String) -> Judged {
    if is_right { Ok(()) } else { Err(why()) }
}

fn told(error: SandboxError) -> String {
    error.to_string()
}

/// What changed at a path of the layered grant.
fn change<'c>(changes: &'c [Changed], path: &str) -> Option<&'c ChangeKind> {
    changes.iter().find(|change| change.path == Path::new(path)).map(|change| &change.kind)
}

fn tells_changes(stage: &Stage) -> Judged {
    let script = format!(
        "cd {WORK}; echo new > made; chmod 750 made; echo more >> original; rm other; mkdir empty; ln -s made link; rm -r folder"
    );
    let run = stage.shell(&script)?;
    let changes = &run.outcome.changes;
    let is_file = |path: &str, text: &str| matches!(change(changes, path), Some(ChangeKind::File { bytes, .. }) if bytes == text.as_bytes());
    must(is_file("made", "new\n") && is_file("original", "as it was\nmore\n"), || {
        format!("files differ: {changes:?}")
    })?;
    let mode = matches!(change(changes, "made"), Some(ChangeKind::File { mode, .. }) if mode & 0o777 == 0o750);
    must(mode, || format!("the mode differs: {changes:?}"))?;
    let removed = ["other", "folder"].iter().all(|path| matches!(change(changes, path), Some(ChangeKind::Removed)));
    must(removed, || format!("not told as removed: {changes:?}"))?;
    let made = matches!(change(changes, "empty"), Some(ChangeKind::Directory { .. }))
        && matches!(change(changes, "link"), Some(ChangeKind::Link { target }) if target == Path::new("made"));
    must(made, || format!("not told as made: {changes:?}"))?;
    must(changes.iter().all(|change| change.grant == 2), || format!("of another grant: {changes:?}"))
}

fn tells_streams_apart(stage: &Stage) -> Judged {
    let run = stage.shell("echo out; echo error >&2; exit 42")?;
    let is_right = run.stdout == "out\n" && run.stderr == "error\n" && run.outcome.verdict == Verdict::Exited(42);
    must(is_right, || run.told())?;
    must(run.outcome.usage.output_bytes == 10, || format!("counted {:?}", run.outcome.usage))
}

/// Output comes while the program still runs: it goes on only after it was heard.
fn hands_output_on_at_once(stage: &Stage) -> Judged {
    let order = stage.order(&["bash", "-c", "echo ready; read answer; echo $answer"]);
    let (from, into) = std::io::pipe().map_err(|error| error.to_string())?;
    let heard = Arc::new(Mutex::new((String::new(), Some(into))));
    let sink = Arc::clone(&heard);
    let output = Box::new(move |_, bytes: &[u8]| {
        let mut heard = sink.lock().expect("no sink panics");
        heard.0.push_str(&String::from_utf8_lossy(bytes));
        if let Some(mut into) = heard.1.take() {
            std::io::Write::write_all(&mut into, b"heard\n").ok();
        }
    });
    let running =
        stage.backend.start(&allowed(stage, order), Streams { stdin: Stdin::Descriptor(from.into()), output });
    running.map_err(told)?.wait().map_err(told)?;
    let heard = heard.lock().expect("no sink panics");
    must(heard.0 == "ready\nheard\n", || format!("heard {:?}", heard.0))
}

fn allowed(stage: &Stage, mut order: Order) -> Order {
    order.allows_weaker = !stage.missing().is_empty();
    order
}

/// Stopped as soon as it has said something, from where its output arrives.
fn can_be_stopped(stage: &Stage) -> Judged {
    let order = allowed(stage, stage.order(&["bash", "-c", "echo ready; sleep infinity"]));
    let stop: Arc<Mutex<Option<sandbox::Stop>>> = Arc::default();
    let to_stop = Arc::clone(&stop);
    let output = Box::new(move |stream, _: &[u8]| {
        if let (Stream::Output, Some(stop)) = (stream, to_stop.lock().expect("no sink panics").as_ref()) {
            stop.stop();
        }
    });
    let running = stage.backend.start(&order, Streams { stdin: Stdin::Empty, output }).map_err(told)?;
    *stop.lock().expect("no sink panics") = Some(running.stop());
    let outcome = running.wait().map_err(told)?;
    must(outcome.verdict == Verdict::Stopped, || format!("{:?}", outcome.verdict))?;
    // Nothing happens if it has ended.
    stop.lock().expect("no sink panics").as_ref().expect("it was put there").stop();
    Ok(())
}

/// More than fits into a pipe, to a program that reads it and to one that does not.
fn takes_long_input(stage: &Stage) -> Judged {
    let bytes = vec![b'x'; 3_000_000];
    let run = stage.run(&stage.order(&["wc", "-c"]), Stdin::Bytes(bytes.clone())).map_err(told)?;
    run.must_say("3000000")?;
    stage.run(&stage.order(&["echo", "unread"]), Stdin::Bytes(bytes)).map_err(told)?.must_say("unread")
}

fn takes_files(stage: &Stage) -> Judged {
    let mut order = stage.order(&["/program/run"]);
    let file =
        |inside: &str, text: &str, is_executable| FileIn { inside: inside.into(), bytes: text.into(), is_executable };
    order.view.files = vec![
        file("/program/run", "#!/bin/sh\ncat /program/data/note\n[ -x /program/data/note ] || echo plain\n", true),
        file("/program/data/note", "from outside\n", false),
    ];
    order.directory = "/program".into();
    stage.run(&order, Stdin::Empty).map_err(told)?.must_say("from outside\nplain")
}

/// What only its owner may read can be read where it was granted by him, and a single file can be granted.
fn grants_are_read_as_their_owner(stage: &Stage) -> Judged {
    use std::os::unix::fs::PermissionsExt;
    let private = stage.ground.borrow().host("private");
    std::fs::write(&private, "mine\n").map_err(|error| error.to_string())?;
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o600)).map_err(|error| error.to_string())?;
    let mut order = stage.order(&["cat", "/place/of/it", &format!("{GRANTED}/note")]);
    order.view.grants.push(Grant { host: private, inside: "/place/of/it".into(), access: Access::Read });
    stage.run(&order, Stdin::Empty).map_err(told)?.must_say("mine\ngranted")
}

fn tells_usage(stage: &Stage) -> Judged {
    let script = "x = bytearray(60_000_000)\nfor i in range(3_000_000): pass";
    let run = stage.run(&stage.order(&["python3", "-c", script]), Stdin::Empty).map_err(told)?;
    let usage = &run.outcome.usage;
    let is_told = usage.user + usage.system > Duration::from_millis(10) && usage.time > Duration::from_millis(10);
    must(is_told && usage.memory_bytes > 30_000_000, || format!("{usage:?}"))
}

/// A program that is not there, a directory that is not, a grant that is not: each is said, and nothing runs.
fn says_what_is_not_there(stage: &Stage) -> Judged {
    let refused = stage.run(&stage.order(&["no-such-program"]), Stdin::Empty).err();
    must(matches!(refused, Some(SandboxError::NoProgram { .. })), || format!("no program: {refused:?}"))?;
    let mut order = stage.order(&["true"]);
    let host = stage.ground.borrow().host("not-there");
    order.view.grants.push(Grant { host, inside: "/x".into(), access: Access::Read });
    let refused = stage.run(&order, Stdin::Empty).err();
    must(matches!(refused, Some(SandboxError::Grant { .. })), || format!("no grant: {refused:?}"))
}

/// The survey names every wall, and what is missing is refused unless it was allowed.
fn fails_closed(stage: &Stage) -> Judged {
    const WALLS: &[Wall] = &[
        Wall::UserNamespace,
        Wall::MountNamespace,
        Wall::PidNamespace,
        Wall::NetworkNamespace,
        Wall::IpcNamespace,
        Wall::UtsNamespace,
        Wall::CgroupNamespace,
        Wall::TimeNamespace,
        Wall::Overlay,
        Wall::Capabilities,
        Wall::NoNewPrivileges,
        Wall::Seccomp,
        Wall::Landlock,
        Wall::MemoryLimit,
        Wall::ProcessLimit,
        Wall::CpuLimit,
    ];
    let survey = stage.backend.survey();
    let untold: Vec<&Wall> = WALLS.iter().filter(|wall| !survey.iter().any(|(told, _)| told == *wall)).collect();
    must(untold.is_empty(), || format!("the survey does not tell {untold:?}"))?;
    let streams = Streams { stdin: Stdin::Empty, output: Box::new(|_, _| {}) };
    match stage.backend.start(&stage.order(&["true"]), streams) {
        Err(SandboxError::TooWeak(_)) => must(!stage.missing().is_empty(), || "refused without a reason".into()),
        Err(error) => Err(error.to_string()),
        Ok(_) => must(stage.missing().is_empty(), || format!("ran without {:?}", stage.missing())),
    }
}

pub const ROWS: &[Row] = &[
    Row::story("order.streams", "writes to both outputs and ends with a code", tells_streams_apart).for_programs(),
    Row::story("order.stream_at_once", "is heard while it runs", hands_output_on_at_once).for_programs(),
    Row::story("order.long_input", "reads more than fits into a pipe", takes_long_input).for_programs(),
    Row::story("order.stop", "is stopped", can_be_stopped).for_programs(),
    Row::shell("order.signal", "ends by a signal", "kill -SEGV $$").ends(&[Verdict::Signalled(libc::SIGSEGV)]),
    Row::story("order.files", "finds files that were handed in", takes_files).for_programs(),
    Row::story("order.grants", "reads what was granted", grants_are_read_as_their_owner).for_programs(),
    Row::story("order.changes", "changes files of a layered grant", tells_changes).for_programs(),
    Row::story("order.usage", "is told how much it used", tells_usage).for_programs(),
    Row::story("order.not_there", "is not there", says_what_is_not_there).for_programs(),
    Row::story("order.fails_closed", "runs on a host that lacks something", fails_closed).for_programs(),
    Row::shell("order.environment", "has the variables that it was given", "echo $LANG $HOME $PATH")
        .says(&["C.UTF-8 /tmp /usr/local/bin:/usr/bin:/bin"]),
    Row::story("order.arguments", "gets its arguments as they are", |stage| {
        let order = stage.order(&["printf", "[%s]", "a b", "", "'\"$x", "ü\n"]);
        stage.run(&order, Stdin::Empty).map_err(told)?.must_say("[a b][]['\"$x][ü\n]")
    })
    .for_programs(),
    Row::story("order.many_arguments", "has long arguments and many variables", |stage| {
        let long = "y".repeat(100_000);
        let mut order = stage.order(&["bash", "-c", "echo ${#1} ${#V99}", "-", &long]);
        order.environment.extend((0..100).map(|number| (format!("V{number}").into(), "v".repeat(500).into())));
        stage.run(&order, Stdin::Empty).map_err(told)?.must_say("100000 500")
    })
    .for_programs(),
];
