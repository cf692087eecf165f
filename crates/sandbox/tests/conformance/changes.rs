//! What the supervisor reads of a layer after the end is hostile: nothing in it leads out of the layer, hangs, or is larger
//! than what the program may have written.

use crate::play::{Run, Stage};
use crate::saying::told;
use crate::table::{Judged, Row, Said};
use sandbox::Stdin;
use sandbox::Wall::Overlay;
use sandbox::outcome::{ChangeKind, Changed};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::{fs, io};

/// More memory than the changes of these rows need, and less than what they pretend to be.
const SUPERVISOR_BYTES: u64 = 3 << 30;

fn change<'r>(run: &'r Run, path: &str) -> Result<&'r Changed, String> {
    let found = run.outcome.changes.iter().find(|change| change.path.as_os_str() == path);
    found.ok_or_else(|| format!("{path} is not among the changes {:?}", run.outcome.changes))
}

fn done(answer: io::Result<()>) -> Said {
    answer.map(|()| "done".into())
}

/// A link among the changes is a link, whatever it leads to.
fn must_be_link(run: &Run, path: &str) -> Judged {
    match &change(run, path)?.kind {
        ChangeKind::Link { .. } => Ok(()),
        other => Err(format!("{path} was followed: {other:?}")),
    }
}

/// Runs a script whose layer is to be read by a supervisor that has not much memory.
fn read_with_little_memory(stage: &Stage, script: &str) -> Judged {
    let limit = rustix::process::Rlimit { current: Some(SUPERVISOR_BYTES), maximum: None };
    rustix::process::setrlimit(rustix::process::Resource::As, limit).map_err(|error| error.to_string())?;
    let mut order = stage.order(&["bash", "-c", script]);
    order.limits.memory_bytes = Some(256 << 20);
    // Refusing to read such a layer is right too; dying of it is not.
    let _ = stage.run(&order, Stdin::Empty);
    Ok(())
}

pub const ROWS: &[Row] = &[
    Row::own("changes.link", "leaves a link to a file of the host", || {
        done(symlink(told("HOST_SECRET"), "/layered/link"))
    })
        .judged(|_, run| must_be_link(run, "link"))
        .by(&[Overlay]),
    Row::own("changes.link_for_file", "puts a link to a file of the host in the place of a file", || {
        fs::remove_file("/layered/original")?;
        done(symlink("/etc/shadow", "/layered/original"))
    })
    .judged(|_, run| must_be_link(run, "original"))
    .by(&[Overlay]),
    Row::own("changes.link_for_directory", "puts a link in the place of a directory, with a file behind it", || {
        fs::remove_dir_all("/layered/folder")?;
        done(symlink(told("HOST_ROOT"), "/layered/folder"))
    })
    .judged(|_, run| {
        must_be_link(run, "folder")?;
        let through = run.outcome.changes.iter().find(|change| change.path.starts_with("folder") && change.path.components().count() > 1);
        through.map_or(Ok(()), |change| Err(format!("went through the link to {:?}", change.path)))
    })
    .by(&[Overlay]),
    Row::own("changes.pipe", "leaves a pipe that nobody writes to", || {
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o644));
        done(rustix::fs::mknodat(rustix::fs::CWD, "/layered/pipe", kind, mode, 0).map_err(Into::into))
    })
        .judged(|_, run| run.must_say("done"))
        .by(&[Overlay]),
    Row::python(
        "changes.socket",
        "leaves a socket",
        "import socket; s = socket.socket(socket.AF_UNIX); s.bind('/layered/own-socket'); print('done')",
    )
    .judged(|_, run| run.must_say("done")),
    Row::python(
        "changes.deep",
        "leaves directories within directories, deeper than a path can be",
        "import os\nos.chdir('/layered')\nfor i in range(3000): os.mkdir('d' * 100); os.chdir('d' * 100)\nprint('done')",
    )
    .judged(|_, run| run.must_say("done")),
    Row::own("changes.unreadable", "leaves what it may not read itself", || {
        let close = |path: &str| fs::set_permissions(path, fs::Permissions::from_mode(0o000));
        fs::create_dir("/layered/closed")?;
        fs::write("/layered/closed/file", "x\n")?;
        close("/layered/closed/file")?;
        done(close("/layered/closed"))
    })
        .judged(|_, run| run.must_say("done")),
    Row::python(
        "changes.names",
        "leaves names that are no text",
        "import os\nopen(b'/layered/\\xff\\xfe\\n', 'w').close()\nopen('/layered/' + 'n' * 255, 'w').close()\nprint('done')",
    )
    .judged(|_, run| {
        run.must_say("done")?;
        let longest = run.outcome.changes.iter().map(|change| change.path.as_os_str().len()).max();
        if longest == Some(255) { Ok(()) } else { Err("the long name is not among the changes".into()) }
    }),
    Row::story("changes.sparse", "leaves files that say they are large, and hold nothing", |stage| {
        read_with_little_memory(stage, "for i in 1 2 3 4 5 6 7 8; do truncate -s 1G /layered/large-$i; done")
    })
    .for_programs(),
    Row::story("changes.many_names", "leaves one large file under many names", |stage| {
        let script = "head -c 50000000 /dev/zero > /layered/name; for i in $(seq 200); do ln /layered/name /layered/name-$i; done";
        read_with_little_memory(stage, script)
    })
    .for_programs(),
    Row::python(
        "changes.while_read",
        "goes on writing after its end",
        "import os, sys\nif os.fork() == 0:\n  os.setsid()\n  while True: open('/layered/late', 'a').write('x')\nprint('done')",
    )
    .judged(|_, run| run.must_say("done")),
    Row::python(
        "changes.marks",
        "marks a directory of the layer as if the overlay had done so",
        "import os\nfor name in ('user.overlay.opaque', 'trusted.overlay.opaque', 'user.overlay.redirect'):\n  \
         try: os.setxattr('/layered/folder', name, b'/etc' if 'redirect' in name else b'y')\n  except OSError: pass\n\
         print(open('/layered/folder/leaf').read().strip())",
    )
    .judged(|_, run| run.must_say("leaf")),
];
