//! The rows once more as children of Python's zygote. A zygote is given no directories, so this binary is handed in as a file; what
//! is no Python is started by a line of Python in its own place, behind the walls that the zygote's child closed around itself.

use crate::ground::TOOL;
use crate::table::Row;
use sandbox::warden::{Pooled, ZygoteKind};
use sandbox::{Backend, FileIn, Order, Running, SandboxError, Streams, Strength, Wall};
use std::ffi::{CString, OsString};
use std::path::Path;
use std::time::Duration;

pub const NAME: &str = "zygote";
const PYTHON: &str = "/usr/bin/python3";
/// What telos brings along, and what it has it load that could make a difference here.
const PROGRAM: &str = include_str!("../../../telos/zygotes/python.py");
const LOADED: &[&str] = &["json", "random", "threading"];
/// Only in a zygote's child is anything frozen.
const HOSTED: &str = "import gc\nassert gc.get_freeze_count() > 0, 'no zygote'\n";
/// An interpreter that becomes another program leaves it signals as that expects them.
const BECOME: &str = "import os, signal, sys\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\n\
                      signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nos.execvp(sys.argv[1], sys.argv[1:])";
/// Longer than any row takes.
const KEEPING: Duration = Duration::from_secs(600);

pub struct Zygotes(Pooled);

impl Zygotes {
    /// `None` where the system has no Python, or lacks a wall: then nothing is prepared.
    pub fn new() -> Option<Zygotes> {
        let words = ["-c", PROGRAM].into_iter().chain(LOADED.iter().copied());
        let kind = ZygoteKind {
            program: CString::new(PYTHON).ok()?,
            arguments: words.map(CString::new).collect::<Result<_, _>>().ok()?,
            names: vec![PYTHON.into()],
            option: "-c".into(),
            prefix: "PYTHON".into(),
            harmless: Vec::new(),
        };
        let pool = Pooled::with_zygotes(vec![kind], KEEPING);
        let is_whole = pool.survey().iter().all(|(_, strength)| !matches!(strength, Strength::Missing(_)));
        (is_whole && Path::new(PYTHON).exists()).then_some(Zygotes(pool))
    }
}

/// Whether a row can be a zygote's child: those about directories that were granted cannot.
pub fn fits(row: &Row) -> bool {
    !ELSEWHERE.iter().any(|(prefix, _)| row.name.starts_with(prefix))
}

/// Rows whose name begins so are not played here, and why.
pub const ELSEWHERE: &[(&str, &str)] = &[
    ("files.hard_link", NO_DIRECTORIES),
    ("files.layer_stays", NO_DIRECTORIES),
    ("files.truncate_grant", NO_DIRECTORIES),
    ("files.create_in_grant", NO_DIRECTORIES),
    ("files.remove_from_grant", NO_DIRECTORIES),
    ("files.chmod_grant", NO_DIRECTORIES),
    ("files.touch_grant", NO_DIRECTORIES),
    ("files.xattr_grant", NO_DIRECTORIES),
    ("files.reopen_writable", NO_DIRECTORIES),
    ("files.fifo_in_grant", NO_DIRECTORIES),
    ("files.setuid_program", NO_DIRECTORIES),
    ("files.lease_of_the_host", NO_DIRECTORIES),
    ("changes.", NO_DIRECTORIES),
    ("bomb.layer", NO_DIRECTORIES),
    ("bomb.files_in_layer", NO_DIRECTORIES),
    ("order.changes", NO_DIRECTORIES),
    ("order.grants", NO_DIRECTORIES),
    ("order.absent_directory", NO_DIRECTORIES),
    ("bomb.shared_memory", NO_ROOM),
    ("bomb.temporary_files", NO_ROOM),
    ("bomb.everywhere", NO_ROOM),
    ("proxy.", "an order that allows hosts is given to no zygote"),
    ("order.many_arguments", "an order that is so long is given to no zygote"),
    ("order.not_there", "the line of Python is there, and finds out itself"),
    ("processes.parent", "its parent is the zygote, which has no number inside"),
];
const NO_DIRECTORIES: &str = "an order with directories is given to no zygote";
const NO_ROOM: &str = "this binary alone takes more than the row may write";

impl Backend for Zygotes {
    fn name(&self) -> &'static str {
        NAME
    }

    fn survey(&self) -> Vec<(Wall, Strength)> {
        self.0.survey()
    }

    fn start(&self, order: &Order, streams: Streams) -> Result<Box<dyn Running>, SandboxError> {
        let mut order = order.clone();
        let tool = order.view.grants.iter().find(|grant| grant.inside == Path::new(TOOL));
        let tool = tool.map(|grant| std::fs::read(grant.host.join("attempt"))).transpose();
        let bytes = tool.map_err(SandboxError::system("read this binary"))?.unwrap_or_default();
        order.view.grants.clear();
        order.view.files.push(FileIn { inside: format!("{TOOL}/attempt").into(), bytes, is_executable: true });
        order.program = hosted(&order.program);
        self.0.start(&order, streams)
    }

    fn clear(&self) {
        self.0.clear();
    }
}

fn hosted(program: &[OsString]) -> Vec<OsString> {
    let words = |code: String, rest: &[OsString]| {
        [PYTHON.into(), "-c".into(), OsString::from(code)].into_iter().chain(rest.iter().cloned()).collect()
    };
    match program {
        [python, option, code, rest @ ..] if python == "python3" && option == "-c" => {
            words(format!("{HOSTED}{}", code.to_string_lossy()), rest)
        }
        [] => Vec::new(),
        other => words(format!("{HOSTED}{BECOME}"), other),
    }
}
